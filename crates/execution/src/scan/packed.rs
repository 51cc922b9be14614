//! Rows that are handed on as they are stored, to sinks that compute on codes.

use stdx::sync::Arc;
use storage::{Column, Encoding};

use super::later_keys::{Later, LaterKeys};
use super::leaving::{Change, Leaving, PackedColumn};

/// Rows of a part as they are stored, and which of them passed.
pub struct PackedBlock<'a> {
    /// The columns of the part that the scan reads.
    pub(super) columns: &'a [Leaving],
    /// The columns that leave the scan.
    pub(super) output: &'a [usize],
    /// Whether the table is not cut into parts.
    pub(crate) whole: bool,
    /// Where values of other rows of the part are told that are in deltas; `None` in a delta itself.
    pub(super) later: Option<&'a Later>,
    /// Position of the first row in the table.
    pub(crate) sequence: u64,
    /// The first row, in the part; a multiple of 1024.
    pub(crate) start: usize,
    /// How many there are.
    pub(crate) rows: usize,
    /// A bit for each.
    pub(crate) words: &'a [u64],
    /// How many passed.
    pub(crate) count: usize,
}

impl PackedBlock<'_> {
    /// A column that leaves the scan, if its values follow from codes of up to 32 bits without a lookup.
    pub(crate) fn column(&self, place: usize) -> Option<PackedColumn<'_>> {
        self.columns[self.output[place]].packed()
    }

    /// A column that leaves the scan, if it holds no NULL and leaves as it is stored: as codes that order as their values,
    /// or as raw integers.
    pub(crate) fn stored(&self, place: usize) -> Option<&Arc<Column>> {
        let Leaving { column, change, .. } = &self.columns[self.output[place]];
        let plain = match column.encoding {
            Encoding::Offset { .. } | Encoding::Dictionary(_) => true,
            Encoding::Raw => !column.data_type.is_float(),
            Encoding::Plain(_) | Encoding::Parts => false,
        };
        let same = matches!(change, Change::None) && column.statistics.nulls == 0;
        (plain && same).then_some(column)
    }

    /// The values that a column has in deltas; `None` if that cannot be told, as in a delta itself.
    pub(crate) fn later(&self, place: usize) -> Option<&LaterKeys> {
        self.later?.keys(self.output[place])
    }

    /// Whether a column never falls from row to row of the part.
    pub(crate) fn is_sorted(&self, place: usize) -> bool {
        self.columns[self.output[place]].column.statistics.sorted
    }
}
