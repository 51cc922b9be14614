//! Strings of bits: what operators and functions make of them. They are held as texts of digits ([`types::numeric::bit_text`]), so
//! what has to do with places alone is done by the kernels of texts.

use arrow_array::ArrayRef;
use arrow_array::types::Int64Type;
use plan::Function;
use types::numeric::bit_text::{self, Combination};
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::error::invalid;
use crate::texts::Texts;

/// Whether a function is one of bits alone.
pub(crate) fn is_of_bits(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::GetBitOfBits | F::SetBitOfBits | F::BitCountOfBits | F::BitPosition | F::Bitstring
    )
}

/// The kernel of such a function.
pub(crate) fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    match call.function {
        Function::GetBitOfBits => get(call),
        Function::SetBitOfBits => set(call),
        Function::BitCountOfBits => count(call),
        Function::BitPosition => position(call),
        _ => of_text(call),
    }
}

/// The operators on bits of one length each, and of one alone.
pub(crate) fn operators(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let left = call.texts(0)?;
    let combination = match call.function {
        Function::BitwiseAnd => Combination::And,
        Function::BitwiseOr => Combination::Or,
        Function::BitwiseXor => Combination::Xor,
        Function::BitwiseNot => {
            return call.map_texts(|row, out| {
                let turned = |it: char| if it == '0' { '1' } else { '0' };
                left.value(row).chars().map(turned).try_for_each(|it| out.push_char(it))
            });
        }
        _ => return shift(call),
    };
    let right = call.texts(1)?;
    call.map_texts(|row, out| {
        out.push(&bit_text::combined(combination, left.value(row), right.value(row))?)
    })
}

/// Bits moved to the left or, by a number below zero, to the right; zeros take the places that are left.
fn shift(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places) = (call.texts(0)?, call.integers(1)?);
    call.map_texts(|row, out| {
        let (bits, places) = (values.value(row), places.at(row));
        let distance = usize::try_from(places.unsigned_abs()).unwrap_or(usize::MAX).min(bits.len());
        let to_left = (call.function == Function::ShiftLeft) == (places >= 0);
        if to_left {
            out.push(part(bits, distance, bits.len()))?;
            out.push_repeated("0", distance)
        } else {
            out.push_repeated("0", distance)?;
            out.push(part(bits, 0, bits.len() - distance))
        }
    })
}

/// How many bits are set.
fn count(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    call.map::<Int64Type>(|row| {
        Ok(values.value(row).bytes().filter(|it| *it == b'1').count() as i64)
    })
}

/// The bit at a place, from 0 on the left.
fn get(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places) = (call.texts(0)?, call.integers(1)?);
    call.map_integers(|row| {
        let bits = values.value(row).as_bytes();
        Ok(usize::from(bits[place(bits, places.at(row))?] == b'1'))
    })
}

/// Bits with another one at a place.
fn set(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places, news) = (call.texts(0)?, call.integers(1)?, call.integers(2)?);
    call.map_texts(|row, out| {
        let bits = values.value(row);
        let at = place(bits.as_bytes(), places.at(row))?;
        let new = match news.at(row) {
            0 => "0",
            1 => "1",
            _ => return Err(invalid("new bit must be 0 or 1")),
        };
        out.push(part(bits, 0, at))?;
        out.push(new)?;
        out.push(part(bits, at + 1, bits.len()))
    })
}

/// Some digits; nothing where these are none, which no text of a type of bits has.
fn part(bits: &str, from: usize, to: usize) -> &str {
    bits.get(from..to).unwrap_or_default()
}

fn place(bits: &[u8], place: i64) -> SqlResult<usize> {
    match usize::try_from(place) {
        Ok(it) if it < bits.len() => Ok(it),
        _ => {
            let last = bits.len() as i64 - 1;
            let message = format!("bit index {place} out of valid range (0..{last})");
            Err(SqlError::new(SqlState("2202E"), message))
        }
    }
}

/// Where bits begin in others, from 1 on; 0 where they are not, and in no bits.
fn position(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (wanted, within) = (call.texts(0)?, call.texts(1)?);
    call.map_integers(|row| {
        let within = within.value(row);
        let found = within.find(wanted.value(row)).filter(|_| !within.is_empty());
        Ok(found.map_or(0, |it| it + 1))
    })
}

/// A text of digits as bits of a length, with zeros before them.
fn of_text(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, lengths) = (call.texts(0)?, call.integers(1)?);
    call.map_texts(|row, out: &mut Texts| {
        let bits = bit_text::parse(texts.value(row))?;
        let length = usize::try_from(lengths.at(row)).unwrap_or(0);
        let Some(missing) = length.checked_sub(bits.len()) else {
            return Err(invalid("a bitstring must not be longer than it is said to be"));
        };
        out.push_repeated("0", missing)?;
        out.push(&bits)
    })
}
