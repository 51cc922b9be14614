//! Runs the SQL tests of `tests/sql` against the library, on any Machine.
//!
//! Key decision: expectations come from PostgreSQL (`fill.py`), so a test says what the world expects, not what we do.
//! The same files run on every machine; a schedule must not change an answer.
//!
//! Files of other projects go through [`corpus`] and the program `slt`.
//!
//! After every statement that changes something, well or in vain, the machine is asked where all pages are.
//!
//! - Invariant: all records of a file run, so that one failure does not hide the next.
//! - Invariant: integers, text and decimals of up to six places compare exactly; only longer fractions are rounded.
#![forbid(unsafe_code)]

pub mod corpus;
pub mod functions;
pub mod kept;
mod render;
mod same;

use nodewise::{Session, SqlError, SqlState};
use sqllogictest::{DB, DBOutput, DefaultColumnType, Record, Runner};
use std::path::{Path, PathBuf};

/// A session as sqllogictest wants to see it.
struct Client(Session);

impl DB for Client {
    type Error = SqlError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, SqlError> {
        // A panic is a failure of this record, and must not hide what comes after it.
        let run = std::panic::AssertUnwindSafe(|| self.0.query(sql));
        let answer = std::panic::catch_unwind(run)
            .unwrap_or_else(|_| Err(SqlError::internal("the statement panicked")));
        if !answer.as_ref().is_ok_and(nodewise::Answer::has_rows) {
            // An error may have left a transaction in which nothing can be asked.
            check_pages(&mut self.0).or_else(|error| match error.state {
                SqlState("25P02") => Ok(()),
                _ => Err(error),
            })?;
        }
        let answer = answer?;
        if !answer.has_rows() {
            return Ok(DBOutput::StatementComplete(0));
        }
        let types = vec![DefaultColumnType::Any; answer.schema.fields().len()];
        let rows = render::rows(&answer.batches)?;
        Ok(DBOutput::Rows { types, rows })
    }

    fn engine_name(&self) -> &str {
        "nodewise"
    }

    fn error_sql_state(error: &SqlError) -> Option<String> {
        Some(error.state.0.to_string())
    }
}

/// An error when a page is not where its page-socket map says.
fn check_pages(session: &mut Session) -> Result<(), SqlError> {
    let answer = session.query("CALL nodewise.verify_placement()")?;
    let wrong = answer.schema.index_of("wrong").map_err(|it| SqlError::internal(it.to_string()))?;
    let rows = render::rows(&answer.batches)?;
    match rows.iter().find(|row| row[wrong] != "0") {
        None => Ok(()),
        Some(row) => Err(SqlError::internal(format!("misplaced pages: {}", row.join(" ")))),
    }
}

/// The SQL test files in order of name.
pub fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sql");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "slt"))
        .collect();
    files.sort();
    files
}

/// Runs one file in a database of its own; gives the failures, and how many records ran.
pub fn run_file(path: &Path, open: impl Fn() -> Session) -> (usize, Vec<String>) {
    let records = match sqllogictest::parse_file::<DefaultColumnType>(path) {
        Ok(records) => records,
        Err(error) => return (0, vec![format!("{}: {error}", path.display())]),
    };
    let session = std::cell::Cell::new(Some(open()));
    let mut runner = Runner::new(|| {
        // One connection per file; a second one would be asked for only by a `connection` record.
        let client = session.take().map(Client).ok_or_else(no_second_session);
        async { client }
    });
    runner.with_validator(same::rows_match);
    let mut count = 0;
    let mut failures = Vec::new();
    for record in records {
        let counts = matches!(record, Record::Statement { .. } | Record::Query { .. });
        count += usize::from(counts);
        if let Err(error) = runner.run(record) {
            failures.push(format!("{}", error.display(false)));
        }
    }
    (count, failures)
}

fn no_second_session() -> SqlError {
    SqlError::internal("these tests use one session each")
}
