//! Keys that are the texts of a plain column: the row of each stands for it, and its hash is kept, so that no text is
//! copied, decompressed or hashed twice on the way to the result, which names rows again.
//!
//! Key decision: the bytes as they are stored are compared. A column has one table of symbols, and compressing a text
//! again gives the same bytes, so equal texts are equal bytes.

use stdx::sync::Arc;
use storage::{Column, Encoding, PlainStrings, StringHeap};

use super::hash::StoredHash;
use super::kind::{KeyFormat, KeySet};
use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

/// The texts of some rows of a column.
#[derive(Clone, Debug)]
pub struct TextRowKeys {
    column: Arc<Column>,
    /// [`NO_ROW`] for NULL.
    rows: Vec<u32>,
    hashes: Vec<StoredHash>,
}

/// What stands for NULL; positions are less.
const NO_ROW: u32 = u32::MAX;
/// Its hash, as good as any.
const NO_HASH: StoredHash = StoredHash(0x9e37_79b9_7f4a_7c15);

fn heap(column: &Column) -> Option<&StringHeap> {
    match &column.encoding {
        Encoding::Plain(PlainStrings::Own(texts)) => Some(texts.stored()),
        _ => None,
    }
}

impl TextRowKeys {
    fn heap(&self) -> &StringHeap {
        heap(&self.column).expect("invariant: keys are of a plain column")
    }
}

impl KeySet for TextRowKeys {
    type Fingerprint = StoredHash;

    #[inline]
    fn fingerprints(&self) -> &[StoredHash] {
        &self.hashes
    }

    #[inline]
    fn equals(&self, place: usize, other: &Self, at: usize) -> bool {
        let (a, b) = (self.rows[place], other.rows[at]);
        if a == b || a == NO_ROW || b == NO_ROW {
            return a == b;
        }
        let heap = self.heap();
        heap.bytes_at(a as usize) == heap.bytes_at(b as usize)
    }

    fn take(&self, places: &[u32]) -> Self {
        let rows = places.iter().map(|&it| self.rows[it as usize]).collect();
        let hashes = places.iter().map(|&it| self.hashes[it as usize]).collect();
        Self { column: self.column.clone(), rows, hashes }
    }

    fn emptied(&self) -> Self {
        let room = self.rows.len();
        let (rows, hashes) = (Vec::with_capacity(room), Vec::with_capacity(room));
        Self { column: self.column.clone(), rows, hashes }
    }

    fn push(&mut self, other: &Self, at: usize) {
        self.rows.push(other.rows[at]);
        self.hashes.push(other.hashes[at]);
    }

    fn extend(&mut self, other: &Self) {
        self.rows.extend_from_slice(&other.rows);
        self.hashes.extend_from_slice(&other.hashes);
    }
}

/// A plain column whose texts are keys.
#[derive(Clone, Debug)]
pub struct TextRows {
    shape: ColumnShape,
    column: Arc<Column>,
}

impl TextRows {
    /// The only key column, if it is a plain one with rows of its own.
    pub fn new(shapes: &[ColumnShape]) -> Option<Self> {
        let [shape] = shapes else { return None };
        let Representation::Codes(column) = &shape.representation else { return None };
        heap(column).map(|_| Self { shape: shape.clone(), column: column.clone() })
    }
}

impl KeyFormat for TextRows {
    type Keys = TextRowKeys;

    fn empty(&self) -> TextRowKeys {
        TextRowKeys { column: self.column.clone(), rows: Vec::new(), hashes: Vec::new() }
    }

    fn encode(&self, columns: &[Arc<Vector>], _: usize, keys: &mut TextRowKeys) {
        let Values::Codes(rows) = &columns[0].values else {
            unreachable!("invariant: a vector is held as its shape says");
        };
        keys.rows.clone_from(rows);
        if let Some(valid) = &columns[0].validity {
            let nulls = keys.rows.iter_mut().enumerate().filter(|it| !valid.get(it.0));
            nulls.for_each(|it| *it.1 = NO_ROW);
        }
        let mut hashes = std::mem::take(&mut keys.hashes);
        let heap = keys.heap();
        hashes.clear();
        hashes.extend(keys.rows.iter().map(|&row| match row {
            NO_ROW => NO_HASH,
            _ => StoredHash::of_bytes(heap.bytes_at(row as usize)),
        }));
        keys.hashes = hashes;
    }

    fn decode(&self, keys: &TextRowKeys) -> Vec<Vector> {
        let any_null = keys.rows.contains(&NO_ROW);
        let validity =
            any_null.then(|| Bitmap::from_bits(keys.rows.iter().map(|&it| it != NO_ROW)));
        // What stands at a NULL must still be a row.
        let row = |&it: &u32| if it == NO_ROW { 0 } else { it };
        vec![Vector { values: Values::Codes(keys.rows.iter().map(row).collect()), validity }]
    }

    fn shapes(&self) -> Vec<ColumnShape> {
        vec![self.shape.clone()]
    }

    fn first_number(&self, _: &TextRowKeys, _: usize) -> i64 {
        unreachable!("invariant: a text is no number")
    }

    fn map_first(&self, _: &mut TextRowKeys, _: impl Fn(i64) -> i64) {
        unreachable!("invariant: a text is no number")
    }
}
