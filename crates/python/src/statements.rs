//! Statements on their way to the engine: texts of several, and what none of these clients can do.

use nodewise::{Answer, Session, SqlError, SqlResult, SqlState, Started};

/// Runs the statements of a text: one by itself, several as one transaction, as in PostgreSQL.
pub fn of_script(session: &mut Session, sql: &str) -> SqlResult<Started> {
    let mut script = session.script(sql)?;
    if script.is_empty() {
        let message = "there is no statement to execute";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    if script.len() == 1 {
        let started = session.start_next(&mut script);
        return started.unwrap_or_else(|| Err(SqlError::internal("a statement was lost")));
    }
    session.begin_implicit();
    let mut last = None;
    while let Some(answer) = session.run_next(&mut script) {
        match answer {
            Ok(answer) => last = Some(answer),
            Err(error) => {
                session.fail_transaction();
                // What it was to do has failed already.
                let _ = session.end_implicit();
                return Err(error);
            }
        }
    }
    session.end_implicit()?;
    last.map(Started::Done).ok_or_else(|| SqlError::internal("a statement was lost"))
}

/// How many rows a statement has changed or given, where its answer counts them.
pub fn counted(answer: &Answer) -> Option<u64> {
    answer.tag.rsplit(' ').next().and_then(|it| it.parse().ok())
}

/// Why COPY of a client is not for this library; the statement is ended.
pub fn refuse_copy(session: &mut Session, started: Started) -> SqlError {
    match started {
        Started::CopyOut(copy) => session.fail(copy.cursor, no_client("TO STDOUT")),
        Started::CopyIn(copy) => session.copy_failed(*copy, no_client("FROM STDIN")),
        Started::Done(_) | Started::Rows(_) => SqlError::internal("this is no COPY"),
    }
}

fn no_client(way: &str) -> SqlError {
    SqlError::unsupported(format!("COPY {way} needs a client of the server"))
        .with_hint("name a file, or take the rows of a query")
}
