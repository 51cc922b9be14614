//! From codes of a column to vectors: which representation a column travels in, and how rows are picked.

use std::ops::Range;

use bitpack::bitmap;
use stdx::sync::Arc;
use storage::{Column, Dictionary, Encoding};
use types::DataType;

use crate::leveled::{level, scale};
use crate::{Batch, Bitmap, ColumnShape, Representation, Values, Vector};

/// Which rows of a window are wanted.
pub enum Rows<'a> {
    /// The rows whose bit is set in a bitmap over the window, and how many there are.
    Marked(&'a [u64], usize),
    /// The rows at these places of the window.
    Places(&'a [u32]),
}

impl Rows<'_> {
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Marked(_, count) => *count,
            Self::Places(places) => places.len(),
        }
    }
}

/// The shape in which a column leaves a scan. Text stays codes (or positions); numbers become values at once, since
/// adding the offset is fused with unpacking.
pub fn shape(column: &Arc<Column>) -> ColumnShape {
    let data_type = column.data_type;
    let representation = match &column.encoding {
        _ if data_type.stored().is_text() => Representation::Codes(column.clone()),
        Encoding::Dictionary(Dictionary::Wide(_)) => Representation::I128,
        Encoding::Raw | Encoding::Dictionary(_) | Encoding::Offset { .. } | Encoding::Parts => {
            match data_type {
                DataType::Boolean => Representation::Bool,
                _ if data_type.is_float() => Representation::F64,
                _ => Representation::I64,
            }
        }
        Encoding::Plain(_) => Representation::Codes(column.clone()),
    };
    let bound = |it: &Option<types::Value>| it.as_ref().and_then(types::Value::as_i128);
    let bounds = match representation {
        Representation::I64 | Representation::I128 => {
            bound(&column.statistics.min).zip(bound(&column.statistics.max))
        }
        _ => None,
    };
    ColumnShape { data_type, representation, bounds, nullable: column.statistics.nulls > 0 }
}

/// The shape of [`code_batch`].
pub fn code_shape(column: &Arc<Column>) -> ColumnShape {
    ColumnShape { nullable: false, ..shape(column) }
}

/// A batch of one column that holds the value of each code of a range, to decide a condition per code.
pub fn code_batch(column: &Arc<Column>, codes: Range<u32>) -> Batch {
    let rows = codes.len();
    let codes: Vec<u32> = codes.collect();
    let values = values_of_codes(column, codes);
    Batch { rows, columns: vec![Arc::new(Vector::new(values))], sequence: 0 }
}

/// What codes stand for, in the representation of [`shape`].
fn values_of_codes(column: &Column, codes: Vec<u32>) -> Values {
    match &column.encoding {
        Encoding::Offset { min } => {
            let value = |code: &u32| min.wrapping_add(i64::from(*code));
            if column.data_type == DataType::Boolean {
                Values::Bool(codes.iter().map(|it| value(it) != 0).collect())
            } else {
                Values::I64(codes.iter().map(value).collect())
            }
        }
        Encoding::Dictionary(dictionary) => match dictionary {
            Dictionary::Text(_) => Values::Codes(codes),
            Dictionary::Int(_) => {
                let values = dictionary.ints();
                Values::I64(codes.iter().map(|&it| lookup(values, it)).collect())
            }
            Dictionary::Wide(_) => {
                let values = dictionary.wides();
                Values::I128(codes.iter().map(|&it| lookup(values, it)).collect())
            }
            Dictionary::Float(_) => {
                let values = dictionary.floats();
                Values::F64(codes.iter().map(|&it| lookup(values, it)).collect())
            }
        },
        Encoding::Plain(_) | Encoding::Raw | Encoding::Parts => {
            unreachable!("invariant: plain and raw columns have no codes, and a table's no rows")
        }
    }
}

/// What a code of a column stands for.
pub(crate) fn value_of_code(column: &Column, code: u32) -> Values {
    values_of_codes(column, vec![code])
}

/// A value by code; the NULL code lies past the values and stands for anything.
fn lookup<T: Copy + Default>(values: &[T], code: u32) -> T {
    values.get(code as usize).copied().unwrap_or_default()
}

fn codes(column: &Column, start: usize, len: usize, rows: &Rows<'_>) -> Vec<u32> {
    let mut out = vec![0; rows.count()];
    let (packed, bits) = (column.packed(), column.bits());
    match rows {
        Rows::Marked(words, count) => {
            bitpack::select_u32(packed, bits, start, len, words, *count, &mut out);
        }
        Rows::Places(places) => bitpack::gather_u32(packed, bits, start, places, &mut out),
    }
    out
}

fn words(column: &Column, start: usize, len: usize, rows: &Rows<'_>, base: i64) -> Vec<i64> {
    let mut out = vec![0; rows.count()];
    let (packed, bits) = (column.packed(), column.bits());
    match rows {
        Rows::Marked(words, count) => {
            bitpack::select_i64_add(packed, bits, start, len, words, *count, base, &mut out);
        }
        Rows::Places(places) => {
            bitpack::gather_i64_add(packed, bits, start, base, places, &mut out);
        }
    }
    out
}

/// Values of a dictionary that are evenly spaced: value = `base` + code times `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progression {
    /// The value of code 0.
    pub base: i64,
    /// What the next code is more.
    pub step: i64,
}

/// Values that are looked at for a [`Progression`]; beyond it a scan would have to pay for the look.
const PROGRESSION_MAX: usize = 1024;

impl Progression {
    /// Of a column of integers whose dictionary is evenly spaced (quantities in whole units, percentages, years), so that
    /// codes need no lookup. Columns with NULL have a code more than values, so they are left alone.
    pub fn of(column: &Column) -> Option<Self> {
        let Encoding::Dictionary(dictionary @ Dictionary::Int(_)) = &column.encoding else {
            return None;
        };
        let plain = column.data_type != DataType::Boolean && column.statistics.nulls == 0;
        let values = &dictionary.ints()[..dictionary.len()];
        if !plain || !(2..=PROGRESSION_MAX).contains(&values.len()) {
            return None;
        }
        let step = values[1].checked_sub(values[0])?;
        let even = values.windows(2).all(|it| it[1].checked_sub(it[0]) == Some(step));
        even.then_some(Self { base: values[0], step })
    }

    fn pick(self, column: &Column, start: usize, len: usize, rows: &Rows<'_>) -> Vector {
        let mut values = words(column, start, len, rows, 0);
        scale(level(), &mut values, self.step, self.base);
        Vector::new(Values::I64(values))
    }
}

fn places(start: usize, len: usize, rows: &Rows<'_>) -> Vec<u32> {
    let start = start as u32;
    match rows {
        Rows::Marked(_, count) if *count == len => (start..start + len as u32).collect(),
        Rows::Marked(words, count) => {
            let mut out = vec![0; *count];
            bitmap::positions(words, len, &mut out);
            out.iter_mut().for_each(|it| *it += start);
            out
        }
        Rows::Places(places) => places.iter().map(|it| it + start).collect(),
    }
}

/// Picks rows of the window of `len` rows from `start` on; `even` is [`Progression::of`] the column.
pub fn pick(
    column: &Arc<Column>,
    even: Option<Progression>,
    start: usize,
    len: usize,
    rows: &Rows<'_>,
) -> Vector {
    if let Some(even) = even {
        return even.pick(column, start, len, rows);
    }
    let nullable = column.statistics.nulls > 0;
    match &column.encoding {
        Encoding::Plain(_) => {
            let places = places(start, len, rows);
            let validity = nullable.then(|| {
                Bitmap::from_bits(places.iter().map(|&row| !column.is_null(row as usize)))
            });
            Vector { values: Values::Codes(places), validity }
        }
        Encoding::Raw => {
            let words = words(column, start, len, rows, 0);
            let values = if column.data_type.is_float() {
                Values::F64(words.iter().map(|&it| storage::float_of_word(it as u64)).collect())
            } else {
                Values::I64(words.iter().map(|&it| storage::int_of_word(it as u64)).collect())
            };
            let validity = nullable.then(|| {
                let rows = places(start, len, rows);
                Bitmap::from_bits(rows.iter().map(|&row| !column.is_null(row as usize)))
            });
            Vector { values, validity }
        }
        Encoding::Offset { min } if !nullable && column.data_type != DataType::Boolean => {
            Vector::new(Values::I64(words(column, start, len, rows, *min)))
        }
        Encoding::Parts => unreachable!("invariant: the rows of a table are in its parts"),
        Encoding::Offset { .. } | Encoding::Dictionary(_) => {
            let mut codes = codes(column, start, len, rows);
            let validity = column.null_code().map(|null| {
                let valid = Bitmap::from_bits(codes.iter().map(|&it| it != null));
                // What stands at a NULL must still be a code that can be looked up.
                codes.iter_mut().for_each(|it| *it = if *it == null { 0 } else { *it });
                valid
            });
            Vector { values: values_of_codes(column, codes), validity }
        }
    }
}

/// Whether so few of some rows passed that places are found once for all columns and fetched one by one: less than one in
/// twelve. A single column alone has its border at 25 (docs/design/04-execution.md, "scans").
pub(crate) fn is_sparse(passed: usize, rows: usize) -> bool {
    passed.saturating_mul(12) < rows
}
