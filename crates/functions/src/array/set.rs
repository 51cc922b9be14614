//! One item of an array set to another value, as an assignment to `a[i]` does.

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
