//! Placing and cutting tables by SQL, on modelled machines: rows stay, pages go where they were told, views know it.

use arrow_array::RecordBatch;
use hardware::{Machine, Topology, samples};
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session, SqlError};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

const FILL: &str = "CREATE TABLE digits AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) \
    AS d (d);
    CREATE TABLE t AS SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS k, \
        c.d AS small, 'text ' || (a.d + 10 * b.d) AS name \
        FROM digits a, digits b, digits c, digits e, digits f";

fn open(topology: Topology, seed: u64) -> Session {
    let machine: Arc<dyn Machine> = SimulatedMachine::new(topology, seed);
    Database::open(machine, DatabaseOptions::default()).expect("the database opens").session()
}

/// A session on a machine with a table of 100,000 rows.
fn filled(topology: Topology) -> Session {
    let mut session = open(topology, 7);
    session.execute(FILL).expect("the table is filled");
    session
}

fn rows(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            let text = |it: &Cells<'_>| it.text(row).unwrap_or_else(|| "NULL".into());
            rows.push(columns.iter().map(text).collect());
        }
    }
    rows
}

fn ask(session: &mut Session, sql: &str) -> Vec<Vec<String>> {
    rows(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).batches)
}

fn one(session: &mut Session, sql: &str) -> String {
    ask(session, sql).iter().map(|it| it.join(" ")).collect::<Vec<_>>().join(" / ")
}

fn refused(session: &mut Session, sql: &str) -> SqlError {
    session.query(sql).expect_err(sql)
}

/// All rows are there, and every page is where its map says.
fn whole(session: &mut Session) {
    let sum = "SELECT count(*), sum(k), sum(small), count(DISTINCT name), min(name) FROM t";
    assert_eq!(one(session, sum), "100000 4999950000 450000 100 text 0");
    let point = "SELECT small, name FROM t WHERE k = 4711";
    assert_eq!(one(session, point), "7 text 11");
    let checked = ask(session, "CALL nodewise.verify_placement('t')");
    assert!(checked.len() >= 3);
    for row in &checked {
        assert_eq!((row[7].as_str(), row[8].as_str()), ("0", "NULL"), "{row:?}");
        assert_eq!(row[5], row[6], "{row:?}");
    }
}

/// Executes a statement and checks the table.
fn change(session: &mut Session, sql: &str) {
    session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    whole(session);
}

/// The nodes of a component of a column, as the view tells.
fn nodes_of(session: &mut Session, column: &str, component: &str) -> String {
    one(
        session,
        &format!(
            "SELECT DISTINCT node FROM nodewise.column_placement WHERE table_name = 't' \
             AND column_name = '{column}' AND component = '{component}' ORDER BY node"
        ),
    )
}

#[test]
fn tables_and_columns_go_where_they_are_told() {
    let mut session = filled(samples::four_sockets());
    whole(&mut session);
    change(&mut session, "ALTER TABLE t NUMA NODE (2)");
    for column in ["k", "small", "name"] {
        assert_eq!(nodes_of(&mut session, column, "iv"), "2", "{column}");
    }
    assert_eq!(nodes_of(&mut session, "name", "dictionary"), "2");
    change(&mut session, "ALTER TABLE t ALTER COLUMN k NUMA NODE (1, 3)");
    assert_eq!(nodes_of(&mut session, "k", "iv"), "1 / 3");
    assert_eq!(nodes_of(&mut session, "small", "iv"), "2");
    let words = "SELECT DISTINCT placement FROM nodewise.column_placement \
                 WHERE table_name = 't' AND column_name = 'k' AND component = 'iv'";
    assert_eq!(one(&mut session, words), "split over nodes 1, 3");
    change(&mut session, "ALTER TABLE t ALTER (k INTEGER NUMA NODE INTERLEAVE ('0' TO '1'))");
    assert_eq!(one(&mut session, words), "interleaved over nodes 0, 1");
    change(&mut session, "ALTER TABLE t ROWS 0 TO 65535 NUMA NODE (3)");
    assert!(nodes_of(&mut session, "small", "iv").contains('3'));
    change(&mut session, "ALTER TABLE t NUMA NODE ROUNDROBIN");
    assert_eq!(nodes_of(&mut session, "k", "iv").len(), 1);
    change(&mut session, "ALTER TABLE t NUMA NODE REPLICATE (0 TO 2)");
    let copies =
        "SELECT count(DISTINCT copy) FROM nodewise.column_placement WHERE table_name = 't'";
    assert_eq!(one(&mut session, copies), "2");
    change(&mut session, "ALTER TABLE t NUMA NODE NULL");
    let demands = "SELECT target, placement FROM nodewise.placement_demands WHERE table_name = 't'";
    assert_eq!(one(&mut session, demands), "default auto");
}

#[test]
fn tables_are_cut_into_parts_merged_and_split() {
    for topology in [samples::four_sockets(), samples::sub_numa(), samples::eight()] {
        let mut session = filled(topology);
        let parts = "SELECT count(*), sum(rows), count(DISTINCT nodes) FROM nodewise.parts \
                     WHERE table_name = 't'";
        change(&mut session, "ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 4 NUMA NODE (0, 3)");
        assert_eq!(one(&mut session, parts), "4 100000 2");
        assert_eq!(nodes_of(&mut session, "k", "iv"), "0 / 3");
        change(&mut session, "ALTER TABLE t PARTITION 1 NUMA NODE (2)");
        assert_eq!(nodes_of(&mut session, "k", "iv"), "0 / 2 / 3");
        change(
            &mut session,
            "ALTER TABLE t PARTITION BY RANGE (k) (PARTITION VALUES < 1000, \
             PARTITION 1000 <= VALUES < 50000, PARTITION OTHERS) NUMA NODE INTERLEAVE",
        );
        let contents = "SELECT part, contents, rows FROM nodewise.parts WHERE table_name = 't'";
        assert_eq!(
            one(&mut session, contents),
            "0 VALUES < 1000, and NULL 1000 / 1 1000 <= VALUES < 50000 49000 / 2 50000 <= VALUES 50000"
        );
        change(&mut session, "ALTER TABLE t SPLIT PARTITION 2 AT (75000)");
        assert_eq!(one(&mut session, parts).split(' ').next(), Some("4"));
        change(&mut session, "ALTER TABLE t MERGE PARTITIONS 0 TO 2");
        assert_eq!(
            one(&mut session, contents),
            "0 VALUES < 75000, and NULL 75000 / 1 75000 <= VALUES 25000"
        );
        let error = refused(&mut session, "ALTER TABLE t SPLIT PARTITION 0 AT (80000)");
        assert!(error.message.contains("80000 is not in part 0"), "{error}");
        change(&mut session, "ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 3");
        change(&mut session, "ALTER TABLE t MERGE PARTITIONS");
        assert_eq!(one(&mut session, contents), "0 all rows 100000");
    }
}

#[test]
fn parts_go_where_their_clause_says_whatever_was_demanded_before() {
    let mut session = filled(samples::four_sockets());
    for before in ["(2)", "SPLIT (1, 2)", "INTERLEAVE", "ROUNDROBIN", "(1) DEFERRED"] {
        change(&mut session, &format!("ALTER TABLE t NUMA NODE {before}"));
        change(&mut session, "ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 4 NUMA NODE (0 TO 3)");
        let places = "SELECT part, nodes FROM nodewise.parts WHERE table_name = 't' ORDER BY part";
        assert_eq!(one(&mut session, places), "0 0 / 1 1 / 2 2 / 3 3", "after {before}");
        assert_eq!(nodes_of(&mut session, "k", "iv"), "0 / 1 / 2 / 3", "after {before}");
        change(&mut session, "ALTER TABLE t MERGE PARTITIONS");
    }
    // Nor does the default say where, once somebody names nodes.
    change(&mut session, "SET default_placement = os");
    change(&mut session, "CREATE TABLE o AS SELECT * FROM t");
    change(&mut session, "ALTER TABLE o PARTITION BY HASH (k) PARTITIONS 4 NUMA NODE (0 TO 3)");
    let places = "SELECT part, nodes FROM nodewise.parts WHERE table_name = 'o' ORDER BY part";
    assert_eq!(one(&mut session, places), "0 0 / 1 1 / 2 2 / 3 3");
    // Without a clause of its own the parts stay on the nodes of the table.
    change(&mut session, "ALTER TABLE t NUMA NODE SPLIT (1, 3)");
    change(&mut session, "ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 4");
    let places = "SELECT part, nodes FROM nodewise.parts WHERE table_name = 't' ORDER BY part";
    assert_eq!(one(&mut session, places), "0 1 / 1 3 / 2 1 / 3 3");
    assert_eq!(nodes_of(&mut session, "k", "iv"), "1 / 3");
}

#[test]
fn a_new_table_is_cut_and_placed_as_it_says() {
    let mut session = open(samples::four_sockets(), 3);
    session
        .execute(
            FILL.replace(
                "CREATE TABLE t AS",
                "CREATE TABLE t PARTITION BY HASH (k) \
        PARTITIONS 2 NUMA NODE (1, 2) AS",
            )
            .as_str(),
        )
        .unwrap();
    whole(&mut session);
    assert_eq!(nodes_of(&mut session, "small", "iv"), "1 / 2");
    session
        .execute(
            "CREATE COLUMN TABLE u (a INTEGER NUMA NODE (3), b TEXT) NUMA NODE (1);
             INSERT INTO u SELECT k, name FROM t",
        )
        .unwrap();
    let nodes = "SELECT column_name, node, sum(bytes) > 0 FROM nodewise.column_placement \
                 WHERE table_name = 'u' AND component = 'iv' GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(one(&mut session, nodes), "a 3 true / b 1 true");
    session
        .execute(
            "CREATE TABLE d (day DATE) PARTITION BY RANGE (day) (PARTITION VALUES < '2020-01-01', \
             PARTITION OTHERS); INSERT INTO d VALUES ('2019-12-31'), ('2020-01-01'), (NULL)",
        )
        .unwrap();
    let parts = "SELECT rows FROM nodewise.parts WHERE table_name = 'd' ORDER BY part";
    assert_eq!(one(&mut session, parts), "2 / 1");
}

#[test]
fn the_default_placement_is_a_setting() {
    let mut session = open(samples::four_sockets(), 5);
    let nodes = |session: &mut Session| nodes_of(session, "k", "iv");
    for (setting, expected) in
        [("ivp", "0 / 1"), ("interleave", "0 / 1 / 2 / 3"), ("pp", "0 / 1 / 2 / 3")]
    {
        session.execute(&format!("SET default_placement = {setting}")).unwrap();
        assert_eq!(one(&mut session, "SHOW default_placement"), setting);
        session.execute("DROP TABLE IF EXISTS t, digits").unwrap();
        session.execute(FILL).unwrap();
        whole(&mut session);
        assert_eq!(nodes(&mut session), expected, "{setting}");
    }
    for setting in ["rr", "os", "auto"] {
        session.execute(&format!("SET default_placement = '{setting}'")).unwrap();
        session.execute("DROP TABLE t, digits").unwrap();
        session.execute(FILL).unwrap();
        whole(&mut session);
    }
    let error = refused(&mut session, "SET default_placement = everywhere");
    assert_eq!(error.state.0, "22023");
    assert!(error.hint.is_some_and(|it| it.contains("interleave")));
}

#[test]
fn what_is_deferred_waits() {
    let mut session = filled(samples::four_sockets());
    change(&mut session, "ALTER TABLE t NUMA NODE (0)");
    change(&mut session, "ALTER TABLE t NUMA NODE (3) DEFERRED");
    assert_eq!(nodes_of(&mut session, "k", "iv"), "0");
    let demands = "SELECT target, placement, nodes, deferred FROM nodewise.placement_demands \
                   WHERE table_name = 't' AND target <> 'default'";
    assert_eq!(one(&mut session, demands), "table ivp 3 true");
    change(&mut session, "CALL nodewise.apply_placement('t')");
    assert_eq!(nodes_of(&mut session, "k", "iv"), "3");
    assert_eq!(one(&mut session, demands), "table ivp 3 false");
    session.execute("ALTER TABLE t ALTER k NUMA NODE (1) DEFERRED").unwrap();
    // Rows that come follow it; the others when the table is put together anew.
    session.execute("INSERT INTO t VALUES (100000, 0, 'text 0')").unwrap();
    assert_eq!(nodes_of(&mut session, "k", "iv"), "1 / 3");
    session.execute("CALL nodewise.merge('t')").unwrap();
    assert_eq!(nodes_of(&mut session, "k", "iv"), "1");
    assert_eq!(nodes_of(&mut session, "small", "iv"), "3");
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut session = filled(samples::four_sockets());
    let before = one(&mut session, "SELECT node, bytes FROM nodewise.column_placement");
    let cases = [
        ("ALTER TABLE t NUMA NODE (9)", "22023", "no NUMA node 9", "0, 1, 2, 3"),
        ("ALTER TABLE t NUMA NODE (0 TO 99999999)", "22023", "no NUMA node 4", "0, 1, 2, 3"),
        ("ALTER TABLE t NUMA NODE (65536)", "22023", "no NUMA node 65536", ""),
        ("ALTER TABLE none NUMA NODE (0)", "42P01", "\"none\" does not exist", ""),
        ("ALTER TABLE t ALTER x NUMA NODE (0)", "42703", "no column \"x\"", ""),
        ("ALTER TABLE t ALTER (k TEXT NUMA NODE (0))", "0A000", "cannot become", ""),
        ("ALTER TABLE t PARTITION 1 NUMA NODE (0)", "22023", "parts 0 to 0", ""),
        ("ALTER TABLE t ROWS 5 TO 100000 NUMA NODE (0)", "22023", "rows 0 to 99999", ""),
        ("ALTER TABLE t MERGE PARTITIONS 0 TO 1", "0A000", "no parts of ranges", ""),
        ("ALTER TABLE t SPLIT PARTITION AT (5)", "0A000", "no parts of ranges", ""),
        ("ALTER TABLE t PARTITION BY HASH (x) PARTITIONS 2", "42703", "no column \"x\"", ""),
        ("ALTER TABLE t PARTITION BY HASH (k, k) PARTITIONS 2", "22023", "twice", ""),
        ("ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 0", "22023", "1 to 1024 parts", ""),
        ("ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 99999999999", "22023", "1024", ""),
        (
            "ALTER TABLE t PARTITION BY RANGE (k) (PARTITION VALUES < 'x', PARTITION OTHERS)",
            "22P02",
            "",
            "",
        ),
        (
            "ALTER TABLE t PARTITION BY RANGE (k) (PARTITION VALUES < NULL, PARTITION OTHERS)",
            "22023",
            "NULL",
            "",
        ),
        (
            "ALTER TABLE t PARTITION BY RANGE (k) (PARTITION VALUES < 5, PARTITION 5 <= VALUES < 3, \
             PARTITION 3 <= VALUES)",
            "22023",
            "ascend",
            "",
        ),
        ("CREATE TABLE t2 (a INT NUMA NODE (7))", "22023", "no NUMA node 7", "0, 1, 2, 3"),
        ("CREATE TABLE t2 NUMA NODE (7) AS SELECT 1 AS a", "22023", "no NUMA node 7", ""),
        ("CALL nodewise.verify_placement('none')", "42P01", "\"none\"", ""),
        ("CALL nodewise.fly()", "42883", "no procedure nodewise.fly", "verify_placement"),
    ];
    for (sql, state, message, hint) in cases {
        let error = refused(&mut session, sql);
        assert_eq!(error.state.0, state, "{sql}: {error}");
        assert!(error.message.contains(message), "{sql}: {error}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{sql}: {error}");
    }
    whole(&mut session);
    assert_eq!(one(&mut session, "SELECT node, bytes FROM nodewise.column_placement"), before);
    assert_eq!(one(&mut session, "SELECT count(*) FROM nodewise.tables"), "2");
}

#[test]
fn views_agree_with_each_other() {
    let mut session = filled(samples::sub_numa());
    change(&mut session, "ALTER TABLE t NUMA NODE SPLIT (0, 2)");
    let bytes = "SELECT sum(bytes) FROM nodewise.column_placement WHERE table_name = 't'";
    let total = one(&mut session, "SELECT bytes FROM nodewise.tables WHERE table_name = 't'");
    assert_eq!(one(&mut session, bytes), total);
    assert_eq!(
        one(&mut session, "SELECT sum(bytes) FROM nodewise.columns WHERE table_name = 't'"),
        total
    );
    let pages = "SELECT sum(pages) FROM nodewise.page_ranges WHERE table_name = 't' AND \
                 column_name = 'k' AND component = 'iv'";
    let checked = ask(&mut session, "CALL nodewise.verify_placement('t')");
    let iv = checked.iter().find(|it| it[1] == "k" && it[3] == "iv").expect("k has an iv");
    assert_eq!(one(&mut session, pages), iv[5]);
    let bits = "SELECT min(map_bits) > 0 FROM nodewise.page_ranges";
    assert_eq!(one(&mut session, bits), "true");
    let nodes = "SELECT count(*), sum(cpus) > 0, sum(memory_used) > 0, \
                 min(memory_free) > 0 FROM nodewise.nodes";
    assert_eq!(one(&mut session, nodes), "4 true true true");
    let local = "SELECT sum(bytes) > 0 FROM nodewise.traffic";
    assert_eq!(one(&mut session, local), "true");
}

#[test]
fn empty_tables_and_single_rows_are_placed() {
    let mut session = open(samples::four_sockets(), 2);
    for fill in ["", "INSERT INTO e VALUES (NULL, NULL);", "INSERT INTO e VALUES (1, 'x');"] {
        session
            .execute(&format!(
                "CREATE TABLE e (a INTEGER, b TEXT) PARTITION BY HASH (a) PARTITIONS 3 NUMA NODE (1);
                 {fill}
                 ALTER TABLE e NUMA NODE SPLIT (0 TO 3);
                 ALTER TABLE e ALTER b NUMA NODE (2);
                 ALTER TABLE e PARTITION BY RANGE (b) (PARTITION VALUES < 'm', PARTITION OTHERS);
                 ALTER TABLE e MERGE PARTITIONS"
            ))
            .unwrap();
        let rows = one(&mut session, "SELECT count(*) FROM e");
        assert_eq!(rows, if fill.is_empty() { "0" } else { "1" });
        let checked = ask(&mut session, "CALL nodewise.verify_placement()");
        assert!(checked.iter().all(|it| it[7] == "0"), "{checked:?}");
        session.execute("DROP TABLE e").unwrap();
    }
}
