//! Sort (P-HYPER 4.5): each worker collects rows with their keys, runs are sorted in parallel, and ranges of the answer,
//! cut by separators, are merged in parallel. With a limit each worker keeps only the rows that can still be in it.

mod key;

use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use crate::{BATCH_ROWS, Batch, Layout, PerSlot, Rows, Sink, State, Team, Vector, WorkContext};

pub use key::{CompiledSortKey, RowKey};

use key::KeyEncoder;

/// Puts the rows of a pipeline in order.
pub struct SortSink {
    encoder: KeyEncoder,
    layout: Layout,
    offset: u64,
    limit: Option<u64>,
    locals: PerSlot<Run>,
}

/// Rows of one worker: keys with the place of their row.
#[derive(Default)]
struct Run {
    entries: Vec<Entry>,
    batches: Vec<Batch>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: RowKey,
    batch: u32,
    row: u32,
}

/// Rows up to which one task sorts everything.
const SERIAL_ROWS_MAX: usize = 1 << 14;

impl SortSink {
    /// Orders rows of `layout` and hands on at most `limit` of them after `offset`.
    pub fn new(
        keys: Vec<CompiledSortKey>,
        layout: Layout,
        offset: u64,
        limit: Option<u64>,
        slots: usize,
    ) -> Self {
        let encoder = KeyEncoder::new(keys);
        Self { encoder, layout, offset, limit, locals: PerSlot::new(slots) }
    }

    /// Rows that can still be in the answer.
    fn wanted(&self) -> Option<usize> {
        let wanted = self.limit?.saturating_add(self.offset);
        usize::try_from(wanted).ok().filter(|&it| it <= 1 << 20)
    }

    /// The merged order of sorted runs, each task one range of it.
    fn merge(&self, runs: &[Run], team: &dyn Team) -> SqlResult<Vec<Batch>> {
        let rows: usize = runs.iter().map(|it| it.entries.len()).sum();
        let tasks = if rows <= SERIAL_ROWS_MAX { 1 } else { team.slots() * 2 };
        let cuts = separators(runs, tasks);
        let pieces: Vec<Mutex<Vec<Batch>>> = (0..tasks).map(|_| Mutex::new(Vec::new())).collect();
        team.run(tasks, &|task, _| {
            let ranges: Vec<&[Entry]> = (runs.iter().enumerate())
                .map(|(run, it)| &it.entries[cuts[task][run]..cuts[task + 1][run]])
                .collect();
            *pieces[task].lock() = gather(runs, &merge_ranges(&ranges), &self.layout);
            Ok(())
        })?;
        Ok(pieces.into_iter().flat_map(Mutex::into_inner).collect())
    }
}

impl Run {
    /// Drops all but the first `wanted` rows, keys and rows.
    fn prune(&mut self, wanted: usize, layout: &Layout) {
        if self.entries.len() > wanted {
            self.entries.select_nth_unstable(wanted);
            self.entries.truncate(wanted);
        }
        let places: Vec<(u32, u32, u32)> =
            self.entries.iter().map(|it| (0, it.batch, it.row)).collect();
        let kept = gather(std::slice::from_ref(self), &places, layout);
        for (place, entry) in self.entries.iter_mut().enumerate() {
            (entry.batch, entry.row) = ((place / BATCH_ROWS) as u32, (place % BATCH_ROWS) as u32);
        }
        self.batches = kept;
    }
}

impl Sink for SortSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        let keys = self.encoder.encode(&batch)?;
        let mut guard = self.locals.lock(context.slot);
        let run = guard.get_or_insert_default();
        let number = run.batches.len() as u32;
        let entries = keys.into_iter().enumerate();
        run.entries.extend(entries.map(|(row, key)| Entry { key, batch: number, row: row as u32 }));
        run.batches.push(batch);
        if let Some(wanted) = self.wanted()
            && run.entries.len() > wanted * 2 + 4 * BATCH_ROWS
        {
            run.prune(wanted, &self.layout);
        }
        Ok(())
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let mut runs = self.locals.take_all();
        if let Some(wanted) = self.wanted() {
            runs.iter_mut().for_each(|it| it.prune(wanted, &self.layout));
        }
        let locked: Vec<Mutex<Run>> = runs.into_iter().map(Mutex::new).collect();
        team.run(locked.len(), &|run, _| {
            locked[run].lock().entries.sort_unstable();
            Ok(())
        })?;
        let runs: Vec<Run> = locked.into_iter().map(Mutex::into_inner).collect();
        let batches = self.merge(&runs, team)?;
        let mut batches = crate::materialize::cut(batches, self.offset, self.limit);
        batches.iter_mut().enumerate().for_each(|(place, it)| it.sequence = place as u64);
        Ok(State::Rows(Arc::new(Rows { layout: self.layout.clone(), batches, ordered: true })))
    }
}

/// For each task and run the place where its range begins; one line more than tasks.
fn separators(runs: &[Run], tasks: usize) -> Vec<Vec<usize>> {
    let mut samples: Vec<&RowKey> = Vec::new();
    for run in runs {
        let step = (run.entries.len() / (tasks * 8)).max(1);
        samples.extend(run.entries.iter().step_by(step).map(|it| &it.key));
    }
    samples.sort_unstable();
    let mut cuts = vec![vec![0; runs.len()]];
    for task in 1..tasks {
        let separator = samples[task * samples.len() / tasks];
        cuts.push(
            runs.iter().map(|it| it.entries.partition_point(|it| it.key < *separator)).collect(),
        );
    }
    cuts.push(runs.iter().map(|it| it.entries.len()).collect());
    cuts
}

/// Run, batch and row of each row of sorted ranges, in order.
fn merge_ranges(ranges: &[&[Entry]]) -> Vec<(u32, u32, u32)> {
    use std::cmp::Reverse;
    let mut heads: std::collections::BinaryHeap<Reverse<(&RowKey, usize, usize)>> = (ranges.iter())
        .enumerate()
        .filter_map(|(run, it)| it.first().map(|entry| Reverse((&entry.key, run, 0))))
        .collect();
    let mut places = Vec::with_capacity(ranges.iter().map(|it| it.len()).sum());
    while let Some(Reverse((_, run, at))) = heads.pop() {
        let entry = &ranges[run][at];
        places.push((run as u32, entry.batch, entry.row));
        if let Some(next) = ranges[run].get(at + 1) {
            heads.push(Reverse((&next.key, run, at + 1)));
        }
    }
    places
}

/// Collects rows (run, batch, row) into new batches.
fn gather(runs: &[Run], places: &[(u32, u32, u32)], layout: &Layout) -> Vec<Batch> {
    let piece = |places: &[(u32, u32, u32)]| {
        let column = |column: usize| {
            let parts = |&(run, batch, row): &(u32, u32, u32)| {
                let vector = &runs[run as usize].batches[batch as usize].columns[column];
                (&**vector, row)
            };
            Arc::new(Vector::collect(&layout[column], places.iter().map(parts)))
        };
        let columns = (0..layout.len()).map(column).collect();
        Batch { rows: places.len(), columns, sequence: 0 }
    };
    places.chunks(BATCH_ROWS).map(piece).collect()
}
