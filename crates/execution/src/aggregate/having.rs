//! A condition on finished groups, asked before they are written down.

use std::mem::{Discriminant, discriminant};

use plan::{Expr, ExprKind, PipelineId};
use stdx::sync::{Arc, OnceLock};
use types::{SqlError, SqlResult, Value, Zone};

use super::plan::{GroupPlan, column_shape};
use crate::expression::{Compiled, Outside};
use crate::{Batch, Layout, Values, Vector};

/// The condition, over keys and then aggregates.
pub(super) struct Having {
    condition: Expr,
    /// The time zone of the session.
    zone: Zone,
    /// Compiled for the first part of the result, with how that holds its aggregates: most others hold them alike.
    first: OnceLock<(Vec<Discriminant<Values>>, Compiled)>,
}

impl Having {
    pub(super) fn new(condition: &Expr, zone: Zone) -> Self {
        Self { condition: condition.clone(), zone, first: OnceLock::new() }
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
        let aggregates = &columns[plan.key_columns..];
        let kinds: Vec<_> = aggregates.iter().map(|it| discriminant(&it.values)).collect();
        if self.first.get().is_none() {
            // Another worker may have been sooner.
            let _ = self.first.set((kinds.clone(), self.compile(plan, aggregates)?));
        }
        let anew;
        let condition = match self.first.get() {
            Some((known, compiled)) if *known == kinds => compiled,
            _ => {
                anew = self.compile(plan, aggregates)?;
                &anew
            }
        };
        let columns: Vec<Arc<Vector>> = columns.into_iter().map(Arc::new).collect();
        let batch = Batch { rows, columns, sequence: 0 };
        let mut kept = Vec::new();
        condition.select(&batch, &mut kept)?;
        Ok((batch, kept))
    }

    fn compile(&self, plan: &GroupPlan, aggregates: &[Vector]) -> SqlResult<Compiled> {
        let mut layout: Layout = plan.layout.shapes();
        for (index, column) in aggregates.iter().enumerate() {
            layout.push(column_shape(plan, index, &column.values));
        }
        Compiled::new(&self.condition, &layout, self)
    }
}

impl Outside for Having {
    fn scalar(&self, _: PipelineId) -> SqlResult<Value> {
        Err(SqlError::internal("a scalar is asked of finished groups"))
    }

    fn zone(&self) -> Zone {
        self.zone.clone()
    }
}

/// Whether a condition names no result of another pipeline, and is the same however often it is asked.
pub(crate) fn stands_alone(condition: &Expr) -> bool {
    let is_known = !matches!(condition.kind, ExprKind::Scalar(_));
    is_known
        && !plan::properties::is_volatile(condition)
        && condition.children().into_iter().all(stands_alone)
}
