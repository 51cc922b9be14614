//! The interface of the ways to aggregate packed rows.

use types::SqlResult;

use crate::aggregate::having::Having;
use crate::aggregate::plan::GroupPlan;
use crate::aggregate::table::GroupTable;
use crate::scan::PackedBlock;

/// Where the rows of a block are added.
pub struct Target<'a> {
    pub(in crate::aggregate) plan: &'a GroupPlan,
    /// What is asked of finished groups.
    pub(in crate::aggregate) having: Option<&'a Having>,
    /// The groups of the worker.
    pub(in crate::aggregate) table: &'a mut GroupTable,
    /// Of the worker.
    pub(in crate::aggregate) slot: usize,
    /// Whether all groups of the table are of the part that the block is of.
    pub(in crate::aggregate) of_part: bool,
}

/// A way to aggregate packed rows.
pub trait PackedStrategy: Send + Sync {
    /// Whether it is worth offering blocks.
    fn pays(&self, has_having: bool) -> bool;
    /// Adds the rows of a block to groups. Gives `false` where they should come as batches instead; then at most groups
    /// without rows were added.
    fn add(&self, block: &PackedBlock<'_>, target: Target<'_>) -> SqlResult<bool>;
}
