//! Advisory locks: of sessions and transactions, counted, shared, waited for, and shown.

use crate::common::texts;
use nodewise::{Database, DatabaseOptions, Session};
use stdx::sync::{Arc, thread};

fn database() -> Arc<Database> {
    let options = DatabaseOptions { workers: Some(1), ..Default::default() };
    Database::open(hardware_linux::open(), options).expect("the database opens")
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

/// Runs the lines of a script: `a: sql -> what it comes to`; `lock` stands for `pg_advisory_lock` and so on. Nobody waits long.
fn script(lines: &str) {
    let database = database();
    let sql = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20)";
    database.session().execute(sql).expect("the table is made");
    let mut sessions = [0; 3].map(|_| database.session());
    for session in &mut sessions {
        session.execute("SET lock_timeout = 20").expect("there is such a setting");
    }
    for line in lines.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let (who, rest) = line.split_once(": ").expect("a line names its session");
        let (sql, wanted) = rest.split_once(" ->").expect("a line says what comes of it");
        let at = ["a", "b", "c"].iter().position(|it| *it == who);
        let at = at.expect("there are three sessions");
        let sql = sql.replace(" try_", " pg_try_advisory_").replace(" own_", " pg_advisory_");
        assert_eq!(run(&mut sessions[at], &sql), wanted.trim_start(), "{line}\nof\n{lines}");
    }
}

#[test]
fn locks_of_a_session_stay_until_it_lets_go_of_each() {
    script(
        "a: SELECT own_lock(1) ->
         a: SELECT own_lock(1), try_lock(1) -> =true
         b: SELECT try_lock(1) -> false
         b: SELECT try_lock(0, 1), try_lock(2) -> true=true
         b: SELECT own_lock(1) -> 55P03
         b: SELECT own_lock_shared(1) -> 55P03
         a: SELECT own_unlock(1), own_unlock(1) -> true=true
         b: SELECT try_lock_shared(1) -> false
         a: SELECT own_unlock(1) -> true
         a: SELECT own_unlock(1) -> false
         b: SELECT try_lock_shared(1) -> true
         a: SELECT try_lock_shared(1) -> true
         a: SELECT try_lock(1) -> false
         b: SELECT own_unlock(1) -> false
         b: SELECT own_unlock_shared(1) -> true
         a: SELECT try_lock(1) -> true
         b: SELECT try_lock_shared(1) -> false
         a: SELECT own_unlock_shared(1) -> true
         b: SELECT try_lock_shared(1) -> false
         a: SELECT own_unlock_all() ->
         b: SELECT try_lock_shared(1) -> true
         b: SELECT own_unlock_all(); DISCARD ALL -> DISCARD ALL
         a: SELECT try_lock(1), try_lock(2), try_lock(0, 1) -> true=true=true
         a: SELECT own_lock(NULL), own_unlock(NULL), try_lock(1, NULL) -> NULL=NULL=NULL
         a: SELECT own_lock(1, 3000000000) -> 22003
         a: SELECT own_lock(1.5) -> 42883
         a: SELECT own_lock() -> 42883",
    );
}

#[test]
fn they_outlive_transactions_and_savepoints() {
    script(
        "a: BEGIN; SELECT own_lock(1); SAVEPOINT s; SELECT own_lock(2); ROLLBACK TO s; ROLLBACK -> ROLLBACK
         b: SELECT try_lock(1), try_lock(2) -> false=false
         a: SELECT own_lock(3), 1 / (SELECT 0) -> 22012
         a: CREATE TABLE u (x INT); DROP TABLE u -> DROP TABLE
         b: BEGIN; CREATE TABLE u (x INT) -> CREATE TABLE
         a: SELECT own_unlock_all() ->
         b: SELECT try_lock(1), try_lock(2) -> true=true
         b: COMMIT -> COMMIT",
    );
}

#[test]
fn locks_of_a_transaction_go_with_it() {
    script(
        "a: SELECT own_xact_lock(1) ->
         b: SELECT try_lock(1) -> true
         b: SELECT own_unlock(1) -> true
         a: BEGIN; SELECT own_xact_lock(1) ->
         a: SELECT own_unlock(1) -> false
         b: SELECT try_lock(1) -> false
         b: SELECT own_xact_lock(1) -> 55P03
         a: SAVEPOINT s -> SAVEPOINT
         a: SELECT own_xact_lock(2), try_xact_lock(3), own_xact_lock_shared(4) -> =true=
         b: SELECT try_xact_lock(2), try_xact_lock(3), try_xact_lock(4) -> false=false=false
         b: SELECT try_xact_lock_shared(4) -> true
         a: ROLLBACK TO s -> ROLLBACK
         b: SELECT try_xact_lock(2), try_xact_lock(3), try_xact_lock(4) -> true=true=true
         b: SELECT try_lock(1) -> false
         a: COMMIT -> COMMIT
         b: SELECT try_lock(1) -> true
         a: BEGIN; SELECT own_xact_lock(7); SELECT 1 / (SELECT 0) -> 22012
         b: SELECT try_xact_lock(7) -> true
         a: ROLLBACK; BEGIN; SELECT own_lock(9), own_xact_lock(9); COMMIT -> COMMIT
         b: SELECT try_lock(9) -> false
         a: SELECT own_unlock(9) -> true
         b: SELECT try_lock(9) -> true
         a: BEGIN READ ONLY; SELECT own_xact_lock(8); COMMIT -> COMMIT",
    );
}

#[test]
fn who_holds_what_and_waits_is_shown() {
    let shown = "SELECT classid, objid, objsubid, mode, granted FROM pg_locks \
                 WHERE locktype = 'advisory' ORDER BY 1, 2, 3, 4";
    script(&format!(
        "a: SELECT own_lock(5), own_lock_shared(-1), own_lock(3, -4) -> ==
         a: BEGIN; SELECT own_xact_lock(5) ->
         a: {shown} -> 0=5=1=ExclusiveLock=true 3=4294967292=2=ExclusiveLock=true 4294967295=4294967295=1=ShareLock=true
         a: SELECT kind, key, mode FROM nodewise.locks ORDER BY 2, 3 -> advisory=-1=SHARE advisory=3,-4=EXCLUSIVE advisory=5=EXCLUSIVE advisory=5=EXCLUSIVE
         a: COMMIT -> COMMIT
         a: SELECT own_unlock_all() ->
         a: {shown} ->"
    ));
}

#[test]
fn rows_whose_locks_are_waited_for_are_changed_when_it_has_them() {
    let database = database();
    let mut a = database.session();
    a.execute("CREATE TABLE t (v INT); SELECT pg_advisory_lock(1)").unwrap();
    let mut b = database.session();
    let waits = thread::spawn(move || {
        run(&mut b, "INSERT INTO t SELECT 1 FROM (SELECT pg_advisory_lock(1) AS x) q WHERE x = ''")
    });
    wait_until(
        &mut a,
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
        "1",
    );
    // Who waits for a number is in nobody's way.
    assert_eq!(run(&mut a, "INSERT INTO t VALUES (2); CREATE TABLE u (x INT)"), "CREATE TABLE");
    assert_eq!(run(&mut a, "SELECT v FROM t"), "2");
    assert_eq!(run(&mut a, "SELECT pg_advisory_unlock(1)"), "true");
    assert_eq!(waits.join().unwrap(), "INSERT 0 1");
    assert_eq!(run(&mut a, "SELECT sum(v) FROM t"), "3");
    assert_eq!(run(&mut a, "SELECT pg_try_advisory_lock(1)"), "true", "b is gone");
}

/// Runs a query until it gives what is wanted.
fn wait_until(session: &mut Session, sql: &str, wanted: &str) {
    let began = std::time::Instant::now();
    while run(session, sql) != wanted {
        assert!(began.elapsed().as_secs() < 60, "{sql} does not come to {wanted}");
        thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_circle_of_numbers_and_rows_is_a_deadlock_and_waits_can_be_ended() {
    let database = database();
    let (mut a, mut b) = (database.session(), database.session());
    a.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10)").unwrap();
    a.execute("SELECT pg_advisory_lock(1)").unwrap();
    b.execute("BEGIN; UPDATE t SET v = 11 WHERE id = 1").unwrap();
    let waits = thread::spawn(move || {
        let came = run(&mut b, "SELECT pg_advisory_xact_lock_shared(1)");
        (came, b)
    });
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    wait_until(&mut database.session(), waiting, "1");
    assert_eq!(run(&mut a, "UPDATE t SET v = 12 WHERE id = 1"), "40P01");
    assert_eq!(run(&mut a, "SELECT pg_advisory_unlock(1)"), "true");
    let (came, mut b) = waits.join().unwrap();
    assert_eq!((came.as_str(), run(&mut b, "COMMIT").as_str()), ("", "COMMIT"));
    // Cancelled, it holds nothing and waits for nothing.
    assert_eq!(run(&mut a, "SELECT pg_advisory_lock(1)"), "");
    let cancel = b.cancel_handle();
    let waits =
        thread::spawn(move || (run(&mut b, "SELECT pg_advisory_lock(2), pg_advisory_lock(1)"), b));
    wait_until(&mut a, waiting, "1");
    cancel.cancel();
    let (came, mut b) = waits.join().unwrap();
    assert_eq!(came, "57014");
    assert_eq!(run(&mut a, waiting), "0");
    assert_eq!(run(&mut a, "SELECT pg_try_advisory_lock(2), pg_advisory_unlock(1)"), "false=true");
    assert_eq!(run(&mut b, "SELECT pg_advisory_lock(1), pg_advisory_unlock(1)"), "=true");
    assert_eq!(run(&mut a, "SELECT pg_try_advisory_lock(1)"), "true");
}

/// Two sessions that add to a number in turns, each under a lock: none is lost.
#[test]
fn nobody_comes_in_between() {
    let database = database();
    database.session().execute("CREATE TABLE t (v INT); INSERT INTO t VALUES (0)").unwrap();
    let writers: Vec<_> = (0..4)
        .map(|number| {
            let mut session = database.session();
            thread::spawn(move || {
                for _ in 0..25 {
                    let lock = match number % 2 {
                        0 => "BEGIN; SELECT pg_advisory_xact_lock(7)",
                        _ => "SELECT pg_advisory_lock(7); BEGIN",
                    };
                    session.execute(lock).unwrap();
                    let v: i64 = run(&mut session, "SELECT v FROM t").parse().unwrap();
                    session.execute(&format!("UPDATE t SET v = {}; COMMIT", v + 1)).unwrap();
                    if number % 2 == 1 {
                        assert_eq!(run(&mut session, "SELECT pg_advisory_unlock(7)"), "true");
                    }
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|it| it.join().unwrap());
    assert_eq!(run(&mut database.session(), "SELECT v FROM t"), "100");
    assert_eq!(run(&mut database.session(), "SELECT count(*) FROM nodewise.locks"), "0");
}
