//! SELECT .. FOR UPDATE and its kin, LOCK TABLE, and what foreign keys lock: who waits for whom, and what the views show of it.

use crate::common::texts;
use nodewise::{Database, DatabaseOptions, Session};
use stdx::sync::{Arc, thread};

fn database(sql: &str) -> Arc<Database> {
    let machine = hardware_linux::open();
    let options = DatabaseOptions { workers: Some(1), ..Default::default() };
    let database = Database::open(machine, options).expect("the database opens");
    database.session().execute(sql).expect("the tables are made");
    database
}

/// What a text comes to: the rows of its last statement, or the state of its error.
fn run(session: &mut Session, sql: &str) -> String {
    match session.execute(sql) {
        Ok(answers) => match answers.last() {
            Some(last) if last.has_rows() => texts(&last.batches, "=", "NULL").join(" "),
            Some(last) => last.tag.clone(),
            None => String::new(),
        },
        Err(error) => error.state.0.to_owned(),
    }
}

/// Runs the lines of a script: `a: sql -> what it comes to`. Nobody waits long.
fn script(tables: &str, lines: &str) {
    let database = database(tables);
    let mut sessions = [0; 3].map(|_| database.session());
    for session in &mut sessions {
        session.execute("SET lock_timeout = 20").expect("there is such a setting");
    }
    for line in lines.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (who, rest) = line.split_once(": ").expect("a line names its session");
        let (sql, wanted) = rest.split_once(" -> ").expect("a line says what comes of it");
        let at = ["a", "b", "c"].iter().position(|it| *it == who);
        let at = at.expect("there are three sessions");
        assert_eq!(run(&mut sessions[at], sql), wanted, "{line}\nof\n{lines}");
    }
}

const T: &str = "CREATE TABLE t (id INT PRIMARY KEY, v INT);
                 INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40)";
const FAMILY: &str = "CREATE TABLE parent (id INT PRIMARY KEY, v INT);
                      CREATE TABLE child (n INT PRIMARY KEY, p BIGINT REFERENCES parent);
                      INSERT INTO parent VALUES (1, 10), (2, 20), (3, 30);
                      INSERT INTO child VALUES (1, 1)";

#[test]
fn rows_of_a_result_are_locked_until_the_transaction_ends() {
    script(
        T,
        "a: BEGIN; SELECT v FROM t WHERE id = 1 FOR UPDATE -> 10
         b: UPDATE t SET v = 11 WHERE id = 1 -> 55P03
         b: UPDATE t SET v = 21 WHERE id = 2 -> UPDATE 1
         b: SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT -> 55P03
         b: SELECT v FROM t WHERE id = 1 FOR KEY SHARE NOWAIT -> 55P03
         b: SELECT v FROM t WHERE id = 1 -> 10
         a: UPDATE t SET v = v + 1 WHERE id = 1 -> UPDATE 1
         a: COMMIT -> COMMIT
         b: SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT -> 11
         b: BEGIN; SELECT v FROM t WHERE id = 2 FOR UPDATE; ROLLBACK -> ROLLBACK
         a: DELETE FROM t WHERE id = 2 -> DELETE 1
         a: SELECT count(*) FROM nodewise.locks -> 0",
    );
}

#[test]
fn strengths_exclude_each_other_as_in_postgresql() {
    let strengths = ["KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"];
    let excluded = ["...X", "..XX", ".XXX", "XXXX"];
    let database = database(T);
    let (mut a, mut b) = (database.session(), database.session());
    for (held, row) in strengths.iter().zip(excluded) {
        for (wanted, sign) in strengths.iter().zip(row.chars()) {
            run(&mut a, &format!("BEGIN; SELECT id FROM t WHERE id = 1 FOR {held}"));
            let got = run(&mut b, &format!("SELECT id FROM t WHERE id = 1 FOR {wanted} NOWAIT"));
            assert_eq!(got, if sign == 'X' { "55P03" } else { "1" }, "{held}, {wanted}");
            run(&mut a, "ROLLBACK");
        }
    }
    let cases = [
        ("UPDATE t SET v = 0 WHERE id = 1", ["1", "55P03", "55P03", "55P03"]),
        ("UPDATE t SET id = 9 WHERE id = 1", ["55P03"; 4]),
        ("DELETE FROM t WHERE id = 1", ["55P03"; 4]),
    ];
    for (change, wanted) in cases {
        for (strength, wanted) in strengths.iter().zip(wanted) {
            run(&mut a, &format!("BEGIN; {change}"));
            let sql = format!("SELECT id FROM t WHERE id = 1 FOR {strength} NOWAIT");
            assert_eq!(run(&mut b, &sql), wanted, "{change}, {strength}");
            run(&mut a, "ROLLBACK");
        }
    }
}

#[test]
fn a_key_share_stays_when_others_change_the_row() {
    script(
        T,
        "a: BEGIN; SELECT v FROM t WHERE id = 1 FOR KEY SHARE -> 10
         b: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         b: DELETE FROM t WHERE id = 1 -> 55P03
         b: UPDATE t SET id = 7 WHERE id = 1 -> 55P03
         a: COMMIT -> COMMIT
         b: DELETE FROM t WHERE id = 1 -> DELETE 1",
    );
}

#[test]
fn skip_locked_takes_what_is_left() {
    script(
        T,
        "a: BEGIN; SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED -> 1
         b: BEGIN; SELECT id FROM t ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED -> 2 3
         c: SELECT id FROM t ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED -> 4
         c: SELECT count(id) FROM (SELECT id FROM t WHERE v < 35 FOR SHARE SKIP LOCKED) s -> 0
         a: DELETE FROM t WHERE id = 1; COMMIT -> COMMIT
         b: ROLLBACK -> ROLLBACK
         c: SELECT id FROM t ORDER BY id DESC FOR UPDATE SKIP LOCKED -> 4 3 2",
    );
}

#[test]
fn skip_locked_skips_rows_whose_keys_others_need() {
    script(
        FAMILY,
        "a: BEGIN; INSERT INTO child VALUES (7, 2) -> INSERT 0 1
         b: SELECT id FROM parent ORDER BY id FOR UPDATE SKIP LOCKED -> 1 3
         b: SELECT id FROM parent ORDER BY id LIMIT 2 FOR NO KEY UPDATE SKIP LOCKED -> 1 2
         c: BEGIN; LOCK TABLE parent IN EXCLUSIVE MODE -> 55P03
         a: COMMIT -> COMMIT
         c: ROLLBACK; BEGIN; LOCK TABLE parent IN EXCLUSIVE MODE -> LOCK TABLE
         b: SELECT id FROM parent FOR UPDATE SKIP LOCKED -> 55P03",
    );
}

#[test]
fn of_names_the_tables_whose_rows_are_locked() {
    script(
        FAMILY,
        "a: BEGIN; SELECT n, v FROM child JOIN parent ON p = id FOR UPDATE OF child -> 1=10
         b: UPDATE parent SET v = 11 -> UPDATE 3
         b: DELETE FROM child -> 55P03
         a: SELECT n, v FROM child c JOIN parent q ON p = id FOR SHARE OF q FOR UPDATE OF c NOWAIT -> 1=11
         b: UPDATE parent SET v = 12 WHERE id = 1 -> 55P03
         b: UPDATE parent SET v = 12 WHERE id = 2 -> UPDATE 1
         a: ROLLBACK -> ROLLBACK
         a: SELECT n, id FROM child RIGHT JOIN parent ON p = id ORDER BY id FOR UPDATE OF parent -> 1=1 NULL=2 NULL=3
         a: SELECT n FROM child LEFT JOIN parent ON p = id FOR UPDATE -> 0A000
         a: SELECT n FROM child FOR UPDATE OF parent -> 42P01
         a: SELECT DISTINCT n FROM child FOR UPDATE -> 0A000
         a: SELECT count(*) FROM child FOR UPDATE -> 0A000
         a: SELECT row_number() OVER () FROM child FOR UPDATE -> 0A000
         a: SELECT n FROM child GROUP BY n FOR NO KEY UPDATE -> 0A000
         a: VALUES (1) FOR UPDATE -> 0A000
         a: WITH w AS (SELECT 1 AS x) SELECT x, n FROM w, child FOR UPDATE -> 1=1
         a: WITH w AS (SELECT 1 AS x) SELECT x, n FROM w, child FOR UPDATE OF w -> 0A000
         a: BEGIN READ ONLY; SELECT n FROM child FOR UPDATE -> 25006",
    );
}

#[test]
fn who_keeps_its_picture_locks_no_row_that_others_have_changed() {
    script(
        T,
        "a: BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t WHERE id = 2 -> 20
         b: UPDATE t SET v = 11 WHERE id = 1 -> UPDATE 1
         a: SELECT v FROM t WHERE id = 2 FOR UPDATE -> 20
         a: SELECT v FROM t WHERE id = 1 FOR UPDATE -> 40001
         a: ROLLBACK -> ROLLBACK",
    );
}

#[test]
fn who_waits_sees_what_the_other_has_done() {
    let database = database(T);
    let (mut a, mut b, mut c) = (database.session(), database.session(), database.session());
    assert_eq!(run(&mut a, "BEGIN; SELECT v FROM t WHERE v = 10 FOR UPDATE"), "10");
    let waiting = thread::spawn(move || run(&mut b, "SELECT v FROM t WHERE v < 15 FOR UPDATE"));
    while run(&mut c, "SELECT count(*) FROM nodewise.locks WHERE NOT granted") == "0" {
        thread::yield_now();
    }
    let held = "SELECT kind, \"table\", key, mode FROM nodewise.locks WHERE granted ORDER BY 1";
    assert_eq!(
        run(&mut c, held),
        "key=t=t_pkey=UPDATE row=t=NULL=UPDATE table=t=NULL=ROW SHARE table=t=NULL=ROW SHARE"
    );
    let locks = "SELECT locktype, mode, granted FROM pg_locks ORDER BY 1, 2, 3";
    assert_eq!(
        run(&mut c, locks),
        "relation=RowShareLock=true relation=RowShareLock=true transactionid=ExclusiveLock=true \
         transactionid=ExclusiveLock=true transactionid=ShareLock=false"
    );
    assert_eq!(
        run(&mut a, "UPDATE t SET v = 14 WHERE id = 1; UPDATE t SET v = 1 WHERE id = 4"),
        "UPDATE 1"
    );
    assert_eq!(run(&mut a, "COMMIT"), "COMMIT");
    assert_eq!(waiting.join().expect("it ends"), "14 1");
}

#[test]
fn tables_are_locked_in_the_modes_of_postgresql() {
    script(
        T,
        "a: LOCK TABLE t -> 25P01
         a: BEGIN; LOCK TABLE t IN SHARE MODE -> LOCK TABLE
         b: INSERT INTO t VALUES (9, 9) -> 55P03
         b: SELECT count(*) FROM t -> 4
         b: SELECT id FROM t WHERE id = 1 FOR UPDATE -> 1
         b: BEGIN; LOCK t IN SHARE MODE NOWAIT; ROLLBACK -> ROLLBACK
         b: BEGIN; LOCK t IN ROW EXCLUSIVE MODE NOWAIT -> 55P03
         b: ROLLBACK -> ROLLBACK
         a: UPDATE t SET v = 0 WHERE id = 1; COMMIT -> COMMIT
         a: BEGIN; LOCK TABLE t -> LOCK TABLE
         b: SELECT id FROM t WHERE id = 1 FOR KEY SHARE -> 55P03
         a: LOCK TABLE nothing -> 42P01
         a: ROLLBACK -> ROLLBACK
         b: BEGIN READ ONLY; LOCK TABLE t IN ACCESS SHARE MODE -> LOCK TABLE
         b: LOCK TABLE t IN SHARE MODE -> 25006",
    );
}

#[test]
fn families_are_changed_by_several_at_once() {
    script(
        FAMILY,
        "a: BEGIN; INSERT INTO child VALUES (2, 1) -> INSERT 0 1
         b: INSERT INTO child VALUES (3, 1), (4, 2) -> INSERT 0 2
         b: UPDATE parent SET v = 11 WHERE id = 1 -> UPDATE 1
         b: INSERT INTO parent VALUES (4, 40) -> INSERT 0 1
         b: DELETE FROM parent WHERE id = 3 -> DELETE 1
         b: DELETE FROM parent WHERE id = 1 -> 55P03
         b: SELECT v FROM parent WHERE id = 1 FOR UPDATE NOWAIT -> 55P03
         b: SELECT v FROM parent WHERE id = 1 FOR NO KEY UPDATE NOWAIT -> 11
         a: INSERT INTO child VALUES (5, 4) -> INSERT 0 1
         a: INSERT INTO child VALUES (6, 3) -> 23503
         a: ROLLBACK -> ROLLBACK
         b: BEGIN; DELETE FROM parent WHERE id = 4 -> DELETE 1
         a: INSERT INTO child VALUES (6, 4) -> 55P03
         b: COMMIT -> COMMIT
         a: INSERT INTO child VALUES (6, 4) -> 23503
         a: SELECT n, p FROM child ORDER BY n -> 1=1 3=1 4=2",
    );
}

#[test]
fn actions_of_foreign_keys_wait_for_rows_of_others() {
    script(
        "CREATE TABLE parent (id INT PRIMARY KEY);
         CREATE TABLE child (n INT, p INT REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE);
         INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1, 1), (2, 2)",
        "a: BEGIN; UPDATE child SET n = 11 WHERE n = 1 -> UPDATE 1
         b: DELETE FROM parent WHERE id = 1 -> 55P03
         b: DELETE FROM parent WHERE id = 2 -> DELETE 1
         a: COMMIT -> COMMIT
         b: UPDATE parent SET id = 7 WHERE id = 1 -> UPDATE 1
         a: SELECT n, p FROM child -> 11=7
         a: BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM child -> 1
         b: INSERT INTO child VALUES (3, 7) -> INSERT 0 1
         a: DELETE FROM parent WHERE id = 7 -> 40001
         a: ROLLBACK -> ROLLBACK
         a: BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM child -> 2
         b: INSERT INTO parent VALUES (8) -> INSERT 0 1
         a: INSERT INTO child VALUES (4, 8) -> 23503
         a: ROLLBACK -> ROLLBACK",
    );
}

#[test]
fn who_has_a_table_alone_keeps_readers_out_and_waits_for_them() {
    script(
        &format!("{T}; CREATE TABLE u (v INT); CREATE VIEW w AS SELECT sum(v) FROM t"),
        "b: PREPARE p AS SELECT v FROM t WHERE id = 1; EXECUTE p -> 10
         b: SELECT max(v) FROM t -> 40
         a: BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE -> LOCK TABLE
         b: SELECT v FROM t WHERE id = 1 -> 55P03
         b: SELECT max(v) FROM t -> 55P03
         b: SELECT count(*) FROM t -> 55P03
         b: SELECT * FROM w -> 55P03
         b: EXECUTE p -> 55P03
         b: INSERT INTO u SELECT v FROM t -> 55P03
         b: WITH x AS (INSERT INTO u VALUES (1) RETURNING v) SELECT * FROM x -> 1
         b: SELECT v FROM u -> 1
         a: SELECT max(v) FROM t -> 40
         a: UPDATE t SET v = 11 WHERE id = 1; COMMIT -> COMMIT
         b: EXECUTE p -> 11
         b: BEGIN; SELECT max(v) FROM t -> 40
         a: BEGIN; LOCK TABLE t IN EXCLUSIVE MODE -> LOCK TABLE
         a: LOCK TABLE u IN ACCESS EXCLUSIVE MODE -> LOCK TABLE
         a: LOCK TABLE t IN ACCESS EXCLUSIVE MODE -> 55P03
         a: ROLLBACK -> ROLLBACK
         b: COMMIT -> COMMIT
         a: BEGIN; SAVEPOINT s; LOCK TABLE t IN ACCESS EXCLUSIVE MODE -> LOCK TABLE
         b: SELECT max(v) FROM t -> 55P03
         a: ROLLBACK TO s -> ROLLBACK
         b: SELECT max(v) FROM t -> 40",
    );
}

#[test]
fn who_waited_to_read_sees_what_the_other_has_done() {
    let database = database(T);
    let mut a = database.session();
    run(&mut a, "BEGIN; LOCK TABLE t; UPDATE t SET v = 11 WHERE id = 1");
    let ask = |sql: &'static str| {
        let mut session = database.session();
        thread::spawn(move || run(&mut session, sql))
    };
    let first = ask("SELECT v FROM t WHERE id = 1");
    let second = ask("BEGIN; SELECT sum(v) FROM t");
    let third = ask("CREATE TABLE u AS SELECT v FROM t WHERE id = 1; SELECT v FROM u");
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    let mut c = database.session();
    while run(&mut c, waiting) != "3" {
        thread::sleep(std::time::Duration::from_millis(1));
    }
    run(&mut a, "COMMIT");
    let came = [first, second, third].map(|it| it.join().unwrap());
    assert_eq!(came, ["11", "101", "11"]);
}

#[test]
fn rollback_to_lets_go_of_what_was_locked_behind_the_savepoint() {
    script(
        T,
        "a: BEGIN; UPDATE t SET v = 11 WHERE id = 1; SELECT v FROM t WHERE id = 3 FOR SHARE -> 30
         a: SAVEPOINT s; UPDATE t SET v = 22 WHERE id = 2; INSERT INTO t VALUES (9, 90) -> INSERT 0 1
         a: SELECT v FROM t WHERE id = 3 FOR UPDATE -> 30
         b: UPDATE t SET v = 23 WHERE id = 2 -> 55P03
         b: INSERT INTO t VALUES (9, 91) -> 55P03
         b: SELECT v FROM t WHERE id = 3 FOR SHARE NOWAIT -> 55P03
         a: ROLLBACK TO s -> ROLLBACK
         b: UPDATE t SET v = 23 WHERE id = 2 -> UPDATE 1
         b: INSERT INTO t VALUES (9, 91) -> INSERT 0 1
         b: SELECT v FROM t WHERE id = 3 FOR SHARE NOWAIT -> 30
         b: UPDATE t SET v = 31 WHERE id = 3 -> 55P03
         b: UPDATE t SET v = 12 WHERE id = 1 -> 55P03
         a: UPDATE t SET v = v + 1 WHERE id = 2; COMMIT -> COMMIT
         b: SELECT id, v FROM t ORDER BY id -> 1=11 2=24 3=30 4=40 9=91",
    );
}

/// Many change one family at once: whatever is done, no row refers to nothing.
#[test]
fn no_row_refers_to_nothing_whoever_writes() {
    const WRITERS: u64 = 4;
    const ROUNDS: u64 = 60;
    let database = database(FAMILY);
    let writers = (0..WRITERS).map(|seed| {
        let mut session = database.session();
        thread::spawn(move || {
            let mut random = stdx::Prng::new(seed);
            let mut done = [0, 0];
            for round in 0..ROUNDS {
                let (key, n) = (random.below(6), 1000 * (seed + 1) + round);
                let sql = match random.below(5) {
                    0 => format!("INSERT INTO parent VALUES ({key}, 0)"),
                    1 => format!("DELETE FROM parent WHERE id = {key}"),
                    2 => format!("UPDATE parent SET v = v + 1 WHERE id = {key}"),
                    3 => format!("DELETE FROM child WHERE p = {key}"),
                    _ => format!("INSERT INTO child VALUES ({n}, {key})"),
                };
                match session.execute(&sql) {
                    Ok(_) => done[0] += 1,
                    Err(error) => {
                        let known = ["23503", "23505", "40P01"].contains(&error.state.0);
                        assert!(known, "{sql}: {error}");
                        done[1] += 1;
                    }
                }
            }
            done
        })
    });
    let done: Vec<[u32; 2]> =
        writers.collect::<Vec<_>>().into_iter().map(|it| it.join().expect("it ends")).collect();
    assert!(done.iter().all(|it| it[0] > 0 && it[1] > 0), "{done:?}");
    let sql = "SELECT count(*) FROM child WHERE p NOT IN (SELECT id FROM parent)";
    assert_eq!(run(&mut database.session(), sql), "0");
    assert_eq!(run(&mut database.session(), "SELECT count(*) FROM nodewise.locks"), "0");
}

/// As in PostgreSQL 18, but that it does not let tables be altered (55006) of which something was put off.
#[test]
fn what_is_deferred_is_asked_at_the_end_of_the_transaction() {
    script(
        "CREATE TABLE lp (id INT PRIMARY KEY);
         CREATE TABLE lc (n INT, p INT CONSTRAINT lc_fk REFERENCES lp DEFERRABLE INITIALLY DEFERRED,
                          q INT CONSTRAINT lq_fk REFERENCES lp ON DELETE CASCADE DEFERRABLE,
                          r INT CONSTRAINT lr_fk REFERENCES lp)",
        "a: INSERT INTO lc VALUES (1, 1) -> 23503
         a: BEGIN; INSERT INTO lc VALUES (1, 1) -> INSERT 0 1
         a: INSERT INTO lc VALUES (2, NULL, 1) -> 23503
         a: COMMIT -> ROLLBACK
         a: BEGIN; INSERT INTO lc VALUES (1, 1) -> INSERT 0 1
         a: COMMIT -> 23503
         a: SELECT count(*) FROM lc -> 0
         a: BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO lc VALUES (1, 1, 2), (2, 3, NULL) -> INSERT 0 2
         a: DELETE FROM lc WHERE n = 2; INSERT INTO lp VALUES (1), (2) -> INSERT 0 2
         a: SET CONSTRAINTS lq_fk IMMEDIATE; COMMIT -> COMMIT
         a: SELECT n, p, q FROM lc -> 1=1=2
         a: BEGIN; DELETE FROM lp WHERE id = 1 -> DELETE 1
         a: SET CONSTRAINTS ALL IMMEDIATE -> 23503
         a: ROLLBACK -> ROLLBACK
         a: BEGIN; DELETE FROM lp WHERE id = 1; INSERT INTO lp VALUES (1); COMMIT -> COMMIT
         a: BEGIN; SAVEPOINT s; INSERT INTO lc VALUES (9, 9); ROLLBACK TO s; COMMIT -> COMMIT
         a: BEGIN; INSERT INTO lc VALUES (9, 9); SAVEPOINT s; UPDATE lc SET p = 1 WHERE n = 9 -> UPDATE 1
         a: SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK TO s -> ROLLBACK
         a: COMMIT -> 23503
         a: BEGIN; SET CONSTRAINTS nothing DEFERRED -> 42704
         a: ROLLBACK; BEGIN; SET CONSTRAINTS lr_fk DEFERRED -> 42809
         a: ROLLBACK; SET CONSTRAINTS ALL DEFERRED -> SET CONSTRAINTS
         a: BEGIN; DELETE FROM lp WHERE id = 2; COMMIT -> COMMIT
         a: SELECT count(*) FROM lc -> 0
         a: BEGIN; INSERT INTO lc VALUES (1, 1) -> INSERT 0 1
         b: DELETE FROM lp WHERE id = 1 -> DELETE 1
         a: COMMIT -> 23503
         a: BEGIN; INSERT INTO lc VALUES (1, 4); ALTER TABLE lc RENAME TO lx; ALTER TABLE lp RENAME id TO key -> ALTER TABLE
         a: COMMIT -> 23503
         a: BEGIN; INSERT INTO lc VALUES (1, 4); ALTER TABLE lc DROP CONSTRAINT lc_fk; COMMIT -> COMMIT",
    );
}
