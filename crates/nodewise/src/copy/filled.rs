//! What a COPY .. FROM fills: the columns, and the rows that its WHERE wants.

use binder::column_names::{has_subquery, which_named};
use binder::sequence_names::qualified;
use storage::{Column, Table};
use types::{ColumnId, SqlError, SqlResult, SqlState, names};

use super::schema_sql::type_sql;
use crate::Session;
use crate::constraints::quoted;
use crate::generated_ddl::is_generated;
use crate::sql_names::sql_path;

/// The columns that are filled, and which rows.
#[derive(Clone, Copy)]
pub(super) struct Filled<'a> {
    /// The places of the columns, in the order of the file.
    pub places: &'a [usize],
    /// WHERE, as SQL.
    pub condition: Option<&'a str>,
}

impl Filled<'_> {
    /// Refuses conditions that PostgreSQL has not: 0A000 of queries in them, 42P10 of generated columns.
    pub(super) fn check(self, table: &Table) -> SqlResult<()> {
        let Some(condition) = self.condition else { return Ok(()) };
        if has_subquery(condition)? {
            let message = "cannot use subquery in COPY FROM WHERE condition";
            return Err(SqlError::unsupported(message));
        }
        let all: Vec<&str> = table.columns.iter().map(|it| &*it.name).collect();
        let named = which_named(condition, &all)?;
        match (0..all.len()).find(|it| named[*it] && is_generated(table, *it)) {
            None => Ok(()),
            Some(place) => {
                let message = "generated columns are not supported in COPY FROM WHERE conditions";
                Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message)
                    .with_detail(format!("Column \"{}\" is a generated column.", all[place])))
            }
        }
    }

    /// Whether rows of a file go straight into the columns of a table.
    pub(super) fn is_plain(self, table: &Table) -> bool {
        let rules = table.rules();
        rules.rows.checks.is_empty()
            && rules.rows.domains.is_empty()
            && rules.rows.fields.is_empty()
            && rules.references.is_empty()
            && self.condition.is_none()
            && self.places.len() == table.columns.len()
    }

    /// Whether a value must be in each row that is read: a row that is not wanted may have none.
    pub(super) fn requires(self, column: &Column) -> bool {
        !column.nullable && self.condition.is_none()
    }
}

impl Session {
    /// The INSERT that a COPY is, of values out of rows that a name stands for.
    pub(super) fn insert_of(
        &self,
        table: &Table,
        filled: Filled<'_>,
        values: Vec<String>,
        from: &str,
    ) -> SqlResult<String> {
        let name = |place: usize| quoted(&table.columns[place].name);
        let mut list: Vec<String> = filled.places.iter().map(|it| name(*it)).collect();
        let from = from.replace('\'', "''");
        let rows = match filled.condition {
            None => format!("SELECT {} FROM '{from}'", values.join(", ")),
            Some(condition) => {
                let named = |(value, name): (String, &String)| format!("{value} AS {name}");
                let mut all: Vec<String> = values.into_iter().zip(&list).map(named).collect();
                for place in (0..table.columns.len()).filter(|it| !filled.places.contains(it)) {
                    let column = &table.columns[place];
                    if names::is_hidden(&column.name) || is_generated(table, place) {
                        continue;
                    }
                    // The condition is asked of the value that the row is given.
                    let default = self.default_in_copy(table, place)?;
                    let data_type = type_sql(column.data_type);
                    all.push(format!("CAST({default} AS {data_type}) AS {}", name(place)));
                    list.push(name(place));
                }
                let (own, all) = (quoted(&names::bare(&table.name)), all.join(", "));
                let list = list.join(", ");
                format!(
                    "SELECT {list} FROM (SELECT {all} FROM '{from}') AS {own} WHERE {condition}"
                )
            }
        };
        let (table, list) = (sql_path(&table.name), list.join(", "));
        Ok(format!("INSERT INTO {table} ({list}) OVERRIDING SYSTEM VALUE {rows}"))
    }

    /// The default of a column, or of its domain, as SQL.
    fn default_in_copy(&self, table: &Table, place: usize) -> SqlResult<String> {
        let rows = &table.rules().rows;
        if let Some(Some(own)) = rows.defaults.get(place) {
            return qualified(own);
        }
        let domain = rows.domain(ColumnId(place as u16));
        let of_domain = domain.map(|it| self.domain_rules(it)).transpose()?;
        Ok(of_domain.and_then(|it| it.default).unwrap_or_else(|| "NULL".to_owned()))
    }
}
