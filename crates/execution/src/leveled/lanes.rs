//! A value per row from one or two, and questions about all rows.

use std::mem::MaybeUninit;
use std::ops::BitOrAssign;

use super::{Level, leveled};

leveled! {
    fn fill1[A: Copy, R: Copy, F: Fn(A) -> R](values: &[A], out: &mut [MaybeUninit<R>], f: F) {
        for (out, &value) in out.iter_mut().zip(values) {
            out.write(f(value));
        }
    }
}

leveled! {
    fn fill2[A: Copy, B: Copy, R: Copy, F: Fn(A, B) -> R](
        left: &[A], right: &[B], out: &mut [MaybeUninit<R>], f: F,
    ) {
        for ((out, &left), &right) in out.iter_mut().zip(left).zip(right) {
            out.write(f(left, right));
        }
    }
}

/// A vector of `rows` values that `fill` writes, all of them.
#[inline]
fn filled<R: Copy>(rows: usize, fill: impl FnOnce(&mut [MaybeUninit<R>])) -> Vec<R> {
    let mut out = Vec::with_capacity(rows);
    fill(&mut out.spare_capacity_mut()[..rows]);
    // SAFETY: the callers' loops run over at least `rows` values, and write one for each.
    unsafe { out.set_len(rows) };
    out
}

/// A value per row from one per row.
#[inline]
pub(crate) fn map1<A: Copy, R: Copy>(level: Level, values: &[A], f: impl Fn(A) -> R) -> Vec<R> {
    filled(values.len(), |out| fill1(level, values, out, f))
}

/// A value per row from two per row, as many as both have.
#[inline]
pub(crate) fn map2<A: Copy, B: Copy, R: Copy>(
    level: Level,
    left: &[A],
    right: &[B],
    f: impl Fn(A, B) -> R,
) -> Vec<R> {
    filled(left.len().min(right.len()), |out| fill2(level, left, right, out, f))
}

leveled! {
    /// Whether `f` holds for any value; all are looked at.
    pub(crate) fn any[T: Copy, F: Fn(T) -> bool](values: &[T], f: F) -> bool {
        values.iter().fold(false, |any, &it| any | f(it))
    }
}

leveled! {
    /// Least and greatest value; `None` of nothing.
    pub(crate) fn extent[T: Copy + Ord](values: &[T]) -> Option<(T, T)> {
        let first = *values.first()?;
        let low = values.iter().fold(first, |low, &it| low.min(it));
        Some((low, values.iter().fold(first, |high, &it| high.max(it))))
    }
}

leveled! {
    /// The sum of all values. Additions wrap.
    pub(crate) fn sum[](values: &[i64]) -> i64 {
        values.iter().fold(0, |sum, &it| sum.wrapping_add(it))
    }
}

leveled! {
    /// The sum of codes of a byte, fewer than 2^24.
    pub(crate) fn sum_bytes[](codes: &[u8]) -> u32 {
        codes.iter().fold(0u32, |sum, &it| sum.wrapping_add(it.into()))
    }
}

leveled! {
    /// The sum of codes, fewer than 2^32.
    pub(crate) fn sum_codes[](codes: &[u32]) -> u64 {
        codes.iter().fold(0u64, |sum, &it| sum.wrapping_add(it.into()))
    }
}

leveled! {
    /// The sums of the upper and of the lower halves of integers, fewer than 2^31, with `flip` turned in each: the sum is
    /// 2^32 times the first plus the second.
    pub(crate) fn sum_words[](words: &[i64], flip: i64) -> (i64, i64) {
        words.iter().fold((0i64, 0i64), |(high, low), &it| {
            let it = it ^ flip;
            (high.wrapping_add(it >> 32), low.wrapping_add(it & 0xffff_ffff))
        })
    }
}

leveled! {
    /// Puts `f` of each value into a word: in place of what is there, or beside it.
    pub(crate) fn put[W: Copy + BitOrAssign, T: Copy, F: Fn(T) -> W](
        words: &mut [W], values: &[T], replace: bool, f: F,
    ) {
        if replace {
            words.iter_mut().zip(values).for_each(|(word, &it)| *word = f(it));
        } else {
            words.iter_mut().zip(values).for_each(|(word, &it)| *word |= f(it));
        }
    }
}

leveled! {
    /// Each value times `factor` plus `more`. Wraps.
    pub(crate) fn scale[](values: &mut [i64], factor: i64, more: i64) {
        for value in values {
            *value = value.wrapping_mul(factor).wrapping_add(more);
        }
    }
}
