//! Rows that belong to others, as lists beside these.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StructArray, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType as ArrowType};
use arrow_select::take::take;
use stdx::sync::Arc;

/// Rows, with the numbers of what they belong to.
pub struct Children {
    /// The number of what each belongs to.
    pub of: Vec<i64>,
    /// What they are.
    pub columns: Vec<ArrayRef>,
}

impl Children {
    /// The rows of a batch whose first column tells what they belong to.
    pub fn of(batch: &RecordBatch) -> Self {
        Self { of: numbers(batch.column(0)), columns: batch.columns()[1..].to_vec() }
    }
}

/// The numbers of a column; none of NULL.
pub fn numbers(column: &ArrayRef) -> Vec<i64> {
    column.as_primitive::<Int64Type>().iter().flatten().collect()
}

/// For each of some rows, by their numbers, the list of those that belong to it, in their order. A list of none is NULL if `none_is_null`.
pub fn nest(
    list: &ArrowType,
    parents: &[i64],
    children: &Children,
    none_is_null: bool,
) -> Result<ArrayRef, ArrowError> {
    let ArrowType::List(item) = list else {
        return Err(ArrowError::SchemaError(format!("{list} is no list")));
    };
    let mut places: HashMap<i64, Vec<u32>> = HashMap::new();
    for (place, of) in children.of.iter().enumerate() {
        places.entry(*of).or_default().push(place as u32);
    }
    let of = |parent: &i64| places.get(parent).map_or(&[][..], Vec::as_slice);
    let lengths = OffsetBuffer::from_lengths(parents.iter().map(|it| of(it).len()));
    let chosen: UInt32Array = parents.iter().flat_map(|it| of(it).iter().copied()).collect();
    let columns = children.columns.iter().map(|it| take(it, &chosen, None));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let values: ArrayRef = match item.data_type() {
        ArrowType::Struct(fields) => {
            let typed = columns.iter().zip(fields).map(|(it, field)| fitted(it, field.data_type()));
            let typed = typed.collect::<Result<Vec<_>, _>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), typed, None, chosen.len())?)
        }
        single => fitted(&columns[0], single)?,
    };
    let has_some = parents.iter().map(|it| !of(it).is_empty());
    let nulls = none_is_null.then(|| has_some.collect::<NullBuffer>());
    Ok(Arc::new(ListArray::try_new(item.clone(), lengths, values, nulls)?))
}

fn fitted(array: &ArrayRef, of: &ArrowType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == of { Ok(array.clone()) } else { cast(array, of) }
}
