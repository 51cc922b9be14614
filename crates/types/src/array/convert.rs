//! Arrays of other types: each item is converted, the dimensions stay.

use super::{Items, dimensions_behind, push_value, value_of};
use crate::{DataType, SqlResult, Value, Zone, numeric};

/// An array with its items cast to another type.
///
/// # Errors
/// Those of [`numeric::cast`] of an item.
pub fn cast(held: &str, from: DataType, to: DataType, zone: &Zone) -> SqlResult<String> {
    converted(held, from, &|it| numeric::cast_in(it, from, to, zone))
}

/// An array as a column of arrays of `to` stores it: as [`numeric::assign`] does with each item.
///
/// # Errors
/// Those of [`numeric::assign`] of an item.
pub fn assign(held: &str, from: DataType, to: DataType, column: &str) -> SqlResult<String> {
    converted(held, from, &|it| numeric::assign(it, from, to, column))
}

fn converted(
    held: &str,
    from: DataType,
    convert: &dyn Fn(&Value) -> SqlResult<Value>,
) -> SqlResult<String> {
    let mut out = String::with_capacity(held.len());
    let mut items = Items::new(held);
    let mut count = 0;
    for item in items.by_ref() {
        push_value(&mut out, &convert(&value_of(item, from))?);
        count += 1;
    }
    super::close(&mut out, 0, &dimensions_behind(items.rest(), count))?;
    Ok(out)
}
