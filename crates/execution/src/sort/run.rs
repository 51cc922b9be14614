//! Rows of one worker with their keys, kept until they are sorted.

use memory::{Placed, Scratch};
use stdx::Bytes;
use stdx::memory::OutOfMemory;
use stdx::sync::Arc;
use types::SqlResult;

use super::key::RowKey;
use crate::sources::Sources;
use crate::{BATCH_ROWS, Batch, Layout, WorkContext};

/// Rows of one worker: keys with the place of their row.
pub(super) struct Run<K> {
    pub(super) entries: Placed<Entry<K>>,
    pub(super) batches: Vec<Batch>,
    /// Rows that do not come before this are not wanted: there are enough before it.
    bound: Option<K>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry<K> {
    pub(super) key: K,
    pub(super) batch: u32,
    pub(super) row: u32,
}

/// Rows that are sorted without a look at the token of the statement: some tens of milliseconds. Fewer would cost more
/// passes over the keys than the answer is worth.
pub(super) const ROWS_UNCHECKED: usize = 1 << 19;

impl<K: RowKey> Run<K> {
    /// No rows yet, and keys in this memory.
    pub(super) fn new(scratch: &Scratch) -> Self {
        let entries = Placed::new_in(scratch.clone());
        Self { entries, batches: Vec::new(), bound: None }
    }

    /// Adds the rows of a batch with their keys.
    pub(super) fn add(&mut self, keys: Vec<K>, batch: Batch) -> SqlResult<()> {
        let more = keys.len();
        let bytes = Bytes((more * size_of::<Entry<K>>()) as u64);
        self.entries.try_reserve(more).map_err(|_| OutOfMemory(bytes))?;
        let number = self.batches.len() as u32;
        let before = self.entries.len();
        let entries = keys.into_iter().enumerate();
        let entries = entries.map(|(row, key)| Entry { key, batch: number, row: row as u32 });
        match &self.bound {
            None => self.entries.extend(entries),
            Some(bound) => self.entries.extend(entries.filter(|it| it.key < *bound)),
        }
        let kept = self.entries.len() - before;
        if kept == 0 {
            return Ok(());
        }
        // A batch that is mostly not wanted would only take up memory.
        if kept < batch.rows / 2 {
            let rows: Vec<u32> = self.entries[before..].iter().map(|it| it.row).collect();
            self.entries[before..].iter_mut().zip(0..).for_each(|(it, row)| it.row = row);
            self.batches.push(batch.take(&rows));
        } else {
            self.batches.push(batch);
        }
        Ok(())
    }

    /// Drops all but the first `wanted` rows, keys and rows.
    pub(super) fn prune(
        &mut self,
        wanted: usize,
        layout: &Layout,
        context: &WorkContext,
    ) -> SqlResult<()> {
        if self.entries.len() <= wanted {
            return Ok(());
        }
        if wanted > 0 {
            let (_, last, _) = self.entries.select_nth_unstable(wanted - 1);
            self.bound = Some(last.key.clone());
        }
        self.entries.truncate(wanted);
        let places: Vec<(u32, u32, u32)> =
            self.entries.iter().map(|it| (0, it.batch, it.row)).collect();
        let kept = gather(std::slice::from_ref(self), &places, layout, context)?;
        for (place, entry) in self.entries.iter_mut().enumerate() {
            (entry.batch, entry.row) = ((place / BATCH_ROWS) as u32, (place % BATCH_ROWS) as u32);
        }
        self.batches = kept;
        Ok(())
    }
}

/// Sorts in pieces, between which the statement can be ended: around the median, then each half.
pub(super) fn sort_entries<K: RowKey>(
    mut entries: &mut [Entry<K>],
    context: &WorkContext,
) -> SqlResult<()> {
    while entries.len() > ROWS_UNCHECKED {
        context.check()?;
        let (before, _, after) = entries.select_nth_unstable(entries.len() / 2);
        sort_entries(before, context)?;
        entries = after;
    }
    context.check()?;
    entries.sort_unstable();
    Ok(())
}

/// Collects rows (run, batch, row) into new batches.
pub(super) fn gather<K>(
    runs: &[Run<K>],
    places: &[(u32, u32, u32)],
    layout: &Layout,
    context: &WorkContext,
) -> SqlResult<Vec<Batch>> {
    // Batches are counted through all runs.
    let mut firsts = Vec::with_capacity(runs.len());
    let mut count = 0;
    for run in runs {
        firsts.push(count);
        count += run.batches.len() as u32;
    }
    let batches = || runs.iter().flat_map(|it| &it.batches);
    let source =
        |column: usize| Sources::new(&layout[column], batches().map(|it| &*it.columns[column]));
    let sources: Vec<Sources<'_>> = (0..layout.len()).map(source).collect();
    let piece = |places: &[(u32, u32, u32)]| {
        context.check()?;
        let rows: Vec<(u32, u32)> =
            places.iter().map(|it| (firsts[it.0 as usize] + it.1, it.2)).collect();
        let columns = sources.iter().map(|it| Arc::new(it.collect(&rows))).collect();
        Ok(Batch { rows: rows.len(), columns, sequence: 0 })
    };
    places.chunks(BATCH_ROWS).map(piece).collect()
}
