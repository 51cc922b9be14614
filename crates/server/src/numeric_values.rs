//! `numeric` in binary: the count of digits of base 10,000, the weight of the first, the sign, the decimal digits behind the point,
//! and the digits.
//!
//! - Invariant: no bytes make reading panic, or take more memory than their digits need.

use bytes::{BufMut, BytesMut};
use types::numeric::number::{SCALE_MAX, WHOLE_DIGITS_MAX};

/// What a digit of `numeric` counts up to: four decimal digits.
const BASE: u128 = 10_000;
const BASE_DIGITS: u32 = 4;
const NEGATIVE: u16 = 0x4000;

/// Appends a number as `numeric_send` does: digits of base 10,000, the weight of the first, the sign, and the decimal digits
/// behind the point.
pub fn put_numeric(value: i128, scale: u8, out: &mut BytesMut) {
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

const NAN: u16 = 0xc000;
const INFINITE: u16 = 0xd000;
const MINUS_INFINITE: u16 = 0xf000;

/// Appends a number of any scale, as it is written, behind its length.
pub fn put_written(text: &str, out: &mut BytesMut) {
    let special = |sign: u16, out: &mut BytesMut| {
        out.put_i32(8);
        out.put_slice(&[0; 4]);
        out.put_u16(sign);
        out.put_u16(0);
    };
    match text {
        "NaN" => return special(NAN, out),
        "Infinity" => return special(INFINITE, out),
        "-Infinity" => return special(MINUS_INFINITE, out),
        _ => {}
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let group = BASE_DIGITS as usize;
    // Digits before the point are counted from it, those behind it, too.
    let first = whole.len() % group;
    let (head, rest) = whole.as_bytes().split_at(first);
    let groups = [head].into_iter().filter(|it| !it.is_empty()).chain(rest.chunks(group));
    let behind = fraction.as_bytes().chunks(group);
    let value = |it: &[u8], zeros: usize| {
        let digits =
            it.iter().fold(0u16, |sum, it| sum * 10 + u16::from(it.wrapping_sub(b'0') % 10));
        digits * 10u16.pow(zeros as u32)
    };
    let mut digits: Vec<u16> = groups.map(|it| value(it, 0)).collect();
    let before = digits.len();
    digits.extend(behind.map(|it| value(it, group - it.len())));
    let leading = digits.iter().take_while(|it| **it == 0).count();
    let end = digits.len() - digits.iter().rev().take_while(|it| **it == 0).count();
    let digits = digits.get(leading..end).unwrap_or(&[]);
    let weight = if digits.is_empty() { 0 } else { before as i64 - 1 - leading as i64 };
    out.put_i32(8 + 2 * digits.len() as i32);
    out.put_u16(digits.len() as u16);
    // Within the digits that a number may have, the weight is one of 16 bits.
    out.put_i16(weight as i16);
    out.put_u16(if negative && !digits.is_empty() { NEGATIVE } else { 0 });
    out.put_u16(fraction.len() as u16);
    digits.iter().for_each(|it| out.put_u16(*it));
}

/// A `numeric` of any scale as it is written. `None` where it is none.
pub fn read_any_numeric(bytes: &[u8]) -> Option<String> {
    let mut shorts = bytes.chunks(2).map(|it| Some(u16::from_be_bytes(it.try_into().ok()?)));
    let mut short = || shorts.next().flatten();
    let (count, weight, sign, scale) = (short()?, short()?.cast_signed(), short()?, short()?);
    if bytes.len() != 8 + 2 * usize::from(count) {
        return None;
    }
    match sign {
        0 | NEGATIVE => {}
        NAN => return Some("NaN".into()),
        INFINITE => return Some("Infinity".into()),
        MINUS_INFINITE => return Some("-Infinity".into()),
        _ => return None,
    }
    let before = (i64::from(weight) + 1) * i64::from(BASE_DIGITS);
    if u32::from(scale) > SCALE_MAX || before > WHOLE_DIGITS_MAX {
        return None;
    }
    let mut digits = String::new();
    for _ in 0..count {
        let digit = short()?;
        if u128::from(digit) >= BASE {
            return None;
        }
        digits.push_str(&format!("{digit:04}"));
    }
    // All digits from the point on, and as many behind it as are shown.
    let mut all = match usize::try_from(before) {
        Ok(before) if before > digits.len() => format!("{digits:0<before$}"),
        Ok(_) => digits,
        Err(_) => {
            let zeros = before.unsigned_abs() as usize;
            format!("{}{digits}", "0".repeat(zeros.min(usize::from(scale))))
        }
    };
    let before = usize::try_from(before).unwrap_or(0);
    let wanted = before + usize::from(scale);
    match all.len() < wanted {
        true => all.extend(std::iter::repeat_n('0', wanted - all.len())),
        false => all.truncate(wanted),
    }
    let (whole, fraction) = all.split_at_checked(before)?;
    let sign = if sign == NEGATIVE { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

#[cfg(test)]
mod tests {
    use stdx::prng::Prng;
    use types::numeric::number::Number;

    use super::*;

    #[test]
    fn numbers_of_any_scale_go_and_come_like_those_of_few_digits() {
        let mut prng = Prng::new(5);
        for _ in 0..5_000 {
            let scale = prng.below(39) as u8;
            let value = i128::from(prng.next_u64()) * i128::from(prng.below(1 << 40));
            let value = if prng.below(2) == 0 { -value } else { value };
            let mut narrow = BytesMut::new();
            put_numeric(value, scale, &mut narrow);
            let shown = Number::of_exact(value, scale).to_string();
            let mut wide = BytesMut::new();
            put_written(&shown, &mut wide);
            assert_eq!(narrow, wide, "{shown}");
            let read = Number::parse(&read_any_numeric(&wide[4..]).unwrap()).unwrap();
            assert_eq!(read.to_string(), shown);
        }
        let huge = format!("{}.{}1", "9".repeat(1_311), "0".repeat(1_638));
        for text in ["NaN", "Infinity", "-Infinity", "0", "0.000", "0.00000001", "-10000", &huge] {
            let mut out = BytesMut::new();
            put_written(text, &mut out);
            let read = Number::parse(&read_any_numeric(&out[4..]).unwrap()).unwrap();
            assert_eq!(read.to_string(), *text);
        }
        for wrong in [&b""[..], b"\0\x01\0\0\0\0\0\0", b"\0\0\0\0\x10\0\0\0"] {
            assert_eq!(read_any_numeric(wrong), None);
        }
    }

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
