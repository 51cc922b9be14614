//! What holds the dates and timestamps that are before all others, and behind them.
//!
//! Key decision: they are the least and the greatest integer that a date or a timestamp is held in, so that order, statistics,
//! codes and files need no new arm. Whoever computes with days or microseconds asks for them first.

/// What holds the dates that are before all others, and behind them.
pub const INFINITE_DAYS: (i32, i32) = (i32::MIN, i32::MAX);
/// What holds the timestamps that are before all others, and behind them.
pub const INFINITE_MICROS: (i64, i64) = (i64::MIN, i64::MAX);

/// Whether what a date holds is `infinity` or `-infinity`.
pub fn is_infinite_day(days: i64) -> bool {
    days == i64::from(i32::MIN) || days == i64::from(i32::MAX)
}

/// Whether what a timestamp holds is `infinity` or `-infinity`.
pub fn is_infinite(micros: i64) -> bool {
    micros == i64::MIN || micros == i64::MAX
}
