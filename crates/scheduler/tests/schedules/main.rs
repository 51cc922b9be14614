//! Seeded schedules with faults in virtual time (DESIGN 9.3): whatever the machine, the faults, the jobs and the order of
//! steps, every row runs once, hard work stays at home, nothing starves, and what is cancelled ends.
//!
//! Ten thousand of them, or `NODEWISE_SCHEDULES`; `NODEWISE_SEED=n` runs one of them again and tells all of it.
#![cfg(not(loom))]

mod check;
mod machines;
mod plan;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use check::Case;
use stdx::Nanos;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Mutex, thread};

/// Schedules when nobody says how many: some seconds.
const SCHEDULES: u64 = 10_000;
/// Threads that run schedules beside each other.
const THREADS: usize = 2;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

/// Runs the schedule of a seed; what is wrong with it, or the longest wait.
fn run(seed: u64) -> Result<Nanos, String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let (plan, seen) = world::run(plan::plan(seed), seed);
        if number("NODEWISE_SEED").is_some() {
            world::tell(&plan, &seen);
        }
        Case::new(&plan, &seen).check()
    }));
    outcome.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        text.unwrap_or_default()
    })
}

#[test]
fn seeded_schedules_with_faults_keep_every_promise() {
    let quiet = std::panic::take_hook();
    // Bodies panic on purpose, and what is found is told at the end.
    std::panic::set_hook(Box::new(|_| {}));
    let (first, count) = match number("NODEWISE_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("NODEWISE_SCHEDULES").unwrap_or(SCHEDULES)),
    };
    let next = AtomicU64::new(first);
    let (wrong, longest) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count || wrong.lock().len() >= 10 {
                        return;
                    }
                    match run(seed) {
                        Ok(wait) => drop(longest.fetch_max(wait.0, Ordering::Relaxed)),
                        Err(what) => wrong.lock().push(format!(
                            "{what}\n  again: NODEWISE_SEED={seed} cargo test -p scheduler --test schedules"
                        )),
                    }
                }
            });
        }
    });
    std::panic::set_hook(quiet);
    let wrong = wrong.into_inner();
    assert!(wrong.is_empty(), "of {count} schedules:\n{}", wrong.join("\n"));
    let longest = Nanos(longest.into_inner());
    println!("{count} schedules; the longest wait beside a worker at rest: {longest}");
}
