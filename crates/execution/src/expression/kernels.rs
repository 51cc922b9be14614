//! Loops over slices that all nodes share. The closure is inlined, so each use is a loop of its own, compiled for each
//! level of instructions.

use crate::Bitmap;
use crate::leveled::{self, level};

/// An operand of a loop: values, or one value for all rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lanes<'a, T> {
    /// A value per row.
    Slice(&'a [T]),
    /// The same value in all rows.
    Constant(T),
}

/// A value per row from one per row.
#[inline]
pub(super) fn map1<A: Copy, R: Copy>(values: &[A], f: impl Fn(A) -> R) -> Vec<R> {
    leveled::map1(level(), values, f)
}

/// A value per row from two operands.
#[inline]
pub(super) fn map2<A: Copy, B: Copy, R: Copy>(
    rows: usize,
    left: Lanes<'_, A>,
    right: Lanes<'_, B>,
    f: impl Fn(A, B) -> R,
) -> Vec<R> {
    match (left, right) {
        (Lanes::Slice(a), Lanes::Slice(b)) => leveled::map2(level(), a, b, f),
        (Lanes::Slice(a), Lanes::Constant(b)) => leveled::map1(level(), a, |a| f(a, b)),
        (Lanes::Constant(a), Lanes::Slice(b)) => leveled::map1(level(), b, |b| f(a, b)),
        (Lanes::Constant(a), Lanes::Constant(b)) => vec![f(a, b); rows],
    }
}

/// The rows for which `f` holds, ascending. Writes each row and moves on only if it holds: no branch to mispredict.
#[inline]
pub(super) fn select_rows(rows: usize, out: &mut Vec<u32>, mut f: impl FnMut(usize) -> bool) {
    out.clear();
    out.resize(rows, 0);
    let mut kept = 0;
    for row in 0..rows {
        out[kept] = row as u32;
        kept += usize::from(f(row));
    }
    out.truncate(kept);
}

/// [`select_rows`] for a condition on two operands.
#[inline]
pub(super) fn select2<T: Copy>(
    rows: usize,
    left: Lanes<'_, T>,
    right: Lanes<'_, T>,
    out: &mut Vec<u32>,
    f: impl Fn(T, T) -> bool,
) {
    match (left, right) {
        (Lanes::Slice(a), Lanes::Slice(b)) => {
            let (a, b) = (&a[..rows], &b[..rows]);
            select_rows(rows, out, |row| f(a[row], b[row]));
        }
        (Lanes::Slice(a), Lanes::Constant(b)) => {
            let a = &a[..rows];
            select_rows(rows, out, |row| f(a[row], b));
        }
        (Lanes::Constant(a), Lanes::Slice(b)) => {
            let b = &b[..rows];
            select_rows(rows, out, |row| f(a, b[row]));
        }
        (Lanes::Constant(a), Lanes::Constant(b)) => {
            let holds = f(a, b);
            select_rows(rows, out, |_| holds);
        }
    }
}

/// The rows that are valid on both sides.
pub(super) fn both_valid(left: Option<&Bitmap>, right: Option<&Bitmap>) -> Option<Bitmap> {
    match (left, right) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (Some(a), Some(b)) => Some(Bitmap(a.0.iter().zip(&b.0).map(|(a, b)| a & b).collect())),
    }
}

/// Whether a row is valid.
#[inline]
pub(super) fn valid_at(validity: Option<&Bitmap>, row: usize) -> bool {
    validity.is_none_or(|it| it.get(row))
}

/// Drops the rows that are NULL.
pub(super) fn keep_valid(validity: Option<&Bitmap>, rows: &mut Vec<u32>) {
    if let Some(map) = validity {
        rows.retain(|&row| map.get(row as usize));
    }
}

/// Whether `f` holds for any row that is not NULL. The first pass takes NULLs in and vectorises; only when it finds
/// something are the rows looked at one by one.
#[inline]
pub(super) fn any_valid<T: Copy>(
    values: &[T],
    validity: Option<&Bitmap>,
    f: impl Fn(T) -> bool,
) -> bool {
    let any = leveled::any(level(), values, &f);
    any && validity
        .is_none_or(|map| values.iter().enumerate().any(|(row, &it)| f(it) && map.get(row)))
}

/// Least and greatest value; `None` of nothing.
#[inline]
pub(super) fn extent<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
    leveled::extent(level(), values)
}
