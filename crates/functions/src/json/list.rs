//! The values and keys of JSON as arrays, of which rows are made.

use arrow_array::ArrayRef;
use plan::Function;
use types::json::{self, Kind};
use types::{SqlError, SqlResult, array};

use super::look::put_text;
use super::rows::{each_text, invalid};
use crate::call::Call;

/// The elements of an array, or the values of an object.
pub(super) fn values(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    let (values, names) = (call.texts(0)?, call.texts(1)?);
    let as_text = matches!(call.function, F::JsonElementsText | F::JsonValuesText);
    let of_array = matches!(call.function, F::JsonElements | F::JsonElementsText);
    let mut text = String::new();
    each_text(call, |row, out| {
        let (value, name) = (values.value(row), names.value(row));
        let mut count = 0;
        let mut push = |it: &str| -> SqlResult<()> {
            count += 1;
            if !as_text {
                array::push_text(out, it);
                return Ok(());
            }
            text.clear();
            match put_text(it, &mut text)? {
                true => array::push_text(out, &text),
                false => out.push_str(array::NULL_ITEM),
            }
            Ok(())
        };
        match (json::kind(value), of_array) {
            (Kind::Array, true) => json::elements(value).try_for_each(&mut push)?,
            (Kind::Object, false) => json::members(value).try_for_each(|it| push(it.1))?,
            (found, _) => return Err(refused(found, name)),
        }
        array::close_list(out, 0, count).map(|()| true)
    })
}

/// The keys of an object.
pub(super) fn keys(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, names) = (call.texts(0)?, call.texts(1)?);
    each_text(call, |row, out| {
        let value = values.value(row);
        if json::kind(value) != Kind::Object {
            return Err(refused(json::kind(value), names.value(row)));
        }
        let mut count = 0;
        for (key, _) in json::members(value) {
            array::push_text(out, &json::string_of(key)?);
            count += 1;
        }
        array::close_list(out, 0, count).map(|()| true)
    })
}

/// What PostgreSQL says where a value is of another kind: it depends on the function.
fn refused(found: Kind, name: &str) -> SqlError {
    let is_jsonb = name.starts_with("jsonb");
    let scalar = found.is_scalar();
    let kind = match found {
        Kind::Array => "an array",
        Kind::Object => "an object",
        _ => "a scalar",
    };
    let message = match (name.contains("array_elements"), is_jsonb) {
        (true, true) => format!("cannot extract elements from {kind}"),
        (true, false) if scalar => format!("cannot call {name} on a scalar"),
        (true, false) => format!("cannot call {name} on a non-array"),
        _ if name.ends_with("object_keys") => format!("cannot call {name} on {kind}"),
        (false, true) => format!("cannot call {name} on a non-object"),
        (false, false) if scalar => "cannot deconstruct a scalar".to_owned(),
        (false, false) => "cannot deconstruct an array as an object".to_owned(),
    };
    invalid(message)
}
