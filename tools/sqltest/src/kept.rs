//! Queries as views: each query of a file is kept as a view, and what `pg_get_viewdef` shows of it makes another view. Both give the
//! same rows, and no word in the text is one that only we read.

use std::path::Path;

use nodewise::{Session, SqlError};
use sqllogictest::{DefaultColumnType, Record};

use crate::render;

/// How many views were made of a file, and what is wrong with their texts.
pub fn check_file(path: &Path, mut session: Session) -> (usize, Vec<String>) {
    let records = match sqllogictest::parse_file::<DefaultColumnType>(path) {
        Ok(records) => records,
        Err(error) => return (0, vec![format!("{}: {error}", path.display())]),
    };
    let (mut made, mut wrong) = (0, Vec::new());
    for record in records {
        match record {
            // What it is for is told by its own test.
            Record::Statement { sql, .. } => drop(session.query(&sql)),
            Record::Query { sql, .. } => match check(&mut session, &sql) {
                Ok(is_made) => made += usize::from(is_made),
                Err(what) => wrong.push(format!("{}: {sql}\n{what}", path.display())),
            },
            _ => {}
        }
    }
    (made, wrong)
}

/// Whether a view can be made of a query, and it is like one that is made of its text.
fn check(session: &mut Session, sql: &str) -> Result<bool, String> {
    // A sequence goes on, chance is another one, and the catalog has one view more.
    let moves = [
        "nextval",
        "random",
        "setval",
        "uuid",
        "clock_timestamp",
        "pg_",
        "duckdb_",
        "information_schema",
    ];
    if moves.iter().any(|it| sql.to_lowercase().contains(it)) {
        return Ok(false);
    }
    let columns = match make(session, "kept_first", "", sql) {
        Ok(()) => String::new(),
        Err(error) if error.state.0 == "42701" => match rows(session, sql) {
            Ok((width, _)) if width > 0 => {
                let names: Vec<String> = (0..width).map(|it| format!("c{it}")).collect();
                let columns = format!("({})", names.join(", "));
                match make(session, "kept_first", &columns, sql) {
                    Ok(()) => columns,
                    Err(_) => return Ok(false),
                }
            }
            _ => return Ok(false),
        },
        Err(_) => return Ok(false),
    };
    let result = compare(session, &columns);
    for name in ["kept_second", "kept_first"] {
        match session.query(&format!("DROP VIEW IF EXISTS {name}")) {
            // A row could not be computed, in a transaction.
            Err(error) if error.state.0 != "25P02" => return Err(told(error)),
            _ => {}
        }
    }
    result.map(|()| true)
}

fn compare(session: &mut Session, columns: &str) -> Result<(), String> {
    let shown = rows(session, "SELECT pg_get_viewdef('kept_first')").map_err(told)?.1;
    let text = shown.first().and_then(|it| it.first()).cloned().unwrap_or_default();
    let in_words = |it: char| !it.is_control() || it == '\n';
    let own_names = ["\\u{0}", "is json\"", "json\n", "rows\n", "variadic\n", "pg_input\n"];
    if !text.chars().all(in_words) || own_names.iter().any(|it| text.contains(it)) {
        return Err(format!("shows words of our own: {text}"));
    }
    make(session, "kept_second", columns, &text).map_err(|it| format!("{it} in {text}"))?;
    let of = |session: &mut Session, name: &str| {
        let all = rows(session, &format!("SELECT * FROM {name}"));
        all.map(|(_, mut rows)| {
            rows.sort();
            rows
        })
        .map_err(|it| it.state.0.to_string())
    };
    let (first, second) = (of(session, "kept_first"), of(session, "kept_second"));
    // A view of what moves is another one each time.
    if first != second && of(session, "kept_first") == first {
        return Err(format!("{text}\nhas other rows: {first:?} and {second:?}"));
    }
    let again = rows(session, "SELECT pg_get_viewdef('kept_second')").map_err(told)?.1;
    match again == shown {
        true => Ok(()),
        false => Err(format!("{text}\nis shown otherwise when it is made again: {again:?}")),
    }
}

fn make(session: &mut Session, name: &str, columns: &str, query: &str) -> Result<(), SqlError> {
    let query = query.trim_end_matches(';');
    session.query(&format!("CREATE VIEW {name} {columns} AS {query}")).map(|_| ())
}

/// How many columns, and the rows.
fn rows(session: &mut Session, sql: &str) -> Result<(usize, Vec<Vec<String>>), SqlError> {
    let answer = session.query(sql)?;
    Ok((answer.schema.fields().len(), render::rows(&answer.batches)?))
}

fn told(error: SqlError) -> String {
    error.to_string()
}
