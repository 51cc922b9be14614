//! How sessions steer the scheduling: settings, admission, timeouts, KILL, the views, the trace.

use std::collections::BTreeSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use hardware::{Machine, samples};
use nodewise::{Answer, Database, DatabaseOptions, Session};
use simulator::{MachineModel, SimulatedMachine};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, thread};

fn machines() -> Vec<Arc<dyn Machine>> {
    let simulated = |name: &str, seed| -> Arc<dyn Machine> {
        SimulatedMachine::new(samples::by_name(name).unwrap(), seed)
    };
    vec![hardware_linux::open(), simulated("four_sockets", 1), simulated("sub_numa", 7)]
}

/// A database with a table `t` of 300,000 rows.
fn filled(machine: Arc<dyn Machine>) -> Arc<Database> {
    let database = Database::open(machine, DatabaseOptions::default()).unwrap();
    let mut session = database.session();
    session.execute("CREATE TABLE d (x INTEGER)").unwrap();
    let digits: Vec<String> = (0..100).map(|it| format!("({it})")).collect();
    session.execute(&format!("INSERT INTO d VALUES {}", digits.join(","))).unwrap();
    let make = "CREATE TABLE t AS SELECT a.x * 10000 + b.x * 100 + c.x AS n, c.x AS k \
                FROM d a, d b, d c WHERE a.x < 30";
    session.execute(make).unwrap();
    database
}

/// Runs until it is ended: a join of ten billion rows.
const LONG: &str = "SELECT sum(a.n + b.n) FROM t a, t b WHERE a.k = b.k";

fn integers(answer: &Answer, column: usize) -> Vec<i64> {
    let values = answer.batches.iter().flat_map(|it| {
        let array = it.column(column).as_primitive::<Int64Type>();
        array.iter().map(Option::unwrap_or_default).collect::<Vec<_>>()
    });
    values.collect()
}

fn texts(answer: &Answer, column: usize) -> Vec<String> {
    let values = answer.batches.iter().flat_map(|it| {
        let array = it.column(column).as_string::<i32>();
        array.iter().map(|it| it.unwrap_or_default().to_owned()).collect::<Vec<_>>()
    });
    values.collect()
}

fn one(session: &mut Session, sql: &str) -> i64 {
    integers(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")), 0)[0]
}

#[test]
fn explain_analyze_says_what_the_adaptive_strategy_made_of_a_pipeline() {
    let model = MachineModel::by_name("sandy-bridge-ep").unwrap();
    let machine = SimulatedMachine::with_model(model, 1, vec![]);
    let mut session = Database::open(machine, DatabaseOptions::default()).unwrap().session();
    // Two columns of 64 bits a value, and one of three.
    let rows = 0..1_i64 << 20;
    let mixed = |factor: i64| rows.clone().map(move |it| it.wrapping_mul(factor) ^ factor >> 3);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(mixed(0x1e37_79b9_7f4a_7c15))),
        Arc::new(Int64Array::from_iter_values(mixed(0x56e8_feb8_6659_fd93))),
        Arc::new(Int64Array::from_iter_values(rows.clone().map(|it| it * 7919 % 5))),
    ];
    let field = |name| Field::new(name, DataType::Int64, false);
    let schema = Schema::new(["a", "b", "k"].map(field).to_vec());
    session.import("t", vec![RecordBatch::try_new(Arc::new(schema), columns).unwrap()]).unwrap();
    session
        .execute(
            "ALTER TABLE t NUMA NODE SPLIT; SET nodes = '0-3'; SET morsel_rows = 16384; SET strategy = adaptive",
        )
        .unwrap();
    let mut found = |sql: &str| -> Vec<String> {
        let lines = texts(&session.query(&format!("EXPLAIN ANALYZE {sql}")).unwrap(), 0);
        lines.into_iter().filter(|it| it.contains("adaptive affinity")).collect()
    };
    // The first would take all that a node's memory gives, the second a small part of it.
    let wide = found("SELECT min(a), max(b) FROM t WHERE a <> b");
    assert!(wide.iter().any(|it| it.contains("affinity: hard, at")), "{wide:?}");
    let narrow = found("SELECT count(*) FROM t WHERE k = 3");
    assert!(narrow.iter().any(|it| it.contains("affinity: soft, at")), "{narrow:?}");
    session.execute("SET strategy = bound").unwrap();
    let lines =
        texts(&session.query("EXPLAIN ANALYZE SELECT count(*) FROM t WHERE k = 3").unwrap(), 0);
    assert!(!lines.iter().any(|it| it.contains("adaptive affinity")), "{lines:?}");
}

#[test]
fn every_way_of_scheduling_gives_the_same_answer() {
    for machine in machines() {
        let database = filled(machine);
        let mut session = database.session();
        let sql = "SELECT sum(k) FROM t WHERE n >= 1000";
        let expected = one(&mut session, sql);
        assert_eq!(expected, 299_000 * 99 / 2);
        for change in [
            "SET strategy = os",
            "SET strategy = 'target'",
            "SET strategy = bound",
            "SET strategy = adaptive",
            "SET stealing = none",
            "SET stealing = neighbours",
            "SET stealing = all",
            "SET binding = none",
            "SET binding = preferred",
            "SET binding = opportunistic",
            "SET binding = always",
            "SET bulk = 4",
            "SET morsel_rows = 1024",
            "SET morsel_rows = static",
            "SET morsel_rows = DEFAULT",
            "SET scan_sharing = on",
            "SET scan_sharing = off",
            "SET scan_sharing = DEFAULT",
            "SET nodes = '0'",
            "SET nodes = 'all'",
            "SET class_nodes = '100: 0'",
            "SET class_nodes = DEFAULT",
            "SET max_running_queries = 1",
            "SET max_running_queries = DEFAULT",
            "SET workers = 1",
        ] {
            session.execute(change).unwrap_or_else(|error| panic!("{change}: {error}"));
            assert_eq!(one(&mut session, sql), expected, "{change}");
        }
        let shown = session.query("SHOW strategy").unwrap();
        assert_eq!(texts(&shown, 0), ["adaptive"]);
        let limit = "SELECT value FROM nodewise.settings WHERE name = 'max_running_queries'";
        assert_eq!(texts(&session.query(limit).unwrap(), 0), ["0"]);
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let database = filled(hardware_linux::open());
    let mut session = database.session();
    for (sql, state) in [
        ("SET strategy = fast", "22023"),
        ("SET stealing = far", "22023"),
        ("SET scan_sharing = perhaps", "22023"),
        ("SET nodes = 'x'", "22023"),
        ("SET max_running_queries = -1", "22023"),
        ("SET class_nodes = '1'", "22023"),
        ("SET statement_timeout = 'soon'", "22023"),
        ("SET no_such_thing = 1", "42704"),
        ("KILL 999999", "42704"),
        ("ALTER QUERY 999999 PRIORITY 1", "42704"),
        ("ALTER QUERY x PRIORITY 1", "42601"),
        ("ALTER QUERY 1 SPEED 1", "42601"),
    ] {
        let error = session.execute(sql).unwrap_err();
        assert_eq!(error.state.0, state, "{sql}: {error}");
    }
}

#[test]
fn a_statement_ends_when_its_time_is_up() {
    let database = filled(hardware_linux::open());
    let mut session = database.session();
    session.execute("SET statement_timeout = 30").unwrap();
    let error = session.query(LONG).unwrap_err();
    assert_eq!(error.state.0, "57014");
    assert!(error.message.contains("statement_timeout"), "{error}");
    session.execute("SET statement_timeout = DEFAULT").unwrap();
    assert_eq!(one(&mut session, "SELECT count(*) FROM t"), 300_000, "the session lives on");
    assert_eq!(one(&mut session, "SELECT count(*) FROM nodewise.queries"), 1, "itself");
}

/// Runs the long query beside, and gives it to `act` as soon as it runs; returns what became of it.
fn beside(
    database: &Arc<Database>,
    act: impl FnOnce(&mut Session, i64),
) -> Result<Answer, nodewise::SqlError> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let runner = scope.spawn(|| {
            let answer = database.session().query(LONG);
            done.store(true, Ordering::Release);
            answer
        });
        let mut session = database.session();
        let find = "SELECT id FROM nodewise.queries WHERE text LIKE '%a.n + b.n%' \
                    AND state = 'running' AND workers > 0";
        let id = loop {
            assert!(!done.load(Ordering::Acquire), "the long query is not long");
            let found = integers(&session.query(find).unwrap(), 0);
            // The query that looks has the pattern in its text, too, but waits for nobody: it is planning then.
            if let [id] = found[..] {
                break id;
            }
        };
        act(&mut session, id);
        runner.join().unwrap()
    })
}

#[test]
fn kill_ends_a_statement_of_another_session() {
    let database = filled(hardware_linux::open());
    let ended = beside(&database, |session, id| {
        session.execute(&format!("ALTER QUERY {id} PRIORITY 250")).unwrap();
        session.execute(&format!("ALTER QUERY {id} SET stealing = none")).unwrap();
        session.execute(&format!("ALTER QUERY {id} SET workers TO 1")).unwrap();
        let sql = format!("SELECT priority, workers FROM nodewise.queries WHERE id = {id}");
        let seen = session.query(&sql).unwrap();
        assert_eq!(integers(&seen, 0), [250]);
        let sql = format!("SELECT class FROM nodewise.jobs WHERE query = {id}");
        assert!(integers(&session.query(&sql).unwrap(), 0).iter().all(|it| *it == 250));
        session.execute(&format!("KILL {id}")).unwrap();
    });
    let error = ended.unwrap_err();
    assert_eq!((error.state.0, error.message.contains("KILL")), ("57014", true), "{error}");
}

#[test]
fn who_finds_no_place_in_time_is_told_so_and_views_need_none() {
    let database = filled(hardware_linux::open());
    database.session().execute("SET max_running_queries = 1").unwrap();
    let ended = beside(&database, |session, id| {
        session.execute("SET queue_timeout = 20").unwrap();
        for sql in [
            "SELECT count(*) FROM t",
            "INSERT INTO d VALUES (1)",
            "CREATE TABLE e AS SELECT 1 AS x",
        ] {
            let error = session.execute(sql).unwrap_err();
            assert_eq!(error.state.0, "53300", "{sql}: {error}");
            assert!(error.hint.is_some_and(|it| it.contains("queue_timeout")));
        }
        assert!(one(session, "SELECT count(*) FROM nodewise.workers") > 0);
        session.execute(&format!("KILL {id}")).unwrap();
    });
    assert_eq!(ended.unwrap_err().state.0, "57014");
    let mut session = database.session();
    assert_eq!(one(&mut session, "SELECT count(*) FROM t"), 300_000, "the place is free again");
}

#[test]
fn the_trace_shows_each_morsel_of_traced_sessions() {
    for machine in machines() {
        let database = filled(machine);
        let mut session = database.session();
        assert!(database.trace().is_empty());
        session.execute("SET trace = on").unwrap();
        let answer = session.query("SELECT sum(n) FROM t").unwrap();
        let morsels: u64 = answer.profile.pipelines.iter().map(|it| it.morsels).sum();
        session.execute("SET trace = off").unwrap();
        session.query("SELECT max(n) FROM t").unwrap();
        let rows =
            session.query("SELECT query, worker, rows, finishing FROM nodewise.trace").unwrap();
        let queries: BTreeSet<i64> = integers(&rows, 0).into_iter().collect();
        assert_eq!(queries.len(), 1, "one statement was traced: {queries:?}");
        let finishing = rows.batches.iter().flat_map(|it| {
            it.column(3).as_boolean().iter().map(Option::unwrap_or_default).collect::<Vec<_>>()
        });
        assert_eq!(finishing.filter(|it| !it).count() as u64, morsels);
        assert!(integers(&rows, 2).iter().sum::<i64>() >= 300_000);
        let trace = database.trace();
        assert!(trace.to_chrome().contains("SELECT sum(n) FROM t"));
        assert!(trace.to_svg().contains("SELECT sum(n) FROM t"));
        database.clear_trace();
        assert!(database.trace().is_empty());
    }
}

#[test]
fn many_sessions_share_a_narrow_gate_and_all_get_their_answers() {
    let database = filled(hardware_linux::open());
    database.session().execute("SET max_running_queries = 2").unwrap();
    thread::scope(|scope| {
        for client in 0..24 {
            let database = &database;
            scope.spawn(move || {
                let mut session = database.session();
                session.execute(&format!("SET priority = {}", client % 3 * 100)).unwrap();
                for round in 0..5 {
                    let low = client * 1000 + round;
                    let sql = format!("SELECT count(*) FROM t WHERE n >= {low}");
                    assert_eq!(one(&mut session, &sql), 300_000 - low);
                }
            });
        }
    });
    assert_eq!(one(&mut database.session(), "SELECT count(*) FROM nodewise.queries"), 1);
}
