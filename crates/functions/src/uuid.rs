//! UUIDs of moments: of version 7 made of one, and what one tells.

use arrow_array::ArrayRef;
use arrow_array::types::{Int16Type, TimestampMicrosecondType};
use plan::Function;
use types::SqlResult;
use types::numeric::uuid;

use crate::call::Call;
use crate::random::generator;

/// Microseconds from the beginning of the calendar of version 1 (1582-10-15) to 1970-01-01.
const GREGORIAN_MICROS: i64 = 12_219_292_800_000_000;

/// UUIDs of version 7: milliseconds, what is left of the microseconds in twelve bits, and random bits.
pub(crate) fn of_moment(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let moments = call.any_moments(0)?;
    let mut prng = generator();
    call.map_texts(|row, out| {
        let (day, micros) = moments.at(row);
        let micros = day.saturating_mul(crate::calendar::MICROS_PER_DAY).saturating_add(micros);
        let (millis, rest) = (micros.div_euclid(1000), micros.rem_euclid(1000));
        let time = u128::from(millis as u64 & ((1 << 48) - 1)) << 80;
        let fraction = ((rest * 4096) / 1000) as u128 | 0x7000;
        let random = u128::from(prng.next_u64() >> 2 | 1 << 63);
        out.push(&uuid::format(time | fraction << 64 | random))
    })
}

/// The version of UUIDs of RFC 9562, or the moment that those of version 1 and 7 tell.
pub(crate) fn part(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let bits = |row: usize| uuid::bits(values.value(row)).filter(|it| it >> 62 & 3 == 2);
    let version = |bits: u128| (bits >> 76 & 15) as i16;
    if call.function == Function::UuidVersion {
        return call.map_optional::<Int16Type>(|row| Ok(bits(row).map(version)));
    }
    call.map_optional::<TimestampMicrosecondType>(|row| {
        let Some(bits) = bits(row) else { return Ok(None) };
        Ok(match version(bits) {
            // Tenths of microseconds in three parts, the lowest first.
            1 => {
                let (low, mid) = (bits >> 96, bits >> 80 & 0xffff);
                let tenths = (bits >> 64 & 0xfff) << 48 | mid << 32 | low;
                Some((tenths / 10) as i64 - GREGORIAN_MICROS)
            }
            7 => Some((bits >> 80) as i64 * 1000),
            _ => None,
        })
    })
}
