//! The sink of a grouping: hands batches and packed blocks to the worker's table, and merges the tables at the end.

use stdx::sync::Arc;
use types::SqlResult;

use super::groups::Groups;
use super::having::Having;
use super::merge::merge_all;
use super::packed::{PackedStrategy, Target, strategy_of};
use super::plan::GroupPlan;
use super::result::result_batches;
use super::spec::AggregateSpec;
use super::worker::{Input, Worker};
use crate::expression::Compiled;
use crate::scan::PackedBlock;
use crate::{Batch, ColumnShape, PerSlot, Rows, Sink, State, Team, WorkContext};

/// Groups the rows of a pipeline.
pub struct AggregateSink {
    keys: Vec<Compiled>,
    arguments: Vec<Compiled>,
    plan: GroupPlan,
    /// What is asked of the finished groups, if that is known here.
    having: Option<Having>,
    /// How packed rows are aggregated, where they can be.
    packed: Option<Box<dyn PackedStrategy>>,
    workers: PerSlot<Worker>,
}

impl AggregateSink {
    /// Groups by `keys`; aggregates name their arguments and filters by place in `arguments`.
    pub fn new(
        keys: Vec<Compiled>,
        arguments: Vec<Compiled>,
        aggregates: Vec<AggregateSpec>,
        slots: usize,
    ) -> SqlResult<Self> {
        let shapes = |of: &[Compiled]| -> Vec<ColumnShape> {
            of.iter().map(|it| it.shape().clone()).collect()
        };
        let plan = GroupPlan::new(&shapes(&keys), shapes(&arguments), aggregates);
        let packed = strategy_of(&plan, &keys, &arguments, slots);
        Ok(Self { keys, arguments, plan, having: None, packed, workers: PerSlot::new(slots) })
    }

    /// Makes ready for so many groups.
    pub fn expecting(mut self, groups: f64) -> Self {
        self.plan.expected = groups;
        self
    }

    /// Drops finished groups for which a condition over the columns of the result is not TRUE: whoever reads them asks
    /// that first, and most of them need never be written (Q18: 57 of 1.5 million).
    pub fn having(mut self, condition: &plan::Expr) -> Self {
        self.having = Some(Having::new(condition));
        self
    }
}

impl Sink for AggregateSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        let evaluate = |of: &[Compiled]| -> SqlResult<Vec<_>> {
            of.iter().map(|it| it.evaluate(&batch)).collect()
        };
        let input = Input {
            keys: evaluate(&self.keys)?,
            arguments: evaluate(&self.arguments)?,
            rows: batch.rows,
            block: batch.sequence / storage::BLOCK_ROWS as u64,
        };
        let mut guard = self.workers.lock(context.slot);
        guard.get_or_insert_with(|| Worker::new(&self.plan)).consume(&self.plan, &input);
        Ok(())
    }

    fn takes_packed(&self) -> bool {
        self.packed.as_ref().is_some_and(|it| it.pays(self.having.is_some()))
    }

    fn consume_packed(&self, block: &PackedBlock<'_>, context: &WorkContext) -> SqlResult<bool> {
        let Some(packed) = &self.packed else { return Ok(false) };
        let (plan, having, slot) = (&self.plan, self.having.as_ref(), context.slot);
        let mut guard = self.workers.lock(slot);
        let worker = guard.get_or_insert_with(|| Worker::new(plan));
        let took = packed.add(block, Target { plan, having, table: &mut worker.table, slot })?;
        worker.flush_if_full(plan);
        Ok(took)
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let all: Vec<Groups> =
            self.workers.take_all().into_iter().flat_map(Worker::finish).collect();
        let parts = merge_all(&self.plan, self.having.as_ref(), all, team)?;
        let (layout, batches) = result_batches(&self.plan, parts, team)?;
        Ok(State::Rows(Arc::new(Rows { layout, batches, ordered: false, homes: Vec::new() })))
    }
}
