//! Tables as the SQL that makes them again, for who shows or dumps them.

use super::schema_sql::{after_load, create_table, references};
use crate::Session;

/// A table as SQL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableDefinition {
    /// Its name, unquoted.
    pub name: String,
    /// CREATE TABLE, with all that is asked of the rows, parts and places.
    pub create: String,
    /// What is said when it has its rows: indexes, and places of parts and rows.
    pub after_load: String,
    /// What is said when all tables have their rows: foreign keys.
    pub references: String,
}

impl Session {
    /// The tables that the next statement of the session would see, in order of name.
    pub fn definitions(&self) -> Vec<TableDefinition> {
        let mut tables = self.snapshot().tables();
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        let definition = |it: &stdx::sync::Arc<storage::Table>| TableDefinition {
            name: it.name.clone(),
            create: create_table(it),
            after_load: after_load(it),
            references: references(it),
        };
        tables.iter().map(definition).collect()
    }
}
