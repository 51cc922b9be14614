//! A condition on finished groups, asked before they are written down.

use plan::{Expr, ExprKind};
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use super::GroupPlan;
use super::result::column_shape;
use crate::expression::Compiled;
use crate::{Batch, Layout, Vector};

/// The condition, over keys and then aggregates.
pub(super) struct Having(Expr);

impl Having {
    pub(super) fn new(condition: &Expr) -> Self {
        Self(condition.clone())
    }

    /// The groups for which the condition is TRUE.
    pub(super) fn keep(
        &self,
        plan: &GroupPlan,
        rows: usize,
        columns: Vec<Vector>,
    ) -> SqlResult<(usize, Vec<Vector>)> {
        let (batch, kept) = self.select(plan, rows, columns)?;
        let all = kept.len() == rows;
        let column = |it: Arc<Vector>| match all {
            true => Arc::unwrap_or_clone(it),
            false => it.take(&kept),
        };
        Ok((kept.len(), batch.columns.into_iter().map(column).collect()))
    }

    /// The places of groups for which the condition is TRUE, and all of them as a batch.
    pub(super) fn select(
        &self,
        plan: &GroupPlan,
        rows: usize,
        columns: Vec<Vector>,
    ) -> SqlResult<(Batch, Vec<u32>)> {
        // What is read is held in a way that other parts of the result need not share, so it is compiled for this part.
        let mut layout: Layout = plan.layout.shapes();
        let keys = layout.len();
        for (index, column) in columns[keys..].iter().enumerate() {
            layout.push(column_shape(plan, index, &column.values));
        }
        let no_scalar = |_| Err(SqlError::internal("a scalar is asked of finished groups"));
        let condition = Compiled::new(&self.0, &layout, &no_scalar)?;
        let columns: Vec<Arc<Vector>> = columns.into_iter().map(Arc::new).collect();
        let batch = Batch { rows, columns, sequence: 0 };
        let mut kept = Vec::new();
        condition.select(&batch, &mut kept)?;
        Ok((batch, kept))
    }
}

/// Whether a condition names no result of another pipeline.
pub(crate) fn stands_alone(condition: &Expr) -> bool {
    !matches!(condition.kind, ExprKind::Scalar(_))
        && condition.children().into_iter().all(stands_alone)
}
