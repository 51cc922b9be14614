//! Joins whose rows go to the nodes of their keys give the same rows as those that look into a table dealt round the nodes,
//! and look into memory of their own node.

use crate::common::sorted_texts;
use hardware::{Machine, Topology, samples};
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

/// Tables `t` of so many thousand rows and `u`; keys repeat, some are NULL, and each side has some that the other lacks.
fn session(topology: Topology, workers: Option<usize>, thousands: usize) -> Session {
    let machine: Arc<dyn Machine> = SimulatedMachine::new(topology, 7);
    let options = DatabaseOptions { workers, ..DatabaseOptions::default() };
    let mut session = Database::open(machine, options).expect("the database opens").session();
    let sql = format!(
        "CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE n AS SELECT CAST(a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS BIGINT) AS n \
            FROM d a, d b, d c, d e;
         CREATE TABLE h AS SELECT n FROM n WHERE n < {thousands};
         CREATE TABLE t AS SELECT CASE WHEN n.n % 97 > 0 THEN (n.n + 1000 * h.n) * 7919 % 30011 END AS k, \
            n.n % 7 AS j, n.n + 1000 * h.n AS v, 'text ' || n.n % 977 AS s, n.n % 1000 / 8.0::double precision AS f \
            FROM n, h WHERE n.n < 1000;
         CREATE TABLE u AS SELECT CASE WHEN n.n % 89 > 0 THEN n.n * 4649 % 60013 END AS k, n.n % 5 AS j, n.n AS w, \
            'text ' || n.n % 1201 AS r, n.n % 500 / 4.0::double precision AS g FROM n"
    );
    session.execute(&sql).expect("the tables are filled");
    session
}

fn query(session: &mut Session, sql: &str) -> Vec<String> {
    sorted_texts(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).batches)
}

/// Joins of a query that looked up by node.
fn by_node(session: &mut Session, sql: &str) -> usize {
    let lines = query(session, &format!("EXPLAIN ANALYZE {sql}"));
    lines.iter().filter(|it| it.contains("probe") && it.contains("nodes by key")).count()
}

/// What does not rest on all rows at once: these exchange rows.
const JOINS: [&str; 20] = [
    "SELECT count(*), sum(v), sum(w) FROM t JOIN u ON t.k = u.k",
    "SELECT t.s, u.r, t.k, v, w FROM t JOIN u ON t.k = u.k WHERE v < 900",
    "SELECT t.s, u.r, v FROM t JOIN u USING (k, j) WHERE v % 10 = 3",
    "SELECT v, w, r FROM t LEFT JOIN u ON t.k = u.k WHERE v % 50 = 1",
    "SELECT v, w, r FROM u LEFT JOIN t ON t.k = u.k AND v > w WHERE w % 20 < 2",
    "SELECT v, w, s FROM t RIGHT JOIN u ON t.k = u.k AND t.j = u.j",
    "SELECT count(*), count(v), count(w), sum(v - w) FROM t FULL JOIN u ON t.k = u.k",
    "SELECT sum(v), count(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
    "SELECT sum(v), count(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND w <> v)",
    "SELECT sum(v), count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
    "SELECT sum(w) FROM u WHERE k IN (SELECT k FROM t WHERE v % 3 = 0)",
    "SELECT sum(w) FROM u WHERE k NOT IN (SELECT k FROM t WHERE v % 3 = 0 AND k IS NOT NULL)",
    "SELECT sum(v) FROM t WHERE v < 100 OR EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND w < 5000)",
    "SELECT u.k, r, count(*), sum(v) FROM t JOIN u ON t.k = u.k GROUP BY u.k, r, w",
    "SELECT u.k, w, r, sum(v) AS x FROM t JOIN u ON t.k = u.k GROUP BY u.k, w, r ORDER BY x DESC, u.k, w LIMIT 20",
    "SELECT a.v, w, b.v FROM t a JOIN u ON a.k = u.k JOIN t b ON b.k = u.k WHERE a.v < 2000 AND b.v % 5 = 0",
    "SELECT s, count(*), sum(w), min(k), sum(f) FROM (SELECT s, w, u.k, f FROM t JOIN u ON t.s = u.r) x GROUP BY s",
    "SELECT count(*), sum(v), sum(w), avg(f) FROM t JOIN u ON t.f = u.g WHERE v < 3000",
    "SELECT v, (SELECT max(w) FROM u WHERE u.k = t.k) FROM t WHERE v % 100 = 7",
    "SELECT v, w FROM t JOIN u ON t.k = u.k ORDER BY v, w LIMIT 50",
];

/// What cannot wait, or has no keys: these do not.
const OTHERS: [&str; 4] = [
    "SELECT count(*), sum(v) FROM t JOIN (SELECT * FROM u WHERE w < 9) x ON t.v > x.w WHERE v < 500",
    "SELECT count(*) FROM t WHERE v < 400 AND k NOT IN (SELECT k FROM u WHERE u.w > t.v)",
    "SELECT count(*) FROM (SELECT v FROM t JOIN u ON t.k = u.k LIMIT 100) x",
    "SELECT count(*) FROM t JOIN u ON t.k = u.k WHERE u.w < 0",
];

#[test]
fn exchanged_joins_give_the_same_rows_however_they_are_run() {
    for (machine, workers) in [("four_sockets", None), ("eight", None), ("ring", Some(3))] {
        let mut session = session(samples::by_name(machine).unwrap(), workers, 20);
        for (place, sql) in JOINS.into_iter().chain(OTHERS).enumerate() {
            session.execute("SET join_exchange = off; SET strategy = target").unwrap();
            let expected = query(&mut session, sql);
            session.execute("SET join_exchange = on").unwrap();
            for strategy in ["bound", "adaptive", "os", "target"] {
                session.execute(&format!("SET strategy = {strategy}")).unwrap();
                assert_eq!(query(&mut session, sql), expected, "{machine}, {strategy}: {sql}");
            }
            assert_eq!(by_node(&mut session, sql) > 0, place < JOINS.len(), "{machine}: {sql}");
        }
    }
}

#[test]
fn exchanged_joins_give_the_same_rows_with_little_memory() {
    let mut session = session(samples::four_sockets(), None, 60);
    for sql in JOINS {
        session.execute("SET join_exchange = off; SET memory_limit = DEFAULT").unwrap();
        let expected = query(&mut session, sql);
        session.execute("SET join_exchange = on").unwrap();
        for limit in ["24MB", "12MB"] {
            session.execute(&format!("SET memory_limit = '{limit}'")).unwrap();
            assert_eq!(query(&mut session, sql), expected, "{limit}: {sql}");
        }
    }
}

/// Bytes of joins on the worker's node and on others that a query adds to the traffic.
fn traffic(session: &mut Session, sql: &str) -> (u64, u64) {
    let sum = "SELECT coalesce(sum(CASE WHEN running_node = memory_node THEN bytes END), 0) || ' ' || sum(bytes) \
         FROM nodewise.traffic WHERE item = 'joins'";
    let sums = |session: &mut Session| {
        let text = query(session, sum).remove(0);
        let (local, all) = text.split_once(' ').expect("two numbers");
        (local.parse::<u64>().expect("a number"), all.parse::<u64>().expect("a number"))
    };
    let before = sums(session);
    query(session, sql);
    let after = sums(session);
    (after.0 - before.0, after.1 - after.0 - (before.1 - before.0))
}

/// With a small last-level cache, so that looks reach memory.
fn small_cache(name: &str) -> Topology {
    let mut topology = samples::by_name(name).unwrap();
    topology.llc_bytes = stdx::Bytes(64 << 10);
    topology
}

#[test]
fn rows_are_looked_up_at_home() {
    // Several columns of each partner are asked for, and few of the rows that look for it.
    let sql = "SELECT count(*), sum(w), sum(u.j), max(r), sum(g) FROM t LEFT JOIN u ON t.k = u.k";
    for (machine, nodes) in [("four_sockets", 4.0), ("eight", 8.0)] {
        let mut session = session(small_cache(machine), None, 100);
        session.execute("SET strategy = bound; SET join_exchange = off").unwrap();
        let (expected, before) = (query(&mut session, sql), traffic(&mut session, sql));
        session.execute("SET join_exchange = auto").unwrap();
        assert_eq!(query(&mut session, sql), expected);
        let after = traffic(&mut session, sql);
        let share = |(local, remote): (u64, u64)| local as f64 / (local + remote) as f64;
        let (one, two) = (share(before), share(after));
        println!(
            "{machine}: {one:.3} of {before:?} bytes local, {two:.3} of {after:?} by exchange"
        );
        assert!(one < 1.0 / nodes + 0.1, "{machine}: {before:?}");
        // With eight nodes each one's table fits into its cache, so that hardly anything but the rows on their way is left.
        assert!(two > 0.55 && after.1 * 10 < before.1, "{machine}: {before:?}, {after:?}");
    }
}

#[test]
fn explain_says_who_goes_where_and_why() {
    let mut session = session(small_cache("four_sockets"), None, 100);
    let says = |session: &mut Session, sql: &str, what: &str| {
        let lines = query(session, &format!("EXPLAIN {sql}"));
        assert!(lines.iter().any(|it| it.contains(what)), "{sql}: {what}: {lines:#?}");
    };
    let wide = "SELECT count(*), sum(w), sum(u.j), max(r), sum(g) FROM t JOIN u ON t.k = u.k";
    says(
        &mut session,
        wide,
        "table: one for each node, where rows of both sides go by their keys, as moving the rows costs about",
    );
    assert!(by_node(&mut session, wide) == 1);
    let first = "SELECT w FROM t JOIN u ON t.k = u.k LIMIT 3";
    says(&mut session, first, "table: dealt round the nodes, as the first rows are wanted soon");
    session.execute("SET join_exchange = off").unwrap();
    says(
        &mut session,
        wide,
        "table: dealt round the nodes, as rows that join may be on any of them",
    );
    assert!(by_node(&mut session, wide) == 0);
    session.execute("SET join_exchange = DEFAULT; SET strategy = os").unwrap();
    says(&mut session, wide, "table: dealt round the nodes");
    let error = session.execute("SET join_exchange = perhaps").unwrap_err();
    assert_eq!(error.state.0, "22023");
    let mut large = self::session(samples::four_sockets(), None, 1);
    says(&mut large, wide, "table: dealt round the nodes, as it fits into a cache");
}
