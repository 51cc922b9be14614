//! A statement that changes rows, planned.

use binder::bind::{Asked, ChangeKind, RowLock};
use plan::{OutputColumn, Plan};
use stdx::sync::Arc;
use types::{DataType, TableId};

/// The plan of a statement that changes rows.
#[derive(Debug)]
pub(crate) struct PlannedChange {
    pub kind: ChangeKind,
    /// The table that it changes.
    pub table: String,
    /// The query of its rows ([`binder::bind::BoundChange::query`]).
    pub plan: Plan,
    /// The tables of which its scans do not tell all that is read.
    pub unknown: Vec<TableId>,
    /// How many columns of the query RETURNING asks for.
    pub returning: Option<usize>,
    /// The CHECK constraints whose truth the last columns are.
    pub checks: Vec<String>,
    /// How many columns each key of ON CONFLICT has, behind all others.
    pub keys: Vec<usize>,
    /// The tables whose rows are locked, one for each of the first columns of the query.
    pub locks: Vec<RowLock>,
    /// Whether planning at another time gives the same plan as long as the tables do not change.
    pub is_stable: bool,
    /// The types of the parameters: those declared, and what the surroundings tell of the others.
    pub parameters: Vec<Option<DataType>>,
    /// The rights that it needs.
    pub asked: Arc<Asked>,
}

impl PlannedChange {
    /// The columns that RETURNING asks for.
    pub fn returned(&self) -> &[OutputColumn] {
        let keys: usize = self.keys.iter().sum();
        let end = self.plan.output.len() - self.checks.len() - keys;
        &self.plan.output[end - self.returning.unwrap_or(0)..end]
    }
}
