//! Finds out whether a column of a table in parts is a dense key of them, by their rows.

use stdx::sync::Arc;
use types::{SqlResult, Value};

use crate::column_keys::for_each_key;
use crate::place::ColumnPlace;
use crate::{BLOCK_ROWS, BuildContext, Column, Encoding, KeyRows, Part};

/// No row, while the array is filled.
const NO_ROW: u32 = u32::MAX;

/// The rows by a column of several parts, of which deltas are left out; `None` where it is no dense key of them.
pub(crate) fn rows_of_dense_key(
    column: usize,
    parts: &[Part],
    place: &ColumnPlace<'_>,
    context: &BuildContext<'_>,
) -> SqlResult<Option<Arc<KeyRows>>> {
    let mains = parts.iter().enumerate().take_while(|it| it.1.number == it.0);
    let mains: Vec<&Column> = mains.map(|it| &*it.1.columns[column]).collect();
    // What lies in a mapped file is not looked at before a statement asks for it.
    let is_mapped = mains.iter().any(|it| it.iv.segment().is_mapped());
    let Some((min, len)) = range(&mains).filter(|_| mains.len() > 1 && !is_mapped) else {
        return Ok(None);
    };
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
    let found = (!twice).then(|| Arc::new(KeyRows::new(min, len, segment)));
    Ok(found)
}

/// The least key of some columns and how many rows they have, if as many different ones would leave no gap.
fn range(columns: &[&Column]) -> Option<(i64, usize)> {
    let rows: usize = columns.iter().map(|it| it.rows()).sum();
    let filled = || columns.iter().filter(|it| it.rows() > 0);
    let is_key = |it: &&&Column| {
        let facts = &it.statistics;
        let repeats = facts.distinct_exact && facts.distinct < it.rows() as u64;
        let has_keys = matches!(it.encoding, Encoding::Offset { .. } | Encoding::Dictionary(_));
        it.data_type.plain().is_integer() && facts.nulls == 0 && has_keys && !repeats
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
