//! What queries keep lies where it is said to lie, on a simulated machine of four sockets.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

/// A session on four sockets with a table of 300,000 rows that has one part and one column on each of them.
fn session() -> Session {
    let machine: Arc<dyn Machine> = SimulatedMachine::new(samples::four_sockets(), 7);
    let mut session =
        Database::open(machine, DatabaseOptions::default()).expect("the database opens").session();
    let sql = "CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM d a, d b, d c;
         CREATE TABLE t AS SELECT (l.n + 1000 * h.n) * 7919000041 AS a, l.n * h.n AS b FROM k l, k h \
            WHERE h.n < 300;
         ALTER TABLE t ALTER COLUMN a NUMA NODE SPLIT (0 TO 3);
         ALTER TABLE t ALTER COLUMN b NUMA NODE SPLIT (0 TO 3)";
    session.execute(sql).expect("the table is filled");
    session
}

/// Bytes that are mapped on each node, in use or kept for the next query.
fn mapped(session: &mut Session) -> Vec<i64> {
    let sql = "SELECT memory_used FROM nodewise.nodes ORDER BY node";
    let batches = session.query(sql).expect(sql).batches;
    let column =
        |it: &arrow_array::RecordBatch| it.column(0).as_primitive::<Int64Type>().values().to_vec();
    batches.iter().flat_map(column).collect()
}

/// How much more each node has after a query.
fn more(session: &mut Session, sql: &str) -> Vec<i64> {
    let before = mapped(session);
    session.execute(sql).expect(sql);
    mapped(session).iter().zip(before).map(|(after, before)| after - before).collect()
}

#[test]
fn hash_tables_are_dealt_round_all_nodes() {
    let mut session = session();
    let sql = "SELECT count(*), sum(x.b + y.b) FROM t x JOIN t y ON x.a = y.a AND x.b >= y.b - 1";
    let added = more(&mut session, sql);
    let mean = added.iter().sum::<i64>() / 4;
    assert!(mean > 2 << 20, "directory, links, keys and values of 300,000 rows: {added:?}");
    let even = added.iter().all(|&it| it > mean * 3 / 4 && it < mean * 5 / 4);
    assert!(even, "{added:?}");
    let again = more(&mut session, sql);
    assert!(again.iter().sum::<i64>() < mean, "blocks are used again: {again:?}");
}

#[test]
fn keys_of_a_sort_lie_on_the_nodes_of_their_workers() {
    let mut session = session();
    session.execute("SET strategy = bound").expect("a setting");
    let added = more(&mut session, "SELECT sum(a) FROM (SELECT a FROM t ORDER BY b, a OFFSET 1) s");
    assert!(added.iter().all(|&it| it > 1 << 20), "every node has rows to sort: {added:?}");
}
