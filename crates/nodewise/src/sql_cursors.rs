//! DECLARE, FETCH, MOVE and CLOSE.
//!
//! Key decision: the rows of a cursor are made as they are fetched, as those of a portal are, and forgotten behind it unless it may
//! go backward. One WITH HOLD has all of its rows from the start, so that it needs nothing of its transaction; one FOR UPDATE or FOR
//! SHARE, too, whose rows are all locked when it is declared.
//!
//! - Invariant: a cursor without HOLD ends with its transaction, one that a savepoint has not seen with the way back to that.

use std::collections::VecDeque;

use arrow_array::RecordBatch;
use binder::{CursorStatement, CursorStep};
use types::{SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::sql_cursor::SqlCursor;
use crate::starting::Begun;
use crate::{Answer, CancelToken, Described, Session, Started};

/// Bytes of rows that are made at a time.
const FETCH_BYTES: u64 = 256 << 10;

/// Rows that a step passes over: from a number on, so many, and where the cursor is then.
struct Passed {
    from: u64,
    count: u64,
    backward: bool,
    position: u64,
}

impl Session {
    /// Keeps a cursor whose query was started.
    fn keep_cursor(
        &mut self,
        (name, scroll, hold): (&str, bool, bool),
        text: &str,
        started: Started,
    ) -> SqlResult<Answer> {
        let described = match &started {
            Started::Rows(cursor) => cursor.described(),
            Started::Done(answer) => answer.described(),
            _ => return Err(SqlError::internal("a cursor of what gives no rows")),
        };
        let inside = self.block.as_ref().map(|it| it.savepoints.len());
        let mut declared = SqlCursor {
            described,
            source: None,
            rows: VecDeque::new(),
            forgotten: 0,
            made: 0,
            position: 0,
            scroll,
            hold,
            text: text.into(),
            made_at: self.database.machine.wall_clock(),
            inside,
        };
        let made = match started {
            // Of locked rows.
            Started::Done(answer) => Some(answer),
            Started::Rows(cursor) if hold => Some(self.fetch_all(cursor)?),
            Started::Rows(mut cursor) => {
                self.pause_cursor(&mut cursor);
                declared.source = Some(cursor);
                None
            }
            _ => None,
        };
        if let Some(answer) = made {
            declared.made = answer.rows() as u64;
            declared.rows = answer.batches.into();
        }
        self.cursors.insert(name.to_owned(), declared);
        Ok(done("DECLARE CURSOR"))
    }

    /// Whether a cursor may be declared now. Errors: 42P03, 25P01.
    fn check_declared(&self, name: &str, hold: bool) -> SqlResult<()> {
        if !hold && self.block.is_none() {
            let message = "DECLARE CURSOR can only be used in transaction blocks";
            return Err(SqlError::new(SqlState("25P01"), message));
        }
        match self.cursors.contains_key(name) {
            true => {
                let message = format!("cursor \"{name}\" already exists");
                Err(SqlError::new(SqlState("42P03"), message))
            }
            false => Ok(()),
        }
    }

    /// Starts a statement about a cursor.
    pub(crate) fn start_cursor(
        &mut self,
        text: &str,
        statement: CursorStatement,
    ) -> SqlResult<Started> {
        match statement {
            CursorStatement::Declare { name, scroll, hold, query } => {
                self.start_declare(text, (&name, scroll, hold), |session, cancel| {
                    if query.locks_rows() {
                        return session.change(&query, cancel).map(Begun::Answer);
                    }
                    Ok(Begun::Rows(Box::new(session.begin_select(&query, None, cancel)?)))
                })
            }
            CursorStatement::Fetch { name, step, is_move } => {
                let kind = if is_move { "move" } else { "fetch" };
                self.follow_beside(text, kind, |session| {
                    session.beside_statements(|it| it.fetch_cursor(&name, step, is_move))
                })
            }
            CursorStatement::Close { name } => self.follow_beside(text, "close", |session| {
                session.beside_statements(|it| it.close_cursors(name.as_deref()))
            }),
        }
    }

    /// Starts DECLARE: whether it scrolls, and is held, and what begins its query.
    pub(crate) fn start_declare(
        &mut self,
        text: &str,
        said: (&str, bool, bool),
        begin: impl FnOnce(&mut Self, &CancelToken) -> SqlResult<Begun>,
    ) -> SqlResult<Started> {
        let started = self.start(text, |session, cancel| {
            session.check_declared(said.0, said.2)?;
            begin(session, cancel)
        })?;
        self.keep_cursor(said, text, started).map(Started::Done)
    }

    /// Does what is no statement that takes long. An error fails the transaction.
    fn beside_statements(
        &mut self,
        run: impl FnOnce(&mut Self) -> SqlResult<Answer>,
    ) -> SqlResult<Started> {
        self.enter()?;
        let checked = self.block.as_ref().map_or(Ok(()), |it| it.check());
        let ran = checked.and_then(|()| run(self));
        if ran.is_err() {
            self.fail_transaction();
        }
        self.leave();
        ran.map(Started::Done)
    }

    fn fetch_cursor(&mut self, name: &str, step: CursorStep, is_move: bool) -> SqlResult<Answer> {
        let mut cursor = self.cursors.remove(name).ok_or_else(|| no_cursor(name))?;
        let passed = match cursor.pass(self, step) {
            Ok(passed) => passed,
            Err(error) => {
                return Err(match cursor.source {
                    Some(source) => self.fail(source, error),
                    None => error,
                });
            }
        };
        let count = passed.count;
        let answer = match is_move {
            true => done(format!("MOVE {count}")),
            false => {
                let Described { schema, types, origins } = cursor.described.clone();
                let batches = cursor.given(&passed);
                let tag = format!("FETCH {count}");
                Answer { schema, types, origins, batches, ..done(tag) }
            }
        };
        cursor.position = passed.position;
        cursor.forget();
        if let Some(source) = &mut cursor.source {
            self.pause_cursor(source);
        }
        self.cursors.insert(name.to_owned(), cursor);
        Ok(answer)
    }

    fn close_cursors(&mut self, name: Option<&str>) -> SqlResult<Answer> {
        match name {
            Some(name) => {
                let cursor = self.cursors.remove(name).ok_or_else(|| no_cursor(name))?;
                self.end_cursor(cursor)?;
                Ok(done("CLOSE CURSOR"))
            }
            None => {
                self.end_cursors(|_| true);
                Ok(done("CLOSE CURSOR ALL"))
            }
        }
    }

    fn end_cursor(&mut self, cursor: SqlCursor) -> SqlResult<()> {
        cursor.source.map_or(Ok(()), |it| self.close(it))
    }

    /// The transaction has ended, and with it its cursors, but those that outlive a commit.
    pub(crate) fn end_cursors_of_transaction(&mut self, is_committed: bool) {
        self.end_cursors(|it| !it.hold || it.inside.is_some() && !is_committed);
        self.cursors.values_mut().for_each(|it| it.inside = None);
    }

    /// The transaction is back where it had so many savepoints.
    pub(crate) fn end_cursors_behind(&mut self, savepoints: usize) {
        self.end_cursors(|it| it.inside.is_some_and(|it| it >= savepoints));
    }

    /// So many savepoints are left, and what was done behind the others stays.
    pub(crate) fn release_cursors(&mut self, savepoints: usize) {
        for inside in self.cursors.values_mut().filter_map(|it| it.inside.as_mut()) {
            *inside = (*inside).min(savepoints);
        }
    }

    /// Ends some cursors. What their queries come to is nothing to anybody.
    pub(crate) fn end_cursors(&mut self, ends: impl Fn(&SqlCursor) -> bool) {
        if self.cursors.is_empty() {
            return;
        }
        let all = std::mem::take(&mut self.cursors);
        for (name, cursor) in all {
            match ends(&cursor) {
                true => drop(self.end_cursor(cursor)),
                false => drop(self.cursors.insert(name, cursor)),
            }
        }
    }

    /// Ends a cursor, if there is one of the name.
    pub fn forget_cursor(&mut self, name: &str) {
        if let Some(cursor) = self.cursors.remove(name) {
            // What its query comes to is nothing to anybody.
            drop(self.end_cursor(cursor));
        }
    }

    /// The columns of a cursor's rows.
    pub fn cursor_described(&self, name: &str) -> Option<Described> {
        self.cursors.get(name).map(|it| it.described.clone())
    }
}

impl SqlCursor {
    /// Makes rows up to a number, or all that there are.
    fn make(&mut self, session: &mut Session, up_to: u64) -> SqlResult<()> {
        while self.made < up_to
            && let Some(mut source) = self.source.take()
        {
            let fetched = session.fetch(&mut source, FETCH_BYTES, &|it| it)?;
            let rows = fetched.items().iter().filter(|it| it.num_rows() > 0);
            for batch in rows {
                self.made += batch.num_rows() as u64;
                self.rows.push_back(batch.clone());
            }
            if !fetched.is_last {
                self.source = Some(source);
            }
        }
        Ok(())
    }

    /// What a step passes over.
    fn pass(&mut self, session: &mut Session, step: CursorStep) -> SqlResult<Passed> {
        match step {
            CursorStep::Forward(0) | CursorStep::Relative(0) => Ok(self.here()),
            CursorStep::Forward(count @ 1..) => self.onward(session, count.unsigned_abs()),
            CursorStep::ForwardAll => self.onward(session, u64::MAX),
            CursorStep::Forward(count) => self.backward(count.unsigned_abs()),
            CursorStep::BackwardAll => self.backward(u64::MAX),
            CursorStep::Absolute(number @ 0..) => self.to(session, number.unsigned_abs()),
            CursorStep::Absolute(number) => {
                self.make(session, u64::MAX)?;
                self.to(session, (self.made + 1).saturating_sub(number.unsigned_abs()))
            }
            CursorStep::Relative(by) => self.to(session, self.position.saturating_add_signed(by)),
        }
    }

    fn here(&self) -> Passed {
        let is_on_row = (1..=self.made).contains(&self.position);
        let (from, position) = (self.position, self.position);
        Passed { from, count: is_on_row.into(), backward: false, position }
    }

    fn onward(&mut self, session: &mut Session, count: u64) -> SqlResult<Passed> {
        self.make(session, self.position.saturating_add(count))?;
        let left = self.made.saturating_sub(self.position);
        let passed = left.min(count);
        let position = if passed < count { self.made + 1 } else { self.position + passed };
        Ok(Passed { from: self.position + 1, count: passed, backward: false, position })
    }

    fn backward(&mut self, count: u64) -> SqlResult<Passed> {
        self.check_scroll()?;
        let before = self.position.saturating_sub(1);
        let passed = before.min(count);
        let position = if passed < count { 0 } else { self.position - passed };
        Ok(Passed { from: before - passed + 1, count: passed, backward: true, position })
    }

    /// The row with a number.
    fn to(&mut self, session: &mut Session, number: u64) -> SqlResult<Passed> {
        if number < self.position {
            self.check_scroll()?;
        }
        self.make(session, number)?;
        let is_there = (1..=self.made).contains(&number);
        let position = number.min(self.made + 1);
        Ok(Passed { from: number, count: is_there.into(), backward: false, position })
    }

    fn check_scroll(&self) -> SqlResult<()> {
        if self.scroll {
            return Ok(());
        }
        let message = "cursor can only scan forward";
        Err(SqlError::new(SqlState::NOT_IN_STATE, message)
            .with_hint("Declare it with SCROLL option to enable backward scan."))
    }

    /// The rows that were passed over.
    fn given(&self, passed: &Passed) -> Vec<RecordBatch> {
        let mut first = self.forgotten + 1;
        let mut given = Vec::new();
        for batch in &self.rows {
            let rows = batch.num_rows() as u64;
            let (from, to) =
                (passed.from.max(first), (passed.from + passed.count).min(first + rows));
            if from < to {
                given.push(batch.slice((from - first) as usize, (to - from) as usize));
            }
            first += rows;
        }
        if passed.backward {
            let single = |it: &RecordBatch| {
                let it = it.clone();
                (0..it.num_rows()).rev().map(move |row| it.slice(row, 1))
            };
            return given.iter().rev().flat_map(single).collect();
        }
        given
    }

    /// Forgets rows that it never comes back to.
    fn forget(&mut self) {
        while !self.scroll
            && let Some(first) = self.rows.front().map(|it| it.num_rows() as u64)
            && self.forgotten + first < self.position
        {
            self.rows.pop_front();
            self.forgotten += first;
        }
    }
}

fn no_cursor(name: &str) -> SqlError {
    SqlError::new(SqlState("34000"), format!("cursor \"{name}\" does not exist"))
}
