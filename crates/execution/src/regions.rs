//! The tasks of an output (P-HANA 5.2, figure 7b): its regions by the node they lie on, and as many tasks for each as its
//! share of the rows is worth, with the affinity of that node.
//!
//! The paper writes values into one vector that it has allocated before. Here batches were written by the workers that
//! found their rows, each in the memory of its node, and a task turns the batches of its region into what the client
//! gets. Regions are told at fixed distances, and neighbours on one node are one partition: nobody looks at every batch.

use std::ops::{ControlFlow, Range};

use hardware::{Demand, NodeId, Pattern};
use scheduler::{
    Label, Morsel, MorselBody, MorselContext, MorselRange, concurrency_hint, weighted_tasks,
};
use stdx::sync::Mutex;
use stdx::sync::atomic::Ordering;
use types::{SqlError, SqlResult};

use crate::lookups::Output;
use crate::team::{QueryTeam, ScopedJob, check_outcome, run_scoped};
use crate::traffic::Place;
use crate::{Batch, Kept, Rows, WorkContext};

/// Values (rows times columns) up to which the calling thread does it alone: less than waking a worker is worth.
const INLINE_VALUES: usize = 1 << 17;
/// What turning a value costs a modelled machine.
const CYCLES_PER_VALUE: u64 = 4;
const BYTES_PER_VALUE: u64 = 8;

/// Neighbouring regions on one node.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Partition {
    home: Option<NodeId>,
    batches: Range<usize>,
    rows: u64,
}

/// The partitions of an output that is looked at in `contexts` places.
fn partitions(rows: &Rows, contexts: usize) -> Vec<Partition> {
    let count = rows.batches.len();
    let region = count.div_ceil(contexts.max(1)).max(1);
    let mut partitions: Vec<Partition> = Vec::new();
    for start in (0..count).step_by(region) {
        let batches = start..count.min(start + region);
        let size = rows.batches[batches.clone()].iter().map(|it| it.rows() as u64).sum::<u64>();
        let home = rows.homes.get(start).copied();
        match partitions.last_mut() {
            Some(last) if last.home == home => {
                (last.batches.end, last.rows) = (batches.end, last.rows + size);
            }
            _ => partitions.push(Partition { home, batches, rows: size }),
        }
    }
    partitions
}

/// The batches of each task, and the ranges of tasks with the node each has an affinity to.
fn tasks(partitions: &[Partition], hint: usize) -> (Vec<Range<usize>>, Vec<MorselRange>) {
    let weights: Vec<u64> = partitions.iter().map(|it| it.rows.max(1)).collect();
    let (mut tasks, mut ranges) = (Vec::new(), Vec::new());
    for (partition, count) in partitions.iter().zip(weighted_tasks(hint, &weights)) {
        let first = tasks.len() as u64;
        let each = partition.batches.len().div_ceil(count.max(1)).max(1);
        let end = partition.batches.end;
        tasks.extend(partition.batches.clone().step_by(each).map(|it| it..end.min(it + each)));
        ranges.push(MorselRange { node: partition.home, start: first, end: tasks.len() as u64 });
    }
    (tasks, ranges)
}

/// The tasks as a body.
struct Mapping<'a, T> {
    rows: &'a Rows,
    tasks: Vec<Range<usize>>,
    map: &'a (dyn Fn(&Batch) -> SqlResult<T> + Sync),
    team: &'a QueryTeam,
    output: Output,
    /// By batch.
    done: Vec<Mutex<Option<T>>>,
    failed: Mutex<Option<SqlError>>,
}

impl<T> Mapping<'_, T> {
    fn values(&self, task: &Range<usize>) -> u64 {
        self.rows.batches[task.clone()].iter().map(|it| values_of(self.rows, it) as u64).sum()
    }
}

/// A worker that makes an output.
fn work_of(team: &QueryTeam, slot: usize, node: NodeId) -> WorkContext {
    let settings = &team.settings;
    WorkContext {
        slot,
        node,
        cancel: settings.control.cancel.clone(),
        workspace: settings.workspace.clone(),
        accesses: settings.accesses.clone(),
    }
}

fn values_of(rows: &Rows, batch: &Kept) -> usize {
    batch.rows() * rows.layout.len()
}

impl<T: Send> MorselBody for Mapping<'_, T> {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let work = work_of(self.team, context.slot, context.node);
        for number in morsel.start..morsel.end {
            let task = &self.tasks[number as usize];
            self.team.scheduler.machine().charge(&|| {
                let values = self.values(task);
                let demand = Demand { cycles: values * CYCLES_PER_VALUE, ..Demand::default() };
                let home = self.rows.homes.get(task.start).copied().unwrap_or(context.node);
                demand.access(vec![home], values * BYTES_PER_VALUE, Pattern::Stream)
            });
            for batch in task.clone() {
                let made = self.team.check().and_then(|()| self.rows.batches[batch].batch());
                let made = made.and_then(|it| {
                    let home = self.rows.homes.get(batch).copied();
                    self.output.count(&it, Place::of(home), &work);
                    (self.map)(&it)
                });
                match made {
                    Ok(it) => *self.done[batch].lock() = Some(it),
                    Err(error) => {
                        self.failed.lock().get_or_insert(error);
                        return ControlFlow::Break(());
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn bytes_read(&self, morsel: Morsel, reader: NodeId) -> Vec<(NodeId, u64)> {
        let task = &self.tasks[morsel.start as usize];
        let home = self.rows.homes.get(task.start).copied().unwrap_or(reader);
        vec![(home, self.values(task) * BYTES_PER_VALUE)]
    }
}

/// Turns each batch into something, in the order of the batches: large outputs by tasks that have the affinity of the
/// region they read, no more of them than the concurrency hint allows and at least one for each partition.
pub fn map_batches<T: Send>(
    rows: &Rows,
    team: &QueryTeam,
    map: &(dyn Fn(&Batch) -> SqlResult<T> + Sync),
) -> SqlResult<Vec<T>> {
    let workers = team.scheduler.workers();
    let output = Output::of(&rows.layout);
    let values: usize = rows.batches.iter().map(|it| values_of(rows, it)).sum();
    if values <= INLINE_VALUES || workers == 1 {
        // Little, or by the only worker there is: on the node where it lies.
        let home = rows.homes.first().copied().unwrap_or_default();
        let work = work_of(team, team.scheduler.slots() - 1, home);
        let mapped = |it: &Kept| {
            team.check()?;
            let batch = it.batch()?;
            output.count(&batch, Place::Own, &work);
            map(&batch)
        };
        return rows.batches.iter().map(mapped).collect();
    }
    let control = &team.settings.control;
    let hint = concurrency_hint(workers, control.running.load(Ordering::Relaxed));
    let (tasks, ranges) = tasks(&partitions(rows, workers), hint);
    let done = rows.batches.iter().map(|_| Mutex::new(None)).collect();
    let body = Mapping { rows, tasks, map, team, output, done, failed: Mutex::new(None) };
    let job = ScopedJob {
        ranges,
        morsel_rows: 1,
        policy: control.policy(),
        label: Label { pipeline: team.settings.pipeline, finishing: true },
        reads: None,
        inline: false,
        workspace: &team.settings.workspace,
        body: &body,
    };
    let reports = run_scoped(&team.scheduler, control, vec![job]);
    let Mapping { done, failed, .. } = body;
    check_outcome(&reports[0], failed.into_inner(), &control.cancel)?;
    let whole = "invariant: a job that was completed has run all its tasks";
    Ok(done.into_iter().map(|it| it.into_inner().expect(whole)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of so many rows on these nodes.
    fn rows(batches: &[(usize, u16)]) -> Rows {
        let batch =
            |it: &(usize, u16)| Kept::Here(Batch { rows: it.0, columns: Vec::new(), sequence: 0 });
        Rows {
            layout: Vec::new(),
            batches: batches.iter().map(batch).collect(),
            ordered: false,
            homes: batches.iter().map(|it| NodeId(it.1)).collect(),
            parts: None,
        }
    }

    #[test]
    fn neighbouring_regions_of_a_node_are_one_partition() {
        let output = rows(&[(10, 0), (10, 0), (10, 0), (30, 1), (30, 1), (5, 0), (5, 0), (5, 2)]);
        let found: Vec<_> = partitions(&output, 8)
            .into_iter()
            .map(|it| (it.home.map(|it| it.0), it.batches, it.rows))
            .collect();
        let all =
            [(Some(0), 0..3, 30), (Some(1), 3..5, 60), (Some(0), 5..7, 10), (Some(2), 7..8, 5)];
        assert_eq!(found, all);
        let coarse = partitions(&output, 2);
        assert_eq!(coarse.len(), 2, "told at the first batch of each half: {coarse:?}");
        assert_eq!(partitions(&rows(&[]), 4), []);
        let unknown = Rows { homes: Vec::new(), ..rows(&[(1, 0), (1, 1)]) };
        assert_eq!(partitions(&unknown, 4).len(), 1);
    }

    #[test]
    fn partitions_get_tasks_by_weight_and_none_goes_without() {
        let output: Vec<(usize, u16)> =
            (0..40).map(|it| (if it < 20 { 400 } else { 10 }, it / 10)).collect();
        let (cut, ranges) = tasks(&partitions(&rows(&output), 40), 16);
        let per_node: Vec<_> =
            ranges.iter().map(|it| (it.node.map(|it| it.0), it.end - it.start)).collect();
        assert_eq!(per_node, [(Some(0), 5), (Some(1), 5), (Some(2), 1), (Some(3), 1)]);
        assert!(cut.iter().all(|it| !it.is_empty()));
        let all: Vec<usize> = cut.into_iter().flatten().collect();
        assert_eq!(all, (0..40).collect::<Vec<_>>(), "each batch once, in order");
    }
}
