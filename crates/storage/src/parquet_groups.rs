//! The row groups of Parquet files that may have rows that a scan wants, as the statistics of their columns tell.
//!
//! - Invariant: a group is left out only where each of its rows is outside of bounds. What statistics do not
//!   tell exactly (floats, where NaN is none of them; the old fields, which knew no order of texts) leaves nothing out.

use std::ops::Bound;

use ::parquet::arrow::arrow_reader::ArrowReaderMetadata;
use ::parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use ::parquet::basic::Type as PhysicalType;
use arrow_array::ArrayRef;
use types::{ColumnId, DataType, Value};

use crate::ColumnSchema;
use crate::build::piece_of;
use crate::encode::is_outside;
use crate::regular::guard;
use crate::word::value_of_int;

/// What all rows that a scan wants have in one column.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnBounds {
    /// The column.
    pub column: ColumnId,
    /// No value is below it, and NULL is none of them.
    pub low: Bound<Value>,
    /// No value is above it.
    pub high: Bound<Value>,
}

/// Whether the order of a type is that of the statistics.
fn is_told(data_type: DataType) -> bool {
    let is_exact = data_type.is_exact() && data_type.stored() == data_type;
    is_exact
        || matches!(
            data_type,
            DataType::Date | DataType::Timestamp | DataType::Text | DataType::Varchar(_)
        )
}

/// Which row groups may have values of a column within bounds; `None` where that is not known. `column` is the file's.
pub(crate) fn groups_within(
    bounds: &ColumnBounds,
    schema: &ColumnSchema,
    column: usize,
    file: &ArrowReaderMetadata,
) -> Option<Vec<bool>> {
    // A panic of the decoder of statistics says nothing of the rows.
    guard(|| told_within(bounds, schema, column, file)).ok().flatten()
}

fn told_within(
    bounds: &ColumnBounds,
    schema: &ColumnSchema,
    column: usize,
    file: &ArrowReaderMetadata,
) -> Option<Vec<bool>> {
    if !is_told(schema.data_type) {
        return None;
    }
    let descriptor = file.metadata().file_metadata().schema_descr();
    let mut leaves = (0..descriptor.num_columns())
        .filter(|leaf| descriptor.get_column_root_idx(*leaf) == column);
    let leaf = leaves.next().filter(|_| leaves.next().is_none())?;
    if descriptor.column(leaf).physical_type() == PhysicalType::INT96 {
        return None;
    }
    let field = file.schema().field(column);
    let converter = StatisticsConverter::from_column_index(leaf, field, descriptor).ok()?;
    let groups = file.metadata().row_groups();
    let least = values(&converter.row_group_mins(groups).ok()?, schema)?;
    let greatest = values(&converter.row_group_maxes(groups).ok()?, schema)?;
    let may_be_within = |group: usize| {
        let known = groups[group].column(leaf).statistics();
        let is_old = known.is_none_or(|it| it.is_min_max_deprecated());
        match (&least[group], &greatest[group]) {
            (Some(min), Some(max)) if !is_old => {
                let bounds = (bounds.low.as_ref(), bounds.high.as_ref());
                !is_outside(schema.data_type, bounds, min, max)
            }
            _ => true,
        }
    };
    Some((0..groups.len()).map(may_be_within).collect())
}

/// The values of an array as a column would hold them; `None` inside for NULL.
fn values(array: &ArrayRef, schema: &ColumnSchema) -> Option<Vec<Option<Value>>> {
    let schema = ColumnSchema { nullable: true, ..schema.clone() };
    let piece = piece_of(array, &schema).ok()?;
    let is_text = schema.data_type.stored().is_text();
    let value = |row: usize| {
        if is_text {
            let text = std::str::from_utf8(piece.text(row)).ok()?;
            return Some(Value::Text(text.into()));
        }
        let number = piece.number(row)?;
        Some(value_of_int(schema.data_type, number))
    };
    Some((0..piece.rows).map(|row| if piece.is_null(row) { None } else { value(row) }).collect())
}
