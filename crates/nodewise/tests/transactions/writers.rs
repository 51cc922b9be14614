//! Statements that change tables, one at a time: who waits for the turn can be ended and is in nobody's way, and readers
//! see a table as it was before or after.

use std::time::{Duration, Instant};

use nodewise::{CancelHandle, Database, DatabaseOptions};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, thread};

/// Takes hours; it is cancelled in the end.
const ENDLESS: &str = "CREATE TABLE never AS SELECT count(*) AS n FROM d a, d b, d c, d e, d f, d g \
                       WHERE a.x + b.x + c.x + e.x + f.x + g.x < 0";

/// Long enough for a machine that is busy with other tests, and no reason to wait for ever.
const SOON: Duration = Duration::from_secs(20);

fn database() -> Arc<Database> {
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).unwrap();
    let digits: Vec<String> = (0..100).map(|it| format!("({it})")).collect();
    let mut session = database.session();
    session.execute("CREATE TABLE d (x BIGINT)").unwrap();
    session.execute(&format!("INSERT INTO d VALUES {}", digits.join(","))).unwrap();
    database
}

/// The number of the statement with this text, once it is in this state.
fn wait_for(database: &Arc<Database>, text: &str, state: &str) -> u64 {
    let began = Instant::now();
    let sql =
        format!("SELECT id FROM nodewise.queries WHERE text LIKE '{text}%' AND state = '{state}'");
    loop {
        let answer = database.session().query(&sql).unwrap();
        if answer.rows() > 0 {
            let column = answer.batches[0].column(0).clone();
            let ids = column.as_any().downcast_ref::<arrow_array::Int64Array>().unwrap();
            return ids.value(0) as u64;
        }
        assert!(began.elapsed() < SOON, "no statement \"{text}\" is {state}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Runs `test` while a writer that would need hours has the turn.
fn while_somebody_writes(database: &Arc<Database>, test: impl FnOnce()) {
    thread::scope(|scope| {
        let mut writer = database.session();
        let end: CancelHandle = writer.cancel_handle();
        let ended = scope.spawn(move || writer.execute(ENDLESS).map(|_| ()));
        wait_for(database, "CREATE TABLE never", "running");
        test();
        end.cancel();
        assert_eq!(ended.join().unwrap().unwrap_err().state.0, "57014");
    });
}

#[test]
fn a_waiting_writer_ends_by_timeout_kill_and_cancel() {
    let database = database();
    let statements = [
        "INSERT INTO d VALUES (1)",
        "CREATE TABLE e (x BIGINT)",
        "CREATE TABLE e AS SELECT 1 AS x",
        "DROP TABLE d",
        "CREATE INDEX i ON d (x)",
    ];
    while_somebody_writes(&database, || {
        for sql in statements {
            let mut session = database.session();
            session.execute("SET statement_timeout = '100ms'").unwrap();
            let began = Instant::now();
            let error = session.execute(sql).unwrap_err();
            assert_eq!(error.state.0, "57014", "{sql}: {error}");
            assert!(error.message.contains("statement_timeout"), "{sql}: {error}");
            assert!(began.elapsed() < SOON, "{sql}");
        }
        for by_kill in [true, false] {
            let mut session = database.session();
            let end = session.cancel_handle();
            thread::scope(|scope| {
                let waiting =
                    scope.spawn(move || session.execute("INSERT INTO d VALUES (1)").map(|_| ()));
                let id = wait_for(&database, "INSERT INTO d", "waiting");
                if by_kill {
                    database.kill(id).unwrap()
                } else {
                    end.cancel()
                }
                assert_eq!(waiting.join().unwrap().unwrap_err().state.0, "57014");
            });
        }
    });
    assert_eq!(database.tables().len(), 1, "nothing of them remains");
    database.session().execute("INSERT INTO d VALUES (1)").unwrap();
}

#[test]
fn a_waiting_writer_takes_no_place_from_readers() {
    let database = database();
    database.session().execute("SET max_running_queries = 2").unwrap();
    while_somebody_writes(&database, || {
        let mut waiting = database.session();
        let mut prepared = database.session();
        let ends = [waiting.cancel_handle(), prepared.cancel_handle()];
        prepared.execute("PREPARE p AS INSERT INTO d VALUES ($1)").unwrap();
        thread::scope(|scope| {
            let waits = [
                scope.spawn(move || waiting.execute("INSERT INTO d VALUES (1)").map(|_| ())),
                scope.spawn(move || prepared.execute("EXECUTE p (1)").map(|_| ())),
            ];
            wait_for(&database, "INSERT INTO d", "waiting");
            wait_for(&database, "EXECUTE p", "waiting");
            let mut reader = database.session();
            reader.execute("SET queue_timeout = '20s'").unwrap();
            assert_eq!(reader.query("SELECT max(x) AS m FROM d WHERE x < 50").unwrap().rows(), 1);
            ends.iter().for_each(CancelHandle::cancel);
            for ended in waits {
                assert_eq!(ended.join().unwrap().unwrap_err().state.0, "57014");
            }
        });
    });
}

#[test]
fn readers_of_a_replaced_table_see_it_before_or_after() {
    let database = database();
    let mut session = database.session();
    session.execute("CREATE TABLE t AS SELECT 0 AS a, x FROM d").unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut reader = database.session();
            let mut count = 0;
            while !done.load(Ordering::Relaxed) || count == 0 {
                let answer = reader.query("SELECT DISTINCT a FROM t").unwrap();
                assert_eq!(answer.rows(), 1, "rows of one statement, not of two");
                count += 1;
            }
        });
        for round in 0..100 {
            let sql = format!("CREATE OR REPLACE TABLE t AS SELECT {round} AS a, x FROM d");
            session.execute(&sql).unwrap();
            if round % 10 == 0 {
                let failing = "CREATE OR REPLACE TABLE t AS SELECT 1 / (x - x) AS a FROM d";
                assert_eq!(session.execute(failing).unwrap_err().state.0, "22012");
            }
        }
        done.store(true, Ordering::Relaxed);
        reading.join().unwrap();
    });
    assert_eq!(session.query("SELECT a FROM t WHERE a = 99 LIMIT 1").unwrap().rows(), 1);
}
