//! Arrays with other items, or fewer.

use arrow_array::{Array as _, ArrayRef};
use plan::Function;
use types::array::{self, Dimension, Items, is_null};
use types::numeric::{self, interval};
use types::{DataType, SqlResult, Value};

use super::build;
use super::held::{Array, error};
use super::item::Source;
use crate::call::Call;

/// The items between bounds; dimensions that none are said of are taken whole.
pub(super) fn slice(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    let bounds = (1..call.count()).map(|it| call.integers(it)).collect::<SqlResult<Vec<_>>>()?;
    build::each(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let array = Array::read(arrays.value(row));
        if bounds.len() / 2 > array.dimensions.len() {
            return Ok(true);
        }
        // Of each dimension the first item that is taken and how many are.
        let mut taken = Vec::with_capacity(array.dimensions.len());
        for (place, own) in array.dimensions.iter().enumerate() {
            let (lower, upper) = (i64::from(own.lower), i64::from(own.upper()));
            let bound = |it: usize, open: i64| bounds.get(it).map_or(open, |it| it.at(row));
            let from = bound(2 * place, lower).max(lower);
            let to = bound(2 * place + 1, upper).min(upper);
            if from > to {
                return Ok(true);
            }
            taken.push(((from - lower) as usize, (to - from + 1) as usize));
        }
        put_slice(&array, &taken, 0, 0, out);
        let shape: Vec<_> =
            taken.iter().map(|it| Dimension { length: it.1 as i32, lower: 1 }).collect();
        array::close(out, 0, &shape).map(|()| true)
    })
}

/// Appends the items that are taken of a dimension and those behind it; `number` counts items of the dimensions before.
fn put_slice(
    array: &Array<'_>,
    taken: &[(usize, usize)],
    place: usize,
    number: usize,
    out: &mut String,
) {
    let (Some(&(first, count)), Some(own)) = (taken.get(place), array.dimensions.get(place)) else {
        return out.push_str(array.items.get(number).unwrap_or(&array::NULL_ITEM));
    };
    let length = usize::try_from(own.length).unwrap_or(0);
    for it in first..first + count {
        put_slice(array, taken, place + 1, number.saturating_mul(length).saturating_add(it), out);
    }
}

/// Items that are a value removed or replaced; what they are compared by may come last, of the array and of the value.
pub(super) fn replaced(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    let (other, given) = match call.function {
        Function::ArrayReplace => (Some(Source::new(call, 2)?), 3),
        _ => (None, 2),
    };
    let (compared, wanted) = match call.count() > given {
        true => (call.texts(given)?, Source::new(call, given + 1)?),
        false => (arrays, Source::new(call, 1)?),
    };
    let mut item = String::new();
    build::each(call, |row, out| {
        if arrays.is_null(row) {
            return Ok(false);
        }
        item.clear();
        wanted.push(row, &mut item);
        let held = arrays.value(row);
        let array = Array::read(held);
        if other.is_none() && array.dimensions.len() > 1 {
            let message = "removing elements from multidimensional arrays is not supported";
            return Err(error("0A000", message));
        }
        let keys = Array::read(compared.value(row)).items;
        if !keys.contains(&&*item) {
            out.push_str(held);
            return Ok(true);
        }
        let Some(other) = &other else {
            let (items, lower) = array.list(|| call.broken("several dimensions"))?;
            let kept = items.iter().zip(&keys).filter(|it| *it.1 != item);
            let length = kept.map(|it| out.push_str(it.0)).count() as i32;
            return array::close(out, 0, &[Dimension { length, lower }]).map(|()| true);
        };
        for (it, key) in array.items.iter().zip(&keys) {
            if *key == item { other.push(row, out) } else { out.push_str(it) }
        }
        array::close(out, 0, &array.dimensions).map(|()| true)
    })
}

/// An array without its last items.
pub(super) fn trim(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, counts) = (call.texts(0)?, call.integers(1)?);
    build::each(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let array = Array::read(arrays.value(row));
        let length = array.dimensions.first().map_or(0, |it| it.length);
        let left = i64::from(length).saturating_sub(counts.at(row));
        if !(0..=i64::from(length)).contains(&left) {
            let message = format!("number of elements to trim must be between 0 and {length}");
            return Err(error("2202E", message));
        }
        array.rows().take(left as usize).flatten().for_each(|it| out.push_str(it));
        // As in PostgreSQL, what is left is a slice, whose subscripts are from 1 on.
        let mut shape: Vec<_> =
            array.dimensions.iter().map(|it| Dimension { lower: 1, ..*it }).collect();
        if let Some(first) = shape.first_mut() {
            first.length = left as i32;
        }
        array::close(out, 0, &shape).map(|()| true)
    })
}

/// The rows of the first dimension in another order.
pub(super) fn ordered(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    let flag = |it: usize| (it < call.count()).then(|| call.booleans(it)).transpose();
    let (descending, nulls_first) = (flag(1)?, flag(2)?);
    build::each(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let array = Array::read(arrays.value(row));
        let mut shape = array.dimensions.clone();
        let mut rows: Vec<&[&str]> = array.rows().collect();
        match call.function {
            Function::ArrayReverse => rows.reverse(),
            Function::ListDistinct => {
                rows.sort_unstable();
                rows.dedup();
                rows.retain(|it| !it.iter().all(|it| is_null(it)));
                if let Some(first) = shape.first_mut() {
                    first.length = rows.len() as i32;
                }
            }
            _ => {
                let descending = descending.is_some_and(|it| it.value(row));
                let nulls_first = nulls_first.map_or(descending, |it| it.value(row));
                let one = shape.len() == 1;
                rows.sort_by(|a, b| {
                    let order = if descending { b.cmp(a) } else { a.cmp(b) };
                    let null = |it: &[&str]| one && it.first().is_some_and(|it| is_null(it));
                    match (null(a), null(b)) {
                        (true, false) if nulls_first => std::cmp::Ordering::Less,
                        (false, true) if nulls_first => std::cmp::Ordering::Greater,
                        (true, false) => std::cmp::Ordering::Greater,
                        (false, true) => std::cmp::Ordering::Less,
                        _ => order,
                    }
                });
            }
        }
        rows.iter().flat_map(|it| it.iter()).for_each(|it| out.push_str(it));
        array::close(out, 0, &shape).map(|()| true)
    })
}

/// The spans of intervals.
pub(super) fn interval_keys(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    build::each(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let mut items = Items::new(arrays.value(row));
        for item in items.by_ref() {
            match is_null(item) {
                true => out.push_str(item),
                false => array::push_integer(out, interval::key_of(array::integer_of(item))),
            }
        }
        out.push_str(items.rest());
        Ok(true)
    })
}

/// Texts as a column with a limit of length stores them.
pub(super) fn fit(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    let element = call.result.element().ok_or_else(|| call.broken("no array as result"))?;
    build::each(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let mut fit = |it: &Value| numeric::assign(it, DataType::Text, element, "");
        out.push_str(&array::converted(arrays.value(row), DataType::Text, &mut fit)?);
        Ok(true)
    })
}
