//! Expressions over batches: compiled once against a layout, evaluated per batch.

use plan::Expr;
use stdx::sync::Arc;
use types::{SqlResult, Value};

use crate::{Batch, ColumnShape, Layout, Vector};

/// An expression ready to run on batches of one layout.
pub struct Compiled {
    shape: ColumnShape,
}

impl Compiled {
    /// Compiles `expr`; `scalar` gives the values of finished scalar subqueries.
    pub fn new(
        _expr: &Expr,
        _layout: &Layout,
        _scalar: &dyn Fn(plan::PipelineId) -> SqlResult<Value>,
    ) -> SqlResult<Self> {
        Err(types::SqlError::unsupported("expressions"))
    }

    /// What it yields.
    pub fn shape(&self) -> &ColumnShape {
        &self.shape
    }

    /// The values for a batch; a bare column is handed on without a copy.
    pub fn evaluate(&self, _batch: &Batch) -> SqlResult<Arc<Vector>> {
        Err(types::SqlError::unsupported("expressions"))
    }

    /// For a Boolean expression: the rows for which it is TRUE, ascending.
    pub fn select(&self, _batch: &Batch, _rows: &mut Vec<u32>) -> SqlResult<()> {
        Err(types::SqlError::unsupported("expressions"))
    }
}
