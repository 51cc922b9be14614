//! Key columns of every representation, made from small numbers so that both sides meet.

use std::collections::BTreeSet;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use hardware::samples;
use memory::Allocator;
use simulator::SimulatedMachine;
use stdx::Prng;
use stdx::sync::{Arc, OnceLock};
use storage::{BuildContext, Column, ColumnSchema, Encoding, TableBuilder};
use types::{ColumnId, DataType};

use super::shape;
use crate::{Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// How a key column is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Small,
    Sparse,
    Extreme,
    Wide,
    Float,
    Bool,
    Text,
    Dictionary,
    Plain,
}

/// Kinds of the two sides that can be joined.
pub(super) const KINDS: [(Kind, Kind); 17] = [
    (Kind::Small, Kind::Small),
    (Kind::Small, Kind::Small),
    (Kind::Sparse, Kind::Sparse),
    (Kind::Extreme, Kind::Extreme),
    (Kind::Small, Kind::Wide),
    (Kind::Wide, Kind::Small),
    (Kind::Wide, Kind::Wide),
    (Kind::Float, Kind::Float),
    (Kind::Bool, Kind::Bool),
    (Kind::Text, Kind::Text),
    (Kind::Dictionary, Kind::Dictionary),
    (Kind::Dictionary, Kind::Text),
    (Kind::Text, Kind::Dictionary),
    (Kind::Plain, Kind::Text),
    (Kind::Plain, Kind::Dictionary),
    (Kind::Dictionary, Kind::Plain),
    (Kind::Plain, Kind::Plain),
];

/// A column of texts: with a dictionary when there are few.
fn text_column(texts: &[String]) -> Arc<Column> {
    let array: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_from_iter([("t", array)]).unwrap();
    let builder = TableBuilder::new("t", vec![ColumnSchema::new("t", DataType::Text, true)]);
    builder.push(0, batch).unwrap();
    let allocator = Allocator::new(SimulatedMachine::new(samples::laptop(), 1));
    builder.finish(&BuildContext::serial(&allocator)).unwrap().column(ColumnId(0)).clone()
}

/// A plain column with the text of each number at its position, and others behind.
fn plain_column() -> Arc<Column> {
    static COLUMN: OnceLock<Arc<Column>> = OnceLock::new();
    let texts = || (0..PLAIN_TEXTS).map(text).chain((0..8000).map(|it| format!("other {it}")));
    let column = COLUMN.get_or_init(|| text_column(&texts().collect::<Vec<_>>()));
    assert!(matches!(column.encoding, Encoding::Plain(_)));
    column.clone()
}

/// Numbers have to stay below this to be in the plain column.
const PLAIN_TEXTS: u64 = 400;

/// The text behind a code or position.
pub(super) fn text_of(column: &Column, code: u32) -> String {
    crate::text_of(column, code).into_owned()
}

fn text(number: u64) -> String {
    // Lengths around the eight bytes that are hashed at a time; one text is empty, one begins another.
    match number {
        0 => String::new(),
        _ => format!("t{number}{}", "x".repeat(number as usize % 19)),
    }
}

fn word(kind: Kind, number: u64) -> i64 {
    match kind {
        Kind::Sparse => (number as i64 - 20) * 1_000_000_007,
        Kind::Extreme => match number % 4 {
            0 => i64::MIN + number as i64 / 4,
            1 => i64::MAX - number as i64 / 4,
            2 => number as i64,
            _ => -(number as i64),
        },
        _ => number as i64 - 5,
    }
}

fn float(number: u64, prng: &mut Prng) -> f64 {
    match number {
        0 => [0.0, -0.0][prng.below(2) as usize],
        1 => [f64::NAN, -f64::NAN][prng.below(2) as usize],
        2 => f64::INFINITY,
        _ => number as f64 / 2.0 - 3.0,
    }
}

/// A key column of the given numbers; `None` is NULL.
pub(super) fn column(
    kind: Kind,
    numbers: &[Option<u64>],
    prng: &mut Prng,
) -> (ColumnShape, Vector) {
    let bits = Bitmap::from_bits(numbers.iter().map(Option::is_some));
    let validity = numbers.contains(&None).then_some(bits);
    // At a NULL stands the value of number 0, as if it were there.
    let known: Vec<u64> = numbers.iter().map(|it| it.unwrap_or(0)).collect();
    let (data_type, representation, values) = match kind {
        Kind::Small | Kind::Sparse | Kind::Extreme => {
            let words = known.iter().map(|&it| word(kind, it)).collect();
            (DataType::BigInt, Representation::I64, Values::I64(words))
        }
        Kind::Wide => {
            // Some that do not fit 64 bits, and would be equal to others if cut off.
            let wide =
                |&it: &u64| i128::from(word(kind, it)) + if it % 5 == 4 { 1 << 64 } else { 0 };
            let data_type = DataType::Decimal { precision: 38, scale: 0 };
            (data_type, Representation::I128, Values::I128(known.iter().map(wide).collect()))
        }
        Kind::Float => {
            let floats = known.iter().map(|&it| float(it, prng)).collect();
            (DataType::Double, Representation::F64, Values::F64(floats))
        }
        Kind::Bool => {
            let bools = known.iter().map(|it| it % 2 == 0).collect();
            (DataType::Boolean, Representation::Bool, Values::Bool(bools))
        }
        Kind::Text => {
            let mut texts = TextVector::default();
            known.iter().for_each(|&it| texts.push(&text(it)));
            (DataType::Text, Representation::Text, Values::Text(texts))
        }
        Kind::Dictionary => {
            let mut distinct: BTreeSet<String> = known.iter().map(|&it| text(it)).collect();
            // Entries without rows, also in between and at the ends.
            distinct.extend(["a", "t5", "zz"].map(String::from));
            let distinct: Vec<String> = distinct.into_iter().collect();
            let code = |&it: &u64| distinct.binary_search(&text(it)).unwrap() as u32;
            let codes = known.iter().map(code).collect();
            let column = text_column(&distinct);
            (DataType::Text, Representation::Codes(column), Values::Codes(codes))
        }
        Kind::Plain => {
            let column = plain_column();
            let positions = known.iter().map(|&it| it as u32).collect();
            (DataType::Text, Representation::Codes(column), Values::Codes(positions))
        }
    };
    (shape(data_type, representation), Vector { values, validity })
}
