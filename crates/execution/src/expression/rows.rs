//! Constant rows: VALUES, INSERT, and SELECT without FROM.

use plan::Expr;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, Value};

use super::cast::cast;
use super::compile::Compiler;
use super::node::Node;
use super::outside::Outside;
use super::vectors::vector_of;
use crate::{BATCH_ROWS, Batch, ColumnShape, Layout, Representation};

/// The value of an expression without columns.
pub fn evaluate_row(expr: &Expr, outside: &dyn Outside) -> SqlResult<Value> {
    value_of(expr, expr.data_type, outside)
}

fn value_of(expr: &Expr, data_type: DataType, outside: &dyn Outside) -> SqlResult<Value> {
    let layout = Layout::new();
    let node = Compiler { layout: &layout, outside, tables: false }.compile(expr)?;
    let node: Node = cast(node, data_type)?;
    let vector = node.evaluate(&Batch { rows: 1, ..Batch::default() })?;
    Ok(vector.value(&node.shape, 0))
}

/// Rows of expressions without columns, as batches of a layout as narrow as their values.
pub fn constant_rows(
    types: &[DataType],
    rows: &[Vec<Expr>],
    outside: &dyn Outside,
) -> SqlResult<(Layout, Vec<Batch>)> {
    let mut columns: Vec<Vec<Value>> = vec![Vec::with_capacity(rows.len()); types.len()];
    for row in rows {
        if row.len() != types.len() {
            let (wanted, found) = (types.len(), row.len());
            return Err(SqlError::internal(format!("a row has {found} values, not {wanted}")));
        }
        for ((expr, &data_type), column) in row.iter().zip(types).zip(&mut columns) {
            column.push(value_of(expr, data_type, outside)?);
        }
    }
    let layout: Layout =
        types.iter().zip(&columns).map(|(&it, values)| shape_of(it, values)).collect();
    let mut batches = Vec::new();
    for start in (0..rows.len()).step_by(BATCH_ROWS) {
        let end = rows.len().min(start + BATCH_ROWS);
        let vector = |(values, shape): (&Vec<Value>, &ColumnShape)| {
            Arc::new(vector_of(&values[start..end], shape))
        };
        let columns = columns.iter().zip(&layout).map(vector).collect();
        batches.push(Batch { rows: end - start, columns, sequence: start as u64 });
    }
    Ok((layout, batches))
}

fn shape_of(data_type: DataType, values: &[Value]) -> ColumnShape {
    let nullable = values.iter().any(Value::is_null);
    let mut shape = ColumnShape::computed(data_type, nullable);
    if matches!(shape.representation, Representation::I64 | Representation::I128) {
        let numbers = || values.iter().filter_map(Value::as_i128);
        shape.bounds = numbers().min().zip(numbers().max());
        let narrow = numbers().all(|it| i64::try_from(it).is_ok());
        shape.representation = if narrow { Representation::I64 } else { Representation::I128 };
    }
    shape
}
