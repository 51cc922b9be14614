//! Replaces the columns of a batch by expressions over them.

use types::SqlResult;

use crate::expression::Compiled;
use crate::{Batch, Layout, Next, Operator, WorkContext};

/// The operator Project.
#[derive(Debug)]
pub struct ProjectOperator {
    expressions: Vec<Compiled>,
    layout: Layout,
}

impl ProjectOperator {
    /// Computes these expressions.
    pub fn new(expressions: Vec<Compiled>) -> Self {
        let layout = expressions.iter().map(|it| it.shape().clone()).collect();
        Self { expressions, layout }
    }
}

impl Operator for ProjectOperator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn execute(&self, batch: Batch, _context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let columns =
            self.expressions.iter().map(|it| it.evaluate(&batch)).collect::<SqlResult<_>>()?;
        next(Batch { rows: batch.rows, columns, sequence: batch.sequence })
    }
}
