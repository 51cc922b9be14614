//! Drives the pipelines of a plan over the scheduler, and tells what each did.

use std::collections::VecDeque;

use hardware::NodeId;
use memory::Workspace;
use plan::{Plan, Sink};
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use crate::driver::{Done, PipelineQueue, PipelineStream, run_together};
use crate::expression::is_of_rows;
use crate::lower::few_constants;
use crate::{Kept, PipelineReport, QueryContext, Rows, State};

/// A finished query.
pub struct Executed {
    /// The answer.
    pub rows: Arc<Rows>,
    /// What each pipeline did.
    pub reports: Vec<PipelineReport>,
    /// The memory that the answer is in, for what is made of it.
    pub workspace: Arc<Workspace>,
}

/// Runs a plan to its answer.
pub fn execute(plan: &Plan, context: &QueryContext) -> SqlResult<Executed> {
    let mut running = Running::begin(plan, context)?;
    let rows = running.next(None, context)?;
    let rows = rows.ok_or_else(|| SqlError::internal("the plan does not end in a result"))?;
    let workspace = running.workspace.clone();
    Ok(Executed { rows, reports: running.reports(), workspace })
}

/// A query whose rows are taken as they are made. What it has not made by then is never made when it is dropped.
pub struct RowStream {
    context: QueryContext,
    running: Running,
}

impl RowStream {
    /// Runs a plan up to its first row.
    pub fn open(plan: &Plan, context: QueryContext) -> SqlResult<Self> {
        let running = Running::begin(plan, &context)?;
        Ok(Self { context, running })
    }

    /// The next rows, about so many bytes; nothing when all were given.
    pub fn next(&mut self, wanted: u64) -> SqlResult<Option<Arc<Rows>>> {
        self.running.next(Some(wanted), &self.context)
    }

    /// All rows that are left.
    pub fn rest(&mut self) -> SqlResult<Arc<Rows>> {
        let rows = self.running.next(None, &self.context)?;
        rows.ok_or_else(|| SqlError::internal("the rows of a plan were given before"))
    }

    /// Whether all rows were given.
    pub fn is_ended(&self) -> bool {
        match &self.running.last {
            Last::Stream(stream) => stream.is_done(),
            Last::Made(rows) => rows.is_begun && rows.left.is_empty(),
            Last::Ended => true,
        }
    }

    /// The memory that its rows are in.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.running.workspace
    }

    /// What each pipeline did, once all rows were given.
    pub fn reports(&self) -> Vec<PipelineReport> {
        self.running.reports()
    }

    /// The number of the pipeline that its rows come from.
    pub fn pipeline(&self) -> usize {
        self.running.reports.len().saturating_sub(1)
    }
}

/// A plan whose last pipeline gives rows.
struct Running {
    reports: Vec<Option<PipelineReport>>,
    /// What the last pipeline reads, until it has ended.
    left: Vec<LeftState>,
    last: Last,
    /// The memory that the rows are in.
    workspace: Arc<Workspace>,
}

/// Where the rows come from.
enum Last {
    /// The last pipeline runs while they are taken.
    Stream(Box<PipelineStream>),
    /// They are all there.
    Made(MadeRows),
    /// All were given.
    Ended,
}

/// Rows that are there, less those that were taken.
struct MadeRows {
    all: Arc<Rows>,
    /// Taken out of `all`, where nobody else has them, so that what was given needs no memory any more.
    left: VecDeque<(Kept, Option<NodeId>)>,
    is_begun: bool,
}

/// The state of a pipeline, with its memory and that of who reads it.
struct LeftState {
    state: Option<State>,
    own: Option<Arc<Workspace>>,
    reader: Option<Arc<Workspace>>,
}

impl Running {
    /// Runs all pipelines but the last, if that hands on its rows as they come.
    fn begin(plan: &Plan, context: &QueryContext) -> SqlResult<Self> {
        let count = plan.pipelines.len();
        context.control.begin(count);
        if let Some((rows, report)) = few_constants(plan, context)? {
            context.control.finished();
            let workspace = context.workspace.clone();
            let last = Last::Made(MadeRows::new(Arc::new(rows)));
            return Ok(Self { reports: vec![Some(report)], left: Vec::new(), last, workspace });
        }
        let mut states: Vec<Option<State>> = vec![None; count];
        let mut reports: Vec<Option<PipelineReport>> = vec![None; count];
        let mut workspaces: Vec<Option<Arc<Workspace>>> = vec![None; count];
        let mut queue = PipelineQueue::new(plan, context);
        loop {
            let mut pipelines = match queue.next(&states) {
                Ok(Some(pipelines)) => pipelines,
                Ok(None) => break,
                Err((index, error)) => {
                    states[index] = Some(failed(&queue, index, error)?);
                    reports[index] = Some(PipelineReport::default());
                    context.control.finished();
                    continue;
                }
            };
            let ends = |it: usize| it + 1 == count && plan.pipelines[it].sink == Sink::Result;
            if pipelines.len() == 1 && ends(pipelines[0].index()) {
                let ready = pipelines.remove(0);
                let stream = PipelineStream::begin(ready, context)?;
                let workspace = stream.workspace().clone();
                workspaces[count - 1] = Some(workspace.clone());
                let left = states.iter_mut().enumerate().filter(|it| it.1.is_some());
                let left = left.map(|(index, state)| LeftState {
                    state: state.take(),
                    own: workspaces[index].clone(),
                    reader: queue.last_reader(index).and_then(|it| workspaces[it].clone()),
                });
                let left = left.collect();
                return Ok(Self { reports, left, last: Last::Stream(Box::new(stream)), workspace });
            }
            for Done { index, outcome, workspace } in run_together(pipelines, context)? {
                let (state, report) = match outcome {
                    Ok(done) => done,
                    Err(error) => (failed(&queue, index, error)?, PipelineReport::default()),
                };
                reports[index] = Some(report);
                states[index] = Some(state);
                workspaces[index] = Some(workspace);
                context.control.finished();
            }
            // A state is freed as soon as nothing will read it.
            for (index, state) in states.iter_mut().enumerate() {
                if state.is_some() && queue.is_read(index) {
                    let reader = queue.last_reader(index).and_then(|it| workspaces[it].clone());
                    let (state, own) = (state.take(), workspaces[index].clone());
                    LeftState { state, own, reader }.free();
                }
            }
        }
        match states.pop().flatten() {
            Some(State::Rows(all)) => {
                let workspace = workspaces.pop().flatten();
                let workspace = workspace.unwrap_or_else(|| context.workspace.clone());
                let last = Last::Made(MadeRows::new(all));
                Ok(Self { reports, left: Vec::new(), last, workspace })
            }
            _ => Err(SqlError::internal("the plan does not end in a result")),
        }
    }

    /// The next rows: about so many bytes, or all that are left. Nothing when all were given.
    fn next(
        &mut self,
        wanted: Option<u64>,
        context: &QueryContext,
    ) -> SqlResult<Option<Arc<Rows>>> {
        let rows = match &mut self.last {
            Last::Ended => return Ok(None),
            Last::Made(rows) => rows.next(wanted)?,
            Last::Stream(stream) => stream.next(wanted, context)?,
        };
        if wanted.is_none() || rows.is_none() {
            if let Last::Stream(stream) = &self.last {
                let (index, report) = stream.report();
                self.reports[index] = Some(report.clone());
                context.control.finished();
            }
            self.end();
        }
        Ok(rows)
    }

    /// Frees what is left of it. What is given back is taken off those who took it.
    fn end(&mut self) {
        {
            let _entered = self.workspace.enter(None);
            self.last = Last::Ended;
        }
        self.left.drain(..).for_each(LeftState::free);
    }

    /// What each pipeline did.
    fn reports(&self) -> Vec<PipelineReport> {
        self.reports.iter().flatten().cloned().collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a pipeline leaves that has failed, if nobody may ever ask for it; else the error ends the statement.
fn failed(queue: &PipelineQueue<'_>, index: usize, error: SqlError) -> SqlResult<State> {
    match is_of_rows(&error) && queue.is_asked_for_as_value(index) {
        true => Ok(State::Failed(Arc::new(error))),
        false => Err(error),
    }
}

/// Batches of rows that are there which are handed on at a time, at most.
const BATCHES_AT_ONCE: usize = 64;

impl MadeRows {
    /// None was taken.
    fn new(all: Arc<Rows>) -> Self {
        Self { all, left: VecDeque::new(), is_begun: false }
    }

    fn next(&mut self, wanted: Option<u64>) -> SqlResult<Option<Arc<Rows>>> {
        let Some(wanted) = wanted else {
            let is_first = !std::mem::replace(&mut self.is_begun, true);
            return Ok(is_first.then(|| self.all.clone()));
        };
        if !std::mem::replace(&mut self.is_begun, true) {
            self.take_apart();
        }
        let (mut batches, mut homes, mut bytes) = (Vec::new(), Vec::new(), 0);
        while bytes < wanted && batches.len() < BATCHES_AT_ONCE {
            let Some((kept, home)) = self.left.pop_front() else { break };
            bytes += match &kept {
                Kept::Here(batch) => crate::lookups::batch_bytes(batch),
                Kept::Spilled(_) => wanted,
            };
            batches.push(kept);
            homes.extend(home);
        }
        if batches.is_empty() {
            return Ok(None);
        }
        let layout = self.all.layout.clone();
        Ok(Some(Arc::new(Rows { layout, batches, ordered: true, homes, parts: None })))
    }

    fn take_apart(&mut self) {
        let Rows { layout, ordered, .. } = &*self.all;
        let rest = Rows {
            layout: layout.clone(),
            batches: Vec::new(),
            ordered: *ordered,
            homes: Vec::new(),
            parts: None,
        };
        let all = std::mem::replace(&mut self.all, Arc::new(rest));
        let (batches, homes) = match Arc::try_unwrap(all) {
            Ok(Rows { batches, homes, .. }) => (batches, homes),
            Err(shared) => (shared.batches.clone(), shared.homes.clone()),
        };
        let homes = homes.into_iter().map(Some).chain(std::iter::repeat(None));
        self.left = batches.into_iter().zip(homes).collect();
    }
}

impl LeftState {
    /// Frees the state of a pipeline on behalf of what it ended in; what of it lives on in what its reader has made, as rows
    /// that were handed on, is that reader's.
    fn free(self) {
        {
            let _entered = self.own.as_ref().map(|it| it.enter(None));
            drop(self.state);
        }
        let account = |it: Option<Arc<Workspace>>| it.and_then(|it| it.operator().cloned());
        if let (Some(own), Some(reader)) = (account(self.own), account(self.reader)) {
            own.leave_to(&reader);
        }
    }
}
