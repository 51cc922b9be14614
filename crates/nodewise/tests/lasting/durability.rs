//! A folder holds what was committed, whatever ends the program that had it.

use std::path::Path;

use hardware::samples;
use nodewise::{Database, DatabaseOptions, NoProgress, Session, SqlResult};
use simulator::{DiskImage, SimulatedMachine};
use stdx::Bytes;
use stdx::sync::Arc;

fn machine(image: DiskImage, name: &str) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name(name).unwrap(), 1, image)
}

fn open(machine: &Arc<SimulatedMachine>) -> SqlResult<Arc<Database>> {
    let options =
        DatabaseOptions { workers: Some(2), delta_from: Some(0), ..DatabaseOptions::default() };
    Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress)
}

fn run(session: &mut Session, statements: &[&str]) {
    for sql in statements {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// What a query gives, row by row.
fn rows(database: &Arc<Database>, sql: &str) -> Vec<String> {
    let answer = database.session().query(sql).unwrap();
    let mut lines = Vec::new();
    for batch in &answer.batches {
        let cells: Vec<_> = batch.columns().iter().map(nodewise::text::Cells::new).collect();
        for row in 0..batch.num_rows() {
            let cell = |it: &nodewise::text::Cells<'_>| it.text(row).unwrap_or("NULL".into());
            lines.push(cells.iter().map(cell).collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

/// The database that is there after a crash that kept only what was synced.
fn reopened(machine: &SimulatedMachine) -> Arc<Database> {
    let topology = hardware::Machine::topology(machine).name.clone();
    let name = if topology.contains("laptop") { "laptop" } else { "four_sockets" };
    open(&self::machine(machine.crash(0), name)).unwrap()
}

const ALL_TYPES: &str = "CREATE TABLE a (b BOOLEAN, s SMALLINT, i INTEGER PRIMARY KEY, l BIGINT DEFAULT 7, r REAL, \
     d DOUBLE PRECISION, n DECIMAL(38, 10), x DECIMAL(4, 1), t DATE, z TIMESTAMP, c CHAR(4), v VARCHAR(9), \
     w TEXT CHECK (w <> 'no'))";

#[test]
fn all_types_and_rules_come_back_exactly() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            ALL_TYPES,
            "INSERT INTO a VALUES (true, -32768, 1, 9223372036854775807, 1.5, 'NaN', 1234567890123456789012345678.0123456789, \
         -999.9, '0001-01-01', '9999-12-31 23:59:59.999999', 'ab', 'Gr\u{fc}\u{df}e', 'it''s')",
            "INSERT INTO a (i) VALUES (2), (3), (4)",
            "INSERT INTO a SELECT NULL, NULL, i + 10, l, -0.0, '1e300'::DOUBLE PRECISION, n, x, t, z, c, '', '' FROM a",
            "UPDATE a SET w = 'changed', d = 0.1 + 0.2 WHERE i > 2",
            "DELETE FROM a WHERE i = 12",
            "CREATE TABLE b AS SELECT i, d, v FROM a",
            "CREATE INDEX b_v ON b (v)",
            "TRUNCATE b",
            "INSERT INTO b SELECT i, d, v FROM a WHERE i = 1",
            "CREATE TABLE gone (i INTEGER)",
            "DROP TABLE gone",
        ],
    );
    let all = "SELECT * FROM a ORDER BY i";
    let before = rows(&database, all);
    assert_eq!(before.len(), 7);
    let again = reopened(&first);
    assert_eq!(rows(&again, all), before);
    assert_eq!(rows(&again, "SELECT i, d, v FROM b"), ["1|NaN|Gr\u{fc}\u{df}e"]);
    let indexes = "SELECT * FROM nodewise.indexes ORDER BY 1, 2";
    assert_eq!(rows(&again, indexes), rows(&database, indexes));
    let mut session = again.session();
    let refused = |session: &mut Session, sql: &str| session.execute(sql).unwrap_err().state.0;
    assert_eq!(refused(&mut session, "INSERT INTO a (i) VALUES (1)"), "23505");
    assert_eq!(refused(&mut session, "INSERT INTO a (i, w) VALUES (90, 'no')"), "23514");
    assert_eq!(refused(&mut session, "SELECT * FROM gone"), "42P01");
    run(&mut session, &["INSERT INTO a (i) VALUES (90)"]);
    assert_eq!(rows(&again, "SELECT l FROM a WHERE i = 90"), ["7"]);
}

/// Types that are held as others, from the log and from files.
#[test]
fn moments_spans_ids_and_bytes_come_back_exactly() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE TABLE a (id UUID PRIMARY KEY, m TIMESTAMPTZ DEFAULT '2024-01-01 00:00+00', t TIME, \
             s INTERVAL, b BYTEA, n INTEGER)",
            "INSERT INTO a VALUES ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '2024-07-01 12:00+02', '24:00', \
             '1 mon -2 days 03:00', '\\x00ff61', 1), \
             ('00000000-0000-0000-0000-000000000000', NULL, NULL, NULL, NULL, 2)",
            "CHECKPOINT",
            "INSERT INTO a (id, t, s, b, n) VALUES \
             ('ffffffff-0000-0000-0000-000000000001', '00:00:00.000001', '-00:00:01', '', 3)",
            "UPDATE a SET s = s * 2, m = m + INTERVAL '1 month' WHERE n = 1",
            "CREATE TABLE b AS SELECT id, m - m AS z, s FROM a WHERE n = 3",
        ],
    );
    let expected = [
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|2024-08-01 10:00:00+00|24:00:00|2 mons -4 days +06:00:00|\\x00ff61|1",
        "00000000-0000-0000-0000-000000000000|NULL|NULL|NULL|NULL|2",
        "ffffffff-0000-0000-0000-000000000001|2024-01-01 00:00:00+00|00:00:00.000001|-00:00:01|\\x|3",
    ];
    let again = reopened(&first);
    assert_eq!(rows(&again, "SELECT * FROM a ORDER BY n"), expected);
    let made = ["ffffffff-0000-0000-0000-000000000001|00:00:00|-00:00:01"];
    assert_eq!(rows(&again, "SELECT * FROM b"), made);
    run(&mut again.session(), &["CHECKPOINT", "DELETE FROM a WHERE n = 2"]);
    assert_eq!(rows(&again, "SELECT s FROM a WHERE t > '12:00'"), ["2 mons -4 days +06:00:00"]);
    let twice = "INSERT INTO a (id) VALUES ('{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}')";
    assert_eq!(again.session().execute(twice).unwrap_err().state.0, "23505");
}

/// Numbers of any scale, from the log and from files, as values and as keys.
#[test]
fn numbers_of_any_scale_come_back_exactly() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    run(
        &mut database.session(),
        &[
            "CREATE TABLE a (x NUMERIC PRIMARY KEY, y NUMERIC[], k INTEGER)",
            "INSERT INTO a VALUES (1.50, '{1.0,NULL,NaN}', 1), ('-Infinity', NULL, 2), ('1e60', '{}', 3)",
            "CHECKPOINT",
            "INSERT INTO a VALUES (-0.000000000000000000000000000000000000000000000000125, NULL, 4)",
            "UPDATE a SET x = x + 0.050 WHERE k = 1",
        ],
    );
    let expected = [
        "1.550|{1.0,NULL,NaN}|1",
        "-Infinity|NULL|2",
        "1000000000000000000000000000000000000000000000000000000000000|{}|3",
        "-0.000000000000000000000000000000000000000000000000125|NULL|4",
    ];
    let again = reopened(&first);
    assert_eq!(rows(&again, "SELECT * FROM a ORDER BY k"), expected);
    assert_eq!(rows(&again, "SELECT k FROM a WHERE x = 1.55"), ["1"]);
    run(&mut again.session(), &["CHECKPOINT"]);
    assert_eq!(rows(&again, "SELECT k FROM a ORDER BY x DESC"), ["3", "1", "4", "2"]);
    let twice = again.session().execute("INSERT INTO a VALUES (1.5500)").unwrap_err();
    assert_eq!(twice.state.0, "23505");
}

#[test]
fn views_come_back_from_the_log_and_from_a_checkpoint() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE TABLE t (a INTEGER, b TEXT)",
            "INSERT INTO t VALUES (1, 'x'), (2, 'y')",
            "CREATE VIEW upper AS SELECT 1 AS n",
            "CREATE VIEW under (k, c) AS SELECT * FROM t WHERE a > 1",
            "CREATE VIEW gone AS SELECT * FROM under",
            "CREATE OR REPLACE VIEW upper AS SELECT count(*)::INTEGER AS n FROM under",
            "DROP VIEW gone",
            "BEGIN",
            "CREATE VIEW never AS SELECT 1 AS a",
            "ROLLBACK",
        ],
    );
    let check = |database: &Arc<Database>| {
        assert_eq!(rows(database, "SELECT k, c FROM under"), ["2|y"]);
        assert_eq!(rows(database, "SELECT n FROM upper"), ["1"]);
        let names = "SELECT view_name, columns, made_of FROM nodewise.views ORDER BY 1";
        assert_eq!(rows(database, names), ["under|k, c|t", "upper|n|under"]);
        let mut session = database.session();
        assert_eq!(session.execute("DROP TABLE t").unwrap_err().state.0, "2BP01");
    };
    check(&database);
    let again = reopened(&first);
    check(&again);
    let second = machine(first.crash(0), "laptop");
    let database = open(&second).unwrap();
    run(&mut database.session(), &["CHECKPOINT", "ALTER VIEW under RENAME TO beneath"]);
    let again = reopened(&second);
    assert_eq!(rows(&again, "SELECT n FROM upper"), ["1"]);
    assert_eq!(rows(&again, "SELECT made_of FROM nodewise.views ORDER BY 1"), ["beneath", "t"]);
}

#[test]
fn foreign_keys_come_back_with_what_they_do() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE TABLE p (id INTEGER PRIMARY KEY, x TEXT, y DATE, UNIQUE (x, y))",
            "CREATE TABLE c (x TEXT, y DATE, p INTEGER, CONSTRAINT both FOREIGN KEY (x, y) REFERENCES p (x, y) \
             ON DELETE SET NULL ON UPDATE CASCADE)",
            "INSERT INTO p VALUES (1, 'a', '2024-01-01'), (2, 'b', '2024-01-02'), (3, 'c', '2024-01-03')",
            "INSERT INTO c SELECT x, y, id FROM p",
            "ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p ON DELETE CASCADE",
            "UPDATE p SET x = x || '!' WHERE id = 2",
            "DELETE FROM p WHERE id = 1",
        ],
    );
    let queries =
        ["SELECT * FROM c ORDER BY p", "SELECT * FROM nodewise.constraints ORDER BY 1, 2"];
    let before = queries.map(|it| rows(&database, it));
    assert_eq!(before[0], ["b!|2024-01-02|2", "c|2024-01-03|3"]);
    for checkpoint in [false, true] {
        if checkpoint {
            run(&mut session, &["CHECKPOINT"]);
        }
        let again = reopened(&first);
        assert_eq!(queries.map(|it| rows(&again, it)), before);
        let mut session = again.session();
        let error = session.execute("INSERT INTO c VALUES ('b', '2024-01-02', 2)").unwrap_err();
        assert_eq!(error.state.0, "23503", "{error}");
        run(&mut session, &["DELETE FROM p WHERE id = 3"]);
        assert_eq!(rows(&again, "SELECT count(*) FROM c"), ["1"]);
    }
}

#[test]
fn parts_and_positions_come_back() {
    let first = machine(DiskImage::default(), "four_sockets");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE TABLE h (i INTEGER, v TEXT) PARTITION BY HASH (i) PARTITIONS 4",
            "CREATE TABLE r (i INTEGER, v TEXT) PARTITION BY ROUNDROBIN PARTITIONS 3",
            "INSERT INTO h VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL), (5, 'e')",
            "INSERT INTO r SELECT * FROM h",
            "DELETE FROM r WHERE i = 2",
            "INSERT INTO r VALUES (6, 'f'), (7, 'g')",
            "UPDATE r SET v = v || '!' WHERE i IN (1, 3, 7)",
            "ALTER TABLE h PARTITION BY ROUNDROBIN PARTITIONS 2",
            "DELETE FROM h WHERE i = 4",
            "ALTER TABLE r NUMA NODE (2)",
            "ALTER TABLE h MERGE PARTITIONS",
            "UPDATE h SET i = i * 10 WHERE v = 'c'",
            "CREATE TABLE p (i INTEGER, v TEXT) PARTITION BY RANGE (i) (PARTITION VALUES < 10, PARTITION OTHERS)",
            "INSERT INTO p VALUES (30, 'x'), (3, 'y'), (12, 'z'), (NULL, '')",
            "DELETE FROM p WHERE i = 12",
        ],
    );
    let again = reopened(&first);
    for table in ["h", "r", "p"] {
        // Without an order: the same rows in the same parts in the same places.
        let all = format!("SELECT * FROM {table}");
        assert_eq!(rows(&again, &all), rows(&database, &all), "{table}");
    }
    let parts = "SELECT table_name, part, rows FROM nodewise.parts ORDER BY 1, 2";
    assert_eq!(rows(&again, parts), rows(&database, parts));
    // A machine with other nodes.
    let laptop = open(&machine(first.crash(0), "laptop")).unwrap();
    assert_eq!(rows(&laptop, "SELECT * FROM r"), rows(&database, "SELECT * FROM r"));
}

#[test]
fn a_transaction_is_there_as_a_whole_or_not_at_all() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(&mut session, &["CREATE TABLE t (i INTEGER)", "BEGIN", "INSERT INTO t VALUES (1)"]);
    assert!(rows(&reopened(&first), "SELECT * FROM t").is_empty(), "not yet");
    run(&mut session, &["SAVEPOINT a", "INSERT INTO t VALUES (2)", "CREATE TABLE u (j INTEGER)"]);
    run(&mut session, &["ROLLBACK TO a", "INSERT INTO t VALUES (3)", "COMMIT"]);
    run(&mut session, &["BEGIN", "INSERT INTO t VALUES (4)", "ROLLBACK"]);
    assert!(
        session
            .execute("INSERT INTO t VALUES (5), (1 / (SELECT count(*) FROM t WHERE i = 9))")
            .is_err()
    );
    let again = reopened(&first);
    assert_eq!(rows(&again, "SELECT * FROM t"), ["1", "3"]);
    assert_eq!(again.tables().len(), 1);
}

#[test]
fn one_process_has_a_folder() {
    let machine = machine(DiskImage::default(), "laptop");
    let database = open(&machine).unwrap();
    let error = open(&machine).err().unwrap();
    assert_eq!(
        (error.state.0, error.message.as_str()),
        ("55006", "/db is open in another process")
    );
    drop(database);
    assert!(open(&machine).is_ok());
}

#[test]
fn a_log_that_cannot_be_written_makes_the_database_read_only() {
    for full in [false, true] {
        let first = machine(DiskImage::default(), "laptop");
        let database = open(&first).unwrap();
        let mut session = database.session();
        run(&mut session, &["CREATE TABLE t (i INTEGER)", "INSERT INTO t VALUES (1)"]);
        match full {
            true => first.set_disk(Bytes(0), None),
            false => first.set_syncs(Some(0)),
        }
        // Zeros that were written ahead have room for a little more.
        let ten = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
        let more =
            format!("INSERT INTO t SELECT 1 FROM {ten} a, {ten} b, {ten} c, {ten} d, {ten} e");
        let more = if full { &more } else { "INSERT INTO t VALUES (2)" };
        let error = session.execute(more).unwrap_err();
        assert_eq!(error.state.0, if full { "53100" } else { "58030" }, "{error}");
        first.set_disk(Bytes(u64::MAX), None);
        first.set_syncs(None);
        let error = session.execute("INSERT INTO t VALUES (3)").unwrap_err();
        assert_eq!(error.state.0, "25006");
        assert!(error.hint.is_some_and(|it| it.contains("/db/log-")));
        assert_eq!(rows(&database, "SELECT * FROM t"), ["1"], "what is not durable is not shown");
        assert_eq!(rows(&reopened(&first), "SELECT * FROM t")[0], "1");
    }
}

#[test]
fn in_a_block_counts_are_told_before_what_they_rest_on_is_durable_and_rows_are_not() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let (mut one, mut other) = (database.session(), database.session());
    run(&mut one, &["CREATE TABLE t (i INTEGER PRIMARY KEY, n INTEGER)"]);
    run(&mut one, &["INSERT INTO t VALUES (1, 1), (2, 1)"]);
    run(&mut one, &["BEGIN", "UPDATE t SET n = 2 WHERE i = 1"]);
    first.set_syncs(Some(0));
    assert_eq!(other.execute("UPDATE t SET n = 5 WHERE i = 2").unwrap_err().state.0, "58030");
    // It is done to what the other one has committed, of which nobody knows whether it lasts.
    let answer = one.query("UPDATE t SET n = n + 1 WHERE n = 5").unwrap();
    assert_eq!(answer.tag, "UPDATE 1");
    let returning = "UPDATE t SET n = n + 1 WHERE n = 6 RETURNING n";
    run(&mut one, &["SAVEPOINT s"]);
    for sql in ["SELECT n FROM t", returning] {
        assert!(one.query(sql).is_err(), "{sql}");
        run(&mut one, &["ROLLBACK TO s"]);
    }
    assert!(one.execute("COMMIT").is_err());
    first.set_syncs(None);
    assert_eq!(rows(&reopened(&first), "SELECT n FROM t ORDER BY i"), ["1", "1"]);
}

#[test]
fn a_commit_that_is_not_waited_for_is_seen_at_once() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(&mut session, &["CREATE TABLE t (i INTEGER)", "SET synchronous_commit = off"]);
    first.set_syncs(Some(0));
    run(&mut session, &["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]);
    assert_eq!(rows(&database, "SELECT * FROM t"), ["1", "2"]);
    assert!(rows(&reopened(&first), "SELECT * FROM t").is_empty());
    first.set_syncs(None);
    run(&mut session, &["SET synchronous_commit = on", "INSERT INTO t VALUES (3)"]);
    assert_eq!(rows(&reopened(&first), "SELECT * FROM t"), ["1", "2", "3"]);
}

#[test]
fn a_checkpoint_holds_what_the_log_held() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[ALL_TYPES, "INSERT INTO a (i) VALUES (1), (2), (3)", "CREATE TABLE e (i INTEGER)"],
    );
    run(&mut session, &["BEGIN", "DELETE FROM a WHERE i = 1"]);
    assert_eq!(session.execute("CHECKPOINT").unwrap_err().state.0, "25001");
    run(
        &mut session,
        &["ROLLBACK", "CHECKPOINT", "UPDATE a SET w = 'later' WHERE i = 2", "CHECKPOINT"],
    );
    run(&mut session, &["CHECKPOINT", "INSERT INTO a (i, n) VALUES (4, 0.5)", "DROP TABLE e"]);
    let all = "SELECT * FROM a ORDER BY i";
    let before = rows(&database, all);
    let again = reopened(&first);
    assert_eq!(rows(&again, all), before);
    let error = again.session().execute("INSERT INTO a (i) VALUES (4)").unwrap_err();
    assert_eq!(error.state.0, "23505");
    assert_eq!(again.tables().len(), 1);
}

#[test]
fn a_checkpoint_writes_only_parts_that_are_new() {
    let first = machine(DiskImage::default(), "laptop");
    // The files of tables after some statements and a checkpoint.
    let files = |statements: &[&str]| {
        let database = open(&first).unwrap();
        run(&mut database.session(), statements);
        run(&mut database.session(), &["CHECKPOINT"]);
        drop(database);
        let folder = hardware::Machine::open_folder(&*first, Path::new("/db")).unwrap();
        let names = folder.list().unwrap();
        names.into_iter().filter(|it| it.starts_with("table-")).collect::<Vec<String>>()
    };
    let ten = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let thousand = format!(
        "CREATE TABLE t AS SELECT a.i * 100 + b.i * 10 + c.i AS k, 'n' AS n FROM {ten} a(i), {ten} b(i), {ten} c(i)"
    );
    let before = files(&[&thousand]);
    let after = files(&["INSERT INTO t VALUES (1000, 'new')", "DELETE FROM t WHERE k = 5"]);
    let kept = before.iter().filter(|it| after.contains(it)).count();
    // The file of the table goes, that of its main stays; that of a delta has come.
    assert_eq!((before.len(), kept, after.len()), (2, 1, 3), "{before:?} {after:?}");
    assert_eq!(files(&[]), after);
    let found = rows(&reopened(&first), "SELECT count(*), sum(k), min(n), max(n) FROM t");
    assert_eq!(found, ["1000|500495|n|new"]);
}

#[test]
fn a_long_log_is_cut_by_itself() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(&mut session, &["CREATE TABLE t (i INTEGER)", "SET checkpoint_log_size = '4kB'"]);
    for _ in 0..60 {
        run(&mut session, &["INSERT INTO t SELECT count(*) FROM t"]);
    }
    drop((session, database));
    let folder = hardware::Machine::open_folder(&*first, Path::new("/db")).unwrap();
    let names = folder.list().unwrap();
    let (logs, tables) = names.iter().partition::<Vec<&String>, _>(|it| it.starts_with("log-"));
    assert_eq!(logs.len(), 1, "{names:?}");
    // The manifest, the table, and a part at least.
    assert!(tables.len() >= 3, "{names:?}");
    assert_ne!(logs[0], "log-0000000000000001");
    drop(folder);
    assert_eq!(rows(&reopened(&first), "SELECT count(*), max(i) FROM t"), ["60|59"]);
}

#[test]
fn schemas_come_back_with_what_is_in_them_and_temporary_relations_do_not() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE SCHEMA s",
            "CREATE SCHEMA empty",
            "CREATE TABLE s.t (id SERIAL PRIMARY KEY, a INTEGER)",
            "CREATE TABLE t (a INTEGER REFERENCES s.t)",
            "INSERT INTO s.t (a) VALUES (10), (20)",
            "INSERT INTO t VALUES (1)",
            "CREATE VIEW s.v AS SELECT id, a FROM s.t",
            "CREATE TEMP TABLE t (a INTEGER) ON COMMIT DELETE ROWS",
            "INSERT INTO t VALUES (7)",
            "CREATE TEMP TABLE kept (id SERIAL, a TEXT)",
            "INSERT INTO kept (a) VALUES ('x')",
            "BEGIN",
            "INSERT INTO kept (a) VALUES ('y')",
            "INSERT INTO public.t VALUES (2)",
            "INSERT INTO s.t (a) VALUES (30)",
            "COMMIT",
        ],
    );
    let asked = [
        "SELECT * FROM s.v ORDER BY id",
        "SELECT * FROM public.t ORDER BY a",
        "SELECT nspname FROM pg_namespace WHERE oid > 16384 ORDER BY nspname",
        "SELECT count(*) FROM pg_class WHERE relpersistence = 't'",
    ];
    let wanted = [vec!["1|10", "2|20", "3|30"], vec!["1", "2"], vec!["empty", "s"], vec!["0"]];
    // What others see of temporary relations is that they are there.
    assert_eq!(rows(&database, "SELECT a FROM t ORDER BY a"), ["1", "2"]);
    assert_eq!(rows(&database, asked[3]), ["3"], "two tables and a sequence");
    let after_log = reopened(&first);
    for (sql, wanted) in asked.iter().zip(&wanted) {
        assert_eq!(rows(&after_log, sql), *wanted, "{sql}");
    }
    session.execute("CHECKPOINT").unwrap();
    let after_checkpoint = reopened(&first);
    for (sql, wanted) in asked.iter().zip(&wanted) {
        assert_eq!(rows(&after_checkpoint, sql), *wanted, "{sql}");
    }
    drop(session);
    assert_eq!(rows(&database, asked[3]), ["0"], "they go with their session");
}

#[test]
fn schemas_that_were_renamed_and_dropped_are_so_after_a_crash() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE SCHEMA s; CREATE SCHEMA gone",
            "CREATE TABLE s.t (id SERIAL, a INTEGER)",
            "CREATE TABLE gone.t (a INTEGER)",
            "CREATE TABLE moved (a INTEGER)",
            "INSERT INTO s.t (a) VALUES (10)",
            "INSERT INTO moved VALUES (5)",
            "CREATE VIEW v AS SELECT t.a, m.a AS b FROM s.t, moved m",
            "ALTER SCHEMA s RENAME TO r",
            "ALTER TABLE moved SET SCHEMA r",
            "DROP SCHEMA gone CASCADE",
            "INSERT INTO r.t (a) VALUES (20)",
        ],
    );
    let database = reopened(&first);
    assert_eq!(rows(&database, "SELECT * FROM r.t ORDER BY id"), ["1|10", "2|20"]);
    assert_eq!(rows(&database, "SELECT * FROM v ORDER BY a"), ["10|5", "20|5"]);
    let names = "SELECT nspname FROM pg_namespace WHERE oid > 16384";
    assert_eq!(rows(&database, names), ["r"]);
}

#[test]
fn temporary_relations_are_of_their_session_alone() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(&mut session, &["CREATE TEMP TABLE t (a INTEGER)", "INSERT INTO t VALUES (7)"]);
    let schema = rows(&database, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pg_temp%'");
    let [schema] = &schema[..] else { panic!("{schema:?}") };
    let mut other = database.session();
    for (sql, state) in [
        ("SELECT * FROM t".to_owned(), "42P01"),
        (format!("SELECT * FROM {schema}.t"), "42P01"),
        (format!("INSERT INTO {schema}.t VALUES (8)"), "42P01"),
        (format!("DROP TABLE {schema}.t"), "0A000"),
        (format!("CREATE TABLE {schema}.u (a INTEGER)"), "3F000"),
        (format!("DROP SCHEMA {schema} CASCADE"), "42501"),
    ] {
        assert_eq!(other.execute(&sql).unwrap_err().state.0, state, "{sql}");
    }
    run(&mut other, &[&format!("SET search_path = {schema}, public"), "CREATE TABLE t (a TEXT)"]);
    assert_eq!(rows(&database, "SELECT count(*) FROM t"), ["0"]);
    assert_eq!(session.query("SELECT a FROM t").unwrap().rows(), 1);
    // A transaction that is under way when the session ends is rolled back with it.
    run(&mut session, &["BEGIN", "INSERT INTO t VALUES (9)", "CREATE TEMP TABLE u (a INTEGER)"]);
    drop(session);
    assert_eq!(rows(&database, "SELECT count(*) FROM pg_class WHERE relpersistence = 't'"), ["0"]);
    run(&mut other, &["INSERT INTO t VALUES ('x')", "CHECKPOINT"]);
    assert_eq!(rows(&reopened(&first), "SELECT a FROM t"), ["x"]);
}

#[test]
fn comments_and_views_come_back() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE SCHEMA s; CREATE TABLE s.t (a INTEGER); INSERT INTO s.t VALUES (1), (2)",
            "COMMENT ON SCHEMA s IS 'a schema'; COMMENT ON COLUMN s.t.a IS 'a column'",
            "CREATE MATERIALIZED VIEW s.m AS SELECT sum(a) AS a FROM s.t",
            "CREATE MATERIALIZED VIEW later AS SELECT a FROM s.t WITH NO DATA",
            "INSERT INTO s.t VALUES (3)",
            "COMMENT ON MATERIALIZED VIEW s.m IS 'old rows'; CREATE UNIQUE INDEX mi ON s.m (a)",
            "CREATE EXTENSION pgcrypto WITH SCHEMA s; CREATE INDEX me ON s.m ((a + 1))",
            "CREATE VIEW s.few AS SELECT a FROM s.t WHERE a < 5 WITH LOCAL CHECK OPTION",
        ],
    );
    let check = |database: &Arc<Database>| {
        assert_eq!(rows(database, "SELECT a FROM s.m"), ["3"]);
        let comments = "SELECT obj_description('s'::regnamespace, 'pg_namespace'), \
                        col_description('s.t'::regclass, 1), obj_description('s.m'::regclass)";
        assert_eq!(rows(database, comments), ["a schema|a column|old rows"]);
        let indexes =
            "SELECT schemaname, indexdef FROM pg_indexes WHERE tablename = 'm' ORDER BY 2";
        let expected = [
            "s|CREATE INDEX me ON s.m USING btree (((a + 1)))",
            "s|CREATE UNIQUE INDEX mi ON s.m USING btree (a)",
        ];
        assert_eq!(rows(database, indexes), expected);
        let extensions =
            "SELECT extname, extnamespace::regnamespace::text FROM pg_extension ORDER BY 1";
        assert_eq!(rows(database, extensions), ["pgcrypto|s", "plpgsql|pg_catalog"]);
        assert_eq!(rows(database, "SELECT length(s.gen_random_uuid()::text)"), ["36"]);
        let kinds = "SELECT matviewname, ispopulated FROM pg_matviews ORDER BY 1";
        assert_eq!(rows(database, kinds), ["later|false", "m|true"]);
        let mut session = database.session();
        assert_eq!(session.execute("SELECT * FROM later").unwrap_err().state.0, "55000");
        let outside = session.execute("INSERT INTO s.few VALUES (5)");
        assert_eq!(outside.unwrap_err().state.0, "44000");
        let options = "SELECT check_option FROM information_schema.views WHERE table_name = 'few'";
        assert_eq!(rows(database, options), ["LOCAL"]);
    };
    check(&database);
    let after_log = reopened(&first);
    check(&after_log);
    run(&mut session, &["CHECKPOINT"]);
    let after_checkpoint = reopened(&first);
    check(&after_checkpoint);
    let mut session = after_checkpoint.session();
    run(&mut session, &["REFRESH MATERIALIZED VIEW s.m", "REFRESH MATERIALIZED VIEW later"]);
    assert_eq!(rows(&after_checkpoint, "SELECT m.a, l.a FROM s.m, later l ORDER BY 2")[2], "6|3");
}

/// Keys over what no column holds, and keys that were broken before the commit, from the log and from files.
#[test]
fn indexes_on_expressions_and_deferred_keys_come_back() {
    let first = machine(DiskImage::default(), "laptop");
    let database = open(&first).unwrap();
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE TABLE t (id INTEGER PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, a TEXT, g BOOLEAN)",
            "CREATE UNIQUE INDEX t_a ON t (lower(a)) WHERE g",
            "CREATE INDEX t_d ON t USING inverted (a DESC, id NULLS FIRST, g DESC NULLS LAST)",
            "INSERT INTO t VALUES (1, 'A', true), (2, 'a', false)",
            "BEGIN; UPDATE t SET id = 2 WHERE id = 1; UPDATE t SET id = 1 WHERE NOT g; COMMIT",
            // One that writes alone has each of its steps in the log.
            "BEGIN; CREATE TABLE beside (x INTEGER); INSERT INTO t VALUES (2, 'b', true); \
             DELETE FROM t WHERE a = 'A'; COMMIT",
        ],
    );
    let all = "SELECT * FROM t ORDER BY id";
    assert_eq!(rows(&database, all), ["1|a|false", "2|b|true"]);
    let check = |database: &Arc<Database>| {
        assert_eq!(rows(database, all), ["1|a|false", "2|b|true"]);
        let mut session = database.session();
        let refused = |session: &mut Session, sql: &str| session.execute(sql).unwrap_err().state.0;
        assert_eq!(refused(&mut session, "INSERT INTO t VALUES (3, 'B', true)"), "23505");
        assert_eq!(refused(&mut session, "INSERT INTO t VALUES (2, 'c', true)"), "23505");
        run(&mut session, &["BEGIN; INSERT INTO t VALUES (2, 'c', true)"]);
        assert_eq!(refused(&mut session, "COMMIT"), "23505");
        let indexes = "SELECT index_name, columns FROM nodewise.indexes ORDER BY 1";
        let told = "a DESC, id NULLS FIRST, g DESC NULLS LAST";
        let expected = ["t_a|lower(a) WHERE (g)", &*format!("t_d|{told}"), "t_pkey|id"];
        assert_eq!(rows(database, indexes), expected);
        let statement = "SELECT indexdef FROM pg_indexes WHERE indexname = 't_d'";
        let expected = format!("CREATE INDEX t_d ON public.t USING inverted ({told})");
        assert_eq!(rows(database, statement), [expected]);
    };
    check(&database);
    let again = reopened(&first);
    check(&again);
    run(&mut again.session(), &["CHECKPOINT"]);
    let machine = machine(first.crash(0), "laptop");
    let once = open(&machine).unwrap();
    run(&mut once.session(), &["CHECKPOINT"]);
    drop(once);
    check(&open(&self::machine(machine.crash(0), "laptop")).unwrap());
}
