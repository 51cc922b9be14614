//! Conversions that answer NULL where a value does not convert.

use types::{DataType, SqlResult, Zone};

use super::by_value::tried;
use super::cast::cast_in;
use super::node::{Facts, Kernel, Node};
use crate::{Batch, Bitmap, Vector};

#[derive(Debug)]
struct TryCast {
    operand: Node,
    /// The conversion of a batch that is the operand alone.
    cast: Node,
}

/// Compiles TRY_CAST. An error of the operand itself stays one. In a value of several parts those are NULL that do not convert,
/// unless only the whole may.
pub(super) fn try_cast(operand: Node, to: DataType, zone: &Zone, whole: bool) -> SqlResult<Node> {
    let has_parts = to.element().is_some() || matches!(to, DataType::Struct(_) | DataType::Map(_));
    if has_parts && !whole {
        return tried(operand, to, zone);
    }
    let cast = cast_in(Node::column(0, operand.shape.clone()), to, Some(zone))?;
    if !cast.facts.fallible {
        return cast_in(operand, to, Some(zone));
    }
    let facts = Facts::of([&operand]);
    let mut shape = cast.shape.clone();
    shape.nullable = true;
    Ok(Node::new(shape, facts, TryCast { operand, cast }))
}

impl Kernel for TryCast {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let operand = self.operand.evaluate(batch)?;
        let alone = |operand, rows| Batch { rows, columns: vec![operand], sequence: 0 };
        let whole = alone(operand.clone(), batch.rows);
        match self.cast.evaluate(&whole) {
            Ok(vector) => return Ok(Vector::clone(&vector)),
            Err(error) if error.state.is_data_exception() => {}
            Err(error) => return Err(error),
        }
        // Rows that fail become NULL before they are converted, and NULL converts.
        let mut kept = Bitmap::filled(batch.rows, false);
        for row in 0..batch.rows {
            let single = alone(operand.take(&[row as u32]).into(), 1);
            match self.cast.evaluate(&single) {
                Ok(_) => kept.set(row, operand.is_valid(row)),
                Err(error) if error.state.is_data_exception() => {}
                Err(error) => return Err(error),
            }
        }
        let convertible = Vector { values: operand.values.clone(), validity: Some(kept) };
        let vector = self.cast.evaluate(&alone(convertible.into(), batch.rows))?;
        Ok(Vector::clone(&vector))
    }
}
