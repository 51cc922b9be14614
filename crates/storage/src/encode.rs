//! From values to codes: what a comparison with a constant is in the codes of a column (P-HANA 5.2).

use std::ops::{Bound, RangeBounds};

use bitpack::bitmap;
use types::{DataType, Value};

use crate::key::point;
use crate::word::{key_of_float, word_of_int};
use crate::{BLOCK_ROWS, Column, Dictionary, Encoding, PlainStrings, PlainTexts};

/// The codes of the values in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeRange {
    /// No value of the column is in the range.
    None,
    /// Codes from `low` to `high`, both included; never NULL.
    Codes {
        /// Least code.
        low: u32,
        /// Greatest code.
        high: u32,
    },
    /// Words of a raw column from `low` to `high`, both included; NULL rows must be taken out by
    /// [`Column::clear_nulls`].
    Words {
        /// Least word.
        low: u64,
        /// Greatest word.
        high: u64,
    },
}

impl Column {
    /// The codes of the values between two bounds. `None` when the column has no codes for it (plain), or when the
    /// bounds are of a kind that does not compare with the column exactly: then compare values.
    pub fn encode_range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Option<CodeRange> {
        let null = |bound: &Bound<&Value>| {
            matches!(bound, Bound::Included(Value::Null) | Bound::Excluded(Value::Null))
        };
        if null(&low) || null(&high) {
            return Some(CodeRange::None);
        }
        if matches!(self.encoding, Encoding::Plain(_) | Encoding::Parts) {
            return None;
        }
        if self.data_type.stored().is_text() {
            return self.encode_text_range(low, high);
        }
        let low = match bound_value(low) {
            None => i128::MIN,
            Some(value) => {
                let point = point(self.data_type, value)?;
                let above = !point.exact || matches!(low, Bound::Excluded(_));
                point.floor.saturating_add(i128::from(above))
            }
        };
        let high = match bound_value(high) {
            None => i128::MAX,
            Some(value) => {
                let point = point(self.data_type, value)?;
                let below = point.exact && matches!(high, Bound::Excluded(_));
                point.floor.saturating_sub(i128::from(below))
            }
        };
        Some(self.encode_int_range(low, high))
    }

    /// The code of a value; `None` when no row has it or the column has no codes.
    pub fn encode_value(&self, value: &Value) -> Option<u32> {
        match self.encode_range(Bound::Included(value), Bound::Included(value))? {
            CodeRange::Codes { low, high } if low == high => Some(low),
            _ => None,
        }
    }

    /// Adds the rows whose value is between two bounds, by a look at all; `None` where the bounds are of a kind that does not
    /// compare with the column exactly.
    pub fn rows_between(
        &self,
        low: Bound<&Value>,
        high: Bound<&Value>,
        found: &mut Vec<u32>,
    ) -> Option<()> {
        if let Encoding::Plain(PlainStrings::Own(texts)) = &self.encoding {
            return self.texts_between(texts, low, high, found);
        }
        let range = self.encode_range(low, high)?;
        for start in (0..self.rows).step_by(BLOCK_ROWS) {
            let rows = BLOCK_ROWS.min(self.rows - start);
            let mut words = vec![0; bitmap::words_for(rows)];
            match range {
                CodeRange::None => return Some(()),
                CodeRange::Codes { low, high } => {
                    let (packed, bits) = (self.packed(), self.bits());
                    bitpack::scan_range(packed, bits, start, rows, low, high, &mut words);
                }
                CodeRange::Words { low, high } => {
                    let packed = self.packed();
                    bitpack::scan_range_u64(packed, start, rows, low, high, &mut words, false);
                    self.clear_nulls(start, rows, &mut words);
                }
            }
            found.extend(bitmap::iter(&words).map(|it| (start + it) as u32));
        }
        Some(())
    }

    /// [`Column::rows_between`] of texts without codes.
    fn texts_between(
        &self,
        texts: &PlainTexts,
        low: Bound<&Value>,
        high: Bound<&Value>,
        found: &mut Vec<u32>,
    ) -> Option<()> {
        let text = |bound: Bound<&Value>| -> Option<Bound<Vec<u8>>> {
            let bytes = |value: &Value| match value {
                // Trailing blanks of CHAR(n) do not count, and are not stored.
                Value::Text(it) if matches!(self.data_type, DataType::Char(_)) => {
                    Some(it.trim_end_matches(' ').as_bytes().to_vec())
                }
                Value::Text(it) => Some(it.as_bytes().to_vec()),
                _ => None,
            };
            Some(match bound {
                Bound::Unbounded => Bound::Unbounded,
                Bound::Included(value) => Bound::Included(bytes(value)?),
                Bound::Excluded(value) => Bound::Excluded(bytes(value)?),
            })
        };
        let range = (text(low)?, text(high)?);
        let is_between = |row: &usize| {
            let own = texts.bytes_at(*row).into_owned();
            !self.is_null(*row) && range.contains(&own)
        };
        found.extend((0..self.rows).filter(is_between).map(|it| it as u32));
        Some(())
    }

    fn encode_text_range(&self, low: Bound<&Value>, high: Bound<&Value>) -> Option<CodeRange> {
        let Encoding::Dictionary(dictionary) = &self.encoding else { return None };
        let rank = |value: &Value, or_equal| match value {
            // Trailing blanks of CHAR(n) do not count, and are not stored.
            Value::Text(text) if matches!(self.data_type, DataType::Char(_)) => {
                Some(dictionary.rank_text(text.trim_end_matches(' '), or_equal))
            }
            Value::Text(text) => Some(dictionary.rank_text(text, or_equal)),
            _ => None,
        };
        let low = match low {
            Bound::Unbounded => 0,
            Bound::Included(value) => rank(value, false)?,
            Bound::Excluded(value) => rank(value, true)?,
        };
        let end = match high {
            Bound::Unbounded => dictionary.len(),
            Bound::Included(value) => rank(value, true)?,
            Bound::Excluded(value) => rank(value, false)?,
        };
        Some(codes(low, end))
    }

    /// The codes (or words) of the numbers from `low` to `high`, both included, as a scan hands them on: unscaled decimals,
    /// days, microseconds. For text, of the codes between them.
    pub fn encode_numbers(&self, low: i128, high: i128) -> CodeRange {
        match &self.encoding {
            Encoding::Dictionary(Dictionary::Text(_)) => {
                let end = self.code_count as i128;
                codes(low.clamp(0, end) as usize, (high.clamp(-1, end - 1) + 1) as usize)
            }
            _ => self.encode_int_range(low, high),
        }
    }

    /// Bounds are both included, and integers (or float keys) as the column stores them.
    fn encode_int_range(&self, low: i128, high: i128) -> CodeRange {
        if low > high {
            return CodeRange::None;
        }
        match &self.encoding {
            Encoding::Offset { min } => {
                let min = i128::from(*min);
                let end = min + self.code_count as i128;
                codes(
                    (low.clamp(min, end) - min) as usize,
                    (high.clamp(min - 1, end - 1) + 1 - min) as usize,
                )
            }
            Encoding::Dictionary(dictionary) => {
                let (start, end) = match dictionary {
                    Dictionary::Int(it) => ranks(it.as_slice(), low, high, |&it| i128::from(it)),
                    Dictionary::Wide(it) => ranks(it.as_slice(), low, high, |&it| it),
                    Dictionary::Float(it) => {
                        ranks(it.as_slice(), low, high, |&it| i128::from(key_of_float(it)))
                    }
                    Dictionary::Text(_) => (0, 0),
                };
                codes(start, end)
            }
            Encoding::Raw => {
                let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
                if low > greatest || high < least {
                    return CodeRange::None;
                }
                CodeRange::Words {
                    low: word_of_int(low.max(least) as i64),
                    high: word_of_int(high.min(greatest) as i64),
                }
            }
            Encoding::Plain(_) | Encoding::Parts => CodeRange::None,
        }
    }

    /// Whether no row can have a value between two bounds, as the exact statistics say: what is known even of columns
    /// without codes.
    pub fn excludes(&self, low: Bound<&Value>, high: Bound<&Value>) -> bool {
        let (Some(min), Some(max)) = (&self.statistics.min, &self.statistics.max) else {
            return self.statistics.nulls == self.rows as u64;
        };
        is_outside(self.data_type, (low, high), min, max)
    }
}

/// Whether no value of a column of a type that has values from `min` to `max` is between two bounds.
pub(crate) fn is_outside(
    data_type: DataType,
    (low, high): (Bound<&Value>, Bound<&Value>),
    min: &Value,
    max: &Value,
) -> bool {
    if data_type.stored().is_text() {
        let text = |it: &Value| match it {
            Value::Text(it) if matches!(data_type, DataType::Char(_)) => {
                Some(it.trim_end_matches(' ').to_owned())
            }
            Value::Text(it) => Some(it.to_string()),
            _ => None,
        };
        return outside(low, high, text(min), text(max), text);
    }
    let key = |it: &Value| {
        let point = point(data_type, it)?;
        point.exact.then_some(point.floor)
    };
    outside(low, high, key(min), key(max), key)
}

/// Whether `min..=max` has nothing between two bounds. A bound that has no key says nothing.
fn outside<K: Ord>(
    low: Bound<&Value>,
    high: Bound<&Value>,
    min: Option<K>,
    max: Option<K>,
    key: impl Fn(&Value) -> Option<K>,
) -> bool {
    let (Some(min), Some(max)) = (min, max) else { return false };
    let above = match low {
        Bound::Unbounded => false,
        Bound::Included(value) => key(value).is_some_and(|it| max < it),
        Bound::Excluded(value) => key(value).is_some_and(|it| max <= it),
    };
    let below = match high {
        Bound::Unbounded => false,
        Bound::Included(value) => key(value).is_some_and(|it| it < min),
        Bound::Excluded(value) => key(value).is_some_and(|it| it <= min),
    };
    above || below
}

fn bound_value(bound: Bound<&Value>) -> Option<&Value> {
    match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value),
        Bound::Unbounded => None,
    }
}

fn codes(start: usize, end: usize) -> CodeRange {
    if start >= end {
        CodeRange::None
    } else {
        CodeRange::Codes { low: start as u32, high: (end - 1) as u32 }
    }
}

fn ranks<T>(values: &[T], low: i128, high: i128, key: impl Fn(&T) -> i128) -> (usize, usize) {
    (values.partition_point(|it| key(it) < low), values.partition_point(|it| key(it) <= high))
}
