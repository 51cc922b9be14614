//! Scans run where their columns lie: what workers read of their own node, by placement, on simulated machines.

use crate::common::sorted_texts;
use hardware::{Machine, Topology, samples};
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

fn open(topology: Topology) -> Session {
    let machine: Arc<dyn Machine> = SimulatedMachine::new(topology, 11);
    let mut session =
        Database::open(machine, DatabaseOptions::default()).expect("the database opens").session();
    session.execute("SET strategy = bound").unwrap();
    session
}

/// A table of `thousands` times a thousand rows: four columns of 20, 16, 17 and 18 bits without an order, one with NULL, and
/// a text.
fn fill(session: &mut Session, placement: &str, thousands: usize) {
    session.execute(&format!("SET default_placement = '{placement}'")).unwrap();
    let sql = format!(
        "CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM d a, d b, d c;
         CREATE TABLE t AS SELECT (l.n + 1000 * h.n) * 7919 % 1000003 AS a, \
            (l.n + 1000 * h.n) * 4649 % 65521 AS b, (l.n + 1000 * h.n) * 3571 % 131071 AS c, \
            (l.n + 1000 * h.n) * 6997 % 262139 AS e, \
            CASE WHEN (l.n + h.n) % 7 > 0 THEN (l.n * 31 + h.n * 17) % 30011 END AS f, \
            'text ' || l.n % 977 AS g FROM k l, k h WHERE h.n < {thousands}"
    );
    session.execute(&sql).expect("the table is filled");
}

/// What a query did.
struct Measured {
    answer: String,
    /// The share of its bytes that workers read of their own node.
    local: f64,
    /// Nodes that read any.
    readers: usize,
    /// Whether a test was made before its scan.
    ahead: bool,
}

fn measured(session: &mut Session, sql: &str) -> Measured {
    let traffic = |session: &mut Session| -> Vec<u64> {
        let sql = "SELECT sum(bytes) FROM nodewise.traffic WHERE item = 'columns' GROUP BY running_node ORDER BY running_node";
        let answer = session.query(sql).unwrap();
        let columns = answer.batches.iter().map(|it| (Cells::new(it.column(0)), it.num_rows()));
        let numbers = columns.flat_map(|(cells, rows)| {
            (0..rows).map(|row| cells.text(row).unwrap().parse().unwrap()).collect::<Vec<_>>()
        });
        numbers.collect()
    };
    let before = traffic(session);
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let after = traffic(session);
    // To ask for the traffic reads some bytes, too.
    let readers = after.iter().zip(&before).filter(|it| it.0 - it.1 > 1000).count();
    let (local, remote) = (answer.profile.bytes_local(), answer.profile.bytes_remote());
    Measured {
        answer: sorted_texts(&answer.batches).join(" / "),
        local: local as f64 / (local + remote).max(1) as f64,
        readers,
        ahead: answer.profile.pipelines.iter().any(|it| it.source.contains("ahead on")),
    }
}

/// Queries with tests of several columns, and what of their bytes is local at least when each column is on a node of its own.
const TESTS: [(&str, f64); 9] = [
    ("SELECT sum(e), count(*) FROM t WHERE a < 30000 AND b < 30000 AND c < 60000", 0.95),
    ("SELECT count(*) FROM t WHERE a < 500000 AND b < 30000", 0.95),
    ("SELECT a, e FROM t WHERE b < 50 AND c < 100000", 0.95),
    ("SELECT max(a) FROM t WHERE a < 700000", 0.95),
    ("SELECT count(*), min(g) FROM t WHERE g LIKE 'text 1%' AND f < 1000 AND b > 5", 0.7),
    ("SELECT sum(f) FROM t WHERE f IS NULL OR f BETWEEN 10 AND 20", 0.95),
    ("SELECT sum(e) FROM t WHERE b < c AND a <> 17", 0.5),
    // What is summed in every row of several columns is read in one place.
    ("SELECT b % 10, sum(e) FROM t WHERE a BETWEEN 1000 AND 900000 GROUP BY b % 10", 0.65),
    ("SELECT sum(t.e) FROM t, k WHERE t.b = k.n AND k.n % 3 = 0 AND t.a < 400000", 0.9),
];

fn answers(topology: Topology, thousands: usize) -> Vec<String> {
    let mut session = open(topology);
    fill(&mut session, "auto", thousands);
    TESTS.iter().map(|it| measured(&mut session, it.0).answer).collect()
}

#[test]
fn tests_are_made_where_their_columns_lie() {
    let expected = answers(samples::laptop(), 700);
    for topology in [samples::four_sockets(), samples::ring(), samples::sub_numa()] {
        let name = topology.name.clone();
        let mut session = open(topology);
        fill(&mut session, "rr", 700);
        for ((sql, least), expected) in TESTS.iter().zip(&expected) {
            let found = measured(&mut session, sql);
            println!("{name} {:.3} {} {} {sql}", found.local, found.readers, found.ahead);
            assert_eq!(&found.answer, expected, "{name}: {sql}");
            // On sub-NUMA nodes a column is dealt round those of its socket: half of it is local there.
            let least = if name.contains("sub") { least / 2.0 } else { *least };
            assert!(found.local >= least, "{name}: {:.3} of {sql}", found.local);
        }
    }
}

#[test]
fn explain_analyze_names_what_was_tested_ahead() {
    let mut session = open(samples::four_sockets());
    fill(&mut session, "rr", 700);
    let sql = format!("EXPLAIN ANALYZE {}", TESTS[0].0);
    let text = sorted_texts(&session.query(&sql).unwrap().batches).join(" / ");
    assert!(text.contains("3 of them ahead on nodes "), "{text}");
    assert!(text.contains("bits), ahead"), "{text}");
}

#[test]
fn nothing_is_tested_ahead_where_columns_lie_together() {
    let expected = answers(samples::laptop(), 700);
    for (topology, placement) in [
        (samples::laptop(), "rr"),
        (samples::four_sockets(), "ivp"),
        (samples::four_sockets(), "pp"),
        (samples::four_sockets(), "interleave"),
        (samples::ring(), "ivp"),
        (samples::sub_numa(), "ivp"),
    ] {
        // A stretch of rows is dealt round the sub-NUMA nodes of its socket.
        let least = match placement {
            "interleave" => 0.0,
            _ if topology.name.contains("sub") => 0.45,
            _ => 0.9,
        };
        let mut session = open(topology);
        fill(&mut session, placement, 700);
        for ((sql, _), expected) in TESTS.iter().zip(&expected) {
            let found = measured(&mut session, sql);
            assert_eq!(&found.answer, expected, "{placement}: {sql}");
            assert!(!found.ahead, "{placement}: {sql}");
            assert!(found.local >= least, "{placement}: {:.3} of {sql}", found.local);
        }
        session.execute("ALTER TABLE t NUMA NODE REPLICATE").unwrap();
        let found = measured(&mut session, TESTS[0].0);
        assert_eq!((&found.answer, found.ahead), (&expected[0], false), "copies are everywhere");
    }
}

#[test]
fn who_wants_a_few_rows_has_no_others_tested() {
    let mut session = open(samples::four_sockets());
    fill(&mut session, "rr", 700);
    let tests = "FROM t WHERE b < 60000 AND c < 130000";
    assert!(measured(&mut session, &format!("SELECT sum(a) {tests}")).ahead);
    for sql in [
        format!("SELECT a {tests} LIMIT 3"),
        format!("SELECT a, e {tests} ORDER BY a DESC LIMIT 3"),
    ] {
        let found = measured(&mut session, &sql);
        assert!(!found.ahead, "{sql}");
        assert_eq!(found.answer.split(" / ").count(), 3, "{sql}");
    }
}

#[test]
fn small_tables_are_read_by_the_nodes_of_their_parts() {
    let expected = answers(samples::laptop(), 40);
    for placement in ["rr", "ivp", "pp", "interleave"] {
        let mut session = open(samples::four_sockets());
        fill(&mut session, placement, 40);
        for ((sql, _), expected) in TESTS.iter().zip(&expected) {
            let found = measured(&mut session, sql);
            assert_eq!(&found.answer, expected, "{placement}: {sql}");
            // Columns as a whole, and what is dealt, are read on one node: 1 MiB is not worth more.
            let readers = if placement == "pp" { 4 } else { 1 };
            let join = usize::from(sql.contains("t, k"));
            assert!((readers..=readers + join).contains(&found.readers), "{placement}: {sql}");
            assert!(placement != "pp" || found.local > 0.95, "{:.3}: {sql}", found.local);
        }
    }
    let mut session = open(samples::four_sockets());
    fill(&mut session, "pp", 2);
    let few = measured(&mut session, TESTS[0].0);
    assert_eq!(few.readers, 1, "2,000 rows are not worth a worker on each node");
}

/// Each part is less than a sixteenth of the rows, which once made none of their nodes a home: all were read on the last.
#[test]
fn many_small_parts_are_read_by_the_nodes_of_each() {
    let mut session = open(samples::thirty_two());
    fill(&mut session, "pp", 100);
    session
        .execute(
            "CREATE TABLE p (a BIGINT, b BIGINT) PARTITION BY HASH (a) PARTITIONS 32;
             INSERT INTO p SELECT a, b FROM t",
        )
        .unwrap();
    for sql in ["SELECT sum(b), count(*) FROM p", "SELECT sum(a) FROM p WHERE b < 60000"] {
        let found = measured(&mut session, sql);
        assert_eq!(found.answer, measured(&mut session, &sql.replace("FROM p", "FROM t")).answer);
        assert!(found.readers >= 28, "{} nodes read of {sql}", found.readers);
        assert!(found.local > 0.9, "{:.3} of {sql}", found.local);
    }
}
