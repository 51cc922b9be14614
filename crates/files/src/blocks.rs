//! Text in blocks, and the records that lie in each.
//!
//! A block may begin anywhere, also between quotes. So each is looked through from every state that it may begin in, by all workers at
//! once; then, in order and without looking at a byte, it is known in which state each begins, and where its first and last record
//! end. A record that lies over several blocks is put together before the block where it ends.

use std::fs::File;
use std::ops::Range;

use stdx::sync::Arc;
use storage::BuildContext;
use storage::parallel::try_map;
use types::{SqlError, SqlResult, SqlState};

use crate::dialect::{Ends, Quoting, State};
use crate::fault::Origin;

/// Bytes of a block, at most: so many rows that what is done once for each is little, so few that they stay in the caches.
pub(crate) const BLOCK_MAX: usize = 2 << 20;
/// ... and at least, where a file is cut for many workers.
pub(crate) const BLOCK_MIN: usize = 64 << 10;
/// The most bytes of a record: a quote that is never closed is not looked for for ever.
pub(crate) const RECORD_MAX: usize = 256 << 20;

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

/// Where whole records lie: in what earlier blocks left, then in a part of a block.
pub(crate) struct Plan {
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
        plan.chunk(plan.block.as_ref().map_or(&[], |it| &self.blocks[it.0]))
    }
}

impl Plan {
    /// The records, of the bytes of the block.
    pub(crate) fn chunk<'a>(&'a self, block: &'a [u8]) -> Chunk<'a> {
        let body = self.block.as_ref().map_or(&[][..], |it| &block[it.1.clone()]);
        Chunk {
            file: self.file,
            parts: [&self.head, body],
            line: self.line,
            first: self.first,
            line_end: self.line_end,
            returns: self.returns,
        }
    }
}

impl Quoting {
    /// Looks through a block.
    pub(crate) fn look(self, bytes: &[u8], line_end: u8) -> Looked {
        let lines = memchr::memchr_iter(line_end, bytes).count() as u64;
        let ends = self.states().iter().map(|&it| (it, self.ends(bytes, line_end, it)));
        Looked { lines, ends: ends.collect() }
    }
}

/// A block that is not looked through yet.
pub(crate) struct Raw {
    pub(crate) file: usize,
    /// What is still to be read, and where.
    pub(crate) from: Option<(Arc<File>, u64, usize)>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) line_end: u8,
    pub(crate) returns: bool,
    /// Lines before its first byte, where it begins a file.
    pub(crate) begins: Option<u64>,
    pub(crate) ends_file: bool,
}

/// What is known of a block from every state that it may begin in.
pub(crate) struct Looked {
    lines: u64,
    ends: Vec<(State, Ends)>,
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

/// The records of blocks that are looked through one after the other.
pub(crate) struct Records {
    quoting: Quoting,
    /// The record that is open where the last block ended.
    head: Vec<u8>,
    state: State,
    line: u64,
    first: bool,
}

impl Records {
    /// Before the first block.
    pub(crate) fn new(quoting: Quoting) -> Self {
        Self { quoting, head: Vec::new(), state: State::Plain, line: 1, first: true }
    }

    /// Looks through the blocks that come next.
    pub(crate) fn wave(
        &mut self,
        raw: Vec<Raw>,
        origin: Origin<'_>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Wave> {
        let quoting = self.quoting;
        let look = |index: usize| Ok(quoting.look(&raw[index].bytes, raw[index].line_end));
        let looked = try_map(context.parallel, raw.len(), look)?;
        let mut plans = Vec::new();
        for (index, (raw, looked)) in raw.iter().zip(looked).enumerate() {
            self.plan(raw, index, &looked, origin, &mut plans)?;
        }
        Ok(Wave { blocks: raw.into_iter().map(|it| it.bytes).collect(), plans })
    }

    /// Finds the records of a block.
    pub(crate) fn plan(
        &mut self,
        raw: &Raw,
        index: usize,
        &Looked { lines, ref ends }: &Looked,
        origin: Origin<'_>,
        plans: &mut Vec<Plan>,
    ) -> SqlResult<()> {
        let bytes = &raw.bytes;
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
