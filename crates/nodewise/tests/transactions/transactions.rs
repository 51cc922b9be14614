//! Transactions: what they see, what they leave, what they refuse, and random histories of several sessions against a model.
//! The anomalies that have names are in `isolation/`.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::texts;
use nodewise::{Database, DatabaseOptions, Session};
use stdx::Prng;
use stdx::sync::Arc;

fn database() -> Arc<Database> {
    let machine = hardware_linux::open();
    let database = Database::open(
        machine,
        DatabaseOptions { workers: Some(1), delta_from: Some(0), ..Default::default() },
    );
    let database = database.expect("the database opens");
    let mut session = database.session();
    let sql = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20)";
    session.execute(sql).expect("the table is made");
    database
}

/// A session that does not wait long for others.
fn session(database: &Arc<Database>) -> Session {
    let mut session = database.session();
    session.execute("SET lock_timeout = 20").expect("there is such a setting");
    session
}

/// What a text comes to: the rows of its last statement, or the state of its error.
fn run(session: &mut Session, sql: &str) -> String {
    match session.execute(sql) {
        Ok(answers) => {
            let Some(last) = answers.last() else { return String::new() };
            if !last.has_rows() {
                return last.tag.clone();
            }
            let mut rows = texts(&last.batches, "=", "NULL");
            rows.sort();
            rows.join(" ")
        }
        Err(error) => error.state.0.to_owned(),
    }
}

const ALL: &str = "SELECT id, v FROM t";

/// Runs the lines of a script: `a: sql -> what it comes to`.
fn script(lines: &str) {
    let database = database();
    let mut sessions = [session(&database), session(&database), session(&database)];
    for line in lines.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (who, rest) = line.split_once(": ").expect("a line names its session");
        let (sql, wanted) = rest.split_once(" -> ").expect("a line says what comes of it");
        let sql = if sql == "all" { ALL } else { sql };
        let at =
            ["a", "b", "c"].iter().position(|it| *it == who).expect("there are three sessions");
        assert_eq!(run(&mut sessions[at], sql), wanted, "{line}\nof\n{lines}");
    }
}

#[test]
fn a_block_is_kept_or_dropped_as_a_whole() {
    script(
        "a: BEGIN -> BEGIN
         a: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
         a: UPDATE t SET v = v + 1 WHERE id = 1 -> UPDATE 1
         a: all -> 1=11 2=20 3=30
         b: all -> 1=10 2=20
         a: ROLLBACK -> ROLLBACK
         a: all -> 1=10 2=20
         a: START TRANSACTION; DELETE FROM t WHERE id = 2 -> DELETE 1
         a: CREATE TABLE u AS SELECT 5 AS x -> SELECT 1
         b: SELECT x FROM u -> 42P01
         a: END -> COMMIT
         b: SELECT x FROM u -> 5
         b: all -> 1=10
         a: BEGIN; DROP TABLE u; CREATE TABLE u AS SELECT 6 AS x; CREATE INDEX i ON u (x) -> CREATE INDEX
         b: SELECT x FROM u -> 5
         a: SELECT x FROM u -> 6
         a: ROLLBACK; SELECT x FROM u -> 5
         a: ABORT -> ROLLBACK
         a: COMMIT -> COMMIT",
    );
}

#[test]
fn a_failed_statement_fails_its_block() {
    script(
        "a: BEGIN; INSERT INTO t VALUES (3, 30) -> INSERT 0 1
         a: INSERT INTO t VALUES (3, 31) -> 23505
         a: all -> 25P02
         a: BEGIN -> 25P02
         a: SAVEPOINT s -> 25P02
         a: COMMIT -> ROLLBACK
         a: all -> 1=10 2=20
         a: BEGIN -> BEGIN
         a: SELEC 1 -> 42601
         a: SELECT 1 -> 25P02
         a: ROLLBACK; SELECT 1 -> 1
         a: BEGIN; SELECT 1 / 0 -> 22012
         a: SELECT 1 -> 25P02
         a: ROLLBACK AND CHAIN -> ROLLBACK
         a: UPDATE t SET v = 0 -> UPDATE 2
         a: ROLLBACK -> ROLLBACK
         a: all -> 1=10 2=20
         a: TRUNCATE t, nosuch -> 42P01
         a: all -> 1=10 2=20
         a: COMMIT AND CHAIN -> 25P01",
    );
}

#[test]
fn savepoints_keep_what_came_before_them() {
    script(
        "a: SAVEPOINT s -> 25P01
         a: BEGIN; SAVEPOINT none -> SAVEPOINT
         a: INSERT INTO t VALUES (3, 30); SAVEPOINT three -> SAVEPOINT
         a: INSERT INTO t VALUES (4, 40); SET lock_timeout = 7; SAVEPOINT four -> SAVEPOINT
         a: DELETE FROM t -> DELETE 4
         a: ROLLBACK TO four -> ROLLBACK
         a: all -> 1=10 2=20 3=30 4=40
         a: SHOW lock_timeout -> 7ms
         a: SELECT 1 / 0 -> 22012
         a: ROLLBACK TO SAVEPOINT three; SELECT id, v FROM t -> 1=10 2=20 3=30
         a: SHOW lock_timeout -> 20ms
         a: ROLLBACK TO four -> 3B001
         a: ROLLBACK TO three -> ROLLBACK
         a: RELEASE SAVEPOINT three -> RELEASE
         a: ROLLBACK TO three -> 3B001
         a: ROLLBACK TO none; SELECT id, v FROM t -> 1=10 2=20
         a: INSERT INTO t VALUES (5, 50); COMMIT -> COMMIT
         b: all -> 1=10 2=20 5=50",
    );
}

#[test]
fn modes_are_what_was_said() {
    script(
        "a: SHOW transaction_isolation -> read committed
         a: BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SHOW TRANSACTION ISOLATION LEVEL -> repeatable read
         a: all -> 1=10 2=20
         a: DELETE FROM t -> 25006
         a: ROLLBACK -> ROLLBACK
         a: BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SHOW transaction_isolation -> serializable
         a: all -> 1=10 2=20
         a: SET TRANSACTION ISOLATION LEVEL READ COMMITTED -> 25001
         a: ROLLBACK -> ROLLBACK
         a: SET default_transaction_isolation = 'repeatable read'; SHOW transaction_isolation -> repeatable read
         a: SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE -> SET
         a: SHOW default_transaction_isolation -> serializable
         a: BEGIN; SHOW transaction_isolation -> serializable
         a: ROLLBACK; SET default_transaction_isolation = 'none' -> 22023
         a: BEGIN ISOLATION LEVEL READ UNCOMMITTED; SHOW transaction_isolation -> read uncommitted
         a: all -> 1=10 2=20
         b: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         a: all -> 1=11 2=20
         b: UPDATE t SET v = 10 WHERE id = 1 -> UPDATE 1
         a: ROLLBACK; SET default_transaction_isolation = 'Read Uncommitted' -> SET
         a: SHOW transaction_isolation -> read uncommitted
         a: SET default_transaction_isolation = 'serializable' -> SET
         a: BEGIN; SET lock_timeout = 9; ROLLBACK; SHOW lock_timeout -> 20ms
         a: BEGIN; SET lock_timeout = 9; COMMIT; SHOW lock_timeout -> 9ms",
    );
}

#[test]
fn a_session_that_changes_nothing_says_so_once() {
    script(
        "a: SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY, NOT DEFERRABLE -> SET
         a: SHOW default_transaction_read_only -> on
         a: DELETE FROM t -> 25006
         a: CREATE TABLE u (a INT) -> 25006
         a: DROP TABLE t -> 25006
         a: CREATE TABLE u AS SELECT 1 AS a -> 25006
         a: TRUNCATE t -> 25006
         a: BEGIN; SHOW transaction_read_only -> on
         a: INSERT INTO t VALUES (3, 30) -> 25006
         a: ROLLBACK; START TRANSACTION READ WRITE, ISOLATION LEVEL REPEATABLE READ, DEFERRABLE -> START TRANSACTION
         a: SHOW transaction_deferrable -> on
         a: SHOW transaction_read_only -> off
         a: INSERT INTO t VALUES (3, 30); COMMIT AND CHAIN; SHOW transaction_deferrable -> on
         a: SET TRANSACTION NOT DEFERRABLE; SHOW transaction_deferrable -> off
         a: SET transaction_read_only = on; DELETE FROM t -> 25006
         a: ROLLBACK; RESET default_transaction_read_only; DELETE FROM t WHERE id = 3 -> DELETE 1
         a: BEGIN DEFERRABLE READ ONLY; SHOW transaction_read_only -> on
         a: ROLLBACK; BEGIN NOT DEFERRABLE, READ ONLY; SHOW transaction_read_only -> on
         a: ROLLBACK; SET transaction_isolation = 'none' -> 22023",
    );
}

#[test]
fn what_is_set_for_a_transaction_ends_with_it() {
    script(
        "a: BEGIN; SET LOCAL lock_timeout = 9; SHOW lock_timeout -> 9ms
         a: COMMIT; SHOW lock_timeout -> 20ms
         a: BEGIN; SET LOCAL lock_timeout = 9; SET lock_timeout = 8; SHOW lock_timeout -> 8ms
         a: COMMIT; SHOW lock_timeout -> 8ms
         a: BEGIN; SET lock_timeout = 7; SET LOCAL lock_timeout = 6; SHOW lock_timeout -> 6ms
         a: COMMIT; SHOW lock_timeout -> 7ms
         a: BEGIN; SET lock_timeout = 5; SET LOCAL lock_timeout = 4; ROLLBACK; SHOW lock_timeout -> 7ms
         a: BEGIN; SAVEPOINT s; SET LOCAL lock_timeout = 4; ROLLBACK TO s; SHOW lock_timeout -> 7ms
         a: SET lock_timeout = 3; COMMIT; SHOW lock_timeout -> 3ms
         a: BEGIN; SET LOCAL lock_timeout = 4; SAVEPOINT s; SET lock_timeout = 2; ROLLBACK TO s; COMMIT; SHOW lock_timeout -> 3ms
         a: SET LOCAL lock_timeout = 4; SHOW lock_timeout -> 3ms
         a: BEGIN; SET LOCAL lock_timeout = 4; RESET ALL; COMMIT; SHOW lock_timeout -> 0
         a: BEGIN; SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SET LOCAL lock_timeout = 4; COMMIT; SHOW default_transaction_read_only -> on
         a: BEGIN; SET LOCAL default_transaction_read_only = off; COMMIT; SHOW default_transaction_read_only -> on
         a: SET LOCAL nothing = 1 -> 42704",
    );
}

#[test]
fn who_changes_what_another_has_changed_waits_and_may_give_up() {
    script(
        "a: BEGIN; UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         b: UPDATE t SET v = 12 WHERE id = 1 -> 55P03
         b: BEGIN; INSERT INTO t VALUES (9, 9) -> INSERT 0 1
         b: UPDATE t SET v = v + 1 WHERE id = 2 -> UPDATE 1
         c: INSERT INTO t VALUES (9, 90) -> 55P03
         c: UPDATE t SET v = 0 WHERE id = 2 -> 55P03
         b: all -> 1=10 2=21 9=9
         a: all -> 1=11 2=20
         b: UPDATE t SET v = v + 1 -> 55P03
         b: all -> 25P02
         c: INSERT INTO t VALUES (9, 90) -> INSERT 0 1
         b: ROLLBACK; SELECT id, v FROM t -> 1=10 2=20 9=90
         a: all -> 1=11 2=20 9=90
         a: COMMIT -> COMMIT
         b: UPDATE t SET v = v + 1 WHERE id = 1 RETURNING v -> 12
         b: all -> 1=12 2=20 9=90",
    );
    // Both commit, and what each did to rows and to what it had done itself is there.
    script(
        "a: BEGIN; UPDATE t SET v = v + 1 WHERE id = 1; INSERT INTO t VALUES (3, 30), (4, 40) -> INSERT 0 2
         b: BEGIN; DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (2, 22), (5, 50) -> INSERT 0 2
         a: DELETE FROM t WHERE id = 3; UPDATE t SET v = v + 1 WHERE id = 4 -> UPDATE 1
         b: SAVEPOINT s; DELETE FROM t WHERE id = 5; INSERT INTO t VALUES (6, 60) -> INSERT 0 1
         c: INSERT INTO t VALUES (7, 70) -> INSERT 0 1
         b: ROLLBACK TO s; SELECT id, v FROM t -> 1=10 2=22 5=50 7=70
         b: COMMIT -> COMMIT
         a: all -> 1=11 2=22 4=41 5=50 7=70
         a: COMMIT -> COMMIT
         c: all -> 1=11 2=22 4=41 5=50 7=70",
    );
    // A kept plan sees what was committed before its statement, too.
    script(
        "a: BEGIN; INSERT INTO t VALUES (3, 30) -> INSERT 0 1
         a: SELECT sum(v) FROM t -> 60
         a: SELECT sum(v) FROM t -> 60
         b: CREATE TABLE IF NOT EXISTS t (x INT) -> 55P03
         b: UPDATE t SET v = v + 5 WHERE id = 1 -> UPDATE 1
         a: SELECT sum(v) FROM t -> 65
         a: COMMIT -> COMMIT",
    );
    // What is more than a change of rows is done alone.
    script(
        "a: BEGIN; UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         b: CREATE TABLE u (x INT) -> 55P03
         b: ALTER TABLE t ADD CHECK (v > 0) -> 55P03
         a: CREATE TABLE u (x INT) -> CREATE TABLE
         b: INSERT INTO t VALUES (5, 50) -> 55P03
         b: all -> 1=10 2=20
         a: INSERT INTO t VALUES (3, 30); COMMIT -> COMMIT
         b: INSERT INTO t VALUES (5, 50) -> INSERT 0 1
         b: all -> 1=11 2=20 3=30 5=50
         b: BEGIN; UPDATE t SET v = 12 WHERE id = 1; SAVEPOINT s; UPDATE t SET v = 13 WHERE id = 1 -> UPDATE 1
         b: DROP TABLE u; ROLLBACK TO s; SELECT v FROM t WHERE id = 1 -> 12
         b: SELECT count(*) FROM u -> 0
         b: COMMIT; SELECT v FROM t WHERE id = 1 -> 12",
    );
    // A session that is gone has rolled back.
    let database = database();
    let mut gone = session(&database);
    assert_eq!(run(&mut gone, "BEGIN; DELETE FROM t"), "DELETE 2");
    drop(gone);
    let mut other = session(&database);
    assert_eq!(run(&mut other, "INSERT INTO t VALUES (3, 30)"), "INSERT 0 1");
    assert_eq!(run(&mut other, ALL), "1=10 2=20 3=30");
}

#[test]
fn repeatable_read_is_a_snapshot_and_the_first_committer_wins() {
    script(
        // PMP, G-single: the picture stays.
        "a: BEGIN ISOLATION LEVEL REPEATABLE READ -> BEGIN
         b: INSERT INTO t VALUES (3, 30) -> INSERT 0 1
         a: all -> 1=10 2=20 3=30
         b: INSERT INTO t VALUES (4, 42); UPDATE t SET v = 0 WHERE id = 1 -> UPDATE 1
         b: CREATE TABLE u (x INT) -> CREATE TABLE
         a: all -> 1=10 2=20 3=30
         a: SELECT v FROM t WHERE v % 3 = 0 -> 30
         a: SELECT * FROM u -> 42P01
         a: ROLLBACK; SELECT id, v FROM t -> 1=0 2=20 3=30 4=42
         a: BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t WHERE id = 2 -> 20
         b: UPDATE t SET v = 21 WHERE id = 2 -> UPDATE 1
         a: UPDATE t SET v = 22 WHERE id = 2 -> 40001
         a: COMMIT -> ROLLBACK
         a: all -> 1=0 2=21 3=30 4=42
         a: BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM u -> 0
         b: UPDATE t SET v = 23 WHERE id = 2 -> UPDATE 1
         a: INSERT INTO u SELECT v FROM t WHERE id = 2 RETURNING x -> 21
         a: COMMIT -> COMMIT
         b: SELECT x FROM u -> 21
         b: SELECT v FROM t WHERE id = 2 -> 23",
    );
}

#[test]
fn serializable_refuses_write_skew() {
    script(
        // G2-item, G2: each reads what the other changes.
        "c: CREATE TABLE u AS SELECT id, v FROM t -> SELECT 2
         a: BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(v) FROM t -> 30
         b: BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(v) FROM u -> 30
         a: UPDATE u SET v = 0 WHERE id = 1 -> UPDATE 1
         a: COMMIT -> COMMIT
         b: UPDATE t SET v = 0 WHERE id = 1 -> 40001
         b: ROLLBACK -> ROLLBACK
         a: BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(v) FROM t -> 30
         b: UPDATE u SET v = 7 WHERE id = 1 -> UPDATE 1
         a: SELECT sum(v) FROM u -> 20
         a: COMMIT -> COMMIT
         a: BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(v) FROM t -> 30
         a: UPDATE u SET v = 8 WHERE id = 1 -> UPDATE 1
         a: all -> 1=10 2=20
         a: COMMIT; SELECT sum(v) FROM u -> 28",
    );
}

#[test]
fn serializable_refuses_only_what_was_read() {
    script(
        // Rows that were not read may change, come and go.
        "a: BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT v FROM t WHERE id = 1 -> 10
         a: SELECT count(*) FROM t WHERE v BETWEEN 1 AND 15 -> 1
         b: UPDATE t SET v = 21 WHERE id = 2; INSERT INTO t VALUES (9, 90); CREATE TABLE u (x INT) -> CREATE TABLE
         a: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         b: DELETE FROM t WHERE id = 9 -> DELETE 1
         a: COMMIT -> COMMIT
         a: all -> 1=11 2=21",
    );
    let after = |read: &str, found: &str, change: &str, answer: &str, refused: bool| {
        let (ended, end) = if refused { ("40001", "ROLLBACK") } else { ("UPDATE 1", "COMMIT") };
        script(&format!(
            "c: CREATE TABLE u AS SELECT id, v FROM t -> SELECT 2
             a: BEGIN ISOLATION LEVEL SERIALIZABLE; {read} -> {found}
             b: {change} -> {answer}
             a: UPDATE u SET v = 0 WHERE id = 1 -> {ended}
             a: COMMIT -> {end}"
        ));
        // It is found at the commit, too.
        script(&format!(
            "c: CREATE TABLE u AS SELECT id, v FROM t -> SELECT 2
             a: PREPARE p AS {read} -> PREPARE
             a: BEGIN ISOLATION LEVEL SERIALIZABLE; EXECUTE p -> {found}
             a: UPDATE u SET v = 0 WHERE id = 1 -> UPDATE 1
             b: {change} -> {answer}
             a: COMMIT -> {}",
            if refused { "40001" } else { "COMMIT" }
        ));
    };
    let between = "SELECT count(*) FROM t WHERE v BETWEEN 15 AND 25";
    after(between, "1", "INSERT INTO t VALUES (5, 22)", "INSERT 0 1", true);
    after(between, "1", "INSERT INTO t VALUES (5, 26)", "INSERT 0 1", false);
    after(between, "1", "UPDATE t SET v = 99 WHERE id = 2", "UPDATE 1", true);
    after(between, "1", "UPDATE t SET v = 16 WHERE id = 1", "UPDATE 1", true);
    after(between, "1", "UPDATE t SET v = 14 WHERE id = 1", "UPDATE 1", false);
    after(between, "1", "DELETE FROM t WHERE id = 2", "DELETE 1", true);
    after(between, "1", "DELETE FROM t WHERE id = 1", "DELETE 1", false);
    // What the plan leaves out, as nothing was there, was asked.
    after(
        "SELECT count(*) FROM t WHERE v > 1000",
        "0",
        "INSERT INTO t VALUES (6, 2000)",
        "INSERT 0 1",
        true,
    );
    after("SELECT max(v) FROM t", "20", "INSERT INTO t VALUES (6, 2000)", "INSERT 0 1", true);
    after("SELECT count(*) FROM t", "2", "INSERT INTO t VALUES (6, 60)", "INSERT 0 1", true);
    let twice = "WITH w AS (SELECT v FROM t) SELECT (SELECT count(*) FROM w WHERE v = 10) + \
                 (SELECT count(*) FROM w WHERE v > 1000)";
    after(twice, "1", "INSERT INTO t VALUES (6, 2000)", "INSERT 0 1", true);
    // A table that is another one now was read whole.
    script(
        "a: BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT v FROM t WHERE id = 1 -> 10
         b: CREATE TABLE u (x INT); ALTER TABLE t ADD CHECK (v > 0) -> ALTER TABLE
         a: INSERT INTO t VALUES (3, 30) -> 40001",
    );
    let joined = "SELECT t.v FROM t JOIN u ON u.id = t.id WHERE u.id = 2";
    after(joined, "20", "UPDATE t SET v = 5 WHERE id = 2", "UPDATE 1", true);
    after(joined, "20", "DELETE FROM u WHERE id = 2", "DELETE 1", true);
    after(
        "SELECT v FROM t WHERE v = (SELECT min(v) FROM t)",
        "10",
        "UPDATE t SET v = 30 WHERE id = 2",
        "UPDATE 1",
        true,
    );
}

/// A session of the random histories, as the model has it.
#[derive(Default)]
struct Mirror {
    /// The rows that its transaction sees, from its first statement on.
    seen: Option<Rows>,
    in_block: bool,
    /// How many commits it sees.
    version: u64,
    /// What it has done to rows, if it has: these, and no others, it has locked.
    done: Done,
    savepoint: Option<(Rows, Done)>,
}

/// Keys of rows that a transaction has changed, taken or brought.
type Done = BTreeSet<i64>;

/// `v` by `id`.
type Rows = BTreeMap<i64, i64>;

fn shown(rows: &Rows) -> String {
    let mut rows: Vec<String> = rows.iter().map(|(id, v)| format!("{id}={v}")).collect();
    rows.sort();
    rows.join(" ")
}

impl Mirror {
    /// Does what changes nothing of the tables that others see: looks, sets a savepoint, goes back to it.
    fn looks(&mut self, session: &mut Session, kind: u64, what: &str) -> bool {
        let seen = self.seen.as_mut().expect("who looks has begun");
        match kind {
            0..3 => assert_eq!(run(session, ALL), shown(seen), "{what}"),
            3 => {
                assert_eq!(run(session, "SAVEPOINT s"), "SAVEPOINT", "{what}");
                self.savepoint = Some((seen.clone(), self.done.clone()));
            }
            4 => {
                if let Some((kept, done)) = self.savepoint.clone() {
                    assert_eq!(run(session, "ROLLBACK TO s"), "ROLLBACK", "{what}");
                    (*seen, self.done) = (kept, done);
                }
            }
            _ => return false,
        }
        true
    }
}

/// A statement that changes rows, its tag, and the keys of the rows; does the same to the model.
fn random_change(prng: &mut Prng, kind: u64, rows: &mut Rows) -> (String, String, Done) {
    let (id, v) = (prng.below(9) as i64, prng.below(100) as i64);
    match kind {
        5 if !rows.contains_key(&id) => {
            rows.insert(id, v);
            let sql = format!("INSERT INTO t VALUES ({id}, {v})");
            (sql, "INSERT 0 1".to_owned(), [id].into())
        }
        6 => {
            let gone: Done = rows.remove(&id).map(|_| id).into_iter().collect();
            (format!("DELETE FROM t WHERE id = {id}"), format!("DELETE {}", gone.len()), gone)
        }
        _ => {
            let to = id + prng.below(3) as i64;
            let sql = format!("UPDATE t SET v = v + {v} WHERE id BETWEEN {id} AND {to}");
            let changed: Done = rows
                .range_mut(id..=to)
                .map(|it| {
                    *it.1 += v;
                    *it.0
                })
                .collect();
            (sql, format!("UPDATE {}", changed.len()), changed)
        }
    }
}

/// What is committed, as the model has it.
#[derive(Default)]
struct World {
    rows: Rows,
    /// How many commits have changed something.
    version: u64,
    /// In which of them a row was changed last.
    changed_in: BTreeMap<i64, u64>,
    is_serializable: bool,
    waited: usize,
    refused: usize,
    /// Commits of transactions that had begun before others had committed.
    beside: usize,
}

impl World {
    /// Whether a serializable transaction may be refused: others have committed since its picture.
    fn may_refuse(&self, mirror: &Mirror) -> bool {
        self.is_serializable && mirror.seen.is_some() && mirror.version != self.version
    }

    /// COMMIT or ROLLBACK.
    fn end(&mut self, session: &mut Session, mirror: &mut Mirror, tag: &str, what: &str) {
        let found = run(session, tag);
        let may_refuse = self.may_refuse(mirror) && !mirror.done.is_empty();
        assert!(found == tag || found == "40001" && may_refuse, "{what}: {found}");
        let ended = std::mem::take(mirror);
        if found == "COMMIT" && !ended.done.is_empty() {
            self.beside += usize::from(ended.version != self.version);
            self.version += 1;
            let seen = ended.seen.expect("who writes has begun");
            for key in ended.done {
                self.changed_in.insert(key, self.version);
                match seen.get(&key) {
                    Some(v) => self.rows.insert(key, *v),
                    None => self.rows.remove(&key),
                };
            }
        }
    }

    /// A statement that changes rows, while others have locked some; what is refused ends the transaction.
    fn change(
        &mut self,
        session: &mut Session,
        mirror: &mut Mirror,
        (prng, kind): (&mut Prng, u64),
        others: &BTreeSet<i64>,
        what: &str,
    ) {
        let may_refuse = self.may_refuse(mirror);
        let mut changed = mirror.seen.clone().expect("it has begun");
        let (sql, tag, keys) = random_change(prng, kind, &mut changed);
        let found = run(session, &sql);
        let foreign: Vec<&i64> = keys.iter().filter(|it| !mirror.done.contains(it)).collect();
        let is_newer = |it: &&i64| self.changed_in.get(it).is_some_and(|it| *it > mirror.version);
        let brings = sql.starts_with("INSERT");
        if keys.iter().any(|it| others.contains(it)) {
            assert_eq!(found, "55P03", "{what}: {sql}");
            self.waited += 1;
        } else if brings && foreign.iter().any(|it| self.rows.contains_key(it)) {
            assert!(found == "23505" || may_refuse && found == "40001", "{what}: {sql}: {found}");
            self.refused += 1;
        } else if !brings && foreign.iter().any(is_newer) {
            assert_eq!(found, "40001", "{what}: {sql}");
            self.refused += 1;
        } else if may_refuse && found == "40001" {
            self.refused += 1;
        } else {
            assert_eq!(found, tag, "{what}: {sql}");
            mirror.done.extend(&keys);
            mirror.seen = Some(changed);
            return;
        }
        assert_eq!(run(session, "ROLLBACK"), "ROLLBACK", "{what}");
        *mirror = Mirror::default();
    }
}

/// At the levels that keep a snapshot: what a transaction sees is what was committed before its first statement and what it
/// has done since; what others have locked is waited for, what others have changed since is refused, and all else is there for
/// who comes after the commit. SERIALIZABLE may refuse more.
#[test]
fn random_histories_are_those_of_snapshots() {
    let (mut waited, mut refused, mut beside) = (0, 0, 0);
    for seed in 1..=30u64 {
        let mut prng = Prng::new(seed);
        let database = database();
        let is_serializable = seed % 2 == 1;
        let level = if is_serializable { "SERIALIZABLE" } else { "REPEATABLE READ" };
        let mut sessions: Vec<Session> = (0..3).map(|_| session(&database)).collect();
        sessions.iter_mut().for_each(|it| _ = run(it, "SET lock_timeout = 1"));
        let mut mirrors: Vec<Mirror> = (0..3).map(|_| Mirror::default()).collect();
        let rows = [(1, 10), (2, 20)].into();
        let mut world = World { rows, is_serializable, ..World::default() };
        for step in 0..150 {
            let at = prng.below(3) as usize;
            let others: BTreeSet<i64> = (0..3)
                .filter(|it| *it != at)
                .flat_map(|it| mirrors[it].done.iter().copied())
                .collect();
            let (session, mirror) = (&mut sessions[at], &mut mirrors[at]);
            let what = format!("seed {seed}, step {step}, session {at}");
            if !mirror.in_block {
                assert_eq!(run(session, &format!("BEGIN ISOLATION LEVEL {level}")), "BEGIN");
                mirror.in_block = true;
                continue;
            }
            let kind = prng.below(10);
            if kind >= 8 {
                let tag = if kind == 8 { "COMMIT" } else { "ROLLBACK" };
                world.end(session, mirror, tag, &what);
                continue;
            }
            // A savepoint is no look at the tables.
            if mirror.seen.is_none() && (3..5).contains(&kind) {
                continue;
            }
            if mirror.seen.is_none() {
                (mirror.seen, mirror.version) = (Some(world.rows.clone()), world.version);
            }
            // Who has changed something may hear at any time that what it has read is not so any more.
            if kind < 3 && world.may_refuse(mirror) && !mirror.done.is_empty() {
                world.end(session, mirror, "ROLLBACK", &what);
            } else if !mirror.looks(session, kind, &what) {
                world.change(session, mirror, (&mut prng, kind), &others, &what);
            }
        }
        (waited, refused, beside) =
            (waited + world.waited, refused + world.refused, beside + world.beside);
    }
    assert!(waited > 20 && refused > 10 && beside >= 5, "{waited} {refused} {beside}");
}
