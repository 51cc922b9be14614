//! The values that a column gets when it comes to a table, or has another type: those of a query, converted as an INSERT
//! converts them.
//!
//! Key decision: what a default or USING gives is asked by an INSERT into a table that nobody sees, so that there is one way to
//! convert and to refuse. Only its query runs.

use arrow_array::{ArrayRef, new_empty_array};
use plan::properties::is_volatile;
use plan::{Expr, ExprKind, Operator, Plan, Source};
use stdx::sync::Arc;
use storage::{BuildContext, ColumnSchema, Rules, Table, arrow_type};
use types::numeric::interval_text::Fields;
use types::structs::has_part;
use types::{ColumnId, DataType, RowRules, SqlError, SqlResult, SqlState, Styles, numeric};

use crate::change::parsed;
use crate::constraints::quoted;
use crate::durability::values_of;
use crate::foreign_keys::queried;
use crate::planned_change::PlannedChange;
use crate::planning::{plan_plain, plan_plain_change};
use crate::result::held_schema_of;
use crate::sql_names::sql_path;
use crate::statement_catalog::StatementCatalog;
use crate::{CancelToken, Session};

/// The table that is asked.
const ASKED: &str = "\"nodewise.new_column\"";

impl Session {
    /// The values of a default for the rows of a table: one where it is the same for all. A column comes with what it keeps of times.
    pub(crate) fn values_of_default(
        &self,
        table: &Table,
        column: (&ColumnSchema, Option<Fields>),
        default: &str,
        cancel: &CancelToken,
    ) -> SqlResult<ArrayRef> {
        let (asked, beside) = (sql_path(ASKED), beside(column.0));
        let found = self.with_asked(column, Some(default), |session| {
            let once = session.asked(&format!("INSERT INTO {asked} ({beside}) VALUES (1)"))?;
            if !gives_others(&once.plan) {
                return session.first_column(&once, cancel);
            }
            let own = sql_path(&table.name);
            let each =
                session.asked(&format!("INSERT INTO {asked} ({beside}) SELECT 1 FROM {own}"))?;
            session.first_column(&each, cancel)
        });
        found.map_err(|error| match error.state {
            SqlState::UNDEFINED_COLUMN => {
                SqlError::unsupported("cannot use column reference in DEFAULT expression")
            }
            _ => error,
        })
    }

    /// The type of an expression over the rows of a table.
    pub(crate) fn type_of_expression(
        &self,
        table: &Table,
        expression: &str,
    ) -> SqlResult<DataType> {
        let sql = format!("SELECT ({expression}) FROM {}", sql_path(&table.name));
        let planned = plan_plain(&queried(&sql)?, &StatementCatalog::new(self).keeping())?;
        let output = planned.plan.output.first();
        output
            .map(|it| it.data_type)
            .ok_or_else(|| SqlError::internal("an expression without a type"))
    }

    /// The values of an expression over the rows of a table, in their order.
    pub(crate) fn values_of_expression(
        &self,
        table: &Table,
        column: (&ColumnSchema, Option<Fields>),
        expression: &str,
        cancel: &CancelToken,
    ) -> SqlResult<ArrayRef> {
        let (own, asked) = (sql_path(&table.name), sql_path(ASKED));
        let name = quoted(&column.0.name);
        let sql = format!("INSERT INTO {asked} ({name}) SELECT ({expression}) FROM {own}");
        self.with_asked(column, None, |session| session.first_column(&session.asked(&sql)?, cancel))
    }

    /// Runs something while there is a table of a column with a default, and of another one.
    fn with_asked<T>(
        &self,
        (column, fields): (&ColumnSchema, Option<Fields>),
        default: Option<&str>,
        ask: impl FnOnce(&Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let schema = [
            ColumnSchema::new(column.name.clone(), column.data_type, true),
            ColumnSchema::new(beside(column), DataType::Integer, true),
        ];
        let context = BuildContext::serial(&self.database.allocator);
        let table = Table::empty(ASKED, &schema, &context)?;
        let defaults = vec![default.map(Arc::from), None];
        let mut rows = RowRules { defaults, ..RowRules::default() };
        rows.put_fields(ColumnId(0), fields);
        let rules = Rules { rows: Arc::new(rows), ..Rules::default() };
        self.catalog().create(table.with_rules(Arc::new(rules), &context)?)?;
        let asked = ask(self);
        self.catalog().drop_table(ASKED)?;
        asked
    }

    fn asked(&self, sql: &str) -> SqlResult<PlannedChange> {
        plan_plain_change(&parsed(sql)?, &StatementCatalog::new(self).unchecked().keeping())
    }

    /// The first column of the rows that a change would bring.
    fn first_column(&self, change: &PlannedChange, cancel: &CancelToken) -> SqlResult<ArrayRef> {
        let tables = StatementCatalog::new(self).tables(&change.plan);
        let executed = self.run_plan(&change.plan, tables, cancel)?;
        let rows = self.record_batches(&executed, &held_schema_of(&change.plan.output), cancel)?;
        let output = change.plan.output.first();
        let output = output.ok_or_else(|| SqlError::internal("a row without columns"))?;
        let found = values_of(&rows)?;
        Ok(found.unwrap_or_else(|| new_empty_array(&arrow_type(output.data_type))))
    }
}

/// The other column of the table that is asked.
fn beside(column: &ColumnSchema) -> &'static str {
    if column.name == "n" { "m" } else { "n" }
}

/// Whether another run gives other values.
pub(crate) fn gives_others(plan: &Plan) -> bool {
    has_expression(plan, &is_volatile)
}

/// Whether what a plan gives of a row may change with what labels of types are called.
pub(crate) fn reads_labels(plan: &Plan) -> bool {
    fn reads(it: &Expr) -> bool {
        let is_label = |it: DataType| matches!(it, DataType::Enum(_));
        let own = match &it.kind {
            ExprKind::Cast(operand) => {
                has_part(operand.data_type, &is_label) != has_part(it.data_type, &is_label)
            }
            _ => false,
        };
        own || it.children().into_iter().any(reads)
    }
    has_expression(plan, &reads)
}

/// Whether what a plan gives of a row depends on the time zone or the styles of the session that asks.
pub(crate) fn depends_on_session(plan: &Plan) -> bool {
    fn depends(it: &Expr) -> bool {
        let own = match &it.kind {
            ExprKind::Cast(operand) => {
                let (from, to) = (operand.data_type, it.data_type);
                Styles::decide(from, to) || numeric::depends_on_zone(from, to)
            }
            _ => false,
        };
        own || it.children().into_iter().any(depends)
    }
    has_expression(plan, &depends)
}

fn has_expression(plan: &Plan, holds: &dyn Fn(&Expr) -> bool) -> bool {
    plan.pipelines.iter().any(|it| {
        let operators = it.operators.iter().any(|it| match it {
            Operator::Filter(it) => holds(it),
            Operator::Project(all) => all.iter().any(holds),
            _ => false,
        });
        let source = match &it.source {
            Source::Values { rows, .. } => rows.iter().flatten().any(holds),
            _ => false,
        };
        operators || source
    })
}
