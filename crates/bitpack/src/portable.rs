//! Every kernel in plain Rust: what the SIMD levels must equal, and what machines without them run.
//!
//! Kernels trust their caller ([`crate::Kernels`], which checks): `packed` covers `start + rows` codes and the padding,
//! and bitmaps have a word for each 64 rows begun. `keep` is all ones for a kernel that overwrites the bitmap and zero
//! for one that intersects it, so that one body serves both: `out = found & (out | keep)`.

use crate::bitmap::tail_mask;
use crate::level::Instructions;
use crate::table::{Kernels, by_width};

/// The kernels of every machine.
pub(crate) static KERNELS: Kernels = Kernels {
    level: Instructions::Portable,
    unpack_u8: by_width!(8, unpack, u8),
    unpack_u16: by_width!(16, unpack, u16),
    unpack_u32: by_width!(32, unpack, u32),
    unpack_u64: by_width!(32, unpack, u64),
    unpack_i64_add: by_width!(32, unpack_i64_add),
    scan_range: by_width!(32, scan_range),
    scan_set: by_width!(32, scan_set),
    scan_range_u64,
    compare_i16,
    compare_i32,
    compare_i64,
    compress_i64,
    compress_u32,
    positions,
    count,
};

/// A type that a code can be widened or narrowed to; the caller knows that it fits.
pub(crate) trait Lane: Copy {
    fn from_code(code: u64) -> Self;
}

macro_rules! lanes {
    ($($lane:ty),*) => {$(
        impl Lane for $lane {
            #[inline(always)]
            fn from_code(code: u64) -> Self {
                code as $lane
            }
        }
    )*};
}
lanes!(u8, u16, u32, u64);

/// The code of one row.
///
/// # Safety
/// Eight bytes can be read at byte `row * W / 8` of `packed`.
#[inline(always)]
pub(crate) unsafe fn code<const W: usize>(packed: *const u8, row: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { window(packed, row * W) & ((1 << W) - 1) }
}

/// The 57 or more bits from bit `bit` on.
///
/// # Safety
/// Eight bytes can be read at byte `bit / 8` of `packed`.
#[inline(always)]
pub(crate) unsafe fn window(packed: *const u8, bit: usize) -> u64 {
    // SAFETY: the caller's promise; the read is unaligned by design.
    let word = unsafe { packed.add(bit / 8).cast::<u64>().read_unaligned() };
    u64::from_le(word) >> (bit % 8)
}

/// Membership of the rows of `wanted` alone, one by one.
///
/// # Safety
/// The rows from `from` on exist, and padding follows the last one.
#[inline(always)]
pub(crate) unsafe fn set_sparse<const W: usize>(from: *const u8, wanted: u64, set: &[u64]) -> u64 {
    let (mut left, mut word) = (wanted, 0);
    while left != 0 {
        let row = left.trailing_zeros() as usize;
        // SAFETY: the caller's promise.
        let code = unsafe { window(from, row * W) } & ((1 << W) - 1);
        let member = set.get(code as usize / 64).copied().unwrap_or(0) >> (code % 64) & 1;
        word |= member << row;
        left &= left - 1;
    }
    word
}

pub(crate) unsafe fn unpack<const W: usize, T: Lane>(packed: &[u8], start: usize, out: &mut [T]) {
    let packed = packed.as_ptr();
    for (row, out) in out.iter_mut().enumerate() {
        // SAFETY: `packed` covers `start + out.len()` codes and the padding.
        *out = T::from_code(unsafe { code::<W>(packed, start + row) });
    }
}

pub(crate) unsafe fn unpack_i64_add<const W: usize>(
    packed: &[u8],
    start: usize,
    base: i64,
    out: &mut [i64],
) {
    let packed = packed.as_ptr();
    for (row, out) in out.iter_mut().enumerate() {
        // SAFETY: `packed` covers `start + out.len()` codes and the padding.
        *out = base.wrapping_add(unsafe { code::<W>(packed, start + row) } as i64);
    }
}

/// Bit `i` of the result is `test(row + i)`, for up to 64 rows.
#[inline(always)]
pub(crate) fn word_of(rows: usize, mut test: impl FnMut(usize) -> bool) -> u64 {
    let mut word = 0;
    for row in 0..rows {
        word |= u64::from(test(row)) << row;
    }
    word
}

/// Fills a bitmap word by word; `find(first, rows)` gives the word of up to 64 rows from `first` on. When the bitmap is
/// intersected, eight empty words in a row are skipped: a shorter run saves less than a wrong branch costs.
#[inline(always)]
pub(crate) fn scan_words(
    rows: usize,
    out: &mut [u64],
    keep: u64,
    mut find: impl FnMut(usize, usize) -> u64,
) {
    let out = &mut out[..rows.div_ceil(64)];
    for (index, run) in out.chunks_mut(8).enumerate() {
        if keep == 0 && run.iter().all(|&it| it == 0) {
            continue;
        }
        for (word, out) in run.iter_mut().enumerate() {
            let first = index * 512 + word * 64;
            *out = find(first, (rows - first).min(64)) & (*out | keep);
        }
    }
}

pub(crate) unsafe fn scan_range<const W: usize>(
    packed: &[u8],
    start: usize,
    rows: usize,
    lo: u32,
    hi: u32,
    out: &mut [u64],
    keep: u64,
) {
    let packed = packed.as_ptr();
    let span = hi.wrapping_sub(lo);
    scan_words(rows, out, keep, |first, rows| {
        let first = start + first;
        // SAFETY: `packed` covers `start + rows` codes and the padding.
        word_of(rows, |row| unsafe {
            (code::<W>(packed, first + row) as u32).wrapping_sub(lo) <= span
        })
    });
}

pub(crate) unsafe fn scan_set<const W: usize>(
    packed: &[u8],
    start: usize,
    rows: usize,
    set: &[u64],
    out: &mut [u64],
    keep: u64,
) {
    let packed = packed.as_ptr();
    scan_words(rows, out, keep, |first, rows| {
        let first = start + first;
        word_of(rows, |row| {
            // SAFETY: `packed` covers `start + rows` codes and the padding.
            let code = unsafe { code::<W>(packed, first + row) } as usize;
            // A code past the end of the set (that of NULL, mostly) is not in it.
            set.get(code / 64).is_some_and(|it| it >> (code % 64) & 1 != 0)
        })
    });
}

/// The range test on plain words.
#[inline(always)]
pub(crate) fn scan_words_u64(
    packed: &[u8],
    start: usize,
    rows: usize,
    lo: u64,
    hi: u64,
    out: &mut [u64],
    keep: u64,
) {
    let values = &packed[start * 8..(start + rows) * 8];
    let span = hi.wrapping_sub(lo);
    scan_words(rows, out, keep, |first, rows| {
        let values = &values[first * 8..(first + rows) * 8];
        let mut word = 0;
        for (row, value) in values.chunks_exact(8).enumerate() {
            let value = u64::from_le_bytes(value.try_into().expect("invariant: eight bytes"));
            word |= u64::from(value.wrapping_sub(lo) <= span) << row;
        }
        word
    });
}

pub(crate) unsafe fn scan_range_u64(
    packed: &[u8],
    start: usize,
    rows: usize,
    lo: u64,
    hi: u64,
    out: &mut [u64],
    keep: u64,
) {
    scan_words_u64(packed, start, rows, lo, hi, out, keep);
}

pub(crate) fn count(words: &[u64]) -> usize {
    words.iter().map(|it| it.count_ones() as usize).sum()
}

/// The rows of a bitmap, written from `out[0]` on; the caller knows that they fit.
pub(crate) fn positions(words: &[u64], out: &mut [u32]) {
    let mut next = 0;
    for (index, &word) in words.iter().enumerate() {
        let base = (index * 64) as u32;
        if word == u64::MAX {
            for (bit, out) in out[next..next + 64].iter_mut().enumerate() {
                *out = base + bit as u32;
            }
            next += 64;
            continue;
        }
        let mut left = word;
        while left != 0 {
            out[next] = base + left.trailing_zeros();
            next += 1;
            left &= left - 1;
        }
    }
}

/// The values whose bit is set, written from `out[0]` on; the caller knows that they fit.
#[inline(always)]
pub(crate) fn compress<T: Copy>(values: &[T], words: &[u64], out: &mut [T]) {
    let mut next = 0;
    for (values, &word) in values.chunks(64).zip(words) {
        if word == u64::MAX && values.len() == 64 {
            out[next..next + 64].copy_from_slice(values);
            next += 64;
            continue;
        }
        let mut left = word;
        while left != 0 {
            out[next] = values[left.trailing_zeros() as usize];
            next += 1;
            left &= left - 1;
        }
    }
}

pub(crate) fn compress_i64(values: &[i64], words: &[u64], out: &mut [i64]) {
    compress(values, words, out);
}

pub(crate) fn compress_u32(values: &[u32], words: &[u64], out: &mut [u32]) {
    compress(values, words, out);
}

/// Bits of a comparison's outcome: less, equal, greater.
pub(crate) const LESS: u8 = 1;
pub(crate) const EQUAL: u8 = 2;
pub(crate) const GREATER: u8 = 4;

/// A signed number that codes are compared as.
pub(crate) trait Signed: Copy + Ord {
    fn plus(self, other: Self) -> Self;
}

macro_rules! signed {
    ($($number:ty),*) => {$(
        impl Signed for $number {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}
signed!(i16, i32, i64);

/// Compares `left` plus `shift` with `right`, element by element; `wanted` is a sum of [`LESS`], [`EQUAL`] and
/// [`GREATER`]. Every comparison is one of less and equal, or their complement.
#[inline(always)]
pub(crate) fn compare<T: Signed>(
    left: &[T],
    shift: T,
    right: &[T],
    wanted: u8,
    out: &mut [u64],
    keep: u64,
) {
    let negate = if wanted & GREATER != 0 { u64::MAX } else { 0 };
    let accept = if wanted & GREATER != 0 { !wanted & 7 } else { wanted };
    for (index, out) in out.iter_mut().enumerate() {
        let last = (left.len() - index * 64).min(64);
        let left = &left[index * 64..][..last];
        let right = &right[index * 64..][..last];
        let word = match accept {
            0 => 0,
            LESS => pairs(left, right, |left, right| left.plus(shift) < right),
            EQUAL => pairs(left, right, |left, right| left.plus(shift) == right),
            _ => pairs(left, right, |left, right| left.plus(shift) <= right),
        };
        *out = (word ^ negate) & tail_mask(last) & (*out | keep);
    }
}

#[inline(always)]
fn pairs<T: Copy>(left: &[T], right: &[T], test: impl Fn(T, T) -> bool) -> u64 {
    let mut word = 0;
    for (row, (&left, &right)) in left.iter().zip(right).enumerate() {
        word |= u64::from(test(left, right)) << row;
    }
    word
}

macro_rules! compare_kernels {
    ($($name:ident: $number:ty),*) => {$(
        pub(crate) unsafe fn $name(
            left: &[$number],
            shift: $number,
            right: &[$number],
            wanted: u8,
            out: &mut [u64],
            keep: u64,
        ) {
            compare(left, shift, right, wanted, out, keep);
        }
    )*};
}
compare_kernels!(compare_i16: i16, compare_i32: i32, compare_i64: i64);
