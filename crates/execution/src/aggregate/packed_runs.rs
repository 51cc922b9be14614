//! Grouping of packed rows by a key that rises through the whole table: rows become runs, and all runs of a block but the
//! first and the last are whole groups, of which only those are kept that the condition on groups lets pass (Q18: 57 of
//! 1.5 million; docs/design/07-measured-costs.md, "runs of groups").

use std::ops::Range;

use bitpack::bitmap;
use types::SqlResult;

use super::group_plan::GroupPlan;
use super::groups::Groups;
use super::having::Having;
use super::key::Keys;
use super::packed::{PackedPlan, Registers};
use super::result::columns_of;
use super::run_buffer::Runs;
use super::table::GroupTable;
use crate::leveled::{PACKED_ROWS, run_starts, sums_before};
use crate::scan::PackedBlock;

impl PackedPlan {
    /// Adds the groups of a block. Gives `false` where its rows should come as batches instead.
    pub(super) fn add_runs(
        &self,
        block: &PackedBlock<'_>,
        (plan, having): (&GroupPlan, Option<&Having>),
        groups: &mut Groups,
        registers: &mut Registers,
    ) -> SqlResult<bool> {
        let (place, part) = &self.keys[0];
        let (Some(key), Some(columns)) = (block.column(*place), self.columns(block)) else {
            return Ok(false);
        };
        let all = block.count == block.rows;
        let Some(having) = having.filter(|_| all && key.step == 1 && block.is_sorted(*place))
        else {
            return Ok(false);
        };
        registers.runs.clear(block.rows);
        for first in (0..block.rows).step_by(PACKED_ROWS) {
            let (start, rows) = (block.start + first, (block.rows - first).min(PACKED_ROWS));
            self.compute(&columns, start, rows, registers);
            let mut runs = std::mem::take(&mut registers.runs);
            let codes = &mut runs.codes[..rows];
            bitpack::unpack_u32(key.column.packed(), key.column.bits(), start, codes);
            self.find_runs(first, rows, registers, &mut runs);
            registers.runs = runs;
        }
        let runs = &registers.runs;
        let key_of = |code: u32| part.key_of(key.base.wrapping_add(i64::from(code)));
        let of = |range| self.groups_of(plan, block.rows, runs, range, key_of);
        // The first and the last run may go on in other blocks.
        let last = runs.count - 1;
        let inside = of(1..last.max(1));
        let kept = having.select(plan, inside.table.len(), columns_of(plan, &inside)?)?.1;
        let mut found = vec![(of(0..1), vec![0]), (inside, kept)];
        if last > 0 {
            found.push((of(last..last + 1), vec![0]));
        }
        Ok(add_groups(groups, &found, block.sequence / storage::BLOCK_ROWS as u64))
    }

    /// Appends the runs that begin in a chunk.
    fn find_runs(&self, first: usize, rows: usize, registers: &Registers, runs: &mut Runs) {
        let (codes, starts) = (&runs.codes[..rows], &mut runs.starts[..rows.div_ceil(64)]);
        let last = runs.count.checked_sub(1).map(|it| runs.keys[it]);
        run_starts(self.level, codes, last, starts);
        let count = bitpack::compress_u32(codes, starts, &mut runs.keys[runs.count..]);
        if self.sums.contains(&None) {
            let places = &mut runs.rows[runs.count..];
            bitmap::positions(starts, rows, places);
            places[..count].iter_mut().for_each(|it| *it += first as u32);
        }
        let sums = self.sums.iter().zip(&mut runs.before).zip(&mut runs.totals);
        for ((step, before), total) in sums {
            if let Some(step) = *step {
                let values = self.values(step, rows, registers);
                sums_before(self.level, values, starts, total, &mut before[runs.count..]);
            }
        }
        runs.count += count;
    }

    /// Some runs of a block of so many rows as groups.
    fn groups_of(
        &self,
        plan: &GroupPlan,
        rows: usize,
        runs: &Runs,
        range: Range<usize>,
        key_of: impl Fn(u32) -> u64,
    ) -> Groups {
        let keys = runs.keys[range.clone()].iter().map(|&it| key_of(it)).collect();
        let (mut accumulators, distinct) = plan.groups_without_table();
        // What a run adds is what was added before the next one, less what was before it.
        let differences = |before: &[u32], total: u32| -> Vec<i64> {
            if range.is_empty() {
                return Vec::new();
            }
            let next = &before[range.start + 1..(range.end + 1).min(runs.count)];
            let pairs = before[range.clone()].iter().zip(next);
            let mut sums = Vec::with_capacity(range.len());
            sums.extend(pairs.map(|(it, next)| i64::from(next.wrapping_sub(*it))));
            if range.end == runs.count {
                sums.push(i64::from(total.wrapping_sub(before[range.end - 1])));
            }
            sums
        };
        for (place, accumulator) in accumulators.iter_mut().enumerate() {
            let sums = match self.sums[place] {
                Some(_) => differences(&runs.before[place], runs.totals[place]),
                None => differences(&runs.rows, rows as u32),
            };
            accumulator.set_sums(sums, rows);
        }
        Groups { table: GroupTable::of_keys(Keys::Packed(keys)), accumulators, distinct }
    }
}

/// Adds some of each of some groups, whose keys rise, to those of a worker. `false` if its table should be set aside first.
fn add_groups(into: &mut Groups, found: &[(Groups, Vec<u32>)], block: u64) -> bool {
    let mut keys = Vec::new();
    for (groups, places) in found {
        if let Keys::Packed(more) = groups.table.keys() {
            keys.extend(places.iter().map(|&it| more[it as usize]));
        }
    }
    let (count, keys) = (keys.len(), Keys::Packed(keys));
    if !into.table.accepts(&keys, block) {
        return false;
    }
    let mut to = Vec::new();
    into.table.find_or_insert(&keys, count, &mut to);
    into.resize();
    let mut to = &to[..];
    for (groups, places) in found {
        let (these, rest) = to.split_at(places.len());
        for (into, more) in into.accumulators.iter_mut().zip(&groups.accumulators) {
            into.merge(these, more, places);
        }
        to = rest;
    }
    true
}
