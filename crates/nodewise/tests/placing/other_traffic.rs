//! What reaches memory beside columns, joins, groups and sorts, as `nodewise.traffic` counts it, on simulated machines with four
//! nodes: bitmaps, dictionaries, results.

use crate::common::sorted_texts;
use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::Bytes;
use stdx::sync::Arc;

/// Rows of the tests' tables.
const ROWS: u64 = 1_000_000;
/// Of caches that hold no large dictionary.
const CACHE: Bytes = Bytes(16 << 10);

/// A session on four nodes with a table of [`ROWS`] rows: `a` and `b` of 20 and 16 bits without an order, `v` of 20,000 large
/// numbers and `s` of as many texts, which have dictionaries, and `w` of a hundred numbers.
fn session() -> Session {
    let topology = hardware::Topology { llc_bytes: CACHE, ..samples::four_sockets() };
    let machine: Arc<dyn Machine> = SimulatedMachine::new(topology, 5);
    let mut session = Database::open(machine, DatabaseOptions::default()).unwrap().session();
    let sql = "SET strategy = bound; SET default_placement = rr;
         CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM d a, d b, d c;
         CREATE TABLE t AS SELECT (l.n + 1000 * h.n) * 7919 % 1000003 AS a, \
            (l.n + 1000 * h.n) * 4649 % 65521 AS b, (l.n + 1000 * h.n) % 20000 * 7919000041 AS v, \
            'word ' || (l.n + 1000 * h.n) % 20000 AS s, l.n % 100 AS w FROM k l, k h";
    session.execute(sql).unwrap();
    session
}

/// Bytes of an item on the worker's node and on others that a query adds to the traffic.
fn traffic(session: &mut Session, item: &str, sql: &str) -> (u64, u64) {
    let sum = format!(
        "SELECT sum(CASE WHEN running_node = memory_node THEN bytes ELSE 0 END) || ' ' || sum(bytes) \
         FROM nodewise.traffic WHERE item = '{item}'"
    );
    let sums = |session: &mut Session| {
        let text = sorted_texts(&session.query(&sum).unwrap().batches).remove(0);
        let (local, all) = text.split_once(' ').unwrap();
        (local.parse::<u64>().unwrap(), all.parse::<u64>().unwrap())
    };
    let before = sums(session);
    session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let after = sums(session);
    (after.0 - before.0, after.1 - after.0 - (before.1 - before.0))
}

#[test]
fn bitmaps_of_tests_ahead_are_written_and_read_round_the_nodes() {
    let mut session = session();
    let moved =
        "ALTER TABLE t ALTER COLUMN a NUMA NODE (0); ALTER TABLE t ALTER COLUMN b NUMA NODE (3)";
    session.execute(moved).unwrap();
    let sql = "SELECT sum(b) FROM t WHERE a < 500000";
    let answer = session.query(sql).unwrap();
    assert!(answer.profile.pipelines.iter().any(|it| it.source.contains("ahead on")));
    let (local, remote) = traffic(&mut session, "bitmaps", sql);
    // Each worker writes or reads a share of each node, and shares are whole bytes.
    let all = local + remote;
    assert!((2 * ROWS / 8 - 400..=2 * ROWS / 8 + 400).contains(&all), "{local} {remote}");
    assert!((all / 4 - 400..all / 4 + 400).contains(&local), "{local} {remote}");
    let none = traffic(&mut session, "bitmaps", "SELECT sum(b) FROM t WHERE b < 500");
    assert_eq!(none, (0, 0), "the scan keeps its own tests to itself");
}

#[test]
fn tests_that_scans_share_leave_bitmaps() {
    let mut session = session();
    let sql = "SELECT count(*) FROM t x JOIN t y ON x.a = y.a \
               WHERE x.s LIKE '%7%' AND y.s LIKE '%7%' AND x.b < 100";
    let (local, remote) = traffic(&mut session, "bitmaps", sql);
    assert!(local + remote > ROWS / 8, "written once, read once: {local} {remote}");
}

#[test]
fn values_of_large_dictionaries_are_fetched_from_where_they_lie() {
    let mut session = session();
    let sql = "SELECT sum(v) FROM t WHERE w < 50";
    session.execute("ALTER TABLE t ALTER COLUMN v NUMA NODE (2)").unwrap();
    let (local, remote) = traffic(&mut session, "dictionaries", sql);
    // A line for each value at most, and a few for each batch at least.
    let looks = ROWS / 2 * 64;
    assert!((looks / 64..=looks).contains(&(local + remote)), "{local} {remote}");
    assert!(local > remote, "read on its node: {local} {remote}");
    for small in ["SELECT sum(w) FROM t", "SELECT sum(b) FROM t WHERE a < 10"] {
        assert_eq!(traffic(&mut session, "dictionaries", small), (0, 0), "{small}");
    }
}

#[test]
fn codes_of_parts_are_translated_on_their_nodes() {
    let mut session = session();
    let sql = "SELECT count(DISTINCT s) FROM t WHERE w < 50";
    assert_eq!(traffic(&mut session, "dictionaries", sql), (0, 0), "codes are those of the table");
    session.execute("ALTER TABLE t PARTITION BY HASH (s) PARTITIONS 4").unwrap();
    let (local, remote) = traffic(&mut session, "dictionaries", sql);
    assert!(local > 0 && remote == 0, "{local} {remote}");
}

#[test]
fn results_are_written_where_their_workers_run_and_read_there() {
    let mut session = session();
    let (local, remote) = traffic(&mut session, "results", "SELECT a, s FROM t WHERE b < 32768");
    // Kept, read again, and made into what a client gets: a number of 8 bytes, and a code that becomes a text.
    let rows = ROWS / 2;
    let least = rows * (2 * (8 + 4) + 8 + 4 + 9);
    assert!((least..least + rows * 8).contains(&(local + remote)), "{local} {remote}");
    assert!(local > 9 * remote, "{local} {remote}");
    let (local, remote) = traffic(&mut session, "dictionaries", "SELECT s FROM t WHERE b < 32768");
    assert!(local + remote > rows, "texts of the answer: {local} {remote}");
    // Groups and sorted rows are kept for who reads them, too.
    for (sql, rows) in [
        ("SELECT sum(c) FROM (SELECT a, count(*) AS c FROM t GROUP BY a) x WHERE c > 0", ROWS),
        ("SELECT sum(a) FROM (SELECT a FROM t ORDER BY b, a OFFSET 1) x", ROWS),
    ] {
        let (local, remote) = traffic(&mut session, "results", sql);
        assert!(local + remote >= 2 * rows * 8, "{sql}: {local} {remote}");
    }
}
