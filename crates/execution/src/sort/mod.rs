//! Sort (P-HYPER 4.5): each worker collects rows with their keys, runs are sorted in parallel, and ranges of the answer,
//! cut by separators, are merged in parallel. With a limit each worker keeps only the rows that can still be in it.

mod cutoff;
mod external;
mod firsts;
mod group_limit;
mod key;
mod run;
#[cfg(test)]
mod tests;

use memory::Placed;
use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use crate::lookups::batch_bytes;
use crate::spill::SharedFile;
use crate::traffic::{Item, Place};
use crate::{BATCH_ROWS, Batch, Kept, Layout, PerSlot, Rows, Sink, State, Team, WorkContext};

pub use cutoff::Cutoff;
pub(crate) use firsts::{FIRSTS_MAX, firsts_of};
pub use group_limit::GroupLimitSink;
pub use key::CompiledSortKey;
pub(crate) use key::{BytesKey, KeyEncoder, RowKey, float_code};

use external::{Order, SpilledRun, merge_runs, write_run};
use run::{Entry, Run, gather, sort_entries};

/// Puts the rows of a pipeline in order.
pub struct SortSink(Box<dyn Sink>);

/// The sink for keys of one kind.
struct Sorter<K> {
    encoder: KeyEncoder,
    layout: Layout,
    offset: u64,
    limit: Option<u64>,
    locals: PerSlot<Run<K>>,
    /// What the first keys of the best rows of all workers say of others; with a limit, when that can be told.
    cutoff: Option<Arc<Cutoff>>,
    /// Runs for which there was no memory.
    runs: Mutex<Vec<SpilledRun<K>>>,
    file: SharedFile,
}

/// Rows up to which one task merges everything.
const SERIAL_ROWS_MAX: usize = 1 << 14;

/// Rows up to which the runs are sorted by who coordinates: waking the workers takes longer.
const ALONE_ROWS_MAX: usize = 1 << 11;

/// Rows from which a worker writes what it has as a run: runs are merged some at a time.
const RUN_ROWS_MIN: usize = 4 * BATCH_ROWS;

/// Rows beside those that are wanted that a worker keeps before it looks which ones they are.
const UNWANTED_MAX: usize = 1024;

impl SortSink {
    /// Orders rows of `layout` and hands on at most `limit` of them after `offset`.
    pub fn new(
        keys: Vec<CompiledSortKey>,
        layout: Layout,
        offset: u64,
        limit: Option<u64>,
        slots: usize,
    ) -> Self {
        let (encoder, cut) = (KeyEncoder::new(keys), (offset, limit));
        Self(match encoder.bits() {
            Some(..=64) => Box::new(Sorter::<u64>::new(encoder, layout, cut, slots)),
            Some(_) => Box::new(Sorter::<u128>::new(encoder, layout, cut, slots)),
            None => Box::new(Sorter::<BytesKey>::new(encoder, layout, cut, slots)),
        })
    }
}

impl Sink for SortSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        self.0.consume(batch, context)
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        self.0.finish(team)
    }

    fn cutoff(&self) -> Option<Arc<Cutoff>> {
        self.0.cutoff()
    }
}

impl<K: RowKey> Sorter<K> {
    fn new(
        encoder: KeyEncoder,
        layout: Layout,
        (offset, limit): (u64, Option<u64>),
        slots: usize,
    ) -> Self {
        let cutoff = limit.and(encoder.cutoff()).map(Arc::new);
        let (locals, runs, file) = (PerSlot::new(slots), Mutex::default(), SharedFile::default());
        Self { encoder, layout, offset, limit, locals, cutoff, runs, file }
    }

    fn order(&self) -> Order<'_> {
        Order { encoder: &self.encoder, layout: &self.layout, file: &self.file }
    }

    /// Writes the rows of a worker to disk as a sorted run.
    fn spill(&self, run: &mut Run<K>, context: &WorkContext) -> SqlResult<()> {
        let spilled = write_run(run, self.order(), context)?;
        self.runs.lock().push(spilled);
        *run = Run::new(context.scratch());
        Ok(())
    }

    /// The order of all rows when some are on disk: the others go there too.
    fn finish_spilled(
        &self,
        runs: Vec<SpilledRun<K>>,
        locals: Vec<Run<K>>,
        team: &dyn Team,
    ) -> SqlResult<Vec<Kept>> {
        *self.runs.lock() = runs;
        let locals: Vec<Mutex<Run<K>>> =
            locals.into_iter().filter(|it| !it.entries.is_empty()).map(Mutex::new).collect();
        team.run(locals.len(), &|run, context| self.spill(&mut locals[run].lock(), context))?;
        drop(locals);
        let runs = std::mem::take(&mut *self.runs.lock());
        merge_runs(runs, self.order(), team)
    }

    /// The order of all rows in memory.
    fn finish_in_memory(&self, locals: Vec<Run<K>>, team: &dyn Team) -> SqlResult<Vec<Kept>> {
        let rows: usize = locals.iter().map(|it| it.entries.len()).sum();
        // A few that are wanted are found in one pass; an order takes many.
        let few = self.wanted().is_some_and(|it| it <= ALONE_ROWS_MAX);
        let is_small = rows <= if few { SERIAL_ROWS_MAX } else { ALONE_ROWS_MAX };
        let locked: Vec<Mutex<Run<K>>> = locals.into_iter().map(Mutex::new).collect();
        team.run_at(&vec![None; locked.len()], is_small, &|run, context| {
            let run = &mut *locked[run].lock();
            if let Some(wanted) = self.wanted()
                && run.entries.len() > wanted
            {
                // Only keys: the rows that are wanted of all runs are not known yet.
                if wanted > 0 {
                    run.entries.select_nth_unstable(wanted - 1);
                }
                run.entries.truncate(wanted);
            }
            sort_entries(&mut run.entries, context)
        })?;
        let runs: Vec<Run<K>> = locked.into_iter().map(Mutex::into_inner).collect();
        Ok(self.merge(&runs, team)?.into_iter().map(Kept::Here).collect())
    }

    /// The rows of a batch that may be in the answer, as far as their first key tells.
    fn hopeful(&self, batch: Batch) -> SqlResult<Batch> {
        let Some(cutoff) = self.cutoff.as_ref().filter(|it| it.range().is_some()) else {
            return Ok(batch);
        };
        let wanted = cutoff.wanted(&*self.encoder.first_keys(&batch)?);
        Ok(match wanted {
            // Rows are copied where that spares more than half of the keys.
            Some(rows) if rows.len() < batch.rows / 2 => batch.take(&rows),
            _ => batch,
        })
    }

    /// Rows that can still be in the answer.
    fn wanted(&self) -> Option<usize> {
        let wanted = self.limit?.saturating_add(self.offset);
        usize::try_from(wanted).ok().filter(|&it| it <= 1 << 20)
    }

    /// The merged order of sorted runs, each task one range of it.
    fn merge(&self, runs: &[Run<K>], team: &dyn Team) -> SqlResult<Vec<Batch>> {
        let rows: usize = runs.iter().map(|it| it.entries.len()).sum();
        let tasks = if rows <= SERIAL_ROWS_MAX { 1 } else { team.width() * 2 };
        let cuts = separators(runs, tasks);
        let pieces: Vec<Mutex<Vec<Batch>>> = (0..tasks).map(|_| Mutex::new(Vec::new())).collect();
        team.run(tasks, &|task, context| {
            let ranges: Vec<&[Entry<K>]> = (runs.iter().enumerate())
                .map(|(run, it)| &it.entries[cuts[task][run]..cuts[task + 1][run]])
                .collect();
            let places = merge_ranges(&ranges, context)?;
            let merged = gather(runs, &places, &self.layout, context)?;
            let written = merged.iter().map(batch_bytes).sum();
            context.touch(Item::Results, Place::Own, written);
            *pieces[task].lock() = merged;
            Ok(())
        })?;
        Ok(pieces.into_iter().flat_map(Mutex::into_inner).collect())
    }
}

impl<K: RowKey> Sink for Sorter<K> {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        let batch = self.hopeful(batch)?;
        if batch.rows == 0 {
            return Ok(());
        }
        let keys = K::encode(&self.encoder, &batch)?;
        let mut guard = self.locals.lock(context.slot);
        let run = guard.get_or_insert_with(|| Run::new(context.scratch()));
        let row_bytes = batch.columns.iter().map(|it| it.value_bytes()).sum::<u64>();
        let bytes = row_bytes + (keys.len() * size_of::<Entry<K>>()) as u64;
        let known = run.entries.len();
        let rows = batch.rows as u64;
        run.add(keys, batch)?;
        // What is kept is written, and read once more by whoever merges it.
        let kept = bytes * (run.entries.len() - known) as u64 / rows.max(1);
        context.touch(Item::Sorts, Place::Own, kept);
        context.touch(Item::Sorts, Place::Dealt, kept);
        // Few wanted rows stay in memory, and so does what is too little for a run.
        if self.wanted().is_none_or(|it| it > RUN_ROWS_MIN)
            && run.entries.len() >= RUN_ROWS_MIN
            && context.workspace.account().is_over()
        {
            return self.spill(run, context);
        }
        if let Some(wanted) = self.wanted()
            && run.entries.len() > wanted * 2 + UNWANTED_MAX
        {
            run.prune(wanted, &self.layout, context)?;
            if let (Some(cutoff), Some(last)) = (&self.cutoff, wanted.checked_sub(1)) {
                let batch = &run.batches[last / BATCH_ROWS];
                cutoff.tighten(&*self.encoder.first_keys(batch)?, last % BATCH_ROWS);
            }
        }
        Ok(())
    }

    fn cutoff(&self) -> Option<Arc<Cutoff>> {
        self.cutoff.clone()
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let (runs, locals) = (std::mem::take(&mut *self.runs.lock()), self.locals.take_all());
        let batches = match runs.is_empty() {
            true => self.finish_in_memory(locals, team)?,
            false => self.finish_spilled(runs, locals, team)?,
        };
        let mut batches = crate::materialize::cut(batches, self.offset, self.limit)?;
        batches.iter_mut().zip(0..).for_each(|(it, place)| it.set_sequence(place));
        Ok(State::Rows(Arc::new(Rows {
            layout: self.layout.clone(),
            batches,
            ordered: true,
            homes: Vec::new(),
            parts: None,
        })))
    }
}

/// For each task and run the place where its range begins; one line more than tasks.
fn separators<K: RowKey>(runs: &[Run<K>], tasks: usize) -> Vec<Vec<usize>> {
    let mut samples: Vec<&K> = Vec::new();
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
fn merge_ranges<K: RowKey>(
    ranges: &[&[Entry<K>]],
    context: &WorkContext,
) -> SqlResult<Placed<(u32, u32, u32)>> {
    use std::cmp::Reverse;
    use std::collections::binary_heap::PeekMut;
    let count = ranges.iter().map(|it| it.len()).sum();
    let mut places = context.scratch().with_capacity(count)?;
    if let [only] = ranges {
        places.extend(only.iter().map(|it| (0, it.batch, it.row)));
        return Ok(places);
    }
    let mut heads: std::collections::BinaryHeap<Reverse<(&K, usize, usize)>> = (ranges.iter())
        .enumerate()
        .filter_map(|(run, it)| it.first().map(|entry| Reverse((&entry.key, run, 0))))
        .collect();
    let mut step = 0;
    while let Some(mut head) = heads.peek_mut() {
        context.check_step(&mut step)?;
        let Reverse((_, run, at)) = *head;
        let entry = &ranges[run][at];
        places.push((run as u32, entry.batch, entry.row));
        match ranges[run].get(at + 1) {
            // The order of the heads is put right when this one is let go.
            Some(next) => *head = Reverse((&next.key, run, at + 1)),
            None => _ = PeekMut::pop(head),
        }
    }
    Ok(places)
}
