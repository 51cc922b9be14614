//! Small statements by many clients: rows that come one by one, reads and updates by key, and transactions between accounts
//! as those of TPC-B.
//!
//! Every client has a session and prepared statements of its own, and does one thing after the other. What a conflict ended is
//! counted and done again.
//!
//! - Invariant: no figure is reported of a run after which the sums of the accounts are not what was done to them.

mod bank;
mod latencies;
mod step;

pub use bank::{Bank, check, fill};
pub use latencies::Latencies;
pub use step::Step;

use nodewise::{Database, SqlError, SqlResult};
use serde_json::json;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex, thread};
use stdx::{Nanos, Prng};

use step::Client;

/// Who does something, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Clients at once.
    pub clients: usize,
    /// How long they do it.
    pub span: Nanos,
    /// Whether commits are answered before they are on the disk.
    pub asynchronous: bool,
}

/// What some clients did together.
#[derive(Debug)]
pub struct Measured {
    /// What they did.
    pub step: Step,
    /// How many they were.
    pub clients: usize,
    /// How often it was done.
    pub done: u64,
    /// How often a conflict with another client ended it.
    pub conflicts: u64,
    /// The time of all together.
    pub time: Nanos,
    /// The times of each.
    pub latencies: Latencies,
}

impl Measured {
    /// How often it was done in a second.
    pub fn per_second(&self) -> f64 {
        self.done as f64 * 1e9 / self.time.0.max(1) as f64
    }

    /// All of it for other programs.
    pub fn json(&self) -> serde_json::Value {
        json!({
            "step": self.step.name(), "clients": self.clients, "done": self.done,
            "conflicts": self.conflicts, "per_second": self.per_second(),
            "median_ns": self.latencies.quantile(0.5).0, "p99_ns": self.latencies.quantile(0.99).0,
            "longest_ns": self.latencies.quantile(1.0).0,
        })
    }
}

/// Lets clients do one thing for some time.
pub fn run(database: &Arc<Database>, bank: &Bank, step: Step, load: Load) -> SqlResult<Measured> {
    let Load { clients, span, asynchronous } = load;
    let machine = database.machine().clone();
    let (ended, conflicts) = (AtomicBool::new(false), AtomicU64::new(0));
    let all = Mutex::new(Latencies::default());
    let failed: Mutex<Option<SqlError>> = Mutex::new(None);
    let started = machine.now();
    thread::scope(|scope| {
        for number in 0..clients {
            let (machine, all, failed) = (&machine, &all, &failed);
            let (ended, conflicts) = (&ended, &conflicts);
            scope.spawn(move || {
                let mut own = Latencies::default();
                let mut work = || -> SqlResult<()> {
                    let prng = Prng::new(started.0 ^ number as u64);
                    let mut client = Client::new(database, bank, step, prng)?;
                    client.set_asynchronous(asynchronous)?;
                    while !ended.load(Ordering::Relaxed) && machine.now() - started < span {
                        let began = machine.now();
                        match client.act() {
                            Ok(()) => own.add(machine.now() - began),
                            Err(error) if step::is_conflict(&error) => {
                                conflicts.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(error) => return Err(error),
                        }
                    }
                    Ok(())
                };
                if let Err(error) = work() {
                    ended.store(true, Ordering::Relaxed);
                    failed.lock().get_or_insert(error);
                }
                all.lock().merge(&own);
            });
        }
    });
    let time = machine.now() - started;
    if let Some(error) = failed.into_inner() {
        return Err(error);
    }
    let latencies = all.into_inner();
    let (done, conflicts) = (latencies.count(), conflicts.into_inner());
    match step {
        Step::Read => {}
        Step::Insert => _ = bank.inserted.fetch_add(done, Ordering::Relaxed),
        Step::Update => _ = bank.updated.fetch_add(done, Ordering::Relaxed),
        Step::Transfer => _ = bank.transferred.fetch_add(done, Ordering::Relaxed),
    }
    Ok(Measured { step, clients, done, conflicts, time, latencies })
}

#[cfg(test)]
mod tests {
    use nodewise::DatabaseOptions;

    use super::*;

    #[test]
    fn what_clients_did_is_in_the_accounts() {
        let machine = hardware_linux::open();
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        let bank = fill(&mut session, 2, 500).unwrap();
        for step in Step::ALL {
            let load = Load { clients: 3, span: Nanos(50_000_000), asynchronous: true };
            let found = run(&database, &bank, step, load).unwrap();
            assert!(found.done > 0, "{step:?}");
            check(&mut session, &bank).unwrap();
        }
        session.execute("UPDATE oltp_accounts SET balance = balance + 1 WHERE aid = 7").unwrap();
        assert!(check(&mut session, &bank).unwrap_err().message.contains("accounts"));
        assert_eq!(fill(&mut session, 1, 10).unwrap_err().state.0, "42P07");
    }
}
