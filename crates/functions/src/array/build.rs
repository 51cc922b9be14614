//! Arrays made of values and of other arrays.

use arrow_array::{Array as _, ArrayRef};
use plan::Function;
use types::array::{self, DIMENSIONS_MAX, Dimension, NULL_ITEM};
use types::{SqlError, SqlResult};

use super::held::{Array, error};
use super::item::Source;
use crate::call::Call;
use crate::texts::{Texts, VALUE_BYTES_MAX};

/// Items of which an array is made.
pub(super) fn of(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let sources = (0..call.count()).map(|it| Source::new(call, it));
    let sources = sources.collect::<SqlResult<Vec<_>>>()?;
    each(call, |row, out| {
        sources.iter().for_each(|it| it.push(row, out));
        array::close_list(out, 0, sources.len()).map(|()| true)
    })
}

/// A held text per row, or NULL where `make` says so.
pub(crate) fn each(
    call: &Call<'_>,
    mut make: impl FnMut(usize, &mut String) -> SqlResult<bool>,
) -> SqlResult<ArrayRef> {
    let mut texts = Texts::with_capacity(call.rows);
    let mut held = String::new();
    for row in 0..call.rows {
        held.clear();
        match make(row, &mut held)? {
            true => {
                texts.push(&held)?;
                texts.end();
            }
            false => texts.null(),
        }
    }
    Ok(texts.finish())
}

fn of_other_dimensions() -> SqlError {
    error("2202E", "multidimensional arrays must have array expressions with matching dimensions")
}

/// Arrays of which one of a dimension more is made. NULL is an array without items; where all have none, so has the result.
pub(super) fn stack(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = (0..call.count()).map(|it| call.texts(it)).collect::<SqlResult<Vec<_>>>()?;
    each(call, |row, out| {
        let mut shape: Option<Vec<Dimension>> = None;
        for part in &parts {
            let own = if part.is_null(row) { "" } else { part.value(row) };
            let own = Array::read(own);
            if shape.get_or_insert_with(|| own.dimensions.clone()) != &own.dimensions {
                return Err(of_other_dimensions());
            }
            own.items.iter().for_each(|it| out.push_str(it));
        }
        let mut dimensions = vec![Dimension { length: parts.len() as i32, lower: 1 }];
        dimensions.extend(shape.unwrap_or_default());
        check_dimensions(dimensions.len())?;
        array::close(out, 0, &dimensions).map(|()| true)
    })
}

fn check_dimensions(count: usize) -> SqlResult<()> {
    if count <= DIMENSIONS_MAX {
        return Ok(());
    }
    let message = format!(
        "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
    );
    Err(error("54000", message))
}

/// `a || b`.
pub(super) fn cat(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    each(call, |row, out| {
        match (left.is_null(row), right.is_null(row)) {
            (true, true) => return Ok(false),
            (true, false) => out.push_str(right.value(row)),
            (false, true) => out.push_str(left.value(row)),
            (false, false) => put_both(left.value(row), right.value(row), out)?,
        }
        Ok(true)
    })
}

fn put_both(left: &str, right: &str, out: &mut String) -> SqlResult<()> {
    let (a, b) = (Array::read(left), Array::read(right));
    if a.items.is_empty() || b.items.is_empty() {
        out.push_str(if a.items.is_empty() { right } else { left });
        return Ok(());
    }
    let lengths = |it: &[Dimension]| it.iter().map(|it| it.length).collect::<Vec<_>>();
    let bounds = |it: &[Dimension]| it.iter().map(|it| (it.length, it.lower)).collect::<Vec<_>>();
    let mut shape = match a.dimensions.len().cmp(&b.dimensions.len()) {
        std::cmp::Ordering::Equal => {
            if lengths(&a.dimensions[1..]) != lengths(&b.dimensions[1..])
                || bounds(&a.dimensions[1..]) != bounds(&b.dimensions[1..])
            {
                return Err(cannot_concatenate());
            }
            a.dimensions.clone()
        }
        std::cmp::Ordering::Less if bounds(&a.dimensions) == bounds(&b.dimensions[1..]) => {
            b.dimensions.clone()
        }
        std::cmp::Ordering::Greater if bounds(&b.dimensions) == bounds(&a.dimensions[1..]) => {
            a.dimensions.clone()
        }
        _ => return Err(cannot_concatenate()),
    };
    let more = match a.dimensions.len().cmp(&b.dimensions.len()) {
        std::cmp::Ordering::Equal => b.dimensions[0].length,
        _ => 1,
    };
    shape[0].length = shape[0].length.checked_add(more).ok_or_else(array::too_many_items)?;
    a.items.iter().chain(&b.items).for_each(|it| out.push_str(it));
    array::close(out, 0, &shape)
}

fn cannot_concatenate() -> SqlError {
    error("2202E", "cannot concatenate incompatible arrays")
}

/// An array with a value before or behind its items.
pub(super) fn with_item(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let append = call.function == Function::ArrayAppend;
    let (array, item) = if append { (0, 1) } else { (1, 0) };
    let (arrays, item) = (call.texts(array)?, Source::new(call, item)?);
    each(call, |row, out| {
        let held = if arrays.is_null(row) { "" } else { arrays.value(row) };
        let refused = || error("22000", "argument must be empty or one-dimensional array");
        let (items, lower) = Array::read(held).list(refused)?;
        if !append {
            item.push(row, out);
        }
        items.iter().for_each(|it| out.push_str(it));
        if append {
            item.push(row, out);
        }
        let length = i32::try_from(items.len() + 1).map_err(|_| array::too_many_items())?;
        array::close(out, 0, &[Dimension { length, lower }]).map(|()| true)
    })
}

/// An array that is filled with a value.
pub(super) fn fill(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let item = Source::new(call, 0)?;
    let lengths = call.texts(1)?;
    let lowers = call.optional_texts(2)?;
    each(call, |row, out| {
        if lengths.is_null(row) || lowers.is_some_and(|it| it.is_null(row)) {
            return Err(error("22004", "dimension array or low bound array cannot be null"));
        }
        let numbers = |held: &str| -> SqlResult<Vec<i32>> {
            let wrong = || error("2202E", "wrong number of array subscripts");
            let (items, _) = Array::read(held).list(wrong)?;
            if items.contains(&NULL_ITEM) {
                return Err(error("22004", "dimension values cannot be null"));
            }
            Ok(items.into_iter().map(|it| array::integer_of(it) as i32).collect())
        };
        let lengths = numbers(lengths.value(row))?;
        check_dimensions(lengths.len())?;
        let lowers = match lowers {
            Some(it) => numbers(it.value(row))?,
            None => vec![1; lengths.len()],
        };
        if lowers.len() != lengths.len() {
            let message = "wrong number of array subscripts";
            return Err(error("2202E", message));
        }
        let mut count = 1usize;
        for length in &lengths {
            let length = usize::try_from(*length).map_err(|_| array::too_many_items())?;
            count = count.saturating_mul(length);
        }
        if count > array::ITEMS_MAX {
            return Err(array::too_many_items());
        }
        if lengths.is_empty() || count == 0 {
            return Ok(true);
        }
        let mut one = String::new();
        item.push(row, &mut one);
        if one.len().saturating_mul(count) > VALUE_BYTES_MAX {
            return Err(crate::error::too_long());
        }
        (0..count).for_each(|_| out.push_str(&one));
        let shape = lengths.iter().zip(lowers);
        let shape: Vec<_> = shape.map(|(&length, lower)| Dimension { length, lower }).collect();
        array::close(out, 0, &shape).map(|()| true)
    })
}
