//! Structs and rows: values of several fields, each of a type of its own; and maps, which are lists of entries.
//!
//! Key decision: a struct is held as the items of its fields, one behind the other, as an array holds its items
//! ([`crate::array`]). Each item stands for itself and in order, so two structs are equal when their texts are, and the order
//! of texts is that of structs: field by field, NULL behind all values. What does not compare as it is held (an interval,
//! JSONB) is compared by a key, a text in the right order ([`key()`]). A struct within another value is held as a text item, and so
//! is an array within a struct. A map is held as an array of structs of key and value.
//!
//! The fields of a struct type are described once ([`StructType`]). One without names is a row, as PostgreSQL's `ROW(..)`
//! makes them; its text, and that of a type that has a name (CREATE TYPE .. AS (..)), is PostgreSQL's `(1,x)`; all others look as in
//! DuckDB: `{'a': 1, 'b': x}`, `{k=v}`.
//!
//! Reading order: `convert` and `cast` (between types), `key` (what is compared), `text` and `parse` (as written).
//!
//! - Invariant: a type nests at most [`DEPTH_MAX`] levels and has at most [`FIELDS_MAX`] fields in all, so that whoever walks one ends soon.
//! - Invariant: reading never panics; a field that a text does not have is NULL.

mod cast;
mod convert;
mod key;
mod maps;
mod parse;
mod text;

pub use cast::cast;
pub use convert::{common, converted, fields_pair};
pub use key::{key, key_type};
pub use maps::map_of;
pub use parse::{parse, parse_list, parse_map};
pub use text::format;

use crate::array::{self, Items};
pub use crate::data_type::{DEPTH_MAX, FIELDS_MAX, Field, StructType};
use crate::{DataType, SqlResult, Value};

/// The values of the fields of a struct as it is held.
pub fn values(held: &str, of: StructType) -> impl Iterator<Item = Value> {
    let mut items = Items::new(held);
    of.fields().iter().map(move |it| match items.next() {
        Some(item) => array::value_of(item, it.data_type),
        None => Value::Null,
    })
}

/// A struct of values, as it is held.
pub fn held(values: impl IntoIterator<Item = Value>) -> String {
    let mut held = String::new();
    values.into_iter().for_each(|it| array::push_value(&mut held, &it));
    held
}

/// Whether a type is a struct, a row or a map, or an array of such.
pub fn is_nested(of: DataType) -> bool {
    matches!(of.element().unwrap_or(of), DataType::Struct(_) | DataType::Map(_))
}

/// Whether a type is a row, which has no names for its fields, or has one in it.
pub fn has_row(of: DataType) -> bool {
    match of {
        DataType::Array(it) => has_row(it.data_type()),
        DataType::Struct(it) | DataType::Map(it) => {
            it.is_row() || it.fields().iter().any(|it| has_row(it.data_type))
        }
        _ => false,
    }
}

/// Whether values of a type are JSON, or have parts that are.
pub fn has_json(data_type: DataType) -> bool {
    has_part(data_type, &|it| it == DataType::Json)
}

/// Whether something holds of a type, or of one that is part of it.
pub fn has_part(of: DataType, holds: &dyn Fn(DataType) -> bool) -> bool {
    holds(of)
        || match of {
            DataType::Array(it) => has_part(it.data_type(), holds),
            DataType::Struct(it) | DataType::Map(it) => {
                it.fields().iter().any(|it| has_part(it.data_type, holds))
            }
            _ => false,
        }
}

/// A type whose texts have no limit of length.
///
/// # Errors
/// Those of [`StructType::new`].
pub fn unlimited(of: DataType) -> SqlResult<DataType> {
    changed(of, &|it| match it {
        DataType::Char(_) => DataType::Text,
        cut if cut.is_cut_text() => DataType::Text,
        other => other,
    })
}

/// A type with another one for each of its parts that has none itself.
///
/// # Errors
/// Those of [`StructType::new`].
pub fn changed(of: DataType, change: &dyn Fn(DataType) -> DataType) -> SqlResult<DataType> {
    let fields = |it: StructType| -> SqlResult<StructType> {
        let types = it.fields().iter().map(|it| changed(it.data_type, change));
        let mut types = types.collect::<SqlResult<Vec<_>>>()?.into_iter();
        it.with_types(|own| types.next().unwrap_or(own))
    };
    Ok(match of {
        DataType::Array(it) if !it.is_of_vector() => {
            changed(it.data_type(), change)?.array().unwrap_or(of)
        }
        DataType::Struct(it) => DataType::Struct(fields(it)?),
        DataType::Map(it) => DataType::Map(fields(it)?),
        other => change(other),
    })
}

/// A type in which what is known of nothing else, the type of a bare NULL, is text.
///
/// # Errors
/// Those of [`StructType::new`].
pub fn decided(of: DataType) -> SqlResult<DataType> {
    changed(of, &|it| if it == DataType::Null { DataType::Text } else { it })
}

#[cfg(test)]
mod tests;
