//! The operator that looks each row of a batch up in a table: in that of the batch's part, where the join runs part by part.

use plan::Join;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use super::build_side::BuildSide;
use super::probe::{Probe, Scratch};
use super::spilled::Deferred;
use crate::co_location::PartMap;
use crate::expression::Outside;
use crate::{Batch, Layout, Next, Operator, PerSlot, Resume, Team, WorkContext};

/// Joins batches of the probe side with a build side.
pub struct ProbeOperator {
    build: Arc<BuildSide>,
    /// By part; one where there is one table.
    probes: Vec<Probe>,
    /// Which part a batch is of.
    parts: Option<Arc<PartMap>>,
    /// The rows that wait, where the build side is in files.
    deferred: Option<Deferred>,
    scratch: PerSlot<Scratch>,
}

impl ProbeOperator {
    /// An operator over batches of layout `input` for `slots` workers, which are rows of a table with these parts, if they
    /// are of one; `outside` is what its expressions need beside columns.
    pub fn new(
        join: &Join,
        build: Arc<BuildSide>,
        (input, parts): (&Layout, Option<Arc<PartMap>>),
        outside: &dyn Outside,
        slots: usize,
    ) -> SqlResult<Self> {
        let deferred = build.spilled().map(|it| Deferred::new(it.clone(), parts.clone(), slots));
        let parts = parts.filter(|_| build.is_in_parts());
        if build.is_in_parts() && parts.is_none() {
            return Err(SqlError::internal("a join part by part needs rows of parts"));
        }
        let rows = (build.rows() as u32, deferred.is_some());
        let probe = |it: &super::build_side::PartTable| Probe::new(join, it, rows, input, outside);
        let probes = build.parts().iter().map(probe).collect::<SqlResult<_>>()?;
        Ok(Self { build, probes, parts, deferred, scratch: PerSlot::new(slots) })
    }
}

impl ProbeOperator {
    /// Does something with the memory that a worker's batches use again.
    fn with_scratch(
        &self,
        context: &WorkContext,
        act: impl FnOnce(&mut Scratch) -> SqlResult<()>,
    ) -> SqlResult<()> {
        // Taken out: what comes next may be this operator again.
        let mut scratch = self.scratch.lock(context.slot).take().unwrap_or_default();
        act(&mut scratch)?;
        *self.scratch.lock(context.slot) = Some(scratch);
        Ok(())
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
        self.with_scratch(context, |scratch| match &self.deferred {
            None => self.probes[part].execute(batch, scratch, context, next),
            Some(deferred) => {
                let hashes = self.probes[0].hashes(&batch, scratch)?;
                let kept = self.probes[0].keeps_lonely();
                let rest = deferred.hold_by_key(batch, &hashes, kept, context)?;
                // The table here holds no row, as they have no partner.
                if rest.rows > 0 {
                    self.probes[0].execute(rest, scratch, context, next)
                } else {
                    Ok(())
                }
            }
        })
    }

    fn finish(&self, team: &dyn Team, next: Resume<'_>) -> SqlResult<()> {
        let Some(deferred) = &self.deferred else { return Ok(()) };
        let [probe] = &self.probes[..] else { return Ok(()) };
        let each = |probe: &Probe, batch: Batch, context: &WorkContext| {
            self.with_scratch(context, |scratch| {
                probe.execute(batch, scratch, context, &mut |batch| next(batch, context))
            })
        };
        let begin = |table, first| probe.over(table, first);
        deferred.resume(team, probe.tracks_matches(), begin, each)
    }

    fn describe(&self) -> String {
        let (kind, residual) = self.probes[0].describe();
        format!("{kind}, {}{residual}", self.build.describe())
    }
}
