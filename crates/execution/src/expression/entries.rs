//! The entries of a dictionary behind a column, and what a node makes of them.

use std::ops::Range;

use stdx::sync::Arc;
use storage::{Column, Encoding};
use types::SqlResult;

use super::node::Node;
use crate::{Batch, Bitmap, Layout, Representation, Values, Vector};

/// Dictionaries above this are never computed as a whole.
const ENTRIES_MOST: usize = 1 << 22;

/// A column of a layout whose values are codes of a dictionary over whose entries a table can pay.
#[derive(Clone)]
pub(super) struct Coded {
    pub place: usize,
    pub column: Arc<Column>,
    pub entries: usize,
}

impl Coded {
    pub fn of(layout: &Layout, place: usize) -> Option<Self> {
        let Representation::Codes(column) = &layout.get(place)?.representation else { return None };
        let entries = entries(column).filter(|&it| it <= ENTRIES_MOST)?;
        Some(Self { place, column: column.clone(), entries })
    }
}

fn entries(column: &Arc<Column>) -> Option<usize> {
    match &column.encoding {
        Encoding::Dictionary(dictionary) => Some(dictionary.len()),
        _ => None,
    }
}

/// The results of a node for some entries of its only column; NULL stands behind all of them.
pub(super) fn of_entries(
    inner: &Node,
    column: usize,
    range: Range<usize>,
    entries: usize,
) -> SqlResult<Arc<Vector>> {
    let mut codes: Vec<u32> = (range.start as u32..range.end as u32).collect();
    let mut validity = None;
    if range.end > entries {
        *codes.last_mut().expect("invariant: the last part has NULL") = 0;
        let mut of_last = Bitmap::filled(codes.len(), true);
        of_last.set(codes.len() - 1, false);
        validity = Some(of_last);
    }
    let input = Arc::new(Vector { values: Values::Codes(codes), validity });
    // Only its own column is read.
    let columns = (0..=column).map(|_| input.clone()).collect();
    inner.evaluate(&Batch { rows: range.len(), columns, sequence: 0 })
}
