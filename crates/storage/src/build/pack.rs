//! Codes into an index vector, block by block, with a zone for each.

use std::ops::Range;

use types::SqlResult;

use super::column::ColumnBuild;
use super::piece::Piece;
use crate::parallel::for_each;
use crate::word::word_of_int;
use crate::{BLOCK_ROWS, IndexVector, Zone};
use stdx::sync::Mutex;

/// Rows whose codes are made at a time, to stay in the first-level cache.
const STEP_ROWS: usize = 4096;

/// Bits that hold all codes up to one.
pub(crate) fn bits_for(max_code: usize) -> u32 {
    usize::BITS - max_code.leading_zeros()
}

impl ColumnBuild<'_> {
    /// Packs codes. `fill(piece number, piece, rows of it, out)` writes their codes, anything at a NULL.
    pub(crate) fn pack_codes(
        &self,
        code_count: usize,
        fill: impl Fn(usize, &Piece, Range<usize>, &mut [u32]) + Sync,
    ) -> SqlResult<(IndexVector, Vec<Zone>)> {
        let has_nulls = self.pieces.nulls > 0;
        let max_code = (code_count + usize::from(has_nulls)).saturating_sub(1);
        let null_code = if has_nulls { code_count as u32 } else { 0 };
        let bits = bits_for(max_code);
        self.pack_blocks(bits, |rows, out| {
            let mut zone = Zone::EMPTY;
            let mut buffer = [0u32; STEP_ROWS];
            let mut last = 0;
            for first in rows.clone().step_by(STEP_ROWS) {
                let step = first..(first + STEP_ROWS).min(rows.end);
                let codes = &mut buffer[..step.len()];
                let mut nulls = 0;
                self.pieces.under(step, |index, from, to| {
                    let piece = &self.pieces.list[index];
                    fill(index, piece, from.clone(), &mut codes[to.clone()]);
                    nulls += set_nulls(piece, from, &mut codes[to], null_code);
                });
                zone.nulls += nulls;
                zone.sorted &= nulls == 0 && last <= codes[0] && codes.is_sorted();
                last = codes[codes.len() - 1];
                if nulls == 0 {
                    for &code in codes.iter() {
                        zone.min_code = zone.min_code.min(code);
                        zone.max_code = zone.max_code.max(code);
                    }
                } else {
                    for &code in codes.iter().filter(|&&it| it != null_code) {
                        zone.min_code = zone.min_code.min(code);
                        zone.max_code = zone.max_code.max(code);
                    }
                }
                bitpack::pack(codes, bits, out, first - rows.start);
            }
            zone
        })
    }

    /// Packs the words of a raw column of integers or float keys.
    pub(crate) fn pack_words(&self) -> SqlResult<(IndexVector, Vec<Zone>)> {
        self.pack_blocks(64, |rows, out| {
            let mut zone = Zone::EMPTY;
            let mut buffer = [0u64; STEP_ROWS];
            let mut last = 0;
            for first in rows.clone().step_by(STEP_ROWS) {
                let step = first..(first + STEP_ROWS).min(rows.end);
                let words = &mut buffer[..step.len()];
                let mut nulls = 0;
                self.pieces.under(step, |index, from, to| {
                    let piece = &self.pieces.list[index];
                    for (out, &key) in words[to].iter_mut().zip(&piece.as_ints()[from.clone()]) {
                        *out = word_of_int(key);
                    }
                    nulls += count_nulls(piece, from);
                });
                zone.nulls += nulls;
                zone.sorted &= nulls == 0 && last <= words[0] && words.is_sorted();
                last = words[words.len() - 1];
                bitpack::pack_u64(words, out, first - rows.start);
            }
            if (zone.nulls as usize) < rows.len() {
                zone.min_code = 0;
            }
            zone
        })
    }

    /// The 1-bit vector of NULL rows, when there are any.
    pub(crate) fn pack_nulls(&self) -> SqlResult<Option<IndexVector>> {
        if self.pieces.nulls == 0 {
            return Ok(None);
        }
        let (marks, _) = self.pack_blocks(1, |rows, out| {
            let mut codes = vec![0u32; rows.len()];
            self.pieces.under(rows, |index, from, to| {
                set_nulls(&self.pieces.list[index], from, &mut codes[to], 1);
            });
            bitpack::pack(&codes, 1, out, 0);
            Zone::EMPTY
        })?;
        Ok(Some(marks))
    }

    /// Fills an index vector: `block(rows, bytes of these rows)` packs one block and tells its zone.
    fn pack_blocks(
        &self,
        bits: u32,
        block: impl Fn(Range<usize>, &mut [u8]) -> Zone + Sync,
    ) -> SqlResult<(IndexVector, Vec<Zone>)> {
        let rows = self.pieces.rows();
        let mut segment = self.place.rows(bitpack::packed_bytes(rows, bits), bits)?;
        let blocks = rows.div_ceil(BLOCK_ROWS);
        let block_rows = |it: usize| it * BLOCK_ROWS..((it + 1) * BLOCK_ROWS).min(rows);
        let ends: Vec<usize> =
            (0..blocks).map(|it| bitpack::byte_range(0, block_rows(it).end, bits).end).collect();
        let zones: Vec<Mutex<Zone>> = (0..blocks).map(|_| Mutex::new(Zone::EMPTY)).collect();
        let mut parts = segment.split_mut(&ends);
        // Behind the last code comes the padding: zero, so that equal columns have equal bytes.
        if let Some(padding) = parts.pop() {
            padding.fill(0);
        }
        for_each(self.context.parallel, parts, |index, bytes| {
            // A cancelled build ends with an error at the next column; what is skipped here is thrown away.
            if !(self.context.cancelled)() {
                *zones[index].lock() = block(block_rows(index), bytes);
            }
        })?;
        self.context.check_cancelled()?;
        let zones = zones.into_iter().map(Mutex::into_inner).collect();
        Ok((IndexVector::new(segment, bits, rows), zones))
    }
}

fn set_nulls(piece: &Piece, rows: Range<usize>, codes: &mut [u32], null_code: u32) -> u32 {
    let Some(nulls) = &piece.nulls else { return 0 };
    let mut count = 0;
    for (code, row) in codes.iter_mut().zip(rows) {
        if nulls.is_null(row) {
            *code = null_code;
            count += 1;
        }
    }
    count
}

fn count_nulls(piece: &Piece, rows: Range<usize>) -> u32 {
    match &piece.nulls {
        Some(nulls) => rows.filter(|&row| nulls.is_null(row)).count() as u32,
        None => 0,
    }
}

/// Whether values never fall from row to row over all blocks; `falls(row)` compares a row with the one before it.
pub(crate) fn is_sorted(zones: &[Zone], falls: impl Fn(usize) -> bool) -> bool {
    zones.iter().all(|it| it.sorted) && !(1..zones.len()).any(|block| falls(block * BLOCK_ROWS))
}
