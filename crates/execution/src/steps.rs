//! The names of the steps of a pipeline, for its profile.

use plan::{Operator as PlanOperator, Pipeline, Sink as PlanSink, Source as PlanSource};

use crate::StepName;
use crate::lower::Lowered;

/// The names of all steps, and how many of them are of the source.
pub(crate) fn step_names(pipeline: &Pipeline, lowered: &Lowered) -> (Vec<StepName>, usize) {
    let mut names = vec![source_name(&pipeline.source)];
    names.extend(lowered.source.steps());
    let sources = names.len();
    for (operator, running) in pipeline.operators.iter().zip(&lowered.operators) {
        let kind = match operator {
            PlanOperator::Filter(_) => "filter",
            PlanOperator::Project(_) => "compute",
            PlanOperator::Join(_) => "probe",
            PlanOperator::Fetch(_) => "fetch",
            PlanOperator::Repeat { .. } => "repeat",
        };
        names.push(StepName { kind, detail: running.describe() });
    }
    let mut sink =
        StepName { kind: sink_kind(&pipeline.sink), detail: sink_detail(&pipeline.sink) };
    sink.detail += &lowered.sink.describe();
    let detail = sink.kind.to_owned();
    names.push(sink);
    names.push(StepName { kind: "finish", detail });
    (names, sources)
}

fn source_name(source: &PlanSource) -> StepName {
    let (kind, detail) = match source {
        PlanSource::Scan(scan) => ("scan", scan.name.clone()),
        PlanSource::Read(_) => ("read", String::new()),
        PlanSource::BuildRows { .. } => ("build rows", String::new()),
        PlanSource::Values { .. } => ("values", String::new()),
    };
    StepName { kind, detail }
}

/// What a pipeline ends in, in a word: the name of that step, and of its memory.
pub(crate) fn sink_kind(sink: &PlanSink) -> &'static str {
    match sink {
        PlanSink::HashBuild(_) => "build",
        PlanSink::Aggregate { .. } => "aggregate",
        PlanSink::Sort { .. } => "sort",
        PlanSink::Window { .. } => "window",
        PlanSink::Materialize { .. } => "materialize",
        PlanSink::Result => "result",
    }
}

fn sink_detail(sink: &PlanSink) -> String {
    match sink {
        PlanSink::HashBuild(build) => format!("{} keys", build.keys.len()),
        PlanSink::Aggregate { keys, aggregates, .. } => {
            format!("{} keys, {} aggregates", keys.len(), aggregates.len())
        }
        PlanSink::Sort { keys, .. } => format!("{} keys", keys.len()),
        PlanSink::Window { keys, functions, .. } => {
            format!("{} keys, {} functions", keys.len(), functions.len())
        }
        PlanSink::Materialize { .. } | PlanSink::Result => String::new(),
    }
}
