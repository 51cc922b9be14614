//! A pipeline whose rows are taken while it runs: its source is run slice by slice, each of them a job, when the rows of the one
//! before were taken (docs/design/11-server.md, "rows on their way").
//!
//! - Invariant: the slices follow one another in the order of the source, so that the rows come in the order in which they
//!   come of all at once.

use memory::Workspace;
use scheduler::MorselRange;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use super::ahead::{AheadReport, run_ahead};
use super::ready::ReadyPipeline;
use super::run::run_slice;
use crate::lookups::batch_bytes;
use crate::{Kept, PipelineReport, QueryContext, Rows, State};

/// A slice that gives less than this share of what is wanted is followed by one that is larger by as much, at most.
const GROWTH_MAX: u64 = 8;

/// Rows of the source in the first slice, for each worker: a step of a scan.
const FIRST_ROWS: u64 = 1024;

/// A pipeline that runs slice by slice.
pub(crate) struct PipelineStream {
    ready: ReadyPipeline,
    /// What has not been run.
    left: Vec<MorselRange>,
    /// What was done before the first slice, until that reports it.
    ahead: AheadReport,
    /// Rows of the source in the next slice.
    slice: u64,
    report: PipelineReport,
    is_done: bool,
}

impl PipelineStream {
    /// Does what comes before the first row.
    pub(crate) fn begin(ready: ReadyPipeline, context: &QueryContext) -> SqlResult<Self> {
        let policy = context.control.policy();
        let mut pipelines = [ready];
        let ahead = run_ahead(&pipelines, &policy, context)?.pop().unwrap_or_default();
        let [ready] = &mut pipelines;
        let left = std::mem::take(&mut ready.ranges);
        // A row may become many in a join, and the first are wanted soon.
        let first = ready.morsel_rows.min(FIRST_ROWS);
        let slice = first * context.scheduler.workers().max(1) as u64;
        let [ready] = pipelines;
        let report = PipelineReport::default();
        Ok(Self { ready, left, ahead, slice, report, is_done: false })
    }

    /// The memory that its rows are in.
    pub(crate) fn workspace(&self) -> &Arc<Workspace> {
        &self.ready.workspace
    }

    /// Whether all its rows were given.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Its number in the plan, and what it did so far.
    pub(crate) fn report(&self) -> (usize, &PipelineReport) {
        (self.ready.index, &self.report)
    }

    /// The next rows, about so many bytes of them, or all that are left; nothing when there are no more.
    pub(crate) fn next(
        &mut self,
        wanted: Option<u64>,
        context: &QueryContext,
    ) -> SqlResult<Option<Arc<Rows>>> {
        while !self.is_done {
            let ranges = match wanted {
                None => std::mem::take(&mut self.left),
                Some(_) => self.take_slice(),
            };
            self.is_done = self.left.is_empty();
            let ahead = std::mem::take(&mut self.ahead);
            let (state, report) = run_slice(&self.ready, &ranges, &ahead, self.is_done, context)?;
            self.report.add(report);
            let State::Rows(rows) = state else {
                return Err(SqlError::internal("the plan does not end in a result"));
            };
            if let Some(wanted) = wanted {
                self.adapt(&rows, wanted);
            }
            if wanted.is_none() || rows.batches.iter().any(|it| it.rows() > 0) {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }

    /// Takes as many rows off those that are left as the next slice has, in whole morsels.
    fn take_slice(&mut self) -> Vec<MorselRange> {
        self.left.sort_by_key(|it| it.start);
        let (mut wanted, mut taken) = (self.slice, Vec::new());
        let mut whole = 0;
        for range in &mut self.left {
            if wanted == 0 {
                break;
            }
            let rows = (range.end - range.start).min(wanted);
            let end = range.start + rows;
            taken.push(MorselRange { end, ..*range });
            wanted -= rows;
            range.start = end;
            whole += usize::from(range.start == range.end);
        }
        self.left.drain(..whole);
        taken
    }

    /// Makes the next slice as large as it takes for what is wanted, as far as this one tells.
    fn adapt(&mut self, rows: &Rows, wanted: u64) {
        let bytes = |it: &Kept| match it {
            Kept::Here(batch) => batch_bytes(batch),
            Kept::Spilled(_) => wanted,
        };
        let made: u64 = rows.batches.iter().map(bytes).sum();
        let ratio = (wanted / made.max(1)).clamp(1, GROWTH_MAX);
        let morsel = self.ready.morsel_rows.min(FIRST_ROWS);
        self.slice = match made > 2 * wanted {
            true => (self.slice / (made / wanted)).next_multiple_of(morsel).max(morsel),
            false => self.slice.saturating_mul(ratio),
        };
    }
}
