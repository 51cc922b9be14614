//! Comments, as the catalog tells of them.

use ::types::SqlResult;
use ::types::extension::{PLPGSQL, known};
use arrow_array::RecordBatch;
use stdx::sync::Arc;
use storage::FUNCTION_COMMENT;

use super::shapes;
use super::shared::number;
use super::{extensions, oids};
use crate::Session;
use crate::views::ViewBuilder;

/// A comment in the catalog.
pub(super) struct Described {
    pub(super) object: i64,
    /// The view of the catalog that lists the object.
    pub(super) class: &'static str,
    /// The place of a column, from 1; 0 of the object itself.
    pub(super) part: i64,
    pub(super) text: Arc<str>,
}

/// All comments.
pub(super) fn described(session: &Session) -> Vec<Described> {
    let snapshot = session.snapshot();
    let functions = super::made_functions::all(session);
    let all = snapshot.comments().into_iter();
    let found = all.filter_map(|([kind, name, part], text)| {
        let table = snapshot.get(&name);
        let view = snapshot.view(&name);
        let function = || {
            let key = [&kind, &name, &part];
            functions.iter().find(|it| it.comment.as_ref().is_some_and(|it| it.each_ref() == key))
        };
        let (object, class, place) = match kind.as_str() {
            FUNCTION_COMMENT => (function()?.oid, "pg_proc", 0),
            "extension" => (extensions::oid(&part), "pg_extension", 0),
            "schema" => (oids::schema(&name), "pg_namespace", 0),
            "constraint" => (oids::named("constraint", table?.id, &part), "pg_constraint", 0),
            "index" => {
                let of = table.map(|it| it.id).or(view.map(|it| it.id))?;
                (oids::named("index", of, &part), "pg_class", 0)
            }
            _ => {
                let own = table.map(|it| it.id).or(view.map(|it| it.id)).map(oids::table);
                let object = own.unwrap_or_else(|| oids::of_name("sequence", &name));
                let place = match (table, view) {
                    _ if part.is_empty() => 0,
                    (Some(it), _) => it.columns.iter().position(|it| it.name == part)? + 1,
                    (_, Some(it)) => it.columns.iter().position(|it| it.0 == part)? + 1,
                    _ => return None,
                };
                (object, "pg_class", place as i64)
            }
        };
        Some(Described { object, class, part: place, text })
    });
    let mut found: Vec<Described> = found.collect();
    let object = extensions::oid(PLPGSQL);
    if !found.iter().any(|it| it.object == object) {
        let text = known(PLPGSQL).map_or("", |it| it.comment).into();
        found.push(Described { object, class: "pg_extension", part: 0, text });
    }
    found
}

/// The view `pg_description`; `number_of` tells the number of a view of the catalog.
pub(super) fn descriptions(
    session: &Session,
    number_of: impl Fn(&str) -> i64,
) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_DESCRIPTION);
    for it in described(session) {
        view.row([
            number(it.object),
            number(number_of(it.class)),
            number(it.part),
            it.text.to_string().into(),
        ]);
    }
    view.finish()
}
