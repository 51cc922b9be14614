//! Requests and replies as bytes. A reply begins with a byte that says what it is.

use std::cell::RefCell;
use std::collections::BTreeSet;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use plan::relation::Query;
use plan::wire;
use serde::{Deserialize, Serialize};
use types::{SqlError, SqlResult, SqlState, Subject, TableInfo};

/// What a coordinator asks.
#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    /// Which tables there are.
    Tables,
    /// What a statement gives.
    Sql(String),
    /// The rows of a query, as tables hold them.
    Part(Query),
}

/// What a shard answers.
pub(super) enum Reply {
    Tables(Vec<TableInfo>),
    Rows(Vec<RecordBatch>),
}

/// An error on its way.
#[derive(Serialize, Deserialize)]
struct Failure {
    state: String,
    message: String,
    hint: Option<String>,
    context: Option<String>,
    /// Detail, table, column, type and constraint.
    subject: Option<Vec<Option<String>>>,
}

const TABLES: u8 = 0;
const ROWS: u8 = 1;
const FAILURE: u8 = 2;

/// A reply as bytes; what cannot be written becomes an error.
pub(super) fn written(reply: SqlResult<Reply>) -> Vec<u8> {
    let bytes = reply.and_then(|it| match it {
        Reply::Tables(tables) => Ok(led_by(TABLES, &wire::to_bytes(&tables)?)),
        Reply::Rows(batches) => rows_written(&batches),
    });
    bytes.unwrap_or_else(|error| {
        let failure = Failure {
            state: error.state.0.to_owned(),
            message: error.message,
            hint: error.hint,
            context: error.context.map(String::from),
            subject: error
                .subject
                .map(|it| [it.detail, it.table, it.column, it.data_type, it.constraint].to_vec()),
        };
        led_by(FAILURE, &wire::to_bytes(&failure).unwrap_or_default())
    })
}

/// What the bytes of a reply say.
pub(super) fn read(bytes: &[u8]) -> SqlResult<Reply> {
    match bytes.split_first() {
        Some((&TABLES, rest)) => wire::from_bytes(rest).map(Reply::Tables),
        Some((&ROWS, rest)) => rows_read(rest).map(Reply::Rows),
        Some((&FAILURE, rest)) => {
            let Failure { state, message, hint, context, subject } = wire::from_bytes(rest)?;
            let (state, position) = (state_of(&state), None);
            let context = context.map(Into::into);
            let subject = subject.map(|it| Box::new(subject_of(it)));
            Err(SqlError { state, message, hint, position, context, subject })
        }
        _ => Err(malformed("it says nothing")),
    }
}

/// What an error is about, of the texts that tell it.
fn subject_of(texts: Vec<Option<String>>) -> Subject {
    let mut texts = texts.into_iter();
    let mut next = || texts.next().flatten();
    let (detail, table, column) = (next(), next(), next());
    let (data_type, constraint) = (next(), next());
    Subject { detail, table, column, data_type, constraint, routine: None }
}

fn led_by(kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[kind], bytes].concat()
}

fn rows_written(batches: &[RecordBatch]) -> SqlResult<Vec<u8>> {
    let mut bytes = vec![ROWS];
    let Some(first) = batches.first() else { return Ok(bytes) };
    let stream = StreamWriter::try_new(&mut bytes, first.schema_ref());
    let written = stream.and_then(|mut stream| {
        batches.iter().try_for_each(|it| stream.write(it))?;
        stream.finish()
    });
    written.map_err(|it| SqlError::internal(format!("rows cannot be sent: {it}")))?;
    Ok(bytes)
}

fn rows_read(bytes: &[u8]) -> SqlResult<Vec<RecordBatch>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let stream = StreamReader::try_new(bytes, None).map_err(malformed)?;
    stream.map(|it| it.map_err(malformed)).collect()
}

fn malformed(why: impl std::fmt::Display) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, format!("a shard's reply cannot be read: {why}"))
}

/// A state by its code. There are few, and each is kept once.
fn state_of(code: &str) -> SqlState {
    thread_local! {
        static KNOWN: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
    }
    KNOWN.with_borrow_mut(|known| match known.get(code) {
        Some(code) => SqlState(code),
        None => {
            let code: &'static str = Box::leak(code.into());
            known.insert(code);
            SqlState(code)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_through_and_other_bytes_are_errors() {
        let error = SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
            .with_hint("do not")
            .of_constraint("t", "c")
            .within("there");
        let back = read(&written(Err(error.clone()))).err();
        assert_eq!(back, Some(error));
        assert!(
            matches!(read(&written(Ok(Reply::Rows(Vec::new())))), Ok(Reply::Rows(it)) if it.is_empty())
        );
        for bytes in [&[][..], &[ROWS, 1, 2, 3], &[TABLES], &[FAILURE, 0], &[77, 1]] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }
}
