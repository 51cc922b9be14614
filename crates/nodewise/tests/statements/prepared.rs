//! Prepared statements of the library, and plans that are used again.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session, SqlState, Value};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

fn session() -> Session {
    let topology = samples::by_name("laptop").expect("a sample machine");
    let options = DatabaseOptions::default();
    Database::open(SimulatedMachine::new(topology, 1), options).expect("opens").session()
}

fn count(session: &mut Session, sql: &str) -> i64 {
    let answer = session.query(sql).expect(sql);
    answer.batches[0].column(0).as_primitive::<Int64Type>().value(0)
}

fn table_of(session: &mut Session, rows: i64) {
    session.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, square BIGINT)").expect("made");
    let rows: Vec<String> = (0..rows).map(|it| format!("({it}, {})", it * it)).collect();
    session.execute(&format!("INSERT INTO t VALUES {}", rows.join(", "))).expect("filled");
}

#[test]
fn a_point_lookup_is_planned_once_and_finds_its_row() {
    let mut session = session();
    table_of(&mut session, 1000);
    let prepared = session.prepare("SELECT square, id FROM t WHERE id = $1").expect("prepared");
    assert_eq!(prepared.parameters(), [Some(nodewise::DataType::Integer)]);
    for id in [0, 7, 999] {
        let answer = session.execute_prepared(&prepared, &[Value::Integer(id)]).expect("runs");
        assert_eq!((answer.rows(), answer.tag.as_str()), (1, "SELECT 1"));
        assert_eq!(answer.schema.field(0).name(), "square");
        let row = &answer.batches[0];
        assert_eq!(row.column(0).as_primitive::<Int64Type>().value(0), id * id);
        assert_eq!(i64::from(row.column(1).as_primitive::<Int32Type>().value(0)), id);
        let source = &answer.profile.pipelines[0].source;
        assert_eq!(source, "index t_pkey found 1 of 1000 rows");
    }
    let none = session.execute_prepared(&prepared, &[Value::Integer(1000)]).expect("runs");
    assert_eq!(none.rows(), 0);
    let error = session.execute_prepared(&prepared, &[]).expect_err("no value");
    assert_eq!(error.state, SqlState::SYNTAX);
    // Other rows, other statistics: planned anew behind the scenes.
    session.execute("INSERT INTO t VALUES (1000, 5)").expect("filled");
    let more = session.execute_prepared(&prepared, &[Value::Integer(1000)]).expect("runs");
    assert_eq!(more.rows(), 1);
    session.execute("DROP TABLE t").expect("dropped");
    let error = session.execute_prepared(&prepared, &[Value::Integer(1)]).expect_err("no table");
    assert_eq!(error.state, SqlState::UNDEFINED_TABLE);
}

#[test]
fn a_range_of_unknown_width_takes_the_index_only_when_it_is_narrow() {
    let mut session = session();
    table_of(&mut session, 20_000);
    let sql = "SELECT count(*) FROM t WHERE id >= $1 AND id < $2";
    let prepared = session.prepare(sql).expect("prepared");
    for (low, high, by_index) in [(5, 9, true), (100, 10_000, false), (9, 5, true)] {
        let values = [Value::Integer(low), Value::Integer(high)];
        let answer = session.execute_prepared(&prepared, &values).expect("runs");
        let found = answer.batches[0].column(0).as_primitive::<Int64Type>().value(0);
        assert_eq!(found, (high - low).max(0));
        let source = &answer.profile.pipelines[0].source;
        assert_eq!(source.starts_with("index"), by_index, "{source}");
    }
}

#[test]
fn an_equal_text_is_not_planned_twice_unless_something_changed() {
    let mut session = session();
    table_of(&mut session, 10);
    let sql = "SELECT count(*) FROM t WHERE id < 5";
    assert_eq!(count(&mut session, sql), 5);
    let mut other = session.database().session();
    assert_eq!(count(&mut other, sql), 5);
    session.execute("INSERT INTO t VALUES (-1, 0)").expect("filled");
    assert_eq!(count(&mut other, sql), 6);
    session
        .execute("DROP TABLE t; CREATE TABLE t (id DECIMAL(5, 2)); INSERT INTO t VALUES (4.5)")
        .expect("ok");
    assert_eq!(count(&mut other, sql), 1);
    // What a view shows is made anew each time.
    let tables = "SELECT count(*) FROM nodewise.tables";
    assert_eq!(count(&mut session, tables), 1);
    session.execute("CREATE TABLE u (a INTEGER)").expect("made");
    session.execute("DROP TABLE t").expect("dropped");
    session.execute("CREATE TABLE v (a INTEGER)").expect("made");
    assert_eq!(count(&mut session, tables), 2);
}

#[test]
fn one_prepared_statement_serves_several_sessions() {
    let mut session = session();
    table_of(&mut session, 100);
    let prepared = session.prepare("SELECT square FROM t WHERE id = $1").expect("prepared");
    let database: Arc<Database> = session.database().clone();
    let mut other = database.session();
    let answer = other.execute_prepared(&prepared, &[Value::Text("12".into())]).expect("runs");
    assert_eq!(answer.batches[0].column(0).as_primitive::<Int64Type>().value(0), 144);
}

#[test]
fn a_plan_that_is_kept_through_changes_is_made_anew_when_what_it_rests_on_is_not_true_any_more() {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
    let database = Database::open(machine, DatabaseOptions::default()).unwrap();
    let mut session = database.session();
    let queries = [
        "SELECT count(*) FROM (SELECT a FROM t WHERE a < 1000) AS s",
        "SELECT a FROM t WHERE a < 1000 AND b = 7",
        "SELECT a FROM t WHERE a IS NULL",
        "SELECT a FROM t WHERE c IS NOT NULL AND b > 8",
        "SELECT b FROM t WHERE c = 'c5'",
        "SELECT count(*) FROM t",
        "SELECT max(b) FROM t",
    ];
    session.execute("CREATE TABLE t (a INTEGER, b INTEGER, c TEXT)").unwrap();
    let row = |it: i32| format!("({it}, {it}, 'c{it}')");
    let rows: Vec<String> = (0..10).map(row).collect();
    session.execute(&format!("INSERT INTO t VALUES {}", rows.join(", "))).unwrap();
    let prepared: Vec<_> = queries.iter().map(|it| session.prepare(it).unwrap()).collect();
    let changes = [
        "UPDATE t SET b = 3 WHERE a = 4",
        "INSERT INTO t VALUES (5000, 7, 'far')",
        "INSERT INTO t VALUES (NULL, 100, NULL)",
        "UPDATE t SET c = NULL WHERE b = 9",
        "UPDATE t SET c = 'c5' WHERE a = 2",
        "DELETE FROM t WHERE a > 4",
        "DELETE FROM t",
        "INSERT INTO t VALUES (NULL, 9, 'c5'), (-7, 7, NULL)",
    ];
    for change in changes {
        session.execute(change).unwrap();
        for (sql, prepared) in queries.iter().zip(&prepared) {
            let kept = session.execute_prepared(prepared, &[]).unwrap();
            let by_text = session.query(sql).unwrap();
            session.execute("SET plan_cache = off").unwrap();
            let fresh = session.query(&format!("{sql} ")).unwrap();
            session.execute("SET plan_cache = on").unwrap();
            assert_eq!(kept.batches, fresh.batches, "{sql} after {change}");
            assert_eq!(by_text.batches, fresh.batches, "{sql} after {change}, by its text");
        }
    }
}

#[test]
fn texts_that_differ_in_integers_are_one_statement_and_mean_what_they_say() {
    let mut session = session();
    table_of(&mut session, 1000);
    let square = |session: &mut Session, id: i64| {
        let answer = session.query(&format!("SELECT square FROM t WHERE id = {id}")).expect("runs");
        assert_eq!(answer.schema.field(0).name(), "square");
        let values = answer.batches.iter();
        let values = values.map(|it| it.column(0).as_primitive::<Int64Type>().value(0));
        values.collect::<Vec<i64>>()
    };
    for id in [3, 4, 5, 6] {
        assert_eq!(square(&mut session, id), [id * id]);
    }
    for id in [3_000_000_000, 3_000_000_001, 3_000_000_002, 1000] {
        assert!(square(&mut session, id).is_empty());
    }
    for id in [0, 1, 2, 3, 4] {
        let sql = format!("UPDATE t SET square = square + -{id} WHERE id = {id};");
        assert_eq!(session.query(&sql).expect("runs").tag, "UPDATE 1");
        assert_eq!(square(&mut session, id), [id * id - id]);
        let sql = format!("INSERT INTO t VALUES ({}, {id})", id + 2000);
        assert_eq!(session.query(&sql).expect("runs").tag, "INSERT 0 1");
        assert_eq!(square(&mut session, id + 2000), [id]);
        // The same each time, whether it was read before or not.
        let error = session.query(&sql).expect_err("twice");
        assert_eq!(error.state, SqlState::UNIQUE_VIOLATION);
        let sql = format!("INSERT INTO t VALUES ({}, 1)", id + 3_000_000_000);
        assert_eq!(session.query(&sql).expect_err("too great").state.0, "22003");
        let sql = format!("SELECT id + {} FROM t WHERE id = 5", i32::MAX - id as i32);
        assert_eq!(session.query(&sql).is_err(), id < 5, "{sql}");
        let sql = format!("DELETE FROM t WHERE id = {}", id + 2000);
        assert_eq!(session.query(&sql).expect("runs").tag, "DELETE 1");
    }
    let calls = "SELECT calls FROM pg_stat_statements
        WHERE query = 'UPDATE t SET square = square + -$1 WHERE id = $2'";
    assert_eq!(count(&mut session, calls), 5);
    // A transaction sees what it has done, and nothing of it is left.
    session.execute("BEGIN; UPDATE t SET square = 7 WHERE id = 9").expect("runs");
    session.execute("UPDATE t SET square = 8 WHERE id = 10").expect("runs");
    session.execute("UPDATE t SET square = 9 WHERE id = 11").expect("runs");
    assert_eq!((square(&mut session, 10), square(&mut session, 11)), (vec![8], vec![9]));
    session.execute("ROLLBACK").expect("ends");
    assert_eq!((square(&mut session, 10), square(&mut session, 11)), (vec![100], vec![121]));
    // What there is by the name changes.
    session.execute("ALTER TABLE t DROP COLUMN square").expect("changed");
    let error = session.query("SELECT square FROM t WHERE id = 12").expect_err("no such column");
    assert_eq!(error.state.0, "42703");
    session.execute("ALTER TABLE t ADD COLUMN square BIGINT DEFAULT 5").expect("changed");
    assert_eq!(square(&mut session, 13), [5]);
    session.execute("DROP TABLE t").expect("dropped");
    let error = session.query("SELECT square FROM t WHERE id = 14").expect_err("no table");
    assert_eq!(error.state, SqlState::UNDEFINED_TABLE);
}

#[test]
fn an_update_keeps_keys_only_where_it_leaves_them() {
    let mut session = session();
    table_of(&mut session, 2000);
    session.execute("ALTER TABLE t ADD COLUMN code INTEGER").expect("changed");
    session.execute("UPDATE t SET code = id").expect("changed");
    session.execute("CREATE UNIQUE INDEX t_code ON t (code)").expect("made");
    let tag = |session: &mut Session, sql: &str| session.query(sql).map(|it| it.tag);
    for (sql, wanted) in [
        ("UPDATE t SET square = 1 WHERE id = 5", Ok("UPDATE 1")),
        ("UPDATE t SET id = id WHERE id < 5", Ok("UPDATE 5")),
        ("UPDATE t SET id = 6 WHERE id = 5", Err(())),
        ("UPDATE t SET code = 6 WHERE id = 5", Err(())),
        ("UPDATE t SET code = square WHERE id = 5", Err(())),
        ("UPDATE t SET id = code, code = id WHERE id = 7", Ok("UPDATE 1")),
        ("UPDATE t SET code = 2000, square = 3 WHERE id = 5", Ok("UPDATE 1")),
        ("UPDATE t SET code = 5 WHERE id = 6", Ok("UPDATE 1")),
        ("UPDATE t SET code = 6 WHERE id = 7", Ok("UPDATE 1")),
        ("UPDATE t SET square = square + 1", Ok("UPDATE 2000")),
    ] {
        let found = tag(&mut session, sql);
        match wanted {
            Ok(wanted) => assert_eq!(found.as_deref().ok(), Some(wanted), "{sql}"),
            Err(()) => {
                let error = found.expect_err(sql);
                assert_eq!(error.state, SqlState::UNIQUE_VIOLATION, "{sql}");
            }
        }
    }
    let distinct = "SELECT count(DISTINCT code) + count(DISTINCT id) FROM t";
    assert_eq!(count(&mut session, distinct), 4000);
}
