//! Times of day by clocks some way from UTC.
//!
//! Key decision: one is held as a single integer. Its upper bits are the time in UTC, which may lie before the day or behind it, and
//! its lower ones say how far west of UTC its clocks are. So the order of the integers is PostgreSQL's: by the moment of a day, then
//! by the zone; and only what is the same time by the same clocks is equal.

use super::datetime::{DAY, format_time};
use super::errors::out_of_range;
use crate::zone::write_offset;
use crate::{DataType, SqlError, SqlResult, SqlState};

const SECOND: i64 = 1_000_000;
/// Clocks are less than this many seconds from UTC.
const DISTANCE_END: i64 = 16 * 3_600;
const ZONE_BITS: u32 = 17;
/// What is added to a distance, so that it is none below zero.
const ZONE_BIAS: i64 = 1 << (ZONE_BITS - 1);

/// A time of day by clocks some way from UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeTz {
    /// Microseconds from midnight that the clocks show; 24:00 is one.
    pub micros: i64,
    /// Seconds that they are ahead of UTC.
    pub ahead: i64,
}

impl TimeTz {
    /// What clocks show that are so many seconds ahead of UTC.
    ///
    /// # Errors
    /// 22008 for what is no time of a day, 22009 for clocks sixteen hours from UTC and more.
    pub fn new(micros: i64, ahead: i64) -> SqlResult<Self> {
        if !(0..=DAY).contains(&micros) {
            return Err(out_of_range(DataType::TimeTz));
        }
        if ahead.abs() >= DISTANCE_END {
            let message = "time zone displacement out of range";
            return Err(SqlError::new(SqlState("22009"), message));
        }
        Ok(Self { micros, ahead })
    }

    /// What such clocks show at some time, told in microseconds from midnight UTC of any day.
    ///
    /// # Errors
    /// As of [`TimeTz::new`].
    pub fn at(utc: i64, ahead: i64) -> SqlResult<Self> {
        Self::new(utc.saturating_add(ahead.saturating_mul(SECOND)).rem_euclid(DAY), ahead)
    }

    /// The time in microseconds from midnight UTC of the day that the clocks show: it may be before or behind that day there.
    pub fn utc(self) -> i64 {
        self.micros - self.ahead * SECOND
    }

    /// The integer as which it is held.
    pub fn held(self) -> i64 {
        self.utc() << ZONE_BITS | (ZONE_BIAS - self.ahead)
    }

    /// The time that an integer holds.
    pub fn of_held(held: i64) -> Self {
        let ahead = ZONE_BIAS - (held & ((1 << ZONE_BITS) - 1));
        Self { micros: (held >> ZONE_BITS) + ahead * SECOND, ahead }
    }

    /// As PostgreSQL sends it: microseconds of the day, and seconds to the west.
    pub fn sent(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.micros.to_be_bytes());
        bytes[8..].copy_from_slice(&(-self.ahead as i32).to_be_bytes());
        bytes
    }

    /// What PostgreSQL sent.
    ///
    /// # Errors
    /// As of [`TimeTz::new`].
    pub fn of_sent(bytes: [u8; 12]) -> SqlResult<Self> {
        let (micros, west) = bytes.split_at(8);
        let micros = micros.try_into().map_or(-1, i64::from_be_bytes);
        let west = west.try_into().map_or(0, i32::from_be_bytes);
        Self::new(micros, -i64::from(west))
    }

    /// Appends it as PostgreSQL writes it.
    pub fn format(self, out: &mut String) {
        format_time(self.micros, out);
        write_offset(self.ahead, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_moments_and_then_of_zones() {
        let held = |hour: i64, ahead: i64| {
            TimeTz::new(hour * 3_600 * SECOND, ahead * 3_600).map(TimeTz::held).unwrap()
        };
        // In PostgreSQL's order: of one moment the clocks farthest east come first.
        let order = [
            held(0, 15),
            held(1, 5),
            held(0, 4),
            held(0, 0),
            held(12, 2),
            held(10, 0),
            held(8, -2),
        ];
        assert!(order.is_sorted());
        assert!(held(24, -15) > held(24, 0) && held(24, 0) > held(0, 0));
    }

    #[test]
    fn what_is_held_and_sent_is_the_same() {
        for micros in [0, 1, DAY / 2, DAY - 1, DAY] {
            for ahead in [-DISTANCE_END + 1, -1, 0, 12_345, DISTANCE_END - 1] {
                let it = TimeTz::new(micros, ahead).unwrap();
                assert_eq!(TimeTz::of_held(it.held()), it);
                assert_eq!(TimeTz::of_sent(it.sent()), Ok(it));
            }
        }
        for (micros, ahead, state) in [
            (-1, 0, "22008"),
            (DAY + 1, 0, "22008"),
            (0, DISTANCE_END, "22009"),
            (0, i64::MAX, "22009"),
        ] {
            assert_eq!(TimeTz::new(micros, ahead).map_err(|it| it.state.0), Err(state));
        }
        for held in [i64::MIN, i64::MAX, -1] {
            let mut text = String::new();
            TimeTz::of_held(held).format(&mut text);
        }
    }
}
