//! The hidden columns that indexes on expressions, and on the rows of a WHERE alone, are of ([`binder::index_words`]).

use binder::IndexItem;
use binder::column_names::{has_subquery, names_column};
use binder::index_words::kept;
use stdx::sync::Arc;
use storage::{ColumnChange, ColumnSchema, Rules, Table, TableIndex};
use types::{ColumnId, DataType, Generated, SqlError, SqlResult, SqlState, names};

use crate::column_values::{depends_on_session, gives_others, reads_labels};
use crate::constraints::quoted;
use crate::foreign_keys::queried;
use crate::index_ddl::{NewIndex, check_key_type, key_column_of};
use crate::index_text::{said, sql_of_expression};
use crate::planning::plan_plain;
use crate::sql_names::sql_path;
use crate::statement_catalog::StatementCatalog;
use crate::{CancelToken, Session};

impl Session {
    /// The columns of an index; those that are missing are added to the table.
    pub(crate) fn index_columns(
        &self,
        table: &str,
        items: &[IndexItem],
        predicate: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<ColumnId>> {
        if let Some(it) = predicate {
            let current = self.existing(table)?;
            let of = self.checked_type(&current, it, "index predicate")?;
            if of != DataType::Boolean {
                let message = "argument of WHERE must be type boolean";
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            }
        }
        let mut columns = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            let current = self.existing(table)?;
            // Where the first is NULL the row has no key.
            let predicate = predicate.filter(|_| place == 0);
            columns.push(match (item, predicate) {
                (IndexItem::Column(name), None) => key_column_of(&current, name)?,
                (IndexItem::Column(name), predicate) => {
                    key_column_of(&current, name)?;
                    let kept = kept(&quoted(name), predicate);
                    self.add_hidden(&current, (name, &kept), cancel)?
                }
                (IndexItem::Expression(it), predicate) => {
                    let of = self.checked_type(&current, it, "index expression")?;
                    check_key_type(of)?;
                    let item = (&*sql_of_expression(it), &*kept(it, predicate));
                    self.add_hidden(&current, item, cancel)?
                }
            });
        }
        Ok(columns)
    }

    /// The type of an expression that an index may be of: of one row alone, and always the same.
    fn checked_type(&self, table: &Table, expression: &str, what: &str) -> SqlResult<DataType> {
        if has_subquery(expression)? {
            let message = format!("cannot use subquery in {what}");
            return Err(SqlError::unsupported(message));
        }
        let rows = &table.rules().rows;
        for it in &rows.generated {
            let name = &table.column(it.column).name;
            if names_column(expression, name)? {
                let message = format!("the generated column \"{name}\" in an {what}");
                return Err(SqlError::unsupported(format!("{message} is not supported")));
            }
        }
        let sql = format!("SELECT ({expression}) FROM {} WHERE true", sql_path(&table.name));
        let planned = plan_plain(&queried(&sql)?, &StatementCatalog::new(self).keeping())?;
        let (plan, is_stable) = (&planned.plan, planned.is_stable);
        if !is_stable || gives_others(plan) || reads_labels(plan) || depends_on_session(plan) {
            let message = format!("functions in {what} must be marked IMMUTABLE");
            return Err(SqlError::new(SqlState("42P17"), message));
        }
        planned
            .plan
            .output
            .first()
            .map(|it| it.data_type)
            .ok_or_else(|| SqlError::internal("an expression without a value"))
    }

    /// Adds a hidden column with the values of an expression, which an item of an index is kept as.
    fn add_hidden(
        &self,
        table: &Arc<Table>,
        (item, expression): (&str, &str),
        cancel: &CancelToken,
    ) -> SqlResult<ColumnId> {
        let data_type = self.checked_type(table, expression, "index expression")?;
        let id = ColumnId(table.columns.len() as u16);
        let values = ColumnSchema::new("value".to_owned(), data_type, true);
        let values = self.values_of_expression(table, (&values, None), expression, cancel)?;
        let schema = ColumnSchema::new(free_name(table, item), data_type, true);
        let new = self.alter_column(table, &ColumnChange::Add(schema), Some(values), cancel)?;
        let mut rules = Rules::clone(new.rules());
        let rows = Arc::make_mut(&mut rules.rows);
        rows.defaults.resize(new.columns.len(), None);
        rows.defaults[id.index()] = Some(expression.into());
        rows.generated.push(Generated { column: id, is_stored: true });
        self.apply_rules(&new, rules, cancel)?;
        Ok(id)
    }

    /// Takes hidden columns away that no index is of.
    pub(crate) fn drop_unused_hidden(&self, table: &str, cancel: &CancelToken) -> SqlResult<()> {
        loop {
            let current = self.existing(table)?;
            let is_used =
                |id: ColumnId| current.rules().indexes.iter().any(|it| it.columns.contains(&id));
            let unused = (0..current.columns.len() as u16)
                .map(ColumnId)
                .find(|it| names::is_hidden(&current.column(*it).name) && !is_used(*it));
            let Some(id) = unused else { return Ok(()) };
            let mut rules = Rules::clone(current.rules());
            let rows = Arc::make_mut(&mut rules.rows);
            rows.generated.retain(|it| it.column != id);
            if let Some(default) = rows.defaults.get_mut(id.index()) {
                *default = None;
            }
            let current = self.apply_rules(&current, rules, cancel)?;
            self.alter_column(&current, &ColumnChange::Drop(id), None, cancel)?;
        }
    }

    /// Drops the indexes that are of expressions or conditions which name a column; what makes them again.
    pub(crate) fn drop_indexes_naming(
        &self,
        table: &Arc<Table>,
        column: &str,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<NewIndex>> {
        self.drop_hidden(table, &|it| names_column(it, column), cancel)
    }

    /// Drops the indexes that are of expressions or conditions; what makes them again.
    pub(crate) fn drop_indexes_of_expressions(
        &self,
        table: &Arc<Table>,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<NewIndex>> {
        self.drop_hidden(table, &|_| Ok(true), cancel)
    }

    /// Drops the indexes of some expressions, and the hidden columns of these; what makes them again.
    fn drop_hidden(
        &self,
        table: &Arc<Table>,
        is_meant: &dyn Fn(&str) -> SqlResult<bool>,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<NewIndex>> {
        let defaults = &table.rules().rows.defaults;
        let mut hidden = Vec::new();
        for (place, own) in table.columns.iter().enumerate() {
            if let Some(Some(expression)) = defaults.get(place)
                && names::is_hidden(&own.name)
                && is_meant(expression)?
            {
                hidden.push(ColumnId(place as u16));
            }
        }
        if hidden.is_empty() {
            return Ok(Vec::new());
        }
        let names_it = |it: &TableIndex| it.columns.iter().any(|it| hidden.contains(it));
        let definition = |it: &TableIndex| {
            let (said, unique) = (said(table, it), it.kind.is_unique());
            let (name, table) = (Some(it.name.to_string()), table.name.clone());
            NewIndex { name, table, said, unique, if_not_exists: false }
        };
        let mut rules = Rules::clone(table.rules());
        let taken = rules.indexes.iter().filter(|it| names_it(it)).map(definition).collect();
        rules.indexes.retain(|it| !names_it(it));
        self.apply_rules(table, rules, cancel)?;
        self.drop_unused_hidden(&table.name, cancel)?;
        Ok(taken)
    }
}

/// A name of a hidden column that the table does not have, which tells what the column holds ([`names::shown`]).
fn free_name(table: &Table, item: &str) -> String {
    let mut longer = (0..).map(|it| format!("\0{item}{}", "\0".repeat(it)));
    let is_free = |it: &String| {
        let lower = it.to_lowercase();
        table.columns.iter().all(|column| column.name.to_lowercase() != lower)
    };
    longer.find(is_free).unwrap_or_default()
}
