//! What a query needs from the database.

use std::collections::HashMap;

use functions::Sequences;
use hardware::Machine;
use memory::Workspace;
use scheduler::Scheduler;
use stdx::sync::Arc;
use storage::Table;
use types::TableId;

use crate::Traffic;
use crate::control::QueryControl;
use crate::exchange::ExchangeMode;

/// What a query needs from the database.
pub struct QueryContext {
    /// The one pool of workers.
    pub scheduler: Arc<Scheduler>,
    /// The machine, for its clock.
    pub machine: Arc<dyn Machine>,
    /// Memory for what the query keeps.
    pub workspace: Arc<Workspace>,
    /// The tables of the statement's snapshot.
    pub tables: HashMap<TableId, Arc<Table>>,
    /// Those whose rows a stream makes ([`Table::stream`]): they are no tables to whoever finds rows by their places.
    pub streams: HashMap<TableId, Arc<Table>>,
    /// The sequences that it sees.
    pub sequences: Arc<dyn Sequences>,
    /// The time zone of its session.
    pub zone: types::Zone,
    /// Counts bytes per running node and memory node.
    pub traffic: Arc<Traffic>,
    /// The statement that the query is: its mark, its policy, its age.
    pub control: Arc<QueryControl>,
    /// When its joins send rows to the nodes of their keys.
    pub exchange: ExchangeMode,
    /// Whether the steps of its pipelines are measured.
    pub profile: bool,
}
