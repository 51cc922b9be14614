//! The groups of the rows of a batch, and the values of some groups.

/// The groups of the rows of a batch.
#[derive(Clone, Copy)]
pub struct GroupRows<'a> {
    /// By row.
    pub ids: &'a [u32],
    /// The first rows of the groups that begin in this batch, which are the last ones; looked at by who keeps any value.
    pub firsts: &'a [u32],
    /// Numbers rise by at most one from row to row, and only the first may be that of an older group.
    pub rising: bool,
    /// When there are few groups, a bitmap of rows for each, one after the other.
    pub masks: Option<&'a [u64]>,
}

impl<'a> GroupRows<'a> {
    /// Groups of which nothing more is known.
    pub fn of(ids: &'a [u32]) -> Self {
        Self { ids, firsts: &[], rising: false, masks: None }
    }
}

/// What stands at some places.
pub fn take<T: Clone>(from: &[T], places: &[u32]) -> Vec<T> {
    places.iter().map(|&it| from[it as usize].clone()).collect()
}
