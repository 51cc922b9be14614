//! EXPLAIN: the plan of a query or of a change, and with ANALYZE what its pipelines did when it ran.

use binder::{ExplainFormat, ParsedQuery};
use execution::{PipelineReport, Surroundings, placement_notes};
use plan::explain::Remarks;
use plan::{PipelineActuals, PipelineId, Plan};
use types::SqlResult;

use crate::answer::text_answer;
use crate::planning::{plan_plain, plan_plain_change};
use crate::profile::{Scale, actuals};
use crate::query::Finished;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, CancelToken, QueryProfile, Session};

/// A statement that ran to be explained.
struct Ran {
    plan: Plan,
    reports: Vec<PipelineReport>,
    profile: QueryProfile,
    /// Its tag, if it changed or locked rows.
    tag: Option<String>,
}

impl Session {
    /// EXPLAIN. With `analyze` the statement runs: rows are changed as without EXPLAIN, and what RETURNING tells is left out.
    pub(crate) fn explain(
        &mut self,
        query: &ParsedQuery,
        analyze: bool,
        format: ExplainFormat,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let mut note = String::new();
        let (plan, reports, profile): (Plan, Option<Vec<_>>, _) = match analyze {
            true => {
                let Ran { plan, reports, profile, tag } = self.run_explained(query, cancel)?;
                let scale = Scale::of(&self.database);
                note = self.note_of_run(tag.as_deref(), &scale);
                let actuals = reports.iter().map(|it| actuals(it, &scale)).collect();
                (plan, Some(actuals), profile)
            }
            false => {
                let catalog = StatementCatalog::new(self);
                self.open_files(query, &catalog, cancel)?;
                let plan = match query.changes_rows() || query.locks_rows() {
                    true => plan_plain_change(query, &catalog)?.plan,
                    false => plan_plain(query, &catalog)?.plan,
                };
                (plan, None, QueryProfile::default())
            }
        };
        let text;
        let tables = StatementCatalog::new(self).tables(&plan);
        let around = Surroundings {
            topology: self.database.machine.topology(),
            workers: self.database.workers(),
            policy: &self.control(cancel).policy(),
            mode: self.settings.scheduling.join_exchange,
        };
        let placements = placement_notes(&plan, &tables, &around);
        let remarks = Explained { reports, placements };
        let lines = match format {
            ExplainFormat::Text => {
                text = plan::explain::text(&plan, &remarks);
                let note = (!note.is_empty()).then_some(note.as_str());
                text.lines().chain(note).collect()
            }
            ExplainFormat::Json => {
                text = plan::explain::json(&plan, &remarks);
                vec![text.as_str()]
            }
            ExplainFormat::Svg => {
                text = plan::explain::svg(&plan, &remarks);
                vec![text.trim_end()]
            }
        };
        let mut answer = text_answer("EXPLAIN", "QUERY PLAN", lines)?;
        answer.profile = profile;
        Ok(answer)
    }

    /// Runs a statement with its steps measured.
    fn run_explained(&mut self, query: &ParsedQuery, cancel: &CancelToken) -> SqlResult<Ran> {
        let before = std::mem::replace(&mut self.settings.profile, true);
        let ran = match query.changes_rows() || query.locks_rows() {
            true => self.change_with(query, None, cancel).map(|(answer, change)| {
                let Answer { tag, mut profile, .. } = answer;
                let reports = std::mem::take(&mut profile.pipelines);
                Ran { plan: change.plan, reports, profile, tag: Some(tag) }
            }),
            false => self.run_query(query, cancel).map(|finished| {
                let Finished { plan, executed, profile } = finished;
                Ran { plan, reports: executed.reports, profile, tag: None }
            }),
        };
        self.settings.profile = before;
        ran
    }

    /// What is said of a run as a whole: what it changed, the memory it held, and what times rest on.
    fn note_of_run(&self, tag: Option<&str>, scale: &Scale) -> String {
        let workspace = self.workspace();
        let (peak, spilled) = (workspace.account().peak(), workspace.account().spilled());
        let spilled = match spilled.0 {
            0 => String::new(),
            _ => format!(", {spilled} spilled to files"),
        };
        let changed = tag.map_or_else(String::new, |it| format!("{it}; "));
        format!("{changed}memory: {peak} at most{spilled}; {}", scale.note())
    }
}

/// What EXPLAIN says of pipelines.
struct Explained {
    reports: Option<Vec<PipelineActuals>>,
    placements: Vec<Option<String>>,
}

impl Remarks for Explained {
    fn actuals(&self, pipeline: PipelineId) -> Option<PipelineActuals> {
        self.reports.as_ref()?.get(pipeline.index()).cloned()
    }

    fn placement(&self, pipeline: PipelineId) -> Option<String> {
        self.placements.get(pipeline.index())?.clone()
    }
}
