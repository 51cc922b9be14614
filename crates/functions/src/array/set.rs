//! One item of an array set to another value, as an assignment to `a[i]` does, or several, as one to `a[i:j]` does.

use arrow_array::{Array as _, ArrayRef};
use types::array::{self, Dimension, ITEMS_MAX, NULL_ITEM};
use types::{SqlError, SqlResult};

use super::build;
use super::held::{Array, error};
use super::item::Source;
use crate::call::Call;

/// Arrays with another item. A list grows up to its subscript, with NULL between; an array that is NULL or has no items becomes
/// one of that item.
pub(super) fn item(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, items) = (call.texts(0)?, Source::new(call, 1)?);
    let subscripts: Vec<_> = (2..call.count()).collect();
    let numbers = subscripts.iter().map(|it| call.integers(*it)).collect::<SqlResult<Vec<_>>>()?;
    let mut item = String::new();
    build::each(call, |row, out| {
        let mut places = Vec::with_capacity(numbers.len());
        for (number, argument) in numbers.iter().zip(&subscripts) {
            if call.argument(*argument)?.is_null(row) {
                let message = "array subscript in assignment must not be null";
                return Err(error("22004", message));
            }
            let place = i32::try_from(number.at(row)).map_err(|_| out_of_range())?;
            places.push(place);
        }
        item.clear();
        items.push(row, &mut item);
        let held = if arrays.is_null(row) { "" } else { arrays.value(row) };
        let array = Array::read(held);
        put(&array, &places, &item, out)?;
        Ok(true)
    })
}

fn out_of_range() -> SqlError {
    error("2202E", "array subscript out of range")
}

fn put(array: &Array<'_>, places: &[i32], item: &str, out: &mut String) -> SqlResult<()> {
    if array.dimensions.is_empty() {
        out.push_str(item);
        let one = |it: &i32| Dimension { length: 1, lower: *it };
        return array::close(out, 0, &places.iter().map(one).collect::<Vec<_>>());
    }
    if array.dimensions.len() != places.len() {
        return Err(error("2202E", "wrong number of array subscripts"));
    }
    if let ([own], [place]) = (&array.dimensions[..], places) {
        return put_in_list(array, *own, *place, item, out);
    }
    let mut number = 0usize;
    for (own, place) in array.dimensions.iter().zip(places) {
        let (length, place) = (i64::from(own.length), i64::from(*place) - i64::from(own.lower));
        if !(0..length).contains(&place) {
            return Err(out_of_range());
        }
        number = number * length as usize + place as usize;
    }
    let each = array.items.iter().enumerate();
    each.for_each(|(at, own)| out.push_str(if at == number { item } else { own }));
    array::close(out, 0, &array.dimensions)
}

fn put_in_list(
    array: &Array<'_>,
    own: Dimension,
    place: i32,
    item: &str,
    out: &mut String,
) -> SqlResult<()> {
    let first = i64::from(own.lower).min(place.into());
    let last = i64::from(own.upper()).max(place.into());
    let length = last - first + 1;
    if length > ITEMS_MAX as i64 {
        return Err(array::too_many_items());
    }
    for at in first..=last {
        let known = usize::try_from(at - i64::from(own.lower)).ok();
        let known = known.and_then(|it| array.items.get(it)).copied();
        out.push_str(if at == i64::from(place) { item } else { known.unwrap_or(NULL_ITEM) });
    }
    array::close(out, 0, &[Dimension { length: length as i32, lower: first as i32 }])
}

/// The bounds of a subscript, as far as they are said.
type Bounds = (Option<i32>, Option<i32>);

/// Arrays with other items in a slice. A list grows up to its bounds, with NULL between; an array that is NULL or has no items
/// becomes the slice.
pub(super) fn slice(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, values) = (call.texts(0)?, call.texts(1)?);
    let numbers = (2..call.count()).map(|it| call.integers(it)).collect::<SqlResult<Vec<_>>>()?;
    build::each(call, |row, out| {
        let held = if arrays.is_null(row) { "" } else { arrays.value(row) };
        if values.is_null(row) {
            out.push_str(held);
            return Ok(!arrays.is_null(row));
        }
        let mut bounds: Vec<Bounds> = Vec::with_capacity(numbers.len() / 3);
        for (subscript, three) in numbers.chunks_exact(3).enumerate() {
            let bound = |which: usize, said: i64| -> SqlResult<Option<i32>> {
                if three[2].at(row) & said == 0 {
                    return Ok(None);
                }
                if call.argument(2 + 3 * subscript + which)?.is_null(row) {
                    let message = "array subscript in assignment must not be null";
                    return Err(error("22004", message));
                }
                i32::try_from(three[which].at(row)).map(Some).map_err(|_| out_of_range())
            };
            bounds.push((bound(0, 1)?, bound(1, 2)?));
        }
        let (array, source) = (Array::read(held), Array::read(values.value(row)));
        put_slice(&array, &source.items, &bounds, out)?;
        Ok(true)
    })
}

/// Where a slice begins and ends, and how many items it has.
fn stretch(lower: i32, upper: i32) -> SqlResult<usize> {
    match i64::from(upper) - i64::from(lower) + 1 {
        length @ 1.. => usize::try_from(length).map_err(|_| out_of_range()),
        _ => Err(error("2202E", "upper bound cannot be less than lower bound")),
    }
}

fn put_slice(
    array: &Array<'_>,
    source: &[&str],
    bounds: &[Bounds],
    out: &mut String,
) -> SqlResult<()> {
    let enough = |needed: usize| match needed {
        _ if needed > ITEMS_MAX => Err(array::too_many_items()),
        _ if source.len() < needed => Err(error("2202E", "source array too small")),
        _ => Ok(()),
    };
    if array.dimensions.is_empty() {
        let mut dimensions = Vec::with_capacity(bounds.len());
        let mut needed = 1usize;
        for bound in bounds {
            let (Some(lower), Some(upper)) = *bound else {
                let message = "array slice subscript must provide both boundaries";
                let detail = "When assigning to a slice of an empty array value, slice boundaries must be fully specified.";
                return Err(error("2202E", message).with_detail(detail));
            };
            let length = stretch(lower, upper)?;
            needed = needed.saturating_mul(length);
            let length = i32::try_from(length).map_err(|_| array::too_many_items())?;
            dimensions.push(Dimension { length, lower });
        }
        enough(needed)?;
        source[..needed].iter().for_each(|it| out.push_str(it));
        return array::close(out, 0, &dimensions);
    }
    if bounds.len() > array.dimensions.len() {
        return Err(error("2202E", "wrong number of array subscripts"));
    }
    let of = |place: usize, own: &Dimension| -> (i32, i32) {
        let (lower, upper) = bounds.get(place).copied().unwrap_or_default();
        (lower.unwrap_or(own.lower), upper.unwrap_or_else(|| own.upper()))
    };
    if let [own] = &array.dimensions[..] {
        let (lower, upper) = of(0, own);
        enough(stretch(lower, upper)?)?;
        return put_in_stretch(array, *own, (lower, upper), source, out);
    }
    let mut needed = 1usize;
    let mut ranges = Vec::with_capacity(array.dimensions.len());
    for (place, own) in array.dimensions.iter().enumerate() {
        let (lower, upper) = of(place, own);
        needed = needed.saturating_mul(stretch(lower, upper)?);
        if lower < own.lower || upper > own.upper() {
            return Err(out_of_range());
        }
        let from = (i64::from(lower) - i64::from(own.lower)) as usize;
        let to = (i64::from(upper) - i64::from(own.lower)) as usize;
        ranges.push((from..=to, own.length.unsigned_abs() as usize));
    }
    enough(needed)?;
    let mut new = source.iter();
    for (number, own) in array.items.iter().enumerate() {
        let mut rest = number;
        let is_in = ranges.iter().rev().all(|(range, length)| {
            let place = rest % (*length).max(1);
            rest /= (*length).max(1);
            range.contains(&place)
        });
        let item = if is_in { new.next() } else { None };
        out.push_str(item.unwrap_or(own));
    }
    array::close(out, 0, &array.dimensions)
}

fn put_in_stretch(
    array: &Array<'_>,
    own: Dimension,
    (lower, upper): (i32, i32),
    source: &[&str],
    out: &mut String,
) -> SqlResult<()> {
    let (lower, upper) = (i64::from(lower), i64::from(upper));
    let first = i64::from(own.lower).min(lower);
    let last = i64::from(own.upper()).max(upper);
    let length = last - first + 1;
    if length > ITEMS_MAX as i64 {
        return Err(array::too_many_items());
    }
    for at in first..=last {
        let (items, from) = match (lower..=upper).contains(&at) {
            true => (source, lower),
            false => (&array.items[..], i64::from(own.lower)),
        };
        let found = usize::try_from(at - from).ok().and_then(|it| items.get(it));
        out.push_str(found.copied().unwrap_or(NULL_ITEM));
    }
    array::close(out, 0, &[Dimension { length: length as i32, lower: first as i32 }])
}
