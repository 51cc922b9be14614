//! The order of values that do not compare as plain integers.

use std::cmp::Ordering;

use crate::value::text_of;
use crate::{ColumnShape, Representation};

/// Codes of a dictionary are in the order of their values, positions of a plain column are not.
pub fn compare_codes(shape: &ColumnShape, left: u32, right: u32) -> Ordering {
    match &shape.representation {
        Representation::Codes(column) => match column.encoding {
            storage::Encoding::Dictionary(_) => left.cmp(&right),
            _ => text_of(column, left).as_bytes().cmp(text_of(column, right).as_bytes()),
        },
        _ => unreachable!("invariant: a vector is held as its shape says"),
    }
}

/// Postgres's order of floats: NaN is the greatest and equals itself, and both zeros are one.
pub fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}
