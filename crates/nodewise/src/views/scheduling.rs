//! Views of who works on what: workers, jobs, queries, and the trace.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use types::SqlResult;

use super::{Columns, ViewBuilder, Viewer};
use crate::Database;

/// The columns of [`workers`].
pub(super) const WORKERS: Columns = &[
    ("worker", 'i'),
    ("cpu", 'i'),
    ("node", 'i'),
    ("llc", 'i'),
    ("thread_group", 'i'),
    ("state", 't'),
    ("extra", 'b'),
    ("morsels", 'i'),
    ("stolen", 'i'),
    ("busy_ns", 'i'),
];

pub(super) fn workers(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(WORKERS);
    for worker in database.scheduler.stats().workers {
        view.row([
            (worker.worker.index() as u64).into(),
            u64::from(worker.cpu.0).into(),
            u64::from(worker.node.0).into(),
            u64::from(worker.llc.0).into(),
            (worker.group as u64).into(),
            format!("{:?}", worker.state).to_lowercase().into(),
            worker.extra.into(),
            worker.morsels.into(),
            worker.stolen.into(),
            worker.busy.0.into(),
        ]);
    }
    view.finish()
}

/// The columns of [`thread_groups`].
pub(super) const THREAD_GROUPS: Columns = &[
    ("thread_group", 'i'),
    ("node", 'i'),
    ("llc", 'i'),
    ("contexts", 'i'),
    ("running", 'i'),
    ("free", 'i'),
];

pub(super) fn thread_groups(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(THREAD_GROUPS);
    for (number, group) in database.scheduler.stats().groups.iter().enumerate() {
        view.row([
            (number as u64).into(),
            u64::from(group.node.0).into(),
            u64::from(group.llc.0).into(),
            (group.contexts as u64).into(),
            (group.running as u64).into(),
            (group.free as u64).into(),
        ]);
    }
    view.finish()
}

/// The columns of [`watchdog`].
pub(super) const WATCHDOG: Columns = &[("what", 't'), ("count", 'i')];

pub(super) fn watchdog(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(WATCHDOG);
    let stats = database.scheduler.stats().watchdog;
    for (what, count) in [
        ("looks at all thread groups", stats.looks),
        ("workers found asleep in a morsel", stats.found_asleep),
        ("groups with tasks whose workers were woken", stats.woken),
        ("workers woken to steal from a saturated group", stats.woken_to_steal),
        ("workers started because others slept", stats.started),
        ("statements whose time was up", stats.timeouts),
    ] {
        view.row([what.into(), count.into()]);
    }
    view.finish()
}

/// The columns of [`jobs`].
pub(super) const JOBS: Columns = &[
    ("job", 'i'),
    ("query", 'i'),
    ("pipeline", 'i'),
    ("finishing", 'b'),
    ("class", 'i'),
    ("affinity", 't'),
    ("stealing", 't'),
    ("binding", 't'),
    ("blocked", 'b'),
    ("morsels", 'i'),
    ("morsels_waiting", 'i'),
    ("workers", 'i'),
];

pub(super) fn jobs(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(JOBS);
    for job in database.scheduler.stats().jobs {
        view.row([
            job.job.0.into(),
            job.statement.into(),
            u64::from(job.label.pipeline).into(),
            job.label.finishing.into(),
            u64::from(job.class).into(),
            job.affinity.to_string().into(),
            job.stealing.to_string().into(),
            job.binding.to_string().into(),
            job.blocked.into(),
            job.morsels.into(),
            job.waiting.into(),
            (job.workers as u64).into(),
        ]);
    }
    view.finish()
}

/// The columns of [`queries`].
pub(super) const QUERIES: Columns = &[
    ("id", 'i'),
    ("session", 'i'),
    ("state", 't'),
    ("text", 't'),
    ("started_ns", 'i'),
    ("elapsed_ns", 'i'),
    ("priority", 'i'),
    ("workers", 'i'),
    ("pipelines", 'i'),
    ("progress_percent", 'i'),
    ("memory_bytes", 'i'),
    ("memory_peak", 'i'),
    ("spilled_bytes", 'i'),
];

pub(super) fn queries(database: &Database, viewer: &dyn Viewer) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(QUERIES);
    // By statement: morsels of its jobs under way, those not cut yet, and workers.
    let mut work: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    for job in database.scheduler.stats().jobs {
        let sum = work.entry(job.statement).or_default();
        *sum = (sum.0 + job.morsels, sum.1 + job.waiting, sum.2 + job.workers as u64);
    }
    let now = database.machine.now();
    for record in database.statements.list() {
        let control = &record.control;
        let account = record.workspace.account();
        let (done, all) = control.pipelines();
        let (morsels, waiting, workers) = work.get(&control.statement).copied().unwrap_or_default();
        view.row([
            control.statement.into(),
            record.session.into(),
            record.state().into(),
            match viewer.sees_texts_of(record.session) {
                true => record.text.as_str(),
                false => "<insufficient privilege>",
            }
            .into(),
            record.started.0.into(),
            (now - record.started).0.into(),
            u64::from(control.policy().class).into(),
            workers.into(),
            u64::from(all).into(),
            progress(done, all, morsels, waiting).into(),
            account.held().0.into(),
            account.peak().0.into(),
            account.spilled().0.into(),
        ]);
    }
    view.finish()
}

/// Pipelines count alike, and the morsels of the one under way for its part.
fn progress(done: u32, all: u32, morsels: u64, waiting: u64) -> u64 {
    if all == 0 {
        return 0;
    }
    let part = if morsels == 0 { 0.0 } else { 1.0 - waiting as f64 / morsels as f64 };
    let part = if done < all { part } else { 0.0 };
    ((f64::from(done) + part) * 100.0 / f64::from(all)) as u64
}

/// The columns of [`trace`].
pub(super) const TRACE: Columns = &[
    ("query", 'i'),
    ("pipeline", 'i'),
    ("finishing", 'b'),
    ("job", 'i'),
    ("worker", 'i'),
    ("node", 'i'),
    ("home", 'i'),
    ("cpu_start", 'i'),
    ("cpu_end", 'i'),
    ("stolen", 'b'),
    ("rows", 'i'),
    ("bytes_local", 'i'),
    ("bytes_remote", 'i'),
    ("start_ns", 'i'),
    ("end_ns", 'i'),
];

pub(super) fn trace(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(TRACE);
    for event in database.scheduler.trace() {
        view.row([
            event.statement.into(),
            u64::from(event.pipeline).into(),
            event.finishing.into(),
            event.job.0.into(),
            (event.worker.index() as u64).into(),
            u64::from(event.node.0).into(),
            event.home.map(|it| u64::from(it.0)).into(),
            event.cpus.0.map(|it| u64::from(it.0)).into(),
            event.cpus.1.map(|it| u64::from(it.0)).into(),
            event.stolen.into(),
            event.rows.into(),
            event.bytes_local.into(),
            event.bytes_remote.into(),
            event.start.0.into(),
            event.end.0.into(),
        ]);
    }
    view.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_pipelines_and_the_morsels_of_the_current_one() {
        assert_eq!(progress(0, 0, 10, 10), 0, "planning");
        assert_eq!(progress(0, 4, 0, 0), 0);
        assert_eq!(progress(1, 4, 100, 50), 37);
        assert_eq!(progress(4, 4, 10, 10), 100, "the last job belongs to nobody's pipeline");
        assert!((0..=100).all(|it| progress(3, 4, 100, it) <= 100));
    }
}
