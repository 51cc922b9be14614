//! Values of JSON as values of a type.

use types::array::{self, Dimension};
use types::json::{Kind, elements, kind, members, string_of};
use types::structs::{self, StructType};
use types::{DataType, Element, SqlError, SqlResult, SqlState, Value, Zone, numeric};

use crate::column::Column;
use crate::spelling;

/// How values are read.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// In which moments are that name no time zone.
    pub(super) zone: &'a Zone,
    /// Whether members that no field is of are an error.
    pub(super) is_closed: bool,
}

/// Dimensions of an array at most.
const DIMENSIONS_MAX: usize = 6;

/// Adds a value that is known to be JSON, and not `null`, to a column. After an error nothing was added.
pub(super) fn push(column: &mut Column, json: &str, of: DataType, how: How<'_>) -> SqlResult<()> {
    match (kind(json), of) {
        (_, DataType::Json) => column.push_held(&Value::Text(json.into())),
        (_, DataType::Jsonb) => column.push(json),
        (Kind::String, _) => column.push(&string_of(json)?),
        (Kind::Array | Kind::Object, _) if of.has_parts() => {
            let held = held(json, of, how)?;
            column.push_held(&held)
        }
        _ => column.push(json),
    }
}

/// A value as it is held.
fn held(json: &str, of: DataType, how: How<'_>) -> SqlResult<Value> {
    match (kind(json), of) {
        (Kind::Null, _) => Ok(Value::Null),
        (_, DataType::Json) => Ok(Value::Text(json.into())),
        (_, DataType::Jsonb) => cast(json, of, how),
        (Kind::String, _) => text(&string_of(json)?, of, how),
        (Kind::Array, DataType::Array(element)) => list(json, element, how),
        (Kind::Object, DataType::Struct(of)) => fields(json, of, how),
        (Kind::Object, DataType::Map(entry)) => map(json, entry, how),
        _ => text(json, of, how),
    }
}

/// What a text means as a type.
fn text(text: &str, of: DataType, how: How<'_>) -> SqlResult<Value> {
    match of {
        DataType::Text => Ok(Value::Text(text.into())),
        DataType::BigInt => {
            let value = spelling::exact(text, of)?;
            let out_of_range = |_| numeric::errors::out_of_range(of);
            i64::try_from(value).map(Value::Integer).map_err(out_of_range)
        }
        DataType::Double => spelling::float(text, of).map(Value::Float),
        // Texts must fit, and are not cut as a cast cuts them.
        DataType::Char(_) | DataType::Varchar(_) => {
            numeric::fitting(text, of).map(|it| Value::Text(it.into()))
        }
        DataType::Bits(_) => numeric::assign(&Value::Text(text.into()), DataType::Null, of, ""),
        _ => cast(text, of, how),
    }
}

fn cast(text: &str, of: DataType, how: How<'_>) -> SqlResult<Value> {
    numeric::cast_in(&Value::Text(text.into()), DataType::Text, of, how.zone)
}

/// An object as a struct: members that it does not have are NULL.
fn fields(json: &str, of: StructType, how: How<'_>) -> SqlResult<Value> {
    let mut values = vec![Value::Null; of.fields().len()];
    let (mut seen, mut next) = (vec![false; values.len()], 0);
    for (key, value) in members(json) {
        let key = string_of(key)?;
        let is_it = |place: &usize| of.fields().get(*place).is_some_and(|it| *it.name == *key);
        // Members nearly always come in the same order.
        let found = Some(next).filter(is_it).or_else(|| (0..of.fields().len()).find(is_it));
        let Some(place) = found else {
            if how.is_closed {
                return Err(wrong_key("unknown", &key));
            }
            continue;
        };
        if std::mem::replace(&mut seen[place], true) {
            return Err(wrong_key("duplicate", &key));
        }
        values[place] = held(value, of.fields()[place].data_type, how)?;
        next = place + 1;
    }
    Ok(Value::Text(structs::held(values).into()))
}

/// 22P04: a key that an object should not have.
pub(super) fn wrong_key(how: &str, key: &str) -> SqlError {
    SqlError::new(SqlState::BAD_FILE_FORMAT, format!("{how} key \"{key}\""))
}

fn map(json: &str, entry: StructType, how: How<'_>) -> SqlResult<Value> {
    let [key_field, value_field] = entry.fields() else {
        return Err(SqlError::internal("a map has keys and values"));
    };
    let entry = |(key, value): (&str, &str)| {
        let key = text(&string_of(key)?, key_field.data_type, how)?;
        Ok(structs::held([key, held(value, value_field.data_type, how)?]))
    };
    let entries = members(json).map(entry).collect::<SqlResult<Vec<_>>>()?;
    structs::map_of(&entries).map(|it| Value::Text(it.into()))
}

/// A list, or lists in lists of one length, as an array.
fn list(json: &str, element: Element, how: How<'_>) -> SqlResult<Value> {
    let mut items = Items {
        element: element.data_type(),
        how,
        held: String::new(),
        lengths: Vec::new(),
        depth: None,
    };
    items.add(json, 0)?;
    let total: usize = items.lengths.iter().product();
    if total == 0 {
        return Ok(Value::Text("".into()));
    }
    let length = |it: &usize| i32::try_from(*it).map_err(|_| array::too_many_items());
    let dimension = |it| Ok(Dimension { length: length(it)?, lower: 1 });
    let dimensions = items.lengths.iter().map(dimension).collect::<SqlResult<Vec<_>>>()?;
    array::close(&mut items.held, 0, &dimensions)?;
    Ok(Value::Text(items.held.into()))
}

/// Items of an array that is put together.
struct Items<'a> {
    element: DataType,
    how: How<'a>,
    held: String,
    /// The lengths of the dimensions that were seen.
    lengths: Vec<usize>,
    /// In which dimension the items stand, once there is one.
    depth: Option<usize>,
}

impl Items<'_> {
    fn add(&mut self, json: &str, level: usize) -> SqlResult<()> {
        if level >= DIMENSIONS_MAX {
            let message = format!("an array may not have more than {DIMENSIONS_MAX} dimensions");
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        }
        let count = elements(json).count();
        match self.lengths.get(level) {
            None => self.lengths.push(count),
            Some(length) if *length == count => {}
            Some(_) => return Err(ragged()),
        }
        let has_lists = !matches!(self.element, DataType::Json | DataType::Jsonb);
        for value in elements(json) {
            if has_lists && kind(value) == Kind::Array {
                if self.depth.is_some_and(|it| it <= level) {
                    return Err(ragged());
                }
                self.add(value, level + 1)?;
            } else {
                if *self.depth.get_or_insert(level) != level {
                    return Err(ragged());
                }
                let value = held(value, self.element, self.how)?;
                array::push_value(&mut self.held, &value);
            }
        }
        Ok(())
    }
}

/// 22P02, as for a text of an array.
fn ragged() -> SqlError {
    let message = "lists within lists must have one length to be an array";
    SqlError::new(SqlState::INVALID_TEXT, message)
        .with_hint("the type JSON holds lists of any length")
}
