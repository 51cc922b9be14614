//! Statements of the page: texts in, what they gave out, as JSON.
//!
//! ```json
//! {"texts": ["SELECT 1 AS x; SELECT 2"], "rows": 1000}
//! {"answers": [{"results": [{"tag": "SELECT 1", "columns": [{"name": "x", "type": "integer"}], "rows": [["1"]],
//!   "more": false}, ..], "error": null, "notices": [], "seconds": 0.001}]}
//! ```
//!
//! All texts of a request are of one session, which ends with it, and a transaction that is open then is rolled back. Values
//! are texts as PostgreSQL prints them, or null.

use hyper::StatusCode;
use nodewise::text::Cells;
use nodewise::{
    Answer, CancelHandle, Cursor, DataType, Session, SqlError, SqlResult, Started, in_style,
};
use serde_json::{Value, json};
use stdx::sync::{Arc, Mutex};
use tokio::task::spawn_blocking;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use bytes::Bytes;

use super::reply::{JSON, Reply, TEXT, reply};
use crate::shared::Shared;
use crate::stream::Origin;
use crate::traces::{Client, Parent};

/// Rows that are shown of a statement unless the request says otherwise.
const ROWS: usize = 1000;
/// Rows that a request may ask for.
const ROWS_MAX: usize = 100_000;
/// Texts of a request.
const TEXTS_MAX: usize = 64;
/// Bytes of rows that are made at a time.
const FETCH_BYTES: u64 = 1 << 18;

/// Ends what a request runs when its client has gone.
struct CancelOnDrop(CancelHandle);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs the texts of a request, of a user, within a span of its client if it has one.
pub async fn answer(
    shared: Arc<Shared>,
    origin: Origin,
    (user, parent): (String, Option<Parent>),
    body: Bytes,
) -> Reply {
    let Some((texts, rows_max)) = read(&body) else {
        let message = format!(
            "a request is {{\"texts\": [..], \"rows\": ..}} of at most {TEXTS_MAX} texts\n"
        );
        return reply(StatusCode::BAD_REQUEST, TEXT, message);
    };
    let mut session = shared.database.session();
    if let Err(error) = session.log_in(&user, "nodewise", shared.trusts(origin)) {
        return reply(StatusCode::FORBIDDEN, TEXT, format!("{}\n", error.message));
    }
    if origin != Origin::Socket && !shared.options.allow_files {
        session.forbid_files();
    }
    if let Some(traces) = &shared.traces {
        let said = Arc::new(Mutex::new(parent));
        traces.follow(&mut session, Client::new(&user, origin), said);
    }
    let cancel = CancelOnDrop(session.cancel_handle());
    let place = shared.gate.enter(false).await;
    let run = spawn_blocking(move || {
        let _place = place;
        let answers: Vec<Value> =
            texts.iter().map(|it| of_text(&mut session, it, rows_max)).collect();
        json!({ "answers": answers }).to_string()
    });
    let done = run.await;
    drop(cancel);
    match done {
        Ok(text) => reply(StatusCode::OK, JSON, text),
        Err(_) => reply(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "the statement was lost\n"),
    }
}

fn read(body: &[u8]) -> Option<(Vec<String>, usize)> {
    let request: Value = serde_json::from_slice(body).ok()?;
    let texts = request.get("texts")?.as_array()?;
    let texts: Option<Vec<String>> = texts.iter().map(|it| Some(it.as_str()?.to_owned())).collect();
    let rows = match request.get("rows") {
        None | Some(Value::Null) => ROWS,
        Some(rows) => usize::try_from(rows.as_u64()?).ok()?,
    };
    Some((texts.filter(|it| it.len() <= TEXTS_MAX)?, rows.min(ROWS_MAX)))
}

fn of_text(session: &mut Session, text: &str, rows_max: usize) -> Value {
    let machine = session.database().machine().clone();
    let began = machine.now();
    let mut results = Vec::new();
    let error = run(session, text, rows_max, &mut results).err();
    let notices: Vec<Value> = session
        .take_notices()
        .iter()
        .map(|it| json!({"severity": it.severity, "message": it.message}))
        .collect();
    let seconds = (machine.now() - began).0 as f64 / 1e9;
    json!({"results": results, "error": error.map(|it| error_json(&it)), "notices": notices, "seconds": seconds})
}

fn error_json(error: &SqlError) -> Value {
    let place = error.position.map(|(line, column)| json!({"line": line, "column": column}));
    let (message, detail) = (&error.message, error.detail());
    json!({"sqlstate": error.state.0, "message": message, "detail": detail, "hint": error.hint, "place": place})
}

/// Runs the statements of a text, in order; several are one transaction, as on the wire.
fn run(
    session: &mut Session,
    text: &str,
    rows_max: usize,
    results: &mut Vec<Value>,
) -> SqlResult<()> {
    let mut script = session.script(text)?;
    if script.len() > 1 {
        session.begin_implicit();
    }
    let mut ended = Ok(());
    while let Some(started) = session.start_next(&mut script) {
        match started.and_then(|it| shown(session, it, rows_max)) {
            Ok(result) => results.push(result),
            Err(error) => {
                session.fail_transaction();
                ended = Err(error);
                break;
            }
        }
    }
    let committed = session.end_implicit();
    ended.and(committed)
}

fn shown(session: &mut Session, started: Started, rows_max: usize) -> SqlResult<Value> {
    match started {
        Started::Rows(cursor) => of_cursor(session, cursor, rows_max),
        Started::Done(answer) => Ok(of_answer(&session.in_style(answer)?, rows_max)),
        Started::CopyOut(copy) => {
            let error = SqlError::unsupported("COPY TO STDOUT needs a client of the wire");
            Err(session.fail(copy.cursor, error))
        }
        Started::CopyIn(copy) => {
            let error = SqlError::unsupported("COPY FROM STDIN needs a client of the wire");
            Err(session.copy_failed(*copy, error))
        }
    }
}

/// The first rows of a query; the others are not made.
fn of_cursor(session: &mut Session, mut cursor: Cursor, rows_max: usize) -> SqlResult<Value> {
    let (described, zone) = (cursor.described(), session.zone());
    let mut rows = Vec::new();
    let more = loop {
        let left = rows_max.saturating_sub(rows.len());
        let fetched = session.fetch(&mut cursor, FETCH_BYTES, &|it| it)?;
        let found: usize = fetched.items().iter().map(RecordBatch::num_rows).sum();
        for batch in fetched.items() {
            let styled = in_style(batch, &described.types, &zone, |_| true)?;
            add_rows(&styled, rows_max, &mut rows);
        }
        if fetched.is_last || found > left {
            break found > left;
        }
    };
    session.close(cursor)?;
    let tag = format!("SELECT {}", rows.len());
    Ok(result(&tag, &described.schema, &described.types, rows, more))
}

fn of_answer(answer: &Answer, rows_max: usize) -> Value {
    let mut rows = Vec::new();
    answer.batches.iter().for_each(|it| add_rows(it, rows_max, &mut rows));
    let more = answer.rows() > rows.len();
    result(&answer.tag, &answer.schema, &answer.types, rows, more)
}

fn result(tag: &str, schema: &Schema, types: &[DataType], rows: Vec<Value>, more: bool) -> Value {
    let columns = schema.fields().iter().zip(types);
    let columns: Vec<Value> = columns
        .map(|(field, of)| {
            json!({"name": field.name(), "type": of.to_string().to_lowercase(), "number": of.is_numeric()})
        })
        .collect();
    json!({"tag": tag, "columns": columns, "rows": rows, "more": more})
}

/// Adds rows of a batch as long as there are fewer than so many.
fn add_rows(batch: &RecordBatch, rows_max: usize, rows: &mut Vec<Value>) {
    let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
    let taken = batch.num_rows().min(rows_max.saturating_sub(rows.len()));
    rows.extend((0..taken).map(|row| columns.iter().map(|it| Value::from(it.text(row))).collect()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_others_refused() {
        let texts = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(read(br#"{"texts": ["a", "b"]}"#), Some((texts(&["a", "b"]), ROWS)));
        assert_eq!(read(br#"{"texts": [], "rows": 1e3}"#), None);
        assert_eq!(read(br#"{"texts": ["a"], "rows": 4}"#), Some((texts(&["a"]), 4)));
        let many = format!("{{\"texts\": [{}]}}", ["\"\""; TEXTS_MAX + 1].join(","));
        for wrong in
            ["", "[]", "{\"texts\": 1}", "{\"texts\": [1]}", "{\"texts\": [], \"rows\": -1}", &many]
        {
            assert_eq!(read(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
