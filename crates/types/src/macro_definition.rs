//! Macros as plain data: what calls of a name stand for, as DuckDB has them.
//!
//! Key decision: what a call stands for is SQL as it was written: names in it mean what they mean where it is called.

use serde::{Deserialize, Serialize};

/// A macro: its calls stand for expressions, or in FROM for queries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MacroDefinition {
    /// Its name, in lower case unless quoted.
    pub name: String,
    /// Whether its calls are tables.
    pub is_table: bool,
    /// What calls stand for, by their arguments: the first form that takes them.
    pub forms: Vec<MacroForm>,
}

/// What a call of some arguments stands for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MacroForm {
    /// The parameters, in order.
    pub parameters: Vec<MacroParameter>,
    /// An expression, or a query, as SQL.
    pub body: String,
}

/// A parameter of a macro.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MacroParameter {
    /// Its name.
    pub name: String,
    /// What it is where a call does not say it, as SQL.
    pub default: Option<String>,
}
