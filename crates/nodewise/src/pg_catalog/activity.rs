//! What sessions are at: `pg_stat_activity`, and of the own session `pg_prepared_statements` and `pg_cursors`.

use ::types::{DataType, RoleId, SqlResult, array};
use arrow_array::RecordBatch;
use stdx::Nanos;
use stdx::sync::atomic::Ordering;

use super::oids;
use super::shapes;
use super::shared::{none, number};
use crate::pg_types::{made_type, wire_type};
use crate::views::{Cell, ViewBuilder, Viewer};
use crate::{Prepared, Session};

/// The sessions; what they run for who may see it.
pub(super) fn activity(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_STAT_ACTIVITY);
    let machine = &session.database.machine;
    let (now, today) = (machine.now(), machine.wall_clock());
    let moment = |age: Nanos| Cell::Moment(Some(today - (age.0 / 1000) as i64));
    let nothing = || Cell::Integer(None);
    let running = session.database.statements.list();
    for it in session.database.sessions.list() {
        let user = RoleId(it.user.load(Ordering::Relaxed));
        let sees = session.sees_texts_of(it.session);
        let seen = it.seen(now).filter(|_| sees);
        let statement = running.iter().find(|of| of.session == it.session).filter(|_| sees);
        let is_own = it.session == session.number;
        let application = is_own.then(|| session.settings.get("application_name")).transpose()?;
        let waits = seen.as_ref().is_some_and(|it| it.state == "waiting");
        let wait = |text: &'static str| if waits { Cell::from(text) } else { none() };
        let state = match seen.as_ref().map(|it| it.state) {
            None => "idle",
            Some("active" | "waiting") => "active",
            Some("idle in transaction") => "idle in transaction",
            Some(_) => "idle in transaction (aborted)",
        };
        view.row([
            number(oids::DATABASE),
            session.client.database.as_str().into(),
            it.session.into(),
            nothing(),
            number(super::owners::oid(user)),
            session.name_of_role(user).into(),
            Cell::Text(application.filter(|_| sees)),
            none(),
            none(),
            nothing(),
            Cell::Moment(None),
            seen.as_ref().map_or(Cell::Moment(None), |it| moment(it.age)),
            statement.map_or(Cell::Moment(None), |it| moment(now - it.started)),
            seen.as_ref().map_or(Cell::Moment(None), |it| moment(it.state_age)),
            wait("Lock"),
            wait("transactionid"),
            if sees { state.into() } else { none() },
            nothing(),
            nothing(),
            nothing(),
            match (sees, statement) {
                (false, _) => "<insufficient privilege>".into(),
                (true, it) => it.map_or("", |it| it.text.as_str()).into(),
            },
            "client backend".into(),
        ]);
    }
    view.finish()
}

/// The types of parameters as an array of their names.
fn names_of(session: &Session, prepared: &Prepared) -> SqlResult<Cell> {
    let known = super::types::all_names(session);
    let mut held = String::new();
    let types = prepared.parameters();
    for (place, of) in types.iter().enumerate() {
        let domain = prepared.parameter_domain(place).map(made_type);
        let oid = domain.unwrap_or_else(|| wire_type(of.unwrap_or(DataType::Text)).oid);
        let oid = i64::from(oid);
        let name = known.iter().find(|it| it.0 == oid).map_or("-", |it| &it.2);
        array::push_text(&mut held, name);
    }
    array::close_list(&mut held, 0, types.len())?;
    Ok(held.into())
}

/// The prepared statements of the session.
pub(super) fn prepared_statements(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_PREPARED_STATEMENTS);
    let mut all: Vec<_> = session.prepared.iter().collect();
    all.sort_by_key(|it| it.1.0.made);
    for (name, prepared) in all {
        view.row([
            name.as_str().into(),
            prepared.0.text.to_string().into(),
            Cell::Moment(Some(prepared.0.made)),
            names_of(session, prepared)?,
            none(),
            prepared.0.from_sql.into(),
            number(0),
            number(0),
        ]);
    }
    view.finish()
}

/// The cursors of the session.
pub(super) fn cursors(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_CURSORS);
    let mut all: Vec<_> = session.cursors.iter().collect();
    all.sort_by_key(|it| (it.1.made_at, it.0.clone()));
    for (name, cursor) in all {
        view.row([
            name.as_str().into(),
            cursor.text.to_string().into(),
            cursor.hold.into(),
            false.into(),
            cursor.scroll.into(),
            Cell::Moment(Some(cursor.made_at)),
        ]);
    }
    view.finish()
}
