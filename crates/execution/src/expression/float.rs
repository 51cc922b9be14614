//! Numbers as floats.

use types::numeric::errors::{cannot_cast, overflow, underflow};
use types::numeric::float;
use types::{DataType, SqlResult};

use super::integers::{bounds_of, contains};
use super::kernels::{Lanes, any_valid, map2};
use super::node::{Facts, Kernel, Node};
use crate::{Batch, Bitmap, ColumnShape, Representation, Values, Vector};

/// A number as DOUBLE PRECISION; REAL is held alike. Whatever is no number is cast by the planner.
pub(super) fn to_float(operand: Node) -> SqlResult<Node> {
    let from = operand.shape.data_type;
    match from {
        _ if from.is_float() => Ok(operand),
        _ if operand.is_null() => Ok(Node::null(DataType::Double)),
        _ if from.is_exact() => Ok(float_of(operand, DataType::Double)),
        _ => Err(cannot_cast(from, DataType::Double)),
    }
}

#[derive(Debug)]
struct FloatOf {
    operand: Node,
    /// A power of ten, which the unscaled integer is divided by.
    divisor: f64,
    /// Whether one division provably gives the nearest float: both of its operands are floats without rounding.
    direct: bool,
    single: bool,
}

/// Whole numbers up to 2^53 are floats without rounding.
const WHOLE: (i128, i128) = (-(1 << 53), 1 << 53);
/// Powers of ten up to this are floats without rounding.
const POWERS: u8 = 22;

/// An exact number or a float as a float.
pub(super) fn float_of(operand: Node, to: DataType) -> Node {
    let (from, single) = (operand.shape.data_type, to == DataType::Real);
    if from == DataType::Real {
        return operand.relabelled(to);
    }
    let scale = from.scale();
    let divisor = 10_f64.powi(i32::from(scale));
    let small = || contains(WHOLE, bounds_of(&operand.shape));
    let direct = !single && (scale == 0 || scale <= POWERS && small());
    let facts = Facts::of([&operand]).or_fallible(single && from == DataType::Double);
    let shape = ColumnShape::computed(to, facts.nullable);
    Node::new(shape, facts, FloatOf { operand, divisor, direct, single })
}

impl Kernel for FloatOf {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let (rows, divisor) = (batch.rows, Lanes::Constant(self.divisor));
        let (scale, single) = (self.operand.shape.data_type.scale(), self.single);
        let validity = argument.validity();
        let values = match (&self.operand.shape.representation, self.direct) {
            (Representation::F64, _) => singles(rows, argument.f64(), validity)?,
            (Representation::I64, true) => {
                map2(rows, argument.i64(), divisor, |it, by| it as f64 / by)
            }
            (Representation::I64, false) => map2(rows, argument.i64(), divisor, |it, _| {
                float::of_exact(i128::from(it), scale, single)
            }),
            (_, true) => map2(rows, argument.i128(), divisor, |it, by| it as f64 / by),
            (_, false) => {
                map2(rows, argument.i128(), divisor, |it, _| float::of_exact(it, scale, single))
            }
        };
        Ok(Vector { values: Values::F64(values), validity: validity.cloned() })
    }
}

/// DOUBLE PRECISION as REAL.
fn singles(rows: usize, doubles: Lanes<'_, f64>, valid: Option<&Bitmap>) -> SqlResult<Vec<f64>> {
    let no_float = Lanes::Constant(());
    let overflows = |it: f64, ()| it.is_finite() && (it as f32).is_infinite();
    if any_valid(&map2(rows, doubles, no_float, overflows), valid, |it| it) {
        return Err(overflow());
    }
    let underflows = |it: f64, ()| it != 0.0 && it as f32 == 0.0;
    if any_valid(&map2(rows, doubles, no_float, underflows), valid, |it| it) {
        return Err(underflow());
    }
    Ok(map2(rows, doubles, no_float, |it, ()| f64::from(it as f32)))
}
