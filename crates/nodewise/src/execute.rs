//! The life of a statement: parse, take a snapshot, plan, run, answer.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use binder::Statement;
use stdx::stack;
use types::{SqlError, SqlResult, SqlState};

use crate::starting::{Begun, Started};
use crate::{Answer, CancelToken, Database, Session};

impl Session {
    /// Executes statements separated by semicolons, in order; the first error ends the list, and what was done before
    /// it stays.
    pub fn execute(&mut self, sql: &str) -> SqlResult<Vec<Answer>> {
        let mut script = self.script(sql)?;
        let mut answers = Vec::with_capacity(script.len());
        while let Some(answer) = self.run_next(&mut script) {
            answers.push(answer?);
        }
        Ok(answers)
    }

    /// Runs `body` with room on the stack for the trees of a statement: so many levels, and those of what it may use: of views
    /// and of other texts that are kept.
    pub(crate) fn with_levels<R>(
        &mut self,
        levels: usize,
        body: impl FnOnce(&mut Self) -> SqlResult<R>,
    ) -> SqlResult<R> {
        let kept = binder::kept_levels();
        // With some to spare for what stands around it.
        let kept = if kept > 0 { kept + stack::FREE_LEVELS } else { 0 };
        let levels = levels + self.snapshot().view_levels() + kept;
        let before = std::mem::replace(&mut self.levels, levels);
        let body = AssertUnwindSafe(|| stack::with_levels(levels, || body(self)));
        // What the body does is guarded by itself; here only the room itself can be refused.
        let done = catch_unwind(body).unwrap_or_else(|panic| Err(panicked(&*panic)));
        self.levels = before;
        done
    }

    /// Starts a statement. `kept` is its text where its plan is to be kept.
    pub(crate) fn start_parsed(
        &mut self,
        sql: &str,
        statement: Statement,
        kept: Option<&str>,
    ) -> SqlResult<Started> {
        match statement {
            Statement::Transaction(it) => self.start_transaction(sql, it),
            Statement::Cursor(it) => self.start_cursor(sql, it),
            Statement::Do(block) => self.start_do(&block),
            Statement::OverPivots(it) => {
                let statement = self.with_pivots(sql, *it)?;
                self.start_parsed(sql, statement, None)
            }
            other => {
                self.start(sql, |session, cancel| session.begin_with_room(other, kept, cancel))
            }
        }
    }

    /// [`Session::begin_parsed`], once more where calls of macros stood in one another deeper than there was room for.
    fn begin_with_room(
        &mut self,
        statement: Statement,
        text: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<Begun> {
        if self.snapshot().macros().next().is_none() {
            return self.begin_parsed(statement, text, cancel);
        }
        let (again, known) = (statement.clone(), binder::kept_levels());
        match self.begin_parsed(statement, text, cancel) {
            Err(error) if is_roomier(&error, known) => {
                let levels = self.levels;
                self.with_levels(levels, |session| session.begin_with_room(again, text, cancel))
            }
            begun => begun,
        }
    }

    /// What became of a text: one that cannot be read fails the transaction, too.
    pub(crate) fn end_parsing<T>(&mut self, parsed: SqlResult<T>) -> SqlResult<T> {
        match parsed {
            Ok(parsed) => Ok(parsed),
            Err(error) => self.end_statement(Err(error)),
        }
    }

    /// Executes one statement.
    pub fn query(&mut self, sql: &str) -> SqlResult<Answer> {
        let mut answers = self.execute(sql)?;
        match (answers.pop(), answers.is_empty()) {
            (Some(answer), true) => Ok(answer),
            (None, _) => Err(SqlError::new(SqlState::SYNTAX, "there is no statement to execute")),
            (Some(_), false) => {
                Err(SqlError::new(SqlState::SYNTAX, "one statement was expected, not several"))
            }
        }
    }
}

/// Whether a statement was refused that was deeper than there was room for, and has it from now on.
pub(crate) fn is_roomier(error: &SqlError, known: usize) -> bool {
    error.state == SqlState::STATEMENT_TOO_COMPLEX && binder::kept_levels() > known
}

impl Database {
    /// Runs what looks at tables. A panic is a bug of ours; it ends its statement (XX000), not the program and the tables in it:
    /// tables are immutable and replaced whole, so there is no half-changed state to fear. An error is also damage in a mapped file that anybody has seen
    /// meanwhile (XX001), whatever came of the work.
    pub(crate) fn caught<T>(&self, run: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        let before = self.allocator.damages();
        let ended = catch_unwind(AssertUnwindSafe(run));
        if self.allocator.damages() != before {
            return Err(SqlError::new(SqlState::DATA_CORRUPTED, self.allocator.damage())
                .with_hint("restore it from a copy"));
        }
        ended.unwrap_or_else(|panic| Err(panicked(&*panic)))
    }
}

/// The error of a statement that panicked.
fn panicked(panic: &(dyn Any + Send)) -> SqlError {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    SqlError::internal(format!("the statement failed inside Nodewise: {text}"))
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use simulator::SimulatedMachine;

    use crate::{Database, DatabaseOptions};

    #[test]
    fn without_the_plan_cache_plans_are_neither_kept_nor_taken() {
        let topology = samples::by_name("laptop").unwrap();
        let machine = SimulatedMachine::new(topology, 1);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let kept = |text: &str| {
            let tables = database.catalog.snapshot();
            let path = crate::search_path::SearchPath::usual();
            database.plans.get(text, &tables, optimizer::Options::default(), &path).is_some()
        };
        let mut session = database.session();
        assert_eq!(session.settings.get("plan_cache").unwrap(), "on");
        session.execute("SELECT 1").unwrap();
        session.execute("SET plan_cache = off").unwrap();
        session.execute("SELECT 2").unwrap();
        assert!(kept("SELECT 1") && !kept("SELECT 2"));
        // A plan that would give two rows, were it taken.
        session.settings.plan_cache = true;
        session.execute("VALUES (1), (2)").unwrap();
        let tables = database.catalog.snapshot();
        let wrong = database.plans.get(
            "VALUES (1), (2)",
            &tables,
            session.settings.planning(),
            &crate::search_path::SearchPath::usual(),
        );
        database.plans.put("SELECT 3", wrong.unwrap());
        assert_eq!(session.query("SELECT 3").unwrap().rows(), 2);
        session.execute("SET optimizer = off").unwrap();
        assert_eq!(session.query("SELECT 3").unwrap().rows(), 1, "planned under other options");
        session.execute("SET optimizer = DEFAULT").unwrap();
        session.execute("SET plan_cache = off").unwrap();
        assert_eq!(session.query("SELECT 3").unwrap().rows(), 1);
        assert!(session.execute("SET plan_cache = perhaps").is_err());
        session.execute("SET plan_cache = DEFAULT").unwrap();
        assert!(session.settings.plan_cache);
    }
}
