//! `+ - *` and negation on exact numbers and floats. Division has a file of its own.

use plan::BinaryOperator;
use types::numeric::{Arithmetic, errors, float};
use types::{DataType, SqlError, SqlResult};

use super::any_scale::any_scale;
use super::division;
use super::float::to_float;
use super::integers::{self, Finish, I64_RANGE, Interval, bounds_of, contains, rescaled, widened};
use super::kernels::{Lanes, any_valid, both_valid, extent, map1, map2};
use super::node::{Facts, Kernel, Node};
use super::per_value::per_value;
use super::scale::{common_scale_fits, decimal_range, type_of_scale, with_common_scale};
use crate::{Batch, Bitmap, ColumnShape, Values, Vector};

/// Compiles `left operator right`.
pub(super) fn arithmetic(
    operator: BinaryOperator,
    left: Node,
    right: Node,
    data_type: DataType,
) -> SqlResult<Node> {
    if left.is_null() || right.is_null() {
        return Ok(Node::null(data_type));
    }
    if data_type == DataType::Numeric {
        return any_scale(arithmetic_of(operator), left, right);
    }
    if data_type.is_float() {
        return Ok(float_arithmetic(operator, to_float(left)?, to_float(right)?, data_type));
    }
    for operand in [&left, &right] {
        let data_type = operand.shape.data_type;
        if data_type.is_float() || data_type.stored().is_text() || data_type == DataType::Boolean {
            return Err(SqlError::internal(format!("{} on {data_type}", operator.sql())));
        }
    }
    match operator {
        BinaryOperator::Divide => Ok(division::divide(left, right, data_type)),
        BinaryOperator::Modulo => Ok(division::modulo(left, right, data_type)),
        _ => Ok(exact(operator, left, right, data_type)),
    }
}

/// The operator as the scalar semantics name it; execution computes no other on numbers.
pub(super) fn arithmetic_of(operator: BinaryOperator) -> Arithmetic {
    match operator {
        BinaryOperator::Add => Arithmetic::Add,
        BinaryOperator::Subtract => Arithmetic::Subtract,
        BinaryOperator::Multiply => Arithmetic::Multiply,
        BinaryOperator::Divide => Arithmetic::Divide,
        _ => Arithmetic::Modulo,
    }
}

/// Whether no step on the way to a result of a type overflows where the result does not.
fn steps_fit(operator: BinaryOperator, left: &Node, right: &Node, data_type: DataType) -> bool {
    if operator != BinaryOperator::Multiply {
        return common_scale_fits(left, right);
    }
    let scale = left.shape.data_type.scale() + right.shape.data_type.scale();
    let product = || integers::multiply(bounds_of(&left.shape), bounds_of(&right.shape));
    let gone = scale.saturating_sub(data_type.scale());
    gone == 0 || gone <= 38 && product().is_some_and(|it| contains(decimal_range(), it))
}

fn exact(operator: BinaryOperator, left: Node, right: Node, data_type: DataType) -> Node {
    if !steps_fit(operator, &left, &right, data_type) {
        return per_value(arithmetic_of(operator), left, right, data_type);
    }
    let (left, right, scale) = match operator {
        BinaryOperator::Multiply => {
            let scale = left.shape.data_type.scale() + right.shape.data_type.scale();
            (left, right, scale)
        }
        _ => with_common_scale(left, right),
    };
    let raw = interval(operator, bounds_of(&left.shape), bounds_of(&right.shape));
    let computed = type_of_scale(scale, data_type);
    let facts = Facts::of([&left, &right]);
    let (finish, shape) = Finish::new(computed, raw, facts.nullable);
    let narrow = !left.is_wide() && !right.is_wide();
    let in_64 = narrow && raw.is_some_and(|it| contains(I64_RANGE, it));
    let (left, right) = if narrow { (left, right) } else { (widened(left), widened(right)) };
    let facts = facts.or_fallible(finish.fallible());
    let kernel = Exact { operator, left, right, narrow, in_64, proven: raw.is_some(), finish };
    rescaled(Node::new(shape, facts, kernel), data_type)
}

fn interval(operator: BinaryOperator, a: Interval, b: Interval) -> Option<Interval> {
    match operator {
        BinaryOperator::Add => integers::add(a, b),
        BinaryOperator::Subtract => integers::subtract(a, b),
        _ => integers::multiply(a, b),
    }
}

#[derive(Debug)]
struct Exact {
    operator: BinaryOperator,
    left: Node,
    right: Node,
    /// Whether both operands are held in 64 bits.
    narrow: bool,
    /// Whether the bounds prove that 64 bits hold the result.
    in_64: bool,
    /// Whether the bounds prove that 128 bits do.
    proven: bool,
    finish: Finish,
}

impl Kernel for Exact {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let left = self.left.argument(batch)?;
        let right = self.right.argument(batch)?;
        let validity = both_valid(left.validity(), right.validity());
        let rows = batch.rows;
        let values = if self.narrow {
            self.narrow(rows, left.i64(), right.i64(), validity.as_ref())?
        } else {
            let values = self.wide(rows, left.i128(), right.i128(), validity.as_ref())?;
            self.finish.widen(values, validity.as_ref())?
        };
        Ok(Vector { values, validity })
    }

    fn exact(&self) -> Option<(BinaryOperator, &Node, &Node)> {
        let safe = self.narrow && self.in_64 && !self.finish.wide && !self.finish.fallible();
        safe.then_some((self.operator, &self.left, &self.right))
    }
}

impl Exact {
    fn narrow(
        &self,
        rows: usize,
        left: Lanes<'_, i64>,
        right: Lanes<'_, i64>,
        validity: Option<&Bitmap>,
    ) -> SqlResult<Values> {
        if self.in_64 || (!self.finish.wide && self.prevented(left, right)) {
            let values = match self.operator {
                BinaryOperator::Add => map2(rows, left, right, i64::wrapping_add),
                BinaryOperator::Subtract => map2(rows, left, right, i64::wrapping_sub),
                _ => map2(rows, left, right, i64::wrapping_mul),
            };
            return self.finish.narrow(values, validity);
        }
        // Sums and products of 64-bit numbers always fit 128 bits.
        let wide = i128::from;
        let values = match self.operator {
            BinaryOperator::Add => map2(rows, left, right, |a, b| wide(a) + wide(b)),
            BinaryOperator::Subtract => map2(rows, left, right, |a, b| wide(a) - wide(b)),
            _ => map2(rows, left, right, |a, b| wide(a) * wide(b)),
        };
        self.finish.widen(values, validity)
    }

    /// Whether the values of these vectors happen to prove that 64 bits hold the results.
    fn prevented(&self, left: Lanes<'_, i64>, right: Lanes<'_, i64>) -> bool {
        let bounds = |lanes| {
            let (low, high) = match lanes {
                Lanes::Slice(values) => extent(values).unwrap_or((0, 0)),
                Lanes::Constant(value) => (value, value),
            };
            (i128::from(low), i128::from(high))
        };
        interval(self.operator, bounds(left), bounds(right))
            .is_some_and(|it| contains(I64_RANGE, it))
    }

    fn wide(
        &self,
        rows: usize,
        left: Lanes<'_, i128>,
        right: Lanes<'_, i128>,
        validity: Option<&Bitmap>,
    ) -> SqlResult<Vec<i128>> {
        if self.proven {
            return Ok(match self.operator {
                BinaryOperator::Add => map2(rows, left, right, i128::wrapping_add),
                BinaryOperator::Subtract => map2(rows, left, right, i128::wrapping_sub),
                _ => map2(rows, left, right, i128::wrapping_mul),
            });
        }
        let pairs = match self.operator {
            BinaryOperator::Add => map2(rows, left, right, i128::overflowing_add),
            BinaryOperator::Subtract => map2(rows, left, right, i128::overflowing_sub),
            _ => map2(rows, left, right, i128::overflowing_mul),
        };
        if any_valid(&pairs, validity, |(_, overflow)| overflow) {
            return Err(self.finish.error());
        }
        Ok(map1(&pairs, |(value, _)| value))
    }
}

/// Compiles `- operand`.
pub(super) fn negate(operand: Node, data_type: DataType) -> SqlResult<Node> {
    if operand.is_null() {
        return Ok(Node::null(data_type));
    }
    if operand.shape.data_type.is_float() {
        let minus_one = Node::constant(types::Value::Float(-1.0), DataType::Double);
        return Ok(float_arithmetic(BinaryOperator::Multiply, operand, minus_one, data_type));
    }
    let zero = Node::constant(types::Value::Integer(0), DataType::Integer);
    arithmetic(BinaryOperator::Subtract, zero, operand, data_type)
}

fn float_arithmetic(
    operator: BinaryOperator,
    left: Node,
    right: Node,
    data_type: DataType,
) -> Node {
    let facts = Facts::of([&left, &right]).or_fallible(true);
    let shape = ColumnShape::computed(data_type, facts.nullable);
    let single = data_type == DataType::Real;
    Node::new(shape, facts, Float { operator, left, right, single })
}

#[derive(Debug)]
struct Float {
    operator: BinaryOperator,
    left: Node,
    right: Node,
    /// REAL: results are rounded to 32 bits.
    single: bool,
}

impl Kernel for Float {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let left = self.left.argument(batch)?;
        let right = self.right.argument(batch)?;
        let (a, b) = (left.f64(), right.f64());
        let validity = both_valid(left.validity(), right.validity());
        let rows = batch.rows;
        if matches!(self.operator, BinaryOperator::Divide | BinaryOperator::Modulo) {
            let by_zero = map2(rows, a, b, |a, b| b == 0.0 && !a.is_nan());
            if any_valid(&by_zero, validity.as_ref(), |it| it) {
                return Err(errors::division_by_zero());
            }
        }
        let mut values = match self.operator {
            BinaryOperator::Add => map2(rows, a, b, |a, b| a + b),
            BinaryOperator::Subtract => map2(rows, a, b, |a, b| a - b),
            BinaryOperator::Multiply => map2(rows, a, b, |a, b| a * b),
            BinaryOperator::Divide => map2(rows, a, b, |a, b| a / b),
            _ => map2(rows, a, b, |a, b| a % b),
        };
        if self.single {
            values.iter_mut().for_each(|it| *it = f64::from(*it as f32));
        }
        let validity_of = validity.as_ref();
        let operator = arithmetic_of(self.operator);
        // Few batches have such results, and only those are looked at again.
        if any_valid(&values, validity_of, f64::is_infinite) {
            let overflows = map2(rows, a, b, |a, b| float::overflows(operator, a, b));
            if any_both(&values, f64::is_infinite, &overflows, validity_of) {
                return Err(errors::overflow());
            }
        }
        if matches!(operator, Arithmetic::Multiply | Arithmetic::Divide)
            && any_valid(&values, validity_of, |it| it == 0.0)
        {
            let underflows = map2(rows, a, b, |a, b| float::underflows(operator, a, b));
            if any_both(&values, |it| it == 0.0, &underflows, validity_of) {
                return Err(errors::underflow());
            }
        }
        Ok(Vector { values: Values::F64(values), validity })
    }
}

/// Whether in any row that is not NULL a value is of a kind and a flag is set.
fn any_both(
    values: &[f64],
    is: impl Fn(f64) -> bool,
    flags: &[bool],
    validity: Option<&Bitmap>,
) -> bool {
    let valid = |row| validity.is_none_or(|map| map.get(row));
    let mut rows = values.iter().zip(flags).enumerate();
    rows.any(|(row, (&value, &flag))| flag && is(value) && valid(row))
}
