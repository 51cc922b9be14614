//! What arrays have in them.

use std::collections::HashSet;

use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, BooleanArray};
use plan::Function;
use stdx::sync::Arc;
use types::SqlResult;
use types::array::{self, Dimension, Items, NULL_ITEM, is_null};

use super::build;
use super::held::{Array, error};
use super::item::{Source, values};
use crate::call::Call;

/// The item at subscripts.
pub(super) fn item(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    let places = (1..call.count()).map(|it| call.integers(it)).collect::<SqlResult<Vec<_>>>()?;
    values(call, |row| {
        let held = arrays.value(row);
        if let [place] = places[..] {
            let mut items = Items::new(held);
            // The usual list is looked through up to the item alone.
            let Some(skipped) = usize::try_from(place.at(row).saturating_sub(1)).ok() else {
                let array = Array::read(held);
                return Ok(find(&array, &[place.at(row)]));
            };
            let found = items.nth(skipped);
            let mut behind = items.clone();
            behind.by_ref().for_each(drop);
            if behind.rest() == "\u{2}" || found.is_none() && held.is_empty() {
                return Ok(found);
            }
        }
        let array = Array::read(held);
        let places: Vec<i64> = places.iter().map(|it| it.at(row)).collect();
        Ok(find(&array, &places))
    })
}

/// The item at a subscript of each dimension.
fn find<'a>(array: &Array<'a>, places: &[i64]) -> Option<&'a str> {
    if places.len() != array.dimensions.len() {
        return None;
    }
    let mut number = 0usize;
    for (place, dimension) in places.iter().zip(&array.dimensions) {
        let within = place.checked_sub(dimension.lower.into())?;
        if !(0..i64::from(dimension.length)).contains(&within) {
            return None;
        }
        number = number
            .checked_mul(usize::try_from(dimension.length).ok()?)?
            .checked_add(usize::try_from(within).ok()?)?;
    }
    array.items.get(number).copied()
}

/// Length or bound of a dimension.
pub(super) fn of_dimension(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, numbers) = (call.texts(0)?, call.integers(1)?);
    call.map_optional::<Int32Type>(|row| {
        let dimensions = array::dimensions(arrays.value(row));
        let place = usize::try_from(numbers.at(row).saturating_sub(1)).ok();
        let found = place.and_then(|it| dimensions.get(it));
        Ok(found.map(|it: &Dimension| match call.function {
            Function::ArrayLength => it.length,
            Function::ArrayLower => it.lower,
            _ => it.upper(),
        }))
    })
}

/// How many items, or dimensions; no dimensions are NULL.
pub(super) fn counted(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    call.map_optional::<Int32Type>(|row| {
        let held = arrays.value(row);
        Ok(match call.function {
            Function::Cardinality => Some(Items::new(held).count() as i32),
            _ => Some(array::dimensions(held).len() as i32).filter(|it| *it > 0),
        })
    })
}

/// The lists themselves. Errors: 0A000 for one of lists, of which there is no type to tell an item by.
pub(super) fn flat(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    let is_of_lists =
        |row: &usize| arrays.is_valid(*row) && array::dimensions(arrays.value(*row)).len() > 1;
    match (0..call.rows).find(is_of_lists) {
        Some(_) => Err(error("0A000", "items of a list that are lists are not supported here")),
        None => call.argument(0).cloned(),
    }
}

/// The bounds of the dimensions.
pub(super) fn dims(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    call.map_optional_texts(|row, out| {
        let dimensions = array::dimensions(arrays.value(row));
        for it in &dimensions {
            out.push(&format!("[{}:{}]", it.lower, it.upper()))?;
        }
        Ok(!dimensions.is_empty())
    })
}

/// The subscript of the first item that is a value.
pub(super) fn position(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, wanted) = (call.texts(0)?, Source::new(call, 1)?);
    let starts = call.optional_integers(2)?;
    let no_start = || error("22004", "initial position must not be null");
    let mut item = String::new();
    let found = (0..call.rows).map(|row| {
        if arrays.is_null(row) {
            return Ok(None);
        }
        let (items, lower) = list(arrays.value(row))?;
        if items.is_empty() {
            return Ok(None);
        }
        if starts.is_some() && call.argument(2)?.is_null(row) {
            return Err(no_start());
        }
        item.clear();
        wanted.push(row, &mut item);
        let first = i64::from(lower);
        let start = starts.map_or(first, |it| it.at(row)).max(first);
        let mut numbered = (first..).zip(items).skip_while(|it| it.0 < start);
        Ok(numbered.find(|it| it.1 == item).and_then(|it| i32::try_from(it.0).ok()))
    });
    let found = found.collect::<SqlResult<Vec<Option<i32>>>>()?;
    Ok(Arc::new(arrow_array::Int32Array::from(found)))
}

fn list(held: &str) -> SqlResult<(Vec<&str>, i32)> {
    let message = "searching for elements in multidimensional arrays is not supported";
    Array::read(held).list(|| error("0A000", message))
}

/// The subscripts of all items that are a value.
pub(super) fn positions(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, wanted) = (call.texts(0)?, Source::new(call, 1)?);
    let mut item = String::new();
    build::each(call, |row, out| {
        if arrays.is_null(row) {
            return Ok(false);
        }
        item.clear();
        wanted.push(row, &mut item);
        let (items, lower) = list(arrays.value(row))?;
        let mut count = 0;
        for (place, _) in (i64::from(lower)..).zip(items).filter(|it| it.1 == item) {
            array::push_integer(out, place.into());
            count += 1;
        }
        array::close_list(out, 0, count).map(|()| true)
    })
}

/// Arrays of up to so many bytes are looked through for each item, longer ones once.
const LOOKED_THROUGH_BYTES: usize = 256;

/// Whether all items of the second array, or some, are items of the first.
pub(super) fn sets(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    let all = call.function == Function::ArrayContains;
    call.map_booleans(|row| {
        let (a, mut b) = (left.value(row), Items::new(right.value(row)));
        let set: Option<HashSet<&str>> =
            (a.len() > LOOKED_THROUGH_BYTES).then(|| Items::new(a).collect());
        let has = |it: &str| {
            !is_null(it)
                && match &set {
                    Some(set) => set.contains(it),
                    None => Items::new(a).any(|own| own == it),
                }
        };
        Ok(if all { b.all(has) } else { b.any(has) })
    })
}

/// `value = ANY (array)`. Of an array that comes again in the next row the items are known.
pub(super) fn any(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (wanted, arrays) = (Source::new(call, 0)?, call.texts(1)?);
    let (mut last, mut known) = (None, None::<HashSet<&str>>);
    let mut item = String::new();
    let found = (0..call.rows).map(|row| {
        if arrays.is_null(row) {
            return None;
        }
        let held = arrays.value(row);
        if held.is_empty() {
            return Some(false);
        }
        item.clear();
        wanted.push(row, &mut item);
        if is_null(&item) {
            return None;
        }
        let again = last.replace(held) == Some(held);
        let (is_there, has_null) = match again {
            true => {
                let set = known.get_or_insert_with(|| Items::new(held).collect());
                (set.contains(&*item), set.contains(NULL_ITEM))
            }
            false => {
                known = None;
                let is_there = Items::new(held).any(|it| it == item);
                (is_there, !is_there && Items::new(held).any(is_null))
            }
        };
        match (is_there, has_null) {
            (true, _) => Some(true),
            (false, true) => None,
            (false, false) => Some(false),
        }
    });
    Ok(Arc::new(found.collect::<BooleanArray>()))
}
