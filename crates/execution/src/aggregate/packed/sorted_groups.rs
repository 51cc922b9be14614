//! Grouping of packed rows by a key that rises through the whole table, or through a part that has groups of its own: rows
//! become runs, and all runs of a block but the first and the last are whole groups, of which only those are kept that the
//! condition on groups lets pass (Q18: 57 of 1.5 million; docs/design/07-measured-costs.md, "runs of groups").

use std::ops::Range;

use bitpack::bitmap;
use types::SqlResult;

use super::formulas::{Registers, SumProgram};
use super::run_buffer::Runs;
use super::strategy::{PackedStrategy, Target};
use crate::aggregate::groups::Groups;
use crate::aggregate::index::KeyOrder;
use crate::aggregate::key::{KeyColumn, KeyLayout, Keys};
use crate::aggregate::plan::GroupPlan;
use crate::aggregate::result::columns_of;
use crate::aggregate::table::GroupTable;
use crate::aggregate::tuning::MASK_KEY_BITS_MAX;
use crate::expression::Compiled;
use crate::leveled::{Instructions, PACKED_ROWS, level, run_starts, sums_before};
use crate::scan::{PackedBlock, PackedColumn};
use crate::{PerSlot, Representation};

/// Of how many rows of a block all but one have to pass: with fewer, groups as they come cost less than runs of all rows.
const MOST_PASS: usize = 4;

/// Rows of a block, and which of them passed; `None` for all.
struct Chunk<'a> {
    rows: usize,
    words: Option<&'a [u64]>,
}

/// Groups by a sorted number.
pub(super) struct SortedGroups {
    /// The place of the key in the layout.
    key: usize,
    key_column: KeyColumn,
    program: SumProgram,
    scratch: PerSlot<(Registers, Runs)>,
}

impl SortedGroups {
    /// The strategy, if the key is a number, and sums of 32 bits a block and counts are all that is asked.
    pub(super) fn new(
        plan: &GroupPlan,
        keys: &[Compiled],
        arguments: &[Compiled],
        slots: usize,
    ) -> Option<Self> {
        let (KeyLayout::Word(layout), [key]) = (&plan.layout, keys) else { return None };
        let is_number = matches!(key.shape().representation, Representation::I64);
        let level = level();
        if level != Instructions::Avx512 || layout.bits() <= MASK_KEY_BITS_MAX || !is_number {
            return None;
        }
        let key_column = layout.columns()[0].clone();
        let key = key.column().filter(|_| !key.shape().nullable)?;
        let most = i64::from(u32::MAX) / storage::BLOCK_ROWS as i64;
        let program = SumProgram::new(level, arguments, &plan.accumulators)?.in_32_bits(most)?;
        Some(Self { key, key_column, program, scratch: PerSlot::new(slots) })
    }
}

impl PackedStrategy for SortedGroups {
    /// Where most groups are dropped before they are kept.
    fn pays(&self, has_having: bool) -> bool {
        has_having
    }

    fn add(&self, block: &PackedBlock<'_>, target: Target<'_>) -> SqlResult<bool> {
        let Target { plan, having, table, slot, of_part } = target;
        let (Some(key), Some(columns)) = (block.column(self.key), self.program.columns(block))
        else {
            return Ok(false);
        };
        let most = block.count * MOST_PASS >= block.rows * (MOST_PASS - 1);
        let rises = (block.whole || of_part) && block.is_sorted(self.key);
        let having = having.filter(|_| most && key.step == 1 && rises);
        // Of groups that go on in deltas nothing can be said yet.
        let (Some(having), Some(later)) = (having, block.later(self.key)) else {
            return Ok(false);
        };
        let mut guard = self.scratch.lock(slot);
        let new = || (self.program.registers(), Runs::new(self.program.sums.len()));
        let (registers, runs) = guard.get_or_insert_with(new);
        self.find_all_runs(block, key, &columns, registers, runs);
        let of = |range| self.groups_of(plan, block.count, runs, range, key.base);
        // The first and the last run may go on in other blocks.
        let last = runs.count - 1;
        let inside = of(1..last.max(1));
        let mut kept = having.select(plan, inside.len(), columns_of(plan, &inside)?)?.1;
        let value = |place: &u32| key.base.wrapping_add(runs.keys[1 + *place as usize].into());
        let go_on = (0..inside.len() as u32).filter(|it| later.contains(value(it)));
        kept.extend(go_on);
        kept.sort_unstable();
        kept.dedup();
        let mut found = vec![(of(0..1), vec![0]), (inside, kept)];
        if last > 0 {
            found.push((of(last..last + 1), vec![0]));
        }
        Ok(add_groups(table, &found, block.sequence / storage::BLOCK_ROWS as u64))
    }
}

impl SortedGroups {
    /// The runs of a block, instead of those that are there.
    fn find_all_runs(
        &self,
        block: &PackedBlock<'_>,
        key: PackedColumn<'_>,
        columns: &[Option<PackedColumn<'_>>],
        registers: &mut Registers,
        runs: &mut Runs,
    ) {
        runs.clear(block.rows);
        let mut passed = 0;
        for first in (0..block.rows).step_by(PACKED_ROWS) {
            let (start, rows) = (block.start + first, (block.rows - first).min(PACKED_ROWS));
            self.program.compute(columns, start, rows, registers);
            let codes = &mut runs.codes[..rows];
            bitpack::unpack_u32(key.column.packed(), key.column.bits(), start, codes);
            let words = &block.words[first / 64..][..bitmap::words_for(rows)];
            let chunk = Chunk { rows, words: (block.count < block.rows).then_some(words) };
            passed += self.find_runs(passed, &chunk, registers, runs);
        }
    }

    /// Appends the runs that begin in a chunk, before which so many rows passed; gives how many passed in it.
    fn find_runs(
        &self,
        first: usize,
        chunk: &Chunk<'_>,
        registers: &Registers,
        runs: &mut Runs,
    ) -> usize {
        let Runs { codes, chosen, starts, count, keys, rows: places, before, totals } = runs;
        let rows = match chunk.words {
            None => chunk.rows,
            Some(words) => {
                let rows = bitpack::compress_u32(&codes[..chunk.rows], words, chosen);
                codes[..rows].copy_from_slice(&chosen[..rows]);
                rows
            }
        };
        if rows == 0 {
            return 0;
        }
        let (codes, starts) = (&codes[..rows], &mut starts[..rows.div_ceil(64)]);
        let last = count.checked_sub(1).map(|it| keys[it]);
        run_starts(self.program.level, codes, last, starts);
        let more = bitpack::compress_u32(codes, starts, &mut keys[*count..]);
        if self.program.sums.contains(&None) {
            let places = &mut places[*count..];
            bitmap::positions(starts, rows, places);
            places[..more].iter_mut().for_each(|it| *it += first as u32);
        }
        for ((step, before), total) in self.program.sums.iter().zip(before).zip(totals) {
            let Some(step) = *step else { continue };
            let mut values = self.program.narrow(step, chunk.rows, registers);
            if let Some(words) = chunk.words {
                bitpack::compress_u32(values, words, chosen);
                values = &chosen[..rows];
            }
            sums_before(self.program.level, values, starts, total, &mut before[*count..]);
        }
        *count += more;
        rows
    }

    /// Some runs of a block of so many rows as groups; `base` is the value of code 0.
    fn groups_of(
        &self,
        plan: &GroupPlan,
        rows: usize,
        runs: &Runs,
        range: Range<usize>,
        base: i64,
    ) -> Groups {
        let key = |code: &u32| self.key_column.key_of(base.wrapping_add(i64::from(*code)));
        let keys = Keys::Word(runs.keys[range.clone()].iter().map(key).collect());
        let mut accumulators = plan.new_accumulators();
        for (place, accumulator) in accumulators.iter_mut().enumerate() {
            let sums = match self.program.sums[place] {
                Some(_) => runs.sums(place, range.clone()),
                None => runs.counts(rows, range.clone()),
            };
            accumulator.integers().set(sums, rows);
        }
        Groups {
            keys,
            order: KeyOrder::Repeated,
            partitions: None,
            accumulators,
            distinct: Vec::new(),
        }
    }
}

/// Adds some of each of some groups, whose keys rise, to a table. `false` if the table should be flushed first.
fn add_groups(table: &mut GroupTable, found: &[(Groups, Vec<u32>)], block: u64) -> bool {
    let mut keys = Vec::new();
    for (groups, places) in found {
        let more = groups.keys.words();
        keys.extend(places.iter().map(|&it| more[it as usize]));
    }
    let keys = Keys::Word(keys);
    if !table.index.accepts(&keys, block) {
        return false;
    }
    let mut ids = Vec::new();
    table.find_or_insert(&keys, &mut ids);
    let mut to = &ids[..];
    for (groups, places) in found {
        let (these, rest) = to.split_at(places.len());
        table.merge(these, groups, places);
        to = rest;
    }
    true
}
