//! The workers as the sinks see them, over the scheduler.
//!
//! A sink finishes with borrowed tasks, while the scheduler owns what it runs. [`run_scoped`] bridges the two: it is
//! the one place outside the kernels with `unsafe`, and it rests on one promise of the scheduler, namely that `wait`
//! returns only when no morsel of the job runs or will run.
#![expect(unsafe_code, reason = "borrowed tasks on borrowed time; see the module head")]

use std::ops::ControlFlow;

use scheduler::{
    Affinity, CancelToken, JobOutcome, JobReport, Morsel, MorselBody, MorselContext, MorselRange,
    PipelineJob, Scheduler,
};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult, SqlState};

use crate::{Team, WorkContext};

/// What every job of a query has in common.
#[derive(Clone)]
pub struct JobSettings {
    /// Query class, lower first.
    pub class: u8,
    /// Age of the statement: the lower, the older, the sooner.
    pub statement: u64,
    /// Ends the query early.
    pub cancel: CancelToken,
    /// How many workers a job may have at once; `None` for all.
    pub max_workers: Option<usize>,
    /// How strongly tasks are tied to the nodes of their rows.
    pub affinity: Affinity,
}

/// The scheduler's workers on behalf of one query.
pub struct QueryTeam {
    /// The one pool.
    pub scheduler: Arc<Scheduler>,
    /// How its jobs are run.
    pub settings: JobSettings,
}

type ScopedBody<'a> = dyn Fn(&MorselContext, Morsel) -> ControlFlow<()> + Sync + 'a;

struct Scoped(*const ScopedBody<'static>);
// SAFETY: the pointee is `Sync`, and `run_scoped` keeps it alive until the scheduler has let go of it.
unsafe impl Send for Scoped {}
// SAFETY: as above; a shared pointer to a `Sync` closure may be used by several threads.
unsafe impl Sync for Scoped {}

impl MorselBody for Scoped {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        // SAFETY: the scheduler calls a body only between `submit` and the return of `wait`, and `run_scoped` does not
        // return (nor unwind) before that, so the borrowed closure is alive.
        unsafe { (*self.0)(context, morsel) }
    }
}

/// Runs a job whose body borrows from the caller, and waits for it.
pub fn run_scoped(
    scheduler: &Arc<Scheduler>,
    settings: &JobSettings,
    ranges: Vec<MorselRange>,
    morsel_rows: u64,
    inline: bool,
    body: &ScopedBody<'_>,
) -> JobReport {
    let borrowed: *const ScopedBody<'_> = body;
    // SAFETY: only the lifetime changes; the pointer is not used after this function returns (see `Scoped::run`).
    let erased: *const ScopedBody<'static> = unsafe { std::mem::transmute(borrowed) };
    let job = PipelineJob {
        ranges,
        morsel_rows,
        affinity: settings.affinity,
        class: settings.class,
        statement: settings.statement,
        max_workers: settings.max_workers,
        cancel: settings.cancel.clone(),
        body: Arc::new(Scoped(erased)),
    };
    if inline { scheduler.run_inline(job) } else { scheduler.run(job) }
}

/// Turns the end of a job into the error that ends the query, if it is one.
pub fn check_outcome(report: &JobReport, error: Option<SqlError>) -> SqlResult<()> {
    match (&report.outcome, error) {
        (_, Some(error)) => Err(error),
        (JobOutcome::Cancelled, None) => {
            Err(SqlError::new(SqlState::QUERY_CANCELED, "the query was cancelled"))
        }
        (JobOutcome::Panicked(message), None) => {
            Err(SqlError::internal(format!("a task of the query failed: {message}")))
        }
        (_, None) => Ok(()),
    }
}

impl Team for QueryTeam {
    fn slots(&self) -> usize {
        self.scheduler.slots()
    }

    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        if tasks == 0 {
            return Ok(());
        }
        let failed: Mutex<Option<SqlError>> = Mutex::new(None);
        let run = |context: &MorselContext, morsel: Morsel| {
            let context = WorkContext { slot: context.slot, node: context.node };
            for task in morsel.start..morsel.end {
                if let Err(error) = body(task as usize, &context) {
                    failed.lock().get_or_insert(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        };
        let ranges = vec![MorselRange { node: None, start: 0, end: tasks as u64 }];
        let report = run_scoped(&self.scheduler, &self.settings, ranges, 1, tasks == 1, &run);
        check_outcome(&report, failed.into_inner())
    }
}
