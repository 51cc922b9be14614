//! When the jobs of a statement ran, by pipeline: for who follows single statements.

use stdx::Nanos;
use stdx::sync::{Arc, Mutex};

use crate::report::Label;

/// Pipelines whose times are kept; those behind them are not.
const PIPELINES_MAX: usize = 64;

/// From when to when the jobs of a pipeline ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PipelineTime {
    /// The plan of the statement, counted from 1: some run several.
    pub plan: u32,
    /// The pipeline within the plan.
    pub pipeline: u32,
    /// When its first job was submitted.
    pub start: Nanos,
    /// When its last job ended.
    pub end: Nanos,
}

/// When the jobs of a statement ran. Clones are of the same statement.
#[derive(Clone)]
pub struct JobTimes(Arc<Mutex<Times>>);

struct Times {
    plan: u32,
    pipelines: Vec<PipelineTime>,
}

impl JobTimes {
    /// Of a statement that has run nothing.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Times { plan: 0, pipelines: Vec::new() })))
    }

    /// The jobs that come now are of another plan; its number.
    pub fn next_plan(&self) -> u32 {
        let mut times = self.0.lock();
        times.plan += 1;
        times.plan
    }

    /// The plan that runs.
    pub fn plan(&self) -> u32 {
        self.0.lock().plan
    }

    /// The times so far, in the order in which pipelines began.
    pub fn pipelines(&self) -> Vec<PipelineTime> {
        self.0.lock().pipelines.clone()
    }

    /// A job has ended.
    pub(crate) fn note(&self, label: Label, start: Nanos, end: Nanos) {
        let mut times = self.0.lock();
        let (plan, pipeline) = (times.plan, label.pipeline);
        let mut all = times.pipelines.iter();
        match all.position(|it| it.plan == plan && it.pipeline == pipeline) {
            Some(place) => {
                let known = &mut times.pipelines[place];
                known.start = known.start.min(start);
                known.end = known.end.max(end);
            }
            None if times.pipelines.len() < PIPELINES_MAX => {
                times.pipelines.push(PipelineTime { plan, pipeline, start, end });
            }
            None => {}
        }
    }
}

impl Default for JobTimes {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for JobTimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JobTimes")
    }
}

impl PartialEq for JobTimes {
    /// Whether they are of the same statement, and not only alike.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for JobTimes {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_pipeline_is_there_once_in_each_plan() {
        let times = JobTimes::new();
        let label = |pipeline| Label { pipeline, finishing: false };
        assert_eq!(times.next_plan(), 1);
        times.note(label(0), Nanos(5), Nanos(9));
        times.note(label(0), Nanos(3), Nanos(7));
        times.note(label(1), Nanos(9), Nanos(11));
        assert_eq!(times.next_plan(), 2);
        times.note(label(0), Nanos(12), Nanos(13));
        let all: Vec<_> = times.pipelines().iter().map(|it| (it.plan, it.start, it.end)).collect();
        let expected =
            [(1, Nanos(3), Nanos(9)), (1, Nanos(9), Nanos(11)), (2, Nanos(12), Nanos(13))];
        assert_eq!(all, expected);
    }
}
