//! What values are compared by whose held form has not their order, within structs, maps and arrays, too.

use super::{held, values};
use crate::array::{self, Items, is_null, push_value, value_of};
use crate::numeric::{interval, number};
use crate::{DataType, Element, Range, SqlResult, Value, json, ranges};

/// The type of the keys of structs, maps and arrays of them: a text, which is held as they are, or an array of texts.
pub fn key_type(of: DataType) -> DataType {
    match of {
        DataType::Array(_) => DataType::Array(Element::Text),
        _ => DataType::Text,
    }
}

/// The key of a value of a type.
///
/// # Errors
/// Those of JSON that is none.
pub fn key(value: &Value, of: DataType) -> SqlResult<Value> {
    let Value::Text(text) = value else {
        return Ok(match of {
            DataType::Interval => value.as_i128().map_or(Value::Null, |it| {
                let unscaled = interval::key_of(it);
                Value::Decimal { unscaled, scale: 0 }
            }),
            _ => value.clone(),
        });
    };
    Ok(match of {
        DataType::Bpchar => Value::Text(text.trim_end_matches(' ').into()),
        DataType::Jsonb => Value::Text(json::order_key(text)?.into()),
        DataType::Numeric => Value::Text(number::key_of(text).into()),
        DataType::Range(Range::Num) | DataType::Multirange(Range::Num) => {
            Value::Text(ranges::key_of(text).into())
        }
        DataType::Struct(it) => {
            let keys = values(text, it).zip(it.fields()).map(|(it, of)| key(&it, of.data_type));
            Value::Text(held(keys.collect::<SqlResult<Vec<_>>>()?).into())
        }
        DataType::Array(it) => Value::Text(items(text, it.data_type())?.into()),
        DataType::Map(it) => Value::Text(items(text, DataType::Struct(it))?.into()),
        _ => value.clone(),
    })
}

/// An array of the keys of items of a type.
fn items(text: &str, of: DataType) -> SqlResult<String> {
    let (mut out, mut all) = (String::new(), Items::new(text));
    for item in all.by_ref() {
        match is_null(item) {
            true => out.push_str(array::NULL_ITEM),
            false => push_value(&mut out, &key(&value_of(item, of), of)?),
        }
    }
    out.push_str(all.rest());
    Ok(out)
}
