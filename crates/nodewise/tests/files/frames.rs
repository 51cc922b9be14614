//! Rows that a program around a session gives names, and what is counted of statements.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use nodewise::{CancelHandle, Metric, MetricValue, Session, SqlState, Value};
use stdx::sync::Arc;

use hardware::samples;
use nodewise::{Database, DatabaseOptions};
use simulator::SimulatedMachine;

fn database() -> Arc<Database> {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
    Database::open(machine, DatabaseOptions::default()).unwrap()
}

/// The rows of a query.
fn texts(session: &mut Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    crate::common::texts(&answer.batches, " ", "NULL")
}

fn batch(numbers: &[i64], words: &[&str]) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from(numbers.to_vec()));
    let words: ArrayRef = Arc::new(StringArray::from(words.to_vec()));
    RecordBatch::try_from_iter([("n", numbers), ("w", words)]).unwrap()
}

fn register(session: &mut Session, name: &str, rows: RecordBatch) {
    session.register(name, &rows.schema(), vec![rows]).unwrap();
}

#[test]
fn frames_are_read_like_tables_by_their_session_only() {
    let database = database();
    let (mut session, mut other) = (database.session(), database.session());
    register(&mut session, "Frame", batch(&[1, 2, 3], &["a", "b", "b"]));
    let sum = "SELECT w, sum(n) FROM frame GROUP BY w ORDER BY w";
    assert_eq!(texts(&mut session, sum), ["a 1", "b 5"]);
    assert_eq!(other.query(sum).unwrap_err().state, SqlState::UNDEFINED_TABLE);
    session.execute("CREATE TABLE t AS SELECT * FROM frame WHERE n > 1").unwrap();
    assert_eq!(texts(&mut other, "SELECT count(*) FROM t"), ["2"]);
    assert_eq!(texts(&mut session, "SELECT count(*) FROM t JOIN frame USING (n)"), ["2"]);
    // Another frame of the name takes its place, also where the text was run before.
    register(&mut session, "frame", batch(&[7], &["c"]));
    assert_eq!(texts(&mut session, sum), ["c 7"]);
    assert!(session.unregister("FRAME") && !session.unregister("frame"));
    assert_eq!(session.query(sum).unwrap_err().state, SqlState::UNDEFINED_TABLE);
}

#[test]
fn frames_hide_no_tables() {
    let mut session = database().session();
    session.execute("CREATE TABLE t (n BIGINT); CREATE VIEW v AS SELECT 1 AS x").unwrap();
    let rows = batch(&[1], &["a"]);
    for name in ["t", "T", "v"] {
        let error = session.register(name, &rows.schema(), vec![rows.clone()]).unwrap_err();
        assert_eq!(error.state, SqlState::DUPLICATE_TABLE, "{name}");
    }
    register(&mut session, "late", rows);
    session.execute("CREATE TABLE late (n BIGINT)").unwrap();
    assert_eq!(texts(&mut session, "SELECT count(*) FROM late"), ["0"]);
}

#[test]
fn frames_may_be_empty_and_are_not_changed() {
    let mut session = database().session();
    let rows = batch(&[], &[]);
    session.register("none", &rows.schema(), Vec::new()).unwrap();
    assert_eq!(texts(&mut session, "SELECT count(*), max(w) FROM none"), ["0 NULL"]);
    let error = session.execute("INSERT INTO none VALUES (1, 'a')").unwrap_err();
    assert_eq!(error.state, SqlState::UNDEFINED_TABLE);
}

#[test]
fn prepared_statements_read_the_frame_of_the_day() {
    let mut session = database().session();
    register(&mut session, "frame", batch(&[1, 2], &["a", "b"]));
    let prepared = session.prepare("SELECT w FROM frame WHERE n = $1").unwrap();
    let ask = |session: &mut Session, number| {
        let answer = session.execute_prepared(&prepared, &[Value::Integer(number)]).unwrap();
        answer.rows()
    };
    assert_eq!([ask(&mut session, 1), ask(&mut session, 7)], [1, 0]);
    register(&mut session, "frame", batch(&[7], &["c"]));
    assert_eq!([ask(&mut session, 1), ask(&mut session, 7)], [0, 1]);
}

#[test]
fn unknown_names_are_told_as_they_are_written() {
    let mut session = database().session();
    session.execute("CREATE TABLE t (n BIGINT)").unwrap();
    let rows = batch(&[1], &["a"]);
    register(&mut session, "known", rows);
    let unknown = |text: &str| session.unknown_tables(text);
    let text = "SELECT * FROM t, Df JOIN \"Other\" o ON true, known, nodewise.tables, 'file.csv' \
                WHERE n IN (SELECT n FROM deep)";
    assert_eq!(unknown(text), ["Df", "Other", "deep"]);
    assert_eq!(
        unknown("INSERT INTO t SELECT n FROM df; CREATE TABLE u AS FROM df2"),
        ["df", "df2"]
    );
    assert!(unknown("SELECT (FROM").is_empty() && unknown("").is_empty());
}

#[test]
fn statements_are_counted_by_kind_and_outcome() {
    let database = database();
    let mut session = database.session();
    session.execute("CREATE TABLE t AS SELECT * FROM generate_series(1, 10) AS s (n)").unwrap();
    session.execute("INSERT INTO t SELECT 1 FROM generate_series(1, 3)").unwrap();
    session.execute("SELECT * FROM t; SELECT * FROM t WHERE n > 9").unwrap();
    session.execute("SELECT 1 / (n - n) FROM t").unwrap_err();
    session.execute("DELETE FROM t WHERE n = 1").unwrap();
    let metrics = database.metrics();
    let value = |name: &str, labels: &[(&'static str, &str)]| {
        let found = |it: &&Metric| it.name == name;
        let metric = metrics.iter().find(found).unwrap();
        let labels: Vec<_> = labels.iter().map(|it| (it.0, it.1.to_owned())).collect();
        match metric.samples.iter().find(|it| it.labels == labels).map(|it| &it.value) {
            Some(MetricValue::Number(value)) => *value as u64,
            Some(MetricValue::Histogram { count, .. }) => *count,
            None => 0,
        }
    };
    let of = |kind: &str, outcome: &str| {
        value("nodewise_statements_total", &[("kind", kind), ("outcome", outcome)])
    };
    let rows = |kind: &str| value("nodewise_statement_rows_total", &[("kind", kind)]);
    // CREATE TABLE AS answers with SELECT, as in PostgreSQL.
    assert_eq!((of("select", "ok"), of("select", "error")), (3, 1));
    assert_eq!((of("insert", "ok"), of("delete", "ok"), of("update", "ok")), (1, 1, 0));
    assert_eq!((rows("select"), rows("insert"), rows("delete")), (10 + 13 + 1, 3, 4));
    assert_eq!(value("nodewise_statement_duration_seconds", &[("kind", "select")]), 4);
    assert_eq!(value("nodewise_tables", &[]), 1);
    assert!(metrics.iter().all(|it| it.name.starts_with("nodewise_") && it.help.ends_with('.')));
}

/// What a thread of a signal may hold.
fn assert_handles_move(handle: CancelHandle) -> impl Send + Sync {
    handle
}

#[test]
fn handles_go_to_other_threads() {
    let session = database().session();
    drop(assert_handles_move(session.cancel_handle()));
}

#[test]
fn statements_are_told_apart_by_their_texts_without_constants() {
    let mut session = database().session();
    for number in 0..3 {
        session.execute(&format!("SELECT {number} AS n, 'x'")).unwrap();
    }
    session.execute("SELECT 1 / 0").unwrap_err();
    let view = "SELECT query, calls, rows, total_exec_time >= max_exec_time, min_exec_time >= 0 \
                FROM pg_stat_statements WHERE query LIKE 'SELECT $1%' ORDER BY query";
    assert_eq!(texts(&mut session, view), ["SELECT $1 AS n, $2 3 3 true true"]);
}
