//! The table that the rows of the build side become.

use types::SqlResult;

use super::JoinTable;
use super::chunk::Chunk;
use super::columns::{Assembled, assemble};
use super::key::KeyDomain;
use super::table::{Columns, Structure};
use crate::expression::Compiled;
use crate::{Layout, Team};

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
        let Assembled { keys, ranges, payload } =
            assemble(chunks, (&self.domains, &self.layout), team)?;
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
