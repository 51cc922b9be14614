//! Single bits of bytes, and checksums.

use arrow_array::ArrayRef;
use arrow_array::types::Int64Type;
use plan::Function;
use types::numeric::bytes::{bytes_of, held};
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::error::invalid;

/// How many bits are set: of bytes as BIGINT, of a whole number in two's complement.
pub(crate) fn count(call: &Call<'_>) -> SqlResult<ArrayRef> {
    if call.is_text(0) {
        let values = call.texts(0)?;
        return call.map::<Int64Type>(|row| {
            Ok(bytes_of(values.value(row)).iter().map(|it| i64::from(it.count_ones())).sum())
        });
    }
    let (values, width) = (call.integers(0)?, call.argument(0)?.data_type().primitive_width());
    let bits = 8 * width.unwrap_or(8);
    call.map_integers(|row| {
        let number = values.at(row);
        let negative = if number < 0 { 64 - bits } else { 0 };
        Ok(number.count_ones() as usize - negative)
    })
}

/// The bit at a place, counted from the lowest of each byte on.
pub(crate) fn get(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places) = (call.texts(0)?, call.integers(1)?);
    call.map_integers(|row| {
        let bytes = bytes_of(values.value(row));
        let (byte, bit) = place(&bytes, places.at(row))?;
        Ok(usize::from(bytes[byte] >> bit & 1))
    })
}

/// Bytes with another bit at a place.
pub(crate) fn set(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places, bits) = (call.texts(0)?, call.integers(1)?, call.integers(2)?);
    call.map_texts(|row, out| {
        let mut bytes = bytes_of(values.value(row)).to_vec();
        let (byte, bit) = place(&bytes, places.at(row))?;
        match bits.at(row) {
            0 => bytes[byte] &= !(1 << bit),
            1 => bytes[byte] |= 1 << bit,
            _ => return Err(invalid("new bit must be 0 or 1")),
        }
        out.push(&held(&bytes))
    })
}

fn place(bytes: &[u8], place: i64) -> SqlResult<(usize, usize)> {
    let count = bytes.len() * 8;
    match usize::try_from(place) {
        Ok(it) if it < count => Ok((it / 8, it % 8)),
        _ => {
            let last = count as i64 - 1;
            let message = format!("index {place} out of valid range, 0..{last}");
            Err(SqlError::new(SqlState("2202E"), message))
        }
    }
}

/// `crc32` and `crc32c`.
pub(crate) fn checksum(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let polynomial = match call.function {
        Function::Crc32 => 0xEDB8_8320,
        _ => 0x82F6_3B78,
    };
    let table: Vec<u32> = (0..256).map(|it| steps(it, polynomial)).collect();
    call.map::<Int64Type>(|row| {
        let bytes = bytes_of(values.value(row));
        let rest =
            bytes.iter().fold(u32::MAX, |sum, it| table[usize::from(sum as u8 ^ it)] ^ sum >> 8);
        Ok(i64::from(!rest))
    })
}

/// What a byte adds to a checksum.
fn steps(byte: u32, polynomial: u32) -> u32 {
    (0..8).fold(byte, |sum, _| if sum & 1 == 1 { polynomial ^ sum >> 1 } else { sum >> 1 })
}
