//! Copies of columns for the workers of other nodes (P-HANA 4.2: replicas of what is small and only read).

use hardware::{NodeId, PagePolicy};
use placement::{COPIED_IV_BYTES, ColumnPlacement};
use stdx::sync::Arc;
use types::SqlResult;

use super::segment_places::bytes_of_rows_segment;
use crate::place::{check_file, out_of_memory};
use crate::{Column, Table};

/// A copy of a column of a part, as it would be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyShape {
    /// How much memory it takes.
    pub bytes: u64,
    /// Whether the rows are copied, and not only the dictionary.
    pub has_rows: bool,
}

impl Table {
    /// What a copy of a column of a part takes, an index apart.
    pub fn copy_shape(&self, column: usize, part: usize) -> CopyShape {
        let column = &self.parts()[part].columns[column];
        let has_rows = bytes_of_rows_segment(column) <= COPIED_IV_BYTES;
        let segments = column.segments().into_iter().filter(|it| is_copied(it.0, has_rows));
        CopyShape { bytes: segments.map(|it| it.1.bytes() as u64).sum(), has_rows }
    }
}

/// Whether a copy of a column has a segment of its own. An index is looked up once per query, not per morsel: its
/// readers share it. `rows`: all of the column is copied.
pub(super) fn is_copied(name: &str, rows: bool) -> bool {
    matches!(name, "dictionary" | "zones") || rows && !name.starts_with("ix")
}

/// A column with copies of its dictionary, or of all its segments, on some nodes.
pub(super) fn copied(
    column: &Column,
    nodes: &[NodeId],
    decided: &ColumnPlacement,
) -> SqlResult<Column> {
    let policy = match nodes {
        [node] => PagePolicy::Node(*node),
        nodes => PagePolicy::Interleave(nodes.to_vec()),
    };
    column.moved(&mut |name, segment| {
        if is_copied(name, decided.copies_iv) {
            check_file(segment)?;
            let copy = segment.copy(&policy).map_err(out_of_memory)?;
            check_file(segment)?;
            Ok(Arc::new(copy))
        } else {
            Ok(segment.clone())
        }
    })
}
