//! What a table asks of its rows, as a statement says it.

use types::{Deferral, ReferentialAction};

/// The constraints of a table, but for NOT NULL.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Constraints {
    /// PRIMARY KEY and UNIQUE.
    pub keys: Vec<KeyDefinition>,
    /// CHECK.
    pub checks: Vec<CheckDefinition>,
    /// FOREIGN KEY.
    pub references: Vec<ReferenceDefinition>,
}

/// FOREIGN KEY, or REFERENCES behind a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReferenceDefinition {
    /// The name of the constraint, made from the table's and the columns' when not given.
    pub name: Option<String>,
    /// The columns that refer.
    pub columns: Vec<String>,
    /// The table that they refer to.
    pub parent: String,
    /// The columns of its key; those of its primary key when empty.
    pub parent_columns: Vec<String>,
    /// What becomes of rows whose parent goes.
    pub on_delete: ReferentialAction,
    /// What becomes of rows whose parent gets another key.
    pub on_update: ReferentialAction,
    /// MATCH FULL.
    pub is_full: bool,
    /// Until when a row may refer to nothing.
    pub deferral: Deferral,
    /// NOT VALID: rows that are there are not looked at.
    pub not_valid: bool,
}

/// PRIMARY KEY or UNIQUE of CREATE TABLE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyDefinition {
    /// The name of the constraint, made from the table's and the columns' when not given.
    pub name: Option<String>,
    /// Its columns.
    pub columns: Vec<String>,
    /// Whether it is the primary key.
    pub primary: bool,
    /// Until when it may be broken.
    pub deferral: Deferral,
    /// NULLS NOT DISTINCT.
    pub nulls_equal: bool,
}

/// CHECK of CREATE TABLE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckDefinition {
    /// The name of the constraint, made from the table's and that of the only column in it when not given.
    pub name: Option<String>,
    /// The condition.
    pub condition: String,
    /// NOT VALID: rows that are there are not looked at.
    pub not_valid: bool,
}

/// What an index is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IndexItem {
    /// A column, by its name.
    Column(String),
    /// An expression.
    Expression(String),
}
