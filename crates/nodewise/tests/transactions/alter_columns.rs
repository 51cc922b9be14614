//! ALTER TABLE on columns where `tests/sql/alter_columns.slt` cannot go: many rows in many parts, against a model; transactions,
//! prepared statements, files, and what stays as it was.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, NoProgress, Session, Value};
use simulator::{DiskImage, SimulatedMachine};
use stdx::sync::Arc;

fn open(machine: &Arc<SimulatedMachine>) -> Arc<Database> {
    let options =
        DatabaseOptions { workers: Some(2), delta_from: Some(0), ..DatabaseOptions::default() };
    Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress).unwrap()
}

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("four_sockets").unwrap(), 3, image)
}

fn run(session: &mut Session, sql: &str) {
    session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn state(session: &mut Session, sql: &str) -> &'static str {
    session.execute(sql).map_or_else(|error| error.state.0, |_| "")
}

fn number(session: &mut Session, sql: &str) -> i64 {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    answer.batches[0].column(0).as_primitive::<Int64Type>().value(0)
}

const KINDS: [&str; 4] = [
    "",
    "PARTITION BY HASH (id) PARTITIONS 3",
    "PARTITION BY RANGE (id) (PARTITION VALUES < 500, PARTITION 500 <= VALUES < 1500, PARTITION OTHERS)",
    "PARTITION BY ROUNDROBIN PARTITIONS 2",
];

/// What must be so of each row, however the columns came.
fn check(session: &mut Session, what: &str) {
    let wrong = "SELECT count(*) FROM t WHERE twice <> id * 2 OR twice IS NULL OR name <> 'n' || id \
                 OR fixed <> 7 OR nothing IS NOT NULL OR small <> id % 10";
    assert_eq!(number(session, wrong), 0, "{what}");
    assert_eq!(number(session, "SELECT count(*) FROM t"), 2750, "{what}");
    let sums = "SELECT CAST(sum(twice) AS BIGINT) FROM t WHERE small = 3";
    assert_eq!(
        number(session, sums),
        2 * (0..3000).filter(|it| it % 12 > 0 && it % 10 == 3).sum::<i64>(),
        "{what}"
    );
}

#[test]
fn columns_change_in_parts_with_deltas_and_rows_that_have_gone_and_come_back() {
    for kind in KINDS {
        let first = machine(DiskImage::default());
        let database = open(&first);
        let mut session = database.session();
        run(&mut session, "CREATE TABLE digits (d BIGINT)");
        run(&mut session, "INSERT INTO digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)");
        run(&mut session, &format!("CREATE TABLE t (id BIGINT, extra TEXT, small TEXT) {kind}"));
        let all = "SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS id FROM digits a, digits b, digits c, digits e \
                   WHERE e.d < 3";
        run(
            &mut session,
            &format!("INSERT INTO t SELECT id, 'x', id % 10 FROM ({all}) AS s WHERE id < 2900"),
        );
        run(
            &mut session,
            &format!("INSERT INTO t SELECT id, 'x', id % 10 FROM ({all}) AS s WHERE id >= 2900"),
        );
        run(&mut session, "DELETE FROM t WHERE id % 12 = 0");
        run(&mut session, "CREATE INDEX by_small ON t (small)");
        let before =
            number(&mut session, "SELECT count(*) FROM nodewise.parts WHERE table_name = 't'");
        run(
            &mut session,
            "ALTER TABLE t ADD COLUMN twice BIGINT, ADD COLUMN fixed INTEGER NOT NULL DEFAULT 7, \
             ADD COLUMN nothing TEXT, ADD COLUMN name TEXT DEFAULT 'm', DROP COLUMN extra, \
             ALTER COLUMN small TYPE SMALLINT USING small::smallint",
        );
        let after =
            number(&mut session, "SELECT count(*) FROM nodewise.parts WHERE table_name = 't'");
        assert_eq!(before, after, "{kind}: parts stay");
        run(&mut session, "ALTER TABLE t ALTER COLUMN twice TYPE BIGINT USING id * 2");
        run(&mut session, "ALTER TABLE t ALTER COLUMN name TYPE TEXT USING 'n' || id");
        check(&mut session, kind);
        let counted = number(&mut session, "SELECT count(*) FROM t WHERE id < 10");
        assert_eq!(counted, 9, "{kind}");
        drop((session, database));
        // From the log, then from files.
        let again = machine(first.crash(5));
        let database = open(&again);
        let mut session = database.session();
        check(&mut session, &format!("{kind}, from the log"));
        run(&mut session, "CHECKPOINT");
        run(&mut session, "ALTER TABLE t RENAME COLUMN twice TO double, DROP COLUMN fixed");
        run(&mut session, "ALTER TABLE t RENAME double TO twice, ADD fixed INTEGER DEFAULT 7");
        drop((session, database));
        let database = open(&machine(again.crash(6)));
        check(&mut database.session(), &format!("{kind}, from files"));
        assert_eq!(
            database
                .session()
                .execute("CALL nodewise.merge('t')")
                .map_or_else(|it| it.state.0, |_| ""),
            ""
        );
        check(&mut database.session(), &format!("{kind}, put together anew"));
    }
}

#[test]
fn a_block_and_prepared_statements_see_columns_as_they_are() {
    let database = open(&machine(DiskImage::default()));
    let (mut session, mut other) = (database.session(), database.session());
    run(&mut session, "CREATE TABLE t (a BIGINT PRIMARY KEY, b BIGINT)");
    run(&mut session, "INSERT INTO t VALUES (1, 10), (2, 20)");
    let update = other.prepare("UPDATE t SET b = b + 1 WHERE a = $1").unwrap();
    let read = other.prepare("SELECT b FROM t WHERE a = $1").unwrap();
    other.execute_prepared(&update, &[Value::Integer(1)]).unwrap();
    run(&mut session, "BEGIN; INSERT INTO t VALUES (3, 30); SAVEPOINT s");
    run(&mut session, "ALTER TABLE t DROP COLUMN b, ADD COLUMN c BIGINT DEFAULT 5");
    assert_eq!(number(&mut session, "SELECT CAST(sum(c) AS BIGINT) FROM t"), 15);
    run(&mut session, "ROLLBACK TO s");
    assert_eq!(number(&mut session, "SELECT CAST(sum(b) AS BIGINT) FROM t"), 61);
    run(&mut session, "ALTER TABLE t ADD COLUMN c BIGINT DEFAULT 5");
    assert_eq!(number(&mut other, "SELECT CAST(sum(b) AS BIGINT) FROM t"), 31, "not committed");
    run(&mut session, "UPDATE t SET c = a WHERE a > 1; COMMIT");
    other.execute_prepared(&update, &[Value::Integer(1)]).unwrap();
    let answer = other.execute_prepared(&read, &[Value::Integer(1)]).unwrap();
    assert_eq!(answer.batches[0].column(0).as_primitive::<Int64Type>().value(0), 12);
    assert_eq!(number(&mut other, "SELECT CAST(sum(c) AS BIGINT) FROM t"), 10);
    run(&mut session, "ALTER TABLE t DROP COLUMN b");
    assert_eq!(other.execute_prepared(&update, &[Value::Integer(1)]).unwrap_err().state.0, "42703");
    run(&mut session, "ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME a TO key");
    assert_eq!(state(&mut other, "SELECT a FROM t"), "42P01");
    assert_eq!(state(&mut session, "INSERT INTO u (key) VALUES (1)"), "23505");
    run(&mut session, "INSERT INTO u (key) VALUES (4)");
    assert_eq!(number(&mut other, "SELECT c FROM u WHERE key = 4"), 5);
}
