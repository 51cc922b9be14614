//! Macros and functions as statements name and change them.

use types::FunctionWord;

use crate::role_statement::NamedRole;

/// The macro or function that a statement means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaidMacro {
    /// Its name, as it is said.
    pub name: String,
    /// Whether it must be one of tables.
    pub is_table: bool,
    /// Whether it was called a function.
    pub is_function: bool,
    /// The types of a function's parameters, if they are said.
    pub types: Option<Vec<String>>,
}

/// What ALTER FUNCTION changes.
#[derive(Clone, PartialEq, Debug)]
pub enum FunctionChange {
    /// RENAME TO: another name in its schema.
    Rename(String),
    /// SET SCHEMA.
    Schema(String),
    /// OWNER TO: the role has to be there, and that is all, as functions have no owner.
    Owner(NamedRole),
    /// STRICT, IMMUTABLE and their kin.
    Says(FunctionWord),
}
