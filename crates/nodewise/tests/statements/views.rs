//! Views: what is kept of a query, plans that go through views, and exports.

use hardware::samples;
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;

fn session() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 3);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

fn rows(session: &mut Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            let texts = cells.iter().map(|it| it.text(row).unwrap_or("NULL".into()));
            rows.push(texts.collect::<Vec<_>>().join("|"));
        }
    }
    rows.sort();
    rows
}

fn run(session: &mut Session, sql: &str) {
    session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

#[test]
fn names_are_resolved_when_a_view_is_made() {
    let mut session = session();
    run(
        &mut session,
        "CREATE TABLE t (a INTEGER, \"B x\" TEXT); CREATE TABLE u (a INTEGER, z DATE)",
    );
    for (query, kept) in [
        ("SELECT * FROM t", "SELECT t.a, t.\"B x\" FROM public.t"),
        ("SELECT x.*, a FROM t AS x", "SELECT x.a, x.\"B x\", x.a FROM public.t AS x"),
        (
            "SELECT * FROM t NATURAL JOIN u",
            "SELECT a, t.\"B x\", u.z FROM public.t JOIN public.u USING(a)",
        ),
        (
            "SELECT z FROM (SELECT * FROM u) AS s",
            "SELECT s.z FROM (SELECT u.a, u.z FROM public.u) AS s",
        ),
        (
            "SELECT z AS k FROM u WHERE EXISTS (SELECT FROM t WHERE t.a = z - z) ORDER BY k",
            "SELECT u.z AS k FROM public.u WHERE EXISTS (SELECT FROM public.t WHERE t.a = u.z - u.z) ORDER BY k",
        ),
    ] {
        let columns = if query.contains("x.*") { "(one, two, three)" } else { "" };
        run(&mut session, &format!("CREATE VIEW v {columns} AS {query}"));
        let own = rows(&mut session, "SELECT definition FROM nodewise.views");
        assert_eq!(own, [kept], "{query}");
        // What was written means the same.
        run(&mut session, &format!("CREATE VIEW w {columns} AS {kept}; DROP VIEW w; DROP VIEW v"));
    }
}

#[test]
fn kept_plans_follow_the_views_that_they_go_through() {
    let mut session = session();
    run(&mut session, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)");
    run(&mut session, "CREATE VIEW under AS SELECT a FROM t; CREATE VIEW v AS SELECT a FROM under");
    run(&mut session, "PREPARE p AS SELECT a FROM v WHERE a < $1");
    for _ in 0..2 {
        assert_eq!(rows(&mut session, "SELECT a FROM v"), ["1", "2"]);
        assert_eq!(rows(&mut session, "EXECUTE p (2)"), ["1"]);
    }
    run(&mut session, "CREATE OR REPLACE VIEW under AS SELECT a + 10 AS a FROM t");
    assert_eq!(rows(&mut session, "SELECT a FROM v"), ["11", "12"]);
    assert!(rows(&mut session, "EXECUTE p (2)").is_empty());
    run(&mut session, "INSERT INTO t VALUES (-9)");
    assert_eq!(rows(&mut session, "SELECT a FROM v"), ["1", "11", "12"]);
    assert_eq!(rows(&mut session, "EXECUTE p (2)"), ["1"]);
}

#[test]
fn many_views_in_one_another_end_with_an_error_and_not_with_the_stack() {
    let mut session = session();
    run(&mut session, "CREATE VIEW v0 AS SELECT 1 AS a");
    let mut state = None;
    for number in 1..200 {
        let sql = format!("CREATE VIEW v{number} AS SELECT a FROM v{}", number - 1);
        if let Err(error) = session.execute(&sql) {
            state = Some((number, error.state.0));
            break;
        }
    }
    let (number, state) = state.expect("there is an end");
    assert!(number > 50, "{number}");
    assert_eq!(state, "54001");
    run(&mut session, "DROP VIEW v0 CASCADE");
    assert_eq!(rows(&mut session, "SELECT count(*) FROM nodewise.views"), ["0"]);
}

#[test]
fn an_export_makes_views_again() {
    let folder = std::env::temp_dir().join(format!("nodewise-{}-views", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut first = session();
    run(&mut first, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)");
    run(
        &mut first,
        "CREATE VIEW z (n) AS SELECT a + 1 FROM t; CREATE VIEW b AS SELECT sum(n) AS s FROM z",
    );
    run(&mut first, &format!("EXPORT DATABASE '{}'", folder.display()));
    let mut second = session();
    run(&mut second, &format!("IMPORT DATABASE '{}'", folder.display()));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(rows(&mut second, "SELECT s FROM b"), ["5"]);
    let all = "SELECT * FROM nodewise.views";
    assert_eq!(rows(&mut first, all), rows(&mut second, all));
}
