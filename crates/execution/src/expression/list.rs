//! IN with a list of constants: a bitmap, a few comparisons, or a search, whichever the list allows.

use std::collections::HashSet;

use foldhash::quality::FixedState;
use types::numeric::decimal::power_of_ten;
use types::numeric::float;
use types::{DataType, SqlResult, Value};

use super::characters::trim_blanks;
use super::kernels::{Lanes, map2};
use super::node::{Facts, Kernel, Node, Texts, for_texts};
use crate::{Batch, Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// Lists up to this length are compared one by one.
const FEW: usize = 8;
/// Lists of numbers that lie within this many are held as a bitmap.
const DENSE: i64 = 1 << 16;

#[derive(Debug)]
enum Set {
    Few(Vec<i64>),
    Dense {
        least: i64,
        map: Bitmap,
        length: u64,
    },
    Sorted(Vec<i64>),
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Booleans {
        holds: [bool; 2],
    },
    /// Texts of up to seven bytes, as [`short_word`].
    Short(Vec<u64>),
    Texts {
        texts: HashSet<Box<[u8]>, FixedState>,
        trimmed: bool,
    },
}

/// A text of up to seven bytes and its length in a word; no text for those that are longer.
#[inline]
fn short_word(text: &[u8]) -> u64 {
    match text.len() {
        8.. => u64::MAX,
        length => text.iter().rev().fold(length as u64, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[derive(Debug)]
struct InList {
    operand: Node,
    set: Set,
    has_null: bool,
    negated: bool,
}

/// Compiles [NOT] IN.
pub(super) fn in_list(operand: Node, list: &[Value], negated: bool) -> Node {
    if list.is_empty() {
        return Node::constant(Value::Boolean(negated), DataType::Boolean);
    }
    if operand.is_null() {
        return Node::null(DataType::Boolean);
    }
    let has_null = list.iter().any(Value::is_null);
    let set = set_of(&operand.shape, list);
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(DataType::Boolean, facts.nullable || has_null);
    Node::new(shape, facts, InList { operand, set, has_null, negated })
}

fn set_of(shape: &ColumnShape, list: &[Value]) -> Set {
    let numbers = || {
        let scale = shape.data_type.scale();
        let mut numbers: Vec<i128> = list.iter().filter_map(|it| at_scale(it, scale)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    match shape.representation {
        Representation::I64 => {
            set_of_integers(numbers().into_iter().filter_map(|it| it.try_into().ok()).collect())
        }
        Representation::I128 => Set::Wide(numbers()),
        Representation::F64 => {
            let float = |it: &Value| match it {
                Value::Float(it) => Some(*it),
                Value::Integer(it) => Some(*it as f64),
                Value::Decimal { unscaled, scale } => {
                    Some(float::of_exact(*unscaled, *scale, false))
                }
                _ => None,
            };
            Set::Floats(list.iter().filter_map(float).collect())
        }
        Representation::Bool => {
            let holds = |value| list.contains(&Value::Boolean(value));
            Set::Booleans { holds: [holds(false), holds(true)] }
        }
        Representation::Codes(_) | Representation::Text => {
            let trimmed = matches!(shape.data_type, DataType::Char(_));
            let bytes = |it: &Value| match it {
                Value::Text(it) if trimmed => Some(trim_blanks(it.as_bytes()).into()),
                Value::Text(it) => Some(it.as_bytes().into()),
                _ => None,
            };
            let texts: HashSet<Box<[u8]>, FixedState> = list.iter().filter_map(bytes).collect();
            if !trimmed && texts.len() <= FEW && texts.iter().all(|it| it.len() < 8) {
                return Set::Short(texts.iter().map(|it| short_word(it)).collect());
            }
            Set::Texts { texts, trimmed }
        }
    }
}

/// The unscaled integer of a constant at a scale; `None` when it has more digits, as then nothing equals it.
fn at_scale(value: &Value, scale: u8) -> Option<i128> {
    let own = if let Value::Decimal { scale, .. } = value { *scale } else { 0 };
    let number = value.as_i128()?;
    let factor = power_of_ten(u32::from(own.abs_diff(scale)))?;
    if own <= scale {
        number.checked_mul(factor)
    } else {
        (number % factor == 0).then_some(number / factor)
    }
}

fn set_of_integers(sorted: Vec<i64>) -> Set {
    let (Some(&least), Some(&greatest)) = (sorted.first(), sorted.last()) else {
        return Set::Few(sorted);
    };
    if sorted.len() <= FEW {
        return Set::Few(sorted);
    }
    match greatest.checked_sub(least) {
        Some(span) if span < DENSE => {
            let length = span as u64 + 1;
            let mut map = Bitmap::filled(length as usize, false);
            sorted.iter().for_each(|it| map.set((it - least) as usize, true));
            Set::Dense { least, map, length }
        }
        _ => Set::Sorted(sorted),
    }
}

impl InList {
    fn contained(&self, batch: &Batch) -> SqlResult<(Vec<bool>, Option<Bitmap>)> {
        let argument = self.operand.argument(batch)?;
        let rows = batch.rows;
        let none = Lanes::Constant(());
        let found = match &self.set {
            Set::Few(list) => match argument.i64() {
                Lanes::Slice(values) => few(values, list),
                Lanes::Constant(value) => vec![list.contains(&value); rows],
            },
            Set::Dense { least, map, length } => map2(rows, argument.i64(), none, |it, ()| {
                let place = it.wrapping_sub(*least) as u64;
                place < *length && map.get(place as usize)
            }),
            Set::Sorted(list) => {
                map2(rows, argument.i64(), none, |it, ()| list.binary_search(&it).is_ok())
            }
            Set::Wide(list) => {
                map2(rows, argument.i128(), none, |it, ()| list.binary_search(&it).is_ok())
            }
            Set::Floats(list) => map2(rows, argument.f64(), none, |it, ()| {
                list.iter().any(|&other| it == other || it.is_nan() && other.is_nan())
            }),
            Set::Booleans { holds } => {
                map2(rows, argument.bool(), none, |it, ()| holds[usize::from(it)])
            }
            Set::Short(words) => {
                let mut space = TextVector::default();
                let source = Texts::of(&argument, &self.operand.shape, &mut space);
                for_texts!(source, get => {
                    let is_in = |text: &[u8]| {
                        let word = short_word(text);
                        words.iter().fold(false, |found, &it| found | (it == word))
                    };
                    (0..rows).map(|row| is_in(get(row))).collect()
                })
            }
            Set::Texts { texts, trimmed } => {
                let mut space = TextVector::default();
                let source = Texts::of(&argument, &self.operand.shape, &mut space);
                if *trimmed {
                    (0..rows).map(|row| texts.contains(trim_blanks(source.get(row)))).collect()
                } else {
                    for_texts!(source, get => {
                        (0..rows).map(|row| texts.contains(get(row))).collect()
                    })
                }
            }
        };
        Ok((found, argument.validity().cloned()))
    }
}

fn few(values: &[i64], list: &[i64]) -> Vec<bool> {
    let mut found = vec![false; values.len()];
    for &wanted in list {
        found.iter_mut().zip(values).for_each(|(found, &it)| *found |= it == wanted);
    }
    found
}

impl Kernel for InList {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let (mut found, mut validity) = self.contained(batch)?;
        if self.has_null {
            // Not found among the values: whether it equals the NULL is unknown.
            let known =
                |row: usize| found[row] && validity.as_ref().is_none_or(|it: &Bitmap| it.get(row));
            validity = Some(Bitmap::from_bits((0..batch.rows).map(known)));
        }
        if self.negated {
            found.iter_mut().for_each(|it| *it = !*it);
        }
        Ok(Vector { values: Values::Bool(found), validity })
    }
}

#[cfg(test)]
mod tests {
    use super::short_word;

    #[test]
    fn short_texts_are_words_of_their_own() {
        let texts = ["", "\0", "\0\0", "a", "a\0", "ab", "ba", "seven77", "\u{ffff}x\u{ffff}"];
        let words: Vec<u64> = texts.iter().map(|it| short_word(it.as_bytes())).collect();
        for (place, word) in words.iter().enumerate() {
            assert!(!words[..place].contains(word), "{:?}", texts[place]);
            for long in ["eight888", "nine 9999", "a text that is longer"] {
                assert_ne!(*word, short_word(long.as_bytes()), "{:?}", texts[place]);
            }
        }
    }
}
