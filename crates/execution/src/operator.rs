//! The three small interfaces of a pipeline (docs/design/04-execution.md, "interfaces of a pipeline"). No
//! implementation knows a thread: local state is found by slot.

use std::ops::Range;

use stdx::sync::Arc;
use storage::ItemTraffic;
use types::SqlResult;

use crate::scan::PackedBlock;
use crate::sort::Cutoff;
use crate::traffic::bytes_by_node;
use crate::{Batch, ItemRead, Layout, State, StepName, Team, WorkContext};

/// Where a batch goes next.
pub type Next<'a> = &'a mut dyn FnMut(Batch) -> SqlResult<()>;

/// Where batches go that were held back, from any worker.
pub type Resume<'a> = &'a (dyn Fn(Batch, &WorkContext) -> SqlResult<()> + Sync);

/// Where rows go first that are still packed: tells whether they were taken. If not, they come as batches.
pub type Take<'a> = &'a mut dyn FnMut(&PackedBlock<'_>) -> SqlResult<bool>;

/// Yields the batches of a morsel.
pub trait Source: Send + Sync {
    /// The layout of its batches.
    fn layout(&self) -> &Layout;
    /// The ranges of rows to cut into morsels, each with the node that holds it.
    fn ranges(&self) -> Vec<scheduler::MorselRange>;
    /// Rows of a morsel; a multiple of 1024 unless the source is small.
    fn morsel_rows(&self) -> u64;
    /// Pushes the batches of the rows `rows`, with rising [`Batch::sequence`].
    fn produce(&self, rows: Range<u64>, context: &WorkContext, next: Next<'_>) -> SqlResult<()>;
    /// As [`Source::produce`], but rows that are packed are offered to `take` before they become batches.
    fn produce_packed(
        &self,
        rows: Range<u64>,
        context: &WorkContext,
        take: Take<'_>,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let _ = take;
        self.produce(rows, context, next)
    }
    /// Rows need not be produced whose value in the column `column` of the layout cannot be wanted by `cutoff`.
    fn cut_off(&mut self, column: usize, cutoff: Arc<Cutoff>) {
        let _ = (column, cutoff);
    }
    /// Reckons on which node each row is read for least, and what had better be done on other nodes before. `reads_all`
    /// tells that no row is left out because enough were found. Called once, before [`Source::ranges`].
    fn settle(&mut self, topology: &hardware::Topology, reads_all: bool) {
        let _ = (topology, reads_all);
    }
    /// What is to be done before any row is read, in blocks with numbers of their own; nothing in most cases.
    fn ahead(&self) -> Vec<scheduler::MorselRange> {
        Vec::new()
    }
    /// Does some of [`Source::ahead`].
    fn run_ahead(&self, rows: Range<u64>) {
        let _ = rows;
    }
    /// As [`Source::items_read`], for some of [`Source::ahead`].
    fn items_read_ahead(&self, rows: Range<u64>) -> Vec<ItemRead> {
        let _ = rows;
        Vec::new()
    }
    /// As [`Source::reads`], for [`Source::ahead`].
    fn reads_ahead(&self) -> Option<(u64, u64)> {
        None
    }
    /// What a morsel reads of the columns of a table when a worker of `reader` runs it, for the traffic account; from the
    /// page-socket map. Nothing where no table is read.
    fn items_read(&self, rows: Range<u64>, reader: hardware::NodeId) -> Vec<ItemRead> {
        let _ = (rows, reader);
        Vec::new()
    }
    /// The sums of [`Source::items_read`] by memory node.
    fn bytes_read(
        &self,
        rows: Range<u64>,
        reader: hardware::NodeId,
    ) -> Vec<(hardware::NodeId, u64)> {
        bytes_by_node(&self.items_read(rows, reader))
    }
    /// The counters of the table that it reads.
    fn item_traffic(&self) -> Option<&ItemTraffic> {
        None
    }
    /// What memory most of its rows come from, and how many bytes that are: jobs that read the same share it.
    fn reads(&self) -> Option<(u64, u64)> {
        None
    }
    /// What was wrong with the first of its rows that could not be read, in their order, once its morsels have ended.
    fn fault(&self) -> Option<types::SqlError> {
        None
    }
    /// A line for EXPLAIN ANALYZE: what the source learned (blocks skipped, rows after each predicate).
    fn describe(&self) -> String {
        String::new()
    }
    /// The steps that it reports to `profile` beside the one that it is as a whole, numbered from 1 on.
    fn steps(&self) -> Vec<StepName> {
        Vec::new()
    }
}

/// Maps a batch to any number of batches.
pub trait Operator: Send + Sync {
    /// The layout of what it hands on.
    fn layout(&self) -> &Layout;
    /// Maps one batch.
    fn execute(&self, batch: Batch, context: &WorkContext, next: Next<'_>) -> SqlResult<()>;
    /// Hands on what it has held back. Called once after all batches; may run tasks on the team.
    fn finish(&self, team: &dyn Team, next: Resume<'_>) -> SqlResult<()> {
        let _ = (team, next);
        Ok(())
    }
    /// A few words for profiles: how it goes about it.
    fn describe(&self) -> String {
        String::new()
    }
}

/// Takes in the batches of a pipeline and leaves a state.
pub trait Sink: Send + Sync {
    /// Takes in a batch. Called at once by several workers, with different slots.
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()>;
    /// Whether it should be offered packed rows.
    fn takes_packed(&self) -> bool {
        false
    }
    /// Takes in packed rows, or tells that it wants them as batches.
    fn consume_packed(&self, block: &PackedBlock<'_>, context: &WorkContext) -> SqlResult<bool> {
        let _ = (block, context);
        Ok(false)
    }
    /// What tells of rows that they are not wanted any more, by the first key of the order.
    fn cutoff(&self) -> Option<Arc<Cutoff>> {
        None
    }
    /// Called once after all batches; may run further tasks on the team.
    fn finish(&self, team: &dyn Team) -> SqlResult<State>;
    /// A few words for profiles: how it goes about it.
    fn describe(&self) -> String {
        String::new()
    }
    /// Whether the sink has enough (a limit without order): the source may stop.
    fn is_full(&self) -> bool {
        false
    }
}
