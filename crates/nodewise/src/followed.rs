//! A statement that is followed: what it has done so far, until that is told.
//!
//! Nobody pays for it whose session nobody follows: each place that notes something looks first whether it is.

use execution::PipelineReport;
use plan::{Pipeline, Plan, Sink, Source};
use scheduler::{JobTimes, PipelineTime};
use stdx::Nanos;
use stdx::sync::Mutex;
use types::SqlState;

use crate::ended_statement::{EndedStatement, PipelineWork, StatementStep, Told};

/// Steps that are noted of a statement, without its pipelines.
const STEPS_MAX: usize = 32;
/// Plans whose pipelines are described, of a statement that runs several.
const PLANS_MAX: usize = 16;

/// A statement that is followed.
pub(crate) struct Followed {
    told: Mutex<Option<Told>>,
    began: Nanos,
    /// When its pipelines run.
    pub(crate) jobs: JobTimes,
    steps: Mutex<Vec<StatementStep>>,
    plans: Mutex<Vec<KnownPlan>>,
}

/// A plan that a followed statement runs.
struct KnownPlan {
    number: u32,
    /// What each of its pipelines is called.
    names: Vec<String>,
    reports: Vec<PipelineReport>,
}

/// What is known of a statement when it has ended, beside its steps.
pub(crate) struct Outcome {
    /// The beginning of its text, as it may be told.
    pub text: String,
    pub kind: &'static str,
    pub worked: Option<Nanos>,
    pub rows: Option<u64>,
    pub error: Option<SqlState>,
}

impl Followed {
    /// One that has begun, of which this one is told.
    pub(crate) fn new(told: Told, began: Nanos) -> Self {
        Self {
            told: Mutex::new(Some(told)),
            began,
            jobs: JobTimes::default(),
            steps: Mutex::default(),
            plans: Mutex::default(),
        }
    }

    /// It did something.
    pub(crate) fn note(&self, name: &str, began: Nanos, ended: Nanos) {
        let mut steps = self.steps.lock();
        if steps.len() < STEPS_MAX {
            steps.push(StatementStep { name: name.to_owned(), began, ended, pipeline: None });
        }
    }

    /// It runs a plan now.
    pub(crate) fn runs(&self, plan: &Plan) {
        let number = self.jobs.next_plan();
        let mut plans = self.plans.lock();
        if plans.len() < PLANS_MAX {
            let names = plan.pipelines.iter().map(name_of).collect();
            plans.push(KnownPlan { number, names, reports: Vec::new() });
        }
    }

    /// What the pipelines of the plan that runs did, the first of them first.
    pub(crate) fn ran(&self, reports: Vec<PipelineReport>) {
        let number = self.jobs.plan();
        if let Some(plan) = self.plans.lock().iter_mut().find(|it| it.number == number) {
            plan.reports = reports;
        }
    }

    /// It has ended, in a database that its client calls so. Told once.
    pub(crate) fn end(&self, database: &str, ended: Nanos, outcome: Outcome) {
        let Some(told) = self.told.lock().take() else { return };
        let mut steps = std::mem::take(&mut *self.steps.lock());
        let plans = self.plans.lock();
        steps.extend(self.jobs.pipelines().into_iter().map(|it| step_of(it, &plans)));
        steps.sort_by_key(|it| it.began);
        told(EndedStatement {
            text: outcome.text,
            kind: outcome.kind,
            database: database.to_owned(),
            began: self.began,
            ended,
            worked: outcome.worked.unwrap_or(ended - self.began),
            rows: outcome.rows,
            error: outcome.error,
            steps,
        });
    }
}

fn step_of(time: PipelineTime, plans: &[KnownPlan]) -> StatementStep {
    let index = time.pipeline as usize;
    let plan = plans.iter().find(|it| it.number == time.plan);
    let name = plan.and_then(|it| it.names.get(index).cloned());
    let mut work = PipelineWork { number: time.pipeline, ..PipelineWork::default() };
    if let Some(report) = plan.and_then(|it| it.reports.get(index)) {
        work.rows = report.rows;
        (work.morsels, work.stolen) = (report.morsels, report.stolen);
        (work.bytes_local, work.bytes_remote) = (report.bytes_local, report.bytes_remote);
        work.spilled = report.spilled.0;
    }
    StatementStep {
        name: name.unwrap_or_else(|| "pipeline".to_owned()),
        began: time.start,
        ended: time.end,
        pipeline: Some(work),
    }
}

/// What a pipeline reads and makes, without any constants.
fn name_of(pipeline: &Pipeline) -> String {
    let reads = match &pipeline.source {
        Source::Scan(scan) => format!("scan {}", scan.name),
        Source::Read(_) => "read rows".to_owned(),
        Source::BuildRows { .. } => "read hash table".to_owned(),
        Source::Values { .. } => "values".to_owned(),
    };
    let makes = match &pipeline.sink {
        Sink::HashBuild(_) => "hash table",
        Sink::Aggregate { .. } => "groups",
        Sink::Sort { .. } => "sort",
        Sink::Window { .. } => "windows",
        Sink::Materialize { .. } => "rows",
        Sink::Result => "result",
    };
    format!("{reads}, {makes}")
}
