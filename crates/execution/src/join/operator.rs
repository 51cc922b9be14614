//! The operator that looks each row of a batch up in a table: in that of the batch's part, where the join runs part by part.

use plan::{Join, PipelineId};
use stdx::sync::Arc;
use types::{SqlError, SqlResult, Value};

use super::build_side::BuildSide;
use super::probe::{Probe, Scratch};
use crate::co_location::PartMap;
use crate::{Batch, Layout, Next, Operator, PerSlot, WorkContext};

/// Joins batches of the probe side with a build side.
pub struct ProbeOperator {
    build: Arc<BuildSide>,
    /// By part; one where there is one table.
    probes: Vec<Probe>,
    /// Which part a batch is of.
    parts: Option<Arc<PartMap>>,
    scratch: PerSlot<Scratch>,
}

impl ProbeOperator {
    /// An operator over batches of layout `input` for `slots` workers, which are rows of a table with these parts, if they
    /// are of one; `scalar` gives the values of finished scalar subqueries.
    pub fn new(
        join: &Join,
        build: Arc<BuildSide>,
        (input, parts): (&Layout, Option<Arc<PartMap>>),
        scalar: &dyn Fn(PipelineId) -> SqlResult<Value>,
        slots: usize,
    ) -> SqlResult<Self> {
        let parts = parts.filter(|_| build.is_in_parts());
        if build.is_in_parts() && parts.is_none() {
            return Err(SqlError::internal("a join part by part needs rows of parts"));
        }
        let rows = build.rows() as u32;
        let probe = |it: &super::build_side::PartTable| Probe::new(join, it, rows, input, scalar);
        let probes = build.parts().iter().map(probe).collect::<SqlResult<_>>()?;
        Ok(Self { build, probes, parts, scratch: PerSlot::new(slots) })
    }
}

impl Operator for ProbeOperator {
    fn layout(&self) -> &Layout {
        self.probes[0].layout()
    }

    fn execute(&self, batch: Batch, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        let part = self.parts.as_ref().map_or(0, |it| it.part_of(batch.sequence));
        // Taken out: what comes next may be this operator again.
        let mut scratch = self.scratch.lock(context.slot).take().unwrap_or_default();
        self.probes[part].execute(batch, &mut scratch, context, next)?;
        *self.scratch.lock(context.slot) = Some(scratch);
        Ok(())
    }

    fn describe(&self) -> String {
        let (kind, residual) = self.probes[0].describe();
        format!("{kind}, {}{residual}", self.build.describe())
    }
}
