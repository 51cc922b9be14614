//! WITH RECURSIVE prepared, explained, and ended by LIMIT; DESCRIBE and its like.

use hardware::samples;
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;

fn session(machine: &str) -> Session {
    let machine = SimulatedMachine::new(samples::by_name(machine).unwrap(), 5);
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
    rows
}

fn state(session: &mut Session, sql: &str) -> &'static str {
    session.query(sql).unwrap_err().state.0
}

const COUNTED: &str = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < $1) \
                       SELECT count(*), sum(n) FROM t WHERE n <> $2";

#[test]
fn a_prepared_statement_takes_its_values_into_all_rounds() {
    for machine in ["laptop", "four_sockets"] {
        let mut session = session(machine);
        session.execute(&format!("PREPARE p AS {COUNTED}")).unwrap();
        assert_eq!(rows(&mut session, "EXECUTE p (10, 3)"), ["9|52"]);
        assert_eq!(rows(&mut session, "EXECUTE p (4, 0)"), ["4|10"]);
    }
}

#[test]
fn explain_shows_both_terms() {
    let mut session = session("laptop");
    let sql = "EXPLAIN WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n + 1 FROM t WHERE n < 5) SELECT n FROM t";
    let text = rows(&mut session, sql).join("\n");
    assert!(text.contains("recursive t, first:"), "{text}");
    assert!(text.contains("recursive t, each other round:"), "{text}");
    let sql = sql.replace("EXPLAIN", "EXPLAIN ANALYZE");
    assert!(rows(&mut session, &sql).join("\n").contains("actual: 5 rows"));
}

#[test]
fn a_limit_ends_what_never_ends() {
    let mut session = session("laptop");
    let endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t)";
    assert_eq!(rows(&mut session, &format!("{endless} SELECT n FROM t LIMIT 3")).len(), 3);
    let all = format!("{endless} SELECT count(*) FROM (SELECT n * 2 FROM t LIMIT 7 OFFSET 5) s");
    assert_eq!(rows(&mut session, &all), ["7"]);
}

#[test]
fn describe_tells_columns() {
    let mut session = session("laptop");
    session
        .execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR(7) DEFAULT 'x', c DECIMAL(5, 2) UNIQUE NOT NULL)")
        .unwrap();
    let expected = [
        "a|integer|NO|PRI|NULL|NULL",
        "b|character varying(7)|YES|NULL|'x'|NULL",
        "c|numeric(5,2)|NO|UNI|NULL|NULL",
    ];
    assert_eq!(rows(&mut session, "DESCRIBE t"), expected);
    assert_eq!(
        rows(&mut session, "DESCRIBE SELECT a + 1 AS n, b FROM t"),
        ["n|integer|YES|NULL|NULL|NULL", "b|character varying(7)|YES|NULL|NULL|NULL"]
    );
    session.execute("CREATE VIEW v AS SELECT a FROM t; SELECT a, b INTO u FROM t").unwrap();
    assert_eq!(rows(&mut session, "SHOW TABLES"), ["t", "u", "v"]);
    assert!(rows(&mut session, "SHOW ALL").iter().any(|it| it.starts_with("memory_limit|")));
    assert_eq!(state(&mut session, "DESCRIBE nothing"), "42P01");
    assert_eq!(state(&mut session, "DESCRIBE INSERT INTO t VALUES (1)"), "42601");
}
