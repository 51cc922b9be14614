//! A backup is the tables of one moment, in a folder that opens.

use std::path::Path;

use crate::common::texts;
use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions, NoProgress, SqlResult};
use simulator::SimulatedMachine;
use stdx::Bytes;
use stdx::sync::{Arc, thread};

fn machine() -> Arc<SimulatedMachine> {
    SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 1)
}

fn options() -> DatabaseOptions {
    DatabaseOptions { workers: Some(2), delta_from: Some(0), ..DatabaseOptions::default() }
}

fn open(machine: &Arc<SimulatedMachine>, path: &str) -> SqlResult<Arc<Database>> {
    Database::open_dir(machine.clone(), Path::new(path), options(), &NoProgress)
}

fn rows(database: &Arc<Database>, sql: &str) -> Vec<String> {
    texts(&database.session().query(sql).unwrap().batches, "|", "NULL")
}

fn fill(database: &Arc<Database>) {
    let mut session = database.session();
    for sql in [
        "CREATE TABLE t (i INTEGER PRIMARY KEY, v TEXT DEFAULT 'x' CHECK (v <> 'no'))",
        "INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, 'c')",
        "CREATE INDEX t_v ON t (v)",
        "CREATE TABLE h (i INTEGER, v TEXT) PARTITION BY HASH (i) PARTITIONS 3",
        "INSERT INTO h SELECT i, v FROM t",
        "DELETE FROM h WHERE i = 2",
    ] {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

const ALL: &str = "SELECT i, v FROM t UNION ALL SELECT i + 100, v FROM h ORDER BY 1";

#[test]
fn a_backup_opens_with_all_that_was_there_and_nothing_that_came_later() {
    for path in [Some("/db"), None] {
        let machine = machine();
        let database = match path {
            Some(path) => open(&machine, path).unwrap(),
            None => Database::open(machine.clone(), options()).unwrap(),
        };
        fill(&database);
        let indexes = "SELECT * FROM nodewise.indexes ORDER BY 1, 2";
        let before = (rows(&database, ALL), rows(&database, indexes));
        let mut session = database.session();
        assert_eq!(session.query("BACKUP TO '/copy'").unwrap().tag, "BACKUP");
        session.execute("INSERT INTO t VALUES (4, 'later')").unwrap();
        let found =
            Database::check_dir(machine.clone(), Path::new("/copy"), options(), &NoProgress);
        let found = found.unwrap();
        assert_eq!((found.damages, found.tables.len()), (vec![], 2));
        let copy = open(&machine, "/copy").unwrap();
        assert_eq!((rows(&copy, ALL), rows(&copy, indexes)), before);
        let mut session = copy.session();
        let twice = session.execute("INSERT INTO t VALUES (1, 'again')").unwrap_err();
        assert_eq!(twice.state.0, "23505");
        session.execute("INSERT INTO t VALUES (5, DEFAULT)").unwrap();
        drop((session, copy));
        assert_eq!(rows(&open(&machine, "/copy").unwrap(), "SELECT v FROM t WHERE i = 5"), ["x"]);
        assert_eq!(rows(&database, "SELECT count(*) FROM t"), ["4"], "the two are two");
    }
}

#[test]
fn a_backup_is_of_the_picture_of_its_transaction_and_stops_no_writer() {
    let machine = machine();
    let database = open(&machine, "/db").unwrap();
    fill(&database);
    let (mut reader, mut writer) = (database.session(), database.session());
    reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t").unwrap();
    writer.execute("BEGIN; DELETE FROM t").unwrap();
    // Another writes, and this one does not wait for it.
    reader.execute("BACKUP TO '/first'").unwrap();
    writer.execute("COMMIT").unwrap();
    reader.execute("BACKUP TO '/second'").unwrap();
    writer.execute("BACKUP TO '/third'").unwrap();
    let left = ["/first", "/second", "/third"]
        .map(|path| rows(&open(&machine, path).unwrap(), "SELECT count(*) FROM t")[0].clone());
    assert_eq!(left, ["3", "3", "0"]);
    writer.execute("BEGIN; INSERT INTO t VALUES (9, 'mine')").unwrap();
    let refused = writer.execute("BACKUP TO '/fourth'").unwrap_err();
    assert_eq!(refused.state.0, "25001");
    assert!(machine.inspect_folder(Path::new("/fourth")).is_err(), "none was made");
}

#[test]
fn what_is_in_the_way_is_refused_and_what_fails_is_removed() {
    let machine = machine();
    let database = open(&machine, "/db").unwrap();
    fill(&database);
    let mut session = database.session();
    let mut refused = |sql: &str| {
        let error = session.execute(sql).unwrap_err();
        (error.state.0, error.message)
    };
    assert_eq!(refused("BACKUP TO '/db'").0, "55006");
    drop(open(&machine, "/other").unwrap());
    let full = refused("BACKUP TO '/other'");
    assert_eq!(full, ("58P02", "the folder /other is not empty".to_owned()));
    for wrong in ["BACKUP", "BACKUP TO", "BACKUP TO ''", "BACKUP TO x", "BACKUP TO 'a' 'b'"] {
        assert_eq!(refused(wrong).0, "42601", "{wrong}");
    }
    // The disk is full after some of it, or fails at any access.
    let used = machine.lasting_bytes();
    machine.set_disk(used + Bytes(20_000), None);
    assert_eq!(refused("BACKUP TO '/copy'").0, "53100");
    assert_eq!(machine.lasting_bytes(), used, "it was removed");
    assert!(machine.inspect_folder(Path::new("/copy")).is_err());
    machine.set_disk(Bytes(u64::MAX), None);
    session.execute("BACKUP TO '/copy'").unwrap();
    assert_eq!(rows(&open(&machine, "/copy").unwrap(), "SELECT count(*) FROM t"), ["3"]);
}

#[test]
fn a_backup_that_was_cut_short_is_never_taken_for_a_database() {
    let (mut refused, mut whole) = (0, 0);
    for good in 0..100 {
        let machine = machine();
        let database = Database::open(machine.clone(), options()).unwrap();
        fill(&database);
        // From some access on the disk fails, and nothing can be removed either.
        machine.set_disk(Bytes(u64::MAX), Some(good));
        let made = database.session().execute("BACKUP TO '/copy'");
        machine.set_disk(Bytes(u64::MAX), None);
        let is_empty = match machine.inspect_folder(Path::new("/copy")) {
            Ok(folder) => folder.list().unwrap().is_empty(),
            Err(_) => true,
        };
        match open(&machine, "/copy") {
            _ if is_empty => assert!(made.is_err()),
            Ok(copy) => {
                assert_eq!(rows(&copy, ALL), rows(&database, ALL), "{good}");
                whole += 1;
            }
            Err(error) => {
                assert_eq!((made.is_err(), error.state.0), (true, "XX001"), "{good}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 10 && whole > 0, "{refused}, {whole}");
}

#[test]
fn backups_of_a_database_that_is_written_are_of_one_moment_each() {
    let folder = std::env::temp_dir().join(format!("nodewise-backups-{}", std::process::id()));
    let machine: Arc<dyn Machine> = hardware_linux::open();
    let open = |name: &str| {
        Database::open_dir(machine.clone(), &folder.join(name), options(), &NoProgress).unwrap()
    };
    let database = open("db");
    let mut session = database.session();
    session.execute("CREATE TABLE a (i INTEGER); CREATE TABLE b (i INTEGER)").unwrap();
    let writer = thread::spawn(move || {
        for i in 0..60 {
            let both =
                format!("BEGIN; INSERT INTO a VALUES ({i}); INSERT INTO b VALUES ({i}); COMMIT");
            session.execute(&both).unwrap();
        }
    });
    let mut count = 0;
    while !writer.is_finished() || count < 2 {
        let path = folder.join(format!("copy-{count}"));
        database.session().execute(&format!("BACKUP TO '{}'", path.display())).unwrap();
        count += 1;
    }
    writer.join().unwrap();
    let mut before = 0;
    for number in 0..count {
        let copy = open(&format!("copy-{number}"));
        let counts = rows(&copy, "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)");
        let (a, b) = counts[0].split_once('|').unwrap();
        assert_eq!(a, b, "copy {number}");
        let now: u64 = a.parse().unwrap();
        assert!(now >= before, "copy {number}");
        before = now;
    }
    drop(database);
    std::fs::remove_dir_all(&folder).unwrap();
}
