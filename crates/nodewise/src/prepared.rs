//! A prepared statement, and what is kept of planning it.

use arrow_schema::SchemaRef;
use binder::bind::Asked;
use binder::{Statement, TransactionStatement};
use optimizer::Options;
use plan::{OutputColumn, Plan};
use stdx::stack::Deep;
use stdx::sync::{Arc, Mutex};
use types::{DataType, TableId};

use crate::basis::Basis;
use crate::planned_change::PlannedChange;

/// A prepared statement; may be shared by sessions of its database.
#[derive(Clone, Debug)]
pub struct Prepared(pub(crate) Arc<Deep<Inner>>);

#[derive(Debug)]
pub(crate) struct Inner {
    /// None of a text without one.
    pub(crate) statement: Option<Statement>,
    /// What its session is said to run.
    pub(crate) text: Arc<str>,
    pub(crate) declared: Vec<Option<DataType>>,
    pub(crate) types: Vec<Option<DataType>>,
    pub(crate) generic: Mutex<Option<Arc<Generic>>>,
}

/// What planning for any values came to, on some tables.
#[derive(Clone, Debug)]
pub(crate) struct Generic {
    pub(crate) basis: Arc<Basis>,
    pub(crate) options: Options,
    /// The number of the first parameter that stands for the time of the statement, if one does.
    pub(crate) moments: Option<usize>,
    pub(crate) plan: GenericPlan,
    pub(crate) types: Vec<Option<DataType>>,
    /// The rights that it needs, asked at each run.
    pub(crate) asked: Arc<Asked>,
    /// The columns of its rows, empty for none; `None` where they are known when it runs.
    pub(crate) output: Option<Vec<OutputColumn>>,
}

/// A plan for any values.
#[derive(Clone, Debug)]
pub(crate) enum GenericPlan {
    /// It has to be planned for the values.
    None,
    /// With the tables of which its scans do not tell all that is read.
    Query(Arc<Plan>, SchemaRef, Vec<TableId>),
    Change(Arc<PlannedChange>),
}

impl Prepared {
    /// The types of its parameters, in order, when it was prepared; `None` for one that takes a value of any type.
    pub fn parameters(&self) -> &[Option<DataType>] {
        &self.0.types
    }

    /// Whether it is a text without a statement.
    pub fn is_empty(&self) -> bool {
        self.0.statement.is_none()
    }

    /// Whether it is the same one, and not another of the same text.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether it is BEGIN, COMMIT or the like.
    pub fn is_transaction(&self) -> bool {
        matches!(self.0.statement, Some(Statement::Transaction(_)))
    }

    /// Whether it ends a transaction, and is thus allowed in one that failed.
    pub fn ends_transaction(&self) -> bool {
        self.0.statement.as_ref().is_some_and(ends_transaction)
    }
}

/// The rows that a statement gives.
#[derive(Clone, Debug)]
pub struct Described {
    /// Their names and types in Arrow.
    pub schema: SchemaRef,
    /// Their types in SQL.
    pub types: Vec<DataType>,
}

/// Whether a statement ends a transaction, or goes back in it.
fn ends_transaction(statement: &Statement) -> bool {
    use TransactionStatement::{Commit, Rollback, RollbackTo};
    matches!(statement, Statement::Transaction(Commit { .. } | Rollback { .. } | RollbackTo { .. }))
}
