//! Files in waves of blocks, and the records that lie in each.
//!
//! A block may begin anywhere, also between quotes. So each is looked through from every state that it may begin in, by all workers at
//! once; then, in order and without looking at a byte, it is known in which state each begins, and where its first and last record
//! end. A record that lies over several blocks is put together before the block where it ends.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use stdx::sync::{Arc, Mutex};
use storage::BuildContext;
use storage::parallel::try_map;
use types::{SqlError, SqlResult, SqlState};

use crate::dialect::{Ends, Quoting, State};
use crate::fault::Origin;
use crate::input::{self, Compression, Encoding, Input, read_failed};

/// Bytes of a block, at most: so many rows that what is done once for each is little, so few that a wave stays in the caches.
pub(crate) const BLOCK_MAX: usize = 2 << 20;
/// ... and at least, where a file is cut for many workers.
pub(crate) const BLOCK_MIN: usize = 64 << 10;
/// The most bytes of a record: a quote that is never closed is not looked for for ever.
pub(crate) const RECORD_MAX: usize = 256 << 20;

/// What the bytes of files are, before they are records.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// `None`: as the ends of their names say.
    pub(crate) compression: Option<Compression>,
    pub(crate) encoding: Encoding,
    /// Lines before the first record of each file.
    pub(crate) skip: u64,
    pub(crate) quoting: Quoting,
}

/// Whole records of a file that follow each other.
pub(crate) struct Chunk<'a> {
    /// The number of the file.
    pub(crate) file: usize,
    /// The bytes: a record that began in an earlier block, then those that lie in one block.
    pub(crate) parts: [&'a [u8]; 2],
    /// The line of the file in which they begin, counted from 1.
    pub(crate) line: u64,
    /// Whether they are the first of the file.
    pub(crate) first: bool,
    pub(crate) line_end: u8,
    pub(crate) returns: bool,
}

/// Blocks in memory, with what is known of their records.
pub(crate) struct Wave {
    blocks: Vec<Vec<u8>>,
    plans: Vec<Plan>,
}

struct Plan {
    file: usize,
    head: Vec<u8>,
    block: Option<(usize, Range<usize>)>,
    line: u64,
    first: bool,
    line_end: u8,
    returns: bool,
}

impl Wave {
    pub(crate) fn len(&self) -> usize {
        self.plans.len()
    }

    pub(crate) fn chunk(&self, index: usize) -> Chunk<'_> {
        let plan = &self.plans[index];
        let body = match &plan.block {
            Some((block, range)) => &self.blocks[*block][range.clone()],
            None => &[],
        };
        Chunk {
            file: plan.file,
            parts: [&plan.head, body],
            line: plan.line,
            first: plan.first,
            line_end: plan.line_end,
            returns: plan.returns,
        }
    }
}

/// A block that is not looked through yet.
pub(crate) struct Raw {
    pub(crate) file: usize,
    /// What is still to be read, and where.
    from: Option<(Arc<File>, u64, usize)>,
    bytes: Vec<u8>,
    line_end: u8,
    returns: bool,
    /// Lines before its first byte, where it begins a file.
    begins: Option<u64>,
    ends_file: bool,
}

impl Raw {
    /// A block of what a client sends, whose lines end as `ends` says.
    pub(crate) fn of_client(
        bytes: Vec<u8>,
        (line_end, returns): (u8, bool),
        is_first: bool,
        ends_file: bool,
    ) -> Self {
        let begins = is_first.then_some(0);
        Self { file: 0, from: None, bytes, line_end, returns, begins, ends_file }
    }
}

struct Open {
    input: Input,
    offset: u64,
    line_end: u8,
    returns: bool,
    begins: Option<u64>,
}

/// Reads files wave by wave.
pub(crate) struct Blocks<'a> {
    source: Source<'a>,
    context: BuildContext<'a>,
    block: usize,
    total: u64,
    read: u64,
    next: usize,
    open: Option<Open>,
    records: Records,
}

/// The records of blocks that are looked through one after the other.
pub(crate) struct Records {
    quoting: Quoting,
    /// The record that is open where the last wave ended.
    head: Vec<u8>,
    state: State,
    line: u64,
    first: bool,
}

impl<'a> Blocks<'a> {
    /// Blocks of some size, or of one that suits the files and the workers.
    pub(crate) fn new(source: Source<'a>, context: BuildContext<'a>, block: Option<usize>) -> Self {
        let size = |it: &PathBuf| std::fs::metadata(it).map_or(0, |it| it.len());
        let total: u64 = source.paths.iter().map(size).sum();
        let share = total / (4 * context.parallel.width().max(1)) as u64;
        let block = block.unwrap_or((share as usize).clamp(BLOCK_MIN, BLOCK_MAX));
        let records = Records::new(source.quoting);
        let (read, next, open) = (0, 0, None);
        Self { source, context, block, total, read, next, open, records }
    }

    /// The next blocks; `None` when all files are read. A wave may have no records.
    pub(crate) fn wave(&mut self) -> SqlResult<Option<Wave>> {
        if (self.context.cancelled)() {
            return Err(SqlError::new(SqlState::QUERY_CANCELED, "the load was cancelled"));
        }
        let mut raw = Vec::new();
        while raw.len() < 2 * self.context.parallel.width().max(1) {
            match self.take()? {
                Some(it) => raw.push(it),
                None => break,
            }
        }
        if raw.is_empty() {
            return Ok(None);
        }
        let wave = self.records.wave(raw, Origin::Files(self.source.paths), &self.context)?;
        self.context.progress.advance(self.read.min(self.total), self.total.max(1));
        Ok(Some(wave))
    }

    /// The next block of the file that is open, or of the next one.
    fn take(&mut self) -> SqlResult<Option<Raw>> {
        let Source { paths, compression, encoding, skip, .. } = self.source;
        loop {
            let Some(open) = &mut self.open else {
                let Some(path) = paths.get(self.next) else { return Ok(None) };
                let compression = compression.unwrap_or_else(|| Compression::of_name(path));
                let begun = input::begin(path, compression, encoding, skip)?;
                self.next += 1;
                self.open = Some(Open {
                    input: begun.input,
                    offset: begun.offset,
                    line_end: begun.line_end,
                    returns: begun.returns,
                    begins: Some(begun.lines),
                });
                continue;
            };
            let file = self.next - 1;
            let (mut bytes, mut from) = (Vec::new(), None);
            let (length, ends_file) = match &mut open.input {
                Input::Plain { file, size } => {
                    let left = size.saturating_sub(open.offset);
                    let length = left.min(self.block as u64);
                    from = Some((file.clone(), open.offset, length as usize));
                    open.offset += length;
                    (length as usize, length == left)
                }
                Input::Stream(stream) => {
                    let mut stream = Read::take(stream, self.block as u64);
                    let read = stream.read_to_end(&mut bytes);
                    read.map_err(|error| read_failed(&paths[file], &error))?;
                    (bytes.len(), bytes.len() < self.block)
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

impl Records {
    /// Before the first block.
    pub(crate) fn new(quoting: Quoting) -> Self {
        Self { quoting, head: Vec::new(), state: State::Plain, line: 1, first: true }
    }

    /// Looks through the blocks that come next.
    pub(crate) fn wave(
        &mut self,
        mut raw: Vec<Raw>,
        origin: Origin<'_>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Wave> {
        let slots: Vec<Mutex<Vec<u8>>> =
            raw.iter_mut().map(|it| Mutex::new(std::mem::take(&mut it.bytes))).collect();
        let quoting = self.quoting;
        let looked = try_map(context.parallel, raw.len(), |index| {
            let (raw, bytes) = (&raw[index], &mut *slots[index].lock());
            if let (Some((file, at, length)), Origin::Files(paths)) = (&raw.from, origin) {
                bytes.resize(*length, 0);
                file.read_exact_at(bytes, *at)
                    .map_err(|error| read_failed(&paths[raw.file], &error))?;
            }
            let lines = memchr::memchr_iter(raw.line_end, bytes).count() as u64;
            let ends =
                quoting.states().iter().map(|&it| (it, quoting.ends(bytes, raw.line_end, it)));
            Ok((lines, ends.collect::<Vec<_>>()))
        })?;
        let blocks: Vec<Vec<u8>> = slots.into_iter().map(Mutex::into_inner).collect();
        let mut plans = Vec::new();
        for (index, (raw, (lines, ends))) in raw.iter().zip(looked).enumerate() {
            self.plan(raw, (index, &blocks[index]), (lines, &ends), origin, &mut plans)?;
        }
        Ok(Wave { blocks, plans })
    }

    /// Finds the records of a block.
    fn plan(
        &mut self,
        raw: &Raw,
        (index, bytes): (usize, &[u8]),
        (lines, ends): (u64, &[(State, Ends)]),
        origin: Origin<'_>,
        plans: &mut Vec<Plan>,
    ) -> SqlResult<()> {
        if let Some(skipped) = raw.begins {
            (self.state, self.line, self.first) = (State::Plain, skipped + 1, true);
            self.head.clear();
        }
        let known = ends.iter().find(|it| it.0 == self.state).map(|it| it.1);
        let Ends { ends, state } = known.unwrap_or(Ends { ends: None, state: self.state });
        self.state = state;
        let (file, line_end, returns) = (raw.file, raw.line_end, raw.returns);
        let counted = |bytes: &[u8]| memchr::memchr_iter(line_end, bytes).count() as u64;
        // Lines up to here are those before the open record and those within it.
        let mut push = |this: &mut Self, head: Vec<u8>, range: Range<usize>, lines: u64| {
            if !head.is_empty() || !range.is_empty() {
                let (line, first) = (this.line, std::mem::replace(&mut this.first, false));
                let block = Some((index, range));
                plans.push(Plan { file, head, block, line, first, line_end, returns });
            }
            this.line += lines;
        };
        match ends {
            Some((first, last)) => {
                let mut head = std::mem::take(&mut self.head);
                let begun = counted(&head);
                let start = if head.is_empty() { 0 } else { first };
                head.extend_from_slice(&bytes[..start]);
                let rest = &bytes[last..];
                push(self, head, start..last, begun + lines - counted(rest));
                self.head.extend_from_slice(rest);
            }
            None => self.head.extend_from_slice(bytes),
        }
        if self.head.len() > RECORD_MAX {
            let name = origin.name(file);
            let message = format!("a record of {name} is over 256 MiB (line {})", self.line);
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
                .with_hint("a quote may be missing, or the file is no text"));
        }
        if raw.ends_file {
            let head = std::mem::take(&mut self.head);
            push(self, head, 0..0, 0);
        }
        Ok(())
    }
}
