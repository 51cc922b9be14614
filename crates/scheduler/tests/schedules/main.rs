//! Seeded schedules with faults in virtual time (docs/design/06-proof-without-hardware.md, "modelled machines"):
//! whatever the machine, the faults, the jobs and the order of steps, every row runs once, hard work stays at home,
//! nothing starves, and what is cancelled ends.
//!
//! Ten thousand of them, or `NODEWISE_SCHEDULES`; `NODEWISE_SEED=n` runs one of them again and tells all of it.
#![cfg(not(loom))]

mod check;
mod machines;
mod plan;
mod seeds;
mod world;

use check::Case;
use stdx::Nanos;
use stdx::sync::atomic::{AtomicU64, Ordering};

/// Schedules when nobody says how many: some seconds.
const SCHEDULES: u64 = 10_000;

#[test]
fn seeded_schedules_with_faults_keep_every_promise() {
    let longest = AtomicU64::new(0);
    let count = seeds::run_all(SCHEDULES, "-p scheduler --test schedules", |seed| {
        let (plan, seen) = world::run(plan::plan(seed), seed);
        if seeds::one_again() {
            world::tell(&plan, &seen);
        }
        longest.fetch_max(Case::new(&plan, &seen).check().0, Ordering::Relaxed);
        Ok(())
    });
    let longest = Nanos(longest.into_inner());
    println!("{count} schedules; the longest wait beside a worker at rest: {longest}");
}
