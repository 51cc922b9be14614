//! Group keys as one integer where they fit 64 or 128 bits, else as bytes.
//!
//! Bounds and dictionaries say how many bits each key column needs; most groupings of analytical queries (dates, flags,
//! dense ids, dictionary codes) fit one word, and then hashing, comparing and storing a key is one instruction.

use stdx::sync::Arc;
use storage::Encoding;

use super::hash::hash_word;
use super::texts::{TextKeys, text_column};
use crate::leveled::{level, put};
use crate::value::text_of;
use crate::{Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// How the key columns of a grouping are put together.
#[derive(Clone, Debug)]
pub enum KeyLayout {
    /// All in one word of `bits` bits.
    Packed {
        /// The columns.
        parts: Vec<PackedPart>,
        /// Bits in use.
        bits: u32,
    },
    /// All in one word of 65 to 128 bits: numbers of 64 bits beside another column.
    Wide {
        /// The columns.
        parts: Vec<PackedPart>,
    },
    /// The texts of a plain column.
    Texts(ColumnShape),
    /// One after the other as bytes.
    Bytes(Vec<ColumnShape>),
}

/// Where a key column sits in a packed key.
#[derive(Clone, Debug)]
pub struct PackedPart {
    shape: ColumnShape,
    shift: u32,
    bits: u32,
    base: i64,
}

/// The keys of some rows or groups.
#[derive(Clone, Debug)]
pub enum Keys {
    /// Packed words.
    Packed(Vec<u64>),
    /// Packed words of 128 bits.
    Wide(Vec<u128>),
    /// Texts by their rows.
    Texts(TextKeys),
    /// Bytes of each key.
    Bytes(TextVector),
}

impl Keys {
    /// The keys at some places.
    pub fn take(&self, places: &[u32]) -> Self {
        match self {
            Self::Packed(keys) => {
                Self::Packed(places.iter().map(|&it| keys[it as usize]).collect())
            }
            Self::Wide(keys) => Self::Wide(places.iter().map(|&it| keys[it as usize]).collect()),
            Self::Texts(keys) => Self::Texts(keys.take(places)),
            Self::Bytes(keys) => {
                let mut taken = TextVector::default();
                for &place in places {
                    taken.bytes.extend_from_slice(keys.bytes_at(place as usize));
                    taken.ends.push(end_of(&taken));
                }
                Self::Bytes(taken)
            }
        }
    }
}

/// A packed key.
pub trait Word: Copy + Eq {
    /// The key spread over 64 bits.
    fn hash(self) -> u64;
    /// The bits under a mask after a shift.
    fn part(self, shift: u32, mask: u128) -> u128;
}

impl Word for u64 {
    #[inline]
    fn hash(self) -> u64 {
        hash_word(self)
    }

    #[inline]
    fn part(self, shift: u32, mask: u128) -> u128 {
        u128::from(self.checked_shr(shift).unwrap_or(0) & mask as u64)
    }
}

impl Word for u128 {
    #[inline]
    fn hash(self) -> u64 {
        // Keys that share one half never meet: each step can be undone.
        let high = ((self >> 64) as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash_word(self as u64 ^ high.rotate_left(32))
    }

    #[inline]
    fn part(self, shift: u32, mask: u128) -> u128 {
        self.checked_shr(shift).unwrap_or(0) & mask
    }
}

/// The code of NULL in a packed part; values follow from 1 when the column can be NULL.
const NULL: u128 = 0;

impl KeyLayout {
    /// The layout for key columns of these shapes.
    pub fn new(shapes: &[ColumnShape]) -> Self {
        if let [shape] = shapes
            && text_column(shape).is_some()
        {
            return Self::Texts(shape.clone());
        }
        let mut parts = Vec::new();
        let mut shift = 0;
        for shape in shapes {
            let Some((base, values)) = domain(shape) else {
                return Self::Bytes(shapes.to_vec());
            };
            let codes = values + u128::from(shape.nullable);
            let bits = 128 - codes.saturating_sub(1).leading_zeros();
            if shift + bits > u128::BITS {
                return Self::Bytes(shapes.to_vec());
            }
            parts.push(PackedPart { shape: shape.clone(), shift, bits, base });
            shift += bits;
        }
        match shift {
            0..=64 => Self::Packed { parts, bits: shift },
            _ => Self::Wide { parts },
        }
    }

    /// Room for keys of this layout.
    pub fn no_keys(&self) -> Keys {
        match self {
            Self::Packed { .. } => Keys::Packed(Vec::new()),
            Self::Wide { .. } => Keys::Wide(Vec::new()),
            Self::Texts(shape) => {
                let column = text_column(shape).expect("invariant: its texts are keys");
                Keys::Texts(TextKeys::new(column))
            }
            Self::Bytes(_) => Keys::Bytes(TextVector::default()),
        }
    }

    /// Puts the keys of the rows of key columns into `keys`.
    pub fn encode(&self, columns: &[Arc<Vector>], rows: usize, keys: &mut Keys) {
        match (self, keys) {
            (Self::Packed { parts, .. }, Keys::Packed(keys)) => {
                keys.resize(rows, 0);
                let mut parts = parts.iter().zip(columns).filter(|(part, _)| part.bits > 0);
                match parts.next() {
                    Some((part, column)) => part.add(column, true, keys),
                    None => keys.fill(0),
                }
                parts.for_each(|(part, column)| part.add(column, false, keys));
            }
            (Self::Wide { parts }, Keys::Wide(keys)) => {
                keys.clear();
                keys.resize(rows, 0);
                parts.iter().zip(columns).for_each(|(part, column)| part.add_wide(column, keys));
            }
            (Self::Texts(_), Keys::Texts(keys)) => keys.set(&columns[0]),
            (Self::Bytes(shapes), Keys::Bytes(keys)) => {
                keys.bytes.clear();
                keys.ends.clear();
                for row in 0..rows {
                    for (shape, column) in shapes.iter().zip(columns) {
                        append(shape, column, row, &mut keys.bytes);
                    }
                    keys.ends.push(end_of(keys));
                }
            }
            _ => unreachable!("invariant: keys are held as their layout says"),
        }
    }

    /// The first column of a key; it is a number that is never NULL.
    pub fn first_number(&self, keys: &Keys, place: usize) -> i64 {
        match (self, keys) {
            (Self::Packed { parts, .. }, Keys::Packed(keys)) => {
                parts[0].base.wrapping_add((keys[place] & parts[0].mask() as u64) as i64)
            }
            (Self::Wide { parts }, Keys::Wide(keys)) => {
                parts[0].base.wrapping_add((keys[place] & parts[0].mask()) as i64)
            }
            (_, Keys::Bytes(keys)) => {
                let bytes = &keys.bytes_at(place)[1..9];
                i64::from_le_bytes(bytes.try_into().expect("invariant: a number has 8 bytes"))
            }
            _ => unreachable!("invariant: keys are held as their layout says"),
        }
    }

    /// Replaces the first column of keys; it is a number that is never NULL.
    pub fn map_first(&self, keys: &mut Keys, map: impl Fn(i64) -> i64) {
        match (self, keys) {
            (Self::Packed { parts, .. }, Keys::Packed(keys)) => {
                let (base, mask) = (parts[0].base, parts[0].mask() as u64);
                for key in keys {
                    let mapped = map(base.wrapping_add((*key & mask) as i64));
                    *key = *key & !mask | mapped.wrapping_sub(base) as u64;
                }
            }
            (Self::Wide { parts }, Keys::Wide(keys)) => {
                let (base, mask) = (parts[0].base, parts[0].mask());
                for key in keys {
                    let mapped = map(base.wrapping_add((*key & mask) as i64));
                    *key = *key & !mask | u128::from(mapped.wrapping_sub(base) as u64);
                }
            }
            (_, Keys::Bytes(keys)) => {
                let mut start = 0;
                for &end in &keys.ends {
                    let bytes = &mut keys.bytes[start + 1..start + 9];
                    let old: &[u8] = bytes;
                    let old = old.try_into().expect("invariant: a number has 8 bytes");
                    bytes.copy_from_slice(&map(i64::from_le_bytes(old)).to_le_bytes());
                    start = end as usize;
                }
            }
            _ => unreachable!("invariant: keys are held as their layout says"),
        }
    }

    /// The key columns of keys.
    pub fn decode(&self, keys: &Keys) -> Vec<Vector> {
        match (self, keys) {
            (Self::Packed { parts, .. }, Keys::Packed(keys)) => {
                parts.iter().map(|part| part.decode(keys)).collect()
            }
            (Self::Wide { parts }, Keys::Wide(keys)) => {
                parts.iter().map(|part| part.decode(keys)).collect()
            }
            (Self::Texts(_), Keys::Texts(keys)) => vec![keys.decode()],
            (Self::Bytes(shapes), Keys::Bytes(keys)) => decode_bytes(shapes, keys),
            _ => unreachable!("invariant: keys are held as their layout says"),
        }
    }

    /// How many columns a key has.
    pub fn columns(&self) -> usize {
        match self {
            Self::Packed { parts, .. } | Self::Wide { parts } => parts.len(),
            Self::Texts(_) => 1,
            Self::Bytes(shapes) => shapes.len(),
        }
    }

    /// The shapes of the decoded columns: beside other columns, text that was no code becomes text of its own.
    pub fn shapes(&self) -> Vec<ColumnShape> {
        match self {
            Self::Packed { parts, .. } | Self::Wide { parts } => {
                parts.iter().map(|it| it.shape.clone()).collect()
            }
            Self::Texts(shape) => vec![shape.clone()],
            Self::Bytes(shapes) => shapes.iter().map(decoded_shape).collect(),
        }
    }
}

fn end_of(keys: &TextVector) -> u32 {
    u32::try_from(keys.bytes.len())
        .expect("invariant: the keys of a batch or a table flush stay below 4 GiB")
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

impl PackedPart {
    /// Puts this part into keys; as the first one it replaces what is there.
    fn add(&self, column: &Vector, first_part: bool, keys: &mut [u64]) {
        let (shift, base) = (self.shift, self.base);
        let first = u64::from(self.shape.nullable);
        let code = |value: u64| (value + first) << shift;
        match (&column.values, &column.validity) {
            (Values::Codes(codes), None) => {
                put(level(), keys, codes, first_part, |it| code(it.into()));
            }
            (Values::I64(values), None) => {
                put(level(), keys, values, first_part, |it| code(it.wrapping_sub(base) as u64));
            }
            (Values::Bool(values), None) => {
                put(level(), keys, values, first_part, |it| code(it.into()));
            }
            (values, Some(valid)) => {
                if first_part {
                    keys.fill(0);
                }
                for row in (0..values.len()).filter(|&row| valid.get(row)) {
                    keys[row] |= code(integer(values, row).wrapping_sub(base) as u64);
                }
            }
            _ => unreachable!("invariant: only integers are packed"),
        }
    }

    /// Puts this part into wide keys.
    fn add_wide(&self, column: &Vector, keys: &mut [u128]) {
        let (shift, base) = (self.shift, self.base);
        let first = u128::from(self.shape.nullable);
        // A part of no bits may stand behind the last bit.
        let code = |value: u64| (u128::from(value) + first).checked_shl(shift).unwrap_or(0);
        match (&column.values, &column.validity) {
            (Values::Codes(codes), None) => {
                keys.iter_mut().zip(codes).for_each(|(key, &it)| *key |= code(it.into()));
            }
            (Values::I64(values), None) => {
                let value = |it: i64| code(it.wrapping_sub(base) as u64);
                keys.iter_mut().zip(values).for_each(|(key, &it)| *key |= value(it));
            }
            (values, validity) => {
                let there = |row: &usize| validity.as_ref().is_none_or(|it| it.get(*row));
                for row in (0..values.len()).filter(there) {
                    keys[row] |= code(integer(values, row).wrapping_sub(base) as u64);
                }
            }
        }
    }

    /// The key of a value that is the whole key; wraps as keys do.
    pub fn key_of(&self, value: i64) -> u64 {
        value.wrapping_sub(self.base) as u64
    }

    /// As part of a key of one byte: what a code is multiplied with, after adding what is given second to it; `base` is
    /// the value of code 0. Both overflow as they like, since the key does not.
    pub fn byte(&self, base: i64) -> (u8, u8) {
        let factor = if self.bits == 0 { 0 } else { 1 << self.shift };
        (factor, base.wrapping_sub(self.base) as u8)
    }

    fn mask(&self) -> u128 {
        (1 << self.bits) - 1
    }

    fn decode<K: Word>(&self, keys: &[K]) -> Vector {
        let (mask, shift) = (self.mask(), self.shift);
        let first = u128::from(self.shape.nullable);
        let part = |key: &K| key.part(shift, mask);
        let value = |key: &K| part(key).saturating_sub(first) as u64;
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
        let all_valid = !self.shape.nullable || keys.iter().all(|it| part(it) != NULL);
        let validity =
            (!all_valid).then(|| Bitmap::from_bits(keys.iter().map(|it| part(it) != NULL)));
        Vector { values, validity }
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

/// Appends one value: a byte that says whether it is there, then its bytes; text with its length before it.
fn append(shape: &ColumnShape, column: &Vector, row: usize, out: &mut Vec<u8>) {
    if !column.is_valid(row) {
        return out.push(0);
    }
    out.push(1);
    match &column.values {
        Values::Codes(codes) => match &shape.representation {
            Representation::Codes(of) if matches!(of.encoding, Encoding::Dictionary(_)) => {
                out.extend_from_slice(&codes[row].to_le_bytes());
            }
            Representation::Codes(of) => append_text(text_of(of, codes[row]).as_bytes(), out),
            _ => unreachable!("invariant: a vector is held as its shape says"),
        },
        Values::I64(it) => out.extend_from_slice(&it[row].to_le_bytes()),
        Values::I128(it) => out.extend_from_slice(&it[row].to_le_bytes()),
        Values::F64(it) => out.extend_from_slice(&canonical(it[row]).to_bits().to_le_bytes()),
        Values::Bool(it) => out.push(u8::from(it[row])),
        Values::Text(it) => append_text(it.bytes_at(row), out),
    }
}

/// -0 and 0 are one value, and so are all NaN.
fn canonical(value: f64) -> f64 {
    if value == 0.0 {
        0.0
    } else if value.is_nan() {
        f64::NAN
    } else {
        value
    }
}

fn append_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
}

/// The shape of a column after [`append`] and [`decode_bytes`].
pub fn decoded_shape(shape: &ColumnShape) -> ColumnShape {
    let representation = match &shape.representation {
        Representation::Codes(column) if !matches!(column.encoding, Encoding::Dictionary(_)) => {
            Representation::Text
        }
        same => same.clone(),
    };
    ColumnShape { representation, ..shape.clone() }
}

/// Reads back what [`append`] wrote for columns of these shapes.
fn decode_bytes(shapes: &[ColumnShape], keys: &TextVector) -> Vec<Vector> {
    let mut columns: Vec<(Values, Vec<bool>)> =
        shapes.iter().map(|it| (empty_values(it), Vec::new())).collect();
    for row in 0..keys.len() {
        let mut bytes = keys.bytes_at(row);
        for (values, valid) in &mut columns {
            let there = take(&mut bytes, 1)[0] == 1;
            valid.push(there);
            push_value(values, there, &mut bytes);
        }
    }
    let vector = |(values, valid): (Values, Vec<bool>)| {
        let validity = valid.contains(&false).then(|| Bitmap::from_bits(valid.iter().copied()));
        Vector { values, validity }
    };
    columns.into_iter().map(vector).collect()
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = bytes.split_at(len);
    *bytes = tail;
    head
}

/// No values yet, held as [`decoded_shape`] says.
fn empty_values(shape: &ColumnShape) -> Values {
    empty_values_as_held(&decoded_shape(shape))
}

/// No values yet, held as the shape says.
pub fn empty_values_as_held(shape: &ColumnShape) -> Values {
    match shape.representation {
        Representation::Codes(_) => Values::Codes(vec![]),
        Representation::I64 => Values::I64(vec![]),
        Representation::I128 => Values::I128(vec![]),
        Representation::F64 => Values::F64(vec![]),
        Representation::Bool => Values::Bool(vec![]),
        Representation::Text => Values::Text(TextVector::default()),
    }
}

/// Reads one value behind its presence byte, or pushes a placeholder for NULL.
fn push_value(values: &mut Values, there: bool, bytes: &mut &[u8]) {
    fn fixed<const N: usize>(there: bool, bytes: &mut &[u8]) -> [u8; N] {
        if !there {
            return [0; N];
        }
        take(bytes, N).try_into().expect("invariant: the length was asked for")
    }
    match values {
        Values::Codes(it) => it.push(u32::from_le_bytes(fixed(there, bytes))),
        Values::I64(it) => it.push(i64::from_le_bytes(fixed(there, bytes))),
        Values::I128(it) => it.push(i128::from_le_bytes(fixed(there, bytes))),
        Values::F64(it) => it.push(f64::from_bits(u64::from_le_bytes(fixed(there, bytes)))),
        Values::Bool(it) => it.push(fixed::<1>(there, bytes)[0] == 1),
        Values::Text(it) => {
            let len = u32::from_le_bytes(fixed(there, bytes)) as usize;
            it.bytes.extend_from_slice(take(bytes, len));
            it.ends.push(end_of(it));
        }
    }
}
