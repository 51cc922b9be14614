//! What statements give: their rows, made while they are read, and how many they have changed.

use std::collections::VecDeque;

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use nodewise::{DataType, Described, Prepared, Session, SqlResult, Started, Value, listed};
use stdx::sync::{Arc, Mutex};

use super::client::Runner;
use super::errors::error;
use crate::source::Source;
use crate::statements::{counted, refuse_copy};

/// Rows for whoever reads Arrow.
pub type Reader = Box<dyn RecordBatchReader + Send>;

/// The rows of a statement that have not been read.
pub struct Rows {
    runner: Runner,
    /// Nothing after an error.
    source: Option<Arc<Mutex<Source>>>,
    types: Vec<DataType>,
    schema: SchemaRef,
}

/// Runs a statement with each of some values. The rows of one run are made as they are read, but for the first, so that what fails at
/// once is an error of the call; several runs are one transaction, and over when this is.
pub fn begin(
    session: &mut Session,
    runner: &Runner,
    prepared: &Prepared,
    runs: &[Vec<Value>],
) -> SqlResult<Rows> {
    let (described, mut source) = match runs {
        [values] => match session.start_prepared(prepared, values)? {
            Started::Rows(cursor) => {
                (cursor.described(), Source::new(Some(cursor), VecDeque::new()))
            }
            Started::Done(answer) => (answer.described(), Source::new(None, answer.batches.into())),
            copy => return Err(refuse_copy(session, copy)),
        },
        several => {
            let (_, described, made) = run_all(session, runner, prepared, several)?;
            let described = match described {
                Some(known) => Some(known),
                None => session.describe(prepared)?,
            };
            (described.unwrap_or_else(no_columns), Source::new(None, made))
        }
    };
    source.make_rows(session, 1)?;
    let source = Arc::new(Mutex::new(source));
    runner.client.shared.note(&source);
    let schema = described.with_lists();
    Ok(Rows { runner: runner.clone(), source: Some(source), types: described.types, schema })
}

/// Runs a statement to its end with each of some values: all or none. How many rows it has changed or given, if it tells.
pub fn update(
    session: &mut Session,
    runner: &Runner,
    prepared: &Prepared,
    runs: &[Vec<Value>],
) -> SqlResult<Option<i64>> {
    run_all(session, runner, prepared, runs).map(|(count, ..)| count)
}

type Made = (Option<i64>, Option<Described>, VecDeque<RecordBatch>);

fn run_all(
    session: &mut Session,
    runner: &Runner,
    prepared: &Prepared,
    runs: &[Vec<Value>],
) -> SqlResult<Made> {
    let (mut count, mut described, mut made) = (Some(0), None, VecDeque::new());
    let mut each = || {
        for values in runs {
            runner.check()?;
            if runs.len() > 1 {
                session.begin_implicit();
            }
            let answer = session.execute_prepared(prepared, values)?;
            count = count.zip(counted(&answer)).map(|(sum, it)| sum + it.cast_signed());
            described = Some(answer.described());
            made.extend(answer.batches);
        }
        Ok(())
    };
    let done = each();
    if done.is_err() {
        session.fail_transaction();
    }
    let ended = session.end_implicit();
    done.and(ended).map(|()| (count, described, made))
}

/// Reads what a statement that was started gives to its end; how many rows it has changed or given, if it tells.
pub fn count(session: &mut Session, runner: &Runner, started: Started) -> SqlResult<Option<i64>> {
    match started {
        Started::Done(answer) => Ok(counted(&answer).map(u64::cast_signed)),
        Started::Rows(cursor) => {
            let (mut source, mut count) = (Source::new(Some(cursor), VecDeque::new()), 0);
            loop {
                if let Err(error) = runner.check() {
                    // It has failed by being ended.
                    let _ = source.close(session);
                    return Err(error);
                }
                match source.next_batch(session)? {
                    Some(batch) => count += batch.num_rows() as i64,
                    None => return Ok(Some(count)),
                }
            }
        }
        copy => Err(refuse_copy(session, copy)),
    }
}

/// No rows, of no columns.
pub fn none() -> Reader {
    whole(Vec::new(), Arc::new(Schema::empty()))
}

/// Rows that are there already.
pub fn whole(batches: Vec<RecordBatch>, schema: SchemaRef) -> Reader {
    Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema))
}

fn no_columns() -> Described {
    Described { schema: Arc::new(Schema::empty()), types: Vec::new(), origins: Vec::new() }
}

impl Rows {
    fn read(&self, source: &Mutex<Source>) -> SqlResult<Option<RecordBatch>> {
        self.runner.run(|session| {
            let next = source.lock().next_batch(session)?;
            next.map(|it| listed(&it, &self.schema, &self.types)).transpose()
        })
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let source = self.source.as_ref()?;
        match self.read(source) {
            Ok(batch) => batch.map(Ok),
            Err(failed) => {
                drop_source(&self.runner, self.source.take());
                // As ADBC writes it, with the SQLSTATE: streams tell no more than a text.
                Some(Err(ArrowError::ExternalError(Box::new(error(&failed)))))
            }
        }
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        drop_source(&self.runner, self.source.take());
    }
}

/// Ends the statement of rows that nobody wants, unless another runs, for which nobody waits here.
fn drop_source(runner: &Runner, source: Option<Arc<Mutex<Source>>>) {
    let Some(source) = source else { return };
    if let Some(mut session) = runner.client.shared.session.try_lock()
        && let Some(session) = session.as_mut()
    {
        // What a query that is not read to its end comes to is nothing to anybody.
        let _ = source.lock().close(session);
    }
}
