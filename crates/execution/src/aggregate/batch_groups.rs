//! The groups of the rows of a batch.

/// The groups of the rows of a batch.
#[derive(Clone, Copy)]
pub struct BatchGroups<'a> {
    /// By row.
    pub ids: &'a [u32],
    /// The first rows of the groups that begin in this batch, which are the last ones; looked at by who keeps any value.
    pub firsts: &'a [u32],
    /// Numbers rise by at most one from row to row, and only the first may be that of an older group.
    pub is_sorted: bool,
    /// When there are few groups, a bitmap of rows for each, one after the other.
    pub masks: Option<&'a [u64]>,
}

impl<'a> BatchGroups<'a> {
    /// Groups of which nothing more is known.
    pub fn of(ids: &'a [u32]) -> Self {
        Self { ids, firsts: &[], is_sorted: false, masks: None }
    }
}
