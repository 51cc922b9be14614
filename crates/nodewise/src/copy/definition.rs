//! Tables as the SQL that makes them again, for who shows or dumps them.

use stdx::sync::Arc;
use storage::Table;
use types::ViewDefinition;

use super::schema_sql::{
    after_load, comments, create_schemas, create_sequence, create_table, create_types, create_view,
    is_own, macros, position, references, refresh, sequences, views,
};
use crate::Session;
use crate::client_settings::BODIES;
use crate::generated_ddl::rows_without_generated;

/// A table as SQL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableDefinition {
    /// Its name, unquoted.
    pub name: String,
    /// CREATE TABLE, with all that is asked of the rows, parts and places.
    pub create: String,
    /// What is said when it has its rows: indexes, and places of parts and rows.
    pub after_load: String,
    /// The query of its rows: without what is generated of them.
    pub rows: String,
    /// Whether rows are refused that bring a number of their own for an identity (GENERATED ALWAYS), unless the INSERT says
    /// OVERRIDING SYSTEM VALUE.
    pub gives_numbers: bool,
    /// What is said when all tables have their rows: foreign keys.
    pub references: String,
}

/// A view as SQL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewSql {
    /// Its name, unquoted.
    pub name: String,
    /// CREATE VIEW.
    pub create: String,
}

/// All sequences as SQL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SequenceDefinitions {
    /// What is said before there are tables, whose defaults may ask them.
    pub create: String,
    /// What is said when all tables have their rows: whose they are, and where they go on.
    pub positions: String,
}

impl Session {
    /// The tables that the next statement of the session would see, in order of name.
    pub fn definitions(&self) -> Vec<TableDefinition> {
        let snapshot = self.snapshot();
        let mut tables = snapshot.tables();
        tables.retain(|it| is_own(it));
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        let definition = |it: &Arc<Table>| TableDefinition {
            name: it.name.clone(),
            create: create_table(it, &snapshot),
            after_load: after_load(it),
            rows: rows_without_generated(it),
            gives_numbers: it.rules().rows.identities.iter().any(|it| it.always),
            references: references(it),
        };
        tables.iter().map(definition).collect()
    }

    /// The views that the next statement of the session would see, each behind those that it is made of.
    pub fn view_definitions(&self) -> Vec<ViewSql> {
        let snapshot = self.snapshot();
        let views = views(&snapshot);
        let of = |it: &Arc<ViewDefinition>| ViewSql {
            name: it.name.clone(),
            create: create_view(it) + &refresh(it, &snapshot),
        };
        views.iter().map(of).collect()
    }

    /// The statements that make the schemas and types that the next statement of the session would see.
    pub fn schema_definitions(&self) -> String {
        create_schemas(&self.snapshot()) + &create_types(&self.snapshot())
    }

    /// The statements that make the macros and functions that the next statement of the session would see, inside of a transaction. What
    /// bodies of functions name may be in schemas in which nobody looks by then.
    pub fn macro_definitions(&self) -> String {
        let snapshot = self.snapshot();
        let unchecked = match snapshot.macros().any(|it| it.is_function()) {
            true => format!("SET LOCAL {BODIES} = off;\n"),
            false => String::new(),
        };
        unchecked + &macros(&snapshot)
    }

    /// The sequences that the next statement of the session would see.
    pub fn sequence_definitions(&self) -> SequenceDefinitions {
        let snapshot = self.snapshot();
        SequenceDefinitions {
            create: sequences(&snapshot).map(|it| create_sequence(it)).collect(),
            positions: sequences(&snapshot).map(|it| position(it)).collect::<String>()
                + &comments(&snapshot),
        }
    }
}
