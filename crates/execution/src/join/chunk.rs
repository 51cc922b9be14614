//! Rows of the build side as they came, and the table that they become.

use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

use super::columns::{Assembled, assemble};
use super::key::KeyDomain;
use super::table::{Columns, Structure};
use super::{JoinTable, NO_ROW};
use crate::expression::Compiled;
use crate::{Bitmap, Layout, Team, Vector};

/// The rows of a batch that all have keys, or all have a NULL key.
pub(super) struct Chunk {
    pub(super) keyed: bool,
    pub(super) sequence: u64,
    pub(super) rows: usize,
    pub(super) keys: Vec<Arc<Vector>>,
    pub(super) payload: Vec<Arc<Vector>>,
}

/// What is known of a table before its rows.
#[derive(Clone)]
pub(super) struct Recipe {
    pub(super) domains: Vec<KeyDomain>,
    /// The layout of what is stored of each row.
    pub(super) layout: Layout,
    /// Whether no two rows share their keys.
    pub(super) unique: bool,
    pub(super) structure: Structure,
    /// How many tables have the rows, each those of some keys of the whole range.
    pub(super) tables: usize,
}

impl Recipe {
    /// For rows with these keys, of which this is stored.
    pub(super) fn of(
        keys: &[Compiled],
        payload: &[Compiled],
        unique: bool,
        structure: Structure,
    ) -> Self {
        let domains = keys.iter().map(|it| KeyDomain::of(it.shape())).collect();
        let layout = payload.iter().map(|it| it.shape().clone()).collect();
        Self { domains, layout, unique, structure, tables: 1 }
    }

    /// For one of so many tables, each of which has the rows of some keys.
    pub(super) fn one_of(&self, tables: usize) -> Self {
        Self { tables: tables.max(1), ..self.clone() }
    }

    /// One table for the rows of all these chunks, those with keys first; `null_keys` rows had a NULL key.
    pub(super) fn table(
        &self,
        chunks: Vec<Chunk>,
        null_keys: u64,
        team: &dyn Team,
    ) -> SqlResult<JoinTable> {
        let count = |it: &dyn Fn(&Chunk) -> bool| -> usize {
            chunks.iter().filter(|chunk| it(chunk)).map(|it| it.rows).sum()
        };
        let (rows, keyed) = (count(&|_| true), count(&|it| it.keyed));
        let Assembled { keys, ranges, payload } = assemble(self, chunks, team)?;
        let columns = Columns {
            rows: rows as u32,
            keyed: keyed as u32,
            null_keys,
            domains: self.domains.clone(),
            keys,
            ranges,
            payload,
            layout: self.layout.clone(),
            unique: self.unique,
        };
        JoinTable::new(columns, (self.structure, self.tables), team)
    }
}

/// Fails where there are more rows than have numbers.
pub(super) fn check_rows(rows: usize) -> SqlResult<()> {
    if rows < NO_ROW as usize {
        return Ok(());
    }
    let message = format!("the build side of a join has {rows} rows, the most is {NO_ROW}");
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}

impl Chunk {
    /// Parts the rows whose keys are there from those with a NULL key.
    pub(super) fn split_nulls(self) -> (Option<Self>, Option<Self>) {
        let maps: Vec<&Bitmap> = self.keys.iter().filter_map(|it| it.validity.as_ref()).collect();
        let is_keyed = |row: &u32| maps.iter().all(|it| it.get(*row as usize));
        let (keyed, without): (Vec<u32>, Vec<u32>) = match maps.as_slice() {
            [] => return (Some(self), None),
            _ => (0..self.rows as u32).partition(is_keyed),
        };
        match (keyed.is_empty(), without.is_empty()) {
            (_, true) => (Some(self), None),
            (true, false) => (None, Some(Self { keyed: false, ..self })),
            (false, false) => (Some(self.take(&keyed, true)), Some(self.take(&without, false))),
        }
    }

    /// Some of the rows.
    pub(super) fn take(&self, rows: &[u32], keyed: bool) -> Self {
        let take = |from: &[Arc<Vector>]| from.iter().map(|it| Arc::new(it.take(rows))).collect();
        let keys = if keyed { take(&self.keys) } else { Vec::new() };
        Self {
            keyed,
            sequence: self.sequence,
            rows: rows.len(),
            keys,
            payload: take(&self.payload),
        }
    }
}
