//! A statement that changes rows, planned.

use arrow_schema::SchemaRef;
use binder::bind::{Asked, ChangeKind, KeyOfRow, ParameterTypes, RowCheck, RowLock};
use plan::{ExprKind, Operator, OutputColumn, Plan, Source};
use stdx::sync::{Arc, OnceLock};
use storage::Table;
use types::{ColumnId, TableId};

/// The plan of a statement that changes rows.
#[derive(Debug)]
pub(crate) struct PlannedChange {
    pub kind: ChangeKind,
    /// The table that it changes.
    pub table: String,
    /// The query of its rows ([`binder::bind::BoundChange::query`]).
    pub plan: Plan,
    /// The schema of its rows, as they are held.
    pub held: SchemaRef,
    /// That of rows for the table, once there were some.
    pub stored: OnceLock<SchemaRef>,
    /// The tables of which its scans do not tell all that is read.
    pub unknown: Vec<TableId>,
    /// How many columns of the query RETURNING asks for.
    pub returning: Option<usize>,
    /// The CHECK constraints whose truth the last columns are.
    pub checks: Vec<RowCheck>,
    /// How many columns each key of ON CONFLICT has, behind all others.
    pub keys: Vec<KeyOfRow>,
    /// The columns of an UPDATE that get the values that they have.
    pub kept: Vec<ColumnId>,
    /// The tables whose rows are locked, one for each of the first columns of the query.
    pub locks: Vec<RowLock>,
    /// Whether planning at another time gives the same plan as long as the tables do not change.
    pub is_stable: bool,
    /// The types of the parameters.
    pub parameters: ParameterTypes,
    /// The rights that it needs.
    pub asked: Arc<Asked>,
}

impl PlannedChange {
    /// Whether the rows that come have the keys of those in whose place they come.
    pub fn keeps_keys(&self, table: &Table) -> bool {
        let mut keys = table.rules().indexes.iter().filter(|it| it.kind.is_unique());
        self.kind == ChangeKind::Update
            && keys.all(|it| it.columns.iter().all(|it| self.kept.contains(it)))
    }

    /// The columns that RETURNING asks for.
    pub fn returned(&self) -> &[OutputColumn] {
        let keys: usize = self.keys.iter().map(|it| it.columns).sum();
        let end = self.plan.output.len() - self.checks.len() - keys;
        &self.plan.output[end - self.returning.unwrap_or(0)..end]
    }
}

/// The columns of which an UPDATE by a plan leaves the values as they are, as far as that is seen: those that a scan of the
/// table hands on to their own place behind the position.
pub(crate) fn kept_columns(kind: ChangeKind, plan: &Plan) -> Vec<ColumnId> {
    let ([pipeline], []) = (&plan.pipelines[..], &plan.recursions[..]) else { return Vec::new() };
    let (ChangeKind::Update, Source::Scan(scan)) = (kind, &pipeline.source) else {
        return Vec::new();
    };
    let (mut project, mut operators) = (None, pipeline.operators.iter());
    let known = operators.all(|it| match it {
        Operator::Filter(_) => true,
        Operator::Project(exprs) => project.replace(exprs).is_none(),
        _ => false,
    });
    let place_of = |at: usize| match project {
        None => Some(at),
        Some(exprs) => match exprs[at].kind {
            ExprKind::Column(place) => Some(place),
            _ => None,
        },
    };
    let column = |at: usize| scan.columns.get(*scan.output.get(place_of(at)?)?).copied();
    let is_kept = |it: &ColumnId| column(it.index() + 1) == Some(*it);
    let width = project.map_or(scan.output.len(), Vec::len).saturating_sub(1);
    if known { (0..width as u16).map(ColumnId).filter(is_kept).collect() } else { Vec::new() }
}
