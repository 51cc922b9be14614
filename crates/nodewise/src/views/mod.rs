//! The system views of schema `nodewise`, each made anew from what the parts of the database know about themselves.
//!
//! Key decision: a view reads page-socket maps and counters, and never asks the operating system about a row; what
//! only the system can say is told by procedures (`CALL nodewise.verify_placement`).

mod builder;
mod constraints;
mod defined;
mod durability;
mod functions;
mod indexes;
mod locks;
mod memory;
pub(crate) mod placement;
pub(crate) mod placer;
mod scheduling;
pub(crate) mod sequences;
mod system;
mod tables;
mod traffic;
mod viewer;

use arrow_array::RecordBatch;
use types::SqlResult;
use types::names as schemas;

use crate::Database;
use crate::settings::Settings;
pub(crate) use builder::{Cell, Columns, ViewBuilder, columns_of};
pub(crate) use tables::partitioning;
pub use viewer::Viewer;

/// The schema that holds the views.
pub const SCHEMA: &str = schemas::NODEWISE;

/// What makes the rows of a view.
type Rows = fn(&Database, &Settings, &dyn Viewer) -> SqlResult<RecordBatch>;

/// All views: their names, their columns and what makes their rows.
const VIEWS: [(&str, Columns, Rows); 30] = [
    ("tables", tables::TABLES, |database, _, _| tables::tables(database)),
    ("columns", tables::COLUMNS, |database, _, viewer| tables::columns(database, viewer)),
    ("indexes", indexes::COLUMNS, |database, _, _| indexes::rows(database)),
    ("constraints", constraints::COLUMNS, |database, _, _| constraints::rows(database)),
    ("sequences", sequences::COLUMNS, |database, _, viewer| sequences::rows(database, viewer)),
    ("parts", tables::PARTS, |database, _, _| tables::parts(database)),
    ("deltas", tables::DELTAS, |database, _, _| tables::deltas(database)),
    ("column_placement", placement::COLUMN_PLACEMENT, |database, _, _| {
        placement::column_placement(database)
    }),
    ("page_ranges", placement::PAGE_RANGES, |database, _, _| placement::page_ranges(database)),
    ("placement_demands", placement::PLACEMENT_DEMANDS, |database, _, _| {
        placement::placement_demands(database)
    }),
    ("nodes", system::NODES, |database, _, _| system::nodes(database)),
    ("cpus", system::CPUS, |database, _, _| system::cpus(database)),
    ("memory", memory::MEMORY, |database, _, _| memory::memory(database)),
    ("workers", scheduling::WORKERS, |database, _, _| scheduling::workers(database)),
    ("thread_groups", scheduling::THREAD_GROUPS, |database, _, _| {
        scheduling::thread_groups(database)
    }),
    ("watchdog", scheduling::WATCHDOG, |database, _, _| scheduling::watchdog(database)),
    ("jobs", scheduling::JOBS, |database, _, _| scheduling::jobs(database)),
    ("queries", scheduling::QUERIES, |database, _, viewer| scheduling::queries(database, viewer)),
    ("trace", scheduling::TRACE, |database, _, _| scheduling::trace(database)),
    ("traffic", traffic::TRAFFIC, |database, _, _| traffic::traffic(database)),
    ("item_traffic", traffic::ITEM_TRAFFIC, |database, _, _| traffic::item_traffic(database)),
    ("placer_log", placer::COLUMNS, |database, _, _| placer::log(database)),
    ("settings", system::ALL_SETTINGS, |database, settings, _| {
        system::all_settings(database, settings)
    }),
    ("functions", functions::COLUMNS, |_, _, _| functions::rows()),
    ("transactions", durability::TRANSACTIONS, |database, _, _| durability::transactions(database)),
    ("locks", locks::COLUMNS, |database, _, _| locks::rows(database)),
    ("log", durability::LOG, |database, _, _| durability::log(database)),
    ("checkpoints", durability::CHECKPOINTS, |database, _, _| durability::checkpoints(database)),
    ("merges", durability::MERGES, |database, _, _| durability::merges(database)),
    ("views", defined::COLUMNS, |database, _, _| defined::rows(database)),
];

/// The names of all views, without their schema.
pub fn names() -> impl Iterator<Item = &'static str> {
    VIEWS.iter().map(|it| it.0)
}

/// The columns of all views, by their names.
pub(crate) fn shapes() -> impl Iterator<Item = (&'static str, Columns)> {
    VIEWS.iter().map(|it| (it.0, it.1))
}

/// The rows of a view; `None` when there is no such view.
pub fn rows_of(
    name: &str,
    database: &Database,
    settings: &Settings,
    viewer: &dyn Viewer,
) -> Option<SqlResult<RecordBatch>> {
    let (_, _, rows) = VIEWS.iter().find(|it| it.0 == name)?;
    Some(rows(database, settings, viewer))
}
