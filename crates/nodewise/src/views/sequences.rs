//! The view `nodewise.sequences`.

use arrow_array::RecordBatch;
use storage::Sequence;
use types::SqlResult;

use super::{Columns, ViewBuilder, Viewer};
use crate::Database;

/// The columns of [`rows`].
pub(super) const COLUMNS: Columns = &[
    ("sequence_name", 't'),
    ("data_type", 't'),
    ("start_value", 'i'),
    ("min_value", 'i'),
    ("max_value", 'i'),
    ("increment_by", 'i'),
    ("cycle", 'b'),
    ("cache_size", 'i'),
    ("last_value", 'i'),
    ("owned_by", 't'),
    ("is_identity", 'b'),
];

/// A row for each sequence. The last number is NULL until one was given out.
pub fn rows(database: &Database, viewer: &dyn Viewer) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMNS);
    for sequence in database.catalog.snapshot().sequences() {
        let (definition, position) = (&sequence.definition, sequence.counter.lock().position);
        let is_seen = position.is_called && viewer.reads_sequence(&sequence.name);
        let last = is_seen.then_some(position.number);
        view.row([
            sequence.name.clone().into(),
            definition.data_type.to_string().to_lowercase().into(),
            definition.start.into(),
            definition.min.into(),
            definition.max.into(),
            definition.increment.into(),
            definition.cycles.into(),
            definition.cache.into(),
            last.into(),
            sequence.owner.as_ref().map(|it| format!("{}.{}", it.table, it.column)).into(),
            sequence.owner.as_ref().is_some_and(|it| it.is_identity).into(),
        ]);
    }
    view.finish()
}

/// The columns of [`as_table`].
pub(super) const AS_TABLE: Columns = &[("last_value", 'i'), ("log_cnt", 'i'), ("is_called", 'b')];

/// What a sequence is as a table: one row.
pub fn as_table(sequence: &Sequence) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(AS_TABLE);
    let counted = *sequence.counter.lock();
    let ahead = counted.logged.map_or(0, |it| it.ahead);
    view.row([counted.position.number.into(), ahead.into(), counted.position.is_called.into()]);
    view.finish()
}
