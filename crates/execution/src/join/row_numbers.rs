//! Rows of a stored table by their numbers: the key of each row that the table was built of is the least key plus the row's
//! number, or the table keeps the numbers of the rows by their keys. Rows that came since, in deltas, are numbered behind
//! those, and found by their keys one by one; they are few.

use std::collections::HashMap;

use stdx::sync::Arc;
use storage::{Deletions, DenseKey, KeyRows, Part};

use crate::Values;
use crate::scan::Leaving;
use crate::scan::decode::Rows;

/// Rows that are found by number.
pub(super) struct RowNumbers {
    /// The least key.
    min: i64,
    /// Rows that the table was built of.
    rows: u32,
    /// Their numbers by key, where those are not the keys less the least one.
    places: Option<Arc<KeyRows>>,
    changes: Option<Changes>,
}

/// What has changed since the table was built.
#[derive(Default)]
pub(super) struct Changes {
    /// The number of the first row of each part and of each delta, and which of their rows have gone.
    pub(super) parts: Vec<(u32, Option<Arc<Deletions>>)>,
    /// The rows of the deltas that are there, by key.
    pub(super) later: HashMap<i64, u32>,
}

impl Changes {
    /// Adds the keys of a delta, integers, whose first row has a number.
    pub(super) fn add_keys(&mut self, first: u32, delta: &Part, keys: &Leaving) {
        let all: Vec<u32> = (0..delta.rows() as u32).collect();
        if let Values::I64(keys) = keys.pick(0, delta.rows(), &Rows::Places(&all)).values {
            let rows = keys.into_iter().zip(all);
            let gone = |row: u32| delta.deletions().is_some_and(|it| it.contains(row as usize));
            self.later.extend(rows.filter(|it| !gone(it.1)).map(|it| (it.0, first + it.1)));
        }
    }

    fn is_live(&self, row: u32) -> bool {
        let part = self.parts.partition_point(|it| it.0 <= row) - 1;
        let (first, gone) = &self.parts[part];
        gone.as_ref().is_none_or(|it| !it.contains((row - first) as usize))
    }
}

/// The rows of a table in which nothing has changed.
#[derive(Clone, Copy)]
pub(super) struct Unchanged<'a> {
    /// The least key.
    pub(super) min: i64,
    /// How many rows.
    pub(super) rows: u32,
    /// Their numbers by key, where those are not the keys less the least one.
    pub(super) places: Option<&'a [u32]>,
}

impl RowNumbers {
    /// Of what a table was built of, and what has changed since.
    pub(super) fn new(key: &DenseKey<'_>, changes: Option<Changes>) -> Self {
        Self { min: key.min, rows: key.rows as u32, places: key.places.cloned(), changes }
    }

    /// The rows, where nothing has changed.
    pub(super) fn unchanged(&self) -> Option<Unchanged<'_>> {
        let places = self.places.as_ref().map(|it| it.rows());
        self.changes.is_none().then_some(Unchanged { min: self.min, rows: self.rows, places })
    }

    /// The row with a key.
    #[inline]
    pub(super) fn find(&self, key: i64) -> Option<u32> {
        let place = key.wrapping_sub(self.min) as u64;
        let row = (place < u64::from(self.rows)).then(|| match &self.places {
            Some(places) => places.rows()[place as usize],
            None => place as u32,
        });
        let Some(changes) = &self.changes else { return row };
        row.filter(|it| changes.is_live(*it)).or_else(|| changes.later.get(&key).copied())
    }

    /// Whether a row is there.
    pub(super) fn is_live(&self, row: u32) -> bool {
        self.changes.as_ref().is_none_or(|it| it.is_live(row))
    }
}
