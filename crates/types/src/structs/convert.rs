//! Structs of other types: fields find each other by their names, or by their places where one side has no names.

use super::{Field, StructType, held, values};
use crate::{DataType, SqlResult, Value};

/// For each field of `to` the field of `from` that it is made of, if there is one: the others are NULL. `None` where the two do
/// not go together: rows of other lengths, and structs that share no name.
pub fn fields_pair(from: StructType, to: StructType) -> Option<Vec<Option<usize>>> {
    let count = to.fields().len();
    let is_one_type = !from.name().is_empty() && from.name() == to.name();
    if from.is_row() || to.is_row() || is_one_type {
        return (from.fields().len() == count).then(|| (0..count).map(Some).collect());
    }
    let places: Vec<_> = to.fields().iter().map(|it| from.find(&it.name)).collect();
    places.iter().any(Option::is_some).then_some(places)
}

/// The type in which structs of both types meet: fields of one name, or one place, meet, and it has all that either has, those
/// of the first before the others. `None` where two fields do not go together.
pub fn common(
    a: StructType,
    b: StructType,
    meet: &dyn Fn(DataType, DataType) -> Option<DataType>,
) -> Option<StructType> {
    if a.is_row() || b.is_row() {
        let names = if a.is_row() { b } else { a };
        if a.fields().len() != b.fields().len() {
            return None;
        }
        let pairs = a.fields().iter().zip(b.fields()).zip(names.fields());
        let fields = pairs.map(|((a, b), named)| {
            meet(a.data_type, b.data_type).map(|it| Field::new(named.name.clone(), it))
        });
        return StructType::named(names.name(), fields.collect::<Option<Vec<_>>>()?).ok();
    }
    let mut fields = Vec::with_capacity(a.fields().len());
    for field in a.fields() {
        let other = b.find(&field.name).map(|it| b.fields()[it].data_type);
        let data_type = match other {
            Some(other) => meet(field.data_type, other)?,
            None => field.data_type,
        };
        fields.push(Field::new(field.name.clone(), data_type));
    }
    fields.extend(b.fields().iter().filter(|it| a.find(&it.name).is_none()).cloned());
    StructType::new(fields).ok()
}

/// A struct whose fields become what `convert` makes of a value of the first type for the second.
///
/// # Errors
/// Those of `convert`.
pub fn converted(
    text: &str,
    (from, to): (StructType, StructType),
    convert: &mut dyn FnMut(&Value, DataType, DataType) -> SqlResult<Value>,
) -> SqlResult<String> {
    let own: Vec<Value> = values(text, from).collect();
    let places = fields_pair(from, to).unwrap_or_default();
    let mut fields = Vec::with_capacity(places.len());
    for (place, field) in places.iter().zip(to.fields()) {
        fields.push(match place {
            Some(place) => convert(&own[*place], from.fields()[*place].data_type, field.data_type)?,
            None => Value::Null,
        });
    }
    Ok(held(fields))
}
