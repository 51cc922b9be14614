//! A bank: many sessions move sums between accounts and bring new rows at once, at all levels, while others merge, place, index
//! and write checkpoints. Each account has in the end what the transfers that were answered come to, here and after a restart.

use crate::common::texts;
use nodewise::{Database, DatabaseOptions, NoProgress, Session};
use stdx::Prng;
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, thread};

const ACCOUNTS: u64 = 12;
const CLIENTS: u64 = 6;
const LEVELS: [&str; 3] = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];

fn open(folder: &std::path::Path) -> Arc<Database> {
    let options =
        DatabaseOptions { workers: Some(2), delta_from: Some(0), ..DatabaseOptions::default() };
    Database::open_dir(hardware_linux::open(), folder, options, &NoProgress).unwrap()
}

fn rows(session: &mut Session, sql: &str) -> Vec<String> {
    let answers = session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    answers.last().map_or_else(Vec::new, |it| texts(&it.batches, "=", "NULL"))
}

/// What a client has been told.
#[derive(Default)]
struct Told {
    moved: [i64; ACCOUNTS as usize],
    entries: u64,
    refused: u64,
}

/// Moves sums, in one statement or in two in any order, and notes each in the journal.
fn client(session: &mut Session, number: u64, rounds: u64) -> Told {
    let (mut prng, mut told) = (Prng::new(number + 1), Told::default());
    for round in 0..rounds {
        let (from, to) = (prng.below(ACCOUNTS), prng.below(ACCOUNTS));
        let sum = 1 + prng.below(50) as i64;
        if from == to {
            continue;
        }
        let change = |id: u64, by: i64| format!("UPDATE account SET v = v + {by} WHERE id = {id};");
        let moves = match prng.below(3) {
            0 => change(from, -sum) + &change(to, sum),
            1 => format!(
                "UPDATE account SET v = v + CASE id WHEN {from} THEN -{sum} ELSE {sum} END WHERE id IN \
                 ({from}, {to});"
            ),
            _ => format!(
                "MERGE INTO account USING (VALUES ({from}, -{sum}), ({to}, {sum})) x (k, d) ON id = k WHEN \
                 MATCHED THEN UPDATE SET v = v + d WHEN NOT MATCHED THEN INSERT VALUES (k, d);"
            ),
        };
        let entry = format!(
            "INSERT INTO journal VALUES ({number}, {round}, {sum}); INSERT INTO total VALUES ({}, 1) ON \
             CONFLICT (k) DO UPDATE SET n = total.n + 1;",
            round % 3
        );
        let level = LEVELS[prng.below(6).min(2) as usize % 3];
        let end = if prng.below(8) == 0 { "ROLLBACK" } else { "COMMIT" };
        let sql = format!("BEGIN ISOLATION LEVEL {level}; {moves} {entry} {end}");
        match session.execute(&sql) {
            Ok(_) if end == "COMMIT" => {
                told.moved[from as usize] -= sum;
                told.moved[to as usize] += sum;
                told.entries += 1;
            }
            Ok(_) => {}
            Err(error) => {
                let state = error.state.0;
                let may_be = match level {
                    "READ COMMITTED" => state == "40P01",
                    _ => ["40001", "40P01"].contains(&state),
                };
                assert!(may_be, "{level}: {sql}: {error}");
                told.refused += 1;
                session.execute("ROLLBACK").unwrap();
            }
        }
    }
    told
}

/// What does not change what is in a table.
fn disturb(session: &mut Session, prng: &mut Prng) {
    let sql = [
        "CALL nodewise.merge('account')",
        "CHECKPOINT",
        "ALTER TABLE account PARTITION BY HASH (id) PARTITIONS 3",
        "ALTER TABLE account MERGE PARTITIONS",
        "CREATE INDEX by_v ON account (v)",
        "DROP INDEX IF EXISTS by_v",
        "ALTER TABLE journal NUMA NODE (0)",
    ][prng.below(7) as usize];
    if let Err(error) = session.execute(sql) {
        assert!(["40001", "40P01", "42P07"].contains(&error.state.0), "{sql}: {error}");
    }
}

#[test]
fn no_transfer_is_lost_and_none_is_half_there() {
    let rounds: u64 = std::env::var("NODEWISE_TRANSFERS")
        .map_or(60, |it| it.parse().expect("NODEWISE_TRANSFERS is a number"));
    let folder = std::env::temp_dir().join(format!("nodewise-bank-{}", std::process::id()));
    let database = open(&folder);
    let mut session = database.session();
    session
        .execute(
            "CREATE TABLE account (id BIGINT PRIMARY KEY, v BIGINT NOT NULL);
             CREATE TABLE journal (client BIGINT, round BIGINT, v BIGINT, PRIMARY KEY (client, round));
             CREATE TABLE total (k BIGINT PRIMARY KEY, n BIGINT)",
        )
        .unwrap();
    let all: Vec<String> = (0..ACCOUNTS).map(|it| format!("({it}, 1000)")).collect();
    session.execute(&format!("INSERT INTO account VALUES {}", all.join(","))).unwrap();
    let done = AtomicBool::new(false);
    let told: Vec<Told> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let mut session = database.session();
                session.execute("SET synchronous_commit = off").unwrap();
                scope.spawn(move || client(&mut session, number, rounds))
            })
            .collect();
        let looking = scope.spawn(|| {
            let (mut session, mut prng) = (database.session(), Prng::new(99));
            while !done.load(Ordering::Relaxed) {
                let sum = rows(&mut session, "SELECT sum(v), count(*) FROM account");
                assert_eq!(sum, [format!("{}={ACCOUNTS}", ACCOUNTS * 1000)]);
                let sql = "SELECT (SELECT count(*) FROM journal) - (SELECT coalesce(sum(n), 0) FROM total)";
                assert_eq!(rows(&mut session, sql), ["0"]);
                disturb(&mut session, &mut prng);
                thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let told = clients.into_iter().map(|it| it.join().unwrap()).collect();
        done.store(true, Ordering::Relaxed);
        looking.join().unwrap();
        told
    });
    let wanted: Vec<String> = (0..ACCOUNTS as usize)
        .map(|id| format!("{id}={}", 1000 + told.iter().map(|it| it.moved[id]).sum::<i64>()))
        .collect();
    let entries: u64 = told.iter().map(|it| it.entries).sum();
    let refused: u64 = told.iter().map(|it| it.refused).sum();
    assert!(entries > CLIENTS * rounds / 4, "{entries} committed, {refused} refused");
    let accounts = "SELECT id, v FROM account ORDER BY id";
    let counts = "SELECT (SELECT count(*) FROM journal), (SELECT sum(n) FROM total)";
    assert_eq!(rows(&mut session, accounts), wanted);
    assert_eq!(rows(&mut session, counts), [format!("{entries}={entries}")]);
    drop(session);
    drop(database);
    let mut again = open(&folder).session();
    assert_eq!(rows(&mut again, accounts), wanted, "after a restart");
    assert_eq!(rows(&mut again, counts), [format!("{entries}={entries}")], "after a restart");
    std::fs::remove_dir_all(&folder).unwrap();
}
