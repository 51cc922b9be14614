//! The column of a table with parts, as the layers above see it: statistics of all parts, and for text one dictionary
//! over those of the parts, so that a code means the same wherever its row comes from.

use std::cmp::Ordering;
use std::ops::Range;

use memory::Segment;
use placement::Placement;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering as Memory};
use types::{ColumnStatistics, DataType, SqlResult, Value};

use crate::build::Sketch;
use crate::build::hash::hash_int;
use crate::build::merge::merge_sorted;
use crate::build::text::store_texts;
use crate::column_keys::{dictionary_keys, for_each_key};
use crate::dense_keys::rows_of_dense_key;
use crate::key::key_equal_to;
use crate::parallel::{map, try_map};
use crate::part::{Part, Translation};
use crate::place::ColumnPlace;
use crate::{
    BLOCK_ROWS, BuildContext, Column, ColumnSchema, Dictionary, Encoding, IndexVector,
    PlainStrings, StringHeap, TableDesign, Zones,
};

/// Ranges of numbers up to which distinct values are counted by a bit each: 8 MiB of bits.
const BITMAP_VALUES: u64 = 1 << 26;

/// A column of a table, by its number, for what its parts share of it.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) design: &'a TableDesign,
    pub(crate) column: usize,
}

impl Shared<'_> {
    /// How what the parts share is placed.
    pub(crate) fn placement(&self, context: &BuildContext<'_>) -> Placement {
        self.design.placement_of_shared(context.allocator.machine().topology(), self.column)
    }

    /// Memory for what the parts share.
    pub(crate) fn place<'a>(
        &self,
        placement: &'a Placement,
        context: &BuildContext<'a>,
    ) -> ColumnPlace<'a> {
        let turn = self.design.turn_of(self.column, 0, context.turn);
        ColumnPlace::new(context.allocator, placement, turn)
    }

    /// Memory for the translation of a part: where the dictionary of the part goes.
    pub(crate) fn of_part(
        &self,
        part: usize,
        bytes: usize,
        context: &BuildContext<'_>,
    ) -> SqlResult<Segment> {
        let topology = context.allocator.machine().topology();
        let placement = self.design.placement_of(topology, self.column, part);
        let turn = self.design.turn_of(self.column, part, context.turn);
        ColumnPlace::new(context.allocator, &placement, turn).dictionary(bytes, 0)
    }
}

/// The column of a table over those of its parts, and the way there from the codes of each part. `additive` says that
/// no two parts share a value.
pub(crate) fn domain(
    schema: &ColumnSchema,
    shared: Shared<'_>,
    parts: &[Part],
    additive: bool,
    context: &BuildContext<'_>,
) -> SqlResult<(Column, Vec<Option<Translation>>)> {
    let column = shared.column;
    let columns: Vec<&Column> = parts.iter().map(|it| &*it.columns[column]).collect();
    let placement = shared.placement(context);
    let place = shared.place(&placement, context);
    let mut translations = vec![None; parts.len()];
    let (encoding, code_count, distinct) = match &columns[0].encoding {
        Encoding::Plain(_) => (plain_domain(parts, column), 0, None),
        Encoding::Dictionary(Dictionary::Text(_)) => {
            let heap;
            (heap, translations) = text_domain(&columns, parts, (shared, &place), context)?;
            let count = heap.len();
            (Encoding::Dictionary(Dictionary::Text(heap)), count, Some(count as u64))
        }
        _ => (Encoding::Parts, 0, None),
    };
    let statistics = statistics(&columns, distinct, additive, context)?;
    let joined = joined(schema, parts, (encoding, code_count), statistics, &place)?;
    let key_rows = rows_of_dense_key(column, parts, &place, context)?;
    Ok((Column { key_rows, ..joined }, translations))
}

/// A column of a table that has its rows in the columns of its parts.
pub(crate) fn joined(
    schema: &ColumnSchema,
    parts: &[Part],
    (encoding, code_count): (Encoding, usize),
    statistics: ColumnStatistics,
    place: &ColumnPlace<'_>,
) -> SqlResult<Column> {
    let no_codes = place.dictionary(bitpack::packed_bytes(0, 0), 0)?;
    let no_zones = place.dictionary(0, 0)?;
    Ok(Column {
        name: schema.name.clone(),
        data_type: schema.data_type,
        nullable: schema.nullable,
        encoding,
        zones: Zones::store(no_zones, &[]),
        statistics,
        rows: parts.iter().map(Part::rows).sum(),
        iv: IndexVector::new(no_codes, 0, 0),
        code_count,
        null_rows: None,
        index: None,
        key_rows: None,
    })
}

/// The texts of plain columns, found by position.
pub(crate) fn plain_domain(parts: &[Part], column: usize) -> Encoding {
    let texts = |part: &Part| match &part.columns[column].encoding {
        Encoding::Plain(PlainStrings::Own(texts)) => (part.first, texts.clone()),
        _ => unreachable!("invariant: the texts of all parts are plain"),
    };
    Encoding::Plain(PlainStrings::Parts(parts.iter().map(texts).collect()))
}

pub(crate) fn heap_of(column: &Column) -> &StringHeap {
    match &column.encoding {
        Encoding::Dictionary(Dictionary::Text(heap)) => heap,
        _ => unreachable!("invariant: the texts of all parts have a dictionary"),
    }
}

/// One dictionary over those of the parts, and the translations.
pub(crate) fn text_domain(
    columns: &[&Column],
    parts: &[Part],
    (shared, place): (Shared<'_>, &ColumnPlace<'_>),
    context: &BuildContext<'_>,
) -> SqlResult<(StringHeap, Vec<Option<Translation>>)> {
    let parallel = context.parallel;
    let lists = map(parallel, columns.len(), |part| {
        let heap = heap_of(columns[part]);
        (0..heap.len()).map(|it| heap.bytes_at(it)).collect::<Vec<&[u8]>>()
    })?;
    let texts = merge_sorted(parallel, lists)?;
    let heap = store_texts(place, &texts, 0)?;
    let translations = try_map(parallel, columns.len(), |part| {
        let own = heap_of(columns[part]);
        // Codes ascend as their texts do: with as many texts, all codes are the same.
        if own.len() == texts.len() {
            return Ok(None);
        }
        let mut code = 0;
        let codes = (0..own.len()).map(|index| {
            let text = own.bytes_at(index);
            while texts[code] < text {
                code += 1;
            }
            code as u32
        });
        translation(codes, shared, parts[part].number, context).map(Some)
    })?;
    Ok((heap, translations))
}

/// The codes of the table for those of a part, in memory where the part's dictionary goes.
fn translation(
    codes: impl ExactSizeIterator<Item = u32>,
    shared: Shared<'_>,
    part: usize,
    context: &BuildContext<'_>,
) -> SqlResult<Translation> {
    let len = codes.len();
    let mut segment = shared.of_part(part, len * 4, context)?;
    for (out, code) in segment.as_mut_slice::<u32>()[..len].iter_mut().zip(codes) {
        *out = code;
    }
    Ok(Translation { segment: Arc::new(segment), len })
}

/// The translation of a part's column of texts to a dictionary, if that has all its texts.
pub(crate) fn known_texts(
    heap: &StringHeap,
    part: &Part,
    shared: Shared<'_>,
    context: &BuildContext<'_>,
) -> SqlResult<Option<Translation>> {
    let own = heap_of(&part.columns[shared.column]);
    let code = |it| heap.find(own.bytes_at(it)).map(|it| it as u32);
    let Some(codes) = (0..own.len()).map(code).collect::<Option<Vec<u32>>>() else {
        return Ok(None);
    };
    translation(codes.into_iter(), shared, part.number, context).map(Some)
}

/// What follows from the facts of columns, those of the parts in their order, about all of them together.
pub(crate) struct Bounds {
    pub(crate) nulls: u64,
    pub(crate) min: Option<Value>,
    pub(crate) max: Option<Value>,
    pub(crate) sorted: bool,
    /// Whether no two of them can share a value.
    pub(crate) apart: bool,
}

impl Bounds {
    pub(crate) fn of(columns: &[&Column]) -> Self {
        let data_type = columns[0].data_type;
        let nulls = columns.iter().map(|it| it.statistics.nulls).sum();
        let filled = || columns.iter().map(|it| &it.statistics).filter(|it| it.min.is_some());
        let least = |a: &&Value, b: &&Value| order(data_type, a, b);
        let min = filled().filter_map(|it| it.min.as_ref()).min_by(least).cloned();
        let max = filled().filter_map(|it| it.max.as_ref()).max_by(least).cloned();
        let step = |a: &ColumnStatistics, b: &ColumnStatistics| match (&a.max, &b.min) {
            (Some(max), Some(min)) => order(data_type, max, min),
            _ => Ordering::Greater,
        };
        let all: Vec<&ColumnStatistics> = filled().collect();
        let sorted = nulls == 0
            && all.iter().all(|it| it.sorted)
            && all.windows(2).all(|it| step(it[0], it[1]).is_le());
        let mut by_least = all;
        by_least.sort_by(|a, b| match (&a.min, &b.min) {
            (Some(a), Some(b)) => order(data_type, a, b),
            _ => Ordering::Equal,
        });
        let apart = by_least.windows(2).all(|it| step(it[0], it[1]).is_lt());
        Self { nulls, min, max, sorted, apart }
    }
}

/// Facts about all parts together.
fn statistics(
    columns: &[&Column],
    distinct: Option<u64>,
    additive: bool,
    context: &BuildContext<'_>,
) -> SqlResult<ColumnStatistics> {
    let rows: u64 = columns.iter().map(|it| it.rows() as u64).sum();
    let Bounds { nulls, min, max, sorted, apart } = Bounds::of(columns);
    let apart = additive || apart;
    let filled: Vec<&Column> =
        columns.iter().copied().filter(|it| it.statistics.min.is_some()).collect();
    let (distinct, distinct_exact) = match distinct {
        Some(distinct) => (distinct, true),
        None if apart || columns[0].data_type.stored().is_text() => (
            filled.iter().map(|it| it.statistics.distinct).sum(),
            apart && filled.iter().all(|it| it.statistics.distinct_exact),
        ),
        None => count_numbers(&filled, context)?,
    };
    let distinct = distinct.min(rows - nulls);
    Ok(ColumnStatistics { nulls, distinct, distinct_exact, min, max, sorted, widened: false })
}

/// The order of two values of a column.
pub(crate) fn order(data_type: DataType, a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Integer(a), Value::Integer(b)) if !data_type.is_float() => a.cmp(b),
        _ => key_equal_to(data_type, a).cmp(&key_equal_to(data_type, b)),
    }
}

/// Distinct numbers of several columns, none without a value, and whether the count is exact.
fn count_numbers(columns: &[&Column], context: &BuildContext<'_>) -> SqlResult<(u64, bool)> {
    let data_type = columns[0].data_type;
    let bound = |it: &Option<Value>| it.as_ref().and_then(|it| key_equal_to(data_type, it));
    let low = columns.iter().filter_map(|it| bound(&it.statistics.min)).min();
    let high = columns.iter().filter_map(|it| bound(&it.statistics.max)).max();
    // Decimals may be further apart than 128 bits tell.
    let span = low.zip(high).and_then(|(low, high)| Some((low, high.checked_sub(low)?)));
    if let Some((low, span)) = span.filter(|it| it.1 < i128::from(BITMAP_VALUES)) {
        return Ok((count_by_bits(columns, low as i64, span as usize, context)?, true));
    }
    if columns.iter().all(|it| matches!(it.encoding, Encoding::Dictionary(_))) {
        let lists = columns.iter().map(|it| dictionary_keys(it)).collect();
        return Ok((merge_sorted(context.parallel, lists)?.len() as u64, true));
    }
    let blocks = blocks_of(columns);
    let sketches = try_map(context.parallel, blocks.len(), |task| {
        context.check_cancelled()?;
        let (mut sketch, (column, rows)) = (Sketch::new(), blocks[task].clone());
        for_each_key(columns[column], rows, |key| sketch.add(hash_int(key as u64)));
        Ok(sketch)
    })?;
    let mut total = Sketch::new();
    sketches.iter().for_each(|it| total.merge(it));
    Ok((total.estimate() as u64, false))
}

fn count_by_bits(
    columns: &[&Column],
    low: i64,
    span: usize,
    context: &BuildContext<'_>,
) -> SqlResult<u64> {
    let bits: Vec<AtomicU64> = (0..span / 64 + 1).map(|_| AtomicU64::new(0)).collect();
    let mark = |key: i64| {
        let at = key.wrapping_sub(low) as usize;
        let (word, bit) = (&bits[at / 64], 1 << (at % 64));
        if word.load(Memory::Relaxed) & bit == 0 {
            word.fetch_or(bit, Memory::Relaxed);
        }
    };
    let blocks = blocks_of(columns);
    try_map(context.parallel, blocks.len(), |task| {
        context.check_cancelled()?;
        let (column, rows) = blocks[task].clone();
        let (column, first) = (columns[column], rows.start == 0);
        match &column.encoding {
            // What is known of the codes spares a look at the rows.
            Encoding::Dictionary(_) => {
                if first {
                    dictionary_keys(column).into_iter().for_each(|it| mark(it as i64));
                }
            }
            Encoding::Offset { min } if column.statistics.distinct == column.code_count as u64 => {
                if first {
                    (0..column.code_count as i64).for_each(|it| mark(min.wrapping_add(it)));
                }
            }
            _ => for_each_key(column, rows, mark),
        }
        Ok(())
    })?;
    Ok(bits.iter().map(|it| u64::from(it.load(Memory::Relaxed).count_ones())).sum())
}

/// The blocks of some columns: the column and the rows of each.
fn blocks_of(columns: &[&Column]) -> Vec<(usize, Range<usize>)> {
    let blocks = |(index, column): (usize, &&Column)| {
        let rows = column.rows();
        (0..rows).step_by(BLOCK_ROWS).map(move |it| (index, it..rows.min(it + BLOCK_ROWS)))
    };
    columns.iter().enumerate().flat_map(blocks).collect()
}
