//! Hermitage's cases (Kleppmann): each anomaly that has a name, at each level. `waits` is a statement that has to wait for the
//! writer before it; what comes of it is told by a line of its own, `b.`, when that one has ended.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use nodewise::{Database, DatabaseOptions};
use stdx::sync::{Arc, thread};

use crate::common::texts;

/// Long enough for a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(60);

/// A session that runs what it is sent.
struct Remote {
    sql: Sender<String>,
    answers: Receiver<String>,
}

impl Remote {
    fn new(database: &Arc<Database>) -> Self {
        let (sql, wanted) = channel::<String>();
        let (answer, answers) = channel();
        let mut session = database.session();
        thread::spawn(move || {
            for sql in wanted {
                let text = match session.execute(&sql) {
                    Ok(all) => all.last().map_or_else(String::new, |last| match last.has_rows() {
                        true if last.rows() == 0 => "nothing".to_owned(),
                        true => {
                            let mut rows = texts(&last.batches, "=", "NULL");
                            rows.sort();
                            rows.join(" ")
                        }
                        false => last.tag.clone(),
                    }),
                    Err(error) => error.state.0.to_owned(),
                };
                if answer.send(text).is_err() {
                    return;
                }
            }
        });
        Self { sql, answers }
    }
}

/// Waits until so many statements wait for other transactions.
fn wait_for_waiting(database: &Arc<Database>, count: usize) {
    let began = Instant::now();
    let sql = "SELECT id FROM nodewise.queries WHERE state = 'waiting'";
    while database.session().query(sql).unwrap().rows() < count {
        assert!(began.elapsed() < SOON, "{count} statements do not wait");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Runs the lines of a case: `a: sql -> what comes of it`.
fn case(level: &str, lines: &str) {
    let options = DatabaseOptions { workers: Some(1), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).unwrap();
    let sql = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20)";
    database.session().execute(sql).unwrap();
    let remotes = [(); 3].map(|()| Remote::new(&database));
    let mut waiting = 0;
    for line in lines.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (who, rest) = line.split_at(1);
        let (sql, wanted) = rest[1..].split_once("-> ").expect("a line says what comes of it");
        let sql = match sql.trim() {
            "begin" => format!("BEGIN ISOLATION LEVEL {level}"),
            "all" => "SELECT id, v FROM t".to_owned(),
            other => other.to_owned(),
        };
        let remote = &remotes["abc".find(who).expect("there are three sessions")];
        match rest.starts_with('.') {
            true => waiting -= 1,
            false => remote.sql.send(sql).unwrap(),
        }
        if wanted == "waits" {
            waiting += 1;
            wait_for_waiting(&database, waiting);
            assert!(remote.answers.try_recv().is_err(), "{line}\nof\n{lines}");
        } else {
            let found = remote.answers.recv_timeout(SOON).expect("it ends");
            assert_eq!(found, wanted, "{level}: {line}\nof\n{lines}");
        }
    }
    assert_eq!(waiting, 0, "{lines}");
}

const ALL: [&str; 3] = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
const SNAPSHOTS: [&str; 2] = ["REPEATABLE READ", "SERIALIZABLE"];

#[test]
fn writes_do_not_mix() {
    case(
        "READ COMMITTED",
        "a: begin -> BEGIN
         b: begin -> BEGIN
         a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         b: UPDATE t SET v = 12 WHERE id = 1 -> waits
         a: UPDATE t SET v = 21 WHERE id = 2 -> UPDATE 1
         a: COMMIT -> COMMIT
         b. -> UPDATE 1
         a: all -> 1=11 2=21
         b: UPDATE t SET v = 22 WHERE id = 2 -> UPDATE 1
         b: COMMIT -> COMMIT
         a: all -> 1=12 2=22",
    );
    for level in SNAPSHOTS {
        case(
            level,
            "a: begin -> BEGIN
             b: begin -> BEGIN
             a: all -> 1=10 2=20
             b: all -> 1=10 2=20
             a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
             b: UPDATE t SET v = 12 WHERE id = 1 -> waits
             a: UPDATE t SET v = 21 WHERE id = 2 -> UPDATE 1
             a: COMMIT -> COMMIT
             b. -> 40001
             b: ROLLBACK -> ROLLBACK
             a: all -> 1=11 2=21",
        );
    }
}

#[test]
fn what_is_not_committed_is_not_seen() {
    for level in ALL {
        // G1a, G1b.
        case(
            level,
            "a: begin -> BEGIN
             b: begin -> BEGIN
             a: UPDATE t SET v = 101 WHERE id = 1 -> UPDATE 1
             b: all -> 1=10 2=20
             a: ROLLBACK -> ROLLBACK
             b: all -> 1=10 2=20
             b: COMMIT -> COMMIT",
        );
        let seen = if level == ALL[0] { "1=11 2=20" } else { "1=10 2=20" };
        case(
            level,
            &format!(
                "a: begin -> BEGIN
                 b: begin -> BEGIN
                 a: UPDATE t SET v = 101 WHERE id = 1 -> UPDATE 1
                 b: all -> 1=10 2=20
                 a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
                 a: COMMIT -> COMMIT
                 b: all -> {seen}
                 b: COMMIT -> COMMIT"
            ),
        );
    }
    // G1c: neither sees the other.
    case(
        "READ COMMITTED",
        "a: begin -> BEGIN
         b: begin -> BEGIN
         a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         b: SELECT v FROM t WHERE id = 1 -> 10
         b: UPDATE t SET v = 22 WHERE id = 2 -> UPDATE 1
         a: SELECT v FROM t WHERE id = 2 -> 20
         b: SELECT v FROM t WHERE id = 1 -> 10
         a: COMMIT -> COMMIT
         b: all -> 1=11 2=22
         b: COMMIT -> COMMIT
         c: all -> 1=11 2=22",
    );
}

/// OTV: a transaction that is seen stays seen.
#[test]
fn what_was_observed_does_not_vanish() {
    case(
        "READ COMMITTED",
        "a: begin -> BEGIN
         b: begin -> BEGIN
         c: begin -> BEGIN
         a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         a: UPDATE t SET v = 19 WHERE id = 2 -> UPDATE 1
         b: UPDATE t SET v = 12 WHERE id = 1 -> waits
         a: COMMIT -> COMMIT
         b. -> UPDATE 1
         c: SELECT v FROM t WHERE id = 1 -> 11
         b: UPDATE t SET v = 18 WHERE id = 2 -> UPDATE 1
         c: SELECT v FROM t WHERE id = 2 -> 19
         b: COMMIT -> COMMIT
         c: all -> 1=12 2=18
         c: COMMIT -> COMMIT",
    );
}

/// PMP: rows that come while a transaction looks for what has a property.
#[test]
fn predicates_see_one_picture_from_repeatable_read_on() {
    for level in ALL {
        let seen = if level == ALL[0] { "3=30" } else { "nothing" };
        case(
            level,
            &format!(
                "a: begin -> BEGIN
                 a: SELECT id, v FROM t WHERE v = 30 -> nothing
                 b: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
                 a: SELECT id, v FROM t WHERE v % 3 = 0 -> {seen}
                 a: COMMIT -> COMMIT"
            ),
        );
        let (ended, end, left) = match level == ALL[0] {
            // The whole statement sees what the other has done: PostgreSQL finds no row here, and deletes none.
            true => ("DELETE 1", "COMMIT", "2=30"),
            false => ("40001", "ROLLBACK", "1=20 2=30"),
        };
        case(
            level,
            &format!(
                "a: begin -> BEGIN
                 b: begin -> BEGIN
                 b: SELECT 1 -> 1
                 a: UPDATE t SET v = v + 10 -> UPDATE 2
                 b: DELETE FROM t WHERE v = 20 -> waits
                 a: COMMIT -> COMMIT
                 b. -> {ended}
                 b: COMMIT -> {end}
                 a: all -> {left}"
            ),
        );
    }
}

/// P4: two that read a value and write what they made of it.
#[test]
fn updates_are_lost_in_read_committed_only() {
    for level in ALL {
        let ended = if level == ALL[0] { "UPDATE 1" } else { "40001" };
        let end = if level == ALL[0] { "COMMIT" } else { "ROLLBACK" };
        case(
            level,
            &format!(
                "a: begin -> BEGIN
                 b: begin -> BEGIN
                 a: SELECT v FROM t WHERE id = 1 -> 10
                 b: SELECT v FROM t WHERE id = 1 -> 10
                 a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
                 b: UPDATE t SET v = 11 WHERE id = 1 -> waits
                 a: COMMIT -> COMMIT
                 b. -> {ended}
                 b: COMMIT -> {end}"
            ),
        );
    }
}

/// G-single: half of what another did.
#[test]
fn reads_are_not_skewed_from_repeatable_read_on() {
    for level in ALL {
        let (second, third) = if level == ALL[0] { ("18", "2=18") } else { ("20", "nothing") };
        case(
            level,
            &format!(
                "a: begin -> BEGIN
                 b: begin -> BEGIN
                 a: SELECT v FROM t WHERE id = 1 -> 10
                 b: all -> 1=10 2=20
                 b: UPDATE t SET v = 12 WHERE id = 1 -> UPDATE 1
                 b: UPDATE t SET v = 18 WHERE id = 2 -> UPDATE 1
                 b: COMMIT -> COMMIT
                 a: SELECT v FROM t WHERE id = 2 -> {second}
                 a: SELECT id, v FROM t WHERE v % 9 = 0 -> {third}
                 a: COMMIT -> COMMIT"
            ),
        );
    }
    for level in SNAPSHOTS {
        case(
            level,
            "a: begin -> BEGIN
             b: begin -> BEGIN
             a: SELECT v FROM t WHERE id = 1 -> 10
             b: UPDATE t SET v = 12 WHERE id = 1 -> UPDATE 1
             b: UPDATE t SET v = 18 WHERE id = 2 -> UPDATE 1
             b: COMMIT -> COMMIT
             a: DELETE FROM t WHERE v = 20 -> 40001
             a: ROLLBACK -> ROLLBACK
             a: all -> 1=12 2=18",
        );
    }
}

/// G2-item and G2: each writes what the other has read, in one table or in two.
#[test]
fn writes_are_not_skewed_in_serializable() {
    let of_rows = |level: &str, table: &str, end: &str, left: &str| {
        case(
            level,
            &format!(
                "c: CREATE TABLE u AS SELECT id, v FROM t -> SELECT 2
                 a: begin -> BEGIN
                 b: begin -> BEGIN
                 a: SELECT sum(v) FROM (SELECT v FROM t UNION ALL SELECT v FROM u) x -> 60
                 b: SELECT sum(v) FROM (SELECT v FROM t UNION ALL SELECT v FROM u) x -> 60
                 a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
                 b: UPDATE {table} SET v = 21 WHERE id = 2 -> UPDATE 1
                 a: COMMIT -> COMMIT
                 b: COMMIT -> {end}
                 c: SELECT v FROM {table} WHERE id = 2 -> {left}"
            ),
        );
        case(
            level,
            &format!(
                "c: CREATE TABLE u AS SELECT id, v FROM t -> SELECT 2
                 a: begin -> BEGIN
                 b: begin -> BEGIN
                 a: SELECT v FROM t WHERE v % 3 = 0 UNION ALL SELECT v FROM u WHERE v % 3 = 0 -> nothing
                 b: SELECT v FROM t WHERE v % 3 = 0 UNION ALL SELECT v FROM u WHERE v % 3 = 0 -> nothing
                 a: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
                 b: INSERT INTO {table} VALUES (4, 42) -> INSERT 0 1
                 a: COMMIT -> COMMIT
                 b: COMMIT -> {end}"
            ),
        );
    };
    for table in ["t", "u"] {
        of_rows("READ COMMITTED", table, "COMMIT", "21");
        of_rows("REPEATABLE READ", table, "COMMIT", "21");
        of_rows("SERIALIZABLE", table, "40001", "20");
    }
}

/// Two that give rows one key: the second waits to learn whether the first stays.
#[test]
fn who_brings_a_key_that_another_has_brought_waits() {
    for level in ALL {
        let (upsert, end, left) = match level == ALL[0] {
            true => ("INSERT 0 1", "COMMIT", "3=31"),
            false => ("40001", "ROLLBACK", "3=30"),
        };
        // Who has seen that the key is not there cannot go on as if it were not.
        let (taken, unseen) = match level == ALL[2] {
            true => ("40001", "SELECT v FROM t WHERE id = 1 -> 10"),
            false => ("23505", "all -> 1=10 2=20"),
        };
        case(
            level,
            &format!(
                "a: begin -> BEGIN
                 b: begin -> BEGIN
                 b: all -> 1=10 2=20
                 a: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
                 b: INSERT INTO t VALUES (3, 31) -> waits
                 a: COMMIT -> COMMIT
                 b. -> {taken}
                 b: ROLLBACK -> ROLLBACK
                 a: DELETE FROM t WHERE id = 3 -> DELETE 1
                 a: begin -> BEGIN
                 b: begin -> BEGIN
                 b: {unseen}
                 a: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
                 b: INSERT INTO t VALUES (3, 31) -> waits
                 a: COMMIT -> COMMIT
                 b. -> 23505
                 b: ROLLBACK -> ROLLBACK
                 a: DELETE FROM t WHERE id = 3 -> DELETE 1
                 a: begin -> BEGIN
                 a: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
                 b: INSERT INTO t VALUES (3, 31) -> waits
                 a: ROLLBACK -> ROLLBACK
                 b. -> INSERT 0 1
                 a: begin -> BEGIN
                 a: DELETE FROM t WHERE id = 3 -> DELETE 1
                 b: INSERT INTO t VALUES (3, 32) -> waits
                 a: COMMIT -> COMMIT
                 b. -> INSERT 0 1
                 b: DELETE FROM t WHERE id = 3 -> DELETE 1
                 a: begin -> BEGIN
                 b: begin -> BEGIN
                 b: SELECT v FROM t WHERE id = 3 -> nothing
                 a: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
                 b: INSERT INTO t VALUES (3, 1) ON CONFLICT (id) DO UPDATE SET v = t.v + excluded.v -> waits
                 a: COMMIT -> COMMIT
                 b. -> {upsert}
                 b: COMMIT -> {end}
                 a: SELECT id, v FROM t WHERE id = 3 -> {left}"
            ),
        );
    }
}

/// Two that wait for one another: the one that closes the circle is refused, and the other goes on.
#[test]
fn a_deadlock_is_found() {
    for level in ALL {
        case(
            level,
            "a: begin -> BEGIN
             b: begin -> BEGIN
             a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
             b: UPDATE t SET v = 22 WHERE id = 2 -> UPDATE 1
             a: UPDATE t SET v = 21 WHERE id = 2 -> waits
             b: UPDATE t SET v = 12 WHERE id = 1 -> 40P01
             a. -> UPDATE 1
             b: COMMIT -> ROLLBACK
             a: COMMIT -> COMMIT
             a: all -> 1=11 2=21",
        );
    }
}

/// G2 with a third that only reads (Fekete, O'Neil and O'Neil): it sees the second and not the first, which comes later.
#[test]
fn who_only_reads_is_serializable_too() {
    case(
        "SERIALIZABLE",
        "a: begin -> BEGIN
         a: all -> 1=10 2=20
         b: begin -> BEGIN
         b: UPDATE t SET v = v + 5 WHERE id = 2 -> UPDATE 1
         b: COMMIT -> COMMIT
         c: begin -> BEGIN
         c: all -> 1=10 2=25
         c: COMMIT -> COMMIT
         a: UPDATE t SET v = 0 WHERE id = 1 -> 40001
         a: ROLLBACK -> ROLLBACK
         c: all -> 1=10 2=25",
    );
}
