//! Sum, least and greatest value of a packed column over the rows of a block that passed, from its codes: a sum of values
//! is a sum of codes times a step plus as many bases, and a block that passed as a whole has its least and greatest code
//! in its zone.

use bitpack::bitmap;
use stdx::sync::Arc;
use storage::{BLOCK_ROWS, Encoding};

use crate::Values;
use crate::aggregate::tuning::UNPACK_ROWS;
use crate::leveled::{extent, level, sum_bytes, sum_codes, sum_words};
use crate::scan::PackedBlock;
use crate::scan::decode::{is_sparse, value_of_code};

/// What is wanted of a column.
pub(super) struct ColumnTotals {
    /// Its place in the layout.
    pub(super) column: usize,
    /// The sum of its values.
    pub(super) sum: bool,
    /// The least and the greatest.
    pub(super) extent: bool,
}

/// What was found in a column of a block.
#[derive(Clone, Copy)]
pub(super) struct Totals {
    /// Of the values.
    pub(super) sum: i128,
    /// Least and greatest code, or integer of a raw column.
    pub(super) extent: (i64, i64),
}

/// Room for the rows of a step.
pub(super) struct Scratch {
    bytes: Vec<u8>,
    codes: Vec<u32>,
    words: Vec<i64>,
    /// Rows that passed, when they are few.
    places: Vec<u32>,
}

/// Bits of a code that a byte holds.
const BYTE: u32 = 8;

impl Default for Scratch {
    fn default() -> Self {
        let room = UNPACK_ROWS;
        let (bytes, codes, words) = (vec![0; room], vec![0; room], vec![0; room]);
        Self { bytes, codes, words, places: Vec::new() }
    }
}

impl Scratch {
    /// Lists the rows of a block that passed, if they are few.
    pub(super) fn list_rows(&mut self, block: &PackedBlock<'_>) {
        if is_sparse(block.count, block.rows) {
            self.places.resize(block.count, 0);
            bitmap::positions(block.words, block.rows, &mut self.places);
        }
    }
}

impl Totals {
    const NOTHING: Self = Self { sum: 0, extent: (i64::MAX, i64::MIN) };

    fn widen(&mut self, least: i64, greatest: i64) {
        self.extent = (self.extent.0.min(least), self.extent.1.max(greatest));
    }
}

impl ColumnTotals {
    /// Whether the column is stored in a way in which this can be found.
    pub(super) fn can_find(&self, block: &PackedBlock<'_>) -> bool {
        let Some(stored) = block.stored(self.column) else { return false };
        let is_raw = matches!(stored.encoding, Encoding::Raw);
        is_raw || !self.sum || block.column(self.column).is_some()
    }

    /// What is wanted, of the rows that passed: [`Scratch::list_rows`] knows them.
    pub(super) fn find(&self, block: &PackedBlock<'_>, scratch: &mut Scratch) -> Totals {
        let column = block.stored(self.column).expect("invariant: the column was asked for before");
        if !self.sum
            && let Some(extent) = extent_by_zone(block, column)
        {
            return Totals { sum: 0, extent };
        }
        if matches!(column.encoding, Encoding::Raw) {
            return self.find_words(block, column, scratch);
        }
        let mut found = self.find_codes(block, column, scratch);
        if let Some(packed) = block.column(self.column) {
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
        scratch: &mut Scratch,
    ) -> Totals {
        let Scratch { bytes, codes, places, .. } = scratch;
        let (packed, bits) = (column.packed(), column.bits());
        let mut found = Totals::NOTHING;
        if is_sparse(block.count, block.rows) {
            for places in places.chunks(UNPACK_ROWS) {
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

    fn add_codes(&self, found: &mut Totals, codes: &[u32]) {
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
        scratch: &mut Scratch,
    ) -> Totals {
        let Scratch { words: values, places, .. } = scratch;
        let packed = column.packed();
        let mut found = Totals::NOTHING;
        if is_sparse(block.count, block.rows) {
            for places in places.chunks(UNPACK_ROWS) {
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

    fn add_words(&self, found: &mut Totals, words: &[i64]) {
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

/// What a code stands for, or an integer of a raw column.
pub(super) fn value(block: &PackedBlock<'_>, place: usize, chosen: i64) -> Values {
    let column = block.stored(place).expect("invariant: the column was asked for before");
    match column.encoding {
        Encoding::Raw => Values::I64(vec![chosen]),
        _ => value_of_code(column, chosen as u32),
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
        let first = number * UNPACK_ROWS;
        let rows = (rows - first).min(UNPACK_ROWS);
        let count = if all { rows } else { bitmap::count(words) };
        Step { start: start + first, rows, words, count }
    };
    block.words.chunks(UNPACK_ROWS / 64).enumerate().map(step).filter(|it| it.count > 0)
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
