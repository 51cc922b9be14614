//! Grouping under masks: keys of a byte become a bitmap of rows per group, and sums of formulas over packed columns are
//! added under them, chunk by chunk (docs/design/07-measured-costs.md, "one query in many styles").
//!
//! Key decision: all rows of a chunk are computed, and those that did not pass are in no mask. That pays as long as enough
//! of them pass ([`FewGroups::is_cheaper`]); else, and when there are more than a few groups, the rows come as batches.

use types::SqlResult;

use super::formulas::{Registers, StepValues, SumProgram};
use super::strategy::{PackedStrategy, Target};
use crate::PerSlot;
use crate::aggregate::key::{KeyColumn, KeyLayout, Keys};
use crate::aggregate::plan::GroupPlan;
use crate::aggregate::table::GroupTable;
use crate::aggregate::tuning::{BATCH_ROW_COST, MASK_KEY_BITS_MAX};
use crate::expression::Compiled;
use crate::leveled::{
    Addends, FEW_GROUPS, Instructions, PACKED_ROWS, add_by_masks, add_packed, key_masks, level,
    put_bytes,
};
use crate::scan::{PackedBlock, PackedColumn};

/// Few groups by keys of a byte.
pub(super) struct FewGroups {
    /// The place of each key column in the layout, and where it sits in a key.
    keys: Vec<(usize, KeyColumn)>,
    program: SumProgram,
    scratch: PerSlot<Scratch>,
}

/// What a worker needs for a chunk.
struct Scratch {
    registers: Registers,
    keys: Vec<u8>,
    codes: Vec<u8>,
    /// A bitmap of rows per group.
    masks: Vec<u64>,
}

/// Some rows of a block: the first one in the part, how many, a bit for each.
#[derive(Clone, Copy)]
struct Chunk<'a> {
    start: usize,
    rows: usize,
    words: &'a [u64],
}

/// Sums by accumulator and group.
type Sums = Vec<[i64; FEW_GROUPS]>;

impl FewGroups {
    /// The strategy, if keys are few bits of bare columns, and sums and counts are all that is asked.
    pub(super) fn new(
        plan: &GroupPlan,
        keys: &[Compiled],
        arguments: &[Compiled],
        slots: usize,
    ) -> Option<Self> {
        let level = level();
        let KeyLayout::Word(layout) = &plan.layout else { return None };
        if level == Instructions::Portable || layout.bits() > MASK_KEY_BITS_MAX {
            return None;
        }
        let key = |(key, column): (&Compiled, &KeyColumn)| {
            key.column().filter(|_| !key.shape().nullable).map(|it| (it, column.clone()))
        };
        let keys = keys.iter().zip(layout.columns()).map(key).collect::<Option<_>>()?;
        let program = SumProgram::new(level, arguments, &plan.accumulators)?;
        Some(Self { keys, program, scratch: PerSlot::new(slots) })
    }

    fn new_scratch(&self) -> Scratch {
        Scratch {
            registers: self.program.registers(),
            keys: vec![0; PACKED_ROWS],
            codes: vec![0; PACKED_ROWS],
            masks: vec![0; FEW_GROUPS * PACKED_ROWS / 64],
        }
    }

    /// Whether enough rows of a block passed, when there are so many groups.
    fn is_cheaper(&self, block: &PackedBlock<'_>, groups: usize) -> bool {
        let cost = self.keys.len() + self.program.len() + self.program.sums.len() * groups;
        block.count.saturating_mul(BATCH_ROW_COST) >= block.rows.saturating_mul(cost)
    }

    /// The columns of the keys, if all are packed in up to a byte.
    fn key_columns<'a>(&self, block: &'a PackedBlock<'_>) -> Option<Vec<PackedColumn<'a>>> {
        let fits = |it: &PackedColumn<'_>| it.column.bits() <= MASK_KEY_BITS_MAX;
        self.keys.iter().map(|it| block.column(it.0).filter(fits)).collect()
    }
}

impl PackedStrategy for FewGroups {
    fn pays(&self, _: bool) -> bool {
        true
    }

    fn add(&self, block: &PackedBlock<'_>, target: Target<'_>) -> SqlResult<bool> {
        let table = target.table;
        let mut known = known_keys(table);
        if known.len() > FEW_GROUPS || !self.is_cheaper(block, known.len().max(1)) {
            return Ok(false);
        }
        let (Some(keys), Some(columns)) = (self.key_columns(block), self.program.columns(block))
        else {
            return Ok(false);
        };
        let mut guard = self.scratch.lock(target.slot);
        let scratch = guard.get_or_insert_with(|| self.new_scratch());
        let mut sums: Sums = vec![[0; FEW_GROUPS]; self.program.sums.len()];
        for (chunk, words) in block.words.chunks(PACKED_ROWS / 64).enumerate() {
            if !bitpack::bitmap::any(words) {
                continue;
            }
            let (start, first) = (block.start + chunk * PACKED_ROWS, chunk * PACKED_ROWS);
            let rows = (block.rows - first).min(PACKED_ROWS);
            let chunk = Chunk { start, rows, words };
            if !self.mask(&keys, chunk, table, &mut known, scratch) {
                return Ok(false);
            }
            self.program.compute(&columns, start, rows, &mut scratch.registers);
            self.sum(&columns, rows, known.len(), scratch, &mut sums);
        }
        for (accumulator, sums) in table.accumulators.iter_mut().zip(&sums) {
            accumulator.integers().add(&sums[..known.len()], block.count);
        }
        Ok(true)
    }
}

impl FewGroups {
    /// Fills the masks of a chunk; keys that are new become groups. Tells whether there are still few.
    fn mask(
        &self,
        columns: &[PackedColumn<'_>],
        chunk: Chunk<'_>,
        table: &mut GroupTable,
        known: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> bool {
        let Chunk { start, rows, words } = chunk;
        let Scratch { keys, codes, masks, .. } = scratch;
        let (keys, codes) = (&mut keys[..rows], &mut codes[..rows]);
        keys.fill(0);
        for ((_, part), column) in self.keys.iter().zip(columns) {
            bitpack::unpack_u8(column.column.packed(), column.column.bits(), start, codes);
            // A key of eight bits is right whatever overflowed on the way to it.
            let (factor, base) = part.in_byte(column.base);
            if column.step != 1 {
                let step = column.step as u8;
                codes.iter_mut().for_each(|it| *it = it.wrapping_mul(step));
            }
            put_bytes(self.program.level, keys, codes, base, factor);
        }
        loop {
            let masks = &mut masks[..known.len() * words.len()];
            let Some(other) = key_masks(self.program.level, keys, known, words, masks) else {
                return true;
            };
            if known.len() == FEW_GROUPS {
                return false;
            }
            table.find_or_insert(&Keys::Word(vec![keys[other].into()]), &mut Vec::new());
            *known = known_keys(table);
        }
    }

    /// Adds the values of a chunk to the sums of the groups.
    fn sum(
        &self,
        columns: &[Option<PackedColumn<'_>>],
        rows: usize,
        groups: usize,
        scratch: &Scratch,
        sums: &mut Sums,
    ) {
        let level = self.program.level;
        let words = rows.div_ceil(64);
        let masks = &scratch.masks[..groups * words];
        let mut counts = [0; FEW_GROUPS];
        for (count, masks) in counts.iter_mut().zip(masks.chunks(words)) {
            *count = bitpack::bitmap::count(masks) as i64;
        }
        // Sums of 32 bits are added in one pass over the masks.
        let (mut narrow_sums, mut addends) = (Vec::new(), Vec::new());
        for (sum, step) in sums.iter_mut().zip(&self.program.sums) {
            let sum = &mut sum[..groups];
            let Some(step) = *step else {
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                continue;
            };
            match self.program.values(step, columns, rows, &scratch.registers) {
                StepValues::Codes { codes, step, base } => {
                    let mut of_codes = [0; FEW_GROUPS];
                    let into = &mut [&mut of_codes[..groups]];
                    add_packed(level, into, masks, rows, &[Addends::Bytes(codes)]);
                    for ((sum, codes), count) in sum.iter_mut().zip(of_codes).zip(counts) {
                        *sum += step * codes + base * count;
                    }
                }
                StepValues::Narrow { values, high } => {
                    narrow_sums.push(sum);
                    addends.push(Addends::Words { values, high });
                }
                StepValues::Wide(values) => add_by_masks(level, sum, masks, values),
            }
        }
        add_packed(level, &mut narrow_sums, masks, rows, &addends);
    }
}

/// The keys of the groups so far, which have a byte.
fn known_keys(table: &GroupTable) -> Vec<u8> {
    table.index.keys().words().iter().map(|&it| it as u8).collect()
}
