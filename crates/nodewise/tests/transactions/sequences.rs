//! Sequences through transactions, crashes, checkpoints, backups and exports: no number comes twice.

use std::path::Path;

use hardware::samples;
use nodewise::{Database, DatabaseOptions, NoProgress, Session, SqlResult};
use simulator::{DiskImage, SimulatedMachine};
use stdx::Prng;
use stdx::sync::Arc;

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image)
}

fn open_at(machine: &Arc<SimulatedMachine>, path: &str) -> SqlResult<Arc<Database>> {
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    Database::open_dir(machine.clone(), Path::new(path), options, &NoProgress)
}

fn open(machine: &Arc<SimulatedMachine>) -> Arc<Database> {
    open_at(machine, "/db").unwrap()
}

fn in_memory() -> Session {
    let topology = samples::by_name("laptop").unwrap();
    let machine = SimulatedMachine::new(topology, 7);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

fn run(session: &mut Session, statements: &[&str]) {
    for sql in statements {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// What a query gives, values with bars between them.
fn rows(session: &mut Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut lines = Vec::new();
    for batch in &answer.batches {
        let cells: Vec<_> = batch.columns().iter().map(nodewise::text::Cells::new).collect();
        for row in 0..batch.num_rows() {
            let cell = |it: &nodewise::text::Cells<'_>| it.text(row).unwrap_or("NULL".into());
            lines.push(cells.iter().map(cell).collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

fn number(session: &mut Session, sql: &str) -> i64 {
    rows(session, sql)[0].parse().unwrap()
}

fn state(session: &mut Session, sql: &str) -> &'static str {
    session.execute(sql).unwrap_err().state.0
}

#[test]
fn numbers_are_given_once_and_not_taken_back() {
    let mut one = in_memory();
    let mut other = one.database().session();
    run(&mut one, &["CREATE SEQUENCE s", "CREATE TABLE t (id SERIAL, a INTEGER CHECK (a > 0))"]);
    assert_eq!(state(&mut one, "SELECT currval('s')"), "55000");
    assert_eq!(state(&mut one, "SELECT lastval()"), "55000");
    run(&mut one, &["BEGIN"]);
    assert_eq!(number(&mut one, "SELECT nextval('s')"), 1);
    assert_eq!(number(&mut other, "SELECT nextval('s')"), 2);
    run(&mut one, &["ROLLBACK"]);
    assert_eq!(number(&mut one, "SELECT nextval('s')"), 3);
    assert_eq!(rows(&mut one, "SELECT currval('s'), lastval()"), ["3|3"]);
    assert_eq!(number(&mut other, "SELECT currval('s')"), 2);
    // Rows that are refused have used their numbers.
    assert_eq!(state(&mut one, "INSERT INTO t (a) VALUES (1), (0)"), "23514");
    run(&mut one, &["INSERT INTO t (a) VALUES (5)"]);
    assert_eq!(rows(&mut one, "SELECT * FROM t"), ["3|5"]);
    assert_eq!(number(&mut one, "SELECT lastval()"), 3);
    // What is defined is taken back.
    run(&mut one, &["BEGIN", "ALTER SEQUENCE s RESTART WITH 100 INCREMENT 10"]);
    assert_eq!(number(&mut one, "SELECT nextval('s')"), 100);
    assert_eq!(number(&mut other, "SELECT nextval('s')"), 4);
    run(&mut one, &["ROLLBACK"]);
    assert_eq!(number(&mut one, "SELECT nextval('s')"), 5);
    run(&mut one, &["BEGIN", "DROP SEQUENCE s"]);
    assert_eq!(state(&mut one, "SELECT nextval('s')"), "42P01");
    run(&mut one, &["ROLLBACK", "BEGIN READ ONLY"]);
    assert_eq!(state(&mut one, "SELECT nextval('s')"), "25006");
    run(&mut one, &["ROLLBACK", "DROP SEQUENCE s", "CREATE SEQUENCE s"]);
    assert_eq!(state(&mut one, "SELECT currval('s')"), "55000");
}

#[test]
fn many_rows_get_a_number_each() {
    let mut session = in_memory();
    run(&mut session, &["CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, a INTEGER)"]);
    run(&mut session, &["INSERT INTO t (a) VALUES (1), (2), (3), (4), (5), (6), (7), (8)"]);
    for _ in 0..11 {
        run(&mut session, &["INSERT INTO t (a) SELECT a FROM t"]);
    }
    let all = "SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t";
    assert_eq!(rows(&mut session, all), ["16384|16384|1|16384"]);
    // Once for each row, and in its order where that is one.
    run(&mut session, &["CREATE SEQUENCE s"]);
    let ordered = "SELECT a, nextval('s') FROM (VALUES (3), (1), (2)) v (a)";
    assert_eq!(rows(&mut session, ordered), ["3|1", "1|2", "2|3"]);
    let prepared = session.prepare("INSERT INTO t (a) VALUES ($1) RETURNING id").unwrap();
    let mut given = Vec::new();
    for value in 0..3 {
        let answer = session.execute_prepared(&prepared, &[nodewise::Value::Integer(value)]);
        let answer = answer.unwrap();
        given.push(nodewise::text::Cells::new(answer.batches[0].column(0)).text(0).unwrap());
    }
    assert_eq!(given, ["16385", "16386", "16387"]);
}

/// The definitions, without where they are.
const DEFINED: &str = "SELECT sequence_name, data_type, start_value, min_value, max_value, increment_by, cycle, \
     cache_size, owned_by, is_identity FROM nodewise.sequences ORDER BY 1";

const MADE: [&str; 8] = [
    "CREATE SEQUENCE s START 5 INCREMENT 3 MAXVALUE 1000000 CACHE 2 CYCLE",
    "CREATE TABLE t (id SERIAL, a INTEGER)",
    "CREATE TABLE \"T 2\" (\"I d\" SMALLINT GENERATED ALWAYS AS IDENTITY (START -10 MINVALUE -10), b INTEGER)",
    "INSERT INTO t (a) VALUES (1), (2)",
    "INSERT INTO \"T 2\" (b) VALUES (1)",
    "CREATE SEQUENCE gone",
    "ALTER SEQUENCE gone RENAME TO went",
    "DROP SEQUENCE went",
];

#[test]
fn sequences_come_back_after_a_crash_a_close_a_checkpoint_and_in_backups() {
    let first = machine(DiskImage::default());
    let database = open(&first);
    let mut session = database.session();
    run(&mut session, &MADE);
    let defined = rows(&mut session, DEFINED);
    assert_eq!(defined.len(), 3);
    assert_eq!(number(&mut session, "SELECT nextval('s')"), 5);
    assert_eq!(number(&mut session, "SELECT nextval('s')"), 8);
    // What was logged ahead is left out after a crash.
    let crashed = machine(first.crash(0));
    let again = open(&crashed);
    let mut after = again.session();
    assert_eq!(rows(&mut after, DEFINED), defined);
    assert_eq!(number(&mut after, "SELECT nextval('s')"), 5 + 33 * 3);
    run(&mut after, &["INSERT INTO t (a) VALUES (3)", "INSERT INTO \"T 2\" (b) VALUES (2)"]);
    assert_eq!(number(&mut after, "SELECT max(id) FROM t"), 35);
    // Nothing is left out after a close, nor behind a checkpoint.
    run(&mut session, &["CHECKPOINT"]);
    assert_eq!(number(&mut session, "SELECT nextval('s')"), 11);
    run(&mut session, &["SELECT setval('s', 50)", "BACKUP TO '/copy'"]);
    drop((session, database));
    let database = open(&first);
    let mut session = database.session();
    assert_eq!(rows(&mut session, DEFINED), defined);
    assert_eq!(number(&mut session, "SELECT nextval('s')"), 53);
    let copy = open_at(&first, "/copy").unwrap();
    let mut copied = copy.session();
    assert_eq!(rows(&mut copied, DEFINED), defined);
    assert_eq!(number(&mut copied, "SELECT nextval('s')"), 53);
    run(&mut copied, &["INSERT INTO t (a) VALUES (9)", "DROP TABLE t"]);
    assert_eq!(rows(&mut copied, DEFINED).len(), 2);
    drop((copied, copy, session, database));
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    for path in ["/db", "/copy"] {
        let check =
            Database::check_dir(first.clone(), Path::new(path), options.clone(), &NoProgress);
        assert_eq!(check.unwrap().damages, []);
    }
}

#[test]
fn no_number_comes_twice_through_crashes_at_any_time() {
    for seed in 0..20 {
        let mut prng = Prng::new(seed);
        let mut image = DiskImage::default();
        let (mut last, mut restarts) = (0, 0);
        while restarts < 6 {
            let machine = machine(image);
            let database = open(&machine);
            let mut session = database.session();
            run(&mut session, &["CREATE SEQUENCE IF NOT EXISTS s"]);
            for _ in 0..prng.below(60) {
                match prng.below(12) {
                    0 => run(&mut session, &["CHECKPOINT"]),
                    1 => run(&mut session, &["ALTER SEQUENCE s CACHE 3"]),
                    2 => run(&mut session, &["BEGIN", "SELECT nextval('s')", "ROLLBACK"]),
                    3 => run(
                        &mut session,
                        &[
                            "BEGIN",
                            "ALTER SEQUENCE s RENAME TO x",
                            "ALTER SEQUENCE x RENAME TO s",
                            "COMMIT",
                        ],
                    ),
                    _ => {}
                }
                let given = number(&mut session, "SELECT nextval('s')");
                assert!(given > last, "seed {seed}: {given} comes behind {last}");
                last = given;
            }
            // A crash that keeps what was synced and any part of the rest.
            image = machine.crash(prng.below(2));
            restarts += 1;
        }
    }
}
