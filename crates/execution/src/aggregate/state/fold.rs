//! From the rows of each group to its value: texts put together, percentiles, the most frequent value, and any other
//! aggregate of distinct rows.

use functions::{ARRAY_BYTES_MAX, VALUE_BYTES_MAX};
use plan::AggregateFunction;
use stdx::sync::Arc;
use storage::Check;
use types::array::{self, Dimension};
use types::{SqlError, SqlResult, SqlState, Value};

use super::interface::GroupStates;
use super::rows::{StateRows, text_at};
use super::spec::StateSpec;
use crate::expression::null_vector;
use crate::sort::RowKey;
use crate::{Bitmap, TextVector, Values, Vector};

/// The rows of a batch: their keys, and their arguments.
pub(super) struct Segment<K> {
    pub(super) keys: Vec<K>,
    pub(super) arguments: Vec<Arc<Vector>>,
    pub(super) position: (u64, u64),
}

/// What makes the states of an aggregate of all rows.
pub(super) type Plain = fn(&StateSpec) -> Box<dyn GroupStates>;

/// A row of a group: its key, and of equal ones the place in the source, which says where its arguments are.
pub(super) type Row<K> = (K, u32, u32);

/// The rows of all groups.
pub(super) struct Rows<'a, K> {
    /// Their arguments.
    pub(super) segments: &'a [&'a Segment<K>],
    pub(super) groups: usize,
    /// The rows of a group, in no order.
    pub(super) of_group: &'a dyn Fn(usize) -> Vec<Row<K>>,
    /// Fails when the statement has been ended; asked before each group.
    pub(super) check: Check<'a>,
}

impl<K: RowKey> Rows<'_, K> {
    /// The rows of a group in order, each once if only distinct ones count.
    fn ordered(&self, group: usize, distinct: bool) -> SqlResult<Vec<Row<K>>> {
        (self.check)()?;
        let mut rows = (self.of_group)(group);
        rows.sort_unstable();
        if distinct {
            rows.dedup_by(|a, b| a.0 == b.0);
        }
        Ok(rows)
    }

    /// The rows of a group in any order, each once if only distinct ones count.
    fn counted(&self, group: usize, distinct: bool) -> SqlResult<Vec<Row<K>>> {
        if distinct {
            return self.ordered(group, true);
        }
        (self.check)()?;
        Ok((self.of_group)(group))
    }

    fn argument(&self, row: &Row<K>, argument: usize) -> (&Vector, u32) {
        (&self.segments[row.1 as usize].arguments[argument], row.2)
    }

    /// The values of a chosen row of each group.
    fn chosen(&self, spec: &StateSpec, rows: &[Option<Row<K>>]) -> Vector {
        let nothing = null_vector(&spec.result, 1);
        let source =
            rows.iter().map(|it| it.as_ref().map_or((&nothing, 0), |it| self.argument(it, 0)));
        Vector::collect(&spec.result, source)
    }
}

/// The value of each group.
pub(super) fn fold<K: RowKey>(
    spec: &StateSpec,
    rows: &Rows<'_, K>,
    plain: Plain,
) -> SqlResult<Vector> {
    match spec.function {
        AggregateFunction::StringAggregate => texts(spec, rows),
        AggregateFunction::ArrayAggregate => arrays(spec, rows),
        AggregateFunction::PercentileContinuous => between(spec, rows),
        AggregateFunction::PercentileDiscrete => {
            let chosen = (0..rows.groups).map(|group| {
                let mut of_group = rows.counted(group, spec.distinct)?;
                let Some(share) = share_of(rows, &of_group)? else { return Ok(None) };
                // The first row that so much of all is up to.
                let number = (share * of_group.len() as f64).ceil() as usize;
                let place = number.saturating_sub(1).min(of_group.len() - 1);
                Ok(Some(of_group.select_nth_unstable(place).1.clone()))
            });
            let chosen = chosen.collect::<SqlResult<Vec<_>>>()?;
            Ok(rows.chosen(spec, &chosen))
        }
        AggregateFunction::Mode => {
            let chosen =
                (0..rows.groups).map(|it| Ok(most_frequent(&rows.ordered(it, spec.distinct)?)));
            let chosen = chosen.collect::<SqlResult<Vec<_>>>()?;
            Ok(rows.chosen(spec, &chosen))
        }
        _ => of_distinct(spec, rows, plain),
    }
}

/// The texts of each group with a delimiter before each but the first.
fn texts<K: RowKey>(spec: &StateSpec, rows: &Rows<'_, K>) -> SqlResult<Vector> {
    let mut texts = TextVector::default();
    let mut valid = Vec::with_capacity(rows.groups);
    let mut text = String::new();
    for group in 0..rows.groups {
        text.clear();
        let of_group = rows.ordered(group, spec.distinct)?;
        for (number, row) in of_group.iter().enumerate() {
            for place in [1, 0].into_iter().filter(|it| *it < spec.shapes.len()) {
                let (vector, row) = rows.argument(row, place);
                if vector.is_valid(row as usize) && (place == 0 || number > 0) {
                    text.push_str(&text_at(vector, &spec.shapes[place], row as usize));
                }
            }
            if text.len() > VALUE_BYTES_MAX || texts.bytes.len() + text.len() > ARRAY_BYTES_MAX {
                let message = "requested length too large";
                return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
            }
        }
        texts.push(&text);
        valid.push(!of_group.is_empty());
    }
    Ok(optional(Values::Text(texts), &valid))
}

/// The values of each group as an array, arrays as one of a dimension more.
fn arrays<K: RowKey>(spec: &StateSpec, rows: &Rows<'_, K>) -> SqlResult<Vector> {
    let mut texts = TextVector::default();
    let mut valid = Vec::with_capacity(rows.groups);
    let mut held = String::new();
    let of_arrays = spec.shapes[0].data_type.element().is_some();
    for group in 0..rows.groups {
        held.clear();
        let of_group = rows.ordered(group, spec.distinct)?;
        let mut inner: Option<Vec<Dimension>> = None;
        for row in &of_group {
            let (vector, row) = rows.argument(row, 0);
            let value = vector.value(&spec.shapes[0], row as usize);
            match of_arrays {
                true => put_array(&value, &mut inner, &mut held)?,
                false => array::push_value(&mut held, &value),
            }
            if held.len() > VALUE_BYTES_MAX || texts.bytes.len() + held.len() > ARRAY_BYTES_MAX {
                let message = "requested length too large";
                return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
            }
        }
        let length = i32::try_from(of_group.len()).map_err(|_| array::too_many_items())?;
        let mut dimensions = vec![Dimension { length, lower: 1 }];
        dimensions.extend(inner.unwrap_or_default());
        array::close(&mut held, 0, &dimensions)?;
        texts.push(&held);
        valid.push(!of_group.is_empty());
    }
    Ok(optional(Values::Text(texts), &valid))
}

/// Appends the items of an array, which has the dimensions of those before.
fn put_array(
    value: &Value,
    inner: &mut Option<Vec<Dimension>>,
    held: &mut String,
) -> SqlResult<()> {
    let refused = |state, message| Err(SqlError::new(SqlState(state), message));
    let Value::Text(own) = value else {
        return refused("22004", "cannot accumulate null arrays");
    };
    if own.is_empty() {
        return refused("2202E", "cannot accumulate empty arrays");
    }
    let dimensions = array::dimensions(own);
    if dimensions.len() == array::DIMENSIONS_MAX {
        return refused("54000", "number of array dimensions (7) exceeds the maximum allowed (6)");
    }
    if *inner.get_or_insert_with(|| dimensions.clone()) != dimensions {
        return refused("2202E", "cannot accumulate arrays of different dimensionality");
    }
    array::Items::new(own).for_each(|it| held.push_str(it));
    Ok(())
}

/// The share that a percentile asks for; `None` of no rows, or where it is NULL.
fn share_of<K: RowKey>(rows: &Rows<'_, K>, of_group: &[Row<K>]) -> SqlResult<Option<f64>> {
    let Some(first) = of_group.first() else { return Ok(None) };
    let (vector, row) = rows.argument(first, 1);
    let row = row as usize;
    let share = match &vector.values {
        Values::F64(it) if vector.is_valid(row) => it[row],
        _ => return Ok(None),
    };
    if !(0.0..=1.0).contains(&share) {
        let message = format!("percentile value {share} is not between 0 and 1");
        return Err(SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
    }
    Ok(Some(share))
}

/// Between the two values of each group that are nearest to a share of them.
fn between<K: RowKey>(spec: &StateSpec, rows: &Rows<'_, K>) -> SqlResult<Vector> {
    let value = |row: &Row<K>| match rows.argument(row, 0) {
        (Vector { values: Values::F64(it), .. }, row) => it[row as usize],
        _ => unreachable!("invariant: percentiles between values are of floats"),
    };
    let (mut values, mut valid) = (Vec::new(), Vec::new());
    for group in 0..rows.groups {
        let mut of_group = rows.counted(group, spec.distinct)?;
        let share = share_of(rows, &of_group)?;
        let place = share.map_or(0.0, |it| it * of_group.len().saturating_sub(1) as f64);
        values.push(match share {
            None => 0.0,
            Some(_) => {
                let (_, low, above) = of_group.select_nth_unstable(place.floor() as usize);
                let low = value(low);
                match above.iter().min().filter(|_| place.fract() > 0.0).map(value) {
                    Some(high) => low + place.fract() * (high - low),
                    None => low,
                }
            }
        });
        valid.push(share.is_some());
    }
    Ok(optional(Values::F64(values), &valid))
}

/// The first row of the longest run of equal ones, of several the first.
fn most_frequent<K: RowKey>(ordered: &[Row<K>]) -> Option<Row<K>> {
    let mut best: Option<(usize, &Row<K>)> = None;
    for run in ordered.chunk_by(|a, b| a.0 == b.0) {
        if best.is_none_or(|it| run.len() > it.0) {
            best = Some((run.len(), &run[0]));
        }
    }
    best.map(|it| it.1.clone())
}

/// An aggregate that asks for no order, of the distinct rows of each group.
fn of_distinct<K: RowKey>(spec: &StateSpec, rows: &Rows<'_, K>, plain: Plain) -> SqlResult<Vector> {
    let (mut groups, mut all) = (Vec::new(), Vec::new());
    for group in 0..rows.groups {
        let of_group = rows.ordered(group, true)?;
        groups.extend(std::iter::repeat_n(group as u32, of_group.len()));
        all.extend(of_group);
    }
    let column = |place: usize| {
        let source = all.iter().map(|it| rows.argument(it, place));
        Vector::collect(&spec.shapes[place], source).into()
    };
    let arguments: Vec<_> = (0..spec.shapes.len()).map(column).collect();
    let places = (0..spec.shapes.len()).collect();
    let mut states = plain(&StateSpec { distinct: false, arguments: places, ..spec.clone() });
    states.resize(rows.groups);
    let fed = StateRows { groups: &groups, arguments: &arguments, valid: None, position: (0, 0) };
    states.update(&fed);
    states.finish(rows.check)
}

/// Values of which those are NULL that are not valid.
pub(super) fn optional(values: Values, valid: &[bool]) -> Vector {
    let some = valid.contains(&false);
    Vector { values, validity: some.then(|| Bitmap::from_bits(valid.iter().copied())) }
}
