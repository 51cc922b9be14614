//! A pipeline that can run, and the size of its morsels.

use memory::Workspace;
use plan::Pipeline;
use scheduler::{MorselRange, MorselSize};
use stdx::sync::Arc;
use types::SqlResult;

use crate::lower::{Lowered, Together, lower};
use crate::profile::Meter;
use crate::scan::PIECE_ROWS;
use crate::steps::{sink_kind, step_names};
use crate::{QueryContext, State};

/// Scans decode in steps of so many rows.
const SMALLEST_ROWS: u64 = 1024;

/// Morsels for each worker below which a source is cut finer than it wants: 23 morsels of 16 workers take as long as 32.
const MORSELS_PER_WORKER: u64 = 4;

/// Rows down to which it is: tests that scans leave for others are kept by as many.
const SPLIT_ROWS_MIN: u64 = PIECE_ROWS as u64;

/// A pipeline whose inputs are there.
pub(crate) struct ReadyPipeline {
    /// Its number in the plan.
    pub(super) index: usize,
    pub(super) lowered: Lowered,
    pub(super) ranges: Vec<MorselRange>,
    pub(super) morsel_rows: u64,
    /// How many morsels its rows are cut into.
    pub(super) morsels: u64,
    /// For queries that are profiled.
    pub(super) meter: Option<Meter>,
    /// Memory for what is kept of it, which is that of what it ends in.
    pub(super) workspace: Arc<Workspace>,
}

impl ReadyPipeline {
    /// Lowers a pipeline whose inputs stand among `states`, and whose own `reader` reads alone.
    pub(super) fn new(
        pipeline: &Pipeline,
        reader: Option<&Pipeline>,
        states: &[Option<State>],
        together: &Together,
        context: &QueryContext,
    ) -> SqlResult<Self> {
        let kind = sink_kind(&pipeline.sink);
        let workspace = context.workspace.of_operator(pipeline.id.index() as u32, kind);
        let lowered = {
            let _entered = workspace.enter(None);
            lower(pipeline, reader, states, together, context, &workspace)?
        };
        let ranges = lowered.source.ranges();
        let rows = ranges.iter().map(|it| it.end - it.start).sum();
        let workers = context.scheduler.workers() as u64;
        let wanted = lowered.source.morsel_rows().max(1);
        let morsel_rows = morsel_rows(context.control.policy().morsels, wanted, rows, workers);
        let morsels = morsels_of(&ranges, morsel_rows);
        let index = pipeline.id.index();
        let meter = context.profile.then(|| {
            let (names, sources) = step_names(pipeline, &lowered);
            Meter::new(names, sources, &*context.machine)
        });
        Ok(Self { index, lowered, ranges, morsel_rows, morsels, meter, workspace })
    }

    /// How many morsels some of its rows are cut into.
    pub(super) fn morsels_of(&self, ranges: &[MorselRange]) -> u64 {
        morsels_of(ranges, self.morsel_rows)
    }

    /// Whether its source counts rows, and not batches of them.
    pub(super) fn counts_rows(&self) -> bool {
        self.lowered.source.morsel_rows() >= SMALLEST_ROWS
    }

    /// Its number in the plan.
    pub(crate) fn index(&self) -> usize {
        self.index
    }
}

fn morsels_of(ranges: &[MorselRange], morsel_rows: u64) -> u64 {
    ranges.iter().map(|it| (it.end - it.start).div_ceil(morsel_rows)).sum()
}

/// Rows of a morsel, for a source that wants `wanted` and has `rows`. A source that counts in batches is left alone.
fn morsel_rows(size: MorselSize, wanted: u64, rows: u64, workers: u64) -> u64 {
    match size {
        _ if wanted < SMALLEST_ROWS => wanted,
        MorselSize::Source => split(wanted, rows, workers),
        MorselSize::Rows(count) => count.next_multiple_of(SMALLEST_ROWS).max(SMALLEST_ROWS),
        MorselSize::Static => rows.div_ceil(workers.max(1)).next_multiple_of(wanted).max(wanted),
    }
}

/// What a source wants, halved while that leaves too few morsels for all workers.
fn split(wanted: u64, rows: u64, workers: u64) -> u64 {
    let is_few = |it: u64| workers > 1 && rows.div_ceil(it) < MORSELS_PER_WORKER * workers;
    let mut size = wanted;
    while is_few(size) && size / 2 >= SPLIT_ROWS_MIN {
        size = (size / 2).next_multiple_of(SMALLEST_ROWS);
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn morsels_are_as_large_as_asked_in_whole_steps() {
        let rows = |size, wanted| morsel_rows(size, wanted, 1_000_000, 3);
        assert_eq!(rows(MorselSize::Source, 65_536), 65_536);
        let source = |rows, workers| morsel_rows(MorselSize::Source, 65_536, rows, workers);
        assert_eq!(source(1_500_000, 1), 65_536, "one worker waits for nobody");
        assert_eq!([4, 8, 16].map(|it| source(1_500_000, it)), [65_536, 32_768, 16_384]);
        assert_eq!(source(100, 64), 16_384, "not finer than is worth a morsel");
        assert_eq!(morsel_rows(MorselSize::Source, 4096, 100, 64), 4096);
        assert_eq!(rows(MorselSize::Rows(1), 65_536), 1024);
        assert_eq!(rows(MorselSize::Rows(100_000), 65_536), 100_352);
        assert_eq!(rows(MorselSize::Static, 65_536), 6 * 65_536, "three pieces, of whole blocks");
        assert_eq!(rows(MorselSize::Static, 4), 4, "that source counts in batches");
        assert_eq!(morsel_rows(MorselSize::Static, 65_536, 0, 0), 65_536);
    }
}
