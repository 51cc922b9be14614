//! Starting statements: what has ended at once, and what goes on while its rows are fetched or its data come.

use binder::{CopyPlace, CursorStatement, Statement, TransactionStatement};
use types::{SqlError, SqlResult};

use crate::answer::done;
use crate::begun_rows::BegunRows;
use crate::copy::{CopyFormat, CopyIn, CopyOut};
use crate::following::kind_of_transaction;
use crate::opened::Cursor;
use crate::similar_statements::Similar;
use crate::statement_counts::Kind;
use crate::{Answer, CancelToken, Prepared, Session, Value};

/// What a statement that was started has come to.
pub enum Started {
    /// It has ended.
    Done(Answer),
    /// It gives rows, to be fetched.
    Rows(Cursor),
    /// COPY .. TO STDOUT: it gives rows in some format.
    CopyOut(CopyOut),
    /// COPY .. FROM STDIN: it waits for data.
    CopyIn(Box<CopyIn>),
}

/// What a statement has come to inside of its session.
pub(crate) enum Begun {
    Answer(Answer),
    Rows(Box<BegunRows>),
    CopyOut(Box<BegunRows>, CopyFormat),
    CopyIn(Box<CopyIn>),
}

impl Session {
    /// Starts a statement.
    pub(crate) fn start(
        &mut self,
        text: &str,
        run: impl FnOnce(&mut Self, &CancelToken) -> SqlResult<Begun>,
    ) -> SqlResult<Started> {
        self.start_as_it_is(text, |session, cancel| {
            session.refresh()?;
            run(session, cancel)
        })
    }

    /// [`Session::start`] for who sees to it that what it reads is what was committed before.
    fn start_as_it_is(
        &mut self,
        text: &str,
        run: impl FnOnce(&mut Self, &CancelToken) -> SqlResult<Begun>,
    ) -> SqlResult<Started> {
        let statement = self.open_statement(text)?;
        let begun = self.within(&statement, |session, cancel| run(session, &cancel));
        let ended = match begun {
            Ok(Begun::Rows(rows)) => {
                statement.is(Kind::SELECT);
                return Ok(Started::Rows(Cursor::new(statement, *rows)));
            }
            Ok(Begun::CopyOut(rows, format)) => {
                statement.is(Kind::COPY);
                return Ok(Started::CopyOut(CopyOut::new(Cursor::new(statement, *rows), format)));
            }
            Ok(Begun::CopyIn(copy)) => {
                return Ok(Started::CopyIn(Box::new(copy.opened(statement))));
            }
            Ok(Begun::Answer(answer)) => {
                statement.answered(&answer);
                Ok(answer)
            }
            Err(error) => Err(error),
        };
        self.end_open(statement, ended).map(Started::Done)
    }

    /// Starts a prepared statement with a value for each of its parameters.
    pub fn start_prepared(&mut self, prepared: &Prepared, values: &[Value]) -> SqlResult<Started> {
        let text = prepared.0.text.clone();
        self.with_levels(prepared.0.levels(), |session| match &prepared.0.statement {
            Some(Statement::Transaction(it)) => session.start_transaction(&text, it.clone()),
            Some(Statement::Cursor(CursorStatement::Declare { name, scroll, hold, .. })) => session
                .start_declare(&text, (name, *scroll, *hold), |session, cancel| {
                    session.begin_prepared(prepared, values, cancel)
                }),
            Some(Statement::Cursor(it)) => session.start_cursor(&text, it.clone()),
            Some(Statement::Do(block)) => session.start_do(block),
            // What it reads is made new when its plan tells what that is.
            Some(Statement::Query { .. } | Statement::Change { .. }) => session
                .start_as_it_is(&text, |session, cancel| {
                    session.begin_prepared(prepared, values, cancel)
                }),
            Some(_) => session
                .start(&text, |session, cancel| session.begin_prepared(prepared, values, cancel)),
            None => Ok(Started::Done(done(""))),
        })
    }

    /// Starts BEGIN, COMMIT and the like, which end at once.
    pub(crate) fn start_transaction(
        &mut self,
        text: &str,
        statement: TransactionStatement,
    ) -> SqlResult<Started> {
        let kind = kind_of_transaction(&statement);
        self.follow_beside(text, kind, |session| session.run_transaction(statement))
            .map(Started::Done)
    }

    /// Starts a statement of a text like others.
    pub(crate) fn start_similar(
        &mut self,
        text: &str,
        similar: &Similar,
        values: &[Value],
    ) -> SqlResult<Started> {
        let Similar { prepared, normalized } = similar;
        let started = self.with_levels(prepared.0.levels(), |session| {
            session.start_as_it_is(text, |session, cancel| {
                if let Some(it) = &session.under_way {
                    it.record.work.normalized.get_or_init(|| normalized.clone());
                }
                session.begin_prepared(prepared, values, cancel)
            })
        });
        // Its places are not those of this text.
        started.map_err(|error| SqlError { position: None, ..error })
    }

    /// All that a statement gives.
    pub(crate) fn whole(&mut self, started: Started) -> SqlResult<Answer> {
        match started {
            Started::Done(answer) => Ok(answer),
            Started::Rows(cursor) => self.fetch_all(cursor),
            Started::CopyOut(copy) => {
                let error = copy_needs_client("TO STDOUT");
                Err(self.fail(copy.cursor, error))
            }
            Started::CopyIn(copy) => {
                let error = copy_needs_client("FROM STDIN");
                Err(self.copy_failed(*copy, error))
            }
        }
    }

    /// Begins what a statement of a text says. `kept` is its text where its plan is to be kept.
    pub(crate) fn begin_parsed(
        &mut self,
        statement: Statement,
        kept: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<Begun> {
        match statement {
            Statement::Query { query } => {
                Ok(Begun::Rows(Box::new(self.begin_select(&query, kept, cancel)?)))
            }
            Statement::CopyTo { query, of, place: CopyPlace::Client, options } => {
                let query = self.copied_rows(query, of)?;
                let (rows, format) = self.begin_copy_to(&query, &options, cancel)?;
                Ok(Begun::CopyOut(Box::new(rows), format))
            }
            Statement::CopyFrom {
                table,
                columns,
                place: CopyPlace::Client,
                options,
                condition,
            } => {
                let filled = (&columns[..], condition);
                Ok(Begun::CopyIn(Box::new(self.begin_copy_from(&table, filled, &options)?)))
            }
            Statement::Execute { name, arguments } => self.begin_named(&name, &arguments, cancel),
            other => self.run_statement(other, cancel.clone()).map(Begun::Answer),
        }
    }

    /// Runs a statement within another to its end.
    pub(crate) fn run_within(
        &mut self,
        statement: Statement,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        match self.begin_parsed(statement, None, cancel)? {
            Begun::Answer(answer) => Ok(answer),
            Begun::Rows(mut rows) => self.rest_of(&mut rows, cancel),
            Begun::CopyOut(..) | Begun::CopyIn(_) => {
                Err(SqlError::unsupported("COPY between a client and another statement"))
            }
        }
    }
}

fn copy_needs_client(way: &str) -> SqlError {
    let message = format!("COPY {way} needs a client of the server");
    SqlError::unsupported(message).with_hint("name a file, or connect to nodewise serve")
}
