//! Rows of a stored table by their numbers: the key of each row of its main is the least key plus the row's number. Rows that
//! came since, in deltas, are numbered behind those of the main, and found by their keys one by one; they are few.

use std::collections::HashMap;

use stdx::sync::Arc;
use storage::{Deletions, Part};

use crate::Values;
use crate::scan::Leaving;
use crate::scan::decode::Rows;

/// Rows that are found by number.
pub(super) struct RowNumbers {
    /// The key of row 0.
    min: i64,
    /// Rows of the main.
    main: u32,
    changes: Option<Changes>,
}

/// What has changed since the main was built.
#[derive(Default)]
pub(super) struct Changes {
    /// The number of the first row of the main and of each delta, and which of their rows have gone.
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
}

impl RowNumbers {
    /// Of a main whose first row has the least key, and whose other rows have one more each.
    pub(super) fn new(min: i64, main: u32, changes: Option<Changes>) -> Self {
        Self { min, main, changes }
    }

    /// The least key and the number of keys from there on, where nothing has changed.
    pub(super) fn unchanged(&self) -> Option<(i64, u32)> {
        self.changes.is_none().then_some((self.min, self.main))
    }

    /// The row with a key.
    #[inline]
    pub(super) fn find(&self, key: i64) -> Option<u32> {
        let place = key.wrapping_sub(self.min) as u64;
        let row = (place < u64::from(self.main)).then_some(place as u32);
        let Some(changes) = &self.changes else { return row };
        let gone =
            |row: u32| changes.parts[0].1.as_ref().is_some_and(|it| it.contains(row as usize));
        row.filter(|it| !gone(*it)).or_else(|| changes.later.get(&key).copied())
    }

    /// Whether a row is there.
    pub(super) fn is_live(&self, row: u32) -> bool {
        let Some(changes) = &self.changes else { return true };
        let part = changes.parts.partition_point(|it| it.0 <= row) - 1;
        let (first, gone) = &changes.parts[part];
        gone.as_ref().is_none_or(|it| !it.contains((row - first) as usize))
    }
}
