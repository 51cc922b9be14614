//! Floats: operators that notice overflow and underflow, conversions, and the order in which NaN is the greatest.
//!
//! REAL and DOUBLE PRECISION are both held in 64 bits; a REAL is rounded to 32 after each step.

use std::cmp::Ordering;

use super::digits::Digits;
use super::errors::{division_by_zero, not_a_number, out_of_range, overflow, underflow};
use super::types::Arithmetic;
use super::{decimal, errors};
use crate::{DataType, SqlResult};

/// Whole numbers up to 2^53 are floats without rounding.
const EXACT_WHOLE: u128 = 1 << 53;
/// Powers of ten up to this are floats without rounding.
const EXACT_POWER: u8 = 22;

/// The order of two floats: NaN equals itself and is greater than all others; both zeros are equal.
pub fn compare(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// `left op right`; `single` for REAL. There is no remainder of floats in SQL: it is that of the truncating division.
pub fn arithmetic(op: Arithmetic, left: f64, right: f64, single: bool) -> SqlResult<f64> {
    if matches!(op, Arithmetic::Divide | Arithmetic::Modulo) && right == 0.0 && !left.is_nan() {
        return Err(division_by_zero());
    }
    let exact = match op {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        Arithmetic::Modulo => left % right,
    };
    let result = if single { f64::from(exact as f32) } else { exact };
    if result.is_infinite() && overflows(op, left, right) {
        return Err(overflow());
    }
    if result == 0.0 && underflows(op, left, right) {
        return Err(underflow());
    }
    Ok(result)
}

/// Whether an infinite result comes of finite operands. An infinite divisor gives none.
pub fn overflows(op: Arithmetic, left: f64, right: f64) -> bool {
    left.is_finite() && (op == Arithmetic::Divide || right.is_finite())
}

/// Whether a result of zero comes of operands that give none.
pub fn underflows(op: Arithmetic, left: f64, right: f64) -> bool {
    match op {
        Arithmetic::Multiply => left != 0.0 && right != 0.0,
        Arithmetic::Divide => left != 0.0 && !right.is_infinite(),
        _ => false,
    }
}

/// A DOUBLE PRECISION as REAL.
pub fn to_single(value: f64) -> SqlResult<f64> {
    let single = f64::from(value as f32);
    if single.is_infinite() && value.is_finite() {
        return Err(overflow());
    }
    if single == 0.0 && value != 0.0 {
        return Err(underflow());
    }
    Ok(single)
}

/// The float nearest to an exact number; `single` for REAL.
pub fn of_exact(unscaled: i128, scale: u8, single: bool) -> f64 {
    if scale == 0 {
        return if single { f64::from(unscaled as f32) } else { unscaled as f64 };
    }
    if !single && unscaled.unsigned_abs() <= EXACT_WHOLE && scale <= EXACT_POWER {
        // Both are without rounding, so the quotient is rounded once.
        return unscaled as f64 / 10_f64.powi(i32::from(scale));
    }
    let spelt = format!("{unscaled}e-{scale}");
    if single {
        spelt.parse::<f32>().map_or(f64::NAN, f64::from)
    } else {
        spelt.parse().unwrap_or(f64::NAN)
    }
}

/// A float as the unscaled integer of an exact type. Integers round half to even; decimals take the 15 digits (6 of a REAL)
/// that every float keeps, and round those half away from zero.
pub fn to_exact(value: f64, single: bool, to: DataType) -> SqlResult<i128> {
    if to.is_integer() || matches!(to, DataType::Whole(_)) {
        let rounded = value.round_ties_even();
        // NaN is in no range, and what is beyond 128 bits becomes the greatest number of them, which no type holds.
        let within = rounded.abs() < 1e39;
        return Some(rounded as i128)
            .filter(|&it| within && decimal::fits(it, to))
            .ok_or_else(|| out_of_range(to));
    }
    if value.is_nan() {
        return Err(not_a_number());
    }
    if value.is_infinite() {
        return Err(out_of_range(to));
    }
    let spelt = if single { format!("{value:.5e}") } else { format!("{value:.14e}") };
    let digits = Digits::parse(&spelt).ok_or_else(|| errors::invalid_text(&spelt, to))?;
    let unscaled = digits.at_scale(to.scale()).filter(|&it| decimal::fits(it, to));
    unscaled.ok_or_else(|| out_of_range(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_round_once() {
        assert_eq!(of_exact(1, 1, false), 0.1);
        assert_eq!(of_exact(3, 1, true), f64::from(0.3_f32));
        assert_eq!(of_exact(12345678901234567, 16, false), 1.234_567_890_123_456_7);
        assert_eq!(of_exact(16777217, 0, true), 16777216.0);
        let tenth = DataType::Decimal { precision: 20, scale: 18 };
        assert_eq!(to_exact(0.1 + 0.2, false, tenth), Ok(300_000_000_000_000_000));
        assert_eq!(to_exact(f64::from(0.1_f32), true, tenth), Ok(100_000_000_000_000_000));
        assert_eq!(to_exact(2.5, false, DataType::Integer), Ok(2));
        assert_eq!(to_exact(3.5, false, DataType::Integer), Ok(4));
        let error = |it, to| to_exact(it, false, to).map_err(|it| it.state.0);
        assert_eq!(error(2147483647.5, DataType::Integer), Err("22003"));
        assert_eq!(error(f64::NAN, DataType::BigInt), Err("22003"));
        assert_eq!(error(9.3e18, DataType::BigInt), Err("22003"));
        assert_eq!(error(f64::NAN, tenth), Err("0A000"));
        assert_eq!(error(1e300, tenth), Err("22003"));
    }

    #[test]
    fn operators_notice_their_limits() {
        use Arithmetic::{Add, Divide, Multiply};
        let message = |op, a, b| arithmetic(op, a, b, false).map_err(|it| it.message);
        assert_eq!(message(Add, 1e308, 1e308), Err("value out of range: overflow".into()));
        assert_eq!(message(Multiply, 1e-200, 1e-200), Err("value out of range: underflow".into()));
        assert_eq!(message(Divide, 1.0, f64::INFINITY), Ok(0.0));
        assert_eq!(message(Add, f64::INFINITY, 1.0), Ok(f64::INFINITY));
        assert_eq!(message(Divide, 1.0, 0.0), Err("division by zero".into()));
        assert!(arithmetic(Divide, f64::NAN, 0.0, false).is_ok_and(f64::is_nan));
        assert_eq!(arithmetic(Multiply, 1e30, 1e30, true).map_err(|it| it.state.0), Err("22003"));
    }

    #[test]
    fn nan_is_the_greatest() {
        assert_eq!(compare(f64::NAN, f64::NAN), Ordering::Equal);
        assert_eq!(compare(f64::NAN, f64::INFINITY), Ordering::Greater);
        assert_eq!(compare(1.0, f64::NAN), Ordering::Less);
        assert_eq!(compare(0.0, -0.0), Ordering::Equal);
    }
}
