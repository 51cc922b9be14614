//! What there is beside tables: schemas, roles, the database, settings.

use ::types::{IndexMethod, ObjectKind, SqlResult, names};
use arrow_array::RecordBatch;

use super::oids;
use super::owners::Shown;
use super::shapes;
use crate::Session;
use crate::client_settings::POSTGRES_VERSION;
use crate::database_settings::list_of_database;
use crate::views::{Cell, ViewBuilder};

/// A whole number as a cell.
pub(super) fn number(value: i64) -> Cell {
    Cell::Integer(Some(value))
}

/// Nothing, where text would stand.
pub(super) fn none() -> Cell {
    Cell::Text(None)
}

/// All schemas with their numbers.
pub(super) fn schemas(session: &Session) -> Vec<(String, i64)> {
    let system = [names::CATALOG, names::PUBLIC, names::INFORMATION, names::NODEWISE];
    let snapshot = session.snapshot();
    let own = snapshot.schemas().map(|it| &**it).filter(|it| *it != names::MATERIALIZED);
    system.into_iter().chain(own).map(|it| (it.to_owned(), oids::schema(it))).collect()
}

pub(super) fn namespaces(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_NAMESPACE);
    for (name, oid) in schemas(session) {
        let shown = Shown::of(session, ObjectKind::Schema, &name);
        let acl = shown.acl(session, name == names::PUBLIC)?;
        view.row([number(oid), name.into(), shown.owner(), acl]);
    }
    view.finish()
}

pub(super) fn access_methods() -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_AM);
    view.row([number(oids::COLUMNS), "columns".into(), "-".into(), "t".into()]);
    for it in [IndexMethod::BTree, IndexMethod::Hash, IndexMethod::Inverted] {
        view.row([number(oids::method(it)), it.name().into(), "-".into(), "i".into()]);
    }
    view.finish()
}

/// What functions are written in.
pub(super) fn languages() -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_LANGUAGE);
    view.row([
        number(oids::INTERNAL),
        "internal".into(),
        number(oids::OWNER),
        false.into(),
        false.into(),
        number(0),
        number(0),
        number(0),
        none(),
    ]);
    view.finish()
}

pub(super) fn collations() -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_COLLATION);
    let known = [
        (100, "default", "d"),
        (oids::COLLATION, "C", "c"),
        (951, "POSIX", "c"),
        (962, "ucs_basic", "c"),
    ];
    for (oid, name, provider) in known {
        view.row([
            number(oid),
            name.into(),
            number(oids::CATALOG),
            number(oids::OWNER),
            provider.into(),
            true.into(),
            number(-1),
            "C".into(),
            "C".into(),
            none(),
            none(),
            none(),
        ]);
    }
    view.finish()
}

pub(super) fn tablespaces() -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_TABLESPACE);
    view.row([number(1663), "pg_default".into(), number(oids::OWNER), none(), none()]);
    view.finish()
}

pub(super) fn databases(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_DATABASE);
    let shown = Shown::of(session, ObjectKind::Database, "");
    view.row([
        number(oids::DATABASE),
        session.client.database.as_str().into(),
        shown.owner(),
        // UTF-8.
        number(6),
        "c".into(),
        false.into(),
        true.into(),
        number(-1),
        number(1663),
        "C".into(),
        "C".into(),
        none(),
        none(),
        shown.acl(session, false)?,
    ]);
    view.finish()
}

pub(super) fn settings(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_SETTINGS);
    let all = session.settings.list().into_iter().chain(list_of_database(&session.database));
    for setting in all {
        view.row([
            setting.name.into(),
            setting.value.into(),
            none(),
            "Nodewise".into(),
            setting.description.into(),
            "user".into(),
            "string".into(),
            "session".into(),
            none(),
            false.into(),
        ]);
    }
    view.finish()
}

/// What `version()` says, in the manner in which tools read it.
pub(super) fn version() -> String {
    let own = env!("CARGO_PKG_VERSION");
    format!(
        "PostgreSQL {POSTGRES_VERSION} (Nodewise {own}) on {}-linux, 64-bit",
        std::env::consts::ARCH
    )
}

/// A name as it was written.
pub(super) fn unquoted(name: &str) -> String {
    match name.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_lowercase(),
    }
}

/// The ways in which a name of some parts is written: each in quotes, and without where it needs none.
pub(super) fn ways(parts: &[&str]) -> Vec<String> {
    let mut all = vec![String::new()];
    for (place, part) in parts.iter().enumerate() {
        let dot = if place > 0 { "." } else { "" };
        let in_quotes = format!("\"{}\"", part.replace('"', "\"\""));
        let plain = Some(*part).filter(|it| is_plain(it));
        let forms = || plain.into_iter().chain([&*in_quotes]);
        all =
            all.iter().flat_map(|it| forms().map(move |form| format!("{it}{dot}{form}"))).collect();
    }
    all
}

/// Whether a name has only letters that need no quotes.
pub(super) fn is_plain(name: &str) -> bool {
    let begins = name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_');
    let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    begins && name.chars().all(plain)
}
