//! Strings of bits.
//!
//! Key decision: one is held as a text of the digits 0 and 1. The order of such texts is PostgreSQL's, in which the first bit that
//! differs decides, and a beginning is before the whole; and most of what functions do with bits they do with characters.

use std::borrow::Cow;

use super::errors::out_of_range;
use crate::{Bits, DataType, SqlError, SqlResult, SqlState, Value};

/// The bits that a text spells: digits, or behind `x` hexadecimal ones.
///
/// # Errors
/// 22P02 for anything else.
pub fn parse(text: &str) -> SqlResult<Cow<'_, str>> {
    match text.strip_prefix(['x', 'X']) {
        Some(digits) => of_hex(digits).map(Cow::Owned),
        None => {
            let digits = text.strip_prefix(['b', 'B']).unwrap_or(text);
            match digits.chars().find(|it| !matches!(it, '0' | '1')) {
                Some(wrong) => Err(no_digit(wrong, "binary")),
                None => Ok(Cow::Borrowed(digits)),
            }
        }
    }
}

fn of_hex(digits: &str) -> SqlResult<String> {
    let mut bits = String::with_capacity(digits.len() * 4);
    for digit in digits.chars() {
        let value = digit.to_digit(16).ok_or_else(|| no_digit(digit, "hexadecimal"))?;
        bits.extend((0..4).rev().map(|it| if value >> it & 1 == 1 { '1' } else { '0' }));
    }
    Ok(bits)
}

fn no_digit(wrong: char, of: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT, format!("\"{wrong}\" is not a valid {of} digit"))
}

/// Bits as a cast to a type makes them: cut at the end, and for BIT(n) filled with zeros there.
pub fn shaped(bits: &str, to: Bits) -> Cow<'_, str> {
    let Some(length) = to.length().map(|it| it as usize) else { return Cow::Borrowed(bits) };
    match bits.get(..length) {
        Some(kept) => Cow::Borrowed(kept),
        None if to.is_varying() => Cow::Borrowed(bits),
        None => {
            let mut filled = String::with_capacity(length);
            filled.push_str(bits);
            filled.extend(std::iter::repeat_n('0', length - bits.len()));
            Cow::Owned(filled)
        }
    }
}

/// Whether a column of a type stores such bits as they are.
///
/// # Errors
/// 22026 for another length than that of BIT(n), 22001 for more bits than BIT VARYING(n) has.
pub fn check(bits: &str, to: Bits) -> SqlResult<()> {
    match to {
        Bits::Fixed(length) if bits.len() != length as usize => {
            let message =
                format!("bit string length {} does not match type bit({length})", bits.len());
            Err(SqlError::new(SqlState("22026"), message))
        }
        Bits::Varying(length) if bits.len() > length as usize => {
            let message = format!("bit string too long for type bit varying({length})");
            Err(SqlError::new(SqlState::STRING_TRUNCATION, message))
        }
        _ => Ok(()),
    }
}

/// The bits of an integer of so many, the last ones of them; its sign goes on before them.
pub fn of_integer(value: i64, to: Bits) -> String {
    let length = to.length().unwrap_or(1);
    let bit = |it: u32| if value >> it.min(63) & 1 == 1 { '1' } else { '0' };
    (0..length).rev().map(bit).collect()
}

/// Bits as an integer: all of its bits, or fewer and zeros before them.
///
/// # Errors
/// 22003 for more bits than it has.
pub fn integer(bits: &str, to: DataType) -> SqlResult<Value> {
    let most = if to == DataType::Integer { 32 } else { 64 };
    if bits.len() > most {
        return Err(out_of_range(to));
    }
    let value = bits.bytes().fold(0_u64, |value, it| value << 1 | u64::from(it == b'1'));
    Ok(Value::Integer(match to {
        DataType::Integer => i64::from(value as u32 as i32),
        _ => value as i64,
    }))
}

/// What an operator does with the bits of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combination {
    /// Those that both have.
    And,
    /// Those that one has.
    Or,
    /// Those in which they differ.
    Xor,
}

/// The bits of two of one length, combined one by one.
///
/// # Errors
/// 22026 for two of several lengths.
pub fn combined(how: Combination, left: &str, right: &str) -> SqlResult<String> {
    if left.len() != right.len() {
        return Err(unequal(how));
    }
    let bit = |(left, right): (u8, u8)| {
        let set = match how {
            Combination::And => left & right == b'1',
            Combination::Or => left | right == b'1',
            Combination::Xor => left != right,
        };
        if set { '1' } else { '0' }
    };
    Ok(left.bytes().zip(right.bytes()).map(bit).collect())
}

/// 22026: bits of several lengths do not combine.
pub fn unequal(how: Combination) -> SqlError {
    let name = match how {
        Combination::And => "AND",
        Combination::Or => "OR",
        Combination::Xor => "XOR",
    };
    SqlError::new(SqlState("22026"), format!("cannot {name} bit strings of different sizes"))
}

/// The bytes of bits, the first bit the highest one; zeros fill the last byte.
pub fn packed(bits: &str) -> Vec<u8> {
    let byte = |it: &[u8]| {
        let value = it.iter().fold(0_u8, |value, it| value << 1 | u8::from(*it == b'1'));
        value << (8 - it.len())
    };
    bits.as_bytes().chunks(8).map(byte).collect()
}

/// So many bits of bytes; `None` of fewer bytes than these take, or of more.
pub fn unpacked(bytes: &[u8], length: usize) -> Option<String> {
    let bit = |it: usize| if bytes[it / 8] >> (7 - it % 8) & 1 == 1 { '1' } else { '0' };
    (bytes.len() == length.div_ceil(8)).then(|| (0..length).map(bit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_cut_and_filled() {
        assert_eq!(parse("b0101").as_deref(), Ok("0101"));
        assert_eq!(parse("X1f").as_deref(), Ok("00011111"));
        assert_eq!(parse("").as_deref(), Ok(""));
        for wrong in ["012", "x1g", " 01", "b b", "xx1", "\u{e4}"] {
            assert_eq!(parse(wrong).map_err(|it| it.state.0), Err("22P02"), "{wrong}");
        }
        assert_eq!(shaped("101", Bits::Fixed(5)), "10100");
        assert_eq!(shaped("101", Bits::Fixed(2)), "10");
        assert_eq!(shaped("101", Bits::Varying(5)), "101");
        assert_eq!(shaped("101", Bits::Varying(2)), "10");
        assert_eq!(shaped("101", Bits::Any), "101");
        let state = |bits, to| check(bits, to).map_err(|it| it.state.0);
        assert_eq!(state("101", Bits::Fixed(5)), Err("22026"));
        assert_eq!(state("101", Bits::Varying(2)), Err("22001"));
        assert_eq!(state("101", Bits::Varying(3)), Ok(()));
    }

    #[test]
    fn integers_are_bits_with_a_sign() {
        assert_eq!(of_integer(44, Bits::Fixed(10)), "0000101100");
        assert_eq!(of_integer(44, Bits::Fixed(3)), "100");
        assert_eq!(of_integer(-44, Bits::Fixed(12)), "111111010100");
        assert_eq!(of_integer(-1, Bits::Fixed(70)), "1".repeat(70));
        assert_eq!(of_integer(-1, Bits::Any), "1");
        assert_eq!(integer("1110", DataType::Integer), Ok(Value::Integer(14)));
        assert_eq!(integer(&"1".repeat(32), DataType::Integer), Ok(Value::Integer(-1)));
        assert_eq!(integer(&"1".repeat(32), DataType::BigInt), Ok(Value::Integer(u32::MAX.into())));
        assert!(integer(&"0".repeat(33), DataType::Integer).is_err());
        assert!(integer(&"0".repeat(65), DataType::BigInt).is_err());
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for bits in ["", "1", "00000001", "101010101", &"0110".repeat(9)] {
            assert_eq!(unpacked(&packed(bits), bits.len()).as_deref(), Some(bits));
        }
        assert_eq!(packed("101010101"), [0xaa, 0x80]);
        assert_eq!(unpacked(&[1, 2], 8), None);
    }
}
