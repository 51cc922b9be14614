//! From columns back to Arrow, for results and tests.

use std::ops::Range;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{Date32Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, Float32Array, Float64Array,
    PrimitiveArray, RecordBatch, RecordBatchOptions, UInt32Array,
};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat;
use arrow_select::filter::filter;
use arrow_select::take::take;
use stdx::sync::Arc;
use types::{ColumnId, DataType, SqlError, SqlResult, Value};

use crate::word::{float_of_word, int_of_word};
use crate::{Column, Dictionary, Encoding, Part, Table};

/// Some rows of a column as an Arrow array of [`crate::schema::arrow_type`].
pub fn column_to_arrow(column: &Column, rows: Range<usize>) -> ArrayRef {
    match column.data_type.stored() {
        DataType::Null
        | DataType::Text
        | DataType::Char(_)
        | DataType::Bpchar
        | DataType::Varchar(_) => text_array(column, rows),
        DataType::Boolean => Arc::new(BooleanArray::from_iter(
            ints(column, rows).into_iter().map(|it| it.map(|it| it != 0)),
        )),
        DataType::SmallInt => primitive::<Int16Type>(column, rows, |it| it as i16),
        DataType::Integer => primitive::<Int32Type>(column, rows, |it| it as i32),
        DataType::BigInt => primitive::<Int64Type>(column, rows, |it| it),
        DataType::Date => primitive::<Date32Type>(column, rows, |it| it as i32),
        DataType::Timestamp => primitive::<TimestampMicrosecondType>(column, rows, |it| it),
        DataType::Real => Arc::new(Float32Array::from_iter(
            floats(column, rows).into_iter().map(|it| it.map(|it| it as f32)),
        )),
        DataType::Double => Arc::new(Float64Array::from_iter(floats(column, rows))),
        DataType::Decimal { precision, scale } => {
            let values = rows.map(|row| column.value(row).as_i128());
            let array = Decimal128Array::from_iter(values);
            let typed = array.with_precision_and_scale(precision, scale as i8);
            Arc::new(typed.expect("invariant: the type of a column is valid"))
        }
        held => unreachable!("invariant: {held} is not held as itself"),
    }
}

/// How many rows are read at once for positions that lie near each other.
const WINDOW: usize = 1024;

/// The values of a column at some positions ([`Part::positions`]) in any order, NULL where there is none. Rows that are gone
/// have theirs, too.
pub fn values_at(
    table: &Table,
    column: ColumnId,
    positions: &[Option<usize>],
) -> SqlResult<ArrayRef> {
    let malformed = |error| SqlError::internal(format!("values at positions: {error}"));
    let mut rising: Vec<(usize, usize)> =
        positions.iter().enumerate().filter_map(|(place, it)| Some(((*it)?, place))).collect();
    rising.sort_unstable();
    let mut places: Vec<Option<u32>> = vec![None; positions.len()];
    for (number, (_, place)) in rising.iter().enumerate() {
        places[*place] = Some(number as u32);
    }
    let mut pieces = vec![column_to_arrow(table.column(column), 0..0)];
    let mut rest = &rising[..];
    while let Some((first, _)) = rest.first() {
        let part = table.parts().iter().find(|it| it.positions().contains(first));
        let part = part.ok_or_else(|| SqlError::internal("there is no row at a position"))?;
        let Range { start, end } = part.positions();
        let end = end.min(first + WINDOW);
        let (here, after) = rest.split_at(rest.partition_point(|it| it.0 < end));
        let last = here.last().map_or(*first, |it| it.0);
        let values =
            column_to_arrow(&part.columns[column.index()], first - start..last + 1 - start);
        let wanted = UInt32Array::from_iter_values(here.iter().map(|it| (it.0 - first) as u32));
        pieces.push(take(&values, &wanted, None).map_err(malformed)?);
        rest = after;
    }
    let pieces: Vec<&dyn Array> = pieces.iter().map(|it| &**it).collect();
    let values = concat(&pieces).map_err(malformed)?;
    take(&values, &UInt32Array::from(places), None).map_err(malformed)
}

/// Some rows of a table as Arrow, of those that are there, numbered from 0 over all parts.
pub fn table_to_arrow(table: &Table, rows: Range<usize>) -> SqlResult<RecordBatch> {
    let columns: Vec<ArrayRef> = (0..table.columns.len())
        .map(|it| parts_to_arrow(table, it, &rows))
        .collect::<SqlResult<_>>()?;
    let field = |(column, array): (&Arc<Column>, &ArrayRef)| {
        Field::new(column.name.clone(), array.data_type().clone(), column.nullable)
    };
    let schema = Schema::new(table.columns.iter().zip(&columns).map(field).collect::<Vec<_>>());
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
        .map_err(|error| SqlError::internal(format!("a table does not fit Arrow: {error}")))
}

/// Some rows of a column of a table, from all the parts they are in.
fn parts_to_arrow(table: &Table, column: usize, rows: &Range<usize>) -> SqlResult<ArrayRef> {
    let (mut first, mut arrays) = (0, Vec::new());
    for part in table.parts() {
        let start = rows.start.max(first) - first;
        let end = rows.end.saturating_sub(first).min(part.live_rows());
        // Of no rows at all the first part gives the type.
        if start < end || arrays.is_empty() && rows.is_empty() {
            let end = end.max(start);
            let rows = if start < end { start..end } else { 0..0 };
            arrays.push(part_to_arrow(part, column, rows)?);
        }
        first += part.live_rows();
    }
    if let [array] = arrays.as_slice() {
        return Ok(array.clone());
    }
    let parts: Vec<&dyn Array> = arrays.iter().map(|it| &**it).collect();
    concat(&parts).map_err(|error| SqlError::internal(format!("parts do not fit: {error}")))
}

/// Some rows of a column of a part, of those that are there.
fn part_to_arrow(part: &Part, column: usize, rows: Range<usize>) -> SqlResult<ArrayRef> {
    let column = &part.columns[column];
    if part.deletions().is_none() || rows.is_empty() {
        return Ok(column_to_arrow(column, rows));
    }
    let live = BooleanArray::from_iter((0..part.rows()).map(|it| Some(part.is_live(it))));
    let all = filter(&column_to_arrow(column, 0..part.rows()), &live)
        .map_err(|error| SqlError::internal(format!("a part does not fit: {error}")))?;
    Ok(all.slice(rows.start, rows.len()))
}

fn primitive<T: ArrowPrimitiveType>(
    column: &Column,
    rows: Range<usize>,
    native: impl Fn(i64) -> T::Native,
) -> ArrayRef {
    // What a column stores fits its type, so the casts only undo a widening.
    let values = ints(column, rows).into_iter().map(|it| it.map(&native));
    Arc::new(PrimitiveArray::<T>::from_iter(values))
}

/// The stored integers of some rows, of a column whose values have up to 64 bits and are no floats.
pub(crate) fn ints(column: &Column, rows: Range<usize>) -> Vec<Option<i64>> {
    let value = |row: usize| {
        if column.is_null(row) {
            return None;
        }
        let code = column.iv().get(row);
        match &column.encoding {
            // The sum may pass through the far end of 64 bits and back.
            Encoding::Offset { min } => Some(min.wrapping_add(code as i64)),
            Encoding::Dictionary(it) => it.ints().get(code as usize).copied(),
            Encoding::Raw => Some(int_of_word(code)),
            Encoding::Plain(_) | Encoding::Parts => None,
        }
    };
    rows.map(value).collect()
}

fn floats(column: &Column, rows: Range<usize>) -> Vec<Option<f64>> {
    let value = |row: usize| {
        if column.is_null(row) {
            return None;
        }
        let code = column.iv().get(row);
        match &column.encoding {
            Encoding::Dictionary(Dictionary::Float(it)) => Some(it.as_slice()[code as usize]),
            Encoding::Raw => Some(float_of_word(code)),
            _ => match column.value(row) {
                Value::Float(it) => Some(it),
                _ => None,
            },
        }
    };
    rows.map(value).collect()
}

fn text_array(column: &Column, rows: Range<usize>) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(rows.len(), rows.len() * 8);
    for row in rows {
        if column.is_null(row) {
            builder.append_null();
            continue;
        }
        match &column.encoding {
            Encoding::Plain(strings) => builder.append_value(strings.get(row)),
            Encoding::Dictionary(it) => {
                builder.append_value(it.as_str(column.iv().get(row) as u32))
            }
            _ => builder.append_value(""),
        }
    }
    Arc::new(builder.finish())
}
