//! Aggregates over all rows as one group: counts, sums, least and greatest values of packed columns, from their codes. A
//! sum of values is a sum of codes times a step plus as many bases, and a block that passed as a whole has its least and
//! greatest code in its zone (docs/design/04-execution.md, "structures of an aggregation").
//!
//! Key decision: each column is looked at once, whatever is computed of it: sums of `a`, of `a + 1` and of `3 * a` are one.

use bitpack::bitmap;
use plan::BinaryOperator;
use stdx::sync::Arc;
use storage::{BLOCK_ROWS, Encoding};

use super::feed::{Feed, FeedKind};
use super::group_rows::GroupRows;
use super::groups::Groups;
use super::key::Keys;
use super::pick::Rule;
use crate::expression::{Compiled, Formula, FormulaKind};
use crate::leveled::{extent, level, sum_bytes, sum_codes, sum_words};
use crate::scan::PackedBlock;
use crate::scan::decode::{is_sparse, value_of_code};
use crate::{Values, Vector};

/// What is computed of each block.
pub(super) struct WholePlan {
    columns: Vec<Wanted>,
    /// By feed.
    outputs: Vec<Output>,
}

/// What is wanted of a column, by its place in the layout.
struct Wanted {
    place: usize,
    sum: bool,
    extent: bool,
}

/// What becomes of what was found in the columns.
enum Output {
    Count,
    /// The sum of `factor` times the column plus `offset`.
    Sum {
        column: usize,
        factor: i64,
        offset: i64,
    },
    Pick {
        column: usize,
        rule: Rule,
    },
}

/// What was found in a column of a block.
#[derive(Clone, Copy)]
struct Found {
    /// Of the values.
    sum: i128,
    /// Least and greatest code, or integer of a raw column.
    extent: (i64, i64),
}

/// Room for the rows of a step.
pub(super) struct Room {
    bytes: Vec<u8>,
    codes: Vec<u32>,
    words: Vec<i64>,
    /// Rows that passed, when they are few.
    places: Vec<u32>,
}

/// Rows that are unpacked at once: they stay in the L1 cache.
const STEP_ROWS: usize = 4096;
/// Bits of a code that a byte holds.
const BYTE: u32 = 8;

impl Default for Room {
    fn default() -> Self {
        let (bytes, codes, words) = (vec![0; STEP_ROWS], vec![0; STEP_ROWS], vec![0; STEP_ROWS]);
        Self { bytes, codes, words, places: Vec::new() }
    }
}

impl WholePlan {
    /// The plan, if there are no keys and each feed is of rows or of one column that is never NULL.
    pub(super) fn of(keys: &[Compiled], arguments: &[Compiled], feeds: &[Feed]) -> Option<Self> {
        if !keys.is_empty() {
            return None;
        }
        let mut plan = Self { columns: Vec::new(), outputs: Vec::new() };
        for feed in feeds {
            let argument = feed.argument.map(|it| &arguments[it]);
            let output = match (feed.kind, argument, feed.filter) {
                (FeedKind::Count, None, None) => Output::Count,
                (FeedKind::Sum, Some(argument), None) => {
                    let (place, factor, offset) = linear(&argument.formula()?)?;
                    let column = plan.column(place);
                    plan.columns[column].sum = true;
                    Output::Sum { column, factor, offset }
                }
                (FeedKind::Pick(rule @ (Rule::Min | Rule::Max)), Some(argument), None) => {
                    let place = argument.column().filter(|_| !argument.shape().nullable)?;
                    let column = plan.column(place);
                    plan.columns[column].extent = true;
                    Output::Pick { column, rule }
                }
                _ => return None,
            };
            plan.outputs.push(output);
        }
        Some(plan)
    }

    fn column(&mut self, place: usize) -> usize {
        let known = self.columns.iter().position(|it| it.place == place);
        known.unwrap_or_else(|| {
            self.columns.push(Wanted { place, sum: false, extent: false });
            self.columns.len() - 1
        })
    }

    /// Adds the rows of a block. Gives `false`, with nothing added, where they should come as batches instead.
    pub(super) fn add(
        &self,
        block: &PackedBlock<'_>,
        groups: &mut Groups,
        room: &mut Room,
    ) -> bool {
        let can = |it: &Wanted| {
            let column = block.stored(it.place);
            column.is_some_and(|it| matches!(it.encoding, Encoding::Raw))
                || column.is_some() && (!it.sum || block.column(it.place).is_some())
        };
        if !self.columns.iter().all(can) {
            return false;
        }
        if groups.table.len() == 0 {
            groups.table.find_or_insert(&Keys::Packed(vec![0]), 1, &mut Vec::new());
            groups.resize();
        }
        if !self.columns.is_empty() && is_sparse(block.count, block.rows) {
            room.places.resize(block.count, 0);
            bitmap::positions(block.words, block.rows, &mut room.places);
        }
        let found: Vec<Found> = self.columns.iter().map(|it| it.find(block, room)).collect();
        for (output, accumulator) in self.outputs.iter().zip(&mut groups.accumulators) {
            match *output {
                Output::Count => accumulator.add_sums(&[block.count as i64], block.count),
                Output::Sum { column, factor, offset } => {
                    // The result is far from leaving 128 bits, whatever overflows on the way to it.
                    let factored = found[column].sum.wrapping_mul(factor.into());
                    let offsets = i128::from(offset).wrapping_mul(block.count as i128);
                    accumulator.add_total(factored.wrapping_add(offsets), block.count);
                }
                Output::Pick { column, rule } => {
                    let (least, greatest) = found[column].extent;
                    let chosen = if rule == Rule::Min { least } else { greatest };
                    let values = value(block, self.columns[column].place, chosen);
                    accumulator.update(GroupRows::of(&[0]), Some(&Vector::new(values)), None);
                }
            }
        }
        true
    }
}

/// A formula as a column times a factor plus an offset.
fn linear(formula: &Formula) -> Option<(usize, i64, i64)> {
    let constant = |it: &Formula| matches!(it.kind, FormulaKind::Constant).then_some(it.low);
    let (operator, left, right) = match &formula.kind {
        FormulaKind::Column(place) => return Some((*place, 1, 0)),
        FormulaKind::Constant => return None,
        FormulaKind::Binary(operator, left, right) => (*operator, left, right),
    };
    match (operator, constant(left), constant(right)) {
        (BinaryOperator::Add, None, Some(more)) | (BinaryOperator::Subtract, None, Some(more)) => {
            let more = if operator == BinaryOperator::Add { more } else { more.checked_neg()? };
            let (place, factor, offset) = linear(left)?;
            Some((place, factor, offset.checked_add(more)?))
        }
        (BinaryOperator::Add, Some(more), None) => {
            let (place, factor, offset) = linear(right)?;
            Some((place, factor, offset.checked_add(more)?))
        }
        (BinaryOperator::Subtract, Some(from), None) => {
            let (place, factor, offset) = linear(right)?;
            Some((place, factor.checked_neg()?, from.checked_sub(offset)?))
        }
        (BinaryOperator::Multiply, Some(by), None) | (BinaryOperator::Multiply, None, Some(by)) => {
            let other = if constant(left).is_some() { right } else { left };
            let (place, factor, offset) = linear(other)?;
            Some((place, factor.checked_mul(by)?, offset.checked_mul(by)?))
        }
        _ => None,
    }
}

/// Rows of a block that are unpacked at once.
struct Step<'a> {
    /// The first row, in the part.
    start: usize,
    rows: usize,
    /// A bit for each.
    words: &'a [u64],
    /// How many passed: some.
    count: usize,
}

impl Step<'_> {
    fn is_whole(&self) -> bool {
        self.count == self.rows
    }
}

/// The steps of a block in which rows passed.
fn steps<'a>(block: &PackedBlock<'a>) -> impl Iterator<Item = Step<'a>> {
    let (start, rows, all) = (block.start, block.rows, block.count == block.rows);
    let step = move |(number, words): (usize, &'a [u64])| {
        let first = number * STEP_ROWS;
        let rows = (rows - first).min(STEP_ROWS);
        let count = if all { rows } else { bitmap::count(words) };
        Step { start: start + first, rows, words, count }
    };
    block.words.chunks(STEP_ROWS / 64).enumerate().map(step).filter(|it| it.count > 0)
}

/// What a code stands for, or an integer of a raw column.
fn value(block: &PackedBlock<'_>, place: usize, chosen: i64) -> Values {
    let column = block.stored(place).expect("invariant: the column was asked for before");
    match column.encoding {
        Encoding::Raw => Values::I64(vec![chosen]),
        _ => value_of_code(column, chosen as u32),
    }
}

impl Wanted {
    fn find(&self, block: &PackedBlock<'_>, room: &mut Room) -> Found {
        let column = block.stored(self.place).expect("invariant: the column was asked for before");
        if !self.sum
            && let Some(extent) = extent_by_zone(block, column)
        {
            return Found { sum: 0, extent };
        }
        if matches!(column.encoding, Encoding::Raw) {
            return self.find_words(block, column, room);
        }
        let mut found = self.find_codes(block, column, room);
        if let Some(packed) = block.column(self.place) {
            let bases = i128::from(packed.base) * block.count as i128;
            found.sum = found.sum * i128::from(packed.step) + bases;
        }
        found
    }

    /// Sum, least and greatest of the codes.
    fn find_codes(
        &self,
        block: &PackedBlock<'_>,
        column: &Arc<storage::Column>,
        room: &mut Room,
    ) -> Found {
        let Room { bytes, codes, places, .. } = room;
        let (packed, bits) = (column.packed(), column.bits());
        let mut found = Found::NOTHING;
        if is_sparse(block.count, block.rows) {
            for places in places.chunks(STEP_ROWS) {
                let codes = &mut codes[..places.len()];
                bitpack::gather_u32(packed, bits, block.start, places, codes);
                self.add_codes(&mut found, codes);
            }
            return found;
        }
        for step in steps(block) {
            let Step { start, rows, words, count } = step;
            if step.is_whole() && bits <= BYTE && !self.extent {
                let bytes = &mut bytes[..rows];
                bitpack::unpack_u8(packed, bits, start, bytes);
                found.sum += i128::from(sum_bytes(level(), bytes));
                continue;
            }
            let codes = &mut codes[..count];
            match step.is_whole() {
                true => bitpack::unpack_u32(packed, bits, start, codes),
                false => _ = bitpack::select_u32(packed, bits, start, rows, words, count, codes),
            }
            self.add_codes(&mut found, codes);
        }
        found
    }

    fn add_codes(&self, found: &mut Found, codes: &[u32]) {
        if self.sum {
            found.sum += i128::from(sum_codes(level(), codes));
        }
        if self.extent
            && let Some((least, greatest)) = extent(level(), codes)
        {
            found.widen(least.into(), greatest.into());
        }
    }

    /// Sum, least and greatest of the integers of a raw column.
    fn find_words(
        &self,
        block: &PackedBlock<'_>,
        column: &Arc<storage::Column>,
        room: &mut Room,
    ) -> Found {
        let Room { words: values, places, .. } = room;
        let packed = column.packed();
        let mut found = Found::NOTHING;
        if is_sparse(block.count, block.rows) {
            for places in places.chunks(STEP_ROWS) {
                let values = &mut values[..places.len()];
                bitpack::gather_i64_add(packed, 64, block.start, 0, places, values);
                self.add_words(&mut found, values);
            }
            return found;
        }
        for step in steps(block) {
            let Step { start, rows, words, count } = step;
            let values = &mut values[..count];
            match step.is_whole() {
                true => bitpack::unpack_i64_add(packed, 64, start, 0, values),
                false => {
                    bitpack::select_i64_add(packed, 64, start, rows, words, count, 0, values);
                }
            }
            self.add_words(&mut found, values);
        }
        found
    }

    fn add_words(&self, found: &mut Found, words: &[i64]) {
        // A word is its integer with the sign turned, so that words compare as what they stand for.
        let integer = |word: i64| storage::int_of_word(word as u64);
        if self.sum {
            let (high, low) = sum_words(level(), words, integer(0));
            found.sum += (i128::from(high) << 32) + i128::from(low);
        }
        if self.extent {
            let least = words.iter().map(|&it| integer(it)).min();
            let greatest = words.iter().map(|&it| integer(it)).max();
            if let (Some(least), Some(greatest)) = (least, greatest) {
                found.widen(least, greatest);
            }
        }
    }
}

/// The least and the greatest code of a whole block (integer of a raw column), where the zone knows them.
fn extent_by_zone(block: &PackedBlock<'_>, column: &storage::Column) -> Option<(i64, i64)> {
    let (number, rest) = (block.start / BLOCK_ROWS, block.start % BLOCK_ROWS);
    let end = column.rows().min((number + 1) * BLOCK_ROWS);
    let is_whole = rest == 0 && block.start + block.rows == end && block.count == block.rows;
    if !is_whole {
        return None;
    }
    if matches!(column.encoding, Encoding::Raw) {
        let (least, greatest) = column.sorted_words(number)?;
        return Some((storage::int_of_word(least), storage::int_of_word(greatest)));
    }
    let zone = column.zones.get(number).filter(|it| !it.is_all_null())?;
    Some((zone.min_code.into(), zone.max_code.into()))
}

impl Found {
    const NOTHING: Self = Self { sum: 0, extent: (i64::MAX, i64::MIN) };

    fn widen(&mut self, least: i64, greatest: i64) {
        self.extent = (self.extent.0.min(least), self.extent.1.max(greatest));
    }
}
