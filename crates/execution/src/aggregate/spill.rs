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
use crate::partitions::{Outgoing, Piece, Waiting};
use crate::spill::read;
use crate::work::Alone;
use crate::{Team, WorkContext};

/// Partitions for each worker, so that those under way at a time are a small part of all.
const PARTITIONS_PER_WORKER: usize = 32;
/// The most partitions, as a byte tells one.
const PARTITIONS_MAX: usize = 256;
/// The least, so that one worker gets along with a sixtieth.
const PARTITIONS_MIN: usize = 64;
/// What a worker on one of many partitions has for a dense array.
const NO_ROOM: Bytes = Bytes(0);

/// How many partitions rows are cut into when so many workers work on them: a power of two.
pub(super) fn partitions_for(workers: usize) -> usize {
    (workers * PARTITIONS_PER_WORKER).next_power_of_two().clamp(PARTITIONS_MIN, PARTITIONS_MAX)
}

/// Rows of one worker on their way to a file.
pub(super) struct SpillingRows {
    outgoing: Outgoing,
    partitions: usize,
    keys: Keys,
}

impl SpillingRows {
    /// None yet, to be written so.
    pub(super) fn new(plan: &GroupPlan, partitions: usize, outgoing: Outgoing) -> Self {
        Self { outgoing, partitions, keys: plan.layout.no_keys() }
    }

    /// Takes the rows of a batch, which began at a place of its source.
    pub(super) fn add(&mut self, plan: &GroupPlan, input: Input, sequence: u64) -> SqlResult<()> {
        plan.layout.encode(&input.keys, input.rows, &mut self.keys);
        let partitions = self.keys.middle_hash_bits((self.partitions - 1) as u8);
        let mut columns = input.keys;
        columns.extend(input.arguments);
        self.outgoing.add(Waiting { sequence, columns, partitions })
    }
}

/// Rows of one worker in a file, by partition.
struct SpilledRows(Vec<Vec<Piece>>);

impl SpilledRows {
    /// Adds the rows of a partition to the groups of a worker.
    fn replay(
        &self,
        (partition, file): (usize, &SpillFile),
        plan: &GroupPlan,
        worker: &mut Worker,
        context: &WorkContext,
    ) -> SqlResult<()> {
        for &Piece { extent, sequence } in &self.0[partition] {
            context.check()?;
            let mut keys = read(file, extent)?;
            let arguments = keys.split_off(plan.key_columns);
            let block = sequence / storage::BLOCK_ROWS as u64;
            let rows = extent.rows as usize;
            worker.consume(plan, &Input { keys, arguments, rows, block }, NO_ROOM);
        }
        Ok(())
    }
}

/// Puts the groups that were found, and those of rows in a file, together: partition by partition. There are such rows.
pub(super) fn merge_spilled(
    plan: &GroupPlan,
    having: Option<&Having>,
    found: Vec<Groups>,
    (spilled, file): (Vec<SpillingRows>, &Arc<SpillFile>),
    team: &dyn Team,
) -> SqlResult<Vec<Part>> {
    let partitions = spilled.first().map_or(1, |it| it.partitions);
    let written = |it: SpillingRows| it.outgoing.finish().map(SpilledRows);
    let spilled: Vec<SpilledRows> = spilled.into_iter().map(written).collect::<SqlResult<_>>()?;
    let how = Partitioning::Spilled { partitions };
    let spreads: Vec<Spread> = found.iter().map(|it| Spread::new(it, how)).collect();
    let parts = collect_with(team, partitions, &|partition, context| {
        let mut groups = vec![merge(plan, &found, &spreads, how, partition)];
        let mut worker = Worker::new(plan);
        for rows in &spilled {
            rows.replay((partition, file), plan, &mut worker, context)?;
        }
        groups.extend(worker.finish());
        groups.retain(|it| it.len() > 0);
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let alone = Alone { context, workspace: context.workspace.clone() };
        let mut parts = merge_all(plan, having, groups, &alone)?;
        if context.workspace.account().is_over() {
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
