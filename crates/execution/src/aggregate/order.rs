//! The order of values that do not compare as plain integers.

use std::cmp::Ordering;

/// Postgres's order of floats: NaN is the greatest and equals itself, and both zeros are one.
pub fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}
