//! Rows that no table holds: they are made while they are read, as those of files are, and forgotten when a query has seen them
//! (docs/design/12-rows-from-files.md, "rows that are not kept").
//!
//! - Invariant: what a stream says of its columns (types, NULL) holds for each row that it gives; how many rows it has is a guess.

use std::fmt::Debug;

use types::{ColumnId, SqlResult};

use crate::held::HeldColumn;
use crate::parquet_groups::ColumnBounds;

/// What makes rows.
pub trait RowStream: Debug + Send + Sync {
    /// How many rows there may be.
    fn expected_rows(&self) -> u64;
    /// Begins to read some columns. Rows that are outside of bounds need not be given.
    ///
    /// # Errors
    /// Those of the source, as that a column is not in all its files.
    fn begin(&self, columns: &[ColumnId], wanted: &[ColumnBounds])
    -> SqlResult<Box<dyn RowReader>>;
}

/// Reads the rows of a stream once, by several workers at a time.
pub trait RowReader: Send + Sync {
    /// How many steps it takes. Each gives some blocks of rows, perhaps none; which ones may depend on those before.
    fn steps(&self) -> u64;
    /// Does a step; `check` is asked now and then, and ends it with its error.
    ///
    /// # Errors
    /// Those of `check` and `give`: what is wrong with rows is given.
    fn step(&self, step: u64, check: Check<'_>, give: Give<'_>) -> SqlResult<()>;
    /// How much of all was read, in units of its own; nothing where that is not known.
    fn progress(&self) -> Option<(u64, u64)> {
        None
    }
    /// Columns in place of blocks, where any of them can be decoded at any time; nothing where rows come as they come.
    fn by_column(&self) -> Option<&dyn ColumnReader> {
        None
    }
}

/// Decodes columns of blocks of rows in any order.
pub trait ColumnReader: Sync {
    /// How many blocks.
    fn blocks(&self) -> usize;
    /// How many rows a block has.
    fn rows(&self, block: usize) -> usize;
    /// A column of those that are read.
    ///
    /// # Errors
    /// Those of [`RowBlock::column`].
    fn column(&self, block: usize, place: usize, check: Check<'_>) -> SqlResult<Vec<HeldColumn>>;
}

/// Whether to go on.
pub type Check<'a> = &'a dyn Fn() -> SqlResult<()>;

/// Who takes a block of rows, or what is wrong with its first row that cannot be read; and where it stands among all blocks of the
/// stream.
pub type Give<'a> = &'a mut dyn FnMut(u64, SqlResult<&dyn RowBlock>) -> SqlResult<()>;

/// Neighbouring rows of a stream.
pub trait RowBlock {
    /// How many rows.
    fn rows(&self) -> usize;
    /// A column of those that are read, in pieces that follow each other. It may not have been decoded before.
    ///
    /// # Errors
    /// Those of the source; what does not fit the column; those of `check`.
    fn column(&self, place: usize, check: Check<'_>) -> SqlResult<Vec<HeldColumn>>;
}
