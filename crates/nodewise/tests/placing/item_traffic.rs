//! Bytes read per column, node that runs and node of the memory, on a simulated machine with four nodes.

use hardware::{Machine, samples};
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

fn open() -> Session {
    let machine: Arc<dyn Machine> = SimulatedMachine::new(samples::four_sockets(), 5);
    let mut session = Database::open(machine, DatabaseOptions::default()).unwrap().session();
    let sql = "SET strategy = bound; SET default_placement = rr;
         CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM d a, d b, d c;
         CREATE TABLE t AS SELECT (l.n + 1000 * h.n) * 7919 % 1000003 AS a, \
            (l.n + 1000 * h.n) * 4649 % 65521 AS b FROM k l, k h WHERE h.n < 300";
    session.execute(sql).unwrap();
    session
}

/// The rows of a query, each as a text.
fn rows(session: &mut Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        let text = |row| columns.iter().map(move |it| it.text(row).unwrap_or_else(|| "-".into()));
        rows.extend((0..batch.num_rows()).map(|it| text(it).collect::<Vec<_>>().join(" ")));
    }
    rows
}

const OF_T: &str = "SELECT part, column_name, running_node, memory_node, bytes_read \
    FROM nodewise.item_traffic WHERE table_name = 't' ORDER BY 1, 2, 3, 4";

/// Bytes of 300,000 rows of so many bits.
fn packed(bits: u64) -> u64 {
    300_000 * bits / 8
}

#[test]
fn a_column_is_counted_where_it_lies_and_moves_with_its_counters() {
    let mut session = open();
    assert!(rows(&mut session, OF_T).is_empty(), "nothing was read yet");
    session.execute("ALTER TABLE t ALTER COLUMN a NUMA NODE (2)").unwrap();
    session.query("SELECT count(*) FROM t WHERE a < 1000").unwrap();
    let first = format!("0 a 2 2 {}", packed(20));
    assert_eq!(rows(&mut session, OF_T), [first.as_str()]);
    session.execute("ALTER TABLE t ALTER COLUMN a NUMA NODE (1)").unwrap();
    assert_eq!(rows(&mut session, OF_T), [first.as_str()], "a move forgets nothing");
    session.query("SELECT count(*) FROM t WHERE a < 1000").unwrap();
    assert_eq!(rows(&mut session, OF_T), [format!("0 a 1 1 {}", packed(20)), first]);
}

#[test]
fn an_append_goes_on_counting_other_parts_begin_anew_and_a_drop_forgets() {
    let mut session = open();
    let scan = "SELECT count(*) FROM t WHERE b < 77";
    session.query(scan).unwrap();
    let read = |session: &mut Session| {
        let sql =
            "SELECT sum(bytes_read), max(part) FROM nodewise.item_traffic WHERE table_name = 't'";
        rows(session, sql).remove(0)
    };
    assert_eq!(read(&mut session), format!("{} 0", packed(16)));
    session.execute("INSERT INTO t VALUES (1, 1)").unwrap();
    assert_eq!(read(&mut session), format!("{} 0", packed(16)));
    session.execute("ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 3").unwrap();
    assert_eq!(read(&mut session), "- -");
    session.query(scan).unwrap();
    let parts = "SELECT part, running_node, memory_node FROM nodewise.item_traffic \
        WHERE table_name = 't' ORDER BY 1, 2, 3";
    assert_eq!(rows(&mut session, parts), ["0 0 0", "1 1 1", "2 2 2"]);
    session.execute("DROP TABLE t; CREATE TABLE t (b INTEGER)").unwrap();
    assert_eq!(read(&mut session), "- -");
}

#[test]
fn the_sums_over_items_are_the_traffic_of_queries() {
    let mut session = open();
    let sum = |session: &mut Session, sql: &str| -> u64 { rows(session, sql)[0].parse().unwrap() };
    let all = "SELECT sum(bytes) FROM nodewise.traffic WHERE item = 'columns'";
    let items = "SELECT sum(bytes_read) FROM nodewise.item_traffic";
    let counted = |session: &mut Session| (sum(session, all), sum(session, items));
    let sql = "CREATE INDEX i ON t (a); \
        SELECT sum(b) FROM t WHERE a = 7919; SELECT sum(a) FROM t WHERE b < 100";
    session.query("SELECT sum(b) FROM t WHERE a < 9").unwrap();
    let before = counted(&mut session);
    session.execute(sql).unwrap();
    let after = counted(&mut session);
    let (all, items) = (after.0 - before.0, after.1 - before.1);
    assert!(items >= packed(16), "{items}");
    // To ask the views reads some bytes of theirs, which are in the first sum only.
    assert!((items..items + 10_000).contains(&all), "{all} {items}");
}
