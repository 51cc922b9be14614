//! Groupings for which there is not enough memory: once a statement is over its memory, rows are no longer added to groups but
//! written to a file, cut into partitions by the hash of their keys. At the end each partition is grouped by itself,
//! together with the groups that were found before (hybrid hash aggregation).
//!
//! - Invariant: rows of one group are all in one partition, which is told by bits of the hash that merging and probing do not
//!   use.
//! - Limit: a partition is not cut again. One that does not fit ends the statement (53200).

use memory::SpillFile;
use stdx::Bytes;
use stdx::sync::Arc;
use types::SqlResult;

use super::groups::Groups;
use super::having::Having;
use super::key::Keys;
use super::merge::{Partitioning, Spread, merge, merge_all};
use super::plan::GroupPlan;
use super::result::Part;
use super::tasks::collect_with;
use super::worker::{Input, Worker};
use crate::partitions::Split;
use crate::spill::{Extent, Writer, read};
use crate::work::Alone;
use crate::{Team, Vector, WorkContext};

/// Partitions for each worker, so that those under way at a time are a small part of all.
const PARTITIONS_PER_WORKER: usize = 16;
/// The most partitions, as a byte tells one.
const PARTITIONS_MAX: usize = 256;
/// The least, so that one worker gets along with a thirtieth.
const PARTITIONS_MIN: usize = 32;
/// What a worker on one of many partitions has for a dense array.
const NO_ROOM: Bytes = Bytes(0);
/// Bytes that are collected before they are written.
const WRITTEN_BYTES: usize = 256 << 10;

/// How many partitions rows are cut into when so many workers work on them: a power of two.
pub(super) fn partitions_for(workers: usize) -> usize {
    (workers * PARTITIONS_PER_WORKER).next_power_of_two().clamp(PARTITIONS_MIN, PARTITIONS_MAX)
}

/// Rows of one worker in a file.
pub(super) struct SpilledRows {
    file: Arc<SpillFile>,
    /// By partition: pieces, and the block of rows that each comes from.
    partitions: Vec<Vec<(Extent, u64)>>,
    writer: Writer,
    /// Partition and block of what the writer holds.
    unwritten: Vec<(usize, u64)>,
    keys: Keys,
}

impl SpilledRows {
    /// None yet.
    pub(super) fn new(plan: &GroupPlan, partitions: usize, file: Arc<SpillFile>) -> Self {
        Self {
            file,
            partitions: (0..partitions).map(|_| Vec::new()).collect(),
            writer: Writer::default(),
            unwritten: Vec::new(),
            keys: plan.layout.no_keys(),
        }
    }

    /// Takes the rows of a batch.
    pub(super) fn add(&mut self, plan: &GroupPlan, input: &Input) -> SqlResult<()> {
        plan.layout.encode(&input.keys, input.rows, &mut self.keys);
        let partitions = self.partitions.len();
        let split = Split::new(partitions, &self.keys.middle_hash_bits((partitions - 1) as u8));
        let columns: Vec<&Arc<Vector>> = input.keys.iter().chain(&input.arguments).collect();
        for partition in 0..partitions {
            let rows = split.part(partition);
            if rows.is_empty() {
                continue;
            }
            let taken: Vec<Arc<Vector>> =
                columns.iter().map(|it| Arc::new(it.take(rows))).collect();
            self.writer.add(rows.len(), &taken);
            self.unwritten.push((partition, input.block));
        }
        if self.writer.bytes() >= WRITTEN_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> SqlResult<()> {
        let extents = self.writer.write(&self.file)?;
        for (extent, (partition, block)) in extents.into_iter().zip(self.unwritten.drain(..)) {
            self.partitions[partition].push((extent, block));
        }
        Ok(())
    }

    /// Adds the rows of a partition to the groups of a worker.
    fn replay(
        &self,
        partition: usize,
        plan: &GroupPlan,
        worker: &mut Worker,
        context: &WorkContext,
    ) -> SqlResult<()> {
        for &(extent, block) in &self.partitions[partition] {
            context.check()?;
            let mut keys = read(&self.file, extent)?;
            let arguments = keys.split_off(plan.key_columns);
            worker.consume(
                plan,
                &Input { keys, arguments, rows: extent.rows as usize, block },
                NO_ROOM,
            );
        }
        Ok(())
    }
}

/// Puts the groups that were found, and those of rows in a file, together: partition by partition. There are such rows.
pub(super) fn merge_spilled(
    plan: &GroupPlan,
    having: Option<&Having>,
    found: Vec<Groups>,
    mut spilled: Vec<SpilledRows>,
    team: &dyn Team,
) -> SqlResult<Vec<Part>> {
    spilled.iter_mut().try_for_each(SpilledRows::write)?;
    let partitions = spilled.first().map_or(1, |it| it.partitions.len());
    let how = Partitioning::Spilled { partitions };
    let spreads: Vec<Spread> = found.iter().map(|it| Spread::new(it, how)).collect();
    let parts = collect_with(team, partitions, &|partition, context| {
        let mut groups = vec![merge(plan, &found, &spreads, how, partition)];
        let mut worker = Worker::new(plan);
        for rows in &spilled {
            rows.replay(partition, plan, &mut worker, context)?;
        }
        groups.extend(worker.finish());
        groups.retain(|it| it.len() > 0);
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let alone = Alone { context, workspace: context.workspace.clone() };
        let mut parts = merge_all(plan, having, groups, &alone)?;
        if context.workspace.account().is_over() {
            let file = &spilled[0].file;
            parts.iter_mut().try_for_each(|it| it.spill(file))?;
        }
        Ok(parts)
    })?;
    let mut parts: Vec<Part> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        parts = merge_all(plan, having, Vec::new(), team)?;
    }
    Ok(parts)
}
