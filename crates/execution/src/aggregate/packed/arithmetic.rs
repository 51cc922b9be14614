//! Arithmetic on the registers of a chunk of packed rows, in 32 bits where operands and result fit.

use plan::BinaryOperator;

use crate::leveled::{Level, write1, write2};

/// An operand of a chunk.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    Narrow(&'a [u32]),
    Wide(&'a [i64]),
    Constant(i64),
}

/// In 32 bits: what overflows on the way does not show, because the result fits.
pub(super) fn binary_u32(
    level: Level,
    operator: BinaryOperator,
    left: Values<'_>,
    right: Values<'_>,
    out: &mut [u32],
) {
    use BinaryOperator::{Add, Subtract};
    use Values::{Constant, Narrow};
    match (left, right) {
        (Narrow(a), Narrow(b)) => match operator {
            Add => write2(level, a, b, out, u32::wrapping_add),
            Subtract => write2(level, a, b, out, u32::wrapping_sub),
            _ => write2(level, a, b, out, u32::wrapping_mul),
        },
        (Narrow(a), Constant(b)) => match (operator, b as u32) {
            (Add, b) => write1(level, a, out, |a| a.wrapping_add(b)),
            (Subtract, b) => write1(level, a, out, |a| a.wrapping_sub(b)),
            (_, b) => write1(level, a, out, |a| a.wrapping_mul(b)),
        },
        (Constant(a), Narrow(b)) => match (operator, a as u32) {
            (Add, a) => write1(level, b, out, |b| a.wrapping_add(b)),
            (Subtract, a) => write1(level, b, out, |b| a.wrapping_sub(b)),
            (_, a) => write1(level, b, out, |b| a.wrapping_mul(b)),
        },
        _ => unreachable!("invariant: what is narrow comes of what is narrow"),
    }
}

/// In 64 bits, which hold the result.
pub(super) fn binary_i64(
    level: Level,
    operator: BinaryOperator,
    left: Values<'_>,
    right: Values<'_>,
    out: &mut [i64],
) {
    use Values::{Constant, Narrow, Wide};
    match (left, right) {
        (Narrow(a), Narrow(b)) => of_two(level, operator, a, b, out),
        (Narrow(a), Wide(b)) => of_two(level, operator, a, b, out),
        (Wide(a), Narrow(b)) => of_two(level, operator, a, b, out),
        (Wide(a), Wide(b)) => of_two(level, operator, a, b, out),
        (Narrow(a), Constant(b)) => of_one(level, operator, a, |a, f| f(a, b), out),
        (Wide(a), Constant(b)) => of_one(level, operator, a, |a, f| f(a, b), out),
        (Constant(a), Narrow(b)) => of_one(level, operator, b, |b, f| f(a, b), out),
        (Constant(a), Wide(b)) => of_one(level, operator, b, |b, f| f(a, b), out),
        (Constant(_), Constant(_)) => unreachable!("invariant: constants are folded"),
    }
}

fn of_two<A: Copy + Into<i64>, B: Copy + Into<i64>>(
    level: Level,
    operator: BinaryOperator,
    left: &[A],
    right: &[B],
    out: &mut [i64],
) {
    match operator {
        BinaryOperator::Add => {
            write2(level, left, right, out, |a: A, b: B| a.into().wrapping_add(b.into()));
        }
        BinaryOperator::Subtract => {
            write2(level, left, right, out, |a: A, b: B| a.into().wrapping_sub(b.into()));
        }
        _ => write2(level, left, right, out, |a: A, b: B| a.into().wrapping_mul(b.into())),
    }
}

/// `with` puts the other operand, a constant, on its side.
fn of_one<A: Copy + Into<i64>>(
    level: Level,
    operator: BinaryOperator,
    values: &[A],
    with: impl Fn(i64, fn(i64, i64) -> i64) -> i64,
    out: &mut [i64],
) {
    match operator {
        BinaryOperator::Add => write1(level, values, out, |it| with(it.into(), i64::wrapping_add)),
        BinaryOperator::Subtract => {
            write1(level, values, out, |it| with(it.into(), i64::wrapping_sub));
        }
        _ => write1(level, values, out, |it| with(it.into(), i64::wrapping_mul)),
    }
}
