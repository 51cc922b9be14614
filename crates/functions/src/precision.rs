//! What a function that makes timestamps keeps of their microseconds.

use plan::Function;

use crate::calendar::MICROS_PER_SECOND;

/// Microseconds cut to what the function keeps.
pub(crate) fn whole(function: Function, micros: i64) -> i64 {
    match function {
        Function::ToTimestampSeconds => micros.div_euclid(MICROS_PER_SECOND) * MICROS_PER_SECOND,
        Function::ToTimestampMillis => micros.div_euclid(1_000) * 1_000,
        _ => micros,
    }
}
