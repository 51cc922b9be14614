//! Values in binary, as their send functions write them and their receive functions read them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray,
};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use bytes::{BufMut, BytesMut};
use nodewise::text::Cells;

/// Days from 1970, where we count from, to 2000, where PostgreSQL does.
pub const EPOCH_DAYS: i32 = 10_957;
/// Microseconds between them.
pub const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// A column whose values are written as their send functions do.
pub enum Binary<'a> {
    Boolean(&'a BooleanArray),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Date(&'a PrimitiveArray<Date32Type>),
    Timestamp(&'a PrimitiveArray<TimestampMicrosecondType>),
    Time(&'a PrimitiveArray<Time64MicrosecondType>),
    Interval(&'a PrimitiveArray<IntervalMonthDayNanoType>),
    Uuid(&'a FixedSizeBinaryArray),
    Bytes(&'a BinaryArray),
    Text(Cells<'a>),
}

impl<'a> Binary<'a> {
    /// Of a column.
    pub fn new(array: &'a ArrayRef) -> Self {
        match array.data_type() {
            DataType::Boolean => Self::Boolean(array.as_boolean()),
            DataType::Int16 => Self::Int16(array.as_primitive()),
            DataType::Int32 => Self::Int32(array.as_primitive()),
            DataType::Int64 => Self::Int64(array.as_primitive()),
            DataType::Float32 => Self::Float32(array.as_primitive()),
            DataType::Float64 => Self::Float64(array.as_primitive()),
            DataType::Decimal128(_, scale) if *scale >= 0 => {
                Self::Decimal(array.as_primitive(), scale.unsigned_abs())
            }
            DataType::Date32 => Self::Date(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Self::Timestamp(array.as_primitive()),
            DataType::Time64(TimeUnit::Microsecond) => Self::Time(array.as_primitive()),
            DataType::Interval(IntervalUnit::MonthDayNano) => Self::Interval(array.as_primitive()),
            DataType::FixedSizeBinary(16) => Self::Uuid(array.as_fixed_size_binary()),
            DataType::Binary => Self::Bytes(array.as_binary()),
            _ => Self::Text(Cells::new(array)),
        }
    }

    /// Appends the value of a row, which is not NULL, behind its length.
    pub fn put(&self, row: usize, text: &mut String, out: &mut BytesMut) {
        match self {
            Self::Boolean(it) => put_bytes(&[u8::from(it.value(row))], out),
            Self::Int16(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Int32(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Int64(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Float32(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Float64(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Decimal(it, scale) => put_numeric(it.value(row), *scale, out),
            Self::Date(it) => {
                let days = it.value(row).saturating_sub(EPOCH_DAYS);
                put_bytes(&days.to_be_bytes(), out);
            }
            Self::Timestamp(it) => {
                let micros = it.value(row).saturating_sub(EPOCH_MICROS);
                put_bytes(&micros.to_be_bytes(), out);
            }
            Self::Time(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Interval(it) => {
                let parts = nodewise::text::parts(it.value(row));
                out.put_i32(16);
                out.put_i64(parts.micros);
                out.put_i32(parts.days as i32);
                out.put_i32(parts.months as i32);
            }
            Self::Uuid(it) => put_bytes(it.value(row), out),
            Self::Bytes(it) => put_bytes(it.value(row), out),
            Self::Text(cells) => put_printed(cells, row, text, out),
        }
    }
}

/// Appends a value as its text.
pub fn put_printed(cells: &Cells<'_>, row: usize, text: &mut String, out: &mut BytesMut) {
    text.clear();
    match cells.write(row, text) {
        true => put_bytes(text.as_bytes(), out),
        false => out.put_i32(-1),
    }
}

/// Appends bytes behind their number.
pub fn put_bytes(bytes: &[u8], out: &mut BytesMut) {
    out.put_i32(bytes.len() as i32);
    out.put_slice(bytes);
}

/// What stands before the text of JSONB.
pub const JSONB_VERSION: u8 = 1;

/// Appends JSONB: its text behind a version.
pub fn put_jsonb(text: &str, out: &mut BytesMut) {
    out.put_i32(text.len() as i32 + 1);
    out.put_u8(JSONB_VERSION);
    out.put_slice(text.as_bytes());
}

/// What a digit of `numeric` counts up to: four decimal digits.
const BASE: u128 = 10_000;
const BASE_DIGITS: u32 = 4;
const NEGATIVE: u16 = 0x4000;

/// Appends a number as `numeric_send` does: digits of base 10,000, the weight of the first, the sign, and the decimal digits
/// behind the point.
fn put_numeric(value: i128, scale: u8, out: &mut BytesMut) {
    let unit = 10u128.pow(u32::from(scale));
    let (mut whole, mut fraction) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
    // 39 decimal digits before the point and 38 behind it are 10 digits each.
    let mut digits = [0u16; 20];
    let mut first = 10;
    while whole > 0 {
        first -= 1;
        digits[first] = (whole % BASE) as u16;
        whole /= BASE;
    }
    let (mut last, mut left) = (10, u32::from(scale));
    while fraction > 0 {
        let (digit, rest) = match left.checked_sub(BASE_DIGITS) {
            Some(rest) => (fraction / 10u128.pow(rest), rest),
            None => (fraction * 10u128.pow(BASE_DIGITS - left), 0),
        };
        digits[last] = digit as u16;
        last += 1;
        fraction %= 10u128.pow(rest);
        left = rest;
    }
    // Zeros at both ends are not sent.
    while first < last && digits[first] == 0 {
        first += 1;
    }
    while last > first && digits[last - 1] == 0 {
        last -= 1;
    }
    let weight = if first == last { 0 } else { 9 - first as i16 };
    out.put_i32(8 + 2 * (last - first) as i32);
    out.put_u16((last - first) as u16);
    out.put_i16(weight);
    out.put_u16(if value < 0 { NEGATIVE } else { 0 });
    out.put_u16(u16::from(scale));
    digits[first..last].iter().for_each(|it| out.put_u16(*it));
}

/// A `numeric` as it comes: the unscaled integer and its scale. `None` where it is no number that we can hold.
pub fn read_numeric(bytes: &[u8]) -> Option<(i128, u8)> {
    let short = |place: usize| {
        Some(u16::from_be_bytes(bytes.get(2 * place..2 * place + 2)?.try_into().ok()?))
    };
    let (count, weight, sign, scale) = (short(0)?, short(1)?.cast_signed(), short(2)?, short(3)?);
    if bytes.len() != 8 + 2 * usize::from(count) || !matches!(sign, 0 | NEGATIVE) {
        return None;
    }
    let scale = u8::try_from(scale).ok().filter(|it| *it <= 38)?;
    let mut value: i128 = 0;
    for place in 0..usize::from(count) {
        let digit = i128::from(short(4 + place)?);
        if digit >= BASE as i128 {
            return None;
        }
        // The power of ten of its last decimal digit, in units of the scale.
        let power = i64::from(scale)
            + i64::from(BASE_DIGITS) * (i64::from(weight) - i64::try_from(place).ok()?);
        let part = match u32::try_from(power) {
            Ok(_) if digit == 0 => 0,
            Ok(power) => digit.checked_mul(10i128.checked_pow(power)?)?,
            // Behind the scale there is nothing that counts.
            Err(_) => digit.checked_div(10i128.checked_pow(u32::try_from(-power).ok()?)?)?,
        };
        value = value.checked_add(part)?;
    }
    Some((if sign == NEGATIVE { -value } else { value }, scale))
}

/// Puts the number of bytes since a place there, which has four bytes for it; `without` of them do not count.
pub fn fill_length(place: usize, without: usize, out: &mut BytesMut) {
    let length = (out.len() - place - without) as i32;
    out[place..place + 4].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use stdx::prng::Prng;

    use super::*;

    fn numeric(value: i128, scale: u8) -> Vec<u16> {
        let mut out = BytesMut::new();
        put_numeric(value, scale, &mut out);
        assert_eq!(out.len(), 4 + i32::from_be_bytes(out[..4].try_into().unwrap()) as usize);
        out[4..].chunks(2).map(|it| u16::from_be_bytes(it.try_into().unwrap())).collect()
    }

    #[test]
    fn numbers_are_as_numeric_send_has_them() {
        // By SELECT numeric_send(..) of PostgreSQL 18.
        assert_eq!(numeric(0, 0), [0, 0, 0, 0]);
        assert_eq!(numeric(0, 2), [0, 0, 0, 2]);
        assert_eq!(numeric(1, 0), [1, 0, 0, 0, 1]);
        assert_eq!(numeric(-12_345_678, 2), [3, 1, NEGATIVE, 2, 12, 3456, 7800]);
        assert_eq!(numeric(1, 5), [1, 0xfffe, 0, 5, 1000]);
        assert_eq!(numeric(100_000_000, 0), [1, 2, 0, 0, 1]);
        assert_eq!(numeric(10_000, 4), [1, 0, 0, 4, 1]);
    }

    #[test]
    fn numbers_come_back_as_they_went() {
        let mut prng = Prng::new(3);
        for _ in 0..20_000 {
            let scale = prng.below(39) as u8;
            let digits = prng.below(39) as u32;
            let wide = u128::from(prng.next_u64()) << 64 | u128::from(prng.next_u64());
            let value = (wide % 10u128.pow(digits)) as i128;
            let value = if prng.below(2) == 0 { -value } else { value };
            let mut out = BytesMut::new();
            put_numeric(value, scale, &mut out);
            assert_eq!(read_numeric(&out[4..]), Some((value, scale)), "{value} at {scale}");
        }
        for wrong in
            [&b""[..], b"\0\x01\0\0\0\0\0\0", b"\0\0\0\0\xc0\0\0\0", b"\0\x01\0\0\0\0\0\0\x27\x10"]
        {
            assert_eq!(read_numeric(wrong), None);
        }
    }
}
