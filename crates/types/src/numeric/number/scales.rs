//! How many digits behind the point results have that could have any number of them: PostgreSQL's rules, which count in
//! digits of base 10,000.

use super::Finite;

/// Digits behind the point that a computed result has at most.
pub const DISPLAY_SCALE_MAX: u32 = 1_000;
/// Digits that a quotient or a root has at least.
const SIGNIFICANT_MIN: i64 = 16;
/// Decimal digits in one of base 10,000.
const GROUP: i64 = 4;

/// The place of the first digit of base 10,000 of a number, and that digit; zeros of zero.
fn first_digit(of: &Finite) -> (i64, u32) {
    let digits = of.unscaled.magnitude().to_string();
    if digits == "0" {
        return (0, 0);
    }
    let place = digits.len() as i64 - i64::from(of.scale);
    let weight = (place - 1).div_euclid(GROUP);
    let count = ((place - 1).rem_euclid(GROUP) + 1) as usize;
    let first = digits.bytes().chain(std::iter::repeat(b'0')).take(count);
    (weight, first.fold(0, |sum, it| sum * 10 + u32::from(it - b'0')))
}

/// The place of the first digit of base 10,000.
pub(super) fn weight(of: &Finite) -> i64 {
    first_digit(of).0
}

/// The place of the first digit of a number, counted as PostgreSQL does where a logarithm is near to it.
pub(super) fn digits_apart(of: &Finite) -> i64 {
    let (weight, first) = first_digit(of);
    weight * GROUP + f64::from(first).log10() as i64
}

fn limited(scale: i64, at_least: u32) -> u32 {
    scale.max(i64::from(at_least)).clamp(0, i64::from(DISPLAY_SCALE_MAX)) as u32
}

/// Digits behind the point of a quotient.
pub(super) fn of_quotient(a: &Finite, b: &Finite) -> u32 {
    let ((weight_a, first_a), (weight_b, first_b)) = (first_digit(a), first_digit(b));
    let mut weight = weight_a - weight_b;
    if first_a <= first_b {
        weight -= 1;
    }
    limited(SIGNIFICANT_MIN - weight * GROUP, a.scale.max(b.scale))
}

/// Digits behind the point of a square root.
pub(super) fn of_root(of: &Finite) -> u32 {
    let weight = weight(of);
    let half = match weight >= 0 {
        true => weight * GROUP / 2 + 1,
        false => 1 - (-weight * GROUP) / 2,
    };
    limited(SIGNIFICANT_MIN - half, of.scale)
}

/// Digits behind the point of a result that has so many before it, about, and no fewer behind it than an argument.
pub(super) fn of_magnitude(digits_before: i64, at_least: u32) -> u32 {
    limited(SIGNIFICANT_MIN - digits_before, at_least)
}
