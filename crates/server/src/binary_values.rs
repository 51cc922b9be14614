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
use types::numeric::address::Address;
use types::numeric::{self, bit_text, datetime, number};
use types::{DataType as SqlType, Network, Value, Whole, Zone, ranges};

use crate::numeric_values::{put_numeric, put_written};

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
    Oid(&'a PrimitiveArray<Int64Type>),
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
    /// Of a column of a type.
    pub fn new(array: &'a ArrayRef, of: Option<SqlType>) -> Self {
        match array.data_type() {
            DataType::Int64 if of == Some(SqlType::Whole(Whole::Oid)) => {
                Self::Oid(array.as_primitive())
            }
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
            // Their type holds no more than 32 bits.
            Self::Oid(it) => put_bytes(&(it.value(row) as u32).to_be_bytes(), out),
            Self::Float32(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Float64(it) => put_bytes(&it.value(row).to_be_bytes(), out),
            Self::Decimal(it, scale) => put_numeric(it.value(row), *scale, out),
            Self::Date(it) => put_bytes(&days_sent(it.value(row)).to_be_bytes(), out),
            Self::Timestamp(it) => put_bytes(&micros_sent(it.value(row)).to_be_bytes(), out),
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
fn put_jsonb(text: &str, out: &mut BytesMut) {
    out.put_i32(text.len() as i32 + 1);
    out.put_u8(JSONB_VERSION);
    out.put_slice(text.as_bytes());
}

/// How values of a type that come as texts are sent.
#[derive(Clone, Copy)]
pub struct PutText(SqlType);

/// How values of a type that come as texts are sent; `None` of those that are sent as these texts.
pub fn put_of(of: SqlType) -> Option<PutText> {
    let is_told = matches!(
        of,
        SqlType::Jsonb
            | SqlType::Numeric
            | SqlType::TimeTz
            | SqlType::Bits(_)
            | SqlType::Network(_)
            | SqlType::Range(_)
            | SqlType::Multirange(_)
    );
    is_told.then_some(PutText(of))
}

impl PutText {
    /// Appends a value, told by its text, behind its length.
    pub fn put(self, text: &str, out: &mut BytesMut) {
        match self.0 {
            SqlType::Jsonb => put_jsonb(text, out),
            SqlType::Numeric => put_written(text, out),
            SqlType::TimeTz => put_time_tz(text, out),
            SqlType::Bits(_) => put_bits(text, out),
            SqlType::Network(of) => put_address(text, of, out),
            of => put_range(text, of, out),
        }
    }
}

/// Appends a range or a set of ranges, of which none is written otherwise than it is read.
fn put_range(text: &str, of: SqlType, out: &mut BytesMut) {
    let read = numeric::cast(&Value::Text(text.into()), SqlType::Text, of);
    let Ok(Value::Text(held)) = read else { return out.put_i32(-1) };
    match of {
        SqlType::Range(it) => {
            let mut put = |value: &Value, out: &mut Vec<u8>| put_bound(value, it.bound(), out);
            put_bytes(&ranges::sent(&held, it, &mut put), out);
        }
        SqlType::Multirange(it) => {
            let mut put = |value: &Value, out: &mut Vec<u8>| put_bound(value, it.bound(), out);
            put_bytes(&ranges::sent_set(&held, it, &mut put), out);
        }
        _ => out.put_i32(-1),
    }
}

/// Appends the value of a bound behind its length; of whole numbers those of INTEGER are shorter.
fn put_bound(value: &Value, of: SqlType, out: &mut Vec<u8>) {
    let mut sent = BytesMut::new();
    match value {
        Value::Integer(it) if of == SqlType::Integer => {
            put_bytes(&(*it as i32).to_be_bytes(), &mut sent)
        }
        Value::Integer(it) => put_bytes(&it.to_be_bytes(), &mut sent),
        Value::Date(it) => put_bytes(&days_sent(*it).to_be_bytes(), &mut sent),
        Value::Timestamp(it) => put_bytes(&micros_sent(*it).to_be_bytes(), &mut sent),
        Value::Text(held) => {
            let mut text = String::new();
            number::written(held, &mut text);
            put_written(&text, &mut sent);
        }
        _ => sent.put_i32(-1),
    }
    out.extend_from_slice(&sent);
}

/// A day as it is sent: infinite ones are the least and the greatest there, too.
fn days_sent(it: i32) -> i32 {
    if datetime::is_infinite_day(it.into()) { it } else { it.saturating_sub(EPOCH_DAYS) }
}

/// A point of time as it is sent.
fn micros_sent(it: i64) -> i64 {
    if datetime::is_infinite(it) { it } else { it.saturating_sub(EPOCH_MICROS) }
}

/// Appends a time of day in a zone, of which none is written otherwise than it is read.
fn put_time_tz(text: &str, out: &mut BytesMut) {
    match datetime::parse_time_tz(text, &Zone::utc()) {
        Ok(it) => put_bytes(&it.sent(), out),
        Err(_) => out.put_i32(-1),
    }
}

/// Appends bits: how many there are, and their bytes.
fn put_bits(text: &str, out: &mut BytesMut) {
    let bytes = bit_text::packed(text);
    out.put_i32(bytes.len() as i32 + 4);
    out.put_i32(text.len() as i32);
    out.put_slice(&bytes);
}

/// Appends an address, of which none is written otherwise than it is read.
fn put_address(text: &str, of: Network, out: &mut BytesMut) {
    match Address::parse(text, of) {
        Ok(it) => put_bytes(&it.sent(of), out),
        Err(_) => out.put_i32(-1),
    }
}

/// Puts the number of bytes since a place there, which has four bytes for it; `without` of them do not count.
pub fn fill_length(place: usize, without: usize, out: &mut BytesMut) {
    let length = (out.len() - place - without) as i32;
    out[place..place + 4].copy_from_slice(&length.to_be_bytes());
}
