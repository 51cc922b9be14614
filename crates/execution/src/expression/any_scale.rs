//! Operators on numbers of any scale, which are held as texts: value by value, as constants are.

use types::numeric::Arithmetic;
use types::numeric::number::{self, Number};
use types::{DataType, SqlResult};

use super::cast::cast;
use super::kernels::{both_valid, valid_at};
use super::node::{Facts, Kernel, Node, Texts, push_text};
use crate::{Batch, ColumnShape, TextVector, Values, Vector};

#[derive(Debug)]
struct AnyScale {
    operator: Arithmetic,
    left: Node,
    right: Node,
}

/// Compiles `left operator right`.
pub(super) fn any_scale(operator: Arithmetic, left: Node, right: Node) -> SqlResult<Node> {
    let (left, right) = (cast(left, DataType::Numeric)?, cast(right, DataType::Numeric)?);
    let facts = Facts::of([&left, &right]).or_fallible(true);
    let shape = ColumnShape::computed(DataType::Numeric, facts.nullable);
    Ok(Node::new(shape, facts, AnyScale { operator, left, right }))
}

/// The number of a row.
fn number_of(texts: Texts<'_>, row: usize) -> SqlResult<Number> {
    number::of_held(std::str::from_utf8(texts.get(row)).unwrap_or_default())
}

impl Kernel for AnyScale {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let (left, right) = (self.left.argument(batch)?, self.right.argument(batch)?);
        let validity = both_valid(left.validity(), right.validity());
        let (mut of_left, mut of_right) = (TextVector::default(), TextVector::default());
        let left = Texts::of(&left, &self.left.shape, &mut of_left);
        let right = Texts::of(&right, &self.right.shape, &mut of_right);
        let mut out = TextVector::default();
        for row in 0..batch.rows {
            if !valid_at(validity.as_ref(), row) {
                push_text(&mut out, b"");
                continue;
            }
            let (a, b) = (number_of(left, row)?, number_of(right, row)?);
            let result = a.arithmetic(self.operator, &b)?.held()?;
            push_text(&mut out, result.as_bytes());
        }
        Ok(Vector { values: Values::Text(out), validity })
    }
}
