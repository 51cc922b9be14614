//! Where the rows of a dense key are: in a table in one piece that rises from row to row, the key tells it; in one that is cut
//! into parts, an array from key to row does, which joins look into in place of a hash table.
//!
//! - Invariant: rows are numbered over the parts that the table is cut into, in their order, without gaps. Deltas come
//!   behind them, so that what comes or goes later does not change a number.

use memory::Segment;
use stdx::sync::Arc;
use types::{SqlResult, Value};

use crate::domain::for_each_key;
use crate::part::Part;
use crate::place::ColumnPlace;
use crate::{BLOCK_ROWS, BuildContext, Column, Encoding};

/// No row, while the array is filled.
const NO_ROW: u32 = u32::MAX;

/// From the keys of a table in parts to their rows: the keys are all integers from the least to the greatest, each once.
#[derive(Debug)]
pub struct KeyRows {
    min: i64,
    len: usize,
    segment: Arc<Segment>,
}

/// A key of which each integer from the least to the greatest is in one row of what a table was built of.
#[derive(Clone, Copy, Debug)]
pub struct DenseKey<'a> {
    /// The least key.
    pub min: i64,
    /// How many keys and rows.
    pub rows: usize,
    /// The rows by key; `None` where the number of a row is its key less the least one.
    pub places: Option<&'a Arc<KeyRows>>,
}

impl KeyRows {
    /// The number of the row of each key, from the least on.
    #[inline]
    pub fn rows(&self) -> &[u32] {
        &self.segment.as_slice()[..self.len]
    }

    /// The least key.
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The memory behind it.
    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The rows by a column of several parts, of which deltas are left out; `None` where it is no dense key of them.
    pub(crate) fn of(
        column: usize,
        parts: &[Part],
        place: &ColumnPlace<'_>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<Arc<Self>>> {
        let mains = parts.iter().enumerate().take_while(|it| it.1.number == it.0);
        let mains: Vec<&Column> = mains.map(|it| &*it.1.columns[column]).collect();
        let Some((min, len)) = range(&mains).filter(|_| mains.len() > 1) else { return Ok(None) };
        let mut segment = place.dictionary(len * size_of::<u32>(), 0)?;
        let rows = &mut segment.as_mut_slice::<u32>()[..len];
        rows.fill(NO_ROW);
        let (mut row, mut twice) = (0, false);
        for column in mains {
            for first in (0..column.rows()).step_by(BLOCK_ROWS) {
                context.check_cancelled()?;
                let end = column.rows().min(first + BLOCK_ROWS);
                for_each_key(column, first..end, |key| {
                    let place = key.wrapping_sub(min) as u64 as usize;
                    twice |= rows.get(place).is_none_or(|it| *it != NO_ROW);
                    rows[place.min(len - 1)] = row;
                    row += 1;
                });
            }
        }
        // As many rows as keys that may be: if none comes twice, none is missing.
        let found = (!twice).then(|| Arc::new(Self { min, len, segment: Arc::new(segment) }));
        Ok(found)
    }
}

/// The least key of some columns and how many rows they have, if as many different ones would leave no gap.
fn range(columns: &[&Column]) -> Option<(i64, usize)> {
    let rows: usize = columns.iter().map(|it| it.rows()).sum();
    let filled = || columns.iter().filter(|it| it.rows() > 0);
    let is_key = |it: &&&Column| {
        let facts = &it.statistics;
        let repeats = facts.distinct_exact && facts.distinct < it.rows() as u64;
        let has_keys = matches!(it.encoding, Encoding::Offset { .. } | Encoding::Dictionary(_));
        it.data_type.is_integer() && facts.nulls == 0 && has_keys && !repeats
    };
    if !filled().all(|it| is_key(&it)) {
        return None;
    }
    let end = |it: &Option<Value>| it.as_ref().and_then(Value::as_i128);
    let min = filled().filter_map(|it| end(&it.statistics.min)).min()?;
    let max = filled().filter_map(|it| end(&it.statistics.max)).max()?;
    let min = i64::try_from(min).ok().filter(|_| max - min + 1 == rows as i128)?;
    (rows < NO_ROW as usize).then_some((min, rows))
}
