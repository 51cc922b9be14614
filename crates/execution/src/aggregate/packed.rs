//! Grouping of packed rows: keys of a byte become masks, and sums of formulas over packed columns are added under them,
//! chunk by chunk, without a batch, a list of rows, or 64 bits where 32 do (docs/design/07-measured-costs.md, "one
//! query in many styles").
//!
//! Key decision: all rows of a chunk are computed, and those that did not pass are in no mask. That pays as long as enough
//! of them pass ([`PackedPlan::pays`]); else, and when there are more than a few groups, the rows come as batches.

use plan::BinaryOperator;

use super::feed::{Feed, FeedKind};
use super::groups::Groups;
use super::key::{KeyLayout, Keys, PackedPart};
use super::run_buffer::Runs;
use crate::Representation;
use crate::expression::{Compiled, Formula, FormulaKind};
use crate::leveled::{
    Addends, FEW_GROUPS, Instructions, Level, PACKED_ROWS, add_by_masks, add_packed, key_masks,
    put_bytes, scale, scale_u32, write1, write2,
};
use crate::scan::{PackedBlock, PackedColumn};

/// What is computed of each chunk of packed rows.
pub(super) struct PackedPlan {
    pub(super) level: Level,
    /// The column of each part of the key, and where it sits in it.
    pub(super) keys: Vec<(usize, PackedPart)>,
    /// Whether rows of one key are expected to follow each other, because keys do not fit a byte.
    pub(super) in_runs: bool,
    steps: Vec<Step>,
    /// For each feed the step whose values it sums; `None` to count.
    pub(super) sums: Vec<Option<usize>>,
}

/// Fills a register, a value for each row of a chunk.
struct Step {
    formula: Formula,
    /// Whether the values are held in 32 bits.
    narrow: bool,
    /// Whether another step reads them; else they are only summed.
    read: bool,
    work: Work,
}

enum Work {
    Column(usize),
    Binary(BinaryOperator, Operand, Operand),
}

#[derive(Clone, Copy)]
enum Operand {
    Step(usize),
    Constant(i64),
}

/// The registers of a worker, and what it needs beside them.
pub(super) struct Registers {
    /// A chunk for each step; used where it is narrow.
    narrow: Vec<u32>,
    /// As `narrow`, for the others.
    wide: Vec<i64>,
    /// As `narrow`: the codes of columns of up to a byte.
    bytes: Vec<u8>,
    keys: Vec<u8>,
    codes: Vec<u8>,
    masks: Vec<u64>,
    /// What groupings by runs need.
    pub(super) runs: Runs,
}

/// Some rows of a block: the first one in the part, how many, a bit for each.
#[derive(Clone, Copy)]
struct Chunk<'a> {
    start: usize,
    rows: usize,
    words: &'a [u64],
}

/// Sums by feed and group.
type Sums = Vec<[i64; FEW_GROUPS]>;

/// Bits of keys that this can group by.
const KEY_BITS_MAX: u32 = BYTE;
/// Bits of a code that a byte holds.
const BYTE: u32 = 8;
/// Greatest magnitude of a value whose sum over a block of rows is still far from leaving 64 bits.
const MAGNITUDE_MAX: u64 = 1 << 44;
/// A row that passed costs as much by way of a batch as so many columns and sums here.
const ROW_BY_BATCH: usize = 128;

impl PackedPlan {
    /// The plan, if keys are few bits of bare columns and all that is fed are counts and sums of formulas.
    pub(super) fn of(
        level: Level,
        keys: &[Compiled],
        layout: &KeyLayout,
        arguments: &[Compiled],
        feeds: &[Feed],
    ) -> Option<Self> {
        let KeyLayout::Packed { parts, bits } = layout else { return None };
        let in_runs = *bits > KEY_BITS_MAX;
        let is_number = |it: &Compiled| matches!(it.shape().representation, Representation::I64);
        let runs = level == Instructions::Avx512 && matches!(keys, [key] if is_number(key));
        if level == Instructions::Portable || in_runs && !runs {
            return None;
        }
        let key = |(key, part): (&Compiled, &PackedPart)| {
            key.column().filter(|_| !key.shape().nullable).map(|it| (it, part.clone()))
        };
        let keys = keys.iter().zip(parts).map(key).collect::<Option<_>>()?;
        let mut plan = Self { level, keys, in_runs, steps: Vec::new(), sums: Vec::new() };
        for feed in feeds {
            let sum = match (feed.kind, feed.argument, feed.filter) {
                (FeedKind::Count, None, None) => None,
                (FeedKind::Sum, Some(argument), None) => {
                    let formula = arguments[argument].formula()?;
                    let magnitude = formula.low.unsigned_abs().max(formula.high.unsigned_abs());
                    match plan.operand(&formula)? {
                        Operand::Step(step) if magnitude <= MAGNITUDE_MAX => Some(step),
                        _ => return None,
                    }
                }
                _ => return None,
            };
            plan.sums.push(sum);
        }
        if in_runs {
            // Sums of a block stay in lanes of 32 bits there.
            let most = i64::from(u32::MAX) / storage::BLOCK_ROWS as i64;
            for &step in plan.sums.iter().flatten() {
                plan.steps[step].read = true;
                if !plan.steps[step].narrow || plan.steps[step].formula.high > most {
                    return None;
                }
            }
        }
        Some(plan)
    }

    /// The operand that a formula is, with the steps that compute it; equal formulas are computed once.
    fn operand(&mut self, formula: &Formula) -> Option<Operand> {
        if let Some(known) = self.steps.iter().position(|it| it.formula == *formula) {
            return Some(Operand::Step(known));
        }
        let fits = formula.low >= 0 && formula.high <= i64::from(u32::MAX);
        let (work, narrow) = match &formula.kind {
            FormulaKind::Constant => return Some(Operand::Constant(formula.low)),
            FormulaKind::Column(column) => (Work::Column(*column), fits),
            FormulaKind::Binary(operator, left, right) => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let is_narrow = |it: Operand| match it {
                    Operand::Step(step) => self.steps[step].narrow,
                    Operand::Constant(_) => true,
                };
                let narrow = fits && is_narrow(left) && is_narrow(right);
                (Work::Binary(*operator, left, right), narrow)
            }
        };
        if let Work::Binary(_, left, right) = &work {
            for operand in [left, right] {
                if let Operand::Step(step) = operand {
                    self.steps[*step].read = true;
                }
            }
        }
        self.steps.push(Step { formula: formula.clone(), narrow, read: false, work });
        Some(Operand::Step(self.steps.len() - 1))
    }

    /// Room for the values of a chunk.
    pub(super) fn registers(&self) -> Registers {
        let any = |narrow| self.steps.iter().any(|it| it.narrow == narrow);
        let room = |narrow| if any(narrow) { self.steps.len() * PACKED_ROWS } else { 0 };
        Registers {
            narrow: vec![0; room(true)],
            wide: vec![0; room(false)],
            bytes: vec![0; self.steps.len() * PACKED_ROWS],
            keys: vec![0; PACKED_ROWS],
            codes: vec![0; PACKED_ROWS],
            masks: vec![0; FEW_GROUPS * PACKED_ROWS / 64],
            runs: if self.in_runs { Runs::new(self.sums.len()) } else { Runs::default() },
        }
    }

    /// Whether enough rows of a block passed, when there are so many groups.
    fn pays(&self, block: &PackedBlock<'_>, groups: usize) -> bool {
        let cost = self.keys.len() + self.steps.len() + self.sums.len() * groups;
        block.count.saturating_mul(ROW_BY_BATCH) >= block.rows.saturating_mul(cost)
    }

    /// Adds the rows of a block to groups. Gives `false` where they should come as batches instead; then at most keys of
    /// these rows were added.
    pub(super) fn add(
        &self,
        block: &PackedBlock<'_>,
        groups: &mut Groups,
        registers: &mut Registers,
    ) -> bool {
        let mut known = known_keys(groups);
        if known.len() > FEW_GROUPS || !self.pays(block, known.len().max(1)) {
            return false;
        }
        let keys = self.keys.iter().map(|it| block.column(it.0)).collect::<Option<Vec<_>>>();
        let (Some(keys), Some(columns)) = (keys, self.columns(block)) else { return false };
        if keys.iter().any(|it| it.column.bits() > KEY_BITS_MAX) {
            return false;
        }
        let mut sums: Sums = vec![[0; FEW_GROUPS]; self.sums.len()];
        for (chunk, words) in block.words.chunks(PACKED_ROWS / 64).enumerate() {
            if !bitpack::bitmap::any(words) {
                continue;
            }
            let (start, first) = (block.start + chunk * PACKED_ROWS, chunk * PACKED_ROWS);
            let rows = (block.rows - first).min(PACKED_ROWS);
            let chunk = Chunk { start, rows, words };
            if !self.mask(&keys, chunk, groups, &mut known, registers) {
                return false;
            }
            self.compute(&columns, start, rows, registers);
            self.sum(&columns, rows, known.len(), registers, &mut sums);
        }
        groups.resize();
        for (accumulator, sums) in groups.accumulators.iter_mut().zip(&sums) {
            accumulator.add_sums(&sums[..known.len()], block.count);
        }
        true
    }

    /// The columns that steps fetch; `None` if one of them is not packed.
    pub(super) fn columns<'a>(
        &self,
        block: &'a PackedBlock<'_>,
    ) -> Option<Vec<Option<PackedColumn<'a>>>> {
        let column = |step: &Step| match step.work {
            Work::Column(place) => block.column(place).map(Some),
            Work::Binary(..) => Some(None),
        };
        self.steps.iter().map(column).collect()
    }

    /// The values of a step, after [`PackedPlan::compute`]; it is narrow.
    pub(super) fn values<'a>(&self, step: usize, rows: usize, from: &'a Registers) -> &'a [u32] {
        &from.narrow[step * PACKED_ROWS..][..rows]
    }

    /// Fills the masks of a chunk; keys that are new become groups. Tells whether there are still few.
    fn mask(
        &self,
        columns: &[PackedColumn<'_>],
        chunk: Chunk<'_>,
        groups: &mut Groups,
        known: &mut Vec<u8>,
        registers: &mut Registers,
    ) -> bool {
        let Chunk { start, rows, words } = chunk;
        let Registers { keys, codes, masks, .. } = registers;
        let (keys, codes) = (&mut keys[..rows], &mut codes[..rows]);
        keys.fill(0);
        for ((_, part), column) in self.keys.iter().zip(columns) {
            let (packed, bits) = (column.column.packed(), column.column.bits());
            bitpack::unpack_u8(packed, bits, start, codes);
            // A key of eight bits is right whatever overflowed on the way to it.
            let (factor, base) = part.byte(column.base);
            if column.step == 1 {
                put_bytes(self.level, keys, codes, base, factor);
            } else {
                let step = column.step as u8;
                codes.iter_mut().for_each(|it| *it = it.wrapping_mul(step));
                put_bytes(self.level, keys, codes, base, factor);
            }
        }
        loop {
            let masks = &mut masks[..known.len() * words.len()];
            let Some(other) = key_masks(self.level, keys, known, words, masks) else {
                return true;
            };
            if known.len() == FEW_GROUPS {
                return false;
            }
            let key = Keys::Packed(vec![keys[other].into()]);
            groups.table.find_or_insert(&key, 1, &mut Vec::new());
            *known = known_keys(groups);
        }
    }

    /// Runs the steps over a chunk.
    pub(super) fn compute(
        &self,
        columns: &[Option<PackedColumn<'_>>],
        start: usize,
        rows: usize,
        registers: &mut Registers,
    ) {
        for (place, (step, column)) in self.steps.iter().zip(columns).enumerate() {
            let (narrow, out) = split(&mut registers.narrow, place, rows);
            let (wide, out_wide) = split(&mut registers.wide, place, rows);
            match (&step.work, column) {
                (Work::Column(_), Some(column)) => {
                    let bytes = &mut registers.bytes[place * PACKED_ROWS..][..rows];
                    self.fetch(step, column, start, bytes, out, out_wide);
                }
                (Work::Binary(operator, left, right), _) => {
                    let values = |it: Operand| match it {
                        Operand::Constant(value) => Values::Constant(value),
                        Operand::Step(at) if self.steps[at].narrow => {
                            Values::Narrow(&narrow[at * PACKED_ROWS..][..rows])
                        }
                        Operand::Step(at) => Values::Wide(&wide[at * PACKED_ROWS..][..rows]),
                    };
                    let (left, right) = (values(*left), values(*right));
                    match step.narrow {
                        true => binary_u32(self.level, *operator, left, right, out),
                        false => binary_i64(self.level, *operator, left, right, out_wide),
                    }
                }
                _ => unreachable!("invariant: a step of a column has its column"),
            }
        }
    }

    /// Unpacks a chunk of a column.
    fn fetch(
        &self,
        step: &Step,
        column: &PackedColumn<'_>,
        start: usize,
        bytes: &mut [u8],
        narrow: &mut [u32],
        wide: &mut [i64],
    ) {
        let PackedColumn { column, base, step: by } = *column;
        let (packed, bits) = (column.packed(), column.bits());
        let (by32, base32) = (by as u32, base as u32);
        if bits <= BYTE {
            bitpack::unpack_u8(packed, bits, start, bytes);
            if step.read && step.narrow {
                let value = |it: u8| u32::from(it).wrapping_mul(by32).wrapping_add(base32);
                write1(self.level, bytes, narrow, value);
            } else if step.read {
                let value = |it: u8| i64::from(it).wrapping_mul(by).wrapping_add(base);
                write1(self.level, bytes, wide, value);
            }
        } else if step.narrow {
            bitpack::unpack_u32(packed, bits, start, narrow);
            scale_u32(self.level, narrow, by32, base32);
        } else {
            bitpack::unpack_i64_add(packed, bits, start, 0, wide);
            scale(self.level, wide, by, base);
        }
    }

    fn sum(
        &self,
        columns: &[Option<PackedColumn<'_>>],
        rows: usize,
        groups: usize,
        registers: &Registers,
        sums: &mut Sums,
    ) {
        let words = rows.div_ceil(64);
        let masks = &registers.masks[..groups * words];
        let mut counts = [0; FEW_GROUPS];
        for (count, masks) in counts.iter_mut().zip(masks.chunks(words)) {
            *count = bitpack::bitmap::count(masks) as i64;
        }
        let (mut places, mut addends) = (Vec::new(), Vec::new());
        for (sum, step) in sums.iter_mut().zip(&self.sums) {
            let sum = &mut sum[..groups];
            let Some(at) = *step else {
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                continue;
            };
            let first = at * PACKED_ROWS;
            match &columns[at] {
                Some(column) if column.column.bits() <= BYTE => {
                    let mut codes = [0; FEW_GROUPS];
                    let bytes = Addends::Bytes(&registers.bytes[first..][..rows]);
                    add_packed(self.level, &mut [&mut codes[..groups]], masks, rows, &[bytes]);
                    for ((sum, codes), count) in sum.iter_mut().zip(codes).zip(counts) {
                        *sum += column.step * codes + column.base * count;
                    }
                }
                _ if self.steps[at].narrow => {
                    let values = &registers.narrow[first..][..rows];
                    let high = self.steps[at].formula.high as u32;
                    places.push(sum);
                    addends.push(Addends::Words { values, high });
                }
                _ => add_by_masks(self.level, sum, masks, &registers.wide[first..][..rows]),
            }
        }
        add_packed(self.level, &mut places, masks, rows, &addends);
    }
}

/// The keys of the groups so far, which have a byte.
fn known_keys(groups: &Groups) -> Vec<u8> {
    match groups.table.keys() {
        Keys::Packed(keys) => keys.iter().map(|&it| it as u8).collect(),
        _ => unreachable!("invariant: keys of a byte are packed"),
    }
}

/// The registers before one, and the first rows of it; nothing where there are none of the kind.
fn split<T>(registers: &mut [T], place: usize, rows: usize) -> (&[T], &mut [T]) {
    if registers.is_empty() {
        return (&[], &mut []);
    }
    let (before, rest) = registers.split_at_mut(place * PACKED_ROWS);
    (before, &mut rest[..rows])
}

/// An operand of a chunk.
#[derive(Clone, Copy)]
enum Values<'a> {
    Narrow(&'a [u32]),
    Wide(&'a [i64]),
    Constant(i64),
}

/// In 32 bits: what overflows on the way does not show, because the result fits.
fn binary_u32(
    level: Level,
    operator: BinaryOperator,
    left: Values<'_>,
    right: Values<'_>,
    out: &mut [u32],
) {
    use BinaryOperator::{Add, Subtract};
    use Values::{Constant, Narrow};
    match (left, right) {
        (Narrow(a), Narrow(b)) => match operator {
            Add => write2(level, a, b, out, u32::wrapping_add),
            Subtract => write2(level, a, b, out, u32::wrapping_sub),
            _ => write2(level, a, b, out, u32::wrapping_mul),
        },
        (Narrow(a), Constant(b)) => match (operator, b as u32) {
            (Add, b) => write1(level, a, out, |a| a.wrapping_add(b)),
            (Subtract, b) => write1(level, a, out, |a| a.wrapping_sub(b)),
            (_, b) => write1(level, a, out, |a| a.wrapping_mul(b)),
        },
        (Constant(a), Narrow(b)) => match (operator, a as u32) {
            (Add, a) => write1(level, b, out, |b| a.wrapping_add(b)),
            (Subtract, a) => write1(level, b, out, |b| a.wrapping_sub(b)),
            (_, a) => write1(level, b, out, |b| a.wrapping_mul(b)),
        },
        _ => unreachable!("invariant: what is narrow comes of what is narrow"),
    }
}

fn binary_i64(
    level: Level,
    operator: BinaryOperator,
    left: Values<'_>,
    right: Values<'_>,
    out: &mut [i64],
) {
    use Values::{Constant, Narrow, Wide};
    match (left, right) {
        (Narrow(a), Narrow(b)) => of_two(level, operator, a, b, out),
        (Narrow(a), Wide(b)) => of_two(level, operator, a, b, out),
        (Wide(a), Narrow(b)) => of_two(level, operator, a, b, out),
        (Wide(a), Wide(b)) => of_two(level, operator, a, b, out),
        (Narrow(a), Constant(b)) => of_one(level, operator, a, |a, f| f(a, b), out),
        (Wide(a), Constant(b)) => of_one(level, operator, a, |a, f| f(a, b), out),
        (Constant(a), Narrow(b)) => of_one(level, operator, b, |b, f| f(a, b), out),
        (Constant(a), Wide(b)) => of_one(level, operator, b, |b, f| f(a, b), out),
        (Constant(_), Constant(_)) => unreachable!("invariant: constants are folded"),
    }
}

fn of_two<A: Copy + Into<i64>, B: Copy + Into<i64>>(
    level: Level,
    operator: BinaryOperator,
    left: &[A],
    right: &[B],
    out: &mut [i64],
) {
    match operator {
        BinaryOperator::Add => {
            write2(level, left, right, out, |a: A, b: B| a.into().wrapping_add(b.into()));
        }
        BinaryOperator::Subtract => {
            write2(level, left, right, out, |a: A, b: B| a.into().wrapping_sub(b.into()));
        }
        _ => write2(level, left, right, out, |a: A, b: B| a.into().wrapping_mul(b.into())),
    }
}

/// `with` puts the other operand, a constant, on its side.
fn of_one<A: Copy + Into<i64>>(
    level: Level,
    operator: BinaryOperator,
    values: &[A],
    with: impl Fn(i64, fn(i64, i64) -> i64) -> i64,
    out: &mut [i64],
) {
    match operator {
        BinaryOperator::Add => write1(level, values, out, |it| with(it.into(), i64::wrapping_add)),
        BinaryOperator::Subtract => {
            write1(level, values, out, |it| with(it.into(), i64::wrapping_sub));
        }
        _ => write1(level, values, out, |it| with(it.into(), i64::wrapping_mul)),
    }
}
