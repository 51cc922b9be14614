//! The operator that looks each row of a batch up in a table: in that of the batch's part, where the join runs part by part,
//! or in that of the node of its key, where rows are exchanged.

use hardware::NodeId;
use plan::Join;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use super::JoinTable;
use super::build_side::{BuildSide, PartTable};
use super::probe::{Probe, Scratch};
use super::sent::Sent;
use super::spilled::{Deferred, Each, Resumed, SpilledPart};
use crate::co_location::PartMap;
use crate::expression::Outside;
use crate::{Batch, Layout, Next, Operator, PerSlot, Resume, Team, WorkContext};

/// Joins batches of the probe side with a build side.
pub struct ProbeOperator {
    build: Arc<BuildSide>,
    /// By part; one where there is one table.
    probes: Vec<Probe>,
    /// For workers of nodes with copies of the only table.
    near: Vec<(Vec<NodeId>, Probe)>,
    /// Which part a batch is of.
    parts: Option<Arc<PartMap>>,
    /// The rows that wait, where the build side is in files.
    deferred: Option<Deferred>,
    /// The rows that are sent away, where each node has a table, and by what their keys are read.
    sent: Option<(Probe, Sent)>,
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
        let probe = |it: &PartTable| Probe::new(join, it, rows, input, outside);
        let probes: Vec<Probe> = build.parts().iter().map(probe).collect::<SqlResult<_>>()?;
        let copies = build.copies().iter().filter(|_| probes[0].may_look_elsewhere());
        let near = copies.map(|(nodes, table)| (nodes.clone(), probes[0].near(table))).collect();
        let homes = || build.parts().iter().map(|it| it.home).collect();
        let sent = match build.router() {
            Some(router) => Some((probe(router)?, Sent::new(homes(), slots))),
            None => None,
        };
        Ok(Self { build, probes, near, parts, deferred, sent, scratch: PerSlot::new(slots) })
    }
}

impl ProbeOperator {
    /// By what a worker of a node looks rows of a part up.
    fn probe(&self, part: usize, reader: NodeId) -> &Probe {
        let near = self.near.iter().find(|it| it.0.contains(&reader));
        near.map_or(&self.probes[part], |it| &it.1)
    }

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
        self.with_scratch(context, |scratch| {
            let (rest, part) = match (&self.deferred, &self.sent) {
                (None, None) => {
                    let part = self.parts.as_ref().map_or(0, |it| it.part_of(batch.sequence));
                    (batch, part)
                }
                (Some(deferred), _) => {
                    let hashes = self.probes[0].hashes(&batch, scratch)?;
                    let kept = self.probes[0].keeps_lonely();
                    // The table here holds no row, as they have no partner.
                    (deferred.hold_by_key(batch, &hashes, kept, context)?, 0)
                }
                (None, Some((router, sent))) => {
                    let hashes = router.hashes(&batch, scratch)?;
                    sent.send(batch, &hashes, router.keeps_lonely(), context)?
                }
            };
            match rest.rows {
                0 => Ok(()),
                _ => self.probe(part, context.node).execute(rest, scratch, context, next),
            }
        })
    }

    fn finish(&self, team: &dyn Team, next: Resume<'_>) -> SqlResult<()> {
        let each = |probe: &Probe, batch: Batch, context: &WorkContext| {
            self.with_scratch(context, |scratch| {
                probe.execute(batch, scratch, context, &mut |batch| next(batch, context))
            })
        };
        if let Some((_, sent)) = &self.sent {
            return sent
                .receive(team, |node, batch, context| each(&self.probes[node], batch, context));
        }
        match (&self.deferred, &self.probes[..]) {
            (Some(deferred), [probe]) => {
                deferred.resume(team, &Resuming { operator: self, probe, each: &each })
            }
            _ => Ok(()),
        }
    }

    fn describe(&self) -> String {
        let (kind, residual) = self.probes[0].describe();
        format!("{kind}, {}{residual}", self.build.describe())
    }
}

/// Rows that go on once the tables of their partitions are there, by `each`.
struct Resuming<'a, F> {
    operator: &'a ProbeOperator,
    probe: &'a Probe,
    each: &'a F,
}

impl<F: Fn(&Probe, Batch, &WorkContext) -> SqlResult<()> + Sync> Resumed for Resuming<'_, F> {
    fn cut(&self, batch: &Batch, part: &SpilledPart, context: &WorkContext) -> SqlResult<Vec<u8>> {
        let mut cut = Vec::new();
        self.operator.with_scratch(context, |scratch| {
            let hashes = self.probe.hashes(batch, scratch)?;
            // Who cannot have a partner does not wait.
            cut.extend(hashes.iter().map(|it| part.cut_of_hash(it.unwrap_or_default())));
            Ok(())
        })?;
        Ok(cut)
    }

    fn begin(&self, table: Arc<JoinTable>, first: u32) -> Box<Each<'_>> {
        let probe = self.probe.over(table, first);
        Box::new(move |batch, context| (self.each)(&probe, batch, context))
    }

    fn tracks_matches(&self) -> bool {
        self.probe.tracks_matches()
    }
}
