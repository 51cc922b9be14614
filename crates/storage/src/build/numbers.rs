//! Columns of integers, dates, decimals and floats: offset, dictionary or raw words, whichever is smallest.

use std::ops::Range;

use memory::{Pod, Segment};
use stdx::sync::atomic::{AtomicU64, Ordering};
use types::{ColumnStatistics, DataType, SqlResult};

use super::column::ColumnBuild;
use super::hash::{Sketch, hash_int};
use super::merge::merge_sorted;
use super::pack::{bits_for, is_sorted};
use super::piece::Piece;
use crate::dictionary::Sorted;
use crate::parallel::map;
use crate::word::{float_of_key, value_of_key};
use crate::zones::ZONE_BYTES;
use crate::{Column, Dictionary, Encoding, IndexVector, Zone, Zones};

/// Ranges up to which distinct values are counted by a bit each: 8 MiB of bits.
const BITMAP_VALUES: u64 = 1 << 26;
/// A dictionary instead of an offset must stay in the second-level cache: each value read is a look-up.
const DICTIONARY_VALUES: usize = 1 << 16;
/// Bits for each row up to which few rows are counted by bits all the same.
const BITS_PER_ROW: u64 = 4096;
/// Rows up to which distinct values are counted by sorting them.
const SORT_ROWS: usize = 1 << 18;

/// What is known before an encoding is chosen.
struct Facts {
    rows: usize,
    values: usize,
    /// Least and greatest key; `None` when all rows are NULL.
    range: Option<(i64, i64)>,
    /// Codes of an offset encoding, when they fit 32 bits with NULL.
    offset_codes: Option<usize>,
    distinct: usize,
    distinct_exact: bool,
}

/// From key to code.
enum Coder {
    Offset(i64),
    /// A bit per value from the least on, and the ones before each word.
    Rank {
        min: i64,
        bits: Vec<u64>,
        before: Vec<u32>,
    },
    /// The sorted values.
    Search(Vec<i64>),
}

impl Coder {
    fn fill(&self, keys: &[i64], piece: &Piece, first: usize, out: &mut [u32]) {
        match self {
            // NULL rows may hold anything, so that nothing here may overflow.
            Self::Offset(min) => {
                for (out, key) in out.iter_mut().zip(keys) {
                    *out = key.wrapping_sub(*min) as u32;
                }
            }
            Self::Rank { min, bits, before } => {
                for (out, key) in out.iter_mut().zip(keys) {
                    let at = key.wrapping_sub(*min) as u64 as usize;
                    let word = bits.get(at / 64).copied().unwrap_or(0);
                    let below = word & ((1 << (at % 64)) - 1);
                    *out = before.get(at / 64).copied().unwrap_or(0) + below.count_ones();
                }
            }
            Self::Search(values) => {
                for (index, (out, key)) in out.iter_mut().zip(keys).enumerate() {
                    *out = match values.binary_search(key) {
                        Ok(code) => code as u32,
                        Err(_) => {
                            debug_assert!(piece.is_null(first + index));
                            0
                        }
                    };
                }
            }
        }
    }
}

/// Builds a column of keys.
pub(super) fn build(build: ColumnBuild<'_>) -> SqlResult<Column> {
    let is_float = build.schema.data_type.is_float();
    let (facts, bitmap) = survey(&build, is_float)?;
    let Some((min, max)) = facts.range else {
        return all_null(&build, is_float);
    };
    let dictionary = wants_dictionary(&build, &facts, is_float);
    let coder = if dictionary {
        Some(match bitmap {
            Some(bits) => rank_coder(min, bits),
            None => Coder::Search(distinct_keys(&build)?),
        })
    } else {
        facts.offset_codes.map(|_| Coder::Offset(min))
    };
    let (distinct, exact) = match &coder {
        Some(Coder::Search(values)) => (values.len(), true),
        _ => (facts.distinct, facts.distinct_exact),
    };
    let mut statistics = ColumnStatistics {
        nulls: build.pieces.nulls as u64,
        distinct: distinct as u64,
        distinct_exact: exact,
        min: Some(value_of_key(build.schema.data_type, min)),
        max: Some(value_of_key(build.schema.data_type, max)),
        sorted: false,
        widened: false,
    };
    let Some(coder) = coder else {
        let (iv, zones) = build.pack_words()?;
        statistics.sorted = is_sorted(&zones, |row| iv.get(row - 1) > iv.get(row));
        let null_rows = build.pack_nulls()?;
        return column(&build, Encoding::Raw, (iv, zones), 0, null_rows, statistics);
    };
    let code_count = match &coder {
        Coder::Offset(_) => facts.offset_codes.unwrap_or(0),
        _ => distinct,
    };
    let (iv, zones) = build.pack_codes(code_count, |_, piece, rows, out| {
        coder.fill(&piece.as_ints()[rows.clone()], piece, rows.start, out);
    })?;
    statistics.sorted = is_sorted(&zones, |row| iv.get(row - 1) > iv.get(row));
    let encoding = match &coder {
        Coder::Offset(min) => Encoding::Offset { min: *min },
        Coder::Rank { .. } | Coder::Search(_) => {
            Encoding::Dictionary(dictionary_of(&build, &coder, is_float, iv.packed().len())?)
        }
    };
    column(&build, encoding, (iv, zones), code_count, None, statistics)
}

/// Puts the parts of a column together.
pub(super) fn column(
    build: &ColumnBuild<'_>,
    encoding: Encoding,
    (iv, zones): (IndexVector, Vec<Zone>),
    code_count: usize,
    null_rows: Option<IndexVector>,
    statistics: ColumnStatistics,
) -> SqlResult<Column> {
    let schema = build.schema;
    let zones_segment = build.place.dictionary(zones.len() * ZONE_BYTES, iv.packed().len())?;
    let zones = Zones::store(zones_segment, &zones);
    Ok(Column {
        name: schema.name.clone(),
        data_type: schema.data_type,
        nullable: schema.nullable,
        encoding,
        zones,
        statistics,
        rows: build.pieces.rows(),
        iv,
        code_count,
        null_rows,
        index: None,
        key_rows: None,
    })
}

/// A column without a single value.
fn all_null(build: &ColumnBuild<'_>, is_float: bool) -> SqlResult<Column> {
    let packed = build.pack_codes(0, |_, _, _, out| out.fill(0))?;
    let encoding = if is_float {
        let none = build.place.dictionary(0, 0)?;
        Encoding::Dictionary(Dictionary::Float(Sorted::new(none, 0)))
    } else {
        Encoding::Offset { min: 0 }
    };
    let statistics = ColumnStatistics {
        nulls: build.pieces.nulls as u64,
        distinct_exact: true,
        sorted: build.pieces.nulls == 0,
        ..ColumnStatistics::default()
    };
    column(build, encoding, packed, 0, None, statistics)
}

/// Counts distinct values: by a bitmap where the range allows (which is returned), by sorting few rows, else roughly.
fn survey(build: &ColumnBuild<'_>, is_float: bool) -> SqlResult<(Facts, Option<Vec<u64>>)> {
    let pieces = &build.pieces;
    let rows = pieces.rows();
    let mut facts = Facts {
        rows,
        values: rows - pieces.nulls,
        range: pieces.range(),
        offset_codes: None,
        distinct: 0,
        distinct_exact: true,
    };
    let Some((min, max)) = facts.range else { return Ok((facts, None)) };
    let span = max.wrapping_sub(min) as u64;
    let nulls = u64::from(pieces.nulls > 0);
    if !is_float && span <= u64::from(u32::MAX) - nulls {
        facts.offset_codes = Some(span as usize + 1);
        if span < BITMAP_VALUES && (rows > SORT_ROWS || span < BITS_PER_ROW * rows as u64) {
            let bits = value_bitmap(build, min, span)?;
            facts.distinct = bits.iter().map(|it| it.count_ones() as usize).sum();
            return Ok((facts, Some(bits)));
        }
    }
    if rows <= SORT_ROWS {
        facts.distinct = distinct_keys(build)?.len();
    } else {
        (facts.distinct, facts.distinct_exact) = estimate(build)?;
    }
    Ok((facts, None))
}

/// A bit per value between the least and the greatest: whether a row has it.
fn value_bitmap(build: &ColumnBuild<'_>, min: i64, span: u64) -> SqlResult<Vec<u64>> {
    let bits: Vec<AtomicU64> = (0..span / 64 + 1).map(|_| AtomicU64::new(0)).collect();
    let list = &build.pieces.list;
    map(build.context.parallel, list.len(), |index| {
        let (piece, keys) = (&list[index], list[index].as_ints());
        let mark = |key: i64| {
            let at = key.wrapping_sub(min) as u64;
            let (word, bit) = (&bits[(at / 64) as usize], 1 << (at % 64));
            // Most bits are set by earlier rows; only a new one is worth the exclusive cache line.
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        };
        match &piece.nulls {
            None => keys.iter().for_each(|&key| mark(key)),
            Some(nulls) => nulls.valid_indices().for_each(|row| mark(keys[row])),
        }
    })?;
    Ok(bits.into_iter().map(|it| it.load(Ordering::Relaxed)).collect())
}

/// Distinct keys by a sketch; exact when the keys are sorted, for then they only need to be told from their neighbours.
fn estimate(build: &ColumnBuild<'_>) -> SqlResult<(usize, bool)> {
    let list = &build.pieces.list;
    let surveys = map(build.context.parallel, list.len(), |index| {
        let (piece, mut sketch) = (&list[index], Sketch::new());
        let keys = piece.as_ints();
        let (mut sorted, mut runs) = (piece.nulls.is_none(), 0);
        for (row, &key) in keys.iter().enumerate() {
            if row > 0 && keys[row - 1] == key {
                continue;
            }
            sorted &= row == 0 || keys[row - 1] < key;
            runs += 1;
            if !piece.is_null(row) {
                sketch.add(hash_int(key as u64));
            }
        }
        (sketch, sorted, runs)
    })?;
    let (mut total, mut all, mut sorted) = (Sketch::new(), 0, true);
    for (index, (sketch, piece_sorted, runs)) in surveys.iter().enumerate() {
        total.merge(sketch);
        sorted &= piece_sorted;
        all += runs;
        if index > 0 {
            let (before, here) = (list[index - 1].as_ints(), list[index].as_ints());
            if let (Some(last), Some(first)) = (before.last(), here.first()) {
                sorted &= last <= first;
                all -= usize::from(last == first);
            }
        }
    }
    Ok(if sorted { (all, true) } else { (total.estimate(), false) })
}

/// Whether a dictionary beats what else is possible.
fn wants_dictionary(build: &ColumnBuild<'_>, facts: &Facts, is_float: bool) -> bool {
    if build.schema.data_type == DataType::Boolean {
        return false;
    }
    let nulls = usize::from(build.pieces.nulls > 0);
    let code_bits = |codes: usize| bits_for((codes + nulls).saturating_sub(1)) as usize;
    let dictionary = facts.rows * code_bits(facts.distinct) / 8 + facts.distinct * 8;
    match facts.offset_codes {
        Some(codes) => {
            let offset = facts.rows * code_bits(codes) / 8;
            facts.distinct <= DICTIONARY_VALUES && dictionary * 4 <= offset * 3
        }
        None if is_float => {
            facts.distinct <= DICTIONARY_VALUES && dictionary * 4 <= facts.rows * 8 * 3
        }
        None => facts.distinct <= facts.values / 8 && dictionary < facts.rows * 8,
    }
}

fn rank_coder(min: i64, bits: Vec<u64>) -> Coder {
    let mut ones = 0;
    let count = |word: &u64| {
        let before = ones;
        ones += word.count_ones();
        before
    };
    let before = bits.iter().map(count).collect();
    Coder::Rank { min, bits, before }
}

/// The sorted distinct keys of all rows.
fn distinct_keys(build: &ColumnBuild<'_>) -> SqlResult<Vec<i64>> {
    let list = &build.pieces.list;
    let lists = map(build.context.parallel, list.len(), |index| {
        let piece = &list[index];
        let keys = piece.as_ints();
        let mut keys: Vec<i64> = match &piece.nulls {
            None => keys.to_vec(),
            Some(nulls) => nulls.valid_indices().map(|it| keys[it]).collect(),
        };
        keys.sort_unstable();
        keys.dedup();
        keys
    })?;
    merge_sorted(build.context.parallel, lists)
}

fn dictionary_of(
    build: &ColumnBuild<'_>,
    coder: &Coder,
    is_float: bool,
    bytes_iv: usize,
) -> SqlResult<Dictionary> {
    let keys: Vec<i64> = match coder {
        Coder::Search(values) => values.clone(),
        Coder::Rank { min, bits, .. } => {
            bitpack::bitmap::iter(bits).map(|it| min.wrapping_add(it as i64)).collect()
        }
        Coder::Offset(_) => Vec::new(),
    };
    let segment = build.place.dictionary(keys.len() * 8, bytes_iv)?;
    Ok(if is_float {
        let values = keys.iter().map(|&it| float_of_key(it));
        Dictionary::Float(store(segment, values, 0..keys.len()))
    } else {
        Dictionary::Int(store(segment, keys.iter().copied(), 0..keys.len()))
    })
}

/// Writes sorted values into their segment.
pub(super) fn store<T: Pod>(
    mut segment: Segment,
    values: impl Iterator<Item = T>,
    range: Range<usize>,
) -> Sorted<T> {
    for (out, value) in segment.as_mut_slice::<T>()[range.clone()].iter_mut().zip(values) {
        *out = value;
    }
    Sorted::new(segment, range.len())
}
