//! What goes wrong gives one clear error with a SQLSTATE, and nothing is lost.

use std::path::PathBuf;

use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session, SqlError};
use simulator::SimulatedMachine;
use stdx::Bytes;
use stdx::sync::Arc;

fn database() -> Arc<Database> {
    let topology = samples::by_name("laptop").expect("a sample machine");
    Database::open(SimulatedMachine::new(topology, 1), DatabaseOptions::default()).expect("opens")
}

fn error(session: &mut Session, sql: &str) -> SqlError {
    session.query(sql).map(|it| it.tag).expect_err(sql)
}

#[test]
fn wrong_statements_name_what_is_wrong() {
    let database = database();
    let mut session = database.session();
    session
        .execute(
            "CREATE TABLE t (number INTEGER, quantity BIGINT NOT NULL, price DECIMAL(5,2), name VARCHAR(3));
             INSERT INTO t VALUES (2147483647, 9223372036854775807, 1.50, 'abc'), (0, 1, NULL, NULL)",
        )
        .expect("the table is made");
    let cases = [
        ("SELECT number + number FROM t", "22003", "integer"),
        ("SELECT quantity * 2 FROM t", "22003", "bigint"),
        ("SELECT CAST(sum(quantity) AS BIGINT) FROM t", "22003", "bigint"),
        ("SELECT 1 / number FROM t", "22012", "zero"),
        ("SELECT price % 0 FROM t", "22012", "zero"),
        ("SELECT quantitee FROM t", "42703", "quantitee"),
        ("SELECT * FROM tt", "42P01", "tt"),
        ("SELECT nosuch(1)", "42883", "nosuch"),
        ("SELECT number FROM t GROUP BY name", "42803", "number"),
        ("SELECT (SELECT number FROM t)", "21000", "one"),
        ("SELEC 1", "42601", "SELEC"),
        ("SELECT CAST('x' AS INTEGER)", "22P02", "x"),
        ("INSERT INTO t VALUES (1, NULL, 1, 'a')", "23502", "quantity"),
        ("INSERT INTO t VALUES (1, 1, 1, 'abcd')", "22001", "name"),
        ("INSERT INTO t VALUES (99999999999, 1, 1, 'a')", "22003", "number"),
        ("INSERT INTO t VALUES (1)", "23502", "quantity"),
        ("CREATE TABLE t (a INTEGER)", "42P07", "t"),
        ("CREATE TABLE u (a INTEGER, a INTEGER)", "42701", "a"),
        ("DROP TABLE nosuch", "42P01", "nosuch"),
        ("SET nosuch = 1", "42704", "nosuch"),
        ("SET workers = 'many'", "22023", "many"),
    ];
    for (sql, state, word) in cases {
        let error = error(&mut session, sql);
        assert_eq!(error.state.0, state, "{sql}: {error}");
        assert!(error.message.contains(word), "{sql}: {error} does not say {word}");
    }
    let hint = error(&mut session, "SELECT quantitee FROM t").hint.unwrap_or_default();
    assert!(hint.contains("quantity"), "{hint}");
    let rows = session.query("SELECT count(*) FROM t").expect("the table is still there");
    assert_eq!(rows.rows(), 1);
}

#[test]
fn broken_files_leave_no_table() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("broken-files");
    std::fs::create_dir_all(&folder).expect("a folder");
    let database = database();
    let mut session = database.session();
    let garbage = folder.join("garbage.parquet");
    std::fs::write(&garbage, b"this is no Parquet file at all").expect("a file");
    let missing = folder.join("missing.parquet");
    for (path, state) in [(&missing, "58P01"), (&garbage, "22P04")] {
        for sql in [
            format!("CREATE TABLE t AS SELECT * FROM '{}'", path.display()),
            format!("SELECT count(*) FROM '{}'", path.display()),
        ] {
            let error = error(&mut session, &sql);
            assert_eq!(error.state.0, state, "{error}");
            let name = path.file_name().and_then(|it| it.to_str()).expect("a name");
            assert!(error.message.contains(name), "{error}");
            assert!(database.tables().is_empty());
        }
    }
}

#[test]
fn too_little_memory_is_an_error_and_the_database_lives_on() {
    let topology = samples::by_name("laptop").expect("a sample machine");
    let machine = SimulatedMachine::new(topology, 1);
    let options =
        DatabaseOptions { memory_limit: Some(Bytes(8 << 20)), ..DatabaseOptions::default() };
    let database = Database::open(machine, options).expect("opens");
    let mut session = database.session();
    let mut failed = None;
    session.execute("CREATE TABLE t AS SELECT 1 AS a, 12345678901 AS b").expect("small");
    for _ in 0..24 {
        if let Err(error) =
            session.execute("INSERT INTO t SELECT a + 1, b * 3 % 98765432109 FROM t")
        {
            failed = Some(error);
            break;
        }
    }
    let error = failed.expect("eight megabytes are too little");
    assert_eq!(error.state.0, "53200", "{error}");
    assert!(session.query("SELECT count(*) FROM t").is_ok());
}

#[test]
fn what_an_index_is_of_is_no_part_of_a_refused_row() {
    let database = database();
    let mut session = database.session();
    let table = "CREATE TABLE hx (a INTEGER, b TEXT, CHECK (a > 0)); CREATE INDEX ON hx (lower(b))";
    session.execute(table).unwrap();
    let detail = detail_of(&mut session, "INSERT INTO hx VALUES (-1, 'Q')");
    assert_eq!(detail, "Failing row contains (-1, Q).");
}

#[test]
fn who_breaks_a_rule_is_told_of_the_row_as_far_as_it_may_be_read() {
    let database = database();
    let mut session = database.session();
    session
        .execute(
            "CREATE TABLE t (id INTEGER NOT NULL, f BOOLEAN, n DECIMAL(8, 2), d TIMESTAMPTZ, a INTEGER[], x TEXT, CHECK (id < 9));
             CREATE VIEW small AS SELECT id, x FROM t WHERE id < 5 WITH CHECK OPTION;
             INSERT INTO t VALUES (1, true, 1.5, '2024-01-01 12:00+00', '{1,2}', 'x');
             CREATE ROLE writer; GRANT INSERT, UPDATE ON t TO writer; GRANT SELECT (id, x) ON t TO writer;
             CREATE ROLE blind; GRANT INSERT ON t TO blind;
             SET TIME ZONE 'Europe/Berlin'",
        )
        .unwrap();
    let mut detail = |sql: &str| detail_of(&mut session, sql);
    let whole = "Failing row contains (9, t, 1.50, 2024-01-01 13:00:00+01, {1,2}, x).";
    assert_eq!(detail("UPDATE t SET id = 9"), whole);
    let null = "Failing row contains (null, f, null, null, null, null).";
    assert_eq!(detail("INSERT INTO t VALUES (1), (NULL)"), null.replace('f', "null"));
    assert_eq!(detail("INSERT INTO t (f) VALUES (false)"), null);
    let of_view = detail("INSERT INTO small VALUES (1, 'a'), (7, 'b')");
    assert_eq!(of_view, "Failing row contains (7, null, null, null, null, b).");
    let merge = "MERGE INTO t USING (VALUES (1), (30)) s (i) ON t.id = s.i WHEN MATCHED THEN DELETE \
                 WHEN NOT MATCHED THEN INSERT (id) VALUES (s.i)";
    assert_eq!(detail(merge), "Failing row contains (30, null, null, null, null, null).");
    // The first 64 bytes of a value, whole characters.
    let long = detail("INSERT INTO t (id, x) VALUES (10, repeat('\u{e9}', 40) || 'z'), (1, 'a')");
    let told = format!("(10, null, null, null, null, {}...)", "\u{e9}".repeat(32));
    assert_eq!(long, format!("Failing row contains {told}."));
    detail_of(&mut session, "SET ROLE writer");
    let some = "Failing row contains (id, x) = (12, y).";
    assert_eq!(detail_of(&mut session, "INSERT INTO t (id, x) VALUES (12, 'y')"), some);
    detail_of(&mut session, "SET ROLE blind");
    assert_eq!(detail_of(&mut session, "INSERT INTO t (id, x) VALUES (12, 'y')"), "");
}

fn detail_of(session: &mut Session, sql: &str) -> String {
    session.query(sql).err().and_then(|it| it.detail().map(str::to_owned)).unwrap_or_default()
}
