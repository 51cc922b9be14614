//! The placer cuts tables by their keys and copies small dictionaries, in a database on a simulated machine with four
//! sockets: answers stay, copies are read near, changes and crashes lose nothing, and what a user says counts.

use std::path::Path;

use hardware::{Machine, samples};
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, NoProgress, Session};
use simulator::{DiskImage, SimulatedMachine};
use stdx::sync::Arc;
use stdx::{Bytes, Nanos};

/// Between two queries, in virtual time.
const PAUSE: Nanos = Nanos(50_000_000);

/// How the table is cut, in words.
const CUT: &str = "HASH (id) PARTITIONS 4";
const WHOLE: &str = "-";

struct World {
    machine: Arc<SimulatedMachine>,
    database: Arc<Database>,
    session: Session,
}

/// A machine whose caches hold less than a dictionary of 40,000 values, and whose memory gives 400 MB/s.
fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    let mut topology = samples::four_sockets();
    topology.nodes.iter_mut().for_each(|it| it.read_bandwidth_mb_s = Some(400));
    topology.llc_bytes = Bytes(64 << 10);
    SimulatedMachine::after_crash(topology, 5, image)
}

fn on(machine: Arc<SimulatedMachine>) -> World {
    let options = DatabaseOptions { delta_from: Some(0), ..DatabaseOptions::default() };
    let database =
        Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress).unwrap();
    let session = database.session();
    World { machine, database, session }
}

/// A table of 400,000 rows with a column of 40,000 values that lie far apart, on one node.
fn open(key: &str) -> World {
    let mut world = on(machine(DiskImage::default()));
    let sql = format!(
        "SET strategy = bound; SET default_placement = rr;
         CREATE TABLE z AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM z a, z b, z c;
         CREATE TABLE t (id BIGINT {key}, v BIGINT);
         INSERT INTO t SELECT l.n + 1000 * h.n, ((l.n + 1000 * h.n) * 7 % 40000) * ((l.n + 1000 * h.n) * 7 % 40000) * 7919 FROM k l, k h \
            WHERE h.n < 400;
         CREATE TABLE other AS SELECT l.n + 1000 * h.n AS n FROM k l, k h WHERE h.n < 300;
         CALL nodewise.merge('t')"
    );
    world.session.execute(&sql).unwrap();
    world
}

impl World {
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

    /// Looks all values up for so many virtual seconds; all answers must be alike.
    fn read(&mut self, seconds: u64) -> Vec<String> {
        let sql = "SELECT sum(CASE WHEN id % 3 = 0 THEN 1 ELSE v END), count(*), max(v) FROM t";
        let (end, known) = (self.machine.now() + Nanos(seconds * 1_000_000_000), self.rows(sql));
        while self.machine.now() < end {
            assert_eq!(self.rows(sql), known);
            self.machine.sleep(PAUSE);
        }
        known
    }

    /// Lets time pass in which nobody reads the table.
    fn sleep(&mut self, seconds: u64) {
        for pause in [0, seconds] {
            self.machine.sleep(Nanos(pause * 1_000_000_000));
            // The watchdog looks while workers work.
            for _ in 0..20 {
                self.rows("SELECT count(*) FROM other WHERE n % 7 = 3");
                self.machine.sleep(Nanos(500_000_000));
            }
        }
    }

    fn log(&mut self) -> Vec<String> {
        self.rows(
            "SELECT column_name, action, from_nodes, '>', to_nodes, outcome FROM nodewise.placer_log",
        )
    }

    fn parts(&mut self) -> String {
        self.rows("SELECT partitioning FROM nodewise.tables WHERE table_name = 't'").remove(0)
    }

    /// No page is elsewhere than its map says, and no demand was left behind.
    fn check(&mut self) {
        let all = self.rows("SELECT * FROM nodewise.placement_demands");
        assert!(all.iter().all(|it| it.contains(" default ")), "{all:?}");
        let wrong = self.rows("CALL nodewise.verify_placement()");
        assert!(wrong.iter().all(|it| it.ends_with("0 - - -")), "{wrong:?}");
    }
}

#[test]
fn a_dictionary_is_copied_read_near_and_given_back_when_nobody_reads_it() {
    let mut world = open("");
    let before = world.rows("SELECT bytes FROM nodewise.tables WHERE table_name = 't'");
    world.session.execute("SET placer = on").unwrap();
    let known = world.read(10);
    assert_eq!(world.log(), ["v replicate 1 > 0, 1, 2, 3 done"]);
    world.check();
    let copies =
        "SELECT count(*) FROM nodewise.page_ranges WHERE table_name = 't' AND copy IS NOT NULL";
    assert_ne!(world.rows(copies), ["0"]);
    let after = world.rows("SELECT bytes FROM nodewise.tables WHERE table_name = 't'");
    let bytes = |it: &[String]| it[0].parse::<u64>().unwrap();
    assert!(bytes(&after) >= bytes(&before) + 3 * 40_000 * 8, "{before:?} {after:?}");
    // Everyone reads its own copy.
    let remote = "SELECT coalesce(sum(bytes_read), 0) FROM nodewise.item_traffic \
        WHERE table_name = 't' AND running_node <> memory_node AND component = 'dictionary'";
    let seen = world.rows(remote);
    world.read(2);
    assert_eq!(world.rows(remote), seen);
    // Rows come, change and go; copies are of those that stay.
    let sql = "INSERT INTO t VALUES (400000, 1), (400001, 2); DELETE FROM t WHERE id = 7; \
        UPDATE t SET v = v + 1 WHERE id = 8";
    world.session.execute(sql).unwrap();
    let changed = world.read(1);
    assert_ne!(changed, known);
    world.session.execute("SET placer = off").unwrap();
    let again = "SELECT sum(CASE WHEN id % 3 = 0 THEN 1 ELSE v END), count(*), max(v) FROM (SELECT DISTINCT id, v FROM t) AS d";
    assert_eq!(world.rows(again), changed);
    world.session.execute("CALL nodewise.merge('t')").unwrap();
    assert_eq!(world.rows(copies), ["0"], "what is built anew has none");
    assert_eq!(world.read(1), changed);
    // On again, and then nobody reads it.
    world.session.execute("SET placer = on").unwrap();
    world.read(20);
    assert_ne!(world.rows(copies), ["0"], "{:?}", world.log());
    world.sleep(605);
    let log = world.log();
    assert!(log.last().is_some_and(|it| it.starts_with("v shrink ")), "{log:?}");
    assert_eq!(world.rows(copies), ["0"]);
    assert_eq!(world.read(1), changed);
}

#[test]
fn a_table_is_cut_by_its_key_and_put_together_when_nobody_reads_it() {
    let mut world = open("PRIMARY KEY");
    world.session.execute("SET placer = on").unwrap();
    let known = world.read(10);
    assert_eq!(world.log(), ["v partition 1 > 0, 1, 2, 3 done"]);
    assert_eq!(world.parts(), CUT);
    let numbers = "SELECT count(*) FROM nodewise.placer_log WHERE gain_us > cost_us AND cost_us > 0 AND copy_bytes > 0";
    assert_eq!(world.rows(numbers), ["1"]);
    world.check();
    // Parts read their own dictionaries, near.
    let remote = "SELECT coalesce(sum(bytes_read), 0) FROM nodewise.item_traffic \
        WHERE table_name = 't' AND running_node <> memory_node AND component = 'dictionary'";
    assert_eq!(world.rows(remote), ["0"]);
    // Rows can change, and the key holds.
    world.session.execute("DELETE FROM t WHERE id = 7; INSERT INTO t VALUES (7, 5)").unwrap();
    let error = world.session.execute("INSERT INTO t VALUES (8, 5)").unwrap_err();
    assert_eq!(error.state.0, "23505");
    let changed = world.read(1);
    assert_ne!(changed, known);
    // A crash loses nothing, and replays the cut.
    let mut after = on(machine(world.machine.crash(0)));
    assert_eq!((after.read(0), after.parts()), (changed.clone(), CUT.into()));
    world.sleep(605);
    assert_eq!(world.parts(), WHOLE, "{:?}", world.log());
    assert_eq!(world.read(1), changed);
    let mut after = on(machine(world.machine.crash(0)));
    assert_eq!((after.read(0), after.parts()), (changed, WHOLE.into()));
}

#[test]
fn it_waits_for_who_writes_and_does_not_undo_what_a_user_says() {
    let mut world = open("PRIMARY KEY");
    let mut other = world.database.session();
    other.execute("BEGIN; UPDATE t SET v = v WHERE id = 1").unwrap();
    world.session.execute("SET placer = on").unwrap();
    let known = world.read(5);
    assert_eq!(world.log(), ["v partition 1 > 0, 1, 2, 3 waiting"]);
    other.execute("ROLLBACK").unwrap();
    world.read(5);
    assert_eq!((world.log().len(), world.parts()), (1, CUT.into()));
    // A user makes one piece of it: it is not cut again.
    world.session.execute("ALTER TABLE t MERGE PARTITIONS").unwrap();
    assert_eq!(world.read(30), known);
    assert_eq!(world.parts(), WHOLE);
    let again = world.log().iter().filter(|it| it.contains(" partition ")).count();
    assert_eq!(again, 1, "{:?}", world.log());
}

#[test]
fn who_writes_for_long_is_not_waited_for() {
    let mut world = open("PRIMARY KEY");
    let mut other = world.database.session();
    other.execute("BEGIN; UPDATE t SET v = v WHERE id = 1").unwrap();
    world.session.execute("SET placer = on").unwrap();
    world.read(3);
    world.sleep(60);
    world.read(1);
    let log = world.log();
    assert!(log[0].starts_with("v partition ") && log[0].contains(" not done: "), "{log:?}");
    assert_eq!(world.parts(), WHOLE);
}

#[test]
fn what_a_user_has_placed_is_neither_cut_nor_copied_and_advice_tells_of_both() {
    let mut world = open("PRIMARY KEY");
    world.session.execute("ALTER TABLE t ALTER COLUMN v NUMA NODE (2); SET placer = on").unwrap();
    world.read(10);
    assert_eq!(world.log(), [""; 0]);
    let mut world = open("PRIMARY KEY");
    world.session.execute("SET placer = advise").unwrap();
    world.read(10);
    let advice = world.rows("CALL nodewise.advise_placement()");
    assert!(advice.iter().any(|it| it.contains(" t 0 v partition ")), "{advice:?}");
    assert_eq!(world.parts(), WHOLE);
    let mut world = open("");
    world.session.execute("SET placer = advise").unwrap();
    world.read(10);
    let advice = world.rows("CALL nodewise.advise_placement()");
    assert!(advice.iter().any(|it| it.contains(" t 0 v replicate ")), "{advice:?}");
}

#[test]
fn joins_that_look_into_a_stored_table_read_its_copies_with_the_same_answers() {
    let mut world = open("");
    let sql = "CREATE TABLE d (id BIGINT PRIMARY KEY, v BIGINT, w TEXT); \
        INSERT INTO d SELECT n, n * n * 7919, 'text ' || n % 17 FROM k ORDER BY n; CALL nodewise.merge('d'); \
        CREATE TABLE plain AS SELECT * FROM d ORDER BY id";
    world.session.execute(sql).unwrap();
    let joins = |world: &mut World, table: &str| -> Vec<String> {
        let of = |join: &str| {
            format!(
                "SELECT count(*), sum(d.v), min(d.w), max(d.w), sum(t.id) FROM t {join} {table} d ON t.id % 1100 = d.id"
            )
        };
        let all = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"].map(of);
        all.iter().flat_map(|it| world.rows(it)).collect()
    };
    let explained = world
        .rows("EXPLAIN ANALYZE SELECT count(*), sum(d.v) FROM t JOIN d ON t.id % 1100 = d.id")
        .join("\n");
    assert!(explained.contains("the stored table"), "{explained}");
    let known = joins(&mut world, "d");
    assert_eq!(joins(&mut world, "plain"), known);
    world.session.execute("ALTER TABLE d NUMA NODE REPLICATE (0 TO 3)").unwrap();
    assert_eq!(joins(&mut world, "d"), known);
    for change in [
        "DELETE FROM {} WHERE id % 10 = 3",
        "INSERT INTO {} VALUES (1005, 5, 'later'), (3, 6, 'again')",
        "UPDATE {} SET v = 1, w = 'changed' WHERE id < 100",
    ] {
        for table in ["d", "plain"] {
            world.session.execute(&change.replace("{}", table)).unwrap();
        }
        let expected = joins(&mut world, "plain");
        assert_eq!(joins(&mut world, "d"), expected, "{change}");
    }
}
