//! Operators on decimals of all types against arithmetic on digits as it is done on paper.

use std::cmp::Ordering;

use stdx::prng::Prng;
use types::numeric::{self, Arithmetic};
use types::{DataType, Value};

/// Decimal digits, least first, without zeros at the end.
type Digits = Vec<u8>;

fn digits_of(mut value: u128) -> Digits {
    let mut digits = Vec::new();
    while value > 0 {
        digits.push((value % 10) as u8);
        value /= 10;
    }
    digits
}

fn trimmed(mut digits: Digits) -> Digits {
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits
}

fn order(a: &Digits, b: &Digits) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn shifted(digits: &Digits, zeros: usize) -> Digits {
    trimmed(std::iter::repeat_n(0, zeros).chain(digits.iter().copied()).collect())
}

fn sum(a: &Digits, b: &Digits) -> Digits {
    let mut carry = 0;
    let mut out = Vec::new();
    for place in 0..a.len().max(b.len()) + 1 {
        let at = |it: &Digits| it.get(place).copied().unwrap_or(0);
        let digit = at(a) + at(b) + carry;
        out.push(digit % 10);
        carry = digit / 10;
    }
    trimmed(out)
}

/// `a - b` for `a >= b`.
fn difference(a: &Digits, b: &Digits) -> Digits {
    let mut borrow = 0;
    let mut out = Vec::new();
    for (place, digit) in a.iter().enumerate() {
        let digit = 10 + digit - b.get(place).copied().unwrap_or(0) - borrow;
        out.push(digit % 10);
        borrow = 1 - digit / 10;
    }
    trimmed(out)
}

fn product(a: &Digits, b: &Digits) -> Digits {
    let mut out = Vec::new();
    for (place, &digit) in a.iter().enumerate() {
        for _ in 0..digit {
            out = sum(&out, &shifted(b, place));
        }
    }
    out
}

fn divided(a: &Digits, b: &Digits) -> (Digits, Digits) {
    let (mut quotient, mut rest) = (Vec::new(), Vec::new());
    for &digit in a.iter().rev() {
        rest.insert(0, digit);
        rest = trimmed(rest);
        let mut times = 0;
        while order(&rest, b) != Ordering::Less {
            rest = difference(&rest, b);
            times += 1;
        }
        quotient.insert(0, times);
    }
    (trimmed(quotient), rest)
}

/// `a / b`, rounded half up.
fn rounded(a: &Digits, b: &Digits) -> Digits {
    let (quotient, rest) = divided(a, b);
    let up = order(&sum(&rest, &rest), b) != Ordering::Less;
    if up { sum(&quotient, &vec![1]) } else { quotient }
}

#[derive(Clone, Debug)]
struct Paper {
    negative: bool,
    digits: Digits,
    scale: usize,
}

impl Paper {
    fn at(&self, scale: usize) -> Digits {
        shifted(&self.digits, scale - self.scale)
    }

    /// Sign and digits of `self op other` at a scale.
    fn arithmetic(&self, op: Arithmetic, other: &Self, scale: usize) -> (bool, Digits) {
        let common = self.scale.max(other.scale);
        let (a, b) = (self.at(common), other.at(common));
        let minus = op == Arithmetic::Subtract;
        let (negative, exact, digits) = match op {
            Arithmetic::Add | Arithmetic::Subtract if self.negative == (other.negative ^ minus) => {
                (self.negative, sum(&a, &b), common)
            }
            Arithmetic::Add | Arithmetic::Subtract => match order(&a, &b) {
                Ordering::Less => (!self.negative, difference(&b, &a), common),
                _ => (self.negative, difference(&a, &b), common),
            },
            Arithmetic::Multiply => {
                let exact = product(&self.digits, &other.digits);
                (self.negative ^ other.negative, exact, self.scale + other.scale)
            }
            Arithmetic::Divide => {
                let dividend = shifted(&a, scale);
                return (self.negative ^ other.negative, rounded(&dividend, &b));
            }
            Arithmetic::Modulo => (self.negative, divided(&a, &b).1, common),
        };
        let result = if digits <= scale {
            shifted(&exact, scale - digits)
        } else {
            rounded(&exact, &shifted(&vec![1], digits - scale))
        };
        (negative, result)
    }
}

fn decimal(prng: &mut Prng) -> (Value, DataType, Paper) {
    let precision = 1 + prng.below(38) as u8;
    let scale = prng.below(u64::from(precision) + 1) as u8;
    let bound = 10_i128.pow(1 + prng.below(u64::from(precision)) as u32);
    let random = i128::from(prng.next_u64()) << 62 | i128::from(prng.next_u64() >> 2);
    let unscaled = match prng.below(8) {
        0 => bound - 1,
        1 => 1 - bound,
        2 => bound / 10,
        3 => -(bound / 2),
        _ => random % bound * if prng.below(2) == 0 { 1 } else { -1 },
    };
    let digits = digits_of(unscaled.unsigned_abs());
    let paper = Paper { negative: unscaled < 0, digits, scale: usize::from(scale) };
    (Value::Decimal { unscaled, scale }, DataType::Decimal { precision, scale }, paper)
}

#[test]
fn operators_on_decimals_are_those_on_paper() {
    use Arithmetic::{Add, Divide, Modulo, Multiply, Subtract};
    let mut prng = Prng::new(20);
    let (mut results, mut overflows) = (0, 0);
    for _ in 0..20_000 {
        let ((a, at, left), (b, bt, right)) = (decimal(&mut prng), decimal(&mut prng));
        for op in [Add, Subtract, Multiply, Divide, Modulo] {
            let result = numeric::arithmetic(op, (&a, at), (&b, bt));
            let Some(DataType::Decimal { precision, scale }) = numeric::arithmetic_type(op, at, bt)
            else {
                panic!("{at} {} {bt} is a decimal", op.sql());
            };
            let told = || format!("{a} {} {b} ({at}, {bt})", op.sql());
            if right.digits.is_empty() && matches!(op, Divide | Modulo) {
                assert_eq!(result.map_err(|it| it.state.0), Err("22012"), "{}", told());
                continue;
            }
            let (negative, digits) = left.arithmetic(op, &right, usize::from(scale));
            if digits.len() > usize::from(precision) {
                assert_eq!(result.map_err(|it| it.state.0), Err("22003"), "{}", told());
                overflows += 1;
                continue;
            }
            let magnitude = digits.iter().rev().fold(0, |value, &it| value * 10 + i128::from(it));
            let unscaled = if negative { -magnitude } else { magnitude };
            assert_eq!(result, Ok(Value::Decimal { unscaled, scale }), "{}", told());
            results += 1;
        }
        let (common, minus) =
            (left.scale.max(right.scale), left.negative && !left.digits.is_empty());
        let expected = match (minus, right.negative && !right.digits.is_empty()) {
            (false, false) => order(&left.at(common), &right.at(common)),
            (true, true) => order(&right.at(common), &left.at(common)),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        };
        assert_eq!(numeric::compare((&a, at), (&b, bt)), Ok(Some(expected)), "{a} {b}");
    }
    assert!(results > 50_000 && overflows > 1_000, "{results} results, {overflows} overflows");
}

#[test]
fn casts_between_decimals_round_as_on_paper() {
    let mut prng = Prng::new(21);
    for _ in 0..50_000 {
        let (a, from, paper) = decimal(&mut prng);
        let (_, to, _) = decimal(&mut prng);
        let DataType::Decimal { precision, scale } = to else { panic!("{to} is a decimal") };
        let one = Paper { negative: false, digits: vec![1], scale: 0 };
        let (_, digits) = paper.arithmetic(Arithmetic::Divide, &one, usize::from(scale));
        let result = numeric::cast(&a, from, to);
        if digits.len() > usize::from(precision) {
            assert_eq!(result.map_err(|it| it.state.0), Err("22003"), "{a} as {to}");
            continue;
        }
        let magnitude = digits.iter().rev().fold(0, |value, &it| value * 10 + i128::from(it));
        let unscaled = if paper.negative { -magnitude } else { magnitude };
        assert_eq!(result, Ok(Value::Decimal { unscaled, scale }), "{a} as {to}");
        // And as text and back.
        let value = Value::Decimal { unscaled, scale };
        let text = numeric::cast(&value, to, DataType::Text).unwrap();
        assert_eq!(numeric::cast(&text, DataType::Text, to), Ok(value));
    }
}
