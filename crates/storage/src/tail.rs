//! The tail of a part: its last delta, as long as that is short. Rows of small commits go behind its rows
//! (docs/design/01-storage.md, "changes").
//!
//! Key decision: a tail is a part like all others, so that whatever reads parts reads it, and a version of a table has a tail of
//! its own. What is there is not encoded again: a commit copies the words and codes of some rows, puts the new
//! ones behind them, and widens what is known of the table by what is known of the new rows. So it costs the same
//! however many rows the table has. A tail has no index: its rows are looked through.
//!
//! Key decision: sizes alone decide which delta is a tail, so that the same changes end in the same positions wherever they are
//! replayed.

use std::cmp::Ordering;

use stdx::sync::Arc;
use types::{ColumnStatistics, DataType, SqlResult, Value};

use crate::build::{ColumnBuild, Piece, PieceValues, Pieces, bits_for, pieces_of};
use crate::domain::order;
use crate::place::{ColumnPlace, out_of_memory};
use crate::word::{value_of_key, word_of_int};
use crate::zones::ZONE_BYTES;
use crate::{
    BuildContext, Column, ColumnSchema, Dictionary, Encoding, IndexVector, Part, Zone, Zones,
    int_of_word,
};

/// Rows up to which the last delta of a part takes those that come: so few that copying them costs less than all else of a
/// commit, and that versions leave no more memory behind than encoding each row by itself; so many that few rows are encoded
/// with few others.
pub const TAIL_ROWS: usize = 64;

/// What came to a part.
pub(crate) struct Arrival {
    /// The first new row of the part.
    pub(crate) from: usize,
    /// The facts about the new rows, by column; `None` where rows of other parts came along.
    pub(crate) facts: Option<Vec<ColumnStatistics>>,
    /// Whether the part's dictionary of texts is what it was, by column.
    pub(crate) same_texts: Vec<bool>,
}

/// The tail of a part, by its place, if it has room for so many more rows. `mains`: how many parts come before all deltas.
pub(crate) fn tail_with_room(
    parts: &[Part],
    (number, mains): (usize, usize),
    rows: usize,
) -> Option<usize> {
    let last = (mains..parts.len()).rev().find(|it| parts[*it].number == number)?;
    let has_room = parts[last].rows + rows <= TAIL_ROWS && !parts[last].columns.is_empty();
    has_room.then_some(last)
}

/// Whether the part at a place has no index, as it is a delta that is looked through sooner. `mains`: how many parts come before
/// all deltas.
pub(crate) fn is_looked_through(part: &Part, place: usize, mains: usize) -> bool {
    place >= mains && part.rows <= TAIL_ROWS
}

/// A column of a tail with more rows, the facts about these, and whether its dictionary of texts is what it was.
pub(crate) fn longer(
    old: &Column,
    schema: &ColumnSchema,
    new: Vec<Piece>,
    place: ColumnPlace<'_>,
    context: &BuildContext<'_>,
) -> SqlResult<(Column, ColumnStatistics, bool)> {
    let facts = facts_of(schema.data_type, new.iter());
    let are_words = |it: &Piece| matches!(it.values, PieceValues::Int { .. });
    let is_word = new.iter().all(are_words)
        && schema.data_type != DataType::Boolean
        && !schema.data_type.stored().is_text()
        && !matches!(old.encoding, Encoding::Dictionary(Dictionary::Wide(_)));
    if is_word {
        return Ok((words_with(old, schema, &new, place)?, facts, false));
    }
    if let Some(column) = codes_with(old, &new, place)? {
        return Ok((column, facts, true));
    }
    let plain = schema.data_type.stored().is_text() || schema.data_type == DataType::Null;
    let plain = plain.then_some(matches!(old.encoding, Encoding::Plain(_)));
    let mut pieces = pieces_of(old, 0..old.rows(), schema)?;
    pieces.extend(new);
    let pieces = Pieces::new(pieces);
    let column = ColumnBuild { schema, pieces, context: *context, place, plain }.finish()?;
    Ok((column, facts, false))
}

/// A column of numbers with more rows, as words.
fn words_with(
    old: &Column,
    schema: &ColumnSchema,
    new: &[Piece],
    place: ColumnPlace<'_>,
) -> SqlResult<Column> {
    let mut words: Vec<u64> = Vec::with_capacity(TAIL_ROWS);
    match &old.encoding {
        Encoding::Raw => {
            words.resize(old.rows(), 0);
            bitpack::unpack_u64(old.packed(), old.bits(), 0, &mut words);
        }
        _ => {
            let pieces = pieces_of(old, 0..old.rows(), schema)?;
            words.extend(pieces.iter().flat_map(Piece::as_ints).map(|it| word_of_int(*it)));
        }
    }
    words.extend(new.iter().flat_map(Piece::as_ints).map(|it| word_of_int(*it)));
    let rows = words.len();
    let mut nulls: Vec<u32> = Vec::new();
    let is_null = |piece: &Piece| piece.null_count() > 0;
    if old.statistics.nulls > 0 || new.iter().any(is_null) {
        nulls.extend((0..old.rows()).map(|it| u32::from(old.is_null(it))));
        for piece in new {
            nulls.extend((0..piece.rows).map(|it| u32::from(piece.is_null(it))));
        }
    }
    let has_value = |row: usize| nulls.get(row).is_none_or(|it| *it == 0);
    let filled = || words.iter().enumerate().filter(|it| has_value(it.0)).map(|it| *it.1);
    let null_count = nulls.iter().filter(|it| **it == 1).count();
    let sorted = null_count == 0 && words.is_sorted();
    let rises = sorted && words.windows(2).all(|it| it[0] < it[1]);
    let value = |word: u64| value_of_key(schema.data_type, int_of_word(word));
    let statistics = ColumnStatistics {
        nulls: null_count as u64,
        distinct: (rows - null_count) as u64,
        distinct_exact: rises || null_count == rows,
        min: filled().min().map(value),
        max: filled().max().map(value),
        sorted,
        widened: false,
    };
    let mut zone = Zone { nulls: null_count as u32, sorted, ..Zone::EMPTY };
    if null_count < rows {
        zone.min_code = 0;
    }
    let mut segment = place.rows_beside(old.iv().segment(), bitpack::packed_bytes(rows, 64), 64)?;
    let bytes = segment.as_bytes_mut();
    bitpack::pack_u64(&words, bytes, 0);
    bytes[rows * 8..].fill(0);
    let null_rows = match nulls.is_empty() {
        true => None,
        false => Some(packed(&nulls, 1, (old, place))?),
    };
    let iv = IndexVector::new(segment, 64, rows);
    let as_before = (old, place);
    Ok(Column { null_rows, ..with_codes(as_before, (Encoding::Raw, 0), (iv, zone), statistics)? })
}

/// A column of texts with more rows, all of whose texts its dictionary has; `None` for any other.
fn codes_with(old: &Column, new: &[Piece], place: ColumnPlace<'_>) -> SqlResult<Option<Column>> {
    let Encoding::Dictionary(Dictionary::Text(heap)) = &old.encoding else { return Ok(None) };
    let null = old.code_count() as u32;
    let mut codes: Vec<u32> = Vec::with_capacity(TAIL_ROWS);
    codes.resize(old.rows(), 0);
    bitpack::unpack_u32(old.packed(), old.bits(), 0, &mut codes);
    for piece in new {
        for row in 0..piece.rows {
            codes.push(match piece.is_null(row) {
                true => null,
                false => match heap.find(piece.text(row)) {
                    Some(code) => code as u32,
                    None => return Ok(None),
                },
            });
        }
    }
    let null_count =
        old.statistics.nulls + new.iter().map(|it| it.null_count() as u64).sum::<u64>();
    let has_nulls = null_count > 0;
    let mut zone = Zone { nulls: null_count as u32, ..Zone::EMPTY };
    zone.sorted = !has_nulls && codes.is_sorted();
    for code in codes.iter().filter(|it| !has_nulls || **it != null) {
        zone.min_code = zone.min_code.min(*code);
        zone.max_code = zone.max_code.max(*code);
    }
    let bits = bits_for((old.code_count() + usize::from(has_nulls)).saturating_sub(1));
    let iv = packed(&codes, bits, (old, place))?;
    let statistics =
        ColumnStatistics { nulls: null_count, sorted: zone.sorted, ..old.statistics.clone() };
    let encoded = (old.encoding.clone(), old.code_count());
    with_codes((old, place), encoded, (iv, zone), statistics).map(Some)
}

fn packed(
    codes: &[u32],
    bits: u32,
    (like, place): (&Column, ColumnPlace<'_>),
) -> SqlResult<IndexVector> {
    let bytes = bitpack::packed_bytes(codes.len(), bits);
    let mut segment = place.rows_beside(like.iv().segment(), bytes, bits)?;
    let bytes = segment.as_bytes_mut();
    bitpack::pack(codes, bits, bytes, 0);
    bytes[bitpack::byte_range(0, codes.len(), bits).end..].fill(0);
    Ok(IndexVector::new(segment, bits, codes.len()))
}

/// A column like another with other rows, all in one block.
fn with_codes(
    (like, place): (&Column, ColumnPlace<'_>),
    (encoding, code_count): (Encoding, usize),
    (iv, zone): (IndexVector, Zone),
    statistics: ColumnStatistics,
) -> SqlResult<Column> {
    let segment = match like.zones.segment().beside(ZONE_BYTES) {
        Some(segment) => segment.map_err(out_of_memory)?,
        None => place.dictionary(ZONE_BYTES, iv.packed().len())?,
    };
    let zones = Zones::store(segment, &[zone]);
    Ok(Column {
        name: like.name.clone(),
        data_type: like.data_type,
        nullable: like.nullable,
        encoding,
        zones,
        statistics,
        rows: iv.rows(),
        iv,
        code_count,
        null_rows: None,
        index: None,
        key_rows: None,
    })
}

/// What there is to know of few rows.
pub(crate) fn facts_of<'a>(
    data_type: DataType,
    pieces: impl Iterator<Item = &'a Piece>,
) -> ColumnStatistics {
    let (mut nulls, mut values) = (0, Vec::new());
    for piece in pieces {
        let filled = (0..piece.rows).filter(|it| !piece.is_null(*it));
        values.extend(filled.map(|it| piece.value(data_type, it)));
        nulls += piece.null_count();
    }
    let compare = |a: &Value, b: &Value| order(data_type, a, b);
    let sorted = nulls == 0 && values.windows(2).all(|it| compare(&it[0], &it[1]).is_le());
    if !sorted {
        values.sort_by(compare);
    }
    let repeats = values.windows(2).filter(|it| compare(&it[0], &it[1]) == Ordering::Equal).count();
    ColumnStatistics {
        nulls: nulls as u64,
        distinct: (values.len() - repeats) as u64,
        distinct_exact: true,
        min: values.first().cloned(),
        max: values.last().cloned(),
        sorted,
        widened: false,
    }
}

/// What is known of a column of a table to which rows have come behind all others (`in_order`) or somewhere, by what was known
/// of it and what is known of these. `texts`: how many its dictionary has; `rows`: those that are there now.
pub(crate) fn widened_by(
    data_type: DataType,
    (old, was_key): (&ColumnStatistics, bool),
    new: &ColumnStatistics,
    (rows, new_rows, texts): (u64, u64, u64),
    in_order: bool,
) -> ColumnStatistics {
    let compare = |a: &Value, b: &Value| order(data_type, a, b);
    let below = |a: &Option<Value>, b: &Option<Value>, or_equal: bool| match (a, b) {
        (Some(a), Some(b)) => {
            let ordering = compare(a, b);
            ordering.is_lt() || or_equal && ordering.is_eq()
        }
        _ => true,
    };
    let apart = below(&old.max, &new.min, false) || below(&new.max, &old.min, false);
    let nulls = old.nulls + new.nulls;
    let is_key = apart && was_key && new.nulls == 0 && new.distinct == new_rows;
    let (distinct, distinct_exact) = match apart {
        _ if is_key => (rows, true),
        _ if texts > 0 => (texts, old.distinct_exact && !old.widened),
        true if !old.widened => (old.distinct + new.distinct, old.distinct_exact),
        _ => {
            // Of the values that came, about as many were there already as had been before.
            let share = rows as f64 / (rows - new_rows).max(1) as f64;
            let spread = (old.distinct as f64 * share) as u64;
            (spread.min(old.distinct + new.distinct).max(new.distinct), false)
        }
    };
    let with_values = if old.widened { rows } else { rows - nulls.min(rows) };
    let sorted =
        in_order && nulls == 0 && old.sorted && new.sorted && below(&old.max, &new.min, true);
    let end = |a: &Option<Value>, b: &Option<Value>, wanted: Ordering| match (a, b) {
        (Some(one), Some(other)) if compare(other, one) == wanted => Some(other.clone()),
        (Some(one), _) => Some(one.clone()),
        (None, other) => other.clone(),
    };
    ColumnStatistics {
        nulls,
        distinct: distinct.min(with_values),
        distinct_exact,
        min: end(&old.min, &new.min, Ordering::Less),
        max: end(&old.max, &new.max, Ordering::Greater),
        sorted,
        widened: old.widened,
    }
}

impl Part {
    /// A tail with other columns, that have more rows.
    pub(crate) fn lengthened(
        &self,
        columns: Vec<Arc<Column>>,
        ids: crate::row_ids::RowIds,
    ) -> Self {
        let rows = columns.first().map_or(ids.rows(), |it| it.rows());
        let (columns, ids) = (Arc::new(columns), Arc::new(ids));
        Self { columns, ids, rows, replicas: Vec::new(), ..self.clone() }
    }
}
