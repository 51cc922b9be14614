//! Whether what a serializable transaction has read has been changed since ([`crate::reads`]).

use plan::{OutputColumn, Pipeline, PipelineId, Plan, Scan, Sink, Source};
use stdx::sync::Arc;
use storage::{BuildContext, CatalogSnapshot, Table, TableBuilder, values_at};
use types::{ColumnId, DataType, SqlResult, TableId};

use crate::changed_rows::malformed;
use crate::conflict::not_serializable;
use crate::reads::Reads;
use crate::transaction_state::Writing;
use crate::{CancelToken, Session};

/// Rows in which two versions differ that are looked at one by one.
const ROWS_MAX: usize = 10_000;

/// The name and the id of the table of these rows, out of the catalog's way.
const CHANGED: (&str, TableId) = ("nodewise.changed_rows", TableId(u32::MAX));

/// In what two versions of a table differ.
enum Changed {
    Nothing,
    Rows(Arc<Table>),
    Unknown,
}

impl Session {
    /// Notes what a statement reads, if all that its transaction reads has to stay as it is.
    pub(crate) fn note_reads(&self, plan: &Plan, unknown: &[TableId]) {
        if self.is_serializable() {
            self.reads.lock().note(plan, unknown);
        }
    }

    /// Of a serializable transaction, all that it has read must still be so when it commits, which is as if it all happened
    /// then. One that changes nothing is as if it happened at its first statement.
    ///
    /// Errors: 40001.
    pub(crate) fn check_reads(&self, writing: &Writing, newest: &CatalogSnapshot) -> SqlResult<()> {
        let changes = writing.turn.is_some() || !writing.changes.is_empty();
        let is_newest = newest.version() == writing.began.version();
        if !writing.is_serializable || !changes || is_newest {
            return Ok(());
        }
        let reads = std::mem::take(&mut *self.reads.lock());
        let checked = self.has_changed(&reads, &writing.began, newest);
        *self.reads.lock() = reads;
        match checked? {
            false => Ok(()),
            true => Err(not_serializable(
                "could not serialize access due to read/write dependencies among transactions",
            )),
        }
    }

    /// Whether a row that was read of some tables has gone in newer ones, or one is there that would have been read.
    fn has_changed(
        &self,
        reads: &Reads,
        began: &CatalogSnapshot,
        newest: &CatalogSnapshot,
    ) -> SqlResult<bool> {
        for (table, scans) in reads.iter() {
            // Views and files are in no catalog.
            let Some(old) = began.by_id(*table) else { continue };
            let changed = match newest.by_id(*table) {
                Some(new) if Arc::ptr_eq(old, new) => Changed::Nothing,
                Some(new) => self.changed_rows(old, new)?,
                None => Changed::Unknown,
            };
            let conflicts = match (changed, scans) {
                (Changed::Nothing, _) => false,
                (Changed::Unknown, _) | (Changed::Rows(_), None) => true,
                (Changed::Rows(rows), Some(scans)) => scans.iter().any(|it| self.finds(it, &rows)),
            };
            if conflicts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rows that one of two versions of a table has and the other has not.
    fn changed_rows(&self, old: &Table, new: &Table) -> SqlResult<Changed> {
        if old.rules() != new.rules() || old.schema() != new.schema() || !old.keeps_row_ids() {
            return Ok(Changed::Unknown);
        }
        let Some((gone, came)) = old.difference(new, ROWS_MAX) else {
            return Ok(Changed::Unknown);
        };
        if gone.is_empty() && came.is_empty() {
            return Ok(Changed::Nothing);
        }
        let builder = TableBuilder::new(CHANGED.0, old.schema());
        for (order, (table, positions)) in [(old, gone), (new, came)].into_iter().enumerate() {
            let positions: Vec<Option<usize>> =
                positions.into_iter().map(|it| Some(it as usize)).collect();
            let column = |(place, column): (usize, &Arc<storage::Column>)| {
                let values = values_at(table, ColumnId(place as u16), &positions)?;
                Ok((column.name.clone(), values))
            };
            let columns = table.columns.iter().enumerate().map(column);
            let columns = columns.collect::<SqlResult<Vec<_>>>()?;
            let rows = arrow_array::RecordBatch::try_from_iter_with_nullable(
                columns.into_iter().map(|(name, values)| (name, values, true)),
            );
            builder.push(order as u64, rows.map_err(|error| malformed(&error))?)?;
        }
        let mut rows = builder.finish(&BuildContext::serial(&self.database.allocator))?;
        rows.id = CHANGED.1;
        Ok(Changed::Rows(Arc::new(rows)))
    }

    /// Whether a scan gives one of some rows. One that fails may.
    fn finds(&self, scan: &Scan, rows: &Arc<Table>) -> bool {
        let output = |place: &usize| {
            let id = scan.columns[*place];
            let data_type =
                rows.columns.get(id.index()).map_or(DataType::BigInt, |it| it.data_type);
            OutputColumn::computed("", data_type)
        };
        // Some column is handed on, so that rows can be counted.
        let handed_on: Vec<usize> = (0..scan.columns.len().min(1)).collect();
        let output = handed_on.iter().map(output).collect();
        let scan =
            Scan { table: CHANGED.1, name: CHANGED.0.into(), output: handed_on, ..scan.clone() };
        let source = Source::Scan(scan);
        let (id, operators, sink) = (PipelineId(0), Vec::new(), Sink::Result);
        let pipeline = Pipeline { id, source, operators, sink, estimated_rows: rows.rows() as f64 };
        let plan = Plan { pipelines: vec![pipeline], output, recursions: Vec::new() };
        let tables = [(CHANGED.1, rows.clone())].into_iter().collect();
        match self.run_plan(&plan, tables, &CancelToken::new()) {
            Ok(found) => found.rows.batches.iter().any(|it| it.rows() > 0),
            Err(_) => true,
        }
    }
}
