//! Near-unique text: one text per row, in row order.

use std::ops::Range;

use arrow_array::{Array, StringArray};
use types::{ColumnStatistics, SqlResult, Value};

use super::ColumnBuild;
use super::numbers::column;
use super::pack::is_sorted;
use super::piece::{Piece, PieceValues};
use crate::dictionary::StringHeap;
use crate::parallel::{for_each, map};
use crate::{BLOCK_ROWS, Column, Encoding, IndexVector, PlainStrings, Zone};

/// Ends of texts as they are stored: an offset in the heap.
trait End: memory::Pod {
    fn of(offset: usize) -> Self;
}
impl End for u32 {
    fn of(offset: usize) -> Self {
        offset as u32
    }
}
impl End for u64 {
    fn of(offset: usize) -> Self {
        offset as u64
    }
}

/// Builds a plain column; `distinct` is an estimate.
pub(super) fn build(build: ColumnBuild<'_>, distinct: usize) -> SqlResult<Column> {
    let rows = build.pieces.rows();
    let heap = copy_texts(&build)?;
    let (zones, range) = survey(&build, &heap)?;
    let text = |row: usize| Value::Text(heap.get(row).into());
    let statistics = ColumnStatistics {
        nulls: build.pieces.nulls as u64,
        distinct: distinct.min(rows - build.pieces.nulls) as u64,
        distinct_exact: false,
        min: range.as_ref().map(|it| text(it.start)),
        max: range.as_ref().map(|it| text(it.end)),
        sorted: is_sorted(&zones, |row| heap.bytes_at(row - 1) > heap.bytes_at(row)),
    };
    let null_rows = build.pack_nulls()?;
    let no_codes = build.place.rows(bitpack::packed_bytes(rows, 0), 0)?;
    let iv = IndexVector::new(no_codes, 0, rows);
    let encoding = Encoding::Plain(PlainStrings::Own(heap));
    column(&build, encoding, (iv, zones), 0, null_rows, statistics)
}

fn copy_texts(build: &ColumnBuild<'_>) -> SqlResult<StringHeap> {
    let (list, parallel) = (&build.pieces.list, build.context.parallel);
    let sizes = map(parallel, list.len(), |index| size_of_texts(&list[index]))?;
    let mut starts = vec![0];
    for size in &sizes {
        starts.push(starts[starts.len() - 1] + size);
    }
    let used = starts[starts.len() - 1];
    let wide = u32::try_from(used).is_err();
    let rows = build.pieces.rows();
    let mut bytes = build.place.rows(used, 8)?;
    let mut ends = build.place.rows(rows * if wide { 8 } else { 4 }, if wide { 64 } else { 32 })?;
    let texts = bytes.split_mut(&starts[1..]);
    if wide {
        fill(build, texts, &starts, ends.as_mut_slice::<u64>())?;
    } else {
        fill(build, texts, &starts, ends.as_mut_slice::<u32>())?;
    }
    Ok(StringHeap::new(ends, wide, bytes, rows, used as u64))
}

/// Copies the texts of each piece to its place, and writes where they end.
fn fill<T: End>(
    build: &ColumnBuild<'_>,
    texts: Vec<&mut [u8]>,
    starts: &[usize],
    mut ends: &mut [T],
) -> SqlResult<()> {
    let list = &build.pieces.list;
    let mut tasks = Vec::with_capacity(list.len());
    for (piece, texts) in list.iter().zip(texts) {
        let (mine, rest) = ends.split_at_mut(piece.rows);
        tasks.push((texts, mine));
        ends = rest;
    }
    for_each(build.context.parallel, tasks, |index, (texts, ends)| {
        copy_piece(&list[index], texts, starts[index], ends);
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

/// The zones, and the rows of the least and the greatest text.
fn survey(
    build: &ColumnBuild<'_>,
    heap: &StringHeap,
) -> SqlResult<(Vec<Zone>, Option<Range<usize>>)> {
    let rows = build.pieces.rows();
    let blocks = map(build.context.parallel, rows.div_ceil(BLOCK_ROWS), |block| {
        let rows = block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(rows);
        survey_block(build, heap, rows)
    })?;
    let mut range: Option<Range<usize>> = None;
    for found in blocks.iter().filter_map(|it| it.1.clone()) {
        let old = range.unwrap_or(found.clone());
        let less = heap.bytes_at(found.start) < heap.bytes_at(old.start);
        let greater = heap.bytes_at(found.end) > heap.bytes_at(old.end);
        range = Some(
            if less { found.start } else { old.start }..if greater { found.end } else { old.end },
        );
    }
    Ok((blocks.into_iter().map(|it| it.0).collect(), range))
}

fn survey_block(
    build: &ColumnBuild<'_>,
    heap: &StringHeap,
    rows: Range<usize>,
) -> (Zone, Option<Range<usize>>) {
    let mut zone = Zone::EMPTY;
    let mut range: Option<(usize, usize)> = None;
    let (mut least, mut greatest, mut last): (&[u8], &[u8], &[u8]) = (&[], &[], &[]);
    build.pieces.under(rows.clone(), |index, from, to| {
        let piece = &build.pieces.list[index];
        for (row, at) in from.zip(to) {
            if piece.is_null(row) {
                zone.nulls += 1;
                zone.sorted = false;
                continue;
            }
            let row = rows.start + at;
            let text = heap.bytes_at(row);
            zone.sorted &= last <= text;
            last = text;
            match &mut range {
                None => (range, least, greatest) = (Some((row, row)), text, text),
                Some((low, _)) if text < least => (*low, least) = (row, text),
                Some((_, high)) if text > greatest => (*high, greatest) = (row, text),
                Some(_) => {}
            }
        }
    });
    if range.is_some() {
        zone.min_code = 0;
    }
    (zone, range.map(|(low, high)| low..high))
}
