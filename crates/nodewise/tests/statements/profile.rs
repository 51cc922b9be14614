//! Where the time of a query goes: the steps of its pipelines and the rows between them.

use arrow_array::cast::AsArray;
use hardware::samples;
use nodewise::{Answer, Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;

const SQL: &str = "SELECT count(*) FROM t JOIN u ON t.g = u.k WHERE t.n < 5000 AND u.v = 1";

fn session() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("laptop").expect("a sample machine"), 1);
    let database = Database::open(machine, DatabaseOptions::default()).expect("opens");
    let mut session = database.session();
    let digits = "(VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS";
    session
        .execute(&format!(
            "CREATE TABLE t AS SELECT d.n * 1000 + c.n * 100 + b.n * 10 + a.n AS n, a.n AS g
             FROM {digits} a (n), {digits} b (n), {digits} c (n), {digits} d (n);
             CREATE TABLE u AS SELECT n AS k, n / 5 AS v FROM {digits} a (n)"
        ))
        .expect("made");
    session
}

fn steps(answer: &Answer) -> Vec<(&'static str, u64, Option<u64>)> {
    let steps = answer.profile.pipelines.iter().flat_map(|it| &it.steps);
    steps.map(|it| (it.kind, it.rows, it.rows_out)).collect()
}

#[test]
fn the_rows_of_one_step_are_those_of_the_next() {
    let mut session = session();
    let plain = session.query(SQL).expect("runs");
    assert!(steps(&plain).is_empty(), "nobody asked");
    session.execute("SET profile = on").expect("set");
    let answer = session.query(SQL).expect("runs");
    assert_eq!(answer.batches, plain.batches);
    let steps = steps(&answer);
    let of = |kind| -> Vec<_> { steps.iter().filter(|it| it.0 == kind).collect() };
    assert_eq!(of("scan").iter().map(|it| it.1).sum::<u64>(), 10_010, "{steps:?}");
    assert!(of("range").iter().any(|it| **it == ("range", 10_000, Some(5_000))), "{steps:?}");
    assert_eq!(of("decode").iter().map(|it| it.1).max(), Some(2_500), "{steps:?}");
    assert_eq!(of("aggregate")[0].1, 2_500, "{steps:?}");
    assert_eq!(of("finish").len(), answer.profile.pipelines.len());
}

#[test]
fn explain_analyze_prints_the_steps_and_leaves_the_setting_alone() {
    let mut session = session();
    let answer = session.query(&format!("EXPLAIN ANALYZE {SQL}")).expect("runs");
    let lines = answer.batches[0].column(0).as_string::<i32>().clone();
    let text: Vec<&str> = lines.iter().flatten().collect();
    assert!(text.iter().any(|it| it.contains("cycles/row")), "{text:?}");
    assert!(text.iter().any(|it| it.trim_start().starts_with("range n (14 bits)")), "{text:?}");
    assert!(text.last().expect("lines").contains("no cycles: time is virtual"), "{text:?}");
    assert!(steps(&session.query(SQL).expect("runs")).is_empty());
    let json = session.query(&format!("EXPLAIN (ANALYZE, FORMAT JSON) {SQL}")).expect("runs");
    let json = json.batches[0].column(0).as_string::<i32>().value(0).to_owned();
    assert!(json.contains("\"steps\": [{\"step\": \"scan "), "{json}");
}

#[test]
fn explain_analyze_of_a_change_tells_what_was_changed() {
    let mut session = session();
    let mut told = |sql: &str| {
        let answer = session.query(sql).expect("runs");
        let lines = answer.batches[0].column(0).as_string::<i32>().clone();
        assert_eq!((answer.tag.as_str(), answer.batches.len()), ("EXPLAIN", 1));
        lines.iter().flatten().map(str::to_owned).collect::<Vec<String>>()
    };
    let inserted = told("EXPLAIN ANALYZE INSERT INTO u VALUES (10, 1), (11, 2) RETURNING k");
    assert!(inserted[0].starts_with("pipeline 0"), "{inserted:?}");
    assert!(inserted.last().expect("lines").starts_with("INSERT 0 2; memory: "), "{inserted:?}");
    let deleted = told("EXPLAIN ANALYZE DELETE FROM t WHERE n >= 9990");
    assert!(deleted.iter().any(|it| it.trim_start().starts_with("range n ")), "{deleted:?}");
    assert!(deleted.last().expect("lines").starts_with("DELETE 10; memory: "), "{deleted:?}");
    let locked = told("EXPLAIN ANALYZE SELECT * FROM u WHERE k > 9 FOR UPDATE");
    assert!(locked.last().expect("lines").starts_with("SELECT 2; memory: "), "{locked:?}");
}

#[test]
fn an_explained_statement_may_have_parameters() {
    let mut session = session();
    let prepared = session.prepare("EXPLAIN SELECT n FROM t WHERE n = $1").expect("prepared");
    assert_eq!(prepared.parameters(), [Some(types::DataType::Integer)]);
    let answer = session.execute_prepared(&prepared, &[types::Value::Integer(7)]).expect("runs");
    let lines = answer.batches[0].column(0).as_string::<i32>().clone();
    assert!(lines.iter().flatten().any(|it| it.contains("n = 7")), "{lines:?}");
}
