//! Which build sides may be in files.

use plan::{JoinKind, Operator, Pipeline, PipelineId, Plan, Sink, Source};

/// By pipeline of a plan, whether what it builds may be in files: all who look it up can wait for one partition after the
/// other.
///
/// - Who has no keys, or asks of each row without a partner what every build row says of it, looks at all partitions.
/// - Rows that have an order would lose it while they wait.
pub struct SpillingJoins(Vec<bool>);

impl SpillingJoins {
    /// What can be told of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut may = vec![true; plan.pipelines.len()];
        let mut ordered = vec![false; plan.pipelines.len()];
        for pipeline in &plan.pipelines {
            let in_order = has_order(pipeline, &ordered);
            ordered[pipeline.id.index()] = match pipeline.sink {
                Sink::Sort { .. } | Sink::Window { .. } => true,
                Sink::Materialize { .. } | Sink::Result => in_order,
                Sink::HashBuild(_) | Sink::Aggregate { .. } => false,
            };
            for operator in &pipeline.operators {
                match operator {
                    Operator::Join(join) => {
                        let null_aware = matches!(
                            join.kind,
                            JoinKind::AntiNullAware | JoinKind::Mark { null_aware: true }
                        );
                        let asks_all =
                            join.keys.is_empty() || null_aware && join.residual.is_some();
                        may[join.build.index()] &= !in_order && !asks_all;
                    }
                    Operator::Fetch(fetch) => may[fetch.build.index()] &= !in_order,
                    Operator::Filter(_) | Operator::Project(_) | Operator::Repeat { .. } => {}
                }
            }
        }
        Self(may)
    }

    /// Whether the rows of a pipeline that builds a table may go to files.
    pub fn may_spill(&self, pipeline: PipelineId) -> bool {
        self.0.get(pipeline.index()).copied().unwrap_or(false)
    }
}

/// Whether the rows that a pipeline begins with have an order.
fn has_order(pipeline: &Pipeline, ordered: &[bool]) -> bool {
    match &pipeline.source {
        Source::Read(from) => matches!(from[..], [only] if ordered[only.index()]),
        Source::Scan(_) | Source::BuildRows { .. } | Source::Values { .. } => false,
    }
}
