//! Items and dimensions of arrays, in the form that the head of this folder tells.

use std::borrow::Cow;

use crate::{DataType, SqlError, SqlResult, SqlState, Value};

/// Dimensions that an array has at most, as in PostgreSQL.
pub const DIMENSIONS_MAX: usize = 6;
/// Items that an array has at most, as in PostgreSQL.
pub const ITEMS_MAX: usize = 134_217_727;

const TEXT: u8 = 0x10;
const END_OF_TEXT: char = '\0';
const NUL: &str = "\0\u{80}";
const FALSE: u8 = 0x20;
const TRUE: u8 = 0x21;
const ZERO: u8 = 0x40;
const DIGITS_MAX: u8 = 22;
const FLOAT: u8 = 0x60;
const FLOAT_DIGITS: usize = 11;
const NULL: u8 = 0x7f;
const FIRST_DIGIT: u8 = 0x30;
const FROM_ONE: u8 = 2;

/// One dimension of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dimension {
    /// How many items it has.
    pub length: i32,
    /// The subscript of the first.
    pub lower: i32,
}

impl Dimension {
    /// The subscript of the last item.
    pub fn upper(self) -> i32 {
        self.lower.wrapping_add(self.length - 1)
    }
}

/// NULL as an item.
pub const NULL_ITEM: &str = "\u{7f}";

/// Appends a whole number as an item: of an integer, the days of a date, microseconds, the digits of a decimal.
pub fn push_integer(out: &mut String, value: i128) {
    let magnitude = value.unsigned_abs();
    let digits = (128 - magnitude.leading_zeros()).div_ceil(6) as u8;
    let turned = if value < 0 { 63 } else { 0 };
    out.push(char::from(if value < 0 { ZERO - digits } else { ZERO + digits }));
    for place in (0..u32::from(digits)).rev() {
        let digit = (magnitude >> (6 * place)) as u8 & 63;
        out.push(char::from(FIRST_DIGIT + (digit ^ turned)));
    }
}

/// Appends a float as an item. The two zeros are one, as are all that are no numbers.
pub fn push_float(out: &mut String, value: f64) {
    let value = if value == 0.0 { 0.0 } else { value };
    let bits = if value.is_nan() { f64::NAN.to_bits() & !(1 << 63) } else { value.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.push(char::from(FLOAT));
    for place in (0..FLOAT_DIGITS).rev() {
        out.push(char::from(FIRST_DIGIT + ((ordered >> (6 * place)) as u8 & 63)));
    }
}

/// Appends a truth as an item.
pub fn push_boolean(out: &mut String, value: bool) {
    out.push(char::from(if value { TRUE } else { FALSE }));
}

/// Appends a text as an item.
pub fn push_text(out: &mut String, value: &str) {
    out.push(char::from(TEXT));
    for (number, part) in value.split(END_OF_TEXT).enumerate() {
        if number > 0 {
            out.push_str(NUL);
        }
        out.push_str(part);
    }
    out.push(END_OF_TEXT);
}

/// Appends a value as an item, as it is held.
pub fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str(NULL_ITEM),
        Value::Boolean(it) => push_boolean(out, *it),
        Value::Float(it) => push_float(out, *it),
        Value::Text(it) => push_text(out, it),
        other => push_integer(out, other.as_i128().unwrap_or(0)),
    }
}

/// Appends the dimensions behind the items: `from` is where those begin. An array without items has none.
///
/// # Errors
/// 54000 for more items than an array may have.
pub fn close(out: &mut String, from: usize, dimensions: &[Dimension]) -> SqlResult<()> {
    if out.len() == from {
        return Ok(());
    }
    let items = dimensions.iter().map(|it| usize::try_from(it.length).unwrap_or(0));
    if items.fold(1usize, usize::saturating_mul) > ITEMS_MAX {
        return Err(too_many_items());
    }
    match dimensions {
        [one] => match one.lower.cmp(&1) {
            std::cmp::Ordering::Equal => out.push(char::from(FROM_ONE)),
            order => {
                out.push(char::from(if order.is_lt() { FROM_ONE - 1 } else { FROM_ONE + 1 }));
                push_integer(out, one.lower.into());
            }
        },
        several => {
            out.push(char::from(FROM_ONE + several.len().min(DIMENSIONS_MAX) as u8));
            several.iter().for_each(|it| push_integer(out, it.length.into()));
            several.iter().for_each(|it| push_integer(out, it.lower.into()));
        }
    }
    Ok(())
}

/// The error for arrays that are too large.
pub fn too_many_items() -> SqlError {
    let message = format!("array size exceeds the maximum allowed ({ITEMS_MAX})");
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
}

/// Appends the dimension of a plain list of items, from 1 on.
///
/// # Errors
/// As of [`close`].
pub fn close_list(out: &mut String, from: usize, items: usize) -> SqlResult<()> {
    let length = i32::try_from(items).map_err(|_| too_many_items())?;
    close(out, from, &[Dimension { length, lower: 1 }])
}

/// The items of an array in the order in which they are held, each in its held form.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: &'a str,
}

impl<'a> Items<'a> {
    /// Of an array as it is held.
    pub fn new(held: &'a str) -> Self {
        Self { rest: held }
    }

    /// What stands behind the items; before the last of them is taken, the rest of them, too.
    pub fn rest(&self) -> &'a str {
        self.rest
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (item, rest) = self.rest.split_at_checked(item_bytes(self.rest.as_bytes())?)?;
        self.rest = rest;
        Some(item)
    }
}

/// Bytes of the item that stands first, if there is one.
fn item_bytes(bytes: &[u8]) -> Option<usize> {
    match *bytes.first()? {
        TEXT => {
            let mut from = 1;
            loop {
                let end = from + bytes.get(from..)?.iter().position(|it| *it == 0)?;
                // U+0080 is C2 80, and nothing behind an item begins so.
                if bytes.get(end + 1) != Some(&0xc2) {
                    return Some(end + 1);
                }
                from = end + 1;
            }
        }
        FALSE | TRUE | NULL => Some(1),
        first if first.abs_diff(ZERO) <= DIGITS_MAX => Some(1 + usize::from(first.abs_diff(ZERO))),
        FLOAT => Some(1 + FLOAT_DIGITS),
        _ => None,
    }
}

/// Whether an item is NULL.
pub fn is_null(item: &str) -> bool {
    item == NULL_ITEM
}

/// A held item as a number; zero of what is none.
pub fn integer_of(item: &str) -> i128 {
    let Some((&first, digits)) = item.as_bytes().split_first() else { return 0 };
    let turned = if first < ZERO { 63 } else { 0 };
    let digit = |it: &u8| u128::from(it.wrapping_sub(FIRST_DIGIT) & 63 ^ turned);
    let magnitude = digits.iter().fold(0u128, |sum, it| sum << 6 | digit(it));
    if turned == 0 { magnitude as i128 } else { (magnitude as i128).wrapping_neg() }
}

/// A held item as a float; zero of what is none.
pub fn float_of(item: &str) -> f64 {
    let digits = item.as_bytes().get(1..).unwrap_or(&[]);
    let digit = |it: &u8| u64::from(it.wrapping_sub(FIRST_DIGIT) & 63);
    let ordered = digits.iter().fold(0u64, |sum, it| sum << 6 | digit(it));
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// Whether a held item is TRUE.
pub fn boolean_of(item: &str) -> bool {
    item.as_bytes() == [TRUE]
}

/// A held item as a text; empty of what is none.
pub fn text_of(item: &str) -> Cow<'_, str> {
    let held = item.get(1..item.len().saturating_sub(1)).unwrap_or("");
    if held.contains(END_OF_TEXT) { held.replace(NUL, "\0").into() } else { held.into() }
}

/// A held item as a value of a type.
pub fn value_of(item: &str, data_type: DataType) -> Value {
    if is_null(item) {
        return Value::Null;
    }
    match data_type.stored() {
        DataType::Boolean => Value::Boolean(boolean_of(item)),
        DataType::Real | DataType::Double => Value::Float(float_of(item)),
        DataType::Decimal { scale, .. } => Value::Decimal { unscaled: integer_of(item), scale },
        DataType::Date => Value::Date(integer_of(item) as i32),
        DataType::Timestamp => Value::Timestamp(integer_of(item) as i64),
        DataType::SmallInt | DataType::Integer | DataType::BigInt => {
            Value::Integer(integer_of(item) as i64)
        }
        _ => Value::Text(text_of(item).into()),
    }
}

/// The dimensions of an array, none of one without items.
pub fn dimensions(held: &str) -> Vec<Dimension> {
    let mut items = Items::new(held);
    let count = items.by_ref().count();
    dimensions_behind(items.rest(), count)
}

/// The dimensions that stand behind so many items.
pub fn dimensions_behind(rest: &str, count: usize) -> Vec<Dimension> {
    let length = i32::try_from(count).unwrap_or(i32::MAX);
    let Some(&kind) = rest.as_bytes().first() else { return Vec::new() };
    let mut numbers = Items::new(rest.get(1..).unwrap_or("")).map(|it| integer_of(it) as i32);
    match kind {
        FROM_ONE => vec![Dimension { length, lower: 1 }],
        1 | 3 => vec![Dimension { length, lower: numbers.next().unwrap_or(1) }],
        _ => {
            let count = usize::from(kind.saturating_sub(FROM_ONE)).min(DIMENSIONS_MAX);
            let lengths: Vec<i32> = numbers.by_ref().take(count).collect();
            let each = lengths.into_iter().zip(numbers);
            each.map(|(length, lower)| Dimension { length, lower }).collect()
        }
    }
}

/// An array of one dimension, from 1 on, of values.
///
/// # Errors
/// 54000 for more items than an array may have.
pub fn list(values: &[Value]) -> SqlResult<Value> {
    let mut held = String::new();
    values.iter().for_each(|it| push_value(&mut held, it));
    close_list(&mut held, 0, values.len())?;
    Ok(Value::Text(held.into()))
}
