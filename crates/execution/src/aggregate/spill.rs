//! Groupings for which there is not enough memory: once a statement is over its memory, rows are no longer added to groups but
//! written to a file, cut into partitions by the hash of their keys. At the end each partition is grouped by itself,
//! together with the groups that were found before (hybrid hash aggregation).
//!
//! - Invariant: rows of one group are all in one partition, which is told by bits of the hash that merging and probing do not
//!   use.
//! - A partition whose groups do not fit is cut again: its rows that come after them are written once more, by further bits
//!   of the hash, and merged alike.
//! - Limit: after [`LEVELS`] cuts, or where a few groups are large by themselves (DISTINCT), what does not fit ends the
//!   statement (53200).

use memory::SpillFile;
use stdx::Bytes;
use stdx::sync::Arc;
use types::SqlResult;

use super::groups::Groups;
use super::having::Having;
use super::key::Keys;
use super::merge::{Cut, Partitioning, Spread, merge_all, merged_table};
use super::plan::GroupPlan;
use super::result::{Part, part_of};
use super::table::GroupTable;
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
/// Partitions that one is cut into again: few, as all that wait for one share a small buffer.
const PARTITIONS_AGAIN: usize = 16;
/// How often rows are cut: enough for 64 million partitions, far beyond what there are buffers for.
const LEVELS: u32 = 6;
/// The part of what a statement may hold that the groups of all partitions under way may take. Tables double when they grow,
/// and their columns are made beside them.
const GROUPS_PART: u64 = 8;
/// Bytes of groups that a partition, or a worker, may have in any case: less is not worth a buffer for cutting it.
pub(super) const GROUPS_BYTES_MIN: u64 = 64 << 10;
/// As many groups are not cut, as another cut may well leave them together.
const GROUPS_MIN: usize = 64;
/// What a worker on one of many partitions has for a dense array.
const NO_ROOM: Bytes = Bytes(0);

/// How many partitions rows are cut into when so many workers work on them: a power of two.
pub(super) fn partitions_for(workers: usize) -> usize {
    (workers * PARTITIONS_PER_WORKER).next_power_of_two().clamp(PARTITIONS_MIN, PARTITIONS_MAX)
}

/// Rows of one worker on their way to a file.
pub(super) struct SpillingRows {
    outgoing: Outgoing,
    cut: Cut,
    keys: Keys,
}

impl SpillingRows {
    /// None yet, to be written so, cut for the first time.
    pub(super) fn new(plan: &GroupPlan, partitions: usize, outgoing: Outgoing) -> Self {
        Self { outgoing, cut: Cut { partitions, level: 0 }, keys: plan.layout.no_keys() }
    }

    /// None yet, of a partition that is cut once more.
    fn again(plan: &GroupPlan, level: u32, file: &Arc<SpillFile>) -> Self {
        let cut = Cut { partitions: PARTITIONS_AGAIN, level };
        let outgoing = Outgoing::small(cut.partitions, file.clone());
        Self { outgoing, cut, keys: plan.layout.no_keys() }
    }

    /// Takes the rows of a batch, which began at a place of its source.
    pub(super) fn add(&mut self, plan: &GroupPlan, input: Input, sequence: u64) -> SqlResult<()> {
        plan.layout.encode(&input.keys, input.rows, &mut self.keys);
        let partitions = self.cut.of(&self.keys);
        let mut columns = input.keys;
        columns.extend(input.arguments);
        self.outgoing.add(Waiting { sequence, columns, partitions })
    }
}

/// What tasks that merge partitions share.
struct Merging<'a> {
    plan: &'a GroupPlan,
    having: Option<&'a Having>,
    file: &'a Arc<SpillFile>,
    /// Bytes that the groups of one partition may take.
    bytes: u64,
}

/// Puts the groups that were found, and those of rows in a file, together: partition by partition. There are such rows.
pub(super) fn merge_spilled(
    plan: &GroupPlan,
    having: Option<&Having>,
    found: Vec<Groups>,
    (spilled, file): (Vec<SpillingRows>, &Arc<SpillFile>),
    team: &dyn Team,
) -> SqlResult<Vec<Part>> {
    let at_once = GROUPS_PART * team.width().max(1) as u64;
    let bytes = team.workspace().account().allowance().0 / at_once;
    let merging = Merging { plan, having, file, bytes: bytes.max(GROUPS_BYTES_MIN) };
    let parts = merging.level(found, spilled, team)?;
    if parts.is_empty() { merge_all(plan, having, Vec::new(), team) } else { Ok(parts) }
}

impl Merging<'_> {
    /// Merges what was cut alike.
    fn level(
        &self,
        found: Vec<Groups>,
        spilled: Vec<SpillingRows>,
        team: &dyn Team,
    ) -> SqlResult<Vec<Part>> {
        let Some(cut) = spilled.first().map(|it| it.cut) else { return Ok(Vec::new()) };
        let written = |it: SpillingRows| it.outgoing.finish();
        let written: Vec<Vec<Vec<Piece>>> =
            spilled.into_iter().map(written).collect::<SqlResult<_>>()?;
        let how = Partitioning::Spilled(cut);
        let spreads: Vec<Spread> = found.iter().map(|it| Spread::new(it, how)).collect();
        let parts = collect_with(team, cut.partitions, &|partition, context| {
            let table = merged_table(self.plan, &found, &spreads, how, partition);
            let pieces = written.iter().flat_map(|it| &it[partition]);
            self.partition(table, pieces, cut.level, context)
        })?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Adds the rows of a partition to its groups, as many as fit; the rest is cut again.
    fn partition<'a>(
        &self,
        table: GroupTable,
        pieces: impl Iterator<Item = &'a Piece>,
        level: u32,
        context: &WorkContext,
    ) -> SqlResult<Vec<Part>> {
        let plan = self.plan;
        let mut worker = Worker::of(plan, table);
        let mut rest: Option<SpillingRows> = None;
        for &Piece { extent, sequence } in pieces {
            context.check()?;
            let mut keys = read(self.file, extent)?;
            let arguments = keys.split_off(plan.key_columns);
            let input = Input { keys, arguments, rows: extent.rows as usize, sequence };
            if rest.is_none() && (level + 1 == LEVELS || self.fits(&worker)) {
                worker.consume(plan, &input, NO_ROOM);
                continue;
            }
            let rest = rest.get_or_insert_with(|| SpillingRows::again(plan, level + 1, self.file));
            rest.add(plan, input, sequence)?;
        }
        let groups = worker.finish();
        if let Some(rest) = rest {
            let alone = Alone { context, workspace: context.workspace.clone() };
            return self.level(groups, vec![rest], &alone);
        }
        self.part(groups, context)
    }

    /// Whether the groups of a worker leave room for more. Few are kept together, as they are large by themselves.
    fn fits(&self, worker: &Worker) -> bool {
        worker.groups() <= GROUPS_MIN || worker.bytes(self.plan) <= self.bytes
    }

    /// The result of groups that are all of their partition. It is one part, as there are many partitions.
    fn part(&self, mut groups: Vec<Groups>, context: &WorkContext) -> SqlResult<Vec<Part>> {
        if groups.len() > 1 {
            let how = Partitioning::Spilled(Cut { partitions: 1, level: 0 });
            let spreads: Vec<Spread> = groups.iter().map(|it| Spread::new(it, how)).collect();
            groups = vec![merged_table(self.plan, &groups, &spreads, how, 0).finish()];
        }
        let Some(groups) = groups.pop() else { return Ok(Vec::new()) };
        let mut part = part_of(self.plan, self.having, &groups)?;
        if context.workspace.account().is_over() {
            part.spill(self.file)?;
        }
        Ok(vec![part])
    }
}
