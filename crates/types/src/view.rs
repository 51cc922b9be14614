//! Views as plain data: a query under a name.
//!
//! Key decision: what a view is of, is the text of its query, in which all names were resolved when it was made: `*` stands
//! there as columns, relations with their schemas, columns with their relations. So it means the same whatever comes later, and can be
//! written out as it is.

use crate::{DataType, TableId};

/// A view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewDefinition {
    /// Its id, among those of tables.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// Names and types of its columns.
    pub columns: Vec<(String, DataType)>,
    /// Its query, as SQL.
    pub query: String,
    /// Levels of the tree of its query, without those of the views that it is made of.
    pub levels: usize,
    /// What it is made of.
    pub uses: Vec<UsedRelation>,
    /// Where its rows are kept, of one that is materialized.
    pub materialized: Option<Materialized>,
    /// What is asked of rows that are changed through it.
    pub check: Option<CheckOption>,
}

/// WITH CHECK OPTION: rows that come through a view must be rows of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckOption {
    /// Of it alone, and of those below that say so themselves.
    Local,
    /// Of all that it is made of, too.
    Cascaded,
}

impl CheckOption {
    /// As information_schema and SQL have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "LOCAL",
            Self::Cascaded => "CASCADED",
        }
    }
}

/// The rows of a materialized view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Materialized {
    /// The table that has them, in the schema [`crate::names::MATERIALIZED`].
    pub table: String,
    /// Whether they are those of the query at some time.
    pub is_populated: bool,
}

/// A relation that a view is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedRelation {
    /// The relation.
    pub name: String,
    /// Those of its columns that the view names.
    pub columns: Vec<String>,
}

impl ViewDefinition {
    /// Whether a column of a view may come to be of another type: the digits of a computed number are none of what it is.
    pub fn is_same_type(one: DataType, other: DataType) -> bool {
        let is_decimal = |it| matches!(it, DataType::Decimal { .. });
        one == other || is_decimal(one) && is_decimal(other)
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        if self.materialized.is_some() { "materialized view" } else { "view" }
    }

    /// Whether it is made of a relation.
    pub fn uses(&self, relation: &str) -> bool {
        self.uses.iter().any(|it| it.name.eq_ignore_ascii_case(relation))
    }

    /// Whether it is made of a column of a relation.
    pub fn uses_column(&self, relation: &str, column: &str) -> bool {
        let of = self.uses.iter().find(|it| it.name.eq_ignore_ascii_case(relation));
        of.is_some_and(|it| it.columns.iter().any(|it| it == column))
    }
}
