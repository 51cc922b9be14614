//! What is made of several kernels: comparing two columns, and fetching the survivors of a predicate.

use crate::portable::{EQUAL, GREATER, LESS};
use crate::{Kernels, bitmap};

/// A comparison of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
}

impl Comparison {
    fn wanted(self) -> u8 {
        match self {
            Self::Less => LESS,
            Self::LessOrEqual => LESS + EQUAL,
            Self::Equal => EQUAL,
            Self::NotEqual => LESS + GREATER,
            Self::GreaterOrEqual => EQUAL + GREATER,
            Self::Greater => GREATER,
        }
    }
}

/// A column in a comparison: value of row `i` = code of row `start + i` plus `base`, which must not overflow.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The packed codes and their padding.
    pub packed: &'a [u8],
    /// Their width.
    pub bits: u32,
    /// The first row.
    pub start: usize,
    /// The value of code 0.
    pub base: i64,
}

/// Rows decoded at a time, into buffers that stay in the first-level cache.
const CHUNK: usize = 1024;

/// [`Kernels::scan_compare`] at the best level.
pub fn scan_compare(
    left: Operand<'_>,
    comparison: Comparison,
    right: Operand<'_>,
    rows: usize,
    out: &mut [u64],
    and: bool,
) {
    Kernels::active().scan_compare(left, comparison, right, rows, out, and);
}

/// [`Kernels::select_i64_add`] at the best level.
pub fn select_i64_add(
    packed: &[u8],
    bits: u32,
    start: usize,
    rows: usize,
    words: &[u64],
    selected: usize,
    base: i64,
    out: &mut [i64],
) -> usize {
    Kernels::active().select_i64_add(packed, bits, start, rows, words, selected, base, out)
}

/// [`Kernels::select_u32`] at the best level.
pub fn select_u32(
    packed: &[u8],
    bits: u32,
    start: usize,
    rows: usize,
    words: &[u64],
    selected: usize,
    out: &mut [u32],
) -> usize {
    Kernels::active().select_u32(packed, bits, start, rows, words, selected, out)
}

impl Kernels {
    /// Bit `i` of `out` becomes "`left` of row `i` compares so with `right` of row `i`". With `and`, clears the bits of
    /// the other rows instead.
    pub fn scan_compare(
        &self,
        left: Operand<'_>,
        comparison: Comparison,
        right: Operand<'_>,
        rows: usize,
        out: &mut [u64],
        and: bool,
    ) {
        let (keep, wanted) = (if and { 0 } else { u64::MAX }, comparison.wanted());
        let out = &mut out[..bitmap::words_for(rows)];
        // The codes themselves are compared, one side shifted, in the narrowest lanes where nothing can overflow.
        let shift = left.base.checked_sub(right.base);
        let bits = left.bits.max(right.bits);
        let shift_within =
            |limit: u32| shift.filter(|it| bits <= limit && it.unsigned_abs() <= 1 << limit);
        if let Some(shift) = shift_within(14) {
            let (mut a, mut b) = ([0u16; CHUNK], [0u16; CHUNK]);
            chunks(rows, out, and, |first, len, out| {
                let (a, b) = (&mut a[..len], &mut b[..len]);
                self.unpack_u16(left.packed, left.bits, left.start + first, a);
                self.unpack_u16(right.packed, right.bits, right.start + first, b);
                // SAFETY: equal lengths, a word for each 64 rows, and the level runs here.
                unsafe { (self.compare_i16)(signed(a), shift as i16, signed(b), wanted, out, keep) }
            });
        } else if let Some(shift) = shift_within(30) {
            let (mut a, mut b) = ([0u32; CHUNK], [0u32; CHUNK]);
            chunks(rows, out, and, |first, len, out| {
                let (a, b) = (&mut a[..len], &mut b[..len]);
                self.unpack_u32(left.packed, left.bits, left.start + first, a);
                self.unpack_u32(right.packed, right.bits, right.start + first, b);
                // SAFETY: as above.
                unsafe { (self.compare_i32)(signed(a), shift as i32, signed(b), wanted, out, keep) }
            });
        } else {
            let (mut a, mut b) = ([0i64; CHUNK], [0i64; CHUNK]);
            chunks(rows, out, and, |first, len, out| {
                let (a, b) = (&mut a[..len], &mut b[..len]);
                self.unpack_i64_add(left.packed, left.bits, left.start + first, left.base, a);
                self.unpack_i64_add(right.packed, right.bits, right.start + first, right.base, b);
                // SAFETY: as above.
                unsafe { (self.compare_i64)(a, 0, b, wanted, out, keep) }
            });
        }
    }

    /// Writes code plus `base` (wrapping) of the `selected` rows of a bitmap and returns how many. From about 4 % of the
    /// rows on it decodes all and compresses, below that it fetches one by one.
    pub fn select_i64_add(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        rows: usize,
        words: &[u64],
        selected: usize,
        base: i64,
        out: &mut [i64],
    ) -> usize {
        if selected == rows {
            self.unpack_i64_add(packed, bits, start, base, &mut out[..rows]);
            return rows;
        }
        let mut next = 0;
        let chunks = words[..bitmap::words_for(rows)].chunks(CHUNK / 64);
        let chunks = chunks.enumerate().map(|(index, words)| (index * CHUNK, words));
        if selected.saturating_mul(25) < rows {
            let mut positions = [0; CHUNK];
            for (first, words) in chunks {
                let count = self.positions(words, (rows - first).min(CHUNK), &mut positions);
                let positions = &positions[..count];
                self.gather_i64_add(packed, bits, start + first, base, positions, &mut out[next..]);
                next += count;
            }
        } else {
            let mut values = [0; CHUNK];
            for (first, words) in chunks {
                let values = &mut values[..(rows - first).min(CHUNK)];
                self.unpack_i64_add(packed, bits, start + first, base, values);
                next += self.compress_i64(values, words, &mut out[next..]);
            }
        }
        debug_assert_eq!(next, selected);
        next
    }

    /// Writes the codes of the `selected` rows of a bitmap and returns how many, as [`Kernels::select_i64_add`] does.
    pub fn select_u32(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        rows: usize,
        words: &[u64],
        selected: usize,
        out: &mut [u32],
    ) -> usize {
        if selected == rows {
            self.unpack_u32(packed, bits, start, &mut out[..rows]);
            return rows;
        }
        let mut next = 0;
        let mut buffer = [0; CHUNK];
        for (index, words) in words[..bitmap::words_for(rows)].chunks(CHUNK / 64).enumerate() {
            let first = index * CHUNK;
            let len = (rows - first).min(CHUNK);
            if selected.saturating_mul(25) < rows {
                let count = self.positions(words, len, &mut buffer);
                self.gather_u32(packed, bits, start + first, &buffer[..count], &mut out[next..]);
                next += count;
            } else {
                self.unpack_u32(packed, bits, start + first, &mut buffer[..len]);
                next += self.compress_u32(&buffer[..len], words, &mut out[next..]);
            }
        }
        debug_assert_eq!(next, selected);
        next
    }
}

/// Calls `fill` with the first row, the number of rows and the words of each chunk; those that an intersection would
/// leave empty anyway are passed over.
fn chunks(rows: usize, out: &mut [u64], and: bool, mut fill: impl FnMut(usize, usize, &mut [u64])) {
    for (index, out) in out.chunks_mut(CHUNK / 64).enumerate() {
        if !and || bitmap::any(out) {
            fill(index * CHUNK, (rows - index * CHUNK).min(CHUNK), out);
        }
    }
}

/// An unsigned number and the signed one of its size.
trait Unsigned {
    type Signed;
}
impl Unsigned for u16 {
    type Signed = i16;
}
impl Unsigned for u32 {
    type Signed = i32;
}

fn signed<T: Unsigned>(codes: &[T]) -> &[T::Signed] {
    const { assert!(size_of::<T>() == size_of::<T::Signed>()) };
    // SAFETY: same size and alignment, and every bit pattern is a number of both types; the trait is private.
    unsafe { std::slice::from_raw_parts(codes.as_ptr().cast(), codes.len()) }
}
