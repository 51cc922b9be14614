//! Division and remainder of exact numbers. Only rows that are not NULL can raise an error.

use types::numeric::Arithmetic;
use types::numeric::decimal::{divide_rounded, multiply_divide, power_of_ten};
use types::numeric::errors::division_by_zero;
use types::{DataType, SqlResult};

use super::integers::{Finish, I64_RANGE, bounds_of, contains, multiply, rescaled, widened};
use super::kernels::{Lanes, any_valid, both_valid, map1, map2};
use super::node::{Facts, Kernel, Node};
use super::per_value::per_value;
use super::scale::{common_scale_fits, type_of_scale, with_common_scale};
use crate::{Batch, Bitmap, Vector};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Truncate,
    Round,
    Remainder,
    /// The divisor is a constant that the factor is a multiple of: the dividend is multiplied with their quotient, and
    /// nothing is left to round.
    Exact,
}

#[derive(Debug)]
struct Division {
    rule: Rule,
    left: Node,
    right: Node,
    /// What the dividend is multiplied with, so that the quotient has the digits of the result.
    factor: i128,
    /// Whether the multiplied dividend provably fits 64 bits, and both operands are held in 64.
    in_64: bool,
    finish: Finish,
}

/// Compiles `left / right`: integers truncate, decimals round to the scale of the result.
pub(super) fn divide(left: Node, right: Node, data_type: DataType) -> Node {
    let rule = if data_type.is_integer() { Rule::Truncate } else { Rule::Round };
    let digits = i32::from(data_type.scale()) + i32::from(right.shape.data_type.scale())
        - i32::from(left.shape.data_type.scale());
    let Some(factor) = u32::try_from(digits).ok().and_then(power_of_ten) else {
        return per_value(Arithmetic::Divide, left, right, data_type);
    };
    let bounds = bounds_of(&left.shape);
    if let Some(exact) = exact_factor(factor, &right).filter(|_| rule == Rule::Round) {
        let product = multiply(bounds, (exact, exact));
        return division(Rule::Exact, left, right, exact, product, data_type);
    }
    let most = bounds.0.checked_abs().map(|it| it.max(bounds.1.abs()));
    let dividend = most.and_then(|most| multiply((-most, most), (factor, factor)));
    division(rule, left, right, factor, dividend, data_type)
}

/// What a division by a constant multiplies with when that is whole.
fn exact_factor(factor: i128, divisor: &Node) -> Option<i128> {
    let (least, greatest) = bounds_of(&divisor.shape);
    let constant = least == greatest && least != 0 && divisor.as_constant().is_some();
    (constant && !divisor.shape.nullable && factor % least == 0).then(|| factor / least)
}

/// Compiles `left % right`; the result has the sign of the dividend.
pub(super) fn modulo(left: Node, right: Node, data_type: DataType) -> Node {
    if !common_scale_fits(&left, &right) {
        return per_value(Arithmetic::Modulo, left, right, data_type);
    }
    let (left, right, scale) = with_common_scale(left, right);
    let bounds = bounds_of(&left.shape);
    let raw = Some((bounds.0.min(0), bounds.1.max(0)));
    let computed = type_of_scale(scale, data_type);
    rescaled(division(Rule::Remainder, left, right, 1, raw, computed), data_type)
}

fn division(
    rule: Rule,
    left: Node,
    right: Node,
    factor: i128,
    raw: Option<(i128, i128)>,
    data_type: DataType,
) -> Node {
    let facts = Facts::of([&left, &right]).or_fallible(true);
    let (finish, shape) = Finish::new(data_type, raw, facts.nullable);
    let narrow = !left.is_wide() && !right.is_wide();
    let in_64 = narrow && raw.is_some_and(|it| contains(I64_RANGE, it));
    let (left, right) = if in_64 { (left, right) } else { (widened(left), widened(right)) };
    Node::new(shape, facts, Division { rule, left, right, factor, in_64, finish })
}

impl Kernel for Division {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let left = self.left.argument(batch)?;
        let right = self.right.argument(batch)?;
        let validity = both_valid(left.validity(), right.validity());
        let values = if self.in_64 {
            check_divisor(batch.rows, right.i64(), 0, validity.as_ref())?;
            let values = self.narrow(batch.rows, left.i64(), right.i64());
            self.finish.narrow(values, validity.as_ref())?
        } else {
            check_divisor(batch.rows, right.i128(), 0, validity.as_ref())?;
            let values = self.wide(batch.rows, left.i128(), right.i128());
            if any_valid(&values, validity.as_ref(), |it| it.is_none()) {
                return Err(self.finish.error());
            }
            let values = map1(&values, Option::unwrap_or_default);
            self.finish.widen(values, validity.as_ref())?
        };
        Ok(Vector { values, validity })
    }
}

fn check_divisor<T: Copy + PartialEq>(
    rows: usize,
    divisor: Lanes<'_, T>,
    zero: T,
    validity: Option<&Bitmap>,
) -> SqlResult<()> {
    let found = match divisor {
        Lanes::Slice(values) => any_valid(values, validity, |it| it == zero),
        Lanes::Constant(value) => value == zero && any_valid(&vec![(); rows], validity, |()| true),
    };
    if found { Err(division_by_zero()) } else { Ok(()) }
}

impl Division {
    fn narrow(&self, rows: usize, left: Lanes<'_, i64>, right: Lanes<'_, i64>) -> Vec<i64> {
        let factor = self.factor as i64;
        // A NULL may hide any divisor, zero included.
        match self.rule {
            Rule::Truncate => map2(rows, left, right, |a, b| match b {
                0 => 0,
                b => a.wrapping_div(b),
            }),
            Rule::Remainder => map2(rows, left, right, |a, b| match b {
                0 => 0,
                b => a.wrapping_rem(b),
            }),
            Rule::Round => map2(rows, left, right, |a, b| match b {
                0 => 0,
                b => round_64(a.wrapping_mul(factor), b),
            }),
            Rule::Exact => map2(rows, left, right, |a, _| a.wrapping_mul(factor)),
        }
    }

    fn wide(
        &self,
        rows: usize,
        left: Lanes<'_, i128>,
        right: Lanes<'_, i128>,
    ) -> Vec<Option<i128>> {
        match self.rule {
            Rule::Truncate => map2(rows, left, right, |a, b| match b {
                0 => Some(0),
                b => a.checked_div(b),
            }),
            Rule::Remainder => map2(rows, left, right, |a, b| match b {
                0 => Some(0),
                b => Some(a.wrapping_rem(b)),
            }),
            Rule::Round => map2(rows, left, right, |a, b| match b {
                0 => Some(0),
                b => match a.checked_mul(self.factor) {
                    Some(product) => Some(divide_rounded(product, b)),
                    None => multiply_divide(a, self.factor, b),
                },
            }),
            Rule::Exact => map2(rows, left, right, |a, _| a.checked_mul(self.factor)),
        }
    }
}

#[inline]
fn round_64(value: i64, divisor: i64) -> i64 {
    let (quotient, rest) = (value.wrapping_div(divisor), value.wrapping_rem(divisor));
    let up = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    let away = if (value < 0) != (divisor < 0) { -1 } else { 1 };
    quotient.wrapping_add(if up { away } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_half_away_from_zero() {
        for (value, divisor, expected) in
            [(5, 2, 3), (-5, 2, -3), (5, -2, -3), (-5, -2, 3), (4, 3, 1), (5, 3, 2), (-1, 2, -1)]
        {
            assert_eq!(round_64(value, divisor), expected, "{value} / {divisor}");
            assert_eq!(divide_rounded(value.into(), divisor.into()), expected.into());
        }
    }
}
