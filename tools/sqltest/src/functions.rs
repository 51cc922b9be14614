//! The page of functions: calls of what PostgreSQL's chapters have, and whether they give here what they give there.
//!
//! Key decision: the page is made by calling, not by reading a list of names, so that it cannot promise what is not there.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use nodewise::text::Cells;
use nodewise::{Session, SqlError, SqlResult, SqlState};

/// What stands between a call and its rows.
const GIVES: &str = " --> ";

/// The calls, and what PostgreSQL gives.
pub fn calls() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/functions.txt")
}

/// The page.
pub fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/functions.md")
}

/// What became of the calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Those that give what PostgreSQL gives.
    pub same: usize,
    /// Those that give something else.
    pub other: usize,
    /// Those that are refused.
    pub refused: usize,
}

/// Makes the page: each call of the text is run in the session.
pub fn made(text: &str, session: &mut Session) -> SqlResult<(String, Count)> {
    let (mut body, mut count) = (String::new(), Count::default());
    let mut names = BTreeSet::new();
    for line in text.lines().filter(|it| !it.is_empty() && !it.starts_with("# ")) {
        if let Some(statement) = line.strip_prefix("! ") {
            session.execute(statement)?;
        } else if let Some(chapter) = line.strip_prefix("## ") {
            let head = "| | Here | Call | Gives in PostgreSQL |\n|---|---|---|---|\n";
            let _ = write!(body, "\n## {chapter}\n\n{head}");
        } else {
            let (name, call, expected) = parts(line)?;
            let here = match shown(session, call) {
                Ok(rows) if rows == expected => {
                    count.same += 1;
                    "yes".to_owned()
                }
                Ok(rows) => {
                    count.other += 1;
                    format!("differs: {}", code(&rows))
                }
                Err(error) if error.state == SqlState::INTERNAL => return Err(error),
                Err(error) => {
                    count.refused += 1;
                    format!("no ({})", error.state.0)
                }
            };
            names.insert(name);
            let (name, call, expected) = (code(name), code(call), code(expected));
            let _ = writeln!(body, "| {name} | {here} | {call} | {expected} |");
        }
    }
    Ok((format!("{}{body}", head(names.len(), &count)), count))
}

fn head(names: usize, count: &Count) -> String {
    let Count { same, other, refused } = count;
    format!(
        "# Functions\n\n\
         What PostgreSQL's chapters of functions and operators have, without geometry, text search, XML, and the\n\
         administration of servers, each called once or more. The page is made from the calls in\n\
         [tests/functions.txt](../tests/functions.txt): a test runs them, compares the rows with PostgreSQL 18's, and fails when this page says\n\
         anything else. One call does not show that all others agree: for that there are the records in `tests/sql`, and what differs on purpose is in\n\
         [sql.md](sql.md).\n\n\
         {names} names, {} calls: {same} give the same, {other} something else, {refused} are refused.\n",
        same + other + refused
    )
}

/// Name, call and rows of a line.
fn parts(line: &str) -> SqlResult<(&str, &str, &str)> {
    let split = || {
        let (call, rows) = line.rsplit_once(GIVES)?;
        let (name, call) = call.split_once(": ")?;
        Some((name, call, rows))
    };
    split().ok_or_else(|| SqlError::internal(format!("not `name: call{GIVES}rows`: {line}")))
}

/// The rows of a call as `functions.py` writes them.
fn shown(session: &mut Session, call: &str) -> SqlResult<String> {
    let answer = session.query(&format!("SELECT {call}"))?;
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        let truth = |column: usize| *batch.column(column).data_type() == DataType::Boolean;
        let cell = |row: usize, column: usize| match columns[column].text(row) {
            None => "NULL".to_owned(),
            Some(text) if truth(column) => text[..1].to_owned(),
            Some(text) if text.is_empty() => "(empty)".to_owned(),
            Some(text) => text.replace('\n', "\\n"),
        };
        let fields = |row| (0..columns.len()).map(|it| cell(row, it)).collect::<Vec<_>>().join("|");
        rows.extend((0..batch.num_rows()).map(fields));
    }
    Ok(rows.join(" / "))
}

/// A text as code in a table of Markdown.
fn code(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{}{fence}", text.replace('|', "\\|"))
}
