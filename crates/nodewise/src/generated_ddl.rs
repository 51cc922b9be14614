//! Columns that are generated of others: what is asked of their expressions, and ALTER COLUMN SET and DROP EXPRESSION.
//!
//! Key decision: one that is VIRTUAL is held like one that is STORED. It reads as fast as any column, at the cost of memory, and
//! of an error of its expression coming when a row is written and not when it is read.

use binder::column_names::{has_subquery, names_column};
use binder::{ColumnDefinition, ExpressionChange, ParsedQuery};
use stdx::sync::Arc;
use storage::{ColumnChange, ColumnSchema, Rules, Table};
use types::{ColumnId, DataType, ReferentialAction, SqlError, SqlResult, SqlState, names};

use crate::column_values::{depends_on_session, gives_others, reads_labels};
use crate::constraints::quoted;
use crate::foreign_keys::queried;
use crate::notice::Notice;
use crate::planning::plan_plain;
use crate::sql_names::sql_path;
use crate::statement_catalog::StatementCatalog;
use crate::{CancelToken, Session};

/// 42P17.
const INVALID_OBJECT: SqlState = SqlState("42P17");

impl Session {
    /// Gives generated columns that say no type those of their expressions.
    pub(crate) fn decide_generated(&self, columns: &mut [ColumnDefinition]) -> SqlResult<()> {
        let (open, known): (Vec<_>, Vec<_>) =
            columns.iter_mut().partition(|it| it.data_type == DataType::Null);
        if open.is_empty() {
            return Ok(());
        }
        let null = |it: &&mut ColumnDefinition| {
            format!("CAST(NULL AS {}) AS {}", it.data_type, quoted(&it.name))
        };
        let nulls: Vec<String> = known.iter().map(null).collect();
        for column in open {
            let expression = column.default.as_deref().unwrap_or("NULL");
            let sql = format!("SELECT ({expression}) FROM (SELECT {}) t", nulls.join(", "));
            let plan = plan_plain(&queried(&sql)?, &StatementCatalog::new(self).keeping())?.plan;
            let data_type = plan.output.first().map(|it| it.data_type);
            column.data_type = data_type.unwrap_or(DataType::Text);
        }
        Ok(())
    }

    /// Whether the expressions of generated columns are ones that may be: of other columns of the row alone, and always the
    /// same.
    pub(crate) fn check_generated(&self, table: &Table) -> SqlResult<()> {
        let rows = &table.rules().rows;
        for it in &rows.generated {
            let Some(Some(expression)) = rows.defaults.get(it.column.index()) else { continue };
            if has_subquery(expression)? {
                let message = "cannot use subquery in column generation expression";
                return Err(SqlError::unsupported(message));
            }
            for other in &rows.generated {
                let name = &table.column(other.column).name;
                if names_column(expression, name)? {
                    let message = format!(
                        "cannot use generated column \"{name}\" in column generation expression"
                    );
                    return Err(SqlError::new(INVALID_OBJECT, message).with_hint(
                        "A generated column cannot reference another generated column.",
                    ));
                }
            }
        }
        if rows.generated.is_empty() {
            return Ok(());
        }
        self.check_row_rules(table)?;
        for it in &rows.generated {
            let Some(Some(expression)) = rows.defaults.get(it.column.index()) else { continue };
            let sql = format!("SELECT ({expression}) FROM {}", sql_path(&table.name));
            let planned = plan_plain(&queried(&sql)?, &StatementCatalog::new(self).keeping())?;
            let (plan, is_stable) = (&planned.plan, planned.is_stable);
            if !is_stable || gives_others(plan) || reads_labels(plan) || depends_on_session(plan) {
                let message = "generation expression is not immutable";
                return Err(SqlError::new(INVALID_OBJECT, message));
            }
        }
        check_references(table)
    }

    /// ALTER COLUMN SET EXPRESSION or DROP EXPRESSION.
    pub(crate) fn change_expression(
        &mut self,
        table: &Arc<Table>,
        column: &str,
        change: &ExpressionChange,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let id = crate::index_ddl::column_of(table, column)?;
        let mut rules = Rules::clone(table.rules());
        let rows = Arc::make_mut(&mut rules.rows);
        let Some(generated) = rows.generated(id) else {
            let message = format!(
                "column \"{column}\" of relation \"{}\" is not a generated column",
                names::bare(&table.name)
            );
            if let ExpressionChange::Drop { if_exists: true } = change {
                self.notice(Notice::told("00000", format!("{message}, skipping")));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::NOT_IN_STATE, message));
        };
        match change {
            ExpressionChange::Drop { .. } if !generated.is_stored => Err(SqlError::unsupported(
                "ALTER TABLE / DROP EXPRESSION is not supported for virtual generated columns",
            )),
            ExpressionChange::Drop { .. } => {
                rows.generated.retain(|it| it.column != id);
                rows.defaults[id.index()] = None;
                self.apply_rules(table, rules, cancel).map(|_| ())
            }
            ExpressionChange::Set(expression) => {
                rows.defaults[id.index()] = Some(expression.as_str().into());
                let new = self.apply_rules(table, rules, cancel)?;
                self.check_generated(&new)?;
                self.generate_anew(&new, id, expression, cancel)
            }
        }
    }

    /// Gives a column the values of its expression.
    fn generate_anew(
        &self,
        table: &Arc<Table>,
        id: ColumnId,
        expression: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let own = table.column(id);
        let schema = ColumnSchema::new(own.name.clone(), own.data_type, own.nullable);
        let fields = table.rules().rows.fields(id);
        let values = self.values_of_expression(table, (&schema, fields), expression, cancel)?;
        if !own.nullable && values.null_count() > 0 {
            return Err(crate::column_ddl::contains_null(table, &own.name));
        }
        let change = ColumnChange::Retype(id, own.data_type);
        let new = self.alter_column(table, &change, Some(values), cancel)?;
        self.check_rows(&new, &new.rules().rows.checks, cancel)
    }

    /// The generated columns of a table whose expressions name a column.
    pub(crate) fn generated_of(&self, table: &Table, column: &str) -> SqlResult<Vec<String>> {
        let rows = &table.rules().rows;
        let mut found = Vec::new();
        for it in &rows.generated {
            let name = &table.column(it.column).name;
            if let Some(Some(expression)) = rows.defaults.get(it.column.index())
                && name != column
                && names_column(expression, column)?
            {
                found.push(name.clone());
            }
        }
        Ok(found)
    }

    /// The rows of COPY .. TO: of a table they are without its generated columns.
    pub(crate) fn copied_rows(
        &self,
        query: ParsedQuery,
        of: Option<(String, Vec<String>)>,
    ) -> SqlResult<ParsedQuery> {
        let Some((said, columns)) = of else { return Ok(query) };
        let Ok(name) = self.existing_name(&said, false) else { return Ok(query) };
        let snapshot = self.snapshot();
        let Some(table) = snapshot.get(&name) else { return Ok(query) };
        let generated = &table.rules().rows.generated;
        if generated.is_empty() {
            return Ok(query);
        }
        let named = |it: &str| generated.iter().any(|of| table.column(of.column).name == it);
        if let Some(column) = columns.iter().find(|it| named(it)) {
            return Err(not_copied(column));
        }
        match columns.is_empty() {
            true => queried(&rows_without_generated(table)),
            false => Ok(query),
        }
    }
}

/// 42P10: a generated column that COPY names.
pub(crate) fn not_copied(column: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_COLUMN_REFERENCE,
        format!("column \"{column}\" is a generated column"),
    )
    .with_hint("Generated columns cannot be used in COPY.")
}

/// Whether a column of a table is generated.
pub(crate) fn is_generated(table: &Table, place: usize) -> bool {
    table.rules().rows.generated(ColumnId(place as u16)).is_some()
}

/// The query of all that makes the rows of a table again.
pub(crate) fn rows_without_generated(table: &Table) -> String {
    let columns = table.columns.iter().enumerate().filter(|it| !is_generated(table, it.0));
    let columns: Vec<String> = columns.map(|it| quoted(&it.1.name)).collect();
    let list =
        if columns.len() == table.columns.len() { "*".to_owned() } else { columns.join(", ") };
    format!("SELECT {list} FROM {}", sql_path(&table.name))
}

/// A generated column does not follow what it refers to.
fn check_references(table: &Table) -> SqlResult<()> {
    use ReferentialAction::{Cascade, SetDefault, SetNull};
    let generated = &table.rules().rows.generated;
    let has = |columns: &[ColumnId]| generated.iter().any(|it| columns.contains(&it.column));
    for key in table.rules().references.iter().filter(|it| has(&it.columns)) {
        let event = match (key.on_update, key.on_delete) {
            (SetNull | SetDefault | Cascade, _) => "UPDATE",
            (_, SetNull | SetDefault) => "DELETE",
            _ => continue,
        };
        let message = format!(
            "invalid ON {event} action for foreign key constraint containing generated column"
        );
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    Ok(())
}
