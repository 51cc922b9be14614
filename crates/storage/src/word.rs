//! Numbers as keys whose order is the order of the values.
//!
//! Inside the builder every number of up to 64 bits is an `i64` key; a raw column stores a key as a `u64` word with the
//! sign bit turned, so that unsigned comparison orders it.

use types::{DataType, Value};

const SIGN: u64 = 1 << 63;

/// The word of an integer.
#[inline]
pub fn word_of_int(value: i64) -> u64 {
    value as u64 ^ SIGN
}

/// The integer of a word.
#[inline]
pub fn int_of_word(word: u64) -> i64 {
    (word ^ SIGN) as i64
}

/// The word of a float: NaN is the greatest and equal to itself, and both zeros are one.
#[inline]
pub fn word_of_float(value: f64) -> u64 {
    word_of_int(key_of_float(value))
}

/// The float of a word.
#[inline]
pub fn float_of_word(word: u64) -> f64 {
    float_of_key(int_of_word(word))
}

#[inline]
pub(crate) fn key_of_float(value: f64) -> i64 {
    let value = if value.is_nan() {
        f64::NAN.abs()
    } else if value == 0.0 {
        0.0
    } else {
        value
    };
    let bits = value.to_bits() as i64;
    // Negative floats grow in magnitude with their bits: turn all bits but the sign.
    bits ^ (bits >> 63) & i64::MAX
}

/// The float of an order-preserving key.
#[inline]
pub fn float_of_key(key: i64) -> f64 {
    f64::from_bits((key ^ (key >> 63) & i64::MAX) as u64)
}

/// The value that a stored integer is in a column of a type.
pub(crate) fn value_of_int(data_type: DataType, value: i128) -> Value {
    // What a column stores fits its type, so the casts only undo a widening.
    match data_type.stored() {
        DataType::Boolean => Value::Boolean(value != 0),
        DataType::Decimal { scale, .. } => Value::Decimal { unscaled: value, scale },
        DataType::Date => Value::Date(value as i32),
        DataType::Timestamp => Value::Timestamp(value as i64),
        _ => Value::Integer(value as i64),
    }
}

/// The value of a key in a column of a type.
pub(crate) fn value_of_key(data_type: DataType, key: i64) -> Value {
    if data_type.is_float() {
        Value::Float(float_of_key(key))
    } else {
        value_of_int(data_type, i128::from(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_order_as_their_values() {
        let floats = [f64::NEG_INFINITY, f64::MIN, -1.5, -1e-310, 0.0, 1e-310, 2.0, f64::MAX];
        for pair in floats.windows(2) {
            assert!(word_of_float(pair[0]) < word_of_float(pair[1]), "{pair:?}");
            assert_eq!(float_of_word(word_of_float(pair[0])), pair[0]);
        }
        assert!(word_of_float(f64::NAN) > word_of_float(f64::INFINITY));
        assert_eq!(word_of_float(-f64::NAN), word_of_float(f64::NAN));
        assert_eq!(word_of_float(-0.0), word_of_float(0.0));
        assert!(float_of_word(word_of_float(-f64::NAN)).is_nan());
        for value in [i64::MIN, -1, 0, 1, i64::MAX] {
            assert_eq!(int_of_word(word_of_int(value)), value);
        }
        assert!(word_of_int(i64::MIN) < word_of_int(-1) && word_of_int(-1) < word_of_int(0));
    }
}
