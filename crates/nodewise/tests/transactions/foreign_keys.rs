//! Foreign keys where `tests/sql/foreign_keys.slt` cannot go: in transactions, prepared, in files, and over many rows.

use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

fn database() -> Arc<Database> {
    let machine = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 1);
    Database::open(machine, DatabaseOptions { workers: Some(4), ..DatabaseOptions::default() })
        .unwrap()
}

fn run(session: &mut Session, statements: &[&str]) {
    for sql in statements {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn state(session: &mut Session, sql: &str) -> &'static str {
    session.execute(sql).err().map_or("", |it| it.state.0)
}

fn one(session: &mut Session, sql: &str) -> String {
    let answer = session.query(sql).unwrap_or_else(|it| panic!("{sql}: {it}"));
    crate::common::texts(&answer.batches, "|", "NULL").join("\n")
}

#[test]
fn what_a_transaction_has_done_itself_counts() {
    let mut session = database().session();
    run(
        &mut session,
        &[
            "CREATE TABLE p (id INTEGER PRIMARY KEY)",
            "CREATE TABLE c (p INTEGER REFERENCES p ON DELETE CASCADE)",
            "BEGIN",
            "INSERT INTO p VALUES (1), (2)",
            "INSERT INTO c VALUES (1), (2)",
            "SAVEPOINT s",
        ],
    );
    assert_eq!(state(&mut session, "INSERT INTO c VALUES (3)"), "23503");
    assert_eq!(state(&mut session, "SELECT 1"), "25P02");
    run(&mut session, &["ROLLBACK TO s", "DELETE FROM p WHERE id = 2", "COMMIT"]);
    assert_eq!(one(&mut session, "SELECT p FROM c"), "1");
    run(&mut session, &["BEGIN", "DELETE FROM p", "ROLLBACK"]);
    assert_eq!(one(&mut session, "SELECT p FROM c"), "1");
}

#[test]
fn prepared_statements_ask_each_time() {
    let mut session = database().session();
    run(
        &mut session,
        &[
            "CREATE TABLE p (id INTEGER PRIMARY KEY)",
            "CREATE TABLE c (k INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON UPDATE CASCADE)",
            "PREPARE come AS INSERT INTO c VALUES ($1, $2)",
            "PREPARE go AS DELETE FROM p WHERE id = $1",
            "PREPARE move AS UPDATE p SET id = $2 WHERE id = $1",
            "INSERT INTO p SELECT a.i * 10 + b.i FROM (VALUES (0), (1), (2)) a(i), (VALUES (0), (5)) b(i)",
        ],
    );
    for (sql, wanted) in [
        ("EXECUTE come(1, 20)", ""),
        ("EXECUTE come(2, 21)", "23503"),
        ("EXECUTE come(3, NULL)", ""),
        ("EXECUTE go(20)", "23503"),
        ("EXECUTE move(20, 33)", ""),
        ("EXECUTE go(20)", ""),
        ("EXECUTE go(33)", "23503"),
        ("ALTER TABLE c DROP CONSTRAINT c_p_fkey", ""),
        ("EXECUTE go(33)", ""),
        ("EXECUTE come(4, 777)", ""),
    ] {
        assert_eq!(state(&mut session, sql), wanted, "{sql}");
    }
    assert_eq!(one(&mut session, "SELECT k, p FROM c ORDER BY k"), "1|33\n3|NULL\n4|777");
}

#[test]
fn a_long_chain_goes_link_by_link() {
    let mut session = database().session();
    run(
        &mut session,
        &[
            "CREATE TABLE list (id INTEGER PRIMARY KEY, up INTEGER REFERENCES list ON DELETE CASCADE)",
        ],
    );
    let rows: Vec<String> = (1..=400).map(|it| format!("({it}, {})", it - 1)).collect();
    let rows = rows.join(", ").replace("(1, 0)", "(1, NULL)");
    run(
        &mut session,
        &[&format!("INSERT INTO list VALUES {rows}"), "DELETE FROM list WHERE id = 101"],
    );
    assert_eq!(one(&mut session, "SELECT count(*), max(id) FROM list"), "100|100");
}

/// Over parts on several nodes and many rows: as the same said by queries.
#[test]
fn many_rows_in_parts_keep_them() {
    let mut session = database().session();
    let digits = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let thousands = format!(
        "SELECT a.i * 1000 + b.i * 100 + c.i * 10 + d.i FROM {digits} a(i), {digits} b(i), {digits} c(i), {digits} d(i)"
    );
    run(
        &mut session,
        &[
            "CREATE TABLE p (id INTEGER PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 4",
            "CREATE TABLE c (k BIGINT, p INTEGER REFERENCES p ON DELETE SET NULL ON UPDATE CASCADE) \
             PARTITION BY ROUNDROBIN PARTITIONS 3",
            &format!("INSERT INTO p {thousands}"),
            "INSERT INTO c SELECT id * 2, id FROM p",
            "INSERT INTO c SELECT id * 2 + 1, id FROM p",
            "DELETE FROM p WHERE id % 3 = 0",
            "UPDATE p SET id = -id WHERE id % 3 = 1",
        ],
    );
    assert_eq!(one(&mut session, "SELECT count(*), count(p), sum(p) FROM c"), "20000|13332|6666");
    assert_eq!(state(&mut session, "INSERT INTO c SELECT id, id + 1 FROM p"), "23503");
    assert_eq!(
        one(
            &mut session,
            "SELECT count(*) FROM c WHERE p IS NOT NULL AND (p % 3 NOT IN (2, -1) OR abs(p) <> k / 2)"
        ),
        "0"
    );
}

/// Snapshots are older than what others have committed: a key that went, or a row that came, in the meantime is not overlooked.
#[test]
fn two_transactions_do_not_leave_a_row_that_refers_to_nothing() {
    let histories: [(&str, &[&str], &[&str]); 5] = [
        ("40001", &["DELETE FROM p WHERE id = 2"], &["INSERT INTO c VALUES (3, 2)"]),
        ("40001", &["INSERT INTO c VALUES (3, 2)"], &["DELETE FROM p WHERE id = 2"]),
        (
            "40001",
            &["CREATE TABLE later (p INTEGER REFERENCES p)", "INSERT INTO later VALUES (2)"],
            &["DELETE FROM p WHERE id = 2"],
        ),
        ("40001", &["DROP TABLE p CASCADE"], &["CREATE TABLE later (p INTEGER REFERENCES p)"]),
        ("", &["INSERT INTO other VALUES (1)"], &["INSERT INTO c VALUES (3, 2)"]),
    ];
    for (wanted, first, second) in histories {
        let database = database();
        let (mut a, mut b) = (database.session(), database.session());
        run(
            &mut a,
            &[
                "CREATE TABLE p (id INTEGER PRIMARY KEY)",
                "INSERT INTO p VALUES (1), (2)",
                "CREATE TABLE c (k INTEGER, p INTEGER REFERENCES p)",
                "CREATE TABLE cascades (k INTEGER, p INTEGER REFERENCES p ON DELETE CASCADE)",
                "CREATE TABLE other (x INTEGER)",
                "BEGIN ISOLATION LEVEL REPEATABLE READ",
                "SELECT count(*) FROM p",
            ],
        );
        run(&mut b, first);
        let ended = second.iter().map(|it| state(&mut a, it)).find(|it| !it.is_empty());
        assert_eq!(ended.unwrap_or_default(), wanted, "{first:?} before {second:?}");
        run(&mut a, &["COMMIT"]);
    }
}

#[test]
fn a_cascade_that_finds_nothing_rests_on_it() {
    let database = database();
    let (mut a, mut b) = (database.session(), database.session());
    run(
        &mut a,
        &[
            "CREATE TABLE p (id INTEGER PRIMARY KEY)",
            "INSERT INTO p VALUES (1), (2)",
            "CREATE TABLE c (k INTEGER, p INTEGER REFERENCES p ON DELETE CASCADE)",
            "BEGIN ISOLATION LEVEL REPEATABLE READ",
            "SELECT count(*) FROM p",
        ],
    );
    run(&mut b, &["INSERT INTO c VALUES (1, 2)"]);
    assert_eq!(state(&mut a, "DELETE FROM p WHERE id = 2"), "40001");
    run(&mut a, &["ROLLBACK", "DELETE FROM p WHERE id = 2"]);
    assert_eq!(one(&mut b, "SELECT count(*) FROM c"), "0");
}
