//! Keys that are the texts of a plain column: the row of each stands for it, and its hash is kept, so that no text is
//! copied, decompressed or hashed twice on the way to the result, which names rows again.
//!
//! Key decision: the bytes as they are stored are compared. A column has one table of symbols, and compressing a text
//! again gives the same bytes, so equal texts are equal bytes.

use stdx::sync::Arc;
use storage::{Column, Encoding, PlainStrings, StringHeap};

use super::hash::hash_bytes;
use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

/// The texts of some rows of a column.
#[derive(Clone, Debug)]
pub struct TextKeys {
    column: Arc<Column>,
    /// [`NO_ROW`] for NULL.
    rows: Vec<u32>,
    hashes: Vec<u64>,
}

/// What stands for NULL; positions are less.
const NO_ROW: u32 = u32::MAX;
/// Its hash, as good as any.
const NO_HASH: u64 = 0x9e37_79b9_7f4a_7c15;

/// The column whose texts are keys, if a key column is a plain one with rows of its own.
pub fn text_column(shape: &ColumnShape) -> Option<&Arc<Column>> {
    let Representation::Codes(column) = &shape.representation else { return None };
    heap(column).map(|_| column)
}

fn heap(column: &Column) -> Option<&StringHeap> {
    match &column.encoding {
        Encoding::Plain(PlainStrings::Own(texts)) => Some(texts.stored()),
        _ => None,
    }
}

impl TextKeys {
    /// No keys yet.
    pub fn new(column: &Arc<Column>) -> Self {
        Self { column: column.clone(), rows: Vec::new(), hashes: Vec::new() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The hash of a key.
    pub fn hash(&self, place: usize) -> u64 {
        self.hashes[place]
    }

    /// The hashes of all keys.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The keys at some places.
    pub fn take(&self, places: &[u32]) -> Self {
        let rows = places.iter().map(|&it| self.rows[it as usize]).collect();
        let hashes = places.iter().map(|&it| self.hashes[it as usize]).collect();
        Self { column: self.column.clone(), rows, hashes }
    }

    /// No keys, and room for as many.
    pub fn emptied(&self) -> Self {
        let (rows, hashes) = (Vec::with_capacity(self.len()), Vec::with_capacity(self.len()));
        Self { column: self.column.clone(), rows, hashes }
    }

    /// Appends a key of another set over the same column.
    pub fn push(&mut self, other: &Self, place: usize) {
        self.rows.push(other.rows[place]);
        self.hashes.push(other.hashes[place]);
    }

    /// Appends all keys of another set over the same column.
    pub fn extend(&mut self, other: &Self) {
        self.rows.extend_from_slice(&other.rows);
        self.hashes.extend_from_slice(&other.hashes);
    }

    /// Replaces the keys by the rows of a vector.
    pub fn set(&mut self, column: &Vector) {
        let Values::Codes(rows) = &column.values else {
            unreachable!("invariant: a vector is held as its shape says");
        };
        self.rows.clone_from(rows);
        if let Some(valid) = &column.validity {
            let nulls = self.rows.iter_mut().enumerate().filter(|it| !valid.get(it.0));
            nulls.for_each(|it| *it.1 = NO_ROW);
        }
        let heap = heap(&self.column).expect("invariant: keys are of a plain column");
        let hash = |&row: &u32| match row {
            NO_ROW => NO_HASH,
            _ => hash_bytes(heap.bytes_at(row as usize)),
        };
        self.hashes.clear();
        self.hashes.extend(self.rows.iter().map(hash));
    }

    /// Whether a key is that of another set over the same column.
    #[inline]
    pub fn equals(&self, place: usize, other: &Self, at: usize) -> bool {
        if self.hashes[place] != other.hashes[at] {
            return false;
        }
        let (a, b) = (self.rows[place], other.rows[at]);
        if a == b || a == NO_ROW || b == NO_ROW {
            return a == b;
        }
        let heap = heap(&self.column).expect("invariant: keys are of a plain column");
        heap.bytes_at(a as usize) == heap.bytes_at(b as usize)
    }

    /// The keys as rows of the column.
    pub fn decode(&self) -> Vector {
        let any_null = self.rows.contains(&NO_ROW);
        let validity =
            any_null.then(|| Bitmap::from_bits(self.rows.iter().map(|&it| it != NO_ROW)));
        // What stands at a NULL must still be a row.
        let row = |&it: &u32| if it == NO_ROW { 0 } else { it };
        Vector { values: Values::Codes(self.rows.iter().map(row).collect()), validity }
    }
}
