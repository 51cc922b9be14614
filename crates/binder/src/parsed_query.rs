//! A query as the parser leaves it, and as a step of a statement that does several things.

use std::fmt;

use sqlparser::ast;

/// A parsed query; opaque, because its form belongs to the parser.
#[derive(Clone, PartialEq)]
pub struct ParsedQuery(pub Box<ast::Query>);

impl fmt::Debug for ParsedQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::written::written(&*self.0))
    }
}

impl fmt::Display for ParsedQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::written::written(&*self.0))
    }
}

impl ParsedQuery {
    /// Whether it is a statement that changes rows.
    pub fn changes_rows(&self) -> bool {
        use ast::SetExpr::{Delete, Insert, Merge, Update};
        matches!(&*self.0.body, Insert(_) | Update(_) | Delete(_) | Merge(_))
    }

    /// Whether it is a SELECT that locks rows.
    pub fn locks_rows(&self) -> bool {
        !self.0.locks.is_empty()
    }
}

/// A change, a query that locks rows, or one that several others read, inside of a statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The name by which its rows are read: no file is called so. `None` where it has none.
    pub rows: Option<String>,
    /// What it does.
    pub query: ParsedQuery,
}
