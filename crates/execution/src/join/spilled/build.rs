//! The build side in files.

use memory::SpillFile;
use stdx::sync::{Arc, Mutex};
use types::SqlResult;

use super::filter::KeyBits;
use super::part::{Cutting, SpilledPart, place_of};
use super::{PARTITIONS, PIECES_PER_TASK};
use crate::Team;
use crate::join::JoinTable;
use crate::join::chunk::{Chunk, check_rows};
use crate::join::recipe::Recipe;
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

impl SpilledBuild {
    /// What workers have written, with these keys; partitions whose tables would not fit are cut again.
    pub(in crate::join) fn new(
        recipe: Recipe,
        null_keys: u64,
        (keys, file): (Arc<KeyBits>, Arc<SpillFile>),
        written: Vec<Vec<Vec<Piece>>>,
        team: &dyn Team,
    ) -> SqlResult<Self> {
        let mut pieces: Vec<Vec<Piece>> = vec![Vec::new(); PARTITIONS + 1];
        for of_worker in written {
            of_worker.into_iter().zip(&mut pieces).for_each(|(from, to)| to.extend(from));
        }
        check_rows(pieces.iter().flatten().map(|it| it.extent.rows as usize).sum())?;
        let mut parts: Vec<_> = pieces.into_iter().map(|it| SpilledPart::new(it, 0)).collect();
        let how = Cutting { file: &file, keys: recipe.domains.len(), team };
        parts[..PARTITIONS].iter_mut().try_for_each(|it| it.cut_to_fit(&how))?;
        let rows = parts.iter_mut().fold(0, |next, it| it.number(next));
        Ok(Self { recipe, null_keys, keys, file, parts, rows })
    }

    /// A table of none of the rows: what is asked of them is known by it.
    pub(in crate::join) fn table_of_none(&self, team: &dyn Team) -> SqlResult<JoinTable> {
        self.recipe.table(Vec::new(), self.null_keys, team)
    }

    /// How many rows there are.
    pub(in crate::join) fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The partition of the row with a number.
    pub(in crate::join) fn partition_of(&self, number: u32) -> u8 {
        place_of(&self.parts[..PARTITIONS], number)
    }

    /// All that have a table, and at last the rows that have no key.
    pub(super) fn leaves(&self) -> Vec<&SpilledPart> {
        let mut leaves = Vec::new();
        self.parts.iter().for_each(|it| it.leaves(&mut leaves));
        leaves
    }

    /// How many columns of what is written of a row with a key are keys.
    pub(super) fn key_columns(&self) -> usize {
        self.recipe.domains.len()
    }

    /// The layout of what is stored of each row.
    pub(super) fn layout(&self) -> &crate::Layout {
        &self.recipe.layout
    }

    /// The table of a partition that is not cut, read and built by the team.
    pub(super) fn load(&self, part: &SpilledPart, team: &dyn Team) -> SqlResult<JoinTable> {
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

    /// In words, for EXPLAIN ANALYZE.
    pub(in crate::join) fn describe(&self) -> String {
        let again = match self.leaves().len() - 1 - PARTITIONS {
            0 => String::new(),
            more => format!(", cut into {} again", PARTITIONS + more),
        };
        format!("{PARTITIONS} partitions in files{again}, {} rows", self.rows)
    }
}
