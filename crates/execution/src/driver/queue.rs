//! The pipelines of a plan in the order in which they run, some of them together.

use plan::{Operator, Pipeline, PipelineId, Plan, Source as PlanSource};
use types::{SqlError, SqlResult};

use super::ready::ReadyPipeline;
use crate::lower::Together;
use crate::{QueryContext, State};

/// Morsels a worker from which on a pipeline runs alone: with fewer, some workers idle while others finish. Not measured.
const MORSELS_PER_WORKER_MIN: u64 = 2;

/// Pipelines in the order in which they run, some of them at once.
pub(crate) struct PipelineQueue<'a> {
    plan: &'a Plan,
    context: &'a QueryContext,
    /// For each pipeline those whose states it reads.
    inputs: Vec<Vec<PipelineId>>,
    /// For each pipeline those that read its state, each once.
    readers: Vec<Vec<usize>>,
    begun: Vec<bool>,
    together: Together,
    /// Lowered pipelines that turned out to be too wide to run beside another.
    prepared: Vec<Option<ReadyPipeline>>,
}

impl<'a> PipelineQueue<'a> {
    /// None has begun.
    pub fn new(plan: &'a Plan, context: &'a QueryContext) -> Self {
        let count = plan.pipelines.len();
        let mut readers = vec![Vec::new(); count];
        let inputs: Vec<_> = plan.pipelines.iter().map(Pipeline::inputs).collect();
        for (index, inputs) in inputs.iter().enumerate() {
            for input in inputs {
                let readers: &mut Vec<usize> = &mut readers[input.index()];
                if readers.last() != Some(&index) {
                    readers.push(index);
                }
            }
        }
        let prepared = (0..count).map(|_| None).collect();
        let together = Together::of(plan, context);
        Self { plan, context, inputs, readers, begun: vec![false; count], together, prepared }
    }

    /// The next pipelines to run, together; `None` when all have run. Those before must be done. Of one that cannot be run, its
    /// number and why.
    pub fn next(
        &mut self,
        states: &[Option<State>],
    ) -> Result<Option<Vec<ReadyPipeline>>, (usize, SqlError)> {
        let Some(first) = self.begun.iter().position(|it| !it) else { return Ok(None) };
        self.begun[first] = true;
        let mut together = vec![self.take(first, states).map_err(|error| (first, error))?];
        let workers = self.context.scheduler.workers() as u64;
        let enough = if workers > 1 { MORSELS_PER_WORKER_MIN * workers } else { 0 };
        let mut morsels = together[0].morsels;
        for index in first + 1..self.begun.len() {
            if morsels >= enough {
                break;
            }
            // One that cannot be run is told of when it is its turn.
            if self.may_go_ahead(index, states)
                && let Ok(ready) = self.take(index, states)
            {
                if ready.morsels < enough {
                    morsels += ready.morsels;
                    together.push(ready);
                } else {
                    self.prepared[index] = Some(ready);
                }
            }
        }
        together.iter().for_each(|it| self.begun[it.index] = true);
        Ok(Some(together))
    }

    /// Whether only expressions ask, perhaps, for what a pipeline would have left: for the value that comes of it, of a subquery.
    /// One that marks rows of a table is asked for by who reads these.
    pub fn is_asked_for_as_value(&self, index: usize) -> bool {
        let count = self.readers.len();
        let mut as_value = vec![false; count];
        for index in (index..count.saturating_sub(1)).rev() {
            let (id, pipeline) = (PipelineId(index as u32), &self.plan.pipelines[index]);
            let marks = |it: &Operator| matches!(it, Operator::Join(it) if it.track_matches);
            let is_read = !self.readers[index].is_empty();
            let is_guarded = |reader: &usize| {
                as_value[*reader] || !self.plan.pipelines[*reader].rows_read().contains(&id)
            };
            as_value[index] = is_read
                && !pipeline.operators.iter().any(marks)
                && self.readers[index].iter().all(is_guarded);
        }
        as_value[index]
    }

    /// Whether nobody will read the state of a pipeline any more.
    pub fn is_read(&self, index: usize) -> bool {
        let readers = &self.readers[index];
        !readers.is_empty() && readers.iter().all(|&it| self.begun[it])
    }

    /// The last one that reads the state of a pipeline, and with it what of that it hands on.
    pub fn last_reader(&self, index: usize) -> Option<usize> {
        self.readers[index].iter().max().copied()
    }

    /// Whether a pipeline may run before others that stand before it.
    fn may_go_ahead(&self, index: usize, states: &[Option<State>]) -> bool {
        let pipeline = &self.plan.pipelines[index];
        // The rows of a hash table are complete only after probes that the plan puts before.
        let free = !matches!(pipeline.source, PlanSource::BuildRows { .. });
        free && !self.begun[index]
            && self.inputs[index].iter().all(|it| states[it.index()].is_some())
    }

    fn take(&mut self, index: usize, states: &[Option<State>]) -> SqlResult<ReadyPipeline> {
        match self.prepared[index].take() {
            Some(ready) => Ok(ready),
            None => {
                let pipelines = &self.plan.pipelines;
                let reader = match self.readers[index][..] {
                    [only] => Some(&pipelines[only]),
                    _ => None,
                };
                let pipeline = &pipelines[index];
                ReadyPipeline::new(pipeline, reader, states, &self.together, self.context)
            }
        }
    }
}
