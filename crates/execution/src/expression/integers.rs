//! Exact numbers: what bounds prove, and the checks where they prove nothing.
//!
//! A number is an unscaled integer in 64 or 128 bits. The interval of each node is computed from those of its operands;
//! while it fits 64 bits so does the computation, and while it fits the type no row is checked.

use types::numeric::decimal::{divide_rounded, power_of_ten};
use types::{DataType, SqlError, SqlResult};

use super::kernels::{Lanes, any_valid, map1, map2};
use super::node::{Body, Facts, Kernel, Node};
use crate::{Batch, Bitmap, ColumnShape, Representation, Values, Vector};

pub(super) use types::numeric::decimal::range as type_range;
pub(super) use types::numeric::errors::out_of_range;

pub(super) type Interval = (i128, i128);

pub(super) const I64_RANGE: Interval = (i64::MIN as i128, i64::MAX as i128);

pub(super) fn contains(outer: Interval, inner: Interval) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// What a node's values lie between.
pub(super) fn bounds_of(shape: &ColumnShape) -> Interval {
    let known = shape.bounds.unwrap_or_else(|| type_range(shape.data_type));
    match shape.representation {
        Representation::I64 => (known.0.max(I64_RANGE.0), known.1.min(I64_RANGE.1)),
        _ => known,
    }
}

/// Whether a date or a timestamp of a shape may be infinite.
pub(super) fn may_be_infinite(shape: &ColumnShape) -> bool {
    let (low, high) = bounds_of(shape);
    let (least, greatest) = type_range(shape.data_type);
    low <= least || high >= greatest
}

pub(super) fn add(a: Interval, b: Interval) -> Option<Interval> {
    Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
}

pub(super) fn subtract(a: Interval, b: Interval) -> Option<Interval> {
    Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?))
}

pub(super) fn multiply(a: Interval, b: Interval) -> Option<Interval> {
    let corners = [
        a.0.checked_mul(b.0)?,
        a.0.checked_mul(b.1)?,
        a.1.checked_mul(b.0)?,
        a.1.checked_mul(b.1)?,
    ];
    Some(
        corners
            .iter()
            .fold((corners[0], corners[0]), |(low, high), &it| (low.min(it), high.max(it))),
    )
}

/// How a computed number becomes a value of its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finish {
    data_type: DataType,
    /// What rows must lie between, when the bounds do not prove it.
    check: Option<Interval>,
    /// Whether the result is held in 128 bits.
    pub wide: bool,
}

impl Finish {
    /// For results in `raw`; `None` when even 128 bits may not hold them. Also gives the shape of the result.
    pub fn new(data_type: DataType, raw: Option<Interval>, nullable: bool) -> (Self, ColumnShape) {
        let range = type_range(data_type);
        let proven = raw.filter(|&raw| contains(range, raw));
        let check = if proven.is_some() { None } else { Some(range) };
        let bounds = match raw {
            Some(raw) if raw.1 >= range.0 && raw.0 <= range.1 => {
                (raw.0.max(range.0), raw.1.min(range.1))
            }
            _ => range,
        };
        let wide = !contains(I64_RANGE, bounds);
        let representation = if wide { Representation::I128 } else { Representation::I64 };
        let shape = ColumnShape { data_type, representation, bounds: Some(bounds), nullable };
        (Self { data_type, check, wide }, shape)
    }

    pub fn fallible(&self) -> bool {
        self.check.is_some()
    }

    pub fn error(&self) -> SqlError {
        out_of_range(self.data_type)
    }

    /// From 64-bit results.
    pub fn narrow(&self, values: Vec<i64>, validity: Option<&Bitmap>) -> SqlResult<Values> {
        if let Some(range) = self.check {
            // A range beyond 64 bits holds every value.
            let low = range.0.max(I64_RANGE.0) as i64;
            let high = range.1.min(I64_RANGE.1) as i64;
            if any_valid(&values, validity, |it| it < low || it > high) {
                return Err(self.error());
            }
        }
        if self.wide {
            Ok(Values::I128(map1(&values, i128::from)))
        } else {
            Ok(Values::I64(values))
        }
    }

    /// From 128-bit results.
    pub fn widen(&self, values: Vec<i128>, validity: Option<&Bitmap>) -> SqlResult<Values> {
        if let Some((low, high)) = self.check
            && any_valid(&values, validity, |it| it < low || it > high)
        {
            return Err(self.error());
        }
        if self.wide {
            Ok(Values::I128(values))
        } else {
            Ok(Values::I64(map1(&values, |it| it as i64)))
        }
    }
}

/// Multiplies or divides by a constant; a factor of 1 only changes the type or the width.
#[derive(Debug)]
struct Scale {
    operand: Node,
    factor: i128,
    divide: bool,
    /// Products that 128 bits do not hold become the greatest number: right for comparisons, where the other side is
    /// below 10^38.
    saturating: bool,
    /// Whether the operand's bounds prove that 64 bits do.
    in_64: bool,
    finish: Finish,
}

impl Kernel for Scale {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let validity = argument.validity();
        let values = if self.in_64 {
            let factor = self.factor as i64;
            let values = match (self.divide, factor) {
                (_, 1) => map2(batch.rows, argument.i64(), Lanes::Constant(()), |it, ()| it),
                (false, _) => {
                    map2(batch.rows, argument.i64(), Lanes::Constant(factor), i64::wrapping_mul)
                }
                (true, _) => map2(batch.rows, argument.i64(), Lanes::Constant(factor), |a, b| {
                    divide_rounded(i128::from(a), i128::from(b)) as i64
                }),
            };
            self.finish.narrow(values, validity)?
        } else {
            let values = if self.operand.is_wide() {
                self.scaled(batch.rows, argument.i128(), validity)?
            } else {
                let wide =
                    map2(batch.rows, argument.i64(), Lanes::Constant(()), |it, ()| i128::from(it));
                self.scaled(batch.rows, Lanes::Slice(&wide), validity)?
            };
            self.finish.widen(values, validity)?
        };
        Ok(Vector { values, validity: validity.cloned() })
    }
}

impl Scale {
    fn scaled(
        &self,
        rows: usize,
        values: Lanes<'_, i128>,
        validity: Option<&Bitmap>,
    ) -> SqlResult<Vec<i128>> {
        let factor = Lanes::Constant(self.factor);
        if self.factor == 1 {
            return Ok(map2(rows, values, Lanes::Constant(()), |it, ()| it));
        }
        if self.divide {
            return Ok(map2(rows, values, factor, divide_rounded));
        }
        if self.saturating {
            return Ok(map2(rows, values, factor, i128::saturating_mul));
        }
        let pairs = map2(rows, values, factor, i128::overflowing_mul);
        if any_valid(&pairs, validity, |(_, overflow)| overflow) {
            return Err(self.finish.error());
        }
        Ok(map1(&pairs, |(value, _)| value))
    }
}

fn scale(operand: Node, factor: i128, divide: bool, to: DataType, saturating: bool) -> Node {
    let bounds = bounds_of(&operand.shape);
    let raw = if divide {
        Some((divide_rounded(bounds.0, factor), divide_rounded(bounds.1, factor)))
    } else {
        multiply(bounds, (factor, factor))
    };
    let nullable = operand.shape.nullable;
    let (mut finish, mut shape) = Finish::new(to, raw, nullable);
    if saturating {
        // Only compared with: no value is refused, whatever the precision says.
        let bounds = raw.unwrap_or((i128::MIN, i128::MAX));
        finish = Finish { check: None, wide: !contains(I64_RANGE, bounds), ..finish };
        shape.bounds = Some(bounds);
        shape.representation = if finish.wide { Representation::I128 } else { Representation::I64 };
    }
    let in_64 = !operand.is_wide()
        && raw.is_some_and(|it| contains(I64_RANGE, it))
        && contains(I64_RANGE, (factor, factor));
    let facts = Facts::of([&operand]).or_fallible(finish.fallible());
    Node::new(shape, facts, Scale { operand, factor, divide, saturating, in_64, finish })
}

/// The same number with the scale and range of an exact type; digits that go are rounded half away from zero.
pub(super) fn rescaled(operand: Node, to: DataType) -> Node {
    if operand.is_null() {
        return Node::null(to);
    }
    let from_scale = operand.shape.data_type.scale();
    let proven = contains(type_range(to), bounds_of(&operand.shape));
    if from_scale == to.scale() && proven {
        return operand.relabelled(to);
    }
    let exponent = u32::from(from_scale.abs_diff(to.scale()));
    let factor = power_of_ten(exponent).expect("invariant: scales are at most 38");
    scale(operand, factor, from_scale > to.scale(), to, false)
}

/// The number times a constant, as another type (days as microseconds).
pub(super) fn multiplied(operand: Node, factor: i128, to: DataType) -> Node {
    scale(operand, factor, false, to, false)
}

/// The same number with more digits after the point, for a comparison.
pub(super) fn with_scale(operand: Node, to_scale: u8) -> Node {
    let exponent = u32::from(to_scale - operand.shape.data_type.scale());
    if exponent == 0 {
        return operand;
    }
    let factor = power_of_ten(exponent).expect("invariant: scales are at most 38");
    let to = DataType::Decimal { precision: 38, scale: to_scale };
    scale(operand, factor, false, to, true)
}

/// The same number held in 128 bits.
pub(super) fn widened(mut operand: Node) -> Node {
    if operand.is_wide() {
        return operand;
    }
    if matches!(operand.body, Body::Constant(_)) {
        operand.shape.representation = Representation::I128;
        return operand;
    }
    let (data_type, bounds) = (operand.shape.data_type, operand.shape.bounds);
    let nullable = operand.shape.nullable;
    let finish = Finish { data_type, check: None, wide: true };
    let shape = ColumnShape { data_type, representation: Representation::I128, bounds, nullable };
    let facts = Facts::of([&operand]);
    let kernel =
        Scale { operand, factor: 1, divide: false, saturating: false, in_64: true, finish };
    Node { shape, facts, body: Body::Kernel(Box::new(kernel)) }
}
