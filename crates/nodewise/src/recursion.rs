//! WITH RECURSIVE: the rounds of a query that is made of its own rows, before the statement that scans them.
//!
//! Key decision: each round is a plan like any other, over a table of the rows of the last round, built like any other: placed, and
//! run by all workers. A round knows the plan of the one before, and none of its statistics.

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use execution::{check, check_memory};
use plan::{Plan, Recursion};
use stdx::sync::Arc;
use storage::{ColumnSchema, Table, TableDesign};
use types::{SqlError, SqlResult, TableId};

use crate::result::held_schema_of;
use crate::statement_catalog::Tables;
use crate::{CancelToken, Session};

impl Session {
    /// The tables that a plan scans, with those that its recursions make.
    pub(crate) fn with_recursions(
        &self,
        plan: &Plan,
        mut tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Tables> {
        for recursion in &plan.recursions {
            let table = self.recursive_rows(recursion, &tables, cancel)?;
            tables.insert(recursion.table, table);
        }
        Ok(tables)
    }

    /// The rows of all rounds.
    fn recursive_rows(
        &self,
        recursion: &Recursion,
        tables: &Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Arc<Table>> {
        let Recursion { table, seen, first, step, enough, .. } = recursion;
        let mut known = tables.clone();
        let mut rows = self.round(first, &known, cancel)?;
        let mut all = AllRows::default();
        all.extend(rows.clone())?;
        let mut count = count_of(&rows);
        let mut so_far = match seen {
            Some(id) => Some(self.unstored(recursion, *id, rows.clone(), cancel)?),
            None => None,
        };
        while !rows.is_empty() && enough.is_none_or(|it| count < it) {
            check(cancel)?;
            check_memory(self.workspace().account())?;
            known.insert(*table, self.unstored(recursion, *table, rows, cancel)?);
            if let (Some(id), Some(so_far)) = (seen, &so_far) {
                known.insert(*id, so_far.clone());
            }
            rows = self.round(step, &known, cancel)?;
            count += count_of(&rows);
            if let Some(old) = &mut so_far {
                *old = self.longer(old, &rows, cancel)?;
            }
            let workspace = self.workspace();
            let _entered = workspace.enter(None);
            all.extend(rows.iter().cloned())?;
        }
        self.unstored(recursion, *table, all.batches, cancel)
    }

    /// The rows that a plan makes.
    fn round(
        &self,
        plan: &Plan,
        tables: &Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<RecordBatch>> {
        let executed = self.run_plan(plan, tables.clone(), cancel)?;
        self.record_batches(&executed, &held_schema_of(&plan.output), cancel)
    }

    /// A table of rows for other plans.
    fn unstored(
        &self,
        recursion: &Recursion,
        id: TableId,
        rows: Vec<RecordBatch>,
        cancel: &CancelToken,
    ) -> SqlResult<Arc<Table>> {
        // Names of columns mean nothing to a plan, and may be equal.
        let column = |(place, it): (usize, &plan::OutputColumn)| {
            ColumnSchema::new(format!("{place}"), it.data_type, true)
        };
        let schema: Vec<_> = recursion.first.output.iter().enumerate().map(column).collect();
        let design = TableDesign::placed(self.settings.default_placement.clone());
        let mut table = self.build(&recursion.name, schema, rows, &design, cancel)?;
        table.id = id;
        Ok(Arc::new(table))
    }

    /// A table with rows more.
    fn longer(
        &self,
        old: &Table,
        rows: &[RecordBatch],
        cancel: &CancelToken,
    ) -> SqlResult<Arc<Table>> {
        let mut new = self.loaded(&old.name, &TableDesign::default(), cancel, |context| {
            old.changed(&[], rows, context)
        })?;
        new.id = old.id;
        Ok(Arc::new(new))
    }
}

/// The rows of all rounds so far. A round may be a row, and a batch of one costs a thousand bytes: so the last batch takes
/// in the next as long as it is not much longer, and there are few batches of few rows.
#[derive(Default)]
struct AllRows {
    batches: Vec<RecordBatch>,
}

impl AllRows {
    /// Rows from which on a batch is left as it is.
    const FULL: usize = 16 << 10;

    fn extend(&mut self, rows: impl IntoIterator<Item = RecordBatch>) -> SqlResult<()> {
        for batch in rows {
            self.batches.push(batch);
            while let [.., before, last] = &self.batches[..]
                && before.num_rows() <= 2 * last.num_rows()
                && before.num_rows() + last.num_rows() <= Self::FULL
            {
                let joined = concat_batches(&before.schema(), [before, last])
                    .map_err(|it| SqlError::internal(it.to_string()))?;
                self.batches.truncate(self.batches.len() - 2);
                self.batches.push(joined);
            }
        }
        Ok(())
    }
}

fn count_of(rows: &[RecordBatch]) -> u64 {
    rows.iter().map(|it| it.num_rows() as u64).sum()
}
