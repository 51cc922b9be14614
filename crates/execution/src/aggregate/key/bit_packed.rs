//! Keys of one word: each key column has as many bits as bounds or a dictionary say it needs, side by side.

use std::marker::PhantomData;
use std::ops::{Add, BitOrAssign, Shl};

use stdx::sync::Arc;
use storage::Encoding;

use super::hash::Fingerprint;
use super::kind::{KeyFormat, KeySet};
use crate::leveled::{level, put};
use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

/// A word that holds a key.
pub trait Word:
    Fingerprint + From<u64> + Add<Output = Self> + Shl<u32, Output = Self> + BitOrAssign
{
    /// The bits under a mask after a shift.
    fn bits(self, shift: u32, mask: u128) -> u128;
    /// The word with other bits under a mask of its low bits.
    fn with_low(self, mask: u128, bits: u64) -> Self;
}

impl Word for u64 {
    #[inline]
    fn bits(self, shift: u32, mask: u128) -> u128 {
        u128::from(self.checked_shr(shift).unwrap_or(0) & mask as u64)
    }

    #[inline]
    fn with_low(self, mask: u128, bits: u64) -> Self {
        self & !(mask as u64) | bits
    }
}

impl Word for u128 {
    #[inline]
    fn bits(self, shift: u32, mask: u128) -> u128 {
        self.checked_shr(shift).unwrap_or(0) & mask
    }

    #[inline]
    fn with_low(self, mask: u128, bits: u64) -> Self {
        self & !mask | Self::from(bits)
    }
}

impl<K: Word> KeySet for Vec<K> {
    type Fingerprint = K;

    #[inline]
    fn fingerprints(&self) -> &[K] {
        self
    }

    #[inline]
    fn equals(&self, _: usize, _: &Self, _: usize) -> bool {
        true
    }

    fn take(&self, places: &[u32]) -> Self {
        places.iter().map(|&it| self[it as usize]).collect()
    }

    fn emptied(&self) -> Self {
        Self::with_capacity(self.len())
    }

    #[inline]
    fn push(&mut self, other: &Self, at: usize) {
        self.push(other[at]);
    }

    fn extend(&mut self, other: &Self) {
        self.extend_from_slice(other);
    }
}

/// The columns of keys that fit a word.
#[derive(Clone, Debug)]
pub struct BitPacked<K> {
    columns: Vec<KeyColumn>,
    bits: u32,
    word: PhantomData<K>,
}

/// Where a key column sits in a word.
#[derive(Clone, Debug)]
pub struct KeyColumn {
    shape: ColumnShape,
    shift: u32,
    bits: u32,
    /// The least value, which has code 0 (1 if the column can be NULL).
    base: i64,
}

/// The code of NULL; values follow from 1 when the column can be NULL.
const NULL: u128 = 0;

impl<K> BitPacked<K> {
    /// The columns; the first one has the low bits.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// Bits in use.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// These columns in words of another size; they fit.
    pub fn with_word<W>(self) -> BitPacked<W> {
        BitPacked { columns: self.columns, bits: self.bits, word: PhantomData }
    }
}

impl BitPacked<u128> {
    /// Key columns of these shapes side by side, if all of them are integers that fit 128 bits together.
    pub fn new(shapes: &[ColumnShape]) -> Option<Self> {
        let mut columns = Vec::new();
        let mut shift = 0;
        for shape in shapes {
            let (base, values) = domain(shape)?;
            let codes = values + u128::from(shape.nullable);
            let bits = u128::BITS - codes.saturating_sub(1).leading_zeros();
            if shift + bits > u128::BITS {
                return None;
            }
            columns.push(KeyColumn { shape: shape.clone(), shift, bits, base });
            shift += bits;
        }
        Some(Self { columns, bits: shift, word: PhantomData })
    }
}

/// The least value of a column and how many values it can have, when it travels as integers.
fn domain(shape: &ColumnShape) -> Option<(i64, u128)> {
    match &shape.representation {
        Representation::Codes(column) => match column.encoding {
            Encoding::Dictionary(_) => Some((0, column.code_count() as u128)),
            _ => None,
        },
        Representation::Bool => Some((0, 2)),
        Representation::I64 => {
            let (low, high) = shape.bounds.unwrap_or((i64::MIN.into(), i64::MAX.into()));
            let low = low.max(i64::MIN.into());
            let high = high.min(i64::MAX.into()).max(low);
            Some((low as i64, (high - low) as u128 + 1))
        }
        Representation::I128 | Representation::F64 | Representation::Text => None,
    }
}

impl<K: Word> KeyFormat for BitPacked<K> {
    type Keys = Vec<K>;

    fn empty(&self) -> Vec<K> {
        Vec::new()
    }

    fn encode(&self, columns: &[Arc<Vector>], rows: usize, keys: &mut Vec<K>) {
        keys.resize(rows, K::from(0));
        let mut columns = self.columns.iter().zip(columns).filter(|(to, _)| to.bits > 0);
        match columns.next() {
            Some((to, column)) => to.encode(column, true, keys),
            None => keys.fill(K::from(0)),
        }
        columns.for_each(|(to, column)| to.encode(column, false, keys));
    }

    fn decode(&self, keys: &Vec<K>) -> Vec<Vector> {
        self.columns.iter().map(|it| it.decode(keys)).collect()
    }

    fn shapes(&self) -> Vec<ColumnShape> {
        self.columns.iter().map(|it| it.shape.clone()).collect()
    }

    fn first_number(&self, keys: &Vec<K>, place: usize) -> i64 {
        self.columns[0].first_number(keys[place])
    }

    fn map_first(&self, keys: &mut Vec<K>, map: impl Fn(i64) -> i64) {
        let first = &self.columns[0];
        for key in keys {
            let mapped = map(first.first_number(*key));
            *key = key.with_low(first.mask(), mapped.wrapping_sub(first.base) as u64);
        }
    }
}

impl KeyColumn {
    /// Puts the codes of a column into keys: in place of what is there, or beside it.
    fn encode<K: Word>(&self, column: &Vector, replace: bool, keys: &mut [K]) {
        let (shift, base) = (self.shift, self.base);
        let first = K::from(u64::from(self.shape.nullable));
        let code = |value: u64| (K::from(value) + first) << shift;
        match (&column.values, &column.validity) {
            (Values::Codes(codes), None) => {
                put(level(), keys, codes, replace, |it| code(it.into()));
            }
            (Values::I64(values), None) => {
                put(level(), keys, values, replace, |it| code(it.wrapping_sub(base) as u64));
            }
            (Values::Bool(values), None) => {
                put(level(), keys, values, replace, |it| code(it.into()));
            }
            (values, Some(valid)) => {
                if replace {
                    keys.fill(K::from(0));
                }
                for row in (0..values.len()).filter(|&row| valid.get(row)) {
                    keys[row] |= code(integer(values, row).wrapping_sub(base) as u64);
                }
            }
            _ => unreachable!("invariant: only integers are packed"),
        }
    }

    fn decode<K: Word>(&self, keys: &[K]) -> Vector {
        let (mask, shift) = (self.mask(), self.shift);
        let first = u128::from(self.shape.nullable);
        let code = |key: &K| key.bits(shift, mask);
        let value = |key: &K| code(key).saturating_sub(first) as u64;
        let values = match self.shape.representation {
            Representation::Codes(_) => {
                Values::Codes(keys.iter().map(|it| value(it) as u32).collect())
            }
            Representation::Bool => Values::Bool(keys.iter().map(|it| value(it) != 0).collect()),
            _ => {
                let base = self.base;
                Values::I64(keys.iter().map(|it| base.wrapping_add(value(it) as i64)).collect())
            }
        };
        let all_valid = !self.shape.nullable || keys.iter().all(|it| code(it) != NULL);
        let validity =
            (!all_valid).then(|| Bitmap::from_bits(keys.iter().map(|it| code(it) != NULL)));
        Vector { values, validity }
    }

    /// The value of a column that is the first one and never NULL.
    fn first_number<K: Word>(&self, key: K) -> i64 {
        self.base.wrapping_add(key.bits(0, self.mask()) as i64)
    }

    fn mask(&self) -> u128 {
        (1 << self.bits) - 1
    }

    /// The key of a value where the column is the whole key; wraps as keys do.
    pub fn key_of(&self, value: i64) -> u64 {
        value.wrapping_sub(self.base) as u64
    }

    /// As part of a key of one byte: what a code is multiplied with, after adding what is given second to it; `base` is
    /// the value of code 0. Both overflow as they like, since the key does not.
    pub fn in_byte(&self, base: i64) -> (u8, u8) {
        let factor = if self.bits == 0 { 0 } else { 1 << self.shift };
        (factor, base.wrapping_sub(self.base) as u8)
    }
}

fn integer(values: &Values, row: usize) -> i64 {
    match values {
        Values::Codes(it) => i64::from(it[row]),
        Values::I64(it) => it[row],
        Values::Bool(it) => i64::from(it[row]),
        _ => unreachable!("invariant: only integers are packed"),
    }
}
