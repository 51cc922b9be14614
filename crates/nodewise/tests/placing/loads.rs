//! Many rows are written as files of their tables, which the log names (docs/design/09-durability.md, "a load").

use std::path::Path;

use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions, NoProgress, Session};
use simulator::{DiskImage, SimulatedMachine};
use stdx::Bytes;
use stdx::sync::Arc;

fn machine() -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, DiskImage::default())
}

/// A database that writes rows of 4 KiB and more as files.
fn open(machine: &Arc<SimulatedMachine>) -> Arc<Database> {
    let files_from = Some(Bytes(4 << 10));
    let options = DatabaseOptions { workers: Some(2), files_from, ..DatabaseOptions::default() };
    Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress).unwrap()
}

fn run(session: &mut Session, statements: &[&str]) {
    for sql in statements {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The database after a crash that kept only what was synced.
fn crashed(machine: &SimulatedMachine) -> Arc<Database> {
    let topology = samples::by_name("laptop").unwrap();
    open(&SimulatedMachine::after_crash(topology, 1, machine.crash(0)))
}

/// Names and lengths of the files of tables in an image, once all is synced.
fn table_files(machine: &SimulatedMachine) -> Vec<String> {
    let topology = samples::by_name("laptop").unwrap();
    let image = SimulatedMachine::after_crash(topology, 1, machine.crash(0));
    let folder = image.open_folder(Path::new("/db")).unwrap();
    folder.list().unwrap().into_iter().filter(|it| it.starts_with("table-")).collect()
}

fn one(database: &Arc<Database>, sql: &str) -> String {
    let answer = database.session().query(sql).unwrap_or_else(|it| panic!("{sql}: {it}"));
    crate::common::texts(&answer.batches, "|", "NULL").join("\n")
}

const ROWS: &str = "CREATE TABLE t AS SELECT a.i * 100 + b.i * 10 + c.i AS k, 'name ' || a.i AS n \
    FROM ten a, ten b, ten c";
const SUMS: &str = "SELECT count(*), sum(k), min(n), max(n) FROM t";

fn filled(machine: &Arc<SimulatedMachine>) -> (Arc<Database>, Session) {
    let database = open(machine);
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE TABLE ten (i INTEGER)",
            "INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
            ROWS,
        ],
    );
    (database, session)
}

#[test]
fn a_load_comes_back_from_its_files() {
    let first = machine();
    let (database, mut session) = filled(&first);
    assert_eq!(table_files(&first).len(), 2, "the table's and its part's; few rows have none");
    run(
        &mut session,
        &[
            "INSERT INTO t VALUES (-1, 'few')",
            "INSERT INTO t SELECT k + 1000, n FROM t",
            "DELETE FROM t WHERE k = 7",
        ],
    );
    let before = one(&database, SUMS);
    assert_eq!(one(&crashed(&first), SUMS), before);
    // The next checkpoint keeps files of parts that are as they were.
    let loaded = table_files(&first);
    run(&mut session, &["CHECKPOINT"]);
    let kept = table_files(&first);
    let both = kept.iter().filter(|it| loaded.contains(it)).count();
    assert!(both >= 2, "{loaded:?} {kept:?}");
    assert_eq!(one(&crashed(&first), SUMS), before);
}

#[test]
fn what_does_not_commit_leaves_no_file() {
    let first = machine();
    let (database, mut session) = filled(&first);
    let before = table_files(&first);
    run(&mut session, &["BEGIN", "INSERT INTO t SELECT k + 1000, n FROM t"]);
    run(&mut session, &["SAVEPOINT s", "CREATE TABLE u AS SELECT * FROM t", "ROLLBACK"]);
    assert_eq!(table_files(&first), before);
    // A crash before the commit leaves them to the next checkpoint.
    run(&mut session, &["BEGIN", "INSERT INTO t SELECT k + 1000, n FROM t"]);
    let again = crashed(&first);
    assert_eq!(one(&again, "SELECT count(*) FROM t"), "1000");
    run(&mut again.session(), &["CHECKPOINT"]);
    assert_eq!(one(&again, "SELECT count(*) FROM t"), "1000");
    run(&mut session, &["COMMIT"]);
    assert_eq!(one(&database, "SELECT count(*) FROM t"), "2000");
    assert_eq!(one(&crashed(&first), "SELECT count(*) FROM t"), "2000");
}

#[test]
fn a_savepoint_takes_back_a_load() {
    let first = machine();
    let (_database, mut session) = filled(&first);
    run(&mut session, &["BEGIN", "INSERT INTO t SELECT k + 1000, n FROM t", "SAVEPOINT s"]);
    run(&mut session, &["CREATE TABLE u AS SELECT * FROM t", "INSERT INTO t SELECT * FROM u"]);
    run(&mut session, &["ROLLBACK TO s", "INSERT INTO t VALUES (5000, 'last')", "COMMIT"]);
    let again = crashed(&first);
    assert_eq!(one(&again, SUMS), "2001|2004000|last|name 9");
    assert_eq!(again.tables().len(), 2);
    run(&mut session, &["CHECKPOINT"]);
    assert_eq!(one(&crashed(&first), SUMS), "2001|2004000|last|name 9");
}

#[test]
fn a_full_disk_refuses_a_load_and_leaves_the_room_it_took() {
    let first = machine();
    let (database, mut session) = filled(&first);
    let before = table_files(&first);
    first.set_disk(Bytes(300 << 10), None);
    let error = session.execute("INSERT INTO t SELECT a.k, a.n FROM t a, ten, ten b").unwrap_err();
    assert_eq!(error.state.0, "53100", "{error}");
    assert_eq!(table_files(&first), before);
    run(&mut session, &["INSERT INTO t VALUES (-1, 'few')"]);
    assert_eq!(one(&database, "SELECT count(*) FROM t"), "1001");
    assert_eq!(one(&crashed(&first), "SELECT count(*) FROM t"), "1001");
}
