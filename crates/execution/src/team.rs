//! The workers as the sinks see them, over the scheduler.
//!
//! A sink finishes with borrowed tasks, while the scheduler owns what it runs. [`run_scoped`] bridges the two: it is
//! the one place outside the kernels with `unsafe`, and it rests on one promise of the scheduler, namely that `wait`
//! returns only when no morsel of the job runs or will run.
#![expect(unsafe_code, reason = "borrowed tasks on borrowed time; see the module head")]

use std::ops::ControlFlow;

use hardware::NodeId;
use memory::Workspace;
use plan::PipelineId;
use scheduler::{
    Affinity, CancelToken, JobHandle, JobOutcome, JobReport, Label, Morsel, MorselBody,
    MorselContext, MorselRange, PipelineJob, Policy, Scheduler,
};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult};

use crate::control::{QueryControl, cancelled, check, check_memory};
use crate::{Accesses, QueryContext, Team, WorkContext};

/// What every job of a query has in common.
#[derive(Clone)]
pub struct JobSettings {
    /// The statement.
    pub control: Arc<QueryControl>,
    /// The pipeline that the jobs belong to, for trace and views.
    pub pipeline: u32,
    /// Memory for what the query keeps.
    pub workspace: Arc<Workspace>,
    /// Counts what the pipeline touches beside columns.
    pub accesses: Arc<Accesses>,
}

/// The scheduler's workers on behalf of one query.
pub struct QueryTeam {
    /// The one pool.
    pub scheduler: Arc<Scheduler>,
    /// How its jobs are run.
    pub settings: JobSettings,
}

/// A borrowed body, and the memory of the statement that it works for.
struct Scoped(*const dyn MorselBody, Arc<Workspace>);
// SAFETY: the pointee is `Sync`, and `run_scoped` keeps it alive until the scheduler has let go of it.
unsafe impl Send for Scoped {}
// SAFETY: as above; a shared pointer to a `Sync` body may be used by several threads.
unsafe impl Sync for Scoped {}

impl MorselBody for Scoped {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let _entered = self.1.enter(Some(context.node));
        // SAFETY: the scheduler calls a body only between `submit` and the return of `wait`, and `run_scoped` does not
        // return (nor unwind) before that, so the borrowed body is alive.
        unsafe { (*self.0).run(context, morsel) }
    }

    fn bytes_read(&self, morsel: Morsel, reader: NodeId) -> Vec<(NodeId, u64)> {
        // SAFETY: as in `run`.
        unsafe { (*self.0).bytes_read(morsel, reader) }
    }

    fn bytes_beside(&self, slot: usize) -> u64 {
        // SAFETY: as in `run`.
        unsafe { (*self.0).bytes_beside(slot) }
    }
}

/// A job whose body borrows from the caller.
pub(crate) struct ScopedJob<'a> {
    pub ranges: Vec<MorselRange>,
    pub morsel_rows: u64,
    pub policy: Policy,
    pub label: Label,
    /// See [`PipelineJob::reads`].
    pub reads: Option<u64>,
    /// Whether it runs on the calling thread.
    pub inline: bool,
    /// Memory that it works with.
    pub workspace: &'a Arc<Workspace>,
    pub body: &'a (dyn MorselBody + 'a),
}

/// Ends the program when it is dropped: workers would go on with what the caller's end has freed.
struct NoUnwinding;

impl Drop for NoUnwinding {
    fn drop(&mut self) {
        eprintln!("a worker died while others work with borrowed data; there is no safe way on");
        std::process::abort();
    }
}

/// Runs jobs whose bodies borrow from the caller, all at once, and waits for them.
pub(crate) fn run_scoped(
    scheduler: &Arc<Scheduler>,
    control: &QueryControl,
    jobs: Vec<ScopedJob<'_>>,
) -> Vec<JobReport> {
    enum Begun {
        Inline(PipelineJob),
        Submitted(JobHandle),
    }
    let no_unwinding = NoUnwinding;
    let begin = |scoped: ScopedJob<'_>| {
        let borrowed: *const (dyn MorselBody + '_) = scoped.body;
        // SAFETY: only the lifetime changes; the pointer is not used after this function returns (see `Scoped::run`).
        let erased: *const (dyn MorselBody + 'static) = unsafe { std::mem::transmute(borrowed) };
        let body = Arc::new(Scoped(erased, scoped.workspace.clone()));
        let job = PipelineJob::new(scoped.ranges, scoped.morsel_rows, body);
        let mut job = job.with_policy(&scoped.policy);
        job.statement = control.statement;
        job.label = scoped.label;
        job.reads = scoped.reads;
        job.cancel = control.cancel.clone();
        if scoped.inline { Begun::Inline(job) } else { Begun::Submitted(scheduler.submit(job)) }
    };
    // The caller works, too, while it waits: the others are woken knowing that.
    let waits = jobs.iter().any(|it| !it.inline);
    let mut loan = if waits { scheduler.borrow_worker(control.statement) } else { None };
    // All are on their way before the caller does its own part.
    let begun: Vec<Begun> = jobs.into_iter().map(begin).collect();
    let end = |it| match it {
        Begun::Inline(job) => scheduler.run_inline(job),
        Begun::Submitted(handle) => scheduler.wait_working(&handle, &mut loan),
    };
    let reports = begun.into_iter().map(end).collect();
    std::mem::forget(no_unwinding);
    reports
}

/// Turns the end of a job into the error that ends the query, if it is one.
pub fn check_outcome(
    report: &JobReport,
    error: Option<SqlError>,
    cancel: &CancelToken,
) -> SqlResult<()> {
    match (&report.outcome, error) {
        (_, Some(error)) => Err(error),
        (JobOutcome::Cancelled, None) => Err(cancelled(cancel)),
        (JobOutcome::Panicked(message), None) => {
            Err(SqlError::internal(format!("a task of the query failed: {message}")))
        }
        (_, None) => Ok(()),
    }
}

/// The tasks of a sink's finish as a body.
struct Tasks<'a> {
    body: &'a (dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    cancel: &'a CancelToken,
    workspace: &'a Arc<Workspace>,
    accesses: &'a Arc<Accesses>,
    failed: Mutex<Option<SqlError>>,
}

impl MorselBody for Tasks<'_> {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let cancel = self.cancel.clone();
        let (workspace, accesses) = (self.workspace.clone(), self.accesses.clone());
        let MorselContext { slot, node, .. } = *context;
        let context = WorkContext { slot, node, cancel, workspace, accesses };
        for task in morsel.start..morsel.end {
            let done = context.check().and_then(|()| (self.body)(task as usize, &context));
            if let Err(error) = done {
                self.failed.lock().get_or_insert(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

impl Team for QueryTeam {
    fn slots(&self) -> usize {
        self.scheduler.slots()
    }

    fn width(&self) -> usize {
        self.scheduler.workers() + 1
    }

    fn workspace(&self) -> Arc<Workspace> {
        self.settings.workspace.clone()
    }

    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        let range = MorselRange { node: None, start: 0, end: tasks as u64 };
        self.run_ranges(vec![range], self.settings.control.policy(), tasks <= 1, body)
    }

    fn run_at(
        &self,
        homes: &[Option<NodeId>],
        small: bool,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        let (policy, inline) = (self.settings.control.policy(), small || homes.len() <= 1);
        self.run_ranges(ranges_at(homes), policy, inline, body)
    }
}

fn ranges_at(homes: &[Option<NodeId>]) -> Vec<MorselRange> {
    let range =
        |(start, node): (u64, &Option<NodeId>)| MorselRange { node: *node, start, end: start + 1 };
    (0..).zip(homes).map(range).collect()
}

impl QueryTeam {
    /// The workers for what is done before the morsels of a pipeline.
    pub(crate) fn of(
        pipeline: PipelineId,
        workspace: &Arc<Workspace>,
        context: &QueryContext,
    ) -> Self {
        let scheduler = context.scheduler.clone();
        let settings = JobSettings {
            control: context.control.clone(),
            pipeline: pipeline.index() as u32,
            workspace: workspace.clone(),
            accesses: Arc::new(Accesses::new(&context.traffic, scheduler.slots())),
        };
        Self { scheduler, settings }
    }

    /// Fails when the statement has been ended, or holds more memory than it may.
    pub(crate) fn check(&self) -> SqlResult<()> {
        check(&self.settings.control.cancel)?;
        check_memory(self.settings.workspace.account())
    }

    /// Runs one task for each entry, on workers of its node only, unless the statement leaves all to the OS.
    pub fn run_bound(
        &self,
        homes: &[Option<NodeId>],
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        let policy = self.settings.control.policy();
        let affinity = match policy.affinity {
            Affinity::None => Affinity::None,
            Affinity::Soft | Affinity::Hard | Affinity::Adaptive => Affinity::Hard,
        };
        self.run_ranges(ranges_at(homes), Policy { affinity, ..policy }, false, body)
    }

    /// Runs tasks whose numbers are cut into ranges by their nodes; `inline` on the calling thread.
    fn run_ranges(
        &self,
        ranges: Vec<MorselRange>,
        policy: Policy,
        inline: bool,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        if ranges.iter().all(|it| it.start == it.end) {
            return Ok(());
        }
        let JobSettings { control, pipeline, workspace, accesses } = &self.settings;
        let (cancel, failed) = (&control.cancel, Mutex::new(None));
        let body = Tasks { body, cancel, workspace, accesses, failed };
        let job = ScopedJob {
            ranges,
            morsel_rows: 1,
            policy,
            reads: None,
            label: Label { pipeline: *pipeline, finishing: true },
            inline,
            workspace,
            body: &body,
        };
        let reports = run_scoped(&self.scheduler, control, vec![job]);
        check_outcome(&reports[0], body.failed.into_inner(), &control.cancel)
    }
}
