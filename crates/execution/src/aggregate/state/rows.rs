//! What states are fed.

use std::borrow::Cow;

use stdx::sync::Arc;

use crate::value::text_of;
use crate::{Batch, Bitmap, ColumnShape, Representation, Values, Vector};

/// The rows of a batch with their groups.
pub(crate) struct StateRows<'a> {
    /// The group of each row.
    pub(crate) groups: &'a [u32],
    /// The arguments of all aggregates.
    pub(crate) arguments: &'a [Arc<Vector>],
    /// The rows that count; `None` for all.
    pub(crate) valid: Option<&'a Bitmap>,
    /// Where the batch stands among all: its place in the source, and its number among those of a worker.
    pub(crate) position: (u64, u64),
}

impl StateRows<'_> {
    /// Whether a row counts.
    pub(super) fn counts(&self, row: usize) -> bool {
        self.valid.is_none_or(|it| it.get(row))
    }

    /// The rows that count with their groups.
    pub(super) fn counted(&self) -> impl Iterator<Item = (usize, usize)> {
        let groups = self.groups.iter().enumerate();
        groups.filter(|it| self.counts(it.0)).map(|(row, &group)| (row, group as usize))
    }

    /// The arguments as a batch.
    pub(super) fn batch(&self) -> Batch {
        Batch { rows: self.groups.len(), columns: self.arguments.to_vec(), sequence: 0 }
    }
}

/// The text of a row that is not NULL.
pub(super) fn text_at<'a>(vector: &'a Vector, shape: &'a ColumnShape, row: usize) -> Cow<'a, str> {
    match (&vector.values, &shape.representation) {
        (Values::Codes(codes), Representation::Codes(column)) => text_of(column, codes[row]),
        (Values::Text(texts), _) => Cow::Borrowed(texts.get(row)),
        _ => unreachable!("invariant: a vector is held as its shape says"),
    }
}
