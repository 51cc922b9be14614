//! Near-unique text: one text per row, in row order, as it is or compressed.

use std::ops::Range;

use arrow_array::{Array, StringArray};
use types::{ColumnStatistics, SqlResult, Value};

use super::column::ColumnBuild;
use super::numbers::column;
use super::pack::is_sorted;
use super::piece::{Piece, PieceValues};
use super::text_compress::compress;
use super::text_heap::{End, EndsMut, heap_of_pieces};
use crate::dictionary::StringHeap;
use crate::parallel::map;
use crate::plain::head;
use crate::{BLOCK_ROWS, Column, Encoding, IndexVector, PlainStrings, PlainTexts, Zone};

/// Builds a plain column; `distinct` tells how many texts differ, and whether that is exact.
pub(super) fn build(build: ColumnBuild<'_>, distinct: (usize, bool)) -> SqlResult<Column> {
    let rows = build.pieces.rows();
    let sizes = map(build.context.parallel, build.pieces.list.len(), |index| {
        size_of_texts(&build.pieces.list[index])
    })?;
    let texts = match compress(&build, sizes.iter().sum())? {
        Some(compressed) => compressed,
        None => PlainTexts::new(copy_texts(&build, &sizes)?, None),
    };
    let survey = survey(&build)?;
    let text = |row: usize| Value::Text(texts.get(row).into());
    let statistics = ColumnStatistics {
        nulls: build.pieces.nulls as u64,
        distinct: distinct.0.min(rows - build.pieces.nulls) as u64,
        distinct_exact: distinct.1,
        min: survey.least.map(text),
        max: survey.greatest.map(text),
        sorted: is_sorted(&survey.zones, |row| texts.bytes_at(row - 1) > texts.bytes_at(row)),
        widened: false,
    };
    let null_rows = build.pack_nulls()?;
    let no_codes = build.place.rows(bitpack::packed_bytes(rows, 0), 0)?;
    let iv = IndexVector::new(no_codes, 0, rows);
    let encoding = Encoding::Plain(PlainStrings::Own(texts));
    column(&build, encoding, (iv, survey.zones), 0, null_rows, statistics)
}

fn copy_texts(build: &ColumnBuild<'_>, sizes: &[usize]) -> SqlResult<StringHeap> {
    let list = &build.pieces.list;
    heap_of_pieces(build, sizes, |index, texts, ends, start| match ends {
        EndsMut::Narrow(ends) => copy_piece(&list[index], texts, start, ends),
        EndsMut::Wide(ends) => copy_piece(&list[index], texts, start, ends),
    })
}

fn copy_piece<T: End>(piece: &Piece, out: &mut [u8], start: usize, ends: &mut [T]) {
    if let (PieceValues::Text(texts), None) = (&piece.values, &piece.nulls) {
        // The texts already stand one after the other.
        let offsets = texts.value_offsets();
        let first = offsets[0] as usize;
        out.copy_from_slice(&texts.value_data()[first..first + out.len()]);
        for (end, offset) in ends.iter_mut().zip(&offsets[1..]) {
            *end = T::of(start + *offset as usize - first);
        }
        return;
    }
    let mut at = 0;
    for (row, end) in ends.iter_mut().enumerate() {
        let text = piece.text(row);
        out[at..at + text.len()].copy_from_slice(text);
        at += text.len();
        *end = T::of(start + at);
    }
}

fn size_of_texts(piece: &Piece) -> usize {
    let whole = |texts: &StringArray| {
        let offsets = texts.value_offsets();
        (offsets[texts.len()] - offsets[0]) as usize
    };
    match (&piece.values, &piece.nulls) {
        (PieceValues::Text(texts), None) => whole(texts),
        _ => (0..piece.rows).map(|row| piece.text(row).len()).sum(),
    }
}

/// What is known of the texts of a column.
struct Survey {
    zones: Vec<Zone>,
    /// The row of the least text.
    least: Option<usize>,
    greatest: Option<usize>,
}

fn survey(build: &ColumnBuild<'_>) -> SqlResult<Survey> {
    let rows = build.pieces.rows();
    let blocks = map(build.context.parallel, rows.div_ceil(BLOCK_ROWS), |block| {
        let rows = block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(rows);
        survey_block(build, rows)
    })?;
    let least = blocks.iter().filter_map(|it| it.1).min_by(|a, b| a.1.cmp(b.1));
    // Of equal ones the first, as for the least.
    let greatest = blocks.iter().rev().filter_map(|it| it.2).max_by(|a, b| a.1.cmp(b.1));
    let (least, greatest) = (least.map(|it| it.0), greatest.map(|it| it.0));
    Ok(Survey { zones: blocks.iter().map(|it| it.0).collect(), least, greatest })
}

/// A row and its text.
type Found<'a> = Option<(usize, &'a [u8])>;

/// A text behind its head.
type Headed<'a> = (u64, &'a [u8]);

/// Whether a text comes before another one: nearly always the heads decide.
#[inline]
fn is_before(a: Headed<'_>, b: Headed<'_>) -> bool {
    a.0 < b.0 || a.0 == b.0 && a.1 < b.1
}

fn survey_block<'a>(
    build: &'a ColumnBuild<'_>,
    rows: Range<usize>,
) -> (Zone, Found<'a>, Found<'a>) {
    let mut zone = Zone::EMPTY;
    let mut found: Option<[(usize, Headed<'_>); 2]> = None;
    let mut last: Headed<'_> = (0, &[]);
    build.pieces.under(rows.clone(), |index, from, to| {
        let piece = &build.pieces.list[index];
        for (row, at) in from.zip(to) {
            if piece.is_null(row) {
                zone.nulls += 1;
                zone.sorted = false;
                continue;
            }
            let (text, row) = (piece.text(row), rows.start + at);
            let text = (head(text), text);
            if zone.sorted {
                zone.sorted = !is_before(text, last);
                last = text;
            }
            let [least, greatest] = found.get_or_insert([(row, text); 2]);
            if is_before(text, least.1) {
                *least = (row, text);
            } else if is_before(greatest.1, text) {
                *greatest = (row, text);
            }
        }
    });
    if found.is_some() {
        zone.min_code = 0;
    }
    let place = |it: usize| found.map(|found| (found[it].0, found[it].1.1));
    (zone, place(0), place(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_keep_the_order_of_texts() {
        let texts: [&[u8]; 12] = [
            b"",
            b"\0",
            b"\0\0",
            b"a",
            b"a\0",
            b"a\0b",
            b"abcdefg",
            b"abcdefgh",
            b"abcdefgh\0",
            b"abcdefghi",
            b"abcdefgi",
            b"\xff\xff\xff\xff\xff\xff\xff\xff",
        ];
        for a in texts {
            for b in texts {
                assert_eq!(is_before((head(a), a), (head(b), b)), a < b, "{a:?} {b:?}");
            }
        }
    }
}
