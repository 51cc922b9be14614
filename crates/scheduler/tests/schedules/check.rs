//! What must hold of every schedule, told from what was seen and from the plan, without the scheduler's own bookkeeping.

use std::collections::{BTreeMap, BTreeSet};

use hardware::NodeId;
use scheduler::{Affinity, JobId, JobOutcome, StealingScope, TraceEvent};
use simulator::Fault;
use stdx::Nanos;

use crate::plan::{JobPlan, Plan};
use crate::world::{Begun, JobRecord, Seen, Steered};

/// Steps of a worker and readings of the clock that lie between an event and what follows from it.
const SLACK: u64 = 200_000;
/// Between two looks of a watchdog that has slept for want of jobs.
const WATCHDOG: u64 = 50_000_000;

/// A plan and what came of it.
pub struct Case<'a> {
    pub plan: &'a Plan,
    pub seen: &'a Seen,
    /// The nodes with workers.
    places: BTreeSet<NodeId>,
}

/// The longest that a worker rested at the home of a job that nobody worked on.
pub type Wait = Nanos;

impl<'a> Case<'a> {
    pub fn new(plan: &'a Plan, seen: &'a Seen) -> Self {
        let places = seen.stats.workers.iter().map(|it| it.node).collect();
        Self { plan, seen, places }
    }

    /// Panics where something does not hold.
    pub fn check(&self) -> Wait {
        assert_eq!(self.seen.stats.jobs, [], "jobs are left");
        let mut wait = Nanos(0);
        for (index, record) in self.seen.jobs.iter().enumerate() {
            if record.handle.is_some() {
                self.check_rows(index, record);
                self.check_places(index);
                self.check_end(index, record);
                wait = wait.max(self.check_waits(index, record));
            } else {
                assert!(self.morsels(index).next().is_none(), "job {index} never began");
            }
        }
        wait
    }

    fn morsels(&self, job: usize) -> impl Iterator<Item = (usize, &Begun)> {
        self.seen.begun.iter().enumerate().filter(move |(_, it)| it.job == job)
    }

    /// Every row once; of a job that ended early, no row twice.
    fn check_rows(&self, index: usize, record: &JobRecord) {
        let plan = &self.plan.jobs[index];
        let report = record.report.as_ref().expect("every job was waited for");
        let whole = report.outcome == JobOutcome::Completed;
        let mut pieces: Vec<_> = self.morsels(index).map(|it| it.1.morsel).collect();
        assert_eq!(report.morsels, pieces.len() as u64, "job {index}: morsels are miscounted");
        pieces.sort_by_key(|it| (it.range, it.start));
        for (number, range) in plan.ranges.iter().enumerate() {
            let mut at = range.start;
            for piece in pieces.iter().filter(|it| it.range == number) {
                let next = if whole { piece.start == at } else { piece.start >= at };
                assert!(next, "job {index}, range {number}: a row twice or not at all at {at}");
                let rows = piece.end - piece.start;
                assert!((1..=plan.morsel_rows).contains(&rows) && piece.end <= range.end);
                at = piece.end;
            }
            assert!(!whole || at == range.end, "job {index}, range {number}: rows are missing");
        }
    }

    /// Hard work stays at home, other work within its scope, and all of it on the nodes it may use.
    fn check_places(&self, index: usize) {
        let plan = &self.plan.jobs[index];
        let hard_from = self.hard_from(index);
        let mut held: BTreeMap<usize, u32> = BTreeMap::new();
        for (number, begun) in self.morsels(index) {
            let node = begun.context.node;
            let told = self.seen.stats.workers[begun.context.worker.index()].node;
            assert_eq!(node, told, "a worker is where it was put");
            let allowed = self.allowed(plan);
            assert!(
                allowed.contains(&node),
                "job {index} ran on node {node}, which it may not use"
            );
            let Some(home) = self.home(plan, begun.morsel.range) else { continue };
            assert_eq!(begun.context.stolen, node != home, "job {index}: stolen or not");
            if node == home {
                continue;
            }
            if hard_from.is_some_and(|it| number >= it) {
                // Steered while a thief held some: they are run, and no more.
                let held = held.entry(begun.context.worker.index()).or_default();
                *held += 1;
                let may = if hard_from == Some(0) { 0 } else { plan.policy.bulk.max(1) - 1 };
                assert!(*held <= may, "hard job {index} of node {home} ran on node {node}");
            }
            if !self.is_steered(index) {
                let scope = plan.policy.stealing.unwrap_or(self.plan.stealing);
                let reach = self.reach(node, home);
                assert!(reach <= scope, "job {index} with scope {scope} ran on {node}, not {home}");
            }
        }
    }

    /// The morsel from which on a job is hard for good.
    fn hard_from(&self, index: usize) -> Option<usize> {
        let plan = &self.plan.jobs[index];
        // A job without affinity stays so, and none of the others becomes one.
        let changes = self.changes(index).filter(|it| it.policy.affinity != Affinity::None);
        let changes = changes.map(|it| (it.begun, it.policy.affinity));
        let all = std::iter::once((0, plan.policy.affinity)).chain(changes);
        let mut since = None;
        for (begun, affinity) in all {
            since = match affinity {
                Affinity::Hard => since.or(Some(begun)),
                _ => None,
            };
        }
        since.filter(|_| plan.policy.affinity != Affinity::None)
    }

    /// Changes of the policy under a job.
    fn changes(&self, index: usize) -> impl Iterator<Item = &Steered> {
        let statement = self.plan.jobs[index].statement;
        let since = &self.seen.steered[self.seen.jobs[index].steered_before..];
        since.iter().filter(move |it| it.statement == statement)
    }

    fn is_steered(&self, index: usize) -> bool {
        self.changes(index).next().is_some()
    }

    /// The nodes with workers, the nearest to a node first; none where the machine has no such node.
    fn serving(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let topology = &self.plan.model.topology;
        let exists = topology.node_index(node).is_some();
        let nearest = if exists { topology.nearest_first(node) } else { Vec::new() };
        nearest.into_iter().filter(|it| self.places.contains(it))
    }

    fn allowed(&self, plan: &JobPlan) -> BTreeSet<NodeId> {
        let nodes = plan.policy.nodes.iter();
        let allowed: BTreeSet<_> = nodes.filter_map(|&it| self.serving(it).next()).collect();
        if allowed.is_empty() { self.places.clone() } else { allowed }
    }

    /// The node where a range is at home.
    fn home(&self, plan: &JobPlan, range: usize) -> Option<NodeId> {
        let node = plan.ranges[range].node.filter(|_| plan.policy.affinity != Affinity::None)?;
        let own = self.serving(node).next()?;
        let allowed = self.allowed(plan);
        Some(self.serving(own).find(|it| allowed.contains(it)).unwrap_or(own))
    }

    fn reach(&self, from: NodeId, to: NodeId) -> StealingScope {
        let topology = &self.plan.model.topology;
        let socket = |it| topology.nodes.iter().find(|node| node.id == it).map(|it| it.socket);
        match (from == to, socket(from) == socket(to)) {
            (true, _) => StealingScope::None,
            (false, true) => StealingScope::Socket,
            (false, false) => StealingScope::All,
        }
    }

    /// A mark ends a job at its next morsel, or at the next look of the watchdog if it waits; the outcome tells why.
    fn check_end(&self, index: usize, record: &JobRecord) {
        let report = record.report.as_ref().expect("every job was waited for");
        if let Some((_, begun)) = record.cancelled {
            let late = self.morsels(index).find(|it| it.0 > begun);
            assert!(late.is_none(), "job {index} went on after it was cancelled");
        }
        if let Some((at, _)) = record.timeout {
            let last = at.0 + SLACK + self.stalls(self.plan.workers);
            let mut events = self.events(report.id);
            assert!(events.all(|it| it.start.0 <= last), "job {index} went on after its time");
        }
        let marks =
            record.cancelled.iter().map(|it| it.0).chain(record.timeout.as_ref().map(|it| it.0));
        if let Some(mark) = marks.min() {
            let last = self.events(report.id).map(|it| it.end).max().unwrap_or_default();
            let ended = record.submitted + report.elapsed;
            let due = mark.max(last).max(record.submitted).0 + SLACK + WATCHDOG + self.stalled();
            assert!(ended.0 <= due, "job {index}, marked at {mark}, ended at {ended} only");
        }
        let deed = |wanted: fn(&crate::plan::Deed) -> bool| {
            let deeds = &self.plan.jobs[index].deeds;
            deeds.iter().any(|it| wanted(&it.1))
        };
        match &report.outcome {
            JobOutcome::Completed => {}
            JobOutcome::Stopped => assert!(deed(|it| matches!(it, crate::plan::Deed::Break))),
            JobOutcome::Panicked(text) => assert_eq!(text, "on purpose"),
            JobOutcome::Cancelled => {
                let failed = |&it: &usize| {
                    let outcome = self.seen.jobs[it].report.as_ref().map(|it| &it.outcome);
                    matches!(outcome, Some(JobOutcome::Cancelled | JobOutcome::Panicked(_)))
                };
                let why = record.token.is_cancelled() || record.after.iter().any(failed);
                assert!(why, "job {index} was cancelled by nobody");
            }
        }
    }

    fn events(&self, job: JobId) -> impl Iterator<Item = &TraceEvent> {
        self.seen.events.iter().filter(move |it| it.job == job)
    }

    /// No starvation: while nobody works on a job that may run, no worker of its home rests, and none begins anything of
    /// lower priority; only if a worker that was woken does not get to run, the watchdog has to wake another.
    fn check_waits(&self, index: usize, record: &JobRecord) -> Wait {
        let report = record.report.as_ref().expect("every job was waited for");
        let Some(ready) = self.ready(record) else { return Nanos(0) };
        let mut events: Vec<&TraceEvent> = self.events(report.id).collect();
        events.sort_by_key(|it| it.start);
        let (mut wait, mut at) = (Nanos(0), ready);
        for (done, event) in events.iter().enumerate() {
            for gap in self.gaps(index, (at, event.start)) {
                let homes = self.homes_of_last(index, events.len() - done);
                for (worker, stats) in self.seen.stats.workers.iter().enumerate() {
                    if homes.contains(&stats.node) && self.stalls(worker) == 0 {
                        wait = wait.max(self.rest_of(worker, gap));
                        self.check_order(worker, index, report.id, gap);
                    }
                }
            }
            at = at.max(event.end);
        }
        let patience = if self.stalled() == 0 { 0 } else { WATCHDOG + self.stalled() };
        assert!(wait.0 <= patience + SLACK, "job {index} waited {wait} beside workers at rest");
        wait
    }

    /// When nobody had to do with a job between two of its morsels. Who has the only chair of a job may serve others in
    /// between that read the same.
    fn gaps(&self, index: usize, (from, to): (Nanos, Nanos)) -> Vec<(Nanos, Nanos)> {
        let policy = &self.plan.jobs[index].policy;
        let limited = policy.max_workers.is_some() || self.is_steered(index);
        let (mut gaps, mut at) = (Vec::new(), from);
        for event in self.company(index).into_iter().filter(|_| limited) {
            if event.end > at && event.start < to {
                gaps.push((at, event.start.max(at)));
                at = event.end;
            }
        }
        gaps.push((at, to));
        gaps.retain(|it| it.0 < it.1);
        gaps
    }

    /// What was run of jobs that read the same as a job, by start.
    fn company(&self, index: usize) -> Vec<&TraceEvent> {
        let reads = self.plan.jobs[index].reads;
        let jobs = self.seen.jobs.iter().zip(&self.plan.jobs);
        let company: BTreeSet<JobId> = jobs
            .filter(|(_, it)| reads.is_some() && it.reads == reads)
            .filter_map(|(record, _)| Some(record.report.as_ref()?.id))
            .collect();
        self.seen.events.iter().filter(|it| company.contains(&it.job)).collect()
    }

    /// The nodes where the last morsels of a job are at home.
    fn homes_of_last(&self, index: usize, count: usize) -> BTreeSet<NodeId> {
        let plan = &self.plan.jobs[index];
        let morsels: Vec<_> = self.morsels(index).collect();
        let last = &morsels[morsels.len() - count..];
        let home = |it: &(usize, &Begun)| match self.home(plan, it.1.morsel.range) {
            Some(home) => BTreeSet::from([home]),
            None => self.allowed(plan),
        };
        last.iter().flat_map(home).collect()
    }

    /// When a job could begin; `None` where that cannot be told from outside.
    fn ready(&self, record: &JobRecord) -> Option<Nanos> {
        let mut ready = record.submitted;
        for &number in &record.after {
            // A worker that is stalled after its last morsel keeps its job from ending.
            if self.stalled() > 0 {
                return None;
            }
            let child = &self.seen.jobs[number];
            let report = child.report.as_ref()?;
            if !matches!(report.outcome, JobOutcome::Completed | JobOutcome::Stopped) {
                return None;
            }
            let id = report.id;
            let end = self.events(id).map(|it| it.end).max().unwrap_or_default();
            // Who served another in between that reads the same leaves when it is through with that.
            let company = self.company(number).into_iter().filter(|it| it.start <= end);
            let end = company.map(|it| it.end).max().unwrap_or(end);
            ready = ready.max(end).max(self.ready(child)?);
        }
        Some(ready)
    }

    /// The longest that a worker did nothing within a gap.
    fn rest_of(&self, worker: usize, (from, to): (Nanos, Nanos)) -> Nanos {
        let mine = self.seen.events.iter().filter(|it| it.worker.index() == worker);
        let (mut at, mut longest) = (from, 0);
        // The events are in the order of their starts.
        for event in mine.filter(|it| it.end > from && it.start < to) {
            longest = longest.max(event.start.0.saturating_sub(at.0));
            at = at.max(event.end);
        }
        Nanos(longest.max(to.0.saturating_sub(at.0)))
    }

    /// A worker whose group is all of its node begins nothing of lower priority while a job waits there.
    fn check_order(&self, worker: usize, index: usize, id: JobId, gap: (Nanos, Nanos)) {
        let stats = &self.seen.stats;
        let node = stats.workers[worker].node;
        let plan = &self.plan.jobs[index];
        if self.is_steered(index) || stats.groups.iter().filter(|it| it.node == node).count() > 1 {
            return;
        }
        let rank = (plan.policy.class, plan.statement, id);
        for event in self.seen.events.iter().filter(|it| it.worker.index() == worker) {
            let meanwhile = event.start.0 > gap.0.0 + SLACK && event.start < gap.1;
            let other = self
                .seen
                .jobs
                .iter()
                .position(|it| it.report.as_ref().is_some_and(|report| report.id == event.job));
            let Some(other) = other.filter(|_| meanwhile) else { continue };
            let others = &self.plan.jobs[other];
            let held = event.stolen && others.policy.bulk > 1;
            let lower = (others.policy.class, others.statement, event.job) > rank;
            let company = || self.in_company(other, event, rank);
            let wrong = lower && !held && !self.is_steered(other) && !company();
            assert!(!wrong, "worker {worker} began job {other} while job {index} waited");
        }
    }

    /// Whether a morsel may have been read together with the job of rank `before`, or one that goes before it.
    fn in_company(&self, job: usize, event: &TraceEvent, before: (u8, u64, JobId)) -> bool {
        let plan = &self.plan.jobs[job];
        let mut jobs = self.seen.jobs.iter().zip(&self.plan.jobs).enumerate();
        jobs.any(|(number, (record, leader))| {
            let Some(report) = &record.report else { return false };
            let first = (leader.policy.class, leader.statement, report.id) <= before;
            let same = plan.reads.is_some() && leader.reads == plan.reads;
            let last = self.events(report.id).map(|it| it.end).max().unwrap_or_default();
            let under_way = record.submitted <= event.start && event.start.0 <= last.0 + SLACK;
            let class = leader.policy.class == plan.policy.class;
            same && under_way && (self.is_steered(number) || (first && class))
        })
    }

    /// How long a worker is stalled in all.
    fn stalls(&self, me: usize) -> u64 {
        let span = |it: &Fault| match *it {
            Fault::StalledWorker { worker, span, .. } if worker == me => span.0,
            _ => 0,
        };
        self.plan.faults.iter().map(span).sum()
    }

    fn stalled(&self) -> u64 {
        (0..=self.plan.workers).map(|it| self.stalls(it)).sum()
    }
}
