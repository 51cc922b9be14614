//! What the placer has decided, and what it would.

use arrow_array::RecordBatch;
use hardware::NodeId;
use stdx::Nanos;
use types::SqlResult;

use super::{Columns, ViewBuilder};
use crate::Database;
use crate::placer::{LogEntry, Outcome};

/// A thousandth of a second, in nanoseconds.
const MILLISECOND: u64 = 1_000_000;
/// A millionth of a second, in nanoseconds.
const MICROSECOND: u64 = 1_000;

/// Every decision that is kept, oldest first.
pub(super) fn log(database: &Database) -> SqlResult<RecordBatch> {
    let log = database.placer.log.lock();
    rows(log.entries())
}

/// What would be done about the loads since the database was opened, if they went on.
pub(crate) fn advice(database: &Database) -> SqlResult<RecordBatch> {
    let decisions = database.advice();
    let tables = database.catalog.snapshot();
    let entry = |it| LogEntry::new(&tables, it, Outcome::Advised);
    let entries: Vec<LogEntry> = decisions.iter().map(entry).collect();
    rows(entries.iter())
}

/// The columns of decisions.
pub(super) const COLUMNS: Columns = &[
    ("at_ms", 'i'),
    ("table_name", 't'),
    ("part", 'i'),
    ("column_name", 't'),
    ("action", 't'),
    ("from_nodes", 't'),
    ("to_nodes", 't'),
    ("hottest_node", 'i'),
    ("coldest_node", 'i'),
    ("load_percent", 'i'),
    ("item_load_percent", 'i'),
    ("load_after_percent", 'i'),
    ("copy_bytes", 'i'),
    ("copy_ms", 'i'),
    ("cost_us", 'i'),
    ("gain_us", 'i'),
    ("outcome", 't'),
];

fn rows<'a>(entries: impl Iterator<Item = &'a LogEntry>) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMNS);
    let percent = |it: f64| (it * 100.0).round() as u64;
    let span = |it: Nanos, unit: u64| it.0 / unit;
    for entry in entries {
        let it = &entry.decision;
        view.row([
            span(it.at, MILLISECOND).into(),
            entry.table.as_str().into(),
            (it.item.part as u64).into(),
            entry.column.clone().into(),
            it.action.name().into(),
            node_text(&it.from).into(),
            node_text(&it.to).into(),
            u64::from(it.hottest.0).into(),
            u64::from(it.coldest.0).into(),
            percent(it.load).into(),
            percent(it.item_load).into(),
            percent(it.load_after).into(),
            it.copy_bytes.into(),
            span(it.copy_time, MILLISECOND).into(),
            span(it.cost, MICROSECOND).into(),
            span(it.gain, MICROSECOND).into(),
            entry.outcome.words().into(),
        ]);
    }
    view.finish()
}

/// Nodes from the first row to the last.
fn node_text(nodes: &[NodeId]) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
