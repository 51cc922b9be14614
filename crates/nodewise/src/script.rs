//! The statements of a text, run one by one.

use std::collections::VecDeque;

use binder::Statement;
use stdx::Nanos;
use stdx::stack::{self, Deep};
use stdx::sync::Arc;
use storage::CatalogSnapshot;
use types::SqlResult;

use crate::plan_cache::CachedPlan;
use crate::starting::Started;
use crate::{Answer, Session};

/// The statements of a text that have not run yet.
pub struct Script {
    text: Arc<str>,
    steps: VecDeque<Step>,
    /// Whether the text is one statement: then its plan may be kept by the text.
    is_single: bool,
    /// What parsing took.
    parsing: Nanos,
}

enum Step {
    /// The only one, planned before, on these tables.
    Planned(Box<CachedPlan>, Arc<CatalogSnapshot>),
    Statement(Box<Deep<Statement>>),
}

impl Script {
    /// Statements that have not run.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether all have run.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Session {
    /// Reads a text. An error fails the transaction that is open.
    pub fn script(&mut self, sql: &str) -> SqlResult<Script> {
        let started = self.database.machine.now();
        let is_known = self.settings.plan_cache && self.database.plans.knows(sql);
        let refreshed = if is_known { self.refresh() } else { Ok(()) };
        self.end_parsing(refreshed)?;
        let snapshot = self.snapshot();
        if is_known
            && let Some(cached) = self.database.plans.get(
                sql,
                &snapshot,
                self.settings.planning(),
                &self.search_path(&snapshot),
            )
        {
            let parsing = self.database.machine.now() - started;
            let steps = VecDeque::from([Step::Planned(Box::new(cached), snapshot)]);
            return Ok(Script { text: sql.into(), steps, is_single: true, parsing });
        }
        let statements = binder::parse::parse(sql);
        let statements = self.end_parsing(statements)?;
        let parsing = self.database.machine.now() - started;
        let levels = statements.levels();
        // What is moved here is not walked: each statement is dropped with room for its levels.
        let statements = stack::with_levels(levels, || {
            let each = statements.into_tree().into_iter();
            each.map(|it| Step::Statement(Box::new(Deep::new(it, levels)))).collect::<VecDeque<_>>()
        });
        let is_single = statements.len() == 1;
        Ok(Script { text: sql.into(), steps: statements, is_single, parsing })
    }

    /// Runs the next statement of a text; `None` when all have run.
    pub fn run_next(&mut self, script: &mut Script) -> Option<SqlResult<Answer>> {
        let parsing = std::mem::take(&mut script.parsing);
        let answer = self.start_next(script)?.and_then(|it| self.whole(it));
        Some(answer.map(|mut answer| {
            answer.profile.planning += parsing;
            answer
        }))
    }

    /// Starts the next statement of a text; `None` when all were.
    pub fn start_next(&mut self, script: &mut Script) -> Option<SqlResult<Started>> {
        let step = script.steps.pop_front()?;
        let text = script.text.clone();
        Some(match step {
            Step::Planned(cached, snapshot) => self.start(&text, |session, cancel| {
                session.check_asked(&cached.asked)?;
                session.note_reads(&cached.plan, &cached.unknown);
                session.begin_plan_on(&cached.plan, &snapshot, &cached.schema, cancel)
            }),
            Step::Statement(statement) => {
                let levels = statement.levels();
                // A plan that is kept is dropped by whoever drops it, with the stack that there is then.
                let is_kept =
                    script.is_single && self.settings.plan_cache && levels <= stack::FREE_LEVELS;
                let kept = is_kept.then_some(&*text);
                self.with_levels(levels, |session| {
                    session.start_parsed(&text, statement.into_tree(), kept)
                })
            }
        })
    }
}
