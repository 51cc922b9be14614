//! Types that users make outlast the program, by the log, a checkpoint and an export, and rows keep their labels whatever
//! becomes of their types; other sessions see one state of them.

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

fn state(session: &mut Session, sql: &str) -> &'static str {
    session.execute(sql).expect_err(sql).state.0
}

/// All rows in the order of their labels.
const ROWS: &str =
    "SELECT string_agg(concat_ws(':', id, feels, was), ' ' ORDER BY feels, id) FROM t";

const MADE: &str = "CREATE SCHEMA s; CREATE TYPE s.mood AS ENUM ('sad', 'ok', 'happy'); \
     CREATE TYPE gone AS ENUM ('a'); DROP TYPE gone; CREATE TYPE number AS INTEGER; \
     CREATE TABLE t (id INTEGER PRIMARY KEY, feels s.mood DEFAULT 'ok', was s.mood[]); \
     CREATE VIEW glad AS SELECT id, feels FROM t WHERE feels > 'sad'::s.mood; \
     INSERT INTO t VALUES (1, 'happy', '{sad}'), (2, 'sad', NULL); CHECKPOINT; \
     INSERT INTO t VALUES (3, DEFAULT, '{ok,happy}')";

/// Rows in the main and in the delta, and labels that come, move and are called otherwise.
const CHANGED: &str = "ALTER TYPE s.mood ADD VALUE 'thrilled'; INSERT INTO t VALUES (4, 'thrilled', NULL); \
     ALTER TYPE s.mood ADD VALUE 'bored' BEFORE 'ok'; UPDATE t SET feels = 'bored' WHERE id = 2; \
     ALTER TYPE s.mood RENAME VALUE 'ok' TO 'fine'; INSERT INTO t (id) VALUES (5)";

fn check(database: &Arc<Database>) {
    let mut session = database.session();
    let rows = "2:bored 3:fine:{fine,happy} 5:fine 1:happy:{sad} 4:thrilled";
    assert_eq!(value(&mut session, ROWS), rows);
    let all = "{sad,bored,fine,happy,thrilled}";
    assert_eq!(value(&mut session, "SELECT enum_range(NULL::s.mood)"), all);
    assert_eq!(
        value(&mut session, "SELECT string_agg(feels::text, ',' ORDER BY id) FROM glad"),
        "happy,bored,fine,thrilled,fine"
    );
    assert_eq!(value(&mut session, "SELECT id FROM t WHERE feels = 'bored'"), "2");
    assert_eq!(state(&mut session, "SELECT 'a'::gone"), "42704");
    assert_eq!(state(&mut session, "INSERT INTO t (id, feels) VALUES (9, 'ok')"), "22P02");
    assert_eq!(value(&mut session, "SELECT '7'::number + 1"), "8");
    assert_eq!(state(&mut session, "DROP TYPE s.mood"), "2BP01");
}

#[test]
fn types_outlast_the_program() {
    let first = machine(DiskImage::default());
    let database = open(&first);
    run(&mut database.session(), MADE);
    run(&mut database.session(), CHANGED);
    check(&database);
    drop(database);
    let second = machine(first.crash(0));
    let database = open(&second);
    check(&database);
    run(&mut database.session(), "CHECKPOINT");
    drop(database);
    let third = machine(second.crash(0));
    let database = open(&third);
    check(&database);
    run(&mut database.session(), "ALTER TYPE s.mood RENAME TO feeling; DROP VIEW glad");
    drop(database);
    let database = open(&machine(third.crash(0)));
    let mut session = database.session();
    assert_eq!(value(&mut session, "SELECT pg_typeof(feels) FROM t"), "s.feeling");
    run(&mut session, "DROP TYPE s.feeling CASCADE; INSERT INTO t VALUES (10)");
    assert_eq!(value(&mut session, "SELECT count(*) FROM t"), "6");
}

const DOMAINS: &str = "CREATE DOMAIN positive AS INTEGER CHECK (VALUE > 0); \
     CREATE DOMAIN digit AS positive DEFAULT 7 CONSTRAINT little CHECK (VALUE < 10); \
     CREATE DOMAIN word AS VARCHAR(9) NOT NULL; CREATE SCHEMA s; ALTER DOMAIN word SET SCHEMA s; \
     CREATE TABLE d (a digit, w s.word, n INTEGER); INSERT INTO d VALUES (1, 'x', 1), (DEFAULT, 'y', 2); CHECKPOINT; \
     ALTER DOMAIN digit ADD CONSTRAINT odd CHECK (VALUE % 2 = 1); ALTER DOMAIN digit RENAME TO figure; \
     ALTER TABLE d DROP COLUMN n; INSERT INTO d VALUES (9, 'z')";

fn check_domains(database: &Arc<Database>) {
    let mut session = database.session();
    assert_eq!(value(&mut session, "SELECT string_agg(a || w, ',' ORDER BY w) FROM d"), "1x,7y,9z");
    for (sql, expected) in [
        ("INSERT INTO d VALUES (0, 'x')", "23514"),
        ("INSERT INTO d VALUES (8, 'x')", "23514"),
        ("UPDATE d SET a = 11", "23514"),
        ("INSERT INTO d VALUES (1, NULL)", "23502"),
        ("INSERT INTO d VALUES (1, '1234567890')", "22001"),
        ("SELECT 2::figure", "23514"),
        ("SELECT 2::digit", "42704"),
        ("DROP DOMAIN positive", "2BP01"),
    ] {
        assert_eq!(state(&mut session, sql), expected, "{sql}");
    }
    assert_eq!(value(&mut session, "SELECT 3::figure"), "3");
}

#[test]
fn domains_outlast_the_program() {
    let first = machine(DiskImage::default());
    let database = open(&first);
    run(&mut database.session(), DOMAINS);
    check_domains(&database);
    drop(database);
    let second = machine(first.crash(0));
    let database = open(&second);
    check_domains(&database);
    run(&mut database.session(), "CHECKPOINT");
    drop(database);
    let database = open(&machine(second.crash(0)));
    check_domains(&database);
    let folder = std::env::temp_dir().join(format!("nodewise-{}-domains", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let path = folder.display();
    run(&mut database.session(), &format!("EXPORT DATABASE '{path}'"));
    let again = open(&machine(DiskImage::default()));
    run(&mut again.session(), &format!("IMPORT DATABASE '{path}'"));
    check_domains(&again);
    let mut session = again.session();
    std::fs::write(folder.join("more.csv"), "3,a\n4,b\n").unwrap();
    let copy = format!("COPY d FROM '{path}/more.csv'");
    assert_eq!(state(&mut session, &copy), "23514");
    std::fs::write(folder.join("more.csv"), "3,a\n5,b\n").unwrap();
    run(&mut session, &copy);
    assert_eq!(value(&mut session, "SELECT count(*) FROM d"), "5");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn what_a_transaction_does_to_types_is_undone_with_it() {
    let database = open(&machine(DiskImage::default()));
    let mut session = database.session();
    run(&mut session, MADE);
    let before = value(&mut session, ROWS);
    run(
        &mut session,
        "BEGIN; ALTER TYPE s.mood ADD VALUE 'x' BEFORE 'sad'; INSERT INTO t VALUES (8, 'x', NULL)",
    );
    assert_eq!(value(&mut session, "SELECT min(feels) FROM t"), "x");
    let mut other = database.session();
    assert_eq!(value(&mut other, ROWS), before);
    assert_eq!(value(&mut other, "SELECT enum_first(NULL::s.mood)"), "sad");
    run(&mut session, "ROLLBACK");
    assert_eq!(value(&mut session, ROWS), before);
    assert_eq!(state(&mut session, "SELECT 'x'::s.mood"), "22P02");
}

#[test]
fn what_was_prepared_follows_a_type() {
    let database = open(&machine(DiskImage::default()));
    let mut session = database.session();
    run(&mut session, MADE);
    run(&mut session, "PREPARE p AS SELECT count(*) FROM t WHERE feels <= $1");
    let question = "EXECUTE p('ok')";
    assert_eq!(value(&mut session, question), "2");
    run(
        &mut database.session(),
        "ALTER TYPE s.mood ADD VALUE 'bad' BEFORE 'sad'; INSERT INTO t VALUES (7, 'bad')",
    );
    assert_eq!(value(&mut session, question), "3");
    assert_eq!(value(&mut session, "SELECT 'bad'::s.mood < 'sad'"), "true");
    run(&mut database.session(), "ALTER TYPE s.mood RENAME VALUE 'bad' TO 'worst'");
    assert_eq!(state(&mut session, "SELECT 'bad'::s.mood < 'sad'"), "22P02");
    assert_eq!(state(&mut session, "EXECUTE p('bad')"), "22P02");
}

#[test]
fn types_are_exported_and_read_again() {
    let folder = std::env::temp_dir().join(format!("nodewise-{}-types", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let path = folder.display();
    let database = open(&machine(DiskImage::default()));
    run(&mut database.session(), MADE);
    run(&mut database.session(), CHANGED);
    run(&mut database.session(), &format!("EXPORT DATABASE '{path}'"));
    let again = open(&machine(DiskImage::default()));
    run(&mut again.session(), &format!("IMPORT DATABASE '{path}'"));
    check(&again);
    for format in ["csv", "parquet"] {
        let file = format!("'{path}/t.{format}'");
        let mut session = again.session();
        run(
            &mut session,
            &format!("COPY t TO {file}; CREATE TABLE u (LIKE t); COPY u FROM {file}"),
        );
        let same = "SELECT count(*) FROM t JOIN u USING (id, feels) WHERE t.was IS NOT DISTINCT FROM u.was";
        assert_eq!(value(&mut session, same), "5");
        run(&mut session, "DROP TABLE u");
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn owners_alone_change_types() {
    let database = open(&machine(DiskImage::default()));
    let mut session = database.session();
    run(
        &mut session,
        "CREATE ROLE ann; CREATE ROLE bob; GRANT CREATE ON SCHEMA public TO ann; SET ROLE ann",
    );
    run(&mut session, "CREATE TYPE mood AS ENUM ('sad'); RESET ROLE; SET ROLE bob");
    for sql in [
        "ALTER TYPE mood ADD VALUE 'x'",
        "DROP TYPE mood",
        "ALTER TYPE mood OWNER TO bob",
        "CREATE TYPE other AS ENUM ()",
    ] {
        assert_eq!(state(&mut session, sql), "42501");
    }
    assert_eq!(value(&mut session, "SELECT 'sad'::mood"), "sad");
    run(&mut session, "RESET ROLE; ALTER TYPE mood OWNER TO bob; SET ROLE bob");
    run(&mut session, "ALTER TYPE mood ADD VALUE 'x'; RESET ROLE");
    assert_eq!(state(&mut session, "DROP ROLE bob"), "2BP01");
    run(&mut session, "REASSIGN OWNED BY bob TO ann; DROP OWNED BY ann; DROP ROLE bob");
    assert_eq!(state(&mut session, "SELECT 'sad'::mood"), "42704");
}
