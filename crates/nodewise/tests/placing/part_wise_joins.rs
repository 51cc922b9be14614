//! Joins of tables that are hashed alike, and groupings that tell parts apart, run part by part on the nodes of the parts,
//! and give the same rows as those of tables in one piece.

use crate::common::sorted_texts;
use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

/// Tables `t` and `u` in one piece, `tp` and `up` in four parts by `k`, `uq` by another column. Keys repeat, some are NULL,
/// and each side has some that the other lacks.
fn session(thousands: usize) -> Session {
    session_on("four_sockets", thousands)
}

fn session_on(machine: &str, thousands: usize) -> Session {
    let topology = samples::by_name(machine).expect("a sample machine");
    let machine: Arc<dyn Machine> = SimulatedMachine::new(topology, 5);
    let mut session =
        Database::open(machine, DatabaseOptions::default()).expect("the database opens").session();
    let hashed = |to: &str, key: &str, from: &str| {
        format!("CREATE TABLE {to} PARTITION BY HASH ({key}) PARTITIONS 4 AS SELECT * FROM {from};")
    };
    let sql = format!(
        "SET strategy = bound;
         CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE n AS SELECT CAST(a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS BIGINT) AS n \
            FROM d a, d b, d c, d e;
         CREATE TABLE h AS SELECT n FROM n WHERE n < {thousands};
         CREATE TABLE t AS SELECT CASE WHEN n.n % 97 > 0 THEN (n.n + 10000 * h.n) * 7919 % 30011 END AS k, \
            n.n % 7 AS j, n.n + 10000 * h.n AS v, 'text ' || n.n % 977 AS s FROM n, h;
         CREATE TABLE u AS SELECT CASE WHEN n.n % 89 > 0 THEN n.n * 4649 % 60013 END AS k, n.n % 5 AS j, n.n AS w, \
            'word ' || n.n % 71 AS r FROM n;
         {}{}{}",
        hashed("tp", "k", "t"),
        hashed("up", "k", "u"),
        hashed("uq", "w", "u"),
    );
    session.execute(&sql).expect("the tables are filled");
    session
}

fn query(session: &mut Session, sql: &str) -> Vec<String> {
    sorted_texts(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).batches)
}

/// Joins and groupings of a query that ran part by part.
fn part_wise(session: &mut Session, sql: &str) -> usize {
    let lines = query(session, &format!("EXPLAIN ANALYZE {sql}"));
    let steps = lines.iter().filter(|it| it.contains("4 parts on their nodes"));
    steps.filter(|it| it.contains("probe") || it.contains("aggregate ")).count()
}

/// Bytes of an item on the worker's node and on others that a query adds to the traffic.
fn traffic(session: &mut Session, item: &str, sql: &str) -> (u64, u64) {
    let sum = format!(
        "SELECT coalesce(sum(CASE WHEN running_node = memory_node THEN bytes END), 0) || ' ' || sum(bytes) \
         FROM nodewise.traffic WHERE item = '{item}'"
    );
    let sums = |session: &mut Session| {
        let text = query(session, &sum).remove(0);
        let (local, all) = text.split_once(' ').expect("two numbers");
        (local.parse::<u64>().expect("a number"), all.parse::<u64>().expect("a number"))
    };
    let before = sums(session);
    query(session, sql);
    let after = sums(session);
    (after.0 - before.0, after.1 - after.0 - (before.1 - before.0))
}

#[test]
fn traffic_tells_joins_groups_and_sorts_apart() {
    let mut session = session(10);
    let mut share = |item: &str, sql: &str| {
        let (local, remote) = traffic(&mut session, item, sql);
        assert!(local + remote > 0, "{item}: {sql}");
        local as f64 / (local + remote) as f64
    };
    assert_eq!(share("joins", "SELECT count(*), sum(w) FROM tp JOIN up ON tp.k = up.k"), 1.0);
    let dealt = share("joins", "SELECT count(*), sum(w) FROM t JOIN u ON t.k = u.k");
    assert!((0.3..0.9).contains(&dealt), "collected locally, dealt round, {dealt}");
    assert_eq!(share("groups", "SELECT k, count(*) FROM tp GROUP BY k"), 1.0);
    let merged = share("groups", "SELECT v, s, count(*) FROM t GROUP BY v, s");
    assert!((0.5..0.7).contains(&merged), "written locally, merged from all nodes: {merged}");
    let sorted = share("sorts", "SELECT v, s FROM t ORDER BY s, v");
    assert!((0.6..0.65).contains(&sorted), "written locally, merged from all nodes: {sorted}");
    // A scan alone touches none of these.
    for item in ["joins", "groups", "sorts"] {
        let scan = "SELECT v FROM t WHERE v < 17";
        assert_eq!(traffic(&mut session, item, scan), (0, 0), "{item}");
    }
}

#[test]
fn explain_says_where_tables_and_groups_will_lie_and_why() {
    let mut session = session(2);
    let mut says = |sql: &str, what: &str| {
        let lines = query(&mut session, &format!("EXPLAIN {sql}"));
        assert_eq!(lines.iter().filter(|it| it.contains(what)).count(), 1, "{sql}: {lines:?}");
    };
    says("SELECT sum(v) FROM tp JOIN up ON tp.k = up.k", "table: one for each part on its node");
    says("SELECT sum(v) FROM tp JOIN uq ON tp.k = uq.k", "table: dealt round the nodes");
    says("SELECT k, sum(v) FROM tp GROUP BY k", "groups: each part's on its node");
    says("SELECT j, sum(v) FROM tp GROUP BY j", "groups: on the nodes of their workers");
    let json = query(&mut session, "EXPLAIN (FORMAT JSON) SELECT k, sum(v) FROM tp GROUP BY k");
    assert!(json[0].contains("\"placement\": \"groups: each part's"), "{json:?}");
    let machine: Arc<dyn Machine> = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 5);
    let one_node = Database::open(machine, DatabaseOptions::default()).unwrap();
    let mut session = one_node.session();
    session.execute("CREATE TABLE t AS SELECT 1 AS a").unwrap();
    let lines = query(&mut session, "EXPLAIN SELECT count(*) FROM t JOIN t u USING (a)");
    assert!(!lines.iter().any(|it| it.contains("table:")), "{lines:?}");
}

/// Joins by `k` of the tables `T` and `U`.
const JOINS: [&str; 15] = [
    "SELECT count(*), sum(v), sum(w) FROM T JOIN U ON T.k = U.k",
    "SELECT T.s, U.r, T.k, v, w FROM T JOIN U ON T.k = U.k WHERE v < 500",
    "SELECT T.s, U.r, v FROM T JOIN U USING (k, j) WHERE v % 10 = 3",
    "SELECT v, w, r FROM T LEFT JOIN U ON T.k = U.k WHERE v % 50 = 1",
    "SELECT v, w, r FROM U LEFT JOIN T ON T.k = U.k AND v > w WHERE w % 20 < 2",
    "SELECT v, w, s FROM T RIGHT JOIN U ON T.k = U.k AND T.j = U.j",
    "SELECT count(*), count(v), count(w), sum(v - w) FROM T FULL JOIN U ON T.k = U.k",
    "SELECT sum(v), count(*) FROM T WHERE EXISTS (SELECT 1 FROM U WHERE U.k = T.k)",
    "SELECT sum(v), count(*) FROM T WHERE EXISTS (SELECT 1 FROM U WHERE U.k = T.k AND w <> v)",
    "SELECT sum(v), count(*) FROM T WHERE NOT EXISTS (SELECT 1 FROM U WHERE U.k = T.k)",
    "SELECT sum(w) FROM U WHERE k IN (SELECT k FROM T WHERE v % 3 = 0)",
    "SELECT sum(v) FROM T WHERE v < 100 OR EXISTS (SELECT 1 FROM U WHERE U.k = T.k AND w < 5000)",
    "SELECT U.k, r, count(*), sum(v) FROM T JOIN U ON T.k = U.k GROUP BY U.k, r, w",
    "SELECT U.k, w, r, sum(v) AS x FROM T JOIN U ON T.k = U.k GROUP BY U.k, w, r ORDER BY x DESC, U.k, w LIMIT 20",
    "SELECT a.v, w, b.v FROM T a JOIN U ON a.k = U.k JOIN T b ON b.k = U.k WHERE a.v < 2000 AND b.v % 5 = 0",
];

/// Groupings by `k`, and what is joined to their groups.
const GROUPINGS: [&str; 10] = [
    "SELECT k, count(*), sum(v) FROM T GROUP BY k",
    "SELECT k, j, min(s), max(v), count(DISTINCT v % 3) FROM T GROUP BY k, j",
    "SELECT count(*) FROM (SELECT DISTINCT k, s FROM T) x",
    "SELECT j, k, avg(v) FROM T GROUP BY j, k HAVING count(*) > 1",
    "SELECT k, count(*) FROM T WHERE v < 0 GROUP BY k",
    "SELECT (SELECT max(w) FROM U WHERE U.k = T.k), v FROM T WHERE v % 100 = 7",
    "SELECT s, x.c FROM T JOIN (SELECT k, count(*) AS c FROM U GROUP BY k) x ON x.k = T.k WHERE v % 9 = 1",
    "SELECT sum(v) FROM T WHERE k IN (SELECT k FROM T GROUP BY k HAVING count(*) > 1)",
    "SELECT x.k, x.c, y.c FROM (SELECT k, count(*) AS c FROM T GROUP BY k) x FULL JOIN (SELECT k, sum(w) AS c FROM U GROUP BY k) y ON x.k = y.k",
    "SELECT k, sum(c) FROM (SELECT k, j, count(*) AS c FROM T GROUP BY k, j) x GROUP BY k",
];

/// A text with the names of two tables.
fn named(sql: &str, t: &str, u: &str) -> String {
    let name = |word: &str| match word {
        "T" => t.to_owned(),
        "U" => u.to_owned(),
        other => other.to_owned(),
    };
    let mut text = String::new();
    for piece in sql.split_inclusive(|it: char| !it.is_alphanumeric()) {
        let word = piece.trim_end_matches(|it: char| !it.is_alphanumeric());
        text += &name(word);
        text += &piece[word.len()..];
    }
    text
}

fn same_rows(thousands: usize) {
    let mut session = session(thousands);
    for sql in JOINS {
        let expected = query(&mut session, &named(sql, "t", "u"));
        let sql = named(sql, "tp", "up");
        assert_eq!(query(&mut session, &sql), expected, "{sql}");
        assert!(part_wise(&mut session, &sql) > 0, "{sql}");
    }
    for sql in GROUPINGS {
        let expected = query(&mut session, &named(sql, "t", "u"));
        let sql = named(sql, "tp", "up");
        assert_eq!(query(&mut session, &sql), expected, "{sql}");
        assert!(part_wise(&mut session, &sql) > 0, "{sql}");
    }
}

#[test]
fn joins_part_by_part_give_the_same_rows() {
    same_rows(4);
}

#[test]
fn small_joins_part_by_part_give_the_same_rows() {
    same_rows(1);
}

#[test]
fn joins_part_by_part_on_one_node_give_the_same_rows() {
    let mut session = session_on("laptop", 2);
    for sql in JOINS.into_iter().chain(GROUPINGS) {
        let expected = query(&mut session, &named(sql, "t", "u"));
        let sql = named(sql, "tp", "up");
        assert_eq!(query(&mut session, &sql), expected, "{sql}");
        assert!(part_wise(&mut session, &sql) > 0, "{sql}");
    }
}

#[test]
fn texts_and_floats_tell_parts_as_well() {
    let mut session = session(1);
    // Blanks at the end of CHAR, both zeros and NaN: what is equal is in one part.
    session
        .execute(
            "CREATE TABLE a AS SELECT 'word ' || n % 701 AS s, CAST('v' || n % 83 AS VARCHAR(9)) AS w, \
                CAST('c' || n % 97 || CASE n % 2 WHEN 0 THEN '  ' ELSE '' END AS CHAR(9)) AS c, \
                CAST(CASE n % 60 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN '1e300' \
                    ELSE n % 60 || '.5' END AS DOUBLE PRECISION) AS f, \
                CAST(CASE n % 7 WHEN 0 THEN '-0' ELSE n % 7 || '.25' END AS REAL) AS r, n AS v FROM n WHERE n < 4000;
             CREATE TABLE b AS SELECT * FROM a WHERE v % 11 = 3",
        )
        .unwrap();
    for key in ["s", "w", "c", "f", "r"] {
        for table in ["a", "b"] {
            let sql = format!(
                "CREATE TABLE {table}_{key} PARTITION BY HASH ({key}) PARTITIONS 4 AS SELECT * FROM {table}"
            );
            session.execute(&sql).unwrap();
        }
        for sql in [
            "SELECT count(*), sum(x.v), sum(y.v) FROM A x JOIN B y ON x.K = y.K",
            "SELECT x.v, y.v FROM A x LEFT JOIN B y ON x.K = y.K WHERE x.v < 300",
            "SELECT sum(v) FROM A x WHERE NOT EXISTS (SELECT 1 FROM B y WHERE x.K = y.K)",
            "SELECT K, count(*), sum(v) FROM A GROUP BY K",
        ] {
            let sql = sql.replace('K', key);
            let expected = query(&mut session, &sql.replace('A', "a").replace('B', "b"));
            assert_ne!(expected, [""; 0], "{sql}");
            // Names of tables only: the rest of the text has these letters, too.
            let word = |table: &str, name: &str| (format!("FROM {table}"), format!("FROM {name}"));
            let parts = [word("A", &format!("a_{key}")), word("B", &format!("b_{key}"))];
            let parts =
                parts.iter().fold(sql.replace("JOIN B", &format!("JOIN b_{key}")), |sql, it| {
                    sql.replace(&it.0, &it.1)
                });
            assert_eq!(query(&mut session, &parts), expected, "{parts}");
            assert!(part_wise(&mut session, &parts) > 0, "{parts}");
        }
    }
}

#[test]
fn what_is_not_cut_alike_is_joined_as_a_whole() {
    let mut session = session(2);
    for sql in [
        "SELECT count(*), sum(v) FROM tp JOIN uq ON tp.k = uq.k",
        "SELECT count(*), sum(v) FROM tp JOIN up ON tp.j = up.j AND tp.v = up.w",
        "SELECT count(*), sum(v) FROM tp WHERE k NOT IN (SELECT k FROM up)",
        "SELECT count(*), sum(v) FROM tp JOIN u ON tp.k = u.k",
        "SELECT count(*), sum(v) FROM tp JOIN up ON tp.k + 1 = up.k",
    ] {
        let expected =
            query(&mut session, &sql.replace("tp", "t").replace("up", "u").replace("uq", "u"));
        assert_eq!(query(&mut session, sql), expected, "{sql}");
        assert!(part_wise(&mut session, sql) == 0, "{sql}");
    }
    session.execute("ALTER TABLE up PARTITION BY HASH (k) PARTITIONS 3").unwrap();
    let sql = "SELECT count(*), sum(v) FROM tp JOIN up ON tp.k = up.k";
    assert!(part_wise(&mut session, sql) == 0, "four parts and three");
    session.execute("ALTER TABLE up PARTITION BY HASH (k) PARTITIONS 4").unwrap();
    assert!(part_wise(&mut session, sql) > 0, "a plan that is kept follows the tables");
}
