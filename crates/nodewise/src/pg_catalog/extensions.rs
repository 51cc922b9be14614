//! `pg_extension` and `pg_available_extensions`.

use ::types::extension::{KNOWN, PLPGSQL};
use ::types::{Extension, SqlResult, names};
use arrow_array::RecordBatch;

use super::shared::{none, number};
use super::{oids, shapes};
use crate::Session;
use crate::views::ViewBuilder;

/// All that are there.
pub(super) fn all(session: &Session) -> Vec<Extension> {
    let always = Extension { name: PLPGSQL.to_owned(), schema: names::CATALOG.to_owned() };
    let snapshot = session.snapshot();
    let made = snapshot.extensions().map(|it| Extension::clone(it));
    std::iter::once(always).chain(made).collect()
}

/// The number of an extension.
pub(super) fn oid(name: &str) -> i64 {
    oids::of_name("extension", name)
}

pub(super) fn extensions(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_EXTENSION);
    for it in all(session) {
        let version = ::types::extension::known(&it.name).map(|it| it.version.to_owned());
        view.row([
            number(oid(&it.name)),
            it.name.as_str().into(),
            number(oids::OWNER),
            number(oids::schema(&it.schema)),
            (it.name != PLPGSQL).into(),
            version.into(),
            none(),
            none(),
        ]);
    }
    view.finish()
}

pub(super) fn available(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_AVAILABLE_EXTENSIONS);
    let made = all(session);
    for it in &KNOWN {
        let is_made = made.iter().any(|made| made.name == it.name);
        view.row([
            it.name.into(),
            it.version.into(),
            is_made.then(|| it.version.to_owned()).into(),
            it.comment.into(),
        ]);
    }
    view.finish()
}
