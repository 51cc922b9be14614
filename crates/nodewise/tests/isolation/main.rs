//! What transactions may see of one another (docs/isolation.md): Hermitage's cases, and random histories that a checker looks
//! through, of clients that take turns by a seed and of clients that run at once.
//!
//! `NODEWISE_HISTORIES=10000` says how many; `NODEWISE_SEED=n` runs one of them again.

mod checker;
mod client;
#[path = "../common/mod.rs"]
mod common;
mod hermitage;

use std::path::Path;

use checker::{Level, Transaction, anomaly};
use client::{Client, Clock, TABLES};
use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions, NoProgress};
use simulator::{DiskImage, SimulatedMachine};
use stdx::Prng;
use stdx::sync::{Arc, thread};

/// Histories when nobody says how many.
const HISTORIES: u64 = 60;

const LEVELS: [Level; 3] = [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text}")))
}

/// What moves tables, cuts them, merges their deltas and writes them to files while clients run.
fn disturbance(prng: &mut Prng, nodes: u64) -> String {
    let table = prng.below(TABLES);
    match prng.below(8) {
        0 => format!("ALTER TABLE r{table} PARTITION BY HASH (k) PARTITIONS 3"),
        1 => format!("ALTER TABLE r{table} MERGE PARTITIONS"),
        2 => format!("ALTER TABLE r{table} NUMA NODE ({})", prng.below(nodes)),
        3 => format!("ALTER TABLE r{table} NUMA NODE SPLIT"),
        4 => format!("CREATE INDEX i{table} ON r{table} (v)"),
        5 => format!("DROP INDEX IF EXISTS i{table}"),
        6 => "CHECKPOINT".to_owned(),
        _ => format!("CALL nodewise.merge('r{table}')"),
    }
}

/// Disturbs; others may be in its way, and an index may be there.
fn disturb(session: &mut nodewise::Session, prng: &mut Prng, nodes: u64) {
    let sql = disturbance(prng, nodes);
    if let Err(error) = session.execute(&sql) {
        assert!(["40001", "55P03", "40P01", "42P07"].contains(&error.state.0), "{sql}: {error}");
    }
}

fn open(machine: Arc<dyn Machine>, folder: &Path) -> Arc<Database> {
    let options =
        DatabaseOptions { workers: Some(4), delta_from: Some(0), ..DatabaseOptions::default() };
    Database::open_dir(machine, folder, options, &NoProgress).unwrap()
}

/// Whether all that the clients have done is as the level promises, to who looks now and to who looks when `reopened`.
fn check(
    database: Arc<Database>,
    reopened: impl FnOnce() -> Arc<Database>,
    clients: Vec<Client>,
    clock: &Arc<Clock>,
    level: Level,
    what: &str,
) -> Vec<Transaction> {
    let mut history: Vec<Transaction> = clients.into_iter().flat_map(|it| it.done).collect();
    let mut last = Client::new(&database, 0, level, clock, "SET lock_timeout = 1000");
    let seen = last.read_all();
    history.append(&mut last.done);
    drop(last);
    drop(database);
    let again = reopened();
    let mut reader = Client::new(&again, 0, level, clock, "SET lock_timeout = 1000");
    assert_eq!(reader.read_all(), seen, "{what}: after a restart");
    history.append(&mut reader.done);
    if let Some(wrong) = anomaly(&history, level) {
        for (number, it) in history.iter().enumerate().filter(|it| !it.1.deeds.is_empty()) {
            println!("{number}: {} {:?} {:?}", it.committed, it.time, it.deeds);
        }
        panic!("{what}: {wrong}");
    }
    history
}

#[test]
fn histories_of_clients_in_turns_keep_what_their_level_promises() {
    let count = number("NODEWISE_HISTORIES").unwrap_or(HISTORIES);
    let seeds = number("NODEWISE_SEED").map_or(0..count, |it| it..it + 1);
    let (mut committed, mut refused) = (0, 0);
    for seed in seeds {
        let mut prng = Prng::new(seed);
        let level = LEVELS[seed as usize % 3];
        let machine = |image| {
            let topology = samples::by_name("four_sockets").unwrap();
            SimulatedMachine::after_crash(topology, seed, image)
        };
        let first = machine(DiskImage::default());
        let database = open(first.clone(), Path::new("/db"));
        client::create(&database);
        let clock = Arc::new(Clock::default());
        let settings = "SET lock_timeout = 1; SET synchronous_commit = off";
        let mut clients: Vec<Client> = (0..3 + prng.below(3))
            .map(|it| Client::new(&database, seed * 100 + it, level, &clock, settings))
            .collect();
        let mut session = database.session();
        session.execute("SET lock_timeout = 1").unwrap();
        for _ in 0..40 + prng.below(80) {
            match prng.below(40) {
                0 => disturb(&mut session, &mut prng, 4),
                _ => {
                    let at = prng.below(clients.len() as u64) as usize;
                    clients[at].step();
                    // One that is not held up commits what others have read before.
                    while prng.below(2) == 0 && clients[at].is_open() {
                        clients[at].step();
                    }
                }
            }
        }
        clients.iter_mut().for_each(Client::end);
        session.execute("CHECKPOINT").unwrap();
        drop(session);
        let what = format!("NODEWISE_SEED={seed}");
        let reopened = || open(machine(first.crash(0)), Path::new("/db"));
        let history = check(database, reopened, clients, &clock, level, &what);
        let wrote: Vec<_> = history.iter().filter(|it| !it.deeds.is_empty()).collect();
        committed += wrote.iter().filter(|it| it.committed).count();
        refused += wrote.iter().filter(|it| !it.committed).count();
    }
    assert!(committed > refused / 4, "{committed} committed, {refused} not: too little happens");
}

#[test]
fn histories_of_clients_at_once_keep_what_their_level_promises() {
    let rounds = number("NODEWISE_HISTORIES").unwrap_or(HISTORIES) / 20;
    for (round, level) in (0..rounds.max(1)).flat_map(|it| LEVELS.map(|level| (it, level))) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("histories-{}-{level:?}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let database = open(hardware_linux::open(), &folder);
        client::create(&database);
        let clock = Arc::new(Clock::default());
        let run = |number: u64| {
            let settings = "SET synchronous_commit = on";
            let mut client = Client::new(&database, round * 10 + number, level, &clock, settings);
            (0..120).for_each(|_| client.step());
            client.end();
            client
        };
        let clients: Vec<Client> = thread::scope(|scope| {
            let clients: Vec<_> = (0..5).map(|it| scope.spawn(move || run(it))).collect();
            let mut prng = Prng::new(round);
            let mut session = database.session();
            session.execute("SET lock_timeout = 50").unwrap();
            while clients.iter().any(|it| !it.is_finished()) {
                // Every machine has the first node.
                disturb(&mut session, &mut prng, 1);
                thread::sleep(std::time::Duration::from_millis(5));
            }
            clients.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let what = format!("round {round} at {level:?}");
        let reopened = || open(hardware_linux::open(), &folder);
        check(database, reopened, clients, &clock, level, &what);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
