//! Dates and timestamps as they are written, where a zone moves the time to UTC.

use types::SqlResult;
use types::numeric::datetime::parse_timestamp;

use crate::calendar::{MICROS_PER_DAY, MICROS_PER_SECOND};
use crate::error::timestamp_range;

/// The day and microseconds of it. Errors: 22007, 22008.
pub(crate) fn parse(text: &str) -> SqlResult<(i64, i64)> {
    let local = parse_timestamp(text)?;
    let ahead = zone(text.trim_end()).unwrap_or(0);
    let micros = local.checked_sub(ahead).ok_or_else(timestamp_range)?;
    Ok((micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY)))
}

/// Microseconds that the zone at the end of a timestamp, `+01`, `-0530` or `+05:30`, is ahead of UTC. The text as a whole
/// was found to be one.
fn zone(text: &str) -> Option<i64> {
    let (time, zone) = text.split_at(text.rfind(['+', '-'])?);
    // Else it is the date's.
    time.contains(':').then_some(())?;
    let digits: String = zone[1..].chars().filter(|&it| it != ':').collect();
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 = if digits.len() >= 4 { digits.get(2..4)?.parse().ok()? } else { 0 };
    let micros = (hours * 60 + minutes) * 60 * MICROS_PER_SECOND;
    Some(if zone.starts_with('-') { -micros } else { micros })
}
