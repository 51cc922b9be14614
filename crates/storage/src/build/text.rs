//! Columns of text: a dictionary, unless the values are near-unique.

use std::ops::Range;

use arrow_array::Array;
use memory::Segment;
use types::{ColumnStatistics, SqlResult, Value};

use super::column::ColumnBuild;
use super::hash::{Sketch, hash_text};
use super::numbers::column;
use super::pack::is_sorted;
use super::piece::{Piece, PieceValues, text_bytes};
use super::text_plain;
use super::text_union::{TextUnion, used_codes};
use crate::dictionary::StringHeap;
use crate::parallel::map;
use crate::place::ColumnPlace;
use crate::{Column, Dictionary, Encoding, Parallel};

/// Rows up to which a dictionary is always taken: code ranges are worth more than the bytes.
const PLAIN_ROWS: usize = 4096;

/// Builds a column of text.
pub(super) fn build(build: ColumnBuild<'_>) -> SqlResult<Column> {
    let list: Vec<&Piece> = build.pieces.list.iter().collect();
    let near_unique = match build.plain {
        // The parts of a table hold their texts in one way, so that the table can.
        Some(true) => Some(estimate(build.context.parallel, &list)?),
        Some(false) => None,
        None => near_unique(build.context.parallel, &list)?,
    };
    match near_unique {
        Some(distinct) => {
            let distinct = match is_key(&build, distinct)? {
                true => (build.pieces.rows(), true),
                false => (distinct, false),
            };
            text_plain::build(build, distinct)
        }
        None => with_dictionary(build),
    }
}

/// Parts of the hashes of all texts, each of which is sorted by itself.
const HASH_PARTS: usize = 64;

/// Whether no text stands there twice, where about so many are distinct: then no two have the same hash. What is only near it
/// is nearly always found out in the first part.
fn is_key(build: &ColumnBuild<'_>, distinct: usize) -> SqlResult<bool> {
    let (list, rows) = (&build.pieces.list, build.pieces.rows());
    // The estimate is within a few hundredths.
    if build.pieces.nulls > 0 || distinct + distinct / 16 < rows {
        return Ok(false);
    }
    let parallel = build.context.parallel;
    for parts in [0..1, 1..HASH_PARTS] {
        let hashes = map(parallel, list.len(), |index| hashes_of(&list[index], parts.clone()))?;
        let Some(hashes) = hashes.into_iter().collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        build.context.check_cancelled()?;
        let unique = map(parallel, parts.len(), |part| {
            let mut all: Vec<u64> = hashes.iter().flat_map(|it| &it[part]).copied().collect();
            all.sort_unstable();
            all.windows(2).all(|it| it[0] != it[1])
        })?;
        if unique.contains(&false) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The hashes of the texts of a piece that are in some of the parts; `None` where one stands there twice.
fn hashes_of(piece: &Piece, parts: Range<usize>) -> Option<Vec<Vec<u64>>> {
    if let PieceValues::Coded { codes, texts } = &piece.values {
        // Each code that is used is hashed once, however often it is.
        let used = used_codes(piece, codes, texts.len()).iter().filter(|it| **it).count();
        if used < piece.rows {
            return None;
        }
    }
    let mut hashes = vec![Vec::new(); parts.len()];
    for_each_text(piece, |hash| {
        let part = (hash >> (u64::BITS - HASH_PARTS.ilog2())) as usize;
        if parts.contains(&part) {
            hashes[part - parts.start].push(hash);
        }
    });
    Some(hashes)
}

/// How many texts there are, when they are so near unique that a dictionary would only cost.
pub(crate) fn near_unique(parallel: &dyn Parallel, list: &[&Piece]) -> SqlResult<Option<usize>> {
    let values: usize = list.iter().map(|it| it.rows - it.null_count()).sum();
    if values <= PLAIN_ROWS {
        return Ok(None);
    }
    let distinct = estimate(parallel, list)?;
    Ok((distinct > values / 2).then_some(distinct))
}

/// Distinct texts: by a sketch, or by the hashes of all if they are few.
fn estimate(parallel: &dyn Parallel, list: &[&Piece]) -> SqlResult<usize> {
    if list.iter().map(|it| it.rows).sum::<usize>() <= PLAIN_ROWS {
        let mut hashes = Vec::new();
        list.iter().for_each(|it| for_each_text(it, |hash| hashes.push(hash)));
        hashes.sort_unstable();
        hashes.dedup();
        return Ok(hashes.len());
    }
    let sketches = map(parallel, list.len(), |index| {
        let mut sketch = Sketch::new();
        for_each_text(list[index], |hash| sketch.add(hash));
        sketch
    })?;
    let mut total = Sketch::new();
    sketches.iter().for_each(|it| total.merge(it));
    Ok(total.estimate())
}

/// Calls `body` with the hash of each text of a piece, at least once.
fn for_each_text(piece: &Piece, mut body: impl FnMut(u64)) {
    match &piece.values {
        PieceValues::Text(texts) => {
            let (data, offsets) = (texts.value_data(), texts.value_offsets());
            for (row, ends) in offsets.windows(2).enumerate() {
                if !piece.is_null(row) {
                    body(hash_text(data, ends[0] as usize, ends[1] as usize));
                }
            }
        }
        PieceValues::Coded { codes, texts } => {
            for (code, used) in used_codes(piece, codes, texts.len()).iter().enumerate() {
                if *used {
                    let text = text_bytes(texts, code);
                    body(hash_text(text, 0, text.len()));
                }
            }
        }
        PieceValues::Int { .. } | PieceValues::Wide(_) => {}
    }
}

fn with_dictionary(build: ColumnBuild<'_>) -> SqlResult<Column> {
    let union = TextUnion::of(&build.pieces.list, build.context.parallel)?;
    let texts = &union.texts;
    let (iv, zones) = build.pack_codes(texts.len(), |index, piece, rows, out| {
        let Some(codes) = union.pieces[index].codes(piece) else { return };
        let places = &union.places[index];
        for (out, &code) in out.iter_mut().zip(&codes[rows]) {
            *out = places.get(code as usize).copied().unwrap_or(0);
        }
    })?;
    let value = |text: &&[u8]| String::from_utf8_lossy(text).as_ref().into();
    let statistics = ColumnStatistics {
        nulls: build.pieces.nulls as u64,
        distinct: texts.len() as u64,
        distinct_exact: true,
        min: texts.first().map(|it| Value::Text(value(it))),
        max: texts.last().map(|it| Value::Text(value(it))),
        sorted: is_sorted(&zones, |row| iv.get(row - 1) > iv.get(row)),
        widened: false,
    };
    let heap = store_texts(&build.place, texts, iv.packed().len())?;
    let encoding = Encoding::Dictionary(Dictionary::Text(heap));
    column(&build, encoding, (iv, zones), texts.len(), None, statistics)
}

/// Writes the texts of a dictionary beside an index vector of some size.
pub(crate) fn store_texts(
    place: &ColumnPlace<'_>,
    texts: &[&[u8]],
    bytes_iv: usize,
) -> SqlResult<StringHeap> {
    store_texts_in(texts, |bytes| place.dictionary(bytes, bytes_iv))
}

/// Writes the texts of a dictionary into segments of so many bytes.
pub(crate) fn store_texts_in(
    texts: &[&[u8]],
    segment: impl Fn(usize) -> SqlResult<Segment>,
) -> SqlResult<StringHeap> {
    let used: usize = texts.iter().map(|it| it.len()).sum();
    let wide = u32::try_from(used).is_err();
    let width = if wide { 8 } else { 4 };
    let mut ends = segment(texts.len() * width)?;
    let mut bytes = segment(used)?;
    let mut end = 0;
    for (index, text) in texts.iter().enumerate() {
        bytes.as_bytes_mut()[end..end + text.len()].copy_from_slice(text);
        end += text.len();
        if wide {
            ends.as_mut_slice::<u64>()[index] = end as u64;
        } else {
            ends.as_mut_slice::<u32>()[index] = end as u32;
        }
    }
    Ok(StringHeap::new(ends, wide, bytes, texts.len(), used as u64))
}
