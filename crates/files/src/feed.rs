//! Files in blocks that any worker takes, and their records in order.
//!
//! Who takes a block reads it and looks through it on its own. What that block's records are is known once it is known of the one
//! before: whoever looked through the first that is missing goes on with all that have waited for it. So nobody waits for
//! another, but who is far ahead of one that sleeps.
//!
//! - Invariant: records are handed out in the order of the files, and of those that are wrong the first is told.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use stdx::sync::{Arc, Mutex, thread};
use storage::Check;
use types::SqlResult;

use crate::blocks::{BLOCK_MAX, BLOCK_MIN, Chunk, Looked, Plan, Raw, Records};
use crate::dialect::Quoting;
use crate::fault::Origin;
use crate::input::{self, Compression, Encoding, Input, read_failed};

/// Blocks that wait for one before them, at most.
const WAITING_MAX: usize = 64;

/// How many times as many bytes a compressed file may have, for all workers to share in it to its end.
const COMPRESSED_MAX: u64 = 32;

/// What the bytes of files are, before they are records.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) paths: Arc<[PathBuf]>,
    /// `None`: as the ends of their names say.
    pub(crate) compression: Option<Compression>,
    pub(crate) encoding: Encoding,
    /// Lines before the first record of each file.
    pub(crate) skip: u64,
    pub(crate) quoting: Quoting,
}

/// Who takes whole records, or what is wrong with a file; and where they stand among all that are handed out.
pub(crate) type Take<'a> = &'a mut dyn FnMut(u64, SqlResult<Chunk<'_>>) -> SqlResult<()>;

/// The records of files.
pub(crate) struct Feed {
    source: Source,
    block: usize,
    steps: u64,
    /// Bytes of all files.
    total: u64,
    taking: Mutex<Taking>,
    ordering: Mutex<Ordering>,
}

/// Where the next block is.
struct Taking {
    /// The number of the next block.
    block: u64,
    /// The next file.
    file: usize,
    open: Option<Open>,
    is_ended: bool,
    read: u64,
}

struct Open {
    input: Input,
    offset: u64,
    line_end: u8,
    returns: bool,
    begins: Option<u64>,
}

/// Whole records, and the block that they lie in; or what is wrong with a file.
type Found = SqlResult<(Plan, Arc<Raw>)>;

/// Blocks on their way to be records.
struct Ordering {
    /// The block whose turn it is.
    next: u64,
    waiting: BTreeMap<u64, SqlResult<(Raw, Looked)>>,
    records: Records,
    ready: VecDeque<Found>,
    /// Records that were handed out.
    given: u64,
    is_ended: bool,
}

/// How large blocks of so many bytes are, for so many workers.
pub(crate) fn block_of(bytes: u64, workers: usize) -> usize {
    let share = bytes / (4 * workers.max(1)) as u64;
    usize::try_from(share).unwrap_or(BLOCK_MAX).clamp(BLOCK_MIN, BLOCK_MAX)
}

/// Bytes of files, as the system tells them.
pub(crate) fn bytes_of(paths: &[PathBuf]) -> u64 {
    paths.iter().map(|it| std::fs::metadata(it).map_or(0, |it| it.len())).sum()
}

impl Feed {
    /// Blocks of some size, or of one that suits the files and the workers.
    pub(crate) fn new(source: Source, workers: usize, block: Option<usize>) -> Self {
        let total = bytes_of(&source.paths);
        let block = block.unwrap_or_else(|| block_of(total, workers)).max(1);
        let steps = |path: &PathBuf| {
            let bytes = std::fs::metadata(path).map_or(0, |it| it.len());
            let compression = source.compression.unwrap_or_else(|| Compression::of_name(path));
            let times = if compression == Compression::None { 1 } else { COMPRESSED_MAX };
            (bytes * times).div_ceil(block as u64).max(1)
        };
        let steps = source.paths.iter().map(steps).sum();
        let records = Records::new(source.quoting);
        let (waiting, ready) = (BTreeMap::new(), VecDeque::new());
        let ordering = Ordering { next: 0, waiting, records, ready, given: 0, is_ended: false };
        let taking = Taking { block: 0, file: 0, open: None, is_ended: false, read: 0 };
        let (taking, ordering) = (Mutex::new(taking), Mutex::new(ordering));
        Self { source, block, steps, total, taking, ordering }
    }

    /// The files.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.source.paths
    }

    /// How many steps it takes; the last one goes on to the end.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Bytes that were taken, and all of them.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.taking.lock().read.min(self.total), self.total.max(1))
    }

    /// Takes a block, and hands out what records are known then.
    ///
    /// # Errors
    /// Those of `check` and `take`.
    pub(crate) fn step(&self, step: u64, check: Check<'_>, take: Take<'_>) -> SqlResult<()> {
        loop {
            let is_more = self.take_block(check)?;
            while let Some((number, found)) = self.next_records() {
                match &found {
                    Ok((plan, raw)) => take(number, Ok(plan.chunk(&raw.bytes)))?,
                    Err(error) => take(number, Err(error.clone()))?,
                }
            }
            if !is_more || step + 1 < self.steps {
                return Ok(());
            }
        }
    }

    /// Takes a block and looks through it; whether there was one.
    fn take_block(&self, check: Check<'_>) -> SqlResult<bool> {
        let (number, taken) = {
            let mut taking = self.taking.lock();
            let Some(taken) = taking.next(&self.source, self.block).transpose() else {
                return Ok(false);
            };
            taking.is_ended |= taken.is_err();
            taking.block += 1;
            (taking.block - 1, taken)
        };
        let looked = taken.and_then(|mut raw| {
            if let Some((file, at, length)) = raw.from.take() {
                raw.bytes.resize(length, 0);
                let read = file.read_exact_at(&mut raw.bytes, at);
                read.map_err(|error| read_failed(&self.source.paths[raw.file], &error))?;
            }
            let looked = self.source.quoting.look(&raw.bytes, raw.line_end);
            Ok((raw, looked))
        });
        let mut ordering = self.ordering.lock();
        ordering.waiting.insert(number, looked);
        ordering.advance(Origin::Files(&self.source.paths));
        while ordering.waiting.len() > WAITING_MAX && !ordering.is_ended {
            drop(ordering);
            check()?;
            thread::yield_now();
            ordering = self.ordering.lock();
        }
        Ok(true)
    }

    fn next_records(&self) -> Option<(u64, Found)> {
        let mut ordering = self.ordering.lock();
        let found = ordering.ready.pop_front()?;
        ordering.given += 1;
        Some((ordering.given - 1, found))
    }
}

impl Taking {
    /// The next block of the file that is open, or of the next one.
    fn next(&mut self, source: &Source, block: usize) -> SqlResult<Option<Raw>> {
        if self.is_ended {
            return Ok(None);
        }
        let Source { paths, compression, encoding, skip, .. } = source;
        loop {
            let Some(open) = &mut self.open else {
                let Some(path) = paths.get(self.file) else { return Ok(None) };
                let compression = compression.unwrap_or_else(|| Compression::of_name(path));
                let begun = input::begin(path, compression, *encoding, *skip)?;
                self.file += 1;
                self.open = Some(Open {
                    input: begun.input,
                    offset: begun.offset,
                    line_end: begun.line_end,
                    returns: begun.returns,
                    begins: Some(begun.lines),
                });
                continue;
            };
            let file = self.file - 1;
            let (mut bytes, mut from) = (Vec::new(), None);
            let (length, ends_file) = match &mut open.input {
                Input::Plain { file, size } => {
                    let left = size.saturating_sub(open.offset);
                    let length = left.min(block as u64);
                    from = Some((file.clone(), open.offset, length as usize));
                    open.offset += length;
                    (length as usize, length == left)
                }
                Input::Stream(stream) => {
                    let mut stream = Read::take(stream, block as u64);
                    let read = stream.read_to_end(&mut bytes);
                    read.map_err(|error| read_failed(&paths[file], &error))?;
                    (bytes.len(), bytes.len() < block)
                }
            };
            self.read += length as u64;
            let (line_end, returns, begins) = (open.line_end, open.returns, open.begins.take());
            if ends_file {
                self.open = None;
            }
            return Ok(Some(Raw { file, from, bytes, line_end, returns, begins, ends_file }));
        }
    }
}

impl Ordering {
    /// Finds the records of the blocks whose turn has come.
    fn advance(&mut self, origin: Origin<'_>) {
        while let Some(looked) = self.waiting.remove(&self.next) {
            self.next += 1;
            if self.is_ended {
                continue;
            }
            let mut plans = Vec::new();
            let planned = looked.and_then(|(raw, looked)| {
                let planned = self.records.plan(&raw, 0, &looked, origin, &mut plans);
                let raw = Arc::new(raw);
                self.ready.extend(plans.drain(..).map(|it| Ok((it, raw.clone()))));
                planned
            });
            if let Err(error) = planned {
                self.ready.push_back(Err(error));
                self.is_ended = true;
            }
        }
    }
}
