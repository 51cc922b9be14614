//! A prepared statement, and what is kept of planning it.

use arrow_schema::SchemaRef;
use binder::Statement;
use optimizer::Options;
use plan::Plan;
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
    pub(crate) statement: Statement,
    pub(crate) declared: Vec<Option<DataType>>,
    pub(crate) types: Vec<Option<DataType>>,
    pub(crate) generic: Mutex<Option<Generic>>,
}

/// What planning for any values came to, on some tables.
#[derive(Clone, Debug)]
pub(crate) struct Generic {
    pub(crate) basis: Arc<Basis>,
    pub(crate) options: Options,
    pub(crate) plan: GenericPlan,
    pub(crate) types: Vec<Option<DataType>>,
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
}
