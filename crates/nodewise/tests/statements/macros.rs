//! Macros outlast the program: by the log, by a checkpoint, and by an export; prepared statements follow them.

use std::path::Path;

use hardware::samples;
use nodewise::{Database, DatabaseOptions, NoProgress, Session};
use simulator::{DiskImage, SimulatedMachine};
use stdx::sync::Arc;

fn open(machine: &Arc<SimulatedMachine>) -> Arc<Database> {
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress).unwrap()
}

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image)
}

fn value(session: &mut Session, sql: &str) -> String {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batch = answer.batches.first().expect("a row");
    nodewise::text::Cells::new(batch.column(0)).text(0).unwrap_or("NULL".into())
}

fn run(session: &mut Session, sql: &str) {
    session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

const MADE: &str = "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2); \
     CREATE MACRO more(x, y := 1) AS x + y, (x, y, z) AS x + y + z; \
     CREATE MACRO \"Up\"(n) AS TABLE SELECT a FROM t WHERE a >= n; \
     CREATE MACRO gone() AS 1; DROP MACRO gone; \
     CREATE FUNCTION from_here(x INTEGER, INTEGER DEFAULT 0) RETURNS BIGINT LANGUAGE sql STRICT \
         AS 'SELECT count(*) + $2 FROM t WHERE a >= x'; \
     CREATE FUNCTION from_here() RETURNS INTEGER LANGUAGE sql RETURN 7; \
     CREATE FUNCTION \"It''s\"(n INTEGER) RETURNS TABLE (\"A\" TEXT) LANGUAGE sql AS 'SELECT ''it''''s '' || a FROM t WHERE a >= n'; \
     CREATE SCHEMA s; CREATE SCHEMA gone; CREATE FUNCTION s.from_here() RETURNS INTEGER LANGUAGE sql RETURN 8; \
     CREATE FUNCTION gone.f() RETURNS INTEGER LANGUAGE sql RETURN 1; CREATE MACRO gone.m() AS 1; \
     CREATE FUNCTION gone.moved(x INTEGER) RETURNS INTEGER LANGUAGE sql RETURN x + 1; \
     COMMENT ON FUNCTION gone.moved(INTEGER) IS 'one more'; ALTER FUNCTION gone.moved(INTEGER) SET SCHEMA s; \
     CREATE FUNCTION s.dropped() RETURNS INTEGER LANGUAGE sql RETURN 1; DROP FUNCTION s.dropped(); \
     CREATE MACRO s.more(x) AS x - 1; DROP SCHEMA gone CASCADE; \
     CREATE FUNCTION pg_temp.own() RETURNS INTEGER LANGUAGE sql RETURN 9";

/// That they are there, and those that are not are not.
fn check(database: &Arc<Database>) {
    let mut session = database.session();
    assert_eq!(value(&mut session, "SELECT more(1) + more(1, 2, 3)"), "8");
    assert_eq!(value(&mut session, "SELECT count(*) FROM \"Up\"(2)"), "1");
    assert_eq!(
        value(&mut session, "SELECT from_here(2) * 100 + from_here(1, 5) * 10 + from_here()"),
        "177"
    );
    assert_eq!(value(&mut session, "SELECT \"A\" FROM \"It''s\"(2)"), "it's 2");
    assert_eq!(session.execute("SELECT gone()").unwrap_err().state.0, "42883");
    let in_schema = "SELECT s.from_here() * 100 + s.moved(1) * 10 + s.more(2)";
    assert_eq!(value(&mut session, in_schema), "821");
    let comment = "SELECT obj_description('s.moved(integer)'::regprocedure, 'pg_proc')";
    assert_eq!(value(&mut session, comment), "one more");
    let of_s = "SELECT count(*) FROM pg_proc WHERE pronamespace = 's'::regnamespace";
    assert_eq!(value(&mut session, of_s), "2");
    for (sql, state) in [
        ("SELECT s.dropped()", "42883"),
        ("SELECT gone.f()", "3F000"),
        ("SELECT pg_temp.own()", "3F000"),
        ("DROP SCHEMA s", "2BP01"),
    ] {
        assert_eq!(session.execute(sql).unwrap_err().state.0, state, "{sql}");
    }
}

/// What is said of functions in schemas is what PostgreSQL says.
#[test]
fn errors_name_functions_with_their_schemas() {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
    let database = Database::open(machine, DatabaseOptions::default()).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        "CREATE SCHEMA s; CREATE FUNCTION s.f(x INTEGER) RETURNS INTEGER LANGUAGE sql RETURN x; \
         CREATE FUNCTION f(x INTEGER) RETURNS INTEGER LANGUAGE sql RETURN x",
    );
    for (sql, message) in [
        ("SELECT s.f()", "function s.f() does not exist"),
        ("SELECT s.f(1, 'x'::text)", "function s.f(integer, text) does not exist"),
        ("SELECT * FROM s.g(true)", "function s.g(boolean) does not exist"),
        ("SELECT f(1, 2)", "function f(integer, integer) does not exist"),
        ("SELECT nosuch.f(1)", "schema \"nosuch\" does not exist"),
        ("SELECT a.s.f(1)", "cross-database references are not implemented: a.s.f"),
        ("DROP FUNCTION s.f(TEXT)", "function s.f(text) does not exist"),
        (
            "DROP FUNCTION nosuch(INT, VARCHAR(3))",
            "function nosuch(integer, character varying) does not exist",
        ),
        ("DROP FUNCTION s.nosuch", "could not find a function named \"s.nosuch\""),
        (
            "ALTER FUNCTION s.f SET SCHEMA public",
            "function f(integer) already exists in schema \"public\"",
        ),
        ("DROP SCHEMA s", "cannot drop schema s because other objects depend on it"),
        (
            "CREATE FUNCTION s.f(x INT) RETURNS INT LANGUAGE sql RETURN 1",
            "function \"f\" already exists with same argument types",
        ),
    ] {
        assert_eq!(session.execute(sql).unwrap_err().message, message, "{sql}");
    }
}

#[test]
fn macros_outlast_the_program() {
    let first = machine(DiskImage::default());
    let database = open(&first);
    run(&mut database.session(), MADE);
    check(&database);
    drop(database);
    let second = machine(first.crash(0));
    let database = open(&second);
    check(&database);
    run(&mut database.session(), "CHECKPOINT");
    drop(database);
    check(&open(&machine(second.crash(0))));
}

#[test]
fn what_was_prepared_follows_a_macro() {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
    let database = Database::open(machine, DatabaseOptions::default()).unwrap();
    let mut session = database.session();
    run(&mut session, "CREATE MACRO m(x) AS x + 1; PREPARE p AS SELECT m($1::integer)");
    assert_eq!(value(&mut session, "EXECUTE p(1)"), "2");
    assert_eq!(value(&mut session, "SELECT m(1)"), "2");
    run(&mut database.session(), "CREATE OR REPLACE MACRO m(x) AS x * 10");
    assert_eq!(value(&mut session, "SELECT m(1)"), "10");
    assert_eq!(value(&mut session, "EXECUTE p(1)"), "10");
    run(&mut session, "BEGIN; CREATE OR REPLACE MACRO m(x) AS 0; ROLLBACK");
    assert_eq!(value(&mut session, "SELECT m(1)"), "10");
}
