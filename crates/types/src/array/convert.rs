//! Arrays of other types: each item is converted, the dimensions stay.

use super::items::{Items, close, dimensions_behind, push_value, value_of};
use crate::{DataType, SqlResult, Value};

/// An array whose items, of type `from`, become what `convert` makes of them.
///
/// # Errors
/// Those of `convert`.
pub fn converted(
    held: &str,
    from: DataType,
    convert: &mut dyn FnMut(&Value) -> SqlResult<Value>,
) -> SqlResult<String> {
    let mut out = String::with_capacity(held.len());
    let mut items = Items::new(held);
    let mut count = 0;
    for item in items.by_ref() {
        push_value(&mut out, &convert(&value_of(item, from))?);
        count += 1;
    }
    close(&mut out, 0, &dimensions_behind(items.rest(), count))?;
    Ok(out)
}
