//! Sorted runs on disk, and their merge. Keys are not written: they are computed again from the rows that are read, and the
//! first key of each page stays in memory, so that ranges of the answer begin at the right page.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use memory::SpillFile;
use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use super::key::{KeyEncoder, RowKey};
use super::run::{Run, gather, sort_entries};
use crate::sources::Sources;
use crate::spill::{Extent, Keeper, SharedFile, Writer, read};
use crate::{BATCH_ROWS, Batch, Kept, Layout, Team, WorkContext};

/// Runs that are merged at once: each has a page in memory, for each task.
const FAN_IN: usize = 64;
/// Rows of a page: few enough that a page of each run, for each worker, is little beside what made them spill.
const PAGE_ROWS: usize = 1024;
/// Bytes that are collected before they are written.
const WRITTEN_BYTES: usize = 256 << 10;

/// A sorted run on disk.
pub(super) struct SpilledRun<K> {
    file: Arc<SpillFile>,
    pages: Vec<Extent>,
    /// The first key of each page.
    firsts: Vec<K>,
}

/// A run that is being written.
struct RunWriter<K> {
    run: SpilledRun<K>,
    writer: Writer,
}

impl<K: RowKey> RunWriter<K> {
    fn new(order: Order<'_>, context: &WorkContext) -> SqlResult<Self> {
        let file = order.file.get(&context.workspace)?;
        let run = SpilledRun { file, pages: Vec::new(), firsts: Vec::new() };
        Ok(Self { run, writer: Writer::default() })
    }

    /// Appends a page with its first key.
    fn add(&mut self, first: &K, page: &Batch) -> SqlResult<()> {
        self.run.firsts.push(first.detached());
        self.writer.add(page.rows, &page.columns);
        if self.writer.bytes() >= WRITTEN_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> SqlResult<()> {
        self.run.pages.extend(self.writer.write(&self.run.file)?);
        Ok(())
    }

    fn finish(mut self) -> SqlResult<SpilledRun<K>> {
        self.write()?;
        Ok(self.run)
    }
}

/// What rows are, and how they are ordered.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) encoder: &'a KeyEncoder,
    pub(super) layout: &'a Layout,
    pub(super) file: &'a SharedFile,
}

/// Writes the rows of a run in order.
pub(super) fn write_run<K: RowKey>(
    run: &mut Run<K>,
    order: Order<'_>,
    context: &WorkContext,
) -> SqlResult<SpilledRun<K>> {
    sort_entries(&mut run.entries, context)?;
    let mut writer = RunWriter::new(order, context)?;
    for page in run.entries.chunks(PAGE_ROWS) {
        let places: Vec<_> = page.iter().map(|it| (0, it.batch, it.row)).collect();
        for batch in gather(std::slice::from_ref(run), &places, order.layout, context)? {
            writer.add(&page[0].key, &batch)?;
        }
    }
    writer.finish()
}

/// The merged order of runs on disk, each task one range of it.
pub(super) fn merge_runs<K: RowKey>(
    mut runs: Vec<SpilledRun<K>>,
    order: Order<'_>,
    team: &dyn Team,
) -> SqlResult<Vec<Kept>> {
    while runs.len() > FAN_IN {
        runs = merge_some(runs, order, team)?;
    }
    let mut samples: Vec<&K> = runs.iter().flat_map(|it| &it.firsts).collect();
    samples.sort_unstable();
    let tasks = samples.len().min(team.width() * 2).max(1);
    let separator = |task: usize| match task {
        0 => None,
        _ => samples.get(task * samples.len() / tasks).filter(|_| task < tasks).copied(),
    };
    let pieces: Vec<Mutex<Vec<Kept>>> = (0..tasks).map(|_| Mutex::default()).collect();
    let all: Vec<&SpilledRun<K>> = runs.iter().collect();
    team.run(tasks, &|task, context| {
        let mut merged = Keeper::new(order.file.clone());
        let range = (separator(task), separator(task + 1));
        let merge = Merge::new(&all, order, range, BATCH_ROWS)?;
        merge.run(context, &mut |_, batch| merged.keep(batch, &context.workspace))?;
        *pieces[task].lock() = merged.finish();
        Ok(())
    })?;
    Ok(pieces.into_iter().flat_map(Mutex::into_inner).collect())
}

/// Fewer and longer runs.
fn merge_some<K: RowKey>(
    runs: Vec<SpilledRun<K>>,
    order: Order<'_>,
    team: &dyn Team,
) -> SqlResult<Vec<SpilledRun<K>>> {
    let mut groups: Vec<Mutex<Vec<SpilledRun<K>>>> = Vec::new();
    let mut runs = runs.into_iter().peekable();
    while runs.peek().is_some() {
        groups.push(Mutex::new(runs.by_ref().take(FAN_IN).collect()));
    }
    team.run(groups.len(), &|group, context| {
        let mut group = groups[group].lock();
        let all: Vec<&SpilledRun<K>> = group.iter().collect();
        let merge = Merge::new(&all, order, (None, None), PAGE_ROWS)?;
        let mut writer = RunWriter::new(order, context)?;
        merge.run(context, &mut |first, batch| writer.add(first, &batch))?;
        *group = vec![writer.finish()?];
        Ok(())
    })?;
    Ok(groups.into_iter().flat_map(Mutex::into_inner).collect())
}

/// Where the merge stands in a run.
struct Cursor<'a, K> {
    run: &'a SpilledRun<K>,
    next_page: usize,
    /// The keys of the page, and which of them is next.
    keys: Vec<K>,
    at: usize,
    /// The page among those that are held.
    page: u32,
}

/// The merge of a range of some runs.
struct Merge<'a, K> {
    order: Order<'a>,
    cursors: Vec<Cursor<'a, K>>,
    heads: BinaryHeap<Reverse<(K, usize)>>,
    /// Keys from this on belong to others.
    until: Option<&'a K>,
    /// Pages whose rows are not handed on yet.
    pages: Vec<Batch>,
    batch_rows: usize,
}

impl<'a, K: RowKey> Merge<'a, K> {
    fn new(
        runs: &[&'a SpilledRun<K>],
        order: Order<'a>,
        (from, until): (Option<&K>, Option<&'a K>),
        batch_rows: usize,
    ) -> SqlResult<Self> {
        let (heads, pages) = (BinaryHeap::new(), Vec::new());
        let mut merge = Self { order, cursors: Vec::new(), heads, until, pages, batch_rows };
        for run in runs {
            // The page before the first that begins in the range may end in it.
            let first = from.map_or(0, |from| run.firsts.partition_point(|it| it < from));
            let next_page = first.saturating_sub(1);
            let cursor = Cursor { run, next_page, keys: Vec::new(), at: 0, page: 0 };
            merge.cursors.push(cursor);
            let number = merge.cursors.len() - 1;
            merge.read_page(number)?;
            if let Some(from) = from {
                loop {
                    let cursor = &mut merge.cursors[number];
                    cursor.at = cursor.keys.partition_point(|it| it < from);
                    if cursor.at < cursor.keys.len() || cursor.keys.is_empty() {
                        break;
                    }
                    merge.read_page(number)?;
                }
            }
            merge.put_head(number);
        }
        Ok(merge)
    }

    /// Reads the next page of a run; no keys at its end.
    fn read_page(&mut self, cursor: usize) -> SqlResult<()> {
        let it = &mut self.cursors[cursor];
        it.keys.clear();
        it.at = 0;
        if let Some(&extent) = it.run.pages.get(it.next_page) {
            let (rows, columns) = (extent.rows as usize, read(&it.run.file, extent)?);
            let page = Batch { rows, columns, sequence: 0 };
            it.keys = K::encode(self.order.encoder, &page)?;
            it.page = self.pages.len() as u32;
            it.next_page += 1;
            self.pages.push(page);
        }
        Ok(())
    }

    fn put_head(&mut self, cursor: usize) {
        let it = &self.cursors[cursor];
        if let Some(key) = it.keys.get(it.at)
            && self.until.is_none_or(|until| key < until)
        {
            self.heads.push(Reverse((key.clone(), cursor)));
        }
    }

    /// Hands on the rows in order, each batch with its first key.
    fn run(
        mut self,
        context: &WorkContext,
        next: &mut dyn FnMut(&K, Batch) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut places: Vec<(u32, u32)> = Vec::with_capacity(self.batch_rows);
        let mut first = None;
        while let Some(Reverse((key, cursor))) = self.heads.pop() {
            let it = &mut self.cursors[cursor];
            places.push((it.page, it.at as u32));
            first.get_or_insert(key);
            it.at += 1;
            if it.at == it.keys.len() {
                self.read_page(cursor)?;
            }
            self.put_head(cursor);
            if places.len() == self.batch_rows || self.heads.is_empty() {
                context.check()?;
                let batch = collect(&self.pages, &places, self.order.layout);
                if let Some(first) = first.take() {
                    next(&first, batch)?;
                }
                places.clear();
                self.drop_pages();
            }
        }
        Ok(())
    }

    /// Lets go of pages that no run is in any more.
    fn drop_pages(&mut self) {
        let mut kept = Vec::with_capacity(self.cursors.len());
        for cursor in self.cursors.iter_mut().filter(|it| !it.keys.is_empty()) {
            kept.push(std::mem::take(&mut self.pages[cursor.page as usize]));
            cursor.page = kept.len() as u32 - 1;
        }
        self.pages = kept;
    }
}

/// Collects rows (page, row) into a new batch.
fn collect(pages: &[Batch], places: &[(u32, u32)], layout: &Layout) -> Batch {
    let column = |column: usize| {
        let pages = pages.iter().map(|it| &*it.columns[column]);
        Arc::new(Sources::new(&layout[column], pages).collect(places))
    };
    let columns = (0..layout.len()).map(column).collect();
    Batch { rows: places.len(), columns, sequence: 0 }
}
