//! By what a table can be cut into parts (PP).

use storage::{IndexKind, Partitioning, Table};
use types::ColumnId;

/// Of a column that cuts a table alone, each part must have so many values that chance deals them evenly.
const VALUES_PER_PART: u64 = 64;

/// Whether some of a table lies in mapped files: that is not moved.
pub(super) fn is_mapped(table: &Table) -> bool {
    table.components().iter().any(|it| it.segment.is_mapped())
}

/// Whether a table may be cut into parts: it has a key, and no user has said how it is to lie.
pub(super) fn can_be_cut(table: &Table) -> bool {
    let is_demanded = |it: usize| table.preference().is_demanded(it, 0);
    *table.partitioning() == Partitioning::None
        && key_of(table).is_some()
        && !(0..table.columns.len()).any(is_demanded)
        && !is_mapped(table)
}

/// The columns of the first key of a table.
fn key_of(table: &Table) -> Option<&[ColumnId]> {
    let keys = || table.rules().indexes.iter().filter(|it| it.kind.is_constraint());
    let primary = keys().find(|it| it.kind == IndexKind::PrimaryKey);
    primary.or_else(|| keys().next()).map(|it| &it.columns[..])
}

/// How a table is cut: by its key; by the first column of a longer one where that has values enough, as rows of other tables
/// are joined by it.
pub(super) fn parts_of(table: &Table, parts: usize) -> Option<Partitioning> {
    let key = key_of(table)?;
    let first = &table.column(*key.first()?).statistics;
    let columns = match first.distinct >= VALUES_PER_PART * parts as u64 {
        true => key[..1].to_vec(),
        false => key.to_vec(),
    };
    Some(Partitioning::Hash { columns, parts })
}
