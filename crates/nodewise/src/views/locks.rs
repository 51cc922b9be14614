//! The view `locks`: who holds what, and who waits for whom.

use arrow_array::RecordBatch;
use types::SqlResult;

use super::{Cell, Columns, ViewBuilder};
use crate::Database;
use crate::locks::Locked;

/// The columns of [`rows`].
pub(super) const COLUMNS: Columns = &[
    ("session", 'i'),
    ("transaction", 'i'),
    ("kind", 't'),
    ("table", 't'),
    ("row_id", 'i'),
    ("key", 't'),
    ("mode", 't'),
    ("granted", 'b'),
    ("waits_for", 'i'),
];

/// A row for each lock that is held, then one for each transaction or session that waits for the end of another.
pub(super) fn rows(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMNS);
    let (nothing, no_text) = (|| Cell::Integer(None), || Cell::Text(None));
    let tables = database.catalog.snapshot();
    for held in database.locks.list() {
        let (id, locked, number) = held.thing;
        let table = tables.by_id(id);
        let (kind, row, key) = match locked {
            Locked::Advisory(is_pair) => {
                let key = match is_pair {
                    true => format!("{},{}", (number >> 32) as i32, number as u32 as i32),
                    false => (number as i64).to_string(),
                };
                ("advisory", nothing(), Some(key).into())
            }
            Locked::Table => ("table", nothing(), no_text()),
            Locked::Row => ("row", number.into(), no_text()),
            Locked::Key(rule) => {
                let rule = table.and_then(|it| it.rules().indexes.get(rule as usize));
                ("key", nothing(), rule.map(|it| it.name.to_string()).into())
            }
        };
        view.row([
            held.session.into(),
            held.owner.into(),
            kind.into(),
            table.map(|it| it.name.clone()).into(),
            row,
            key,
            held.mode.name().into(),
            true.into(),
            nothing(),
        ]);
    }
    let owners = database.locks.owners();
    for owner in &owners {
        let Some(other) = owner.waits_for else { continue };
        let session = owners.iter().find(|it| it.owner == other).map(|it| it.session);
        view.row([
            owner.session.into(),
            owner.owner.into(),
            "transaction".into(),
            no_text(),
            nothing(),
            no_text(),
            no_text(),
            false.into(),
            session.into(),
        ]);
    }
    view.finish()
}
