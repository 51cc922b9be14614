//! Functions of structs and rows.
//!
//! What is compared, and JSON, depend on the type of the argument, which no Arrow array tells: [`key`] and [`json_of`] are for
//! single values, and who runs a call knows their type.

use std::borrow::Cow;

use arrow_array::{Array as _, ArrayRef, StringArray};
use plan::Function;
use types::array::{self, Items};
use types::numeric::{self, format};
use types::structs::{self, StructType};
use types::styles::DateForm;
use types::{DataType, SqlResult, Styles, Value, Zone, json};

use crate::array::{Source, each_held, values_of};
use crate::call::Call;
use crate::json::{put_items, put_text};
use crate::texts::VALUE_BYTES_MAX;

/// Whether a function is one of structs.
pub(crate) fn is_of_structs(function: Function) -> bool {
    use Function as F;
    matches!(function, F::StructOf | F::StructField | F::NestedFit | F::NestedKey | F::NestedJson)
}

/// The types that the arguments of a function of structs are cast to and that of its result; `None` where it takes no such arguments.
pub(crate) fn signature(
    function: Function,
    arguments: &[DataType],
    constants: &[Option<Value>],
) -> Option<(Vec<DataType>, DataType)> {
    let made = |result| Some((arguments.to_vec(), result));
    match (function, arguments) {
        (Function::StructOf, [_, ..]) => {
            made(DataType::Struct(StructType::row(arguments.iter().copied()).ok()?))
        }
        (Function::StructField, [DataType::Struct(of), place]) if place.is_integer() => {
            let Some(Some(Value::Integer(place))) = constants.get(1) else { return None };
            let place = usize::try_from(place.checked_sub(1)?).ok()?;
            made(of.fields().get(place)?.data_type)
        }
        (Function::NestedKey, [of]) if structs::is_nested(*of) || of.range().is_some() => {
            made(structs::key_type(*of))
        }
        (Function::NestedJson, [of]) if structs::is_nested(*of) => made(DataType::Json),
        // Binding says the lengths that its column has.
        (Function::NestedFit, [of]) if structs::is_nested(*of) || is_of_bits(*of) => made(*of),
        _ => None,
    }
}

/// Whether values of a type are strings of bits, or arrays of them.
fn is_of_bits(of: DataType) -> bool {
    matches!(of.element().unwrap_or(of), DataType::Bits(_))
}

/// The kernel of a function of structs.
pub(crate) fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    match call.function {
        Function::StructOf => {
            let sources = (0..call.count()).map(|it| Source::new(call, it));
            let sources = sources.collect::<SqlResult<Vec<_>>>()?;
            each_held(call, |row, out| {
                sources.iter().for_each(|it| it.push(row, out));
                Ok(true)
            })
        }
        Function::StructField => {
            let (held, places): (&StringArray, _) = (call.texts(0)?, call.integers(1)?);
            values_of(call, |row| {
                let place = usize::try_from(places.at(row).saturating_sub(1)).ok();
                let held = if held.is_null(row) { "" } else { held.value(row) };
                Ok(place.and_then(|it| Items::new(held).nth(it)))
            })
        }
        _ => Err(call.broken("an operation in its place")),
    }
}

/// A call of constants that needs to know their types; `None` of any other, and where the zone of the session counts.
pub(crate) fn of_constants(
    function: Function,
    arguments: &[(Value, DataType)],
    result: DataType,
) -> Option<SqlResult<Value>> {
    match (function, arguments) {
        (Function::NestedKey, [(value, of)]) => Some(structs::key(value, *of)),
        (Function::NestedFit, [(value, of)]) => Some(numeric::assign(value, *of, result, "")),
        (Function::NestedJson, [(value, of)])
            if !numeric::depends_on_zone(*of, DataType::Text)
                && !Styles::decide_texts(*of, DataType::Text) =>
        {
            Some(json_of(value, (*of, result), &Zone::utc()))
        }
        _ => None,
    }
}

/// A value of the first type as JSON of the second, its moments as the clocks of a zone show them.
///
/// # Errors
/// Those of JSON that is none, and 54000 for a text that is too long.
pub fn json_of(value: &Value, (of, to): (DataType, DataType), zone: &Zone) -> SqlResult<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    // Dates are in ISO, whatever the session's style is.
    let styles = zone.styles();
    let zone = match styles.dates {
        DateForm::Iso => Cow::Borrowed(zone),
        _ => {
            let styles = Styles { dates: DateForm::Iso, ..styles };
            Cow::Owned(zone.clone().with_styles(styles))
        }
    };
    let mut out = String::new();
    put(value, of, &zone, &mut out);
    let out = if to == DataType::Jsonb { json::normal(&out)? } else { out };
    if out.len() > VALUE_BYTES_MAX {
        return Err(crate::error::too_long());
    }
    Ok(Value::Text(out.into()))
}

fn put(value: &Value, of: DataType, zone: &Zone, out: &mut String) {
    match (value, of) {
        (Value::Null, _) => out.push_str("null"),
        (Value::Text(held), DataType::Struct(it)) => {
            out.push('{');
            for (number, (value, field)) in structs::values(held, it).zip(it.fields()).enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                match it.is_row() {
                    true => json::put_string(&format!("f{}", number + 1), out),
                    false => json::put_string(&field.name, out),
                }
                out.push(':');
                put(&value, field.data_type, zone, out);
            }
            out.push('}');
        }
        (Value::Text(held), DataType::Map(it)) => {
            out.push('{');
            for (number, entry) in Items::new(held).enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                let entry = array::text_of(entry);
                for (value, field) in structs::values(&entry, it).zip(it.fields()) {
                    if field.name.as_ref() == "key" {
                        json::put_string(&shown(&value, field.data_type, zone), out);
                        out.push(':');
                    } else {
                        put(&value, field.data_type, zone, out);
                    }
                }
            }
            out.push('}');
        }
        (Value::Text(held), DataType::Array(it)) => {
            let own = it.data_type();
            put_items(
                held,
                ",",
                &mut |item, out| put(&array::value_of(item, own), own, zone, out),
                out,
            );
        }
        _ => put_text(&shown(value, of, zone), kind_of(of), out),
    }
}

/// A value as a text.
fn shown(value: &Value, of: DataType, zone: &Zone) -> String {
    let mut text = String::new();
    match (value, of) {
        (Value::Text(it), DataType::Char(length)) => text.push_str(&format::padded(it, length)),
        _ => format::value(value, of, zone, &mut text),
    }
    text
}

/// What values of a type are to JSON.
pub fn kind_of(data_type: DataType) -> &'static str {
    match data_type.plain() {
        DataType::Boolean => "boolean",
        DataType::Timestamp => "moment",
        DataType::TimestampTz => "zoned",
        it if it.is_numeric() => "number",
        it if it.is_json() => "json",
        _ => "string",
    }
}
