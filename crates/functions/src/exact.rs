//! Functions of exact numbers: integers, and decimals as integers with a scale.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType as ArrowType;
use plan::Function;
use types::numeric::decimal;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::bit_strings;
use crate::call::{Call, Exact};
use crate::error::{division_by_zero, out_of_range};
use crate::float;

/// abs, sign, ceil, floor, round and trunc: of a float, or of an exact number.
pub(crate) fn rounding(call: &Call<'_>) -> SqlResult<ArrayRef> {
    match call.argument(0)?.data_type() {
        ArrowType::Float64 if call.count() == 2 => float::to_digits(call),
        ArrowType::Float64 => float::unary(call),
        ArrowType::Float32 => {
            let values = call.primitive::<Float32Type>(0)?;
            call.map::<Float32Type>(|row| Ok(values.value(row).abs()))
        }
        _ => exact(call),
    }
}

fn exact(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.exact(0)?;
    let scale = i64::from(values.scale());
    let to = i64::from(call.result.scale());
    match call.function {
        Function::Abs => call.map_exact(|row| Ok(values.at(row).wrapping_abs())),
        Function::Sign => call.map_exact(|row| Ok(values.at(row).signum())),
        function => {
            let wanted = call.optional_integers(1)?;
            call.map_exact(|row| {
                let digits = wanted.map_or(0, |it| it.at(row));
                cut(function, values.at(row), scale, digits.clamp(-100, 100), to)
                    .ok_or_else(|| out_of_range(call.result))
            })
        }
    }
}

/// A number of one scale cut to so many digits, as a number of another scale. `None` when it does not fit.
fn cut(function: Function, value: i128, scale: i64, digits: i64, to: i64) -> Option<i128> {
    if digits >= scale {
        return rescale(value, scale, to);
    }
    let Some(unit) = power_of_ten(scale - digits) else {
        // Half a unit is more than any value.
        return Some(0);
    };
    let (quotient, rest) = (value / unit, value % unit);
    let step = match function {
        Function::Ceil => i128::from(rest > 0),
        Function::Floor => -i128::from(rest < 0),
        Function::Round => decimal::divide_rounded(value, unit) - quotient,
        _ => 0,
    };
    rescale(quotient + step, digits, to)
}

/// The digits of a number at another scale. `None` when they do not fit; a smaller scale loses none here.
fn rescale(value: i128, scale: i64, to: i64) -> Option<i128> {
    if to >= scale {
        if value == 0 { Some(0) } else { value.checked_mul(power_of_ten(to - scale)?) }
    } else {
        Some(value / power_of_ten(scale - to)?)
    }
}

fn power_of_ten(exponent: i64) -> Option<i128> {
    decimal::power_of_ten(u32::try_from(exponent).ok()?)
}

/// Whether numbers are zero.
pub(crate) fn is_zero(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let array = call.argument(0)?;
    if let Some(values) = array.as_primitive_opt::<Float64Type>() {
        return call.map_booleans(|row| Ok(values.value(row) == 0.0));
    }
    if let Some(values) = array.as_primitive_opt::<Float32Type>() {
        return call.map_booleans(|row| Ok(values.value(row) == 0.0));
    }
    let values = call.exact(0)?;
    call.map_booleans(|row| Ok(values.at(row) == 0))
}

/// How many digits after the point numbers have, or need.
pub(crate) fn digits_behind(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.exact(0)?;
    call.map_integers(|row| {
        let (mut value, mut scale) = (values.at(row), values.scale() as usize);
        while call.function == Function::MinScale && scale > 0 && value % 10 == 0 {
            (value, scale) = (value / 10, scale - 1);
        }
        Ok(scale)
    })
}

/// mod, div, gcd and lcm.
pub(crate) fn division(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.exact(0)?, call.exact(1)?);
    let scale = left.scale().max(right.scale());
    let range = || out_of_range(call.result);
    let aligned = |side: Exact<'_>, row: usize| {
        let value = rescale(side.at(row), i64::from(side.scale()), i64::from(scale));
        value.ok_or_else(range)
    };
    call.map_exact(|row| {
        let (left, right) = (aligned(left, row)?, aligned(right, row)?);
        match call.function {
            Function::Gcd => Ok(gcd(left, right)),
            Function::Lcm if left == 0 || right == 0 => Ok(0),
            Function::Lcm => {
                let part = left / gcd(left, right);
                part.checked_mul(right).map(i128::abs).ok_or_else(range)
            }
            _ if right == 0 => Err(division_by_zero()),
            Function::Mod => Ok(left.wrapping_rem(right)),
            _ => Ok(left.wrapping_div(right)),
        }
    })
}

/// Operators on the bits of whole numbers. Like PostgreSQL's, a shift goes by the number of places modulo the width that is
/// computed with: 32 bits, for BIGINT 64.
pub(crate) fn bits(call: &Call<'_>) -> SqlResult<ArrayRef> {
    if call.is_text(0) {
        return bit_strings::operators(call);
    }
    let left = call.exact(0)?;
    if call.function == Function::BitwiseNot {
        return call.map_exact(|row| Ok(!left.at(row)));
    }
    let right = call.exact(1)?;
    let is_wide = call.result == DataType::BigInt;
    let is_huge = matches!(call.result, DataType::Decimal { .. });
    call.map_exact(|row| {
        let (value, other) = (left.at(row), right.at(row));
        let places = other as u32;
        Ok(match call.function {
            Function::ShiftLeft if is_huge => return shifted(value, other, call.result),
            Function::ShiftRight if is_huge => match u32::try_from(other) {
                Ok(places @ 0..127) => value >> places,
                _ => 0,
            },
            Function::BitwiseAnd => value & other,
            Function::BitwiseOr => value | other,
            Function::BitwiseXor => value ^ other,
            Function::ShiftLeft if is_wide => (value as i64).wrapping_shl(places).into(),
            Function::ShiftRight if is_wide => (value as i64).wrapping_shr(places).into(),
            Function::ShiftLeft if call.result == DataType::SmallInt => {
                ((value as i32).wrapping_shl(places) as i16).into()
            }
            Function::ShiftLeft => (value as i32).wrapping_shl(places).into(),
            _ => (value as i32).wrapping_shr(places).into(),
        })
    })
}

/// A number of 38 digits times a power of two: no bit is lost, as in DuckDB.
fn shifted(value: i128, places: i128, to: DataType) -> SqlResult<i128> {
    let places = u32::try_from(places).ok().filter(|it| *it < 127 || value == 0);
    match (places, value) {
        (Some(_), 0) => Ok(0),
        (Some(places), 1..) => value.checked_mul(1 << places).ok_or_else(|| out_of_range(to)),
        _ => Err(out_of_range(to)),
    }
}

/// The greatest common divisor, never negative.
fn gcd(left: i128, right: i128) -> i128 {
    let (mut left, mut right) = (left.unsigned_abs(), right.unsigned_abs());
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left as i128
}

/// n!
pub(crate) fn factorial(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.integers(0)?;
    call.map_exact(|row| {
        let n = values.at(row);
        if n < 0 {
            let message = "factorial of a negative number is undefined";
            return Err(SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        // 34! has more than 38 digits: the loop ends soon, however large n is.
        (1..=i128::from(n))
            .try_fold(1i128, i128::checked_mul)
            .ok_or_else(|| out_of_range(call.result))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_away_from_zero_at_every_scale() {
        let round = |value, scale, digits, to| cut(Function::Round, value, scale, digits, to);
        assert_eq!(round(125, 2, 1, 1), Some(13));
        assert_eq!(round(-125, 2, 1, 1), Some(-13));
        assert_eq!(round(125, 2, 1, 2), Some(130));
        assert_eq!(round(124, 2, 1, 1), Some(12));
        assert_eq!(round(15, 0, -1, 0), Some(20));
        assert_eq!(round(15, 0, -40, 0), Some(0));
        assert_eq!(round(15, 1, 4, 4), Some(15_000));
        assert_eq!(cut(Function::Ceil, -15, 1, 0, 0), Some(-1));
        assert_eq!(cut(Function::Floor, -15, 1, 0, 0), Some(-2));
        assert_eq!(cut(Function::Trunc, -15, 1, 0, 0), Some(-1));
    }
}
