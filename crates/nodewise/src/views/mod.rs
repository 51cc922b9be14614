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
pub(crate) use builder::{Cell, ViewBuilder};
pub(crate) use tables::partitioning;
pub use viewer::Viewer;

/// The schema that holds the views.
pub const SCHEMA: &str = schemas::NODEWISE;

/// The names of all views.
pub const NAMES: [&str; 30] = [
    "tables",
    "columns",
    "indexes",
    "constraints",
    "sequences",
    "parts",
    "deltas",
    "column_placement",
    "page_ranges",
    "placement_demands",
    "nodes",
    "cpus",
    "memory",
    "workers",
    "thread_groups",
    "watchdog",
    "jobs",
    "queries",
    "trace",
    "traffic",
    "item_traffic",
    "placer_log",
    "settings",
    "functions",
    "transactions",
    "locks",
    "log",
    "checkpoints",
    "merges",
    "views",
];

/// The names of all views, without their schema.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter()
}

/// The rows of a view; `None` when there is no such view.
pub fn rows_of(
    name: &str,
    database: &Database,
    settings: &Settings,
    viewer: &dyn Viewer,
) -> Option<SqlResult<RecordBatch>> {
    Some(match name {
        "tables" => tables::tables(database),
        "columns" => tables::columns(database, viewer),
        "indexes" => indexes::rows(database),
        "constraints" => constraints::rows(database),
        "sequences" => sequences::rows(database, viewer),
        "parts" => tables::parts(database),
        "deltas" => tables::deltas(database),
        "column_placement" => placement::column_placement(database),
        "page_ranges" => placement::page_ranges(database),
        "placement_demands" => placement::placement_demands(database),
        "nodes" => system::nodes(database),
        "memory" => memory::memory(database),
        "cpus" => system::cpus(database),
        "workers" => scheduling::workers(database),
        "thread_groups" => scheduling::thread_groups(database),
        "watchdog" => scheduling::watchdog(database),
        "jobs" => scheduling::jobs(database),
        "queries" => scheduling::queries(database, viewer),
        "trace" => scheduling::trace(database),
        "traffic" => traffic::traffic(database),
        "item_traffic" => traffic::item_traffic(database),
        "placer_log" => placer::log(database),
        "settings" => system::all_settings(database, settings),
        "functions" => functions::rows(),
        "transactions" => durability::transactions(database),
        "locks" => locks::rows(database),
        "log" => durability::log(database),
        "checkpoints" => durability::checkpoints(database),
        "merges" => durability::merges(database),
        "views" => defined::rows(database),
        _ => return None,
    })
}
