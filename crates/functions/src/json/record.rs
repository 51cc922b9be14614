//! JSON as values of the types of columns.

use arrow_array::ArrayRef;
use plan::Function;
use types::array::{self, DIMENSIONS_MAX, Dimension};
use types::json::{self, Kind};
use types::{SqlError, SqlResult, SqlState};

use super::look::put_text;
use super::rows::{each_text, invalid};
use crate::call::Call;

/// An object, any JSON, or the text of one; NULL of `null`.
pub(super) fn value(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let names = call.optional_texts(1)?;
    each_text(call, |row, out| {
        let value = values.value(row);
        match (json::kind(value), call.function) {
            (Kind::Null, Function::JsonObjectOf) if of_set(names, row) => {}
            (Kind::Null, Function::JsonObjectOf | Function::JsonNotNull) => return Ok(false),
            (_, Function::JsonScalarText) => return put_text(value, out),
            (Kind::Object, _) | (_, Function::JsonNotNull) => {
                out.push_str(value);
                return Ok(true);
            }
            _ => {}
        }
        Err(no_object(json::kind(value), names.map_or("", |it| it.value(row))))
    })
}

fn of_set(names: Option<&arrow_array::StringArray>, row: usize) -> bool {
    names.is_some_and(|it| it.value(row).ends_with("set"))
}

/// What PostgreSQL says where a record is no object.
fn no_object(found: Kind, name: &str) -> SqlError {
    if name.ends_with("set") {
        return invalid(format!("argument of {name} must be an array of objects"));
    }
    match found {
        Kind::Array => invalid(format!("cannot call {name} on an array")),
        _ => invalid(format!("cannot call {name} on a scalar")),
    }
}

/// The elements of an array, those of arrays in it as dimensions, as texts or as JSON; NULL of `null`.
pub(super) fn array(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, wholes) = (call.texts(0)?, call.booleans(1)?);
    let mut text = String::new();
    each_text(call, |row, out| {
        let value = values.value(row);
        match json::kind(value) {
            Kind::Null => return Ok(false),
            Kind::Array => {}
            // As the text of an array.
            Kind::String => {
                let text = json::string_of(value)?;
                let read = &mut |it: &str| Ok(types::Value::Text(it.into()));
                out.push_str(&array::parse(&text, read)?);
                return Ok(true);
            }
            _ => return Err(malformed("expected JSON array")),
        }
        let mut lengths = Vec::new();
        let mut outermost = value;
        while json::kind(outermost) == Kind::Array && lengths.len() < DIMENSIONS_MAX {
            lengths.push(json::elements(outermost).count());
            match json::elements(outermost).next() {
                Some(first) if !wholes.value(row) => outermost = first,
                _ => break,
            }
        }
        put_level(
            value,
            &lengths,
            &mut |item, out| {
                text.clear();
                if wholes.value(row) {
                    array::push_text(out, item);
                } else if put_text(item, &mut text)? {
                    array::push_text(out, &text);
                } else {
                    out.push_str(array::NULL_ITEM);
                }
                Ok(())
            },
            out,
        )?;
        let dimension = |it: &usize| Dimension { length: *it as i32, lower: 1 };
        let shape: Vec<Dimension> = lengths.iter().map(dimension).collect();
        array::close(out, 0, &shape).map(|()| true)
    })
}

/// Appends an element.
type Put<'p> = dyn FnMut(&str, &mut String) -> SqlResult<()> + 'p;

fn put_level(value: &str, lengths: &[usize], put: &mut Put<'_>, out: &mut String) -> SqlResult<()> {
    let Some((length, inner)) = lengths.split_first() else { return put(value, out) };
    if json::kind(value) != Kind::Array {
        return Err(malformed("expected JSON array"));
    }
    if json::elements(value).count() != *length {
        return Err(malformed("malformed JSON array"));
    }
    json::elements(value).try_for_each(|it| put_level(it, inner, put, out))
}

fn malformed(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT, message)
}
