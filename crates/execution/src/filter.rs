//! Keeps the rows of a batch for which a condition is TRUE.

use types::SqlResult;

use crate::expression::Compiled;
use crate::{Batch, Layout, Next, Operator, WorkContext};

/// The operator Filter.
#[derive(Debug)]
pub struct FilterOperator {
    condition: Compiled,
    layout: Layout,
}

impl FilterOperator {
    /// Filters batches of `layout`.
    pub fn new(condition: Compiled, layout: Layout) -> Self {
        Self { condition, layout }
    }
}

impl Operator for FilterOperator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn execute(&self, batch: Batch, _context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let mut rows = Vec::new();
        self.condition.select(&batch, &mut rows)?;
        if rows.is_empty() {
            return Ok(());
        }
        next(if rows.len() == batch.rows { batch } else { batch.take(&rows) })
    }
}
