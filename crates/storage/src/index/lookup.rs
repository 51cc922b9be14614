//! From bounds on values to slots of an index, and rows that hold one value.

use std::ops::{Bound, Range};

use types::{DataType, Value};

use super::InvertedIndex;
use super::keys::{Keys, text_at, text_key};
use crate::{CodeRange, Column, Encoding};

impl InvertedIndex {
    /// The slots whose rows hold a value between two bounds. `None` when the bounds are of a kind that does not compare
    /// with the column exactly: then the column has to be read.
    pub fn lookup(
        &self,
        column: &Column,
        low: Bound<&Value>,
        high: Bound<&Value>,
    ) -> Option<Range<usize>> {
        if matches!(column.encoding, Encoding::Plain(_)) {
            return self.lookup_text(column, low, high);
        }
        let keys = Keys::of(column)?;
        let (low, high) = match column.encode_range(low, high)? {
            CodeRange::None => return Some(0..0),
            CodeRange::Codes { low, high } => (u64::from(low), u64::from(high)),
            CodeRange::Words { low, high } => (low, high),
        };
        // Where a bucket is a key, its run is the answer; else the ends of the range lie within buckets.
        let (start, end) = match self.shift {
            0 => (
                self.first(low, |_| false),
                high.checked_add(1).map(|it| self.first(it, |_| false)),
            ),
            _ => {
                let start = self.first(low, |row| keys.key(row) < low);
                (start, Some(self.first(high, |row| keys.key(row) <= high)))
            }
        };
        let end = end.unwrap_or(self.len());
        Some(start..end.max(start))
    }

    fn lookup_text(
        &self,
        column: &Column,
        low: Bound<&Value>,
        high: Bound<&Value>,
    ) -> Option<Range<usize>> {
        let text = |value: &Value| match value {
            // Trailing blanks of CHAR(n) do not count, and are not stored.
            Value::Text(it) if matches!(column.data_type, DataType::Char(_)) => {
                Some(it.trim_end_matches(' ').as_bytes().to_vec())
            }
            Value::Text(it) => Some(it.as_bytes().to_vec()),
            _ => None,
        };
        let shared = column.statistics.min.as_ref().and_then(text).unwrap_or_default();
        let rank = |wanted: &[u8], or_equal: bool| {
            let before = |row: usize| match (*text_at(column, row)).cmp(wanted) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => or_equal,
                std::cmp::Ordering::Greater => false,
            };
            let length = self.prefix.min(wanted.len());
            // What does not begin as all texts do lies before or behind all of them.
            match wanted[..length].cmp(&shared[..length.min(shared.len())]) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Greater => self.len(),
                std::cmp::Ordering::Equal if length < self.prefix => 0,
                std::cmp::Ordering::Equal => self.first(text_key(wanted, self.prefix), before),
            }
        };
        let null = |it: &Bound<&Value>| {
            matches!(it, Bound::Included(Value::Null) | Bound::Excluded(Value::Null))
        };
        if null(&low) || null(&high) {
            return Some(0..0);
        }
        let start = match low {
            Bound::Unbounded => 0,
            Bound::Included(value) => rank(&text(value)?, false),
            Bound::Excluded(value) => rank(&text(value)?, true),
        };
        let end = match high {
            Bound::Unbounded => self.len(),
            Bound::Included(value) => rank(&text(value)?, true),
            Bound::Excluded(value) => rank(&text(value)?, false),
        };
        Some(start..end.max(start))
    }

    /// Two rows that hold one value, if there are any: the first such value's first two.
    pub fn duplicate(&self, column: &Column) -> Option<(u32, u32)> {
        let facts = &column.statistics;
        if facts.distinct_exact && facts.distinct == self.len() as u64 {
            return None;
        }
        let keys = Keys::of(column)?;
        let mut last: Option<u32> = None;
        let mut buffer = Vec::new();
        for first in (0..self.len()).step_by(4096) {
            buffer.clear();
            self.positions(first..(first + 4096).min(self.len()), &mut buffer);
            for &row in &buffer {
                if let Some(before) = last {
                    let (a, b) = (before as usize, row as usize);
                    if keys.key(a) == keys.key(b) && keys.tie(a) == keys.tie(b) {
                        return Some((before, row));
                    }
                }
                last = Some(row);
            }
        }
        None
    }
}
