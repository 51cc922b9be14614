//! Where the values of some rows of a column are written, from the front.

use types::{SqlError, SqlResult};

use super::direct::Seen;
use super::hash::float_bits;
use crate::{TextVector, Values};

/// Where the next rows of a column are written.
pub(super) enum Out<'a> {
    Codes(&'a mut [u32]),
    I64(&'a mut [i64]),
    I128(&'a mut [i128]),
    F64(&'a mut [f64]),
    Bool(&'a mut [bool]),
    /// Any values that have the form of words.
    Words(&'a mut [i64]),
    Text(TextOut<'a>),
}

/// Where texts are written.
pub(super) struct TextOut<'a> {
    pub(super) ends: &'a mut [u64],
    pub(super) bytes: &'a mut [u8],
    /// Bytes of the texts before.
    pub(super) base: u64,
}

/// The first of these values, which are no longer there then.
fn front<'a, T>(of: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (front, rest) = std::mem::take(of).split_at_mut(count);
    *of = rest;
    front
}

fn copy<T: Copy>(out: &mut &mut [T], from: &[T]) {
    front(out, from.len()).copy_from_slice(from);
}

impl<'a> Out<'a> {
    /// The place of the next rows, of which texts have so many bytes.
    pub(super) fn take(&mut self, rows: usize, bytes: usize) -> Self {
        match self {
            Self::Codes(out) => Self::Codes(front(out, rows)),
            Self::I64(out) => Self::I64(front(out, rows)),
            Self::I128(out) => Self::I128(front(out, rows)),
            Self::F64(out) => Self::F64(front(out, rows)),
            Self::Bool(out) => Self::Bool(front(out, rows)),
            Self::Words(out) => Self::Words(front(out, rows)),
            Self::Text(TextOut { ends, bytes: all, base }) => {
                let (start, ends) = (*base, front(ends, rows));
                *base += bytes as u64;
                Self::Text(TextOut { ends, bytes: front(all, bytes), base: start })
            }
        }
    }

    /// Writes values; tells what is seen of words, or fails where they are of another kind.
    pub(super) fn put(&mut self, values: &Values, what: &str) -> SqlResult<Option<Seen>> {
        match (self, values) {
            (Self::Codes(out), Values::Codes(from)) => copy(out, from),
            (Self::I64(out), Values::I64(from)) => copy(out, from),
            (Self::I128(out), Values::I128(from)) => copy(out, from),
            (Self::F64(out), Values::F64(from)) => copy(out, from),
            (Self::Bool(out), Values::Bool(from)) => copy(out, from),
            (Self::Text(out), Values::Text(from)) => out.put(from),
            (Self::Words(out), from) => {
                let out = front(out, from.len());
                write_words(from, out);
                return Ok(Seen::of(out));
            }
            (_, other) => return Err(mismatch(what, other)),
        }
        Ok(None)
    }
}

impl TextOut<'_> {
    fn put(&mut self, from: &TextVector) {
        copy(&mut self.bytes, &from.bytes);
        for (to, &end) in front(&mut self.ends, from.len()).iter_mut().zip(&from.ends) {
            *to = self.base + u64::from(end);
        }
        self.base += from.bytes.len() as u64;
    }
}

/// Values as 64-bit words; the kinds without such a form are left alone.
pub(super) fn write_words(from: &Values, out: &mut [i64]) {
    match from {
        Values::I64(from) => out.copy_from_slice(from),
        Values::Codes(from) => {
            out.iter_mut().zip(from).for_each(|(out, &code)| *out = i64::from(code));
        }
        Values::Bool(from) => {
            out.iter_mut().zip(from).for_each(|(out, &value)| *out = i64::from(value));
        }
        Values::F64(from) => {
            out.iter_mut().zip(from).for_each(|(out, &value)| *out = float_bits(value));
        }
        Values::I128(_) | Values::Text(_) => {}
    }
}

/// A vector that is not what its layout says.
pub(super) fn mismatch(wanted: &str, values: &Values) -> SqlError {
    let found = match values {
        Values::Codes(_) => "codes",
        Values::I64(_) => "64-bit integers",
        Values::I128(_) => "128-bit integers",
        Values::F64(_) => "floats",
        Values::Bool(_) => "Booleans",
        Values::Text(_) => "text",
    };
    SqlError::internal(format!("a join met a vector of {found} in place of {wanted}"))
}
