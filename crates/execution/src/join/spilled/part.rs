//! A partition of a build side in files: its rows, or what it was cut into because their table would not fit.
//!
//! - Invariant: rows are numbered from partition to partition in order, within what a partition is cut into as well.

use memory::{Account, SpillFile};
use stdx::Bytes;
use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use super::PIECES_PER_TASK;
use super::hashes::{CUTS, LEVELS, cut_of, hashes_of_build};
use crate::join::table::ENTRY_BYTES;
use crate::partitions::{Outgoing, Piece, Waiting};
use crate::spill::read;
use crate::{PerSlot, Team};

/// The build rows of one partition.
pub(in crate::join) struct SpilledPart {
    /// With the number that the first row of each has in the partition; none where it is cut.
    pub(super) pieces: Vec<(Piece, u32)>,
    /// What it is cut into.
    pub(super) cut: Vec<SpilledPart>,
    /// How often what it is part of was cut before.
    level: u32,
    /// The number of its first row.
    pub(super) first: u32,
    /// A bit per row that has found a partner; empty as long as nobody asked.
    pub(super) matched: Mutex<Vec<u64>>,
}

/// Bytes of memory for the table of a partition up to which it is not cut: buffers take as much.
const TABLE_BYTES_MIN: u64 = 256 << 10;

/// What cutting needs to know.
pub(super) struct Cutting<'a> {
    pub(super) file: &'a Arc<SpillFile>,
    /// How many of the columns of a row are keys.
    pub(super) keys: usize,
    pub(super) team: &'a dyn Team,
}

impl SpilledPart {
    /// The partition of some rows, not numbered yet.
    pub(super) fn new(mut pieces: Vec<Piece>, level: u32) -> Self {
        // The order of the source, as of tables in memory.
        pieces.sort_by_key(|it| it.sequence);
        let mut next = 0;
        let numbered = |piece: Piece| {
            next += piece.extent.rows;
            (piece, next - piece.extent.rows)
        };
        let pieces = pieces.into_iter().map(numbered).collect();
        Self { pieces, cut: Vec::new(), level, first: 0, matched: Mutex::new(Vec::new()) }
    }

    /// How many rows it has.
    fn rows(&self) -> u64 {
        let own = self.pieces.iter().map(|it| u64::from(it.0.extent.rows)).sum::<u64>();
        own + self.cut.iter().map(Self::rows).sum::<u64>()
    }

    /// Whether there is memory for its rows as they are read and for the table that they become.
    fn fits(&self, account: &Account) -> bool {
        let bytes: u64 = self.pieces.iter().map(|it| it.0.extent.bytes()).sum();
        let wanted = 2 * (bytes + self.rows() * ENTRY_BYTES);
        wanted <= TABLE_BYTES_MIN || account.has_room_for(Bytes(wanted))
    }

    /// Cuts it, and what comes out of it, as long as it does not fit and cutting helps.
    pub(super) fn cut_to_fit(&mut self, how: &Cutting<'_>) -> SqlResult<()> {
        let workspace = how.team.workspace();
        if self.level == LEVELS || self.fits(workspace.account()) {
            return Ok(());
        }
        let parts = self.cut_once(how)?;
        // Rows with one key stay together however often they are cut.
        if parts.iter().filter(|it| !it.is_empty()).count() > 1 {
            self.pieces = Vec::new();
            self.cut = parts.into_iter().map(|it| Self::new(it, self.level + 1)).collect();
            self.cut.iter_mut().try_for_each(|it| it.cut_to_fit(how))?;
        }
        Ok(())
    }

    fn cut_once(&self, how: &Cutting<'_>) -> SqlResult<Vec<Vec<Piece>>> {
        let outgoing: PerSlot<Outgoing> = PerSlot::new(how.team.slots());
        how.team.run(self.pieces.len().div_ceil(PIECES_PER_TASK), &|task, context| {
            let mut outgoing = outgoing.lock(context.slot);
            let outgoing = outgoing.get_or_insert_with(|| Outgoing::small(CUTS, how.file.clone()));
            for (piece, _) in self.pieces.iter().skip(task * PIECES_PER_TASK).take(PIECES_PER_TASK)
            {
                context.check()?;
                let columns = read(how.file, piece.extent)?;
                let hashes = hashes_of_build(&columns[..how.keys], piece.extent.rows as usize);
                let partitions = hashes.into_iter().map(|it| self.cut_of_hash(it)).collect();
                outgoing.add(Waiting { sequence: piece.sequence, columns, partitions })?;
            }
            Ok(())
        })?;
        let mut parts: Vec<Vec<Piece>> = vec![Vec::new(); CUTS];
        for of_worker in outgoing.take_all() {
            of_worker.finish()?.into_iter().zip(&mut parts).for_each(|(from, to)| to.extend(from));
        }
        Ok(parts)
    }

    /// Numbers the rows from `next` on; gives what comes behind them.
    pub(super) fn number(&mut self, next: u32) -> u32 {
        self.first = next;
        let own: u32 = self.pieces.iter().map(|it| it.0.extent.rows).sum();
        self.cut.iter_mut().fold(next + own, |next, it| it.number(next))
    }

    /// Which of those that it is cut into the rows with a hash of their keys are of.
    pub(in crate::join) fn cut_of_hash(&self, hash: u64) -> u8 {
        cut_of(hash, self.level)
    }

    /// Which of those that it is cut into the row with a number is of.
    pub(in crate::join) fn cut_of_number(&self, number: u32) -> u8 {
        place_of(&self.cut, number)
    }

    /// Those with a table, in order.
    pub(super) fn leaves<'a>(&'a self, found: &mut Vec<&'a Self>) {
        match &self.cut[..] {
            [] => found.push(self),
            cut => cut.iter().for_each(|it| it.leaves(found)),
        }
    }
}

/// Which of some partitions has the row with a number.
pub(super) fn place_of(parts: &[SpilledPart], number: u32) -> u8 {
    // Of partitions that begin with one number, all but the last are empty.
    (parts.partition_point(|it| it.first <= number) - 1) as u8
}
