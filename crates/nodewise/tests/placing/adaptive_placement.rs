//! The placer in a database on a simulated machine with four sockets: hot columns spread under queries, what users have
//! placed stays, and every decision can be read.

use hardware::{Machine, Topology, samples};
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;
use stdx::{Bytes, Nanos};

/// Between two queries, in virtual time.
const PAUSE: Nanos = Nanos(50_000_000);

struct World {
    machine: Arc<dyn Machine>,
    session: Session,
}

/// A table of 780,000 rows with four columns dealt round the nodes: twelve blocks, three for each of four nodes. Memory
/// gives 10 MB/s here, so that twenty scans of a column a second, of 2 MB each, are more than a node can do.
fn open() -> World {
    open_on(samples::four_sockets())
}

fn open_on(mut topology: Topology) -> World {
    topology.nodes.iter_mut().for_each(|it| it.read_bandwidth_mb_s = Some(10));
    let machine: Arc<dyn Machine> = SimulatedMachine::new(topology, 5);
    let database = Database::open(machine.clone(), DatabaseOptions::default()).unwrap();
    let mut session = database.session();
    let sql = "SET strategy = bound; SET default_placement = rr;
         CREATE TABLE z AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM z a, z b, z c;
         CREATE TABLE t AS SELECT (l.n + 1000 * h.n) * 7919 % 1000003 AS a, \
            (l.n + 1000 * h.n) * 4649 % 1000003 AS b, (l.n + 1000 * h.n) * 3571 % 1000003 AS c, \
            (l.n + 1000 * h.n) * 6997 % 1000003 AS e FROM k l, k h WHERE h.n < 780";
    session.execute(sql).unwrap();
    World { machine, session }
}

impl World {
    /// The rows of a query, each as a text.
    fn rows(&mut self, sql: &str) -> Vec<String> {
        let answer = self.session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let mut rows = Vec::new();
        for batch in &answer.batches {
            let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
            let text =
                |row| columns.iter().map(move |it| it.text(row).unwrap_or_else(|| "-".into()));
            rows.extend((0..batch.num_rows()).map(|it| text(it).collect::<Vec<_>>().join(" ")));
        }
        rows
    }

    /// Scans some columns in turn for so many virtual seconds; all answers must be alike.
    fn scan(&mut self, columns: &[&str], seconds: u64) {
        let end = self.machine.now() + Nanos(seconds * 1_000_000_000);
        let mut known = vec![None; columns.len()];
        while self.machine.now() < end {
            for (column, known) in columns.iter().zip(&mut known) {
                let found = self.rows(&format!("SELECT count(*) FROM t WHERE {column} < 500000"));
                let known = known.get_or_insert_with(|| found.clone());
                assert_eq!(&found, known, "{column}");
            }
            self.machine.sleep(PAUSE);
        }
    }

    /// The share of the hottest node's memory in what is read of a column.
    fn hottest(&mut self, column: &str) -> f64 {
        let sql = format!(
            "SELECT memory_node, sum(bytes_read) FROM nodewise.item_traffic \
             WHERE table_name = 't' AND column_name = '{column}' GROUP BY 1 ORDER BY 1"
        );
        let bytes = |world: &mut Self| -> Vec<(String, f64)> {
            let pair = |row: &String| {
                let (node, bytes) = row.split_once(' ').unwrap();
                (node.to_owned(), bytes.parse().unwrap())
            };
            world.rows(&sql).iter().map(pair).collect()
        };
        let before = bytes(self);
        self.scan(&[column], 1);
        let after = bytes(self);
        let read: Vec<f64> = (after.iter())
            .map(|(node, now)| now - before.iter().find(|it| it.0 == *node).map_or(0.0, |it| it.1))
            .collect();
        read.iter().copied().fold(0.0, f64::max) / read.iter().sum::<f64>()
    }

    fn log(&mut self) -> Vec<String> {
        self.rows(
            "SELECT column_name, action, from_nodes, '>', to_nodes, outcome FROM nodewise.placer_log",
        )
    }

    /// No page is elsewhere than its map says, and no demand was left behind.
    fn check(&mut self, demands: usize) {
        let all = self.rows("SELECT * FROM nodewise.placement_demands");
        let demanded: Vec<&String> = all.iter().filter(|it| !it.contains(" default ")).collect();
        assert_eq!(demanded.len(), demands, "{demanded:?}");
        let wrong = self.rows("CALL nodewise.verify_placement()");
        assert!(wrong.iter().all(|it| it.ends_with("0 - - -")), "{wrong:?}");
    }
}

#[test]
fn a_hot_column_spreads_over_all_nodes_while_it_is_queried() {
    let mut world = open();
    assert!(world.hottest("b") > 0.95, "RR: one node has the column");
    world.session.execute("SET placer = on").unwrap();
    world.scan(&["b"], 30);
    let log = world.log();
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(log.iter().all(|it| it.starts_with("b split ") && it.ends_with("done")), "{log:?}");
    let hottest = world.hottest("b");
    assert!(hottest < 0.35, "{hottest:.2} {log:?}");
    world.check(0);
    let numbers = "SELECT count(*) FROM nodewise.placer_log WHERE gain_us > cost_us AND cost_us > 0 \
        AND copy_bytes > 0 AND load_percent > load_after_percent AND item_load_percent > 60";
    assert_eq!(world.rows(numbers), ["3"]);
    // Rows that come later are placed as the table says, and the placer begins anew with them.
    world.session.execute("INSERT INTO t VALUES (1, 2, 3, 4)").unwrap();
    world.check(0);
}

#[test]
fn a_balanced_load_is_left_alone() {
    let mut world = open();
    world.session.execute("SET placer = on").unwrap();
    world.scan(&["a", "b", "c", "e"], 20);
    assert_eq!(world.log(), [""; 0]);
    world.check(0);
}

#[test]
fn what_a_user_has_placed_stays() {
    let mut world = open();
    world.session.execute("ALTER TABLE t ALTER COLUMN b NUMA NODE (2); SET placer = on").unwrap();
    world.scan(&["b"], 20);
    assert_eq!(world.log(), [""; 0]);
    assert!(world.hottest("b") > 0.95);
    world.check(1);
    // Given back to the default it may be moved.
    world.session.execute("ALTER TABLE t ALTER COLUMN b NUMA NODE NULL").unwrap();
    world.scan(&["b"], 5);
    assert!(!world.log().is_empty());
    world.check(0);
}

#[test]
fn advice_is_written_down_and_not_followed() {
    let mut world = open();
    world.session.execute("SET placer = advise").unwrap();
    world.scan(&["e"], 10);
    let log = world.log();
    assert_eq!(log.len(), 1, "said once: {log:?}");
    assert!(log[0].starts_with("e split ") && log[0].ends_with(" advised"), "{log:?}");
    assert!(world.hottest("e") > 0.95);
    let advice = world.rows("CALL nodewise.advise_placement()");
    assert!(advice.iter().all(|it| it.contains(" e split ")), "{advice:?}");
    assert!(!advice.is_empty());
    world.session.execute("SET placer = DEFAULT").unwrap();
    let setting = "SELECT value FROM nodewise.settings WHERE name = 'placer'";
    assert_eq!(world.rows(setting), ["off"]);
    world.scan(&["b"], 5);
    assert_eq!(world.log(), log, "nothing more is looked at");
}

#[test]
fn the_parts_of_a_table_move_as_a_whole() {
    let mut world = open();
    let sql = "ALTER TABLE t PARTITION BY RANGE (a) (PARTITION VALUES < 900000, PARTITION OTHERS); \
        SET placer = on";
    world.session.execute(sql).unwrap();
    let part = "SELECT sum(b) FROM t WHERE a < 900000";
    let known = world.rows(part);
    for _ in 0..400 {
        assert_eq!(world.rows(part), known);
        world.machine.sleep(PAUSE);
    }
    let log = world.log();
    assert!(log.iter().all(|it| it.starts_with("- split ") && it.ends_with("done")), "{log:?}");
    assert!(!log.is_empty());
    world.check(0);
}

#[test]
fn a_node_without_cpus_keeps_what_nobody_reads_while_memory_is_short() {
    let mut topology = samples::cpuless();
    topology.nodes.iter_mut().for_each(|it| it.memory_total = Bytes(64 << 20));
    let mut world = open_on(topology);
    let known = world.rows("SELECT sum(a), sum(c) FROM t");
    for number in 0..7 {
        let sql = format!(
            "CREATE TABLE full{number} AS SELECT * FROM t; ALTER TABLE full{number} NUMA NODE (0)"
        );
        world.session.execute(&sql).unwrap();
    }
    world.session.execute("SET placer = on").unwrap();
    let read = |world: &mut World, column: &str, seconds: u64| {
        for _ in 0..seconds / 5 {
            world.rows(&format!("SELECT count(*) FROM t WHERE {column} < 500000"));
            world.machine.sleep(Nanos(5_000_000_000));
        }
    };
    for _ in 0..58 {
        ["b", "c"].iter().for_each(|it| read(&mut world, it, 5));
    }
    assert_eq!(world.log(), [""; 0], "nothing is cold before ten minutes");
    for _ in 0..10 {
        ["b", "c"].iter().for_each(|it| read(&mut world, it, 5));
    }
    let log = world.log();
    assert!(log.contains(&"a demote 0 > 2 done".into()), "{log:?}");
    assert!(
        log.iter().all(|it| it.ends_with(" demote 0 > 2 done") && !it.starts_with('c')),
        "{log:?}"
    );
    assert_eq!(world.rows("SELECT sum(a), sum(c) FROM t"), known);
    let count = log.len();
    read(&mut world, "a", 60);
    let log = world.log();
    assert_eq!(log[count..], ["a promote 2 > 1 done"], "node 0 has no room");
    assert_eq!(world.rows("SELECT sum(a), sum(c) FROM t"), known);
    let numbers = "SELECT count(*) FROM nodewise.placer_log WHERE copy_bytes > 0 AND cost_us > 0 \
        AND (action = 'promote' AND gain_us > cost_us OR action = 'demote' AND load_percent > 90)";
    assert_eq!(world.rows(numbers), [log.len().to_string()]);
    world.check(7);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut world = open();
    for (sql, state) in [
        ("SET placer = fast", "22023"),
        ("SET placer = 1", "22023"),
        ("CALL nodewise.advise_placement('t')", "42883"),
        ("CALL nodewise.advise('t')", "42883"),
    ] {
        let error = world.session.execute(sql).unwrap_err();
        assert_eq!(error.state.0, state, "{sql}");
        assert!(error.hint.is_some(), "{sql}");
    }
}
