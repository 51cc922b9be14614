//! The statements of a text, run one by one.

use std::collections::VecDeque;

use binder::{Statement, TransactionModes, TransactionStatement};
use stdx::Nanos;
use stdx::stack::{self, Deep};
use stdx::sync::Arc;
use storage::CatalogSnapshot;
use types::SqlResult;

use crate::foreign_keys::queried;
use crate::plan_cache::CachedPlan;
use crate::similar_statements::Similar;
use crate::starting::{Begun, Started};
use crate::{Answer, Session, Value};

/// The statements of a text that have not run yet.
pub struct Script {
    text: Arc<str>,
    steps: VecDeque<Step>,
    /// Whether the text is one statement: then its plan may be kept by the text.
    is_single: bool,
    /// What parsing took.
    parsing: Nanos,
    /// When it began.
    began: Nanos,
}

impl Script {
    /// A text of one statement, whose parsing began and took so long.
    fn single(sql: &str, steps: VecDeque<Step>, (began, parsing): (Nanos, Nanos)) -> Self {
        Self { text: sql.into(), steps, is_single: true, parsing, began }
    }
}

enum Step {
    /// The only one, planned before, on these tables.
    Planned(Box<CachedPlan>, Arc<CatalogSnapshot>),
    /// The only one, like others that have come, with its values.
    Similar(Box<(Similar, Vec<Value>)>),
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
        if let Some(statement) = plain_transaction(sql) {
            let statement = Deep::new(Statement::Transaction(statement), 1);
            let steps = VecDeque::from([Step::Statement(Box::new(statement))]);
            return Ok(Script::single(sql, steps, (started, Nanos(0))));
        }
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
            return Ok(Script::single(sql, steps, (started, parsing)));
        }
        if self.settings.plan_cache
            && let Some(similar) = self.similar(sql)
        {
            let parsing = self.database.machine.now() - started;
            let steps = VecDeque::from([Step::Similar(Box::new(similar))]);
            return Ok(Script::single(sql, steps, (started, parsing)));
        }
        let statements = binder::parse::parse(sql);
        if let Err(error) = &statements {
            self.follow_unread(sql, started, error.state);
        }
        let statements = self.end_parsing(statements)?;
        let parsing = self.database.machine.now() - started;
        let levels = statements.levels();
        // What is moved here is not walked: each statement is dropped with room for its levels.
        let statements = stack::with_levels(levels, || {
            let each = statements.into_tree().into_iter();
            each.map(|it| Step::Statement(Box::new(Deep::new(it, levels)))).collect::<VecDeque<_>>()
        });
        let is_single = statements.len() == 1;
        Ok(Script { text: sql.into(), steps: statements, is_single, parsing, began: started })
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
        if self.follow.is_some() && script.parsing.0 > 0 {
            let parsing = std::mem::take(&mut script.parsing);
            *self.parsed.lock() = Some((script.began, script.began + parsing));
        }
        Some(match step {
            Step::Planned(cached, snapshot) => self.start(&text, |session, cancel| {
                session.check_asked(&cached.asked)?;
                let tables: Vec<_> = cached.basis.tables().collect();
                if session.wait_to_read(&tables, cancel)? {
                    // The tables may be other ones now.
                    let rows = session.begin_select(&queried(&text)?, None, cancel)?;
                    return Ok(Begun::Rows(Box::new(rows)));
                }
                session.note_reads(&cached.plan, &cached.unknown);
                session.begin_plan_on(&cached.plan, &snapshot, &cached.schema, cancel)
            }),
            Step::Similar(it) => {
                let (similar, values) = *it;
                self.start_similar(&text, &similar, &values)
            }
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

/// The words that most clients say around a transaction, which need no parser; nothing of all else.
fn plain_transaction(sql: &str) -> Option<TransactionStatement> {
    let text = sql.trim_ascii();
    let word = text.strip_suffix(';').unwrap_or(text).trim_ascii_end();
    let is = |it: &&str| word.eq_ignore_ascii_case(it);
    let begin = TransactionStatement::Begin { modes: TransactionModes::default(), is_start: false };
    match ["BEGIN", "COMMIT", "END", "ROLLBACK"].iter().position(is)? {
        0 => Some(begin),
        1 | 2 => Some(TransactionStatement::Commit { chain: false }),
        _ => Some(TransactionStatement::Rollback { chain: false }),
    }
}
