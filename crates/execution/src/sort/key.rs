//! Sort keys that compare as plain integers or bytes, whatever the types, directions and places of NULL.

use std::cmp::Ordering;

use stdx::sync::Arc;
use storage::Encoding;

use super::Cutoff;
use crate::expression::Compiled;
use crate::value::{heads, text_of};
use crate::{Batch, ColumnShape, Representation, Values, Vector};
use types::SqlResult;

/// One key of an order, compiled.
pub struct CompiledSortKey {
    /// What is ordered by.
    pub key: Compiled,
    /// Greatest first.
    pub descending: bool,
    /// NULL before all values.
    pub nulls_first: bool,
}

/// How rows are turned into keys.
pub struct KeyEncoder {
    keys: Vec<CompiledSortKey>,
    /// Bits of each key when all fit one 128-bit integer.
    packed: Option<Vec<u32>>,
}

/// A key of a row: the smaller, the sooner.
pub trait RowKey: Ord + Clone + Send + Sync + 'static {
    /// The keys of the rows of a batch.
    fn encode(encoder: &KeyEncoder, batch: &Batch) -> SqlResult<Vec<Self>>;
    /// The same key, that shares no memory with the others of its batch.
    fn detached(&self) -> Self {
        self.clone()
    }
    /// About how many bytes a detached one takes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl RowKey for u64 {
    fn encode(encoder: &KeyEncoder, batch: &Batch) -> SqlResult<Vec<Self>> {
        encoder
            .packed(batch, |key: u64, bits, code| key.checked_shl(bits).unwrap_or(0) | code as u64)
    }
}

impl RowKey for u128 {
    fn encode(encoder: &KeyEncoder, batch: &Batch) -> SqlResult<Vec<Self>> {
        encoder.packed(batch, |key: u128, bits, code| key.checked_shl(bits).unwrap_or(0) | code)
    }
}

/// A key of any length, in the bytes that the keys of its batch share.
#[derive(Clone)]
pub struct BytesKey {
    /// The first bytes, which decide most comparisons.
    head: u64,
    start: u32,
    end: u32,
    batch: Arc<Vec<u8>>,
}

impl BytesKey {
    fn new(batch: &Arc<Vec<u8>>, start: u32, end: u32) -> Self {
        let bytes = &batch[start as usize..end as usize];
        let mut head = [0; 8];
        let len = bytes.len().min(8);
        head[..len].copy_from_slice(&bytes[..len]);
        Self { head: u64::from_be_bytes(head), start, end, batch: batch.clone() }
    }

    fn bytes(&self) -> &[u8] {
        &self.batch[self.start as usize..self.end as usize]
    }
}

impl Ord for BytesKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.head.cmp(&other.head).then_with(|| self.bytes().cmp(other.bytes()))
    }
}

impl PartialOrd for BytesKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BytesKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for BytesKey {}

impl RowKey for BytesKey {
    fn encode(encoder: &KeyEncoder, batch: &Batch) -> SqlResult<Vec<Self>> {
        let columns = encoder.evaluate(batch)?;
        let (mut bytes, mut ends) = (Vec::new(), vec![0u32]);
        for row in 0..batch.rows {
            for (key, column) in encoder.keys.iter().zip(&columns) {
                key.append(column, row, &mut bytes);
            }
            ends.push(
                u32::try_from(bytes.len()).expect("invariant: the keys of a batch fit 4 GiB"),
            );
        }
        let bytes = Arc::new(bytes);
        Ok(ends.windows(2).map(|ends| Self::new(&bytes, ends[0], ends[1])).collect())
    }

    fn detached(&self) -> Self {
        let bytes = self.bytes().to_vec();
        let end = bytes.len() as u32;
        Self { head: self.head, start: 0, end, batch: Arc::new(bytes) }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<Vec<u8>>() + BytesKey::bytes(self).len()
    }
}

impl KeyEncoder {
    /// Decides how keys are held.
    pub fn new(keys: Vec<CompiledSortKey>) -> Self {
        let bits: Option<Vec<u32>> = keys.iter().map(|it| bits_of(it.key.shape())).collect();
        let packed = bits.filter(|it| it.iter().sum::<u32>() <= 128);
        Self { keys, packed }
    }

    /// Bits of a whole key, when it fits an integer of 128 bits.
    pub fn bits(&self) -> Option<u32> {
        Some(self.packed.as_ref()?.iter().sum())
    }

    /// What tells of rows by their first key alone: when it is a number or a text, and no later key can raise an error.
    pub fn cutoff(&self) -> Option<Cutoff> {
        let (first, later) = self.keys.split_first()?;
        let shape = first.key.shape();
        let is_told = matches!(
            shape.representation,
            Representation::I64 | Representation::Codes(_) | Representation::Text
        );
        let cutoff = Cutoff::new(first.descending, first.nulls_first);
        (is_told && !later.iter().any(|it| it.key.is_fallible())).then_some(cutoff)
    }

    /// The first key of each row of a batch; of texts without codes their heads.
    pub fn first_keys(&self, batch: &Batch) -> SqlResult<Arc<Vector>> {
        let first = &self.keys[0].key;
        let column = first.evaluate(batch)?;
        Ok(match heads(first.shape(), &column.values) {
            Some(heads) => {
                Arc::new(Vector { values: Values::I64(heads), validity: column.validity.clone() })
            }
            None => column,
        })
    }

    fn evaluate(&self, batch: &Batch) -> SqlResult<Vec<Arc<Vector>>> {
        self.keys.iter().map(|it| it.key.evaluate(batch)).collect()
    }

    /// `append` puts the code of a further column behind a key.
    fn packed<K: Copy + Default>(
        &self,
        batch: &Batch,
        append: impl Fn(K, u32, u128) -> K,
    ) -> SqlResult<Vec<K>> {
        let columns = self.evaluate(batch)?;
        let bits = self.packed.as_deref().expect("invariant: the kind of key was chosen by bits");
        let mut keys = vec![K::default(); batch.rows];
        for ((key, column), &bits) in self.keys.iter().zip(&columns).zip(bits) {
            // A shift by all bits only ever happens to a key that is still zero.
            key.each_code(column, bits, |row, code| keys[row] = append(keys[row], bits, code));
        }
        Ok(keys)
    }
}

/// Bits that a value and its NULL flag need, unless it is text of its own.
fn bits_of(shape: &ColumnShape) -> Option<u32> {
    let value = match &shape.representation {
        Representation::Codes(column) => match column.encoding {
            Encoding::Dictionary(_) => {
                usize::BITS - column.code_count().saturating_sub(1).leading_zeros()
            }
            _ => return None,
        },
        Representation::I64 | Representation::F64 => 64,
        Representation::I128 => 128,
        Representation::Bool => 1,
        Representation::Text => return None,
    };
    let value = match shape.bounds {
        Some((low, high)) => 128 - high.abs_diff(low).leading_zeros(),
        None => value,
    };
    Some(value + u32::from(shape.nullable))
}

impl CompiledSortKey {
    /// Hands the code of each row of a column to `each`: how values are held is asked once.
    fn each_code(&self, column: &Vector, bits: u32, mut each: impl FnMut(usize, u128)) {
        let shape = self.key.shape();
        let value_bits = bits - u32::from(shape.nullable);
        let ones = |bits: u32| if bits >= 128 { u128::MAX } else { (1u128 << bits) - 1 };
        let (all, of_value) = (ones(bits), ones(value_bits));
        let of_null = if self.nulls_first { 0 } else { all };
        // With NULL possible, one bit before the value keeps it apart.
        let apart = match shape.nullable && self.nulls_first {
            true => 1u128.checked_shl(value_bits).unwrap_or(0),
            false => 0,
        };
        let turn = if self.descending { of_value } else { 0 };
        // Of a value that has no more than its bits: all of them are turned where the order descends.
        let code = |value: u128| (value ^ turn) | apart;
        macro_rules! each {
            ($values:expr, $code:expr) => {
                match &column.validity {
                    None => {
                        $values.iter().enumerate().for_each(|(row, it)| each(row, code($code(*it))))
                    }
                    Some(valid) => $values.iter().enumerate().for_each(|(row, it)| {
                        each(row, if valid.get(row) { code($code(*it)) } else { of_null })
                    }),
                }
            };
        }
        match (&column.values, shape.bounds) {
            (Values::Codes(values), _) => each!(values, u128::from),
            (Values::I64(values), Some((low, _))) => match i64::try_from(low) {
                // A value is not before the least, so their distance has 64 bits.
                Ok(low) => each!(values, |it: i64| u128::from(it.wrapping_sub(low) as u64)),
                Err(_) => each!(values, |it: i64| i128::from(it).abs_diff(low)),
            },
            (Values::I64(values), None) => {
                each!(values, |it: i64| u128::from(it as u64 ^ 1 << 63));
            }
            (Values::I128(values), Some((low, _))) => {
                each!(values, |it: i128| it.wrapping_sub(low) as u128);
            }
            (Values::I128(values), None) => each!(values, |it: i128| it as u128 ^ 1 << 127),
            (Values::F64(values), _) => each!(values, |it: f64| u128::from(float_code(it))),
            (Values::Bool(values), _) => each!(values, u128::from),
            (Values::Text(_), _) => unreachable!("invariant: text is not packed"),
        }
    }

    fn append(&self, column: &Vector, row: usize, out: &mut Vec<u8>) {
        if !column.is_valid(row) {
            return out.push(if self.nulls_first { 0 } else { 2 });
        }
        out.push(1);
        let start = out.len();
        match &column.values {
            Values::Codes(codes) => match &self.key.shape().representation {
                Representation::Codes(of) if matches!(of.encoding, Encoding::Dictionary(_)) => {
                    out.extend_from_slice(&codes[row].to_be_bytes());
                }
                Representation::Codes(of) => append_text(text_of(of, codes[row]).as_bytes(), out),
                _ => unreachable!("invariant: a vector is held as its shape says"),
            },
            Values::I64(it) => out.extend_from_slice(&(it[row] as u64 ^ 1 << 63).to_be_bytes()),
            Values::I128(it) => out.extend_from_slice(&(it[row] as u128 ^ 1 << 127).to_be_bytes()),
            Values::F64(it) => out.extend_from_slice(&float_code(it[row]).to_be_bytes()),
            Values::Bool(it) => out.push(u8::from(it[row])),
            Values::Text(it) => append_text(it.bytes_at(row), out),
        }
        if self.descending {
            out[start..].iter_mut().for_each(|it| *it = !*it);
        }
    }
}

/// Text that compares bytewise also when more keys follow: a zero ends it, and a zero inside is escaped.
fn append_text(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Floats as integers in Postgres's order: NaN greatest, zeros equal.
pub(crate) fn float_code(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
