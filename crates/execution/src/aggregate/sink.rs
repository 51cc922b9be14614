//! The sink of a grouping: hands batches and packed blocks to the worker's table, and merges the tables at the end.

use hardware::NodeId;
use scheduler::CancelToken;
use stdx::Bytes;
use stdx::sync::{Arc, Mutex};
use types::{SqlResult, Zone};

use super::groups::Groups;
use super::having::Having;
use super::merge::merge_all;
use super::packed::{PackedStrategy, Target, strategy_of};
use super::plan::GroupPlan;
use super::result::{Part, result_batches};

use super::spec::AggregateSpec;
use super::spill::{GROUPS_BYTES_MIN, SpillingRows, merge_spilled, partitions_for};
use super::tasks::collect;
use super::tuning::SERIAL_GROUPS_MAX;
use super::worker::{Input, Worker};
use crate::expression::Compiled;
use crate::partitions::Outgoing;
use crate::scan::PackedBlock;
use crate::spill::SharedFile;
use crate::traffic::{Item, Place};
use crate::work::Alone;
use crate::{
    Batch, ColumnShape, Kept, Layout, PartMap, PerSlot, Rows, Sink, State, Team, WorkContext,
};

/// Groups the rows of a pipeline.
pub struct AggregateSink {
    keys: Vec<Compiled>,
    arguments: Vec<Compiled>,
    plan: GroupPlan,
    /// What is asked of the finished groups, if that is known here.
    having: Option<Having>,
    /// How packed rows are aggregated, where they can be.
    packed: Option<Box<dyn PackedStrategy>>,
    /// The parts of the rows, where those of each shall leave groups of their own.
    parts: Option<Arc<PartMap>>,
    /// By slot, then by part.
    workers: PerSlot<Vec<Option<Worker>>>,
    /// By slot, then by part: rows for whose groups there was no memory, and how many partitions they are cut into.
    spilled: PerSlot<Vec<Option<SpillingRows>>>,
    partitions: usize,
    slots: u64,
    file: SharedFile,
}

impl AggregateSink {
    /// Groups by `keys`; aggregates name their arguments and filters by place in `arguments`.
    pub fn new(
        keys: Vec<Compiled>,
        arguments: Vec<Compiled>,
        aggregates: Vec<AggregateSpec>,
        slots: usize,
    ) -> SqlResult<Self> {
        let shapes = |of: &[Compiled]| -> Vec<ColumnShape> {
            of.iter().map(|it| it.shape().clone()).collect()
        };
        let plan = GroupPlan::new(&shapes(&keys), shapes(&arguments), aggregates)?;
        let packed = strategy_of(&plan, &keys, &arguments, slots);
        Ok(Self {
            keys,
            arguments,
            plan,
            having: None,
            packed,
            parts: None,
            workers: PerSlot::new(slots),
            spilled: PerSlot::new(slots),
            partitions: partitions_for(slots),
            slots: slots.max(1) as u64,
            file: SharedFile::default(),
        })
    }

    /// Makes ready for so many groups, of so many rows for each worker, or of an unknown number of them.
    pub fn expecting(mut self, groups: f64, rows_per_worker: Option<f64>) -> Self {
        self.plan.expected = groups;
        self.plan.rows_per_worker = rows_per_worker;
        self
    }

    /// Ends with the statement of a token, also while values of groups are made.
    pub fn ended_by(mut self, cancel: CancelToken) -> Self {
        self.plan.cancel = cancel;
        self
    }

    /// Leaves groups for each of these parts of the rows, none of which has a group with another.
    pub fn in_parts(mut self, parts: Option<Arc<PartMap>>) -> Self {
        self.parts = parts;
        self
    }

    /// Drops finished groups for which a condition over the columns of the result is not TRUE: whoever reads them asks
    /// that first, and most of them need never be written (Q18: 57 of 1.5 million). `zone`: of the session.
    pub fn having(mut self, condition: &plan::Expr, zone: Zone) -> Self {
        self.having = Some(Having::new(condition, zone));
        self
    }
}

impl Sink for AggregateSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        let evaluate = |of: &[Compiled]| -> SqlResult<Vec<_>> {
            of.iter().map(|it| it.evaluate(&batch)).collect()
        };
        let input = Input {
            keys: evaluate(&self.keys)?,
            arguments: evaluate(&self.arguments)?,
            rows: batch.rows,
            sequence: batch.sequence,
        };
        let mut guard = self.workers.lock(context.slot);
        let workers = guard.get_or_insert_default();
        let worker = self.worker(workers, batch.sequence);
        if self.spills(worker, context) {
            return self.spill(input, batch.sequence, context);
        }
        let known = worker.table.len();
        worker.consume(&self.plan, &input, self.room(context));
        self.count(worker, known, batch.rows, context);
        Ok(())
    }

    fn takes_packed(&self) -> bool {
        self.packed.as_ref().is_some_and(|it| it.pays(self.having.is_some()))
    }

    fn consume_packed(&self, block: &PackedBlock<'_>, context: &WorkContext) -> SqlResult<bool> {
        let Some(packed) = self.packed.as_ref() else { return Ok(false) };
        let (plan, having, slot) = (&self.plan, self.having.as_ref(), context.slot);
        let mut guard = self.workers.lock(slot);
        let worker = self.worker(guard.get_or_insert_default(), block.sequence);
        if self.spills(worker, context) {
            return Ok(false);
        }
        let known = worker.table.len();
        let of_part = self.parts.is_some();
        let target = Target { plan, having, table: &mut worker.table, slot, of_part };
        let took = packed.add(block, target)?;
        self.count(worker, known, block.count, context);
        worker.flush_if_full(plan, self.room(context));
        Ok(took)
    }

    fn describe(&self) -> String {
        let parts = |it: &Arc<PartMap>| format!(", {} parts on their nodes", it.homes().len());
        self.parts.as_ref().map_or_else(String::new, parts)
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let homes = self.parts.as_ref().map_or(&[None][..], |it| it.homes());
        let all = self.groups(homes.len(), team)?;
        let mut spilled: Vec<Vec<SpillingRows>> = homes.iter().map(|_| Vec::new()).collect();
        for of_parts in self.spilled.take_all() {
            for (rows, spilled) in of_parts.into_iter().zip(&mut spilled) {
                spilled.extend(rows);
            }
        }
        let merged = match &self.parts {
            None => {
                let (groups, spilled) =
                    (all.into_iter().flatten().collect(), spilled.into_iter().flatten().collect());
                vec![self.merge(groups, spilled, team)?]
            }
            Some(parts) => self.merge_parts(all, spilled, parts, team)?,
        };
        let counts: Vec<usize> = merged.iter().map(Vec::len).collect();
        let parts = merged.into_iter().flatten().collect();
        let (layout, batches) = result_batches(&self.plan, parts, team)?;
        Ok(State::Rows(Arc::new(self.rows(layout, batches, &counts))))
    }
}

impl AggregateSink {
    /// The groups of all workers, by part. Each is left by whoever comes, as it takes a look at all that there may be where
    /// numbers are keys.
    fn groups(&self, parts: usize, team: &dyn Team) -> SqlResult<Vec<Vec<Groups>>> {
        let of_slots = self.workers.take_all().into_iter();
        let workers = of_slots.flat_map(|it| it.into_iter().enumerate());
        let workers: Vec<(usize, Worker)> =
            workers.filter_map(|(part, it)| Some((part, it?))).collect();
        let is_large = workers.iter().map(|it| it.1.table.len()).sum::<usize>() > SERIAL_GROUPS_MAX;
        let places: Vec<usize> = workers.iter().map(|it| it.0).collect();
        let workers: Vec<_> = workers.into_iter().map(|it| Mutex::new(Some(it.1))).collect();
        let finished = collect(team, workers.len(), is_large, &|place| {
            let worker = workers[place].lock().take();
            Ok(worker.map_or_else(Vec::new, Worker::finish))
        })?;
        let mut all: Vec<Vec<Groups>> = (0..parts).map(|_| Vec::new()).collect();
        places.into_iter().zip(finished).for_each(|(part, groups)| all[part].extend(groups));
        Ok(all)
    }

    /// The worker for rows of the part that a batch is of.
    fn worker<'a>(&self, workers: &'a mut Vec<Option<Worker>>, sequence: u64) -> &'a mut Worker {
        let part = self.parts.as_ref().map_or(0, |it| it.part_of(sequence));
        if workers.len() <= part {
            workers.resize_with(part + 1, || None);
        }
        workers[part].get_or_insert_with(|| Worker::new(&self.plan))
    }

    /// Counts what rows that a worker has taken in bring from memory, when it had `known` groups before.
    fn count(&self, worker: &Worker, known: usize, rows: usize, context: &WorkContext) {
        if !self.plan.is_keyed() {
            return;
        }
        let width = self.plan.group_bytes();
        let groups = worker.table.len();
        // New ones are written, and read again when they are merged: those of a part by a worker of its node.
        let new = groups.saturating_sub(known) as u64 * width;
        let merged = if self.parts.is_some() { Place::Own } else { Place::Dealt };
        context.touch(Item::Groups, Place::Own, new);
        context.touch(Item::Groups, merged, new);
        if !worker.table.index.is_sorted() {
            let looks = context.accesses.missed(rows, groups as u64 * width);
            context.touch(Item::Groups, Place::Own, looks);
        }
    }

    /// Bytes that are left for each worker.
    fn room(&self, context: &WorkContext) -> Bytes {
        Bytes(context.workspace.account().room().0 / self.slots)
    }

    /// Whether rows go to files, of which more may be more groups: when the statement is over its memory, or would be past it if
    /// the tables of all workers were copied to twice their size, as tables are that grow. A worker with few groups adds to
    /// them still, as buffers for a file are no smaller.
    fn spills(&self, worker: &Worker, context: &WorkContext) -> bool {
        let account = context.workspace.account();
        let grown = || 2 * worker.table.len() as u64 * self.plan.group_bytes() * self.slots;
        self.plan.is_keyed()
            && (account.is_over() && worker.bytes(&self.plan) >= GROUPS_BYTES_MIN
                || !account.has_room_for(Bytes(grown())))
    }

    /// Writes the rows of a batch to the file of a worker.
    fn spill(&self, input: Input, sequence: u64, context: &WorkContext) -> SqlResult<()> {
        let part = self.parts.as_ref().map_or(0, |it| it.part_of(sequence));
        let mut guard = self.spilled.lock(context.slot);
        let spilled = guard.get_or_insert_default();
        if spilled.len() <= part {
            spilled.resize_with(part + 1, || None);
        }
        let rows = match &mut spilled[part] {
            Some(rows) => rows,
            none => {
                let outgoing = Outgoing::new(self.partitions, &self.file, &context.workspace)?;
                none.insert(SpillingRows::new(&self.plan, self.partitions, outgoing))
            }
        };
        rows.add(&self.plan, input, sequence)
    }

    /// Puts groups together with those of rows in files.
    fn merge(
        &self,
        groups: Vec<Groups>,
        spilled: Vec<SpillingRows>,
        team: &dyn Team,
    ) -> SqlResult<Vec<Part>> {
        let having = self.having.as_ref();
        if spilled.is_empty() {
            return merge_all(&self.plan, having, groups, team);
        }
        let file = self.file.get(&team.workspace())?;
        merge_spilled(&self.plan, having, groups, (spilled, &file), team)
    }

    /// Puts the groups of each part together by a task on its node.
    fn merge_parts(
        &self,
        all: Vec<Vec<Groups>>,
        spilled: Vec<Vec<SpillingRows>>,
        parts: &PartMap,
        team: &dyn Team,
    ) -> SqlResult<Vec<Vec<Part>>> {
        let small = all.iter().flatten().map(Groups::len).sum::<usize>() <= SERIAL_GROUPS_MAX;
        let small = small && spilled.iter().all(Vec::is_empty);
        let all: Vec<_> = all.into_iter().zip(spilled).map(Mutex::new).collect();
        let done: Vec<Mutex<Vec<Part>>> = all.iter().map(|_| Mutex::default()).collect();
        team.run_at(parts.homes(), small, &|part, context| {
            let (groups, spilled) = std::mem::take(&mut *all[part].lock());
            let alone = Alone { context, workspace: context.workspace.clone() };
            *done[part].lock() = self.merge(groups, spilled, &alone)?;
            Ok(())
        })?;
        Ok(done.into_iter().map(Mutex::into_inner).collect())
    }

    /// The rows that are left, by batches of the results of so many pieces for each part.
    fn rows(&self, layout: Layout, pieces: Vec<Vec<Kept>>, counts: &[usize]) -> Rows {
        let mut of_parts = pieces.iter().map(Vec::len);
        let in_part = |&count: &usize| of_parts.by_ref().take(count).sum::<usize>();
        let counts: Vec<usize> = counts.iter().map(in_part).collect();
        let homes = self.parts.as_ref().map_or(&[][..], |it| it.homes()).iter().zip(&counts);
        let homes: Option<Vec<Vec<NodeId>>> =
            homes.map(|(home, &count)| home.map(|it| vec![it; count])).collect();
        let mut batches: Vec<Kept> = pieces.into_iter().flatten().collect();
        batches.iter_mut().zip(0..).for_each(|(it, sequence)| it.set_sequence(sequence));
        let parts = self.parts.as_ref().map(|it| Arc::new(it.of_batches(counts.iter().copied())));
        let homes = homes.map(|it| it.concat()).unwrap_or_default();
        Rows { layout, batches, ordered: false, homes, parts }
    }
}
