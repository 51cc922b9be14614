//! Roles, who is a member of whom, and what was given to them.

use ::types::{DataType, ObjectKind, Privileges, Role, RoleId, SqlResult, Value, array, names};
use arrow_array::RecordBatch;
use stdx::sync::Arc;

use super::owners::oid;
use super::shapes;
use super::shared::{none, number};
use super::standard_shapes;
use crate::Session;
use crate::roles::{Authority, columns_of};
use crate::views::{Cell, ViewBuilder};

/// The role of a session that a function is called after.
pub(super) fn role_called(session: &Session, function: &str) -> RoleId {
    match function {
        "session_user" => session.session_role(),
        "system_user" => session.login,
        _ => session.role(),
    }
}

fn all(session: &Session) -> Vec<Arc<Role>> {
    session.rights_snapshot().roles()
}

/// The names of roles by their numbers.
pub(super) fn names(session: &Session) -> Vec<(i64, Option<i64>, String)> {
    all(session).iter().map(|it| (oid(it.id), None, it.name.clone())).collect()
}

/// `pg_roles`, and `pg_authid` with what checks passwords.
pub(super) fn roles(session: &Session, with_verifiers: bool) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_AUTHID);
    for role in all(session) {
        let password = match with_verifiers {
            true => role.verifier.clone().into(),
            false => "********".into(),
        };
        view.row([
            number(oid(role.id)),
            role.name.as_str().into(),
            role.is_superuser.into(),
            role.inherits.into(),
            role.creates_roles.into(),
            role.creates_databases.into(),
            role.can_login.into(),
            role.replicates.into(),
            role.bypasses_policies.into(),
            number(role.sessions_max.map_or(-1, i64::from)),
            password,
            valid_until(session, &role),
            none(),
        ]);
    }
    view.finish()
}

fn valid_until(session: &Session, role: &Role) -> Cell {
    let zone = session.settings.client.zone();
    let text = |it: i64| {
        let (from, to) = (DataType::TimestampTz, DataType::Text);
        match ::types::numeric::cast_in(&Value::Timestamp(it), from, to, &zone) {
            Ok(Value::Text(text)) => Some(text.to_string()),
            _ => None,
        }
    };
    role.valid_until.and_then(text).into()
}

/// `pg_user`, and `pg_shadow` with what checks passwords.
pub(super) fn users(session: &Session, with_verifiers: bool) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_SHADOW);
    for role in all(session).iter().filter(|it| it.can_login) {
        let password = match with_verifiers {
            true => role.verifier.clone().into(),
            false => "********".into(),
        };
        view.row([
            role.name.as_str().into(),
            number(oid(role.id)),
            role.creates_databases.into(),
            role.is_superuser.into(),
            role.replicates.into(),
            role.bypasses_policies.into(),
            password,
            valid_until(session, role),
            none(),
        ]);
    }
    view.finish()
}

/// `pg_group`: roles that nobody comes in as.
pub(super) fn groups(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_GROUP);
    let all = all(session);
    for role in all.iter().filter(|it| !it.can_login) {
        let is_member = |it: &&Arc<Role>| it.memberships.iter().any(|it| it.of == role.id);
        let members: Vec<&Arc<Role>> = all.iter().filter(is_member).collect();
        let mut held = String::new();
        members.iter().for_each(|it| array::push_integer(&mut held, oid(it.id).into()));
        array::close_list(&mut held, 0, members.len())?;
        view.row([role.name.as_str().into(), number(oid(role.id)), held.into()]);
    }
    view.finish()
}

pub(super) fn members(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_AUTH_MEMBERS);
    for role in all(session) {
        for it in &role.memberships {
            let own = format!("{} {} {}", it.of, role.id, it.grantor);
            view.row([
                number(super::oids::of_name("membership", &own)),
                number(oid(it.of)),
                number(oid(role.id)),
                number(oid(it.grantor)),
                it.admin.into(),
                it.inherit.into(),
                it.set.into(),
            ]);
        }
    }
    view.finish()
}

/// The names of all tables, and of views that hold no rows.
fn tables_and_views(session: &Session) -> Vec<String> {
    let tables = super::relations::all(session).into_iter().map(|it| it.name.clone());
    let views = session.snapshot().views().into_iter().filter(|it| it.materialized.is_none());
    tables.chain(views.map(|it| it.name.clone())).collect()
}

/// The name of who was given a right, if who asks is one of both, or, but for `own_only`, it was given to all.
fn shown_grantee(session: &Session, by: RoleId, to: RoleId, own_only: bool) -> Option<String> {
    let own = session.authority();
    let is_own = own.has_role(to) || own.has_role(by);
    match to {
        _ if !is_own && (own_only || to != RoleId::PUBLIC) => None,
        RoleId::PUBLIC => Some("PUBLIC".to_owned()),
        id => Some(session.name_of_role(id)),
    }
}

/// `information_schema.table_privileges`, and those of it that are about roles of who asks.
pub(super) fn table_privileges(session: &Session, own_only: bool) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::ROLE_TABLE_GRANTS);
    for name in tables_and_views(session) {
        let rights = session.rights_snapshot().rights(ObjectKind::Relation, &name);
        for grant in rights.given(ObjectKind::Relation, false).iter() {
            let Some(grantee) = shown_grantee(session, grant.by, grant.to, own_only) else {
                continue;
            };
            // That of a later release than the standard's is not shown.
            let shown = grant.rights.each().filter(|it| it.1 != "MAINTAIN");
            for (right, word, _) in shown {
                let is_grantable = grant.options.has(*right) || grant.to == rights.owner;
                view.row([
                    session.name_of_role(grant.by).into(),
                    grantee.as_str().into(),
                    session.client.database.as_str().into(),
                    names::schema_of(&name).into(),
                    names::bare(&name).into(),
                    (*word).into(),
                    if is_grantable { "YES" } else { "NO" }.into(),
                    if *word == "SELECT" { "YES" } else { "NO" }.into(),
                ]);
            }
        }
    }
    view.finish()
}

/// `information_schema.column_privileges`, and those of it that are about roles of who asks: what was given on a table is given on
/// each of its columns.
pub(super) fn column_privileges(session: &Session, own_only: bool) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::COLUMN_PRIVILEGES);
    let snapshot = session.snapshot();
    for name in tables_and_views(session) {
        let rights = session.rights_snapshot().rights(ObjectKind::Relation, &name);
        for (_, column) in columns_of(&snapshot, &name) {
            // What somebody has by the table and by the column from the same is one.
            let mut all = Vec::new();
            let whole = rights.given(ObjectKind::Relation, false);
            for grant in whole.iter().chain(rights.columns.get(&column).into_iter().flatten()) {
                for (right, word, _) in (grant.rights & Privileges::ON_COLUMNS).each() {
                    let is_grantable = grant.options.has(*right) || grant.to == rights.owner;
                    let row = (grant.by, grant.to, *word);
                    match all.iter_mut().find(|it: &&mut (_, bool)| it.0 == row) {
                        Some(known) => known.1 |= is_grantable,
                        None => all.push((row, is_grantable)),
                    }
                }
            }
            for ((by, to, word), is_grantable) in all {
                let Some(grantee) = shown_grantee(session, by, to, own_only) else { continue };
                view.row([
                    session.name_of_role(by).into(),
                    grantee.into(),
                    session.client.database.as_str().into(),
                    names::schema_of(&name).into(),
                    names::bare(&name).into(),
                    column.as_str().into(),
                    word.into(),
                    if is_grantable { "YES" } else { "NO" }.into(),
                ]);
            }
        }
    }
    view.finish()
}

/// `information_schema.enabled_roles`.
pub(super) fn enabled_roles(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::ENABLED_ROLES);
    let own = session.authority();
    for role in all(session).iter().filter(|it| own.has_role(it.id)) {
        view.row([role.name.as_str().into()]);
    }
    view.finish()
}

/// `information_schema.applicable_roles`.
pub(super) fn applicable_roles(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::APPLICABLE_ROLES);
    let own: Authority = session.authority();
    for role in all(session).iter().filter(|it| own.has_role(it.id)) {
        for it in &role.memberships {
            view.row([
                role.name.as_str().into(),
                session.name_of_role(it.of).into(),
                if it.admin { "YES" } else { "NO" }.into(),
            ]);
        }
    }
    view.finish()
}
