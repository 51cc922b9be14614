//! What a kind of key must be able to do: as a set of keys that tables search and fill, and as a format that key columns
//! are put into and read back from.

use stdx::sync::Arc;

use super::hash::Fingerprint;
use crate::{ColumnShape, Vector};

/// Keys of one kind, one after the other: of the rows of a batch, or of groups.
pub trait KeySet {
    /// What tells most keys apart.
    type Fingerprint: Fingerprint;

    /// The fingerprint of each key.
    fn fingerprints(&self) -> &[Self::Fingerprint];
    /// Whether a key is that of another set; their fingerprints are known to be equal.
    fn equals(&self, place: usize, other: &Self, at: usize) -> bool;
    /// The keys at some places, in that order.
    fn take(&self, places: &[u32]) -> Self;
    /// No keys, and room for as many.
    fn emptied(&self) -> Self;
    /// Appends a key of another set.
    fn push(&mut self, other: &Self, at: usize);
    /// Appends all keys of another set.
    fn extend(&mut self, other: &Self);
    /// Bytes of memory that grow with the length of keys.
    fn variable_bytes(&self) -> usize {
        0
    }
}

/// How key columns become keys of one kind.
pub trait KeyFormat {
    /// The kind.
    type Keys: KeySet;

    /// No keys.
    fn empty(&self) -> Self::Keys;
    /// Puts the keys of the rows of key columns into `keys`, instead of those that are there.
    fn encode(&self, columns: &[Arc<Vector>], rows: usize, keys: &mut Self::Keys);
    /// The key columns of keys.
    fn decode(&self, keys: &Self::Keys) -> Vec<Vector>;
    /// The shapes of the decoded columns.
    fn shapes(&self) -> Vec<ColumnShape>;
    /// The first column of a key; it is a number that is never NULL.
    fn first_number(&self, keys: &Self::Keys, place: usize) -> i64;
    /// Replaces the first column of keys; it is a number that is never NULL.
    fn map_first(&self, keys: &mut Self::Keys, map: impl Fn(i64) -> i64);
}
