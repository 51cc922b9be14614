//! A prepared statement, and what is kept of planning it.

use binder::Statement;
use optimizer::Options;
use stdx::stack::Deep;
use stdx::sync::{Arc, Mutex};
use types::DataType;

use crate::plan_cache::CachedPlan;

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

/// What planning for any values came to, on a version of the catalog.
#[derive(Clone, Debug)]
pub(crate) struct Generic {
    pub(crate) version: u64,
    pub(crate) options: Options,
    /// `None`: it has to be planned for the values.
    pub(crate) plan: Option<CachedPlan>,
    pub(crate) types: Vec<Option<DataType>>,
}

impl Prepared {
    /// The types of its parameters, in order, when it was prepared; `None` for one that takes a value of any type.
    pub fn parameters(&self) -> &[Option<DataType>] {
        &self.0.types
    }
}
