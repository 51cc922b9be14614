//! Runs a check for many seeds, and says how to repeat those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Mutex, thread};

/// Threads that run schedules beside each other.
const THREADS: usize = 2;
/// Failures after which no more are looked for.
const WRONG_MAX: usize = 10;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

/// Whether one seed is run again and shall tell all of it.
pub fn one_again() -> bool {
    number("NODEWISE_SEED").is_some()
}

/// Runs `body` for the seeds below `NODEWISE_SCHEDULES`, else below `otherwise`, or for `NODEWISE_SEED` alone; how many.
/// A body that panics has failed, without a word of its own. What fails is told with the arguments of `cargo` that repeat
/// it.
pub fn run_all(otherwise: u64, test: &str, body: impl Fn(u64) -> Result<(), String> + Sync) -> u64 {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (count, wrong) = run_quietly(otherwise, test, body);
    // Before the panic that tells them all.
    std::panic::set_hook(loud);
    assert!(wrong.is_empty(), "of {count} schedules:\n{}", wrong.join("\n"));
    count
}

fn run_quietly(
    otherwise: u64,
    test: &str,
    body: impl Fn(u64) -> Result<(), String> + Sync,
) -> (u64, Vec<String>) {
    let (first, count) = match number("NODEWISE_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("NODEWISE_SCHEDULES").unwrap_or(otherwise)),
    };
    let (next, wrong) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let one = |seed| match catch_unwind(AssertUnwindSafe(|| body(seed))) {
        Ok(outcome) => outcome,
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            Err(text.unwrap_or_else(|| "it panicked".to_owned()))
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count || wrong.lock().len() >= WRONG_MAX {
                        return;
                    }
                    if let Err(what) = one(seed) {
                        let again = format!("NODEWISE_SEED={seed} cargo test {test}");
                        wrong.lock().push(format!("{what}\n  again: {again}"));
                    }
                }
            });
        }
    });
    (count, wrong.into_inner())
}
