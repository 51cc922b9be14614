//! Picking elements out of a column.

/// What stands at some places.
pub fn take<T: Clone>(from: &[T], places: &[u32]) -> Vec<T> {
    places.iter().map(|&it| from[it as usize].clone()).collect()
}
