//! The build side in files.

use memory::SpillFile;
use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use super::PARTITIONS;
use super::filter::KeyBits;
use crate::Team;
use crate::join::JoinTable;
use crate::join::chunk::{Chunk, Recipe, check_rows};
use crate::partitions::Piece;
use crate::spill::read;

/// The rows of a build side that are in files.
pub(in crate::join) struct SpilledBuild {
    recipe: Recipe,
    null_keys: u64,
    /// Which keys there are.
    pub(in crate::join) keys: Arc<KeyBits>,
    pub(super) file: Arc<SpillFile>,
    /// By partition; behind them the rows that have no key.
    pub(super) parts: Vec<SpilledPart>,
    rows: u32,
}

/// The build rows of one partition.
pub(super) struct SpilledPart {
    /// With the number that the first row of each has in the partition.
    pub(super) pieces: Vec<(Piece, u32)>,
    /// The number of its first row.
    first: u32,
    /// A bit per row that has found a partner; empty as long as nobody asked.
    matched: Mutex<Vec<u64>>,
}

impl SpilledBuild {
    /// What workers have written, with these keys.
    pub(in crate::join) fn new(
        recipe: Recipe,
        null_keys: u64,
        (keys, file): (Arc<KeyBits>, Arc<SpillFile>),
        written: Vec<Vec<Vec<Piece>>>,
    ) -> SqlResult<Self> {
        let mut pieces: Vec<Vec<Piece>> = vec![Vec::new(); PARTITIONS + 1];
        for of_worker in written {
            of_worker.into_iter().zip(&mut pieces).for_each(|(from, to)| to.extend(from));
        }
        check_rows(pieces.iter().flatten().map(|it| it.extent.rows as usize).sum())?;
        let mut next = 0;
        let mut part = |mut pieces: Vec<Piece>| {
            // The order of the source, as of tables in memory.
            pieces.sort_by_key(|it| it.sequence);
            let first = next;
            let numbered = |piece: Piece| {
                next += piece.extent.rows;
                (piece, next - piece.extent.rows - first)
            };
            let pieces = pieces.into_iter().map(numbered).collect();
            SpilledPart { pieces, first, matched: Mutex::new(Vec::new()) }
        };
        let parts = pieces.into_iter().map(&mut part).collect();
        Ok(Self { recipe, null_keys, keys, file, parts, rows: next })
    }

    /// A table of none of the rows: what is asked of them is known by it.
    pub(in crate::join) fn table_of_none(&self, team: &dyn Team) -> SqlResult<JoinTable> {
        self.recipe.table(Vec::new(), self.null_keys, team)
    }

    /// How many rows there are.
    pub(in crate::join) fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The number of the first row of a partition.
    pub(super) fn first(&self, partition: usize) -> u32 {
        self.parts[partition].first
    }

    /// The partition of the row with a number.
    pub(in crate::join) fn partition_of(&self, number: u32) -> u8 {
        // Of partitions that begin with one number, all but the last are empty.
        (self.parts[..PARTITIONS].partition_point(|it| it.first <= number) - 1) as u8
    }

    /// How many columns of what is written of a row with a key are keys.
    pub(super) fn key_columns(&self) -> usize {
        self.recipe.domains.len()
    }

    /// The layout of what is stored of each row.
    pub(super) fn layout(&self) -> &crate::Layout {
        &self.recipe.layout
    }

    /// The table of a partition, read and built by the team.
    pub(super) fn load(&self, partition: usize, team: &dyn Team) -> SqlResult<JoinTable> {
        let part = &self.parts[partition];
        let read_one: Vec<Mutex<Option<Chunk>>> =
            part.pieces.iter().map(|_| Mutex::new(None)).collect();
        team.run(part.pieces.len().div_ceil(PIECES_PER_TASK), &|task, _| {
            let pieces = part.pieces.iter().zip(&read_one).skip(task * PIECES_PER_TASK);
            for ((piece, _), to) in pieces.take(PIECES_PER_TASK) {
                let mut keys = read(&self.file, piece.extent)?;
                let payload = keys.split_off(self.key_columns());
                let (rows, sequence) = (piece.extent.rows as usize, piece.sequence);
                *to.lock() = Some(Chunk { keyed: true, sequence, rows, keys, payload });
            }
            Ok(())
        })?;
        let chunks = read_one.into_iter().filter_map(Mutex::into_inner).collect();
        let table = self.recipe.table(chunks, self.null_keys, team)?;
        table.mark_words(&part.matched.lock());
        Ok(table)
    }

    /// Keeps which rows of a partition have found a partner.
    pub(super) fn keep_matches(&self, partition: usize, table: &JoinTable) {
        *self.parts[partition].matched.lock() = table.matched_words();
    }

    /// Which rows of a partition have found a partner: the bits of the first of them.
    pub(super) fn matches(&self, partition: usize) -> Vec<u64> {
        self.parts[partition].matched.lock().clone()
    }

    /// In words, for EXPLAIN ANALYZE.
    pub(in crate::join) fn describe(&self) -> String {
        format!("{PARTITIONS} partitions in files, {} rows", self.rows)
    }
}

/// Pieces that a task reads.
pub(super) const PIECES_PER_TASK: usize = 8;
