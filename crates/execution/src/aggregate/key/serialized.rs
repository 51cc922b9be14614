//! Keys as bytes, where key columns do not fit a word: value after value, each behind a byte that says whether it is
//! there, texts behind their length. Equal keys are equal bytes.

use stdx::sync::Arc;
use storage::Encoding;

use super::hash::StoredHash;
use super::kind::{KeyFormat, KeySet};
use crate::aggregate::recent::RecentTexts;
use crate::value::text_of;
use crate::{Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// Keys as bytes, with their hashes.
#[derive(Clone, Debug, Default)]
pub struct SerializedKeys {
    keys: TextVector,
    hashes: Vec<StoredHash>,
}

impl SerializedKeys {
    fn push_bytes(&mut self, key: &[u8], hash: StoredHash) {
        self.keys.bytes.extend_from_slice(key);
        self.keys.ends.push(end_of(&self.keys));
        self.hashes.push(hash);
    }

    fn hash_all(&mut self) {
        let keys = &self.keys;
        self.hashes.clear();
        self.hashes.extend((0..keys.len()).map(|it| StoredHash::of_bytes(keys.bytes_at(it))));
    }
}

fn end_of(keys: &TextVector) -> u32 {
    u32::try_from(keys.bytes.len()).expect(
        "invariant: batches are small, and tables are flushed before their keys reach 4 GiB",
    )
}

impl KeySet for SerializedKeys {
    type Fingerprint = StoredHash;

    #[inline]
    fn fingerprints(&self) -> &[StoredHash] {
        &self.hashes
    }

    #[inline]
    fn equals(&self, place: usize, other: &Self, at: usize) -> bool {
        self.keys.bytes_at(place) == other.keys.bytes_at(at)
    }

    fn take(&self, places: &[u32]) -> Self {
        let mut taken = Self::default();
        for place in places.iter().map(|&it| it as usize) {
            taken.push_bytes(self.keys.bytes_at(place), self.hashes[place]);
        }
        taken
    }

    fn emptied(&self) -> Self {
        Self::default()
    }

    fn push(&mut self, other: &Self, at: usize) {
        self.push_bytes(other.keys.bytes_at(at), other.hashes[at]);
    }

    fn extend(&mut self, other: &Self) {
        (0..other.keys.len()).for_each(|at| self.push(other, at));
    }

    fn variable_bytes(&self) -> usize {
        self.keys.bytes.len()
    }
}

/// The columns of keys that are bytes.
#[derive(Clone, Debug)]
pub struct Serialized {
    shapes: Vec<ColumnShape>,
}

impl Serialized {
    /// Key columns of these shapes.
    pub fn new(shapes: &[ColumnShape]) -> Self {
        Self { shapes: shapes.to_vec() }
    }

    /// Where to look for keys that came lately.
    pub fn recent(&self) -> RecentTexts {
        RecentTexts::new(&self.shapes)
    }
}

impl KeyFormat for Serialized {
    type Keys = SerializedKeys;

    fn empty(&self) -> SerializedKeys {
        SerializedKeys::default()
    }

    fn encode(&self, columns: &[Arc<Vector>], rows: usize, keys: &mut SerializedKeys) {
        keys.keys.bytes.clear();
        keys.keys.ends.clear();
        for row in 0..rows {
            for (shape, column) in self.shapes.iter().zip(columns) {
                append(shape, column, row, &mut keys.keys.bytes);
            }
            keys.keys.ends.push(end_of(&keys.keys));
        }
        keys.hash_all();
    }

    fn decode(&self, keys: &SerializedKeys) -> Vec<Vector> {
        let empty = |it| (empty_values(&decoded_shape(it)), Vec::new());
        let mut columns: Vec<(Values, Vec<bool>)> = self.shapes.iter().map(empty).collect();
        for row in 0..keys.keys.len() {
            let mut bytes = keys.keys.bytes_at(row);
            for (values, valid) in &mut columns {
                let there = split(&mut bytes, 1)[0] == 1;
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

    fn shapes(&self) -> Vec<ColumnShape> {
        self.shapes.iter().map(decoded_shape).collect()
    }

    fn first_number(&self, keys: &SerializedKeys, place: usize) -> i64 {
        number(&keys.keys.bytes_at(place)[FIRST_NUMBER])
    }

    fn map_first(&self, keys: &mut SerializedKeys, map: impl Fn(i64) -> i64) {
        let mut start = 0;
        for &end in &keys.keys.ends {
            let bytes = &mut keys.keys.bytes[start..][FIRST_NUMBER];
            bytes.copy_from_slice(&map(number(bytes)).to_le_bytes());
            start = end as usize;
        }
        keys.hash_all();
    }
}

/// Where a number stands that is the first column: behind its presence byte.
const FIRST_NUMBER: std::ops::Range<usize> = 1..9;

fn number(bytes: &[u8]) -> i64 {
    i64::from_le_bytes(bytes.try_into().expect("invariant: a number has 8 bytes"))
}

/// The shape of a column after its round trip through bytes: text that was no code becomes text of its own.
pub fn decoded_shape(shape: &ColumnShape) -> ColumnShape {
    let representation = match &shape.representation {
        Representation::Codes(column) if !matches!(column.encoding, Encoding::Dictionary(_)) => {
            Representation::Text
        }
        same => same.clone(),
    };
    ColumnShape { representation, ..shape.clone() }
}

/// No values yet, held as the shape says.
pub fn empty_values(shape: &ColumnShape) -> Values {
    match shape.representation {
        Representation::Codes(_) => Values::Codes(vec![]),
        Representation::I64 => Values::I64(vec![]),
        Representation::I128 => Values::I128(vec![]),
        Representation::F64 => Values::F64(vec![]),
        Representation::Bool => Values::Bool(vec![]),
        Representation::Text => Values::Text(TextVector::default()),
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

fn append_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
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

/// Reads one value behind its presence byte, or pushes a placeholder for NULL.
fn push_value(values: &mut Values, there: bool, bytes: &mut &[u8]) {
    fn fixed<const N: usize>(there: bool, bytes: &mut &[u8]) -> [u8; N] {
        if !there {
            return [0; N];
        }
        split(bytes, N).try_into().expect("invariant: the length was asked for")
    }
    match values {
        Values::Codes(it) => it.push(u32::from_le_bytes(fixed(there, bytes))),
        Values::I64(it) => it.push(i64::from_le_bytes(fixed(there, bytes))),
        Values::I128(it) => it.push(i128::from_le_bytes(fixed(there, bytes))),
        Values::F64(it) => it.push(f64::from_bits(u64::from_le_bytes(fixed(there, bytes)))),
        Values::Bool(it) => it.push(fixed::<1>(there, bytes)[0] == 1),
        Values::Text(it) => {
            let len = u32::from_le_bytes(fixed(there, bytes)) as usize;
            it.bytes.extend_from_slice(split(bytes, len));
            it.ends.push(end_of(it));
        }
    }
}

/// The first bytes, which are taken away.
fn split<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = bytes.split_at(len);
    *bytes = tail;
    head
}
