//! `pg_stat_user_tables` and its kin: a row for each table with the rows that it has. What nobody counts here is NULL.

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;

use super::oids;
use super::relations::all;
use super::shared::{none, number};
use crate::Session;
use crate::views::{Cell, ViewBuilder};

/// The rows of one of them, whose columns these are.
pub(super) fn rows(columns: &[(&str, char)], session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(columns);
    for table in all(session) {
        view.row(columns.iter().map(|&(name, letter)| match (name, letter) {
            ("relid", _) => number(oids::table(table.id)),
            ("schemaname", _) => names::schema_of(&table.name).into(),
            ("relname", _) => names::bare(&table.name).into(),
            ("n_live_tup", _) => table.rows().into(),
            (_, 'i') => Cell::Integer(None),
            (_, 'm') => Cell::Moment(None),
            _ => none(),
        }));
    }
    view.finish()
}
