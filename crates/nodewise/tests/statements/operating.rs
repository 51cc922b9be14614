//! What somebody who runs a database sees of it, and what ends by itself.

use std::path::Path;

use crate::common::texts;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, NoProgress, Session};
use simulator::{DiskImage, SimulatedMachine};
use stdx::Bytes;
use stdx::sync::Arc;

fn options() -> DatabaseOptions {
    DatabaseOptions { workers: Some(2), delta_from: Some(0), ..DatabaseOptions::default() }
}

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image)
}

fn open(machine: &Arc<SimulatedMachine>) -> Arc<Database> {
    Database::open_dir(machine.clone(), Path::new("/db"), options(), &NoProgress).unwrap()
}

/// A database with a table of two rows.
fn database() -> Arc<Database> {
    let database = open(&machine(DiskImage::default()));
    run(&mut database.session(), "CREATE TABLE t (i INTEGER, v TEXT)");
    run(&mut database.session(), "INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    database
}

/// What a text comes to: the rows of its last statement, or the state of its error.
fn run(session: &mut Session, sql: &str) -> String {
    match session.execute(sql) {
        Ok(answers) => match answers.last() {
            Some(last) if last.has_rows() => texts(&last.batches, "|", "NULL").join(" "),
            Some(last) => last.tag.clone(),
            None => String::new(),
        },
        Err(error) => error.state.0.to_owned(),
    }
}

/// Lets some time go by: somebody waits for it.
fn pass(database: &Arc<Database>, milliseconds: u64) {
    let (mut holder, mut waiter) = (database.session(), database.session());
    assert_eq!(run(&mut holder, "BEGIN; UPDATE t SET i = 1 WHERE i = 1"), "UPDATE 1");
    let wait = format!("SET lock_timeout = {milliseconds}; UPDATE t SET i = 1 WHERE i = 1");
    assert_eq!(run(&mut waiter, &wait), "55P03");
}

const SEEN: &str = "SELECT state, isolation, read_only, snapshot IS NULL, writes, rows_changed \
     FROM nodewise.transactions WHERE isolation IS NOT NULL ORDER BY session";

#[test]
fn transactions_are_seen_from_begin_to_end() {
    let database = database();
    let (mut a, mut b, mut eye) = (database.session(), database.session(), database.session());
    assert_eq!(run(&mut eye, SEEN), "");
    let own = "SELECT state, isolation, writes FROM nodewise.transactions";
    assert_eq!(run(&mut eye, own), "active|NULL|false", "a statement outside of a block");
    run(&mut a, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    let begun = "idle in transaction|repeatable read|true|true|false|0";
    assert_eq!(run(&mut eye, SEEN), begun);
    run(&mut a, "SELECT count(*) FROM t");
    let read = "idle in transaction|repeatable read|true|false|false|0";
    assert_eq!(run(&mut eye, SEEN), read, "it keeps its picture");
    run(&mut b, "BEGIN; UPDATE t SET v = 'x'");
    let writes = "idle in transaction|read committed|false|false|true|2";
    assert_eq!(run(&mut eye, SEEN), format!("{read} {writes}"));
    assert_eq!(run(&mut b, "SELECT 1 / 0"), "22012");
    let aborted = "idle in transaction (aborted)|read committed|false|true|false|2";
    assert_eq!(run(&mut eye, SEEN), format!("{read} {aborted}"));
    run(&mut b, "ROLLBACK");
    drop(a);
    assert_eq!(run(&mut eye, SEEN), "");
}

#[test]
fn a_transaction_that_does_nothing_is_rolled_back_and_its_locks_are_gone() {
    let database = database();
    let (mut a, mut b) = (database.session(), database.session());
    run(&mut a, "SET idle_in_transaction_session_timeout = 100");
    run(&mut a, "BEGIN; SAVEPOINT s; UPDATE t SET i = 3 WHERE i = 1");
    // The other waits, and gets the row when the time of the first is up.
    let wait = "SET lock_timeout = 1000; UPDATE t SET v = 'b' WHERE i = 1";
    assert_eq!(run(&mut b, wait), "UPDATE 1");
    assert_eq!(run(&mut b, "INSERT INTO t VALUES (4, 'd')"), "INSERT 0 1");
    let state = "SELECT state FROM nodewise.transactions WHERE isolation IS NOT NULL";
    assert_eq!(run(&mut b, state), "rolled back by a timeout");
    assert_eq!(run(&mut a, "INSERT INTO t VALUES (5, 'e')"), "25P03");
    assert_eq!(run(&mut a, "INSERT INTO t VALUES (5, 'e')"), "25P02", "still in the block");
    assert_eq!(run(&mut a, "ROLLBACK TO s"), "3B001");
    assert_eq!(run(&mut a, "COMMIT"), "ROLLBACK");
    assert_eq!(run(&mut a, "SELECT i FROM t ORDER BY i"), "1 2 4");
    // COMMIT of one that was rolled back is an error, ROLLBACK is none, and both end it.
    for (end, answer) in [("COMMIT", "25P03"), ("ROLLBACK", "ROLLBACK"), ("SAVEPOINT s", "25P03")] {
        run(&mut a, "BEGIN; DELETE FROM t WHERE i = 2");
        assert_eq!(run(&mut b, "UPDATE t SET v = 'b' WHERE i = 2"), "UPDATE 1");
        assert_eq!(run(&mut a, end), answer);
        run(&mut a, "ROLLBACK");
    }
    // Who does something in time goes on.
    run(&mut a, "BEGIN");
    for _ in 0..5 {
        pass(&database, 60);
        assert_eq!(run(&mut a, "SELECT count(*) FROM t"), "3");
    }
    assert_eq!(run(&mut a, "INSERT INTO t VALUES (7, 'g'); COMMIT"), "COMMIT");
    assert_eq!(run(&mut a, "SET idle_in_transaction_session_timeout = soon"), "22023");
}

#[test]
fn a_picture_that_is_too_old_is_given_up() {
    let database = database();
    let (mut a, mut eye) = (database.session(), database.session());
    run(&mut a, "SET old_snapshot_timeout = '200ms'");
    run(&mut a, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t");
    pass(&database, 120);
    assert_eq!(run(&mut a, "SELECT count(*) FROM t"), "2", "it is not old yet");
    pass(&database, 120);
    let seen =
        "SELECT state, snapshot IS NULL FROM nodewise.transactions WHERE isolation IS NOT NULL";
    assert_eq!(run(&mut eye, seen), "rolled back by a timeout|true");
    assert_eq!(run(&mut a, "SELECT count(*) FROM t"), "72000");
    assert_eq!(run(&mut a, "ROLLBACK; SELECT count(*) FROM t"), "2");
    // Where each statement has a picture of its own there is none that grows old, until it writes.
    run(&mut a, "BEGIN; SELECT count(*) FROM t");
    pass(&database, 250);
    assert_eq!(run(&mut a, "DELETE FROM t WHERE i = 2"), "DELETE 1");
    let wait = "SET lock_timeout = 1000; UPDATE t SET v = 'b' WHERE i = 2";
    assert_eq!(run(&mut eye, wait), "UPDATE 1");
    assert_eq!(run(&mut a, "COMMIT"), "72000");
}

#[test]
fn a_commit_that_nobody_waits_for_is_synced_some_time_later() {
    let first = machine(DiskImage::default());
    let database = open(&first);
    let mut session = database.session();
    run(&mut session, "CREATE TABLE t (i INTEGER); SET synchronous_commit = off");
    run(&mut session, "INSERT INTO t VALUES (1)");
    let behind = "SELECT appended - durable, state, cause FROM nodewise.log";
    assert_eq!(run(&mut session, behind), "1|on|NULL");
    let left = |machine: &SimulatedMachine| {
        let again = open(&self::machine(machine.crash(0)));
        run(&mut again.session(), "SELECT count(*) FROM t")
    };
    assert_eq!(left(&first), "0");
    pass(&database, 300);
    assert_eq!(run(&mut session, behind), "0|on|NULL");
    assert_eq!(left(&first), "1");
    // A sync that fails is seen, and told to who writes next.
    run(&mut session, "INSERT INTO t VALUES (2)");
    first.set_syncs(Some(0));
    pass(&database, 300);
    let state = run(&mut session, "SELECT state, cause FROM nodewise.log");
    assert!(state.starts_with("read-only|cannot sync /db/log-"), "{state}");
    assert_eq!(run(&mut session, "INSERT INTO t VALUES (3)"), "25006");
    assert_eq!(run(&mut session, "SELECT count(*) FROM t"), "2");
}

#[test]
fn the_log_and_checkpoints_say_what_they_did() {
    let database = database();
    let mut session = database.session();
    let log = "SELECT appended, durable, records, syncs > 0, waiting, state FROM nodewise.log";
    assert_eq!(run(&mut session, log), "2|2|2|true|0|on");
    let made = "SELECT reason, position, files_written, files_kept, bytes > 4096, outcome, error \
         FROM nodewise.checkpoints";
    assert_eq!(run(&mut session, made), "");
    run(&mut session, "CREATE TABLE u (i INTEGER)");
    run(&mut session, "CHECKPOINT");
    run(&mut session, "INSERT INTO u VALUES (1)");
    run(&mut session, "CHECKPOINT");
    let both = run(&mut session, made);
    let expected = "CHECKPOINT|3|5|0|true|done|NULL CHECKPOINT|4|2|4|true|done|NULL";
    assert_eq!(both, expected);
    let times = "SELECT count(*) FROM nodewise.checkpoints WHERE finished_ns >= started_ns";
    assert_eq!(run(&mut session, times), "2");
    let memory = Database::open(machine(DiskImage::default()), options()).unwrap();
    let mut session = memory.session();
    assert_eq!(run(&mut session, log) + &run(&mut session, made), "", "nothing lasts");
}

#[test]
fn a_checkpoint_that_fails_by_itself_is_seen_and_tried_again() {
    let machine = machine(DiskImage::default());
    let database = open(&machine);
    let mut session = database.session();
    run(&mut session, "CREATE TABLE t (i INTEGER, v TEXT)");
    let mut rows = 0;
    let mut insert = |session: &mut Session| {
        rows += 1;
        let insert = format!("INSERT INTO t VALUES ({rows}, '{rows}{}')", "x".repeat(4_000));
        assert_eq!(run(session, &insert), "INSERT 0 1", "the log grows");
        rows
    };
    for _ in 0..40 {
        insert(&mut session);
    }
    // There is room for some more records, and not for the table.
    machine.set_disk(machine.lasting_bytes() + Bytes(60_000), None);
    run(&mut session, "SET checkpoint_log_size = '20kB'");
    let before = insert(&mut session);
    let made = "SELECT reason, outcome, error FROM nodewise.checkpoints";
    let failed = run(&mut session, made);
    assert!(failed.starts_with("log size|failed|no space is left for /db/table-1-"), "{failed}");
    for _ in 0..5 {
        insert(&mut session);
    }
    assert_eq!(run(&mut session, made), failed, "not at once");
    assert_eq!(run(&mut session, "SELECT state FROM nodewise.log"), "on");
    // It is tried again when the log is twice as long, and there is room by then.
    machine.set_disk(Bytes(u64::MAX), None);
    while !run(&mut session, made).contains("log size|done|NULL") {
        assert!(insert(&mut session) < 200);
    }
    let rows = insert(&mut session);
    assert!(rows > before + 20, "{before}, {rows}");
    drop((session, database));
    let database = open(&machine);
    assert_eq!(run(&mut database.session(), "SELECT count(*) FROM t"), rows.to_string());
}

#[test]
fn merges_are_written_down() {
    let database = database();
    let mut session = database.session();
    let made = "SELECT table_name, parts, rows, duration_ns >= 0 FROM nodewise.merges";
    assert_eq!(run(&mut session, made), "");
    run(&mut session, "INSERT INTO t VALUES (3, 'c'); INSERT INTO t VALUES (4, 'd')");
    let deltas = "SELECT deltas, delta_rows FROM nodewise.deltas";
    let before = run(&mut session, deltas);
    let (count, rows) = before.split_once('|').unwrap();
    run(&mut session, "CALL nodewise.merge('t')");
    assert_eq!(run(&mut session, made), format!("t|{count}|{rows}|true"));
    assert_eq!(run(&mut session, deltas), "0|0");
    // Small ones are put together as they come.
    for i in 1..30 {
        let sql =
            format!("INSERT INTO t SELECT {i} * 1000 + n, 'e' FROM generate_series(1, 90) g(n)");
        run(&mut session, &sql);
    }
    assert!(run(&mut session, "SELECT count(*) > 1 FROM nodewise.merges") == "true");
    run(&mut session, "TRUNCATE t");
    let after = run(&mut session, "SELECT count(*) FROM nodewise.merges");
    run(&mut session, "INSERT INTO t VALUES (1, 'a'); DELETE FROM t");
    assert_eq!(run(&mut session, "SELECT count(*) FROM nodewise.merges"), after);
}
