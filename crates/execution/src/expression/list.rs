//! IN with a list of constants: a bitmap, a few comparisons, or a search, whichever the list allows.

use std::collections::HashSet;

use types::{DataType, SqlResult, Value};

use super::compare::trim_blanks;
use super::integers::power_of_ten;
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
    Dense { least: i64, map: Bitmap, length: u64 },
    Sorted(Vec<i64>),
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Booleans { holds: [bool; 2] },
    Texts { texts: HashSet<Box<[u8]>>, trimmed: bool },
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
            Set::Texts { texts: list.iter().filter_map(bytes).collect(), trimmed }
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
