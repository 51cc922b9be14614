//! Values that become structs and maps, or lists of them.

use super::{StructType, converted, map_of, parse, parse_list, parse_map};
use crate::array::{self, Items};
use crate::{DataType, SqlResult, Value};

/// Makes a value of the second type of one of the first.
type Convert<'c> = dyn FnMut(&Value, DataType, DataType) -> SqlResult<Value> + 'c;

/// What a struct, a map, or the text of one becomes as a type that has structs; `None` of any other pair of types. The parts
/// become what `convert` makes of them.
///
/// # Errors
/// 22P02 for a text that is none, 22000 for a map with a key twice, and those of `convert`.
pub fn cast(
    held: &str,
    from: DataType,
    to: DataType,
    convert: &mut Convert<'_>,
) -> Option<SqlResult<Value>> {
    let made = match (from, to) {
        (DataType::Struct(from), DataType::Struct(to)) => converted(held, (from, to), convert),
        (DataType::Map(from), DataType::Map(to)) => {
            let entries =
                Items::new(held).map(|it| converted(&array::text_of(it), (from, to), convert));
            entries.collect::<SqlResult<Vec<_>>>().and_then(|it| map_of(&it))
        }
        (DataType::Struct(from), DataType::Map(to)) => of_fields(held, (from, to), convert),
        (DataType::Map(own), DataType::Array(_)) => {
            let list = DataType::Array(crate::Element::Struct(own));
            return Some(convert(&Value::Text(held.into()), list, to));
        }
        (DataType::Array(_), DataType::Map(to)) => {
            let own = from.element().unwrap_or(DataType::Null);
            let DataType::Struct(own) = own else { return None };
            let entries = Items::new(held).map(|it| match array::is_null(it) {
                true => Ok(super::held([Value::Null, Value::Null])),
                false => entry(&array::text_of(it), (own, to), convert),
            });
            entries.collect::<SqlResult<Vec<_>>>().and_then(|it| map_of(&it))
        }
        (DataType::Struct(_) | DataType::Map(_) | DataType::Array(_), _) => return None,
        (_, DataType::Struct(of)) => parse(held, of, &mut |text, of| part(text, from, of, convert)),
        (_, DataType::Map(of)) => {
            parse_map(held, of, &mut |text, of| part(text, from, of, convert))
        }
        (_, DataType::Array(it)) if super::is_nested(to) && is_list(held) => {
            parse_list(held, it.data_type(), &mut |text, of| part(text, from, of, convert))
        }
        _ => return None,
    };
    Some(made.map(|it| Value::Text(it.into())))
}

/// A struct of two fields, whatever their names are, as an entry of a map.
fn entry(
    held: &str,
    (from, to): (StructType, StructType),
    convert: &mut Convert<'_>,
) -> SqlResult<String> {
    let each = super::values(held, from).zip(from.fields().iter().zip(to.fields()));
    let made = each.map(|(it, (from, to))| convert(&it, from.data_type, to.data_type));
    Ok(super::held(made.collect::<SqlResult<Vec<_>>>()?))
}

/// A struct as a map: the names of its fields are keys.
fn of_fields(
    held: &str,
    (from, to): (StructType, StructType),
    convert: &mut Convert<'_>,
) -> SqlResult<String> {
    let [key, value] = to.fields() else { return map_of(&[]) };
    let mut entries = Vec::new();
    for (it, field) in super::values(held, from).zip(from.fields()) {
        let name = Value::Text(field.name.as_ref().into());
        let name = convert(&name, DataType::Text, key.data_type)?;
        let it = convert(&it, field.data_type, value.data_type)?;
        entries.push(super::held([name, it]));
    }
    map_of(&entries)
}

/// A part of a text as a value, in which lists are in brackets.
fn part(text: &str, from: DataType, of: DataType, convert: &mut Convert<'_>) -> SqlResult<Value> {
    match of {
        DataType::Array(it) if is_list(text) => {
            let mut read = |text: &str, of| part(text, from, of, convert);
            parse_list(text, it.data_type(), &mut read).map(|it| Value::Text(it.into()))
        }
        _ => convert(&Value::Text(text.into()), from, of),
    }
}

/// Whether a text is a list in brackets, and no array with bounds.
fn is_list(text: &str) -> bool {
    text.trim_ascii_start().starts_with('[') && text.trim_ascii_end().ends_with(']')
}
