//! Operators on exact numbers with intermediate results that may leave 38 digits although the result does not: computed
//! value by value, as constants are.

use types::numeric::errors::division_by_zero;
use types::numeric::{Arithmetic, Exact};
use types::{DataType, SqlResult};

use super::integers::{Finish, widened};
use super::kernels::{Lanes, both_valid, valid_at};
use super::node::{Facts, Kernel, Node};
use crate::{Batch, Vector};

#[derive(Debug)]
struct PerValue {
    operator: Arithmetic,
    left: Node,
    right: Node,
    scale: u8,
    finish: Finish,
}

/// Compiles `left operator right`.
pub(super) fn per_value(
    operator: Arithmetic,
    left: Node,
    right: Node,
    data_type: DataType,
) -> Node {
    let facts = Facts::of([&left, &right]).or_fallible(true);
    let (finish, shape) = Finish::new(data_type, None, facts.nullable);
    let (left, right, scale) = (widened(left), widened(right), data_type.scale());
    Node::new(shape, facts, PerValue { operator, left, right, scale, finish })
}

impl Kernel for PerValue {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let left = self.left.argument(batch)?;
        let right = self.right.argument(batch)?;
        let validity = both_valid(left.validity(), right.validity());
        let divides = matches!(self.operator, Arithmetic::Divide | Arithmetic::Modulo);
        let (a, b) = (left.i128(), right.i128());
        let at = |lanes: Lanes<'_, i128>, row: usize| match lanes {
            Lanes::Slice(values) => values[row],
            Lanes::Constant(value) => value,
        };
        let scales = (self.left.shape.data_type.scale(), self.right.shape.data_type.scale());
        let mut values = vec![0; batch.rows];
        for (row, value) in values.iter_mut().enumerate() {
            if !valid_at(validity.as_ref(), row) {
                continue;
            }
            let a = Exact { unscaled: at(a, row), scale: scales.0 };
            let b = Exact { unscaled: at(b, row), scale: scales.1 };
            if divides && b.unscaled == 0 {
                return Err(division_by_zero());
            }
            let result = a.arithmetic(self.operator, b, self.scale);
            *value = result.ok_or_else(|| self.finish.error())?;
        }
        let values = self.finish.widen(values, validity.as_ref())?;
        Ok(Vector { values, validity })
    }
}
