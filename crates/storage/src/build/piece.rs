//! Decoded rows of one column on their way into an index vector.

use std::ops::Range;

use arrow_array::{Array, StringArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};

/// Neighbouring rows of a column.
#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) rows: usize,
    pub(crate) values: PieceValues,
    /// Present only when some row is NULL.
    pub(crate) nulls: Option<NullBuffer>,
}

#[derive(Clone)]
pub(crate) enum PieceValues {
    /// Stored integers or float keys; what stands at a NULL is arbitrary.
    Int {
        values: ScalarBuffer<i64>,
        /// Least and greatest that is not NULL.
        range: Option<(i64, i64)>,
    },
    /// Unscaled decimals that do not all fit 64 bits.
    Wide(Vec<i128>),
    /// A text per row.
    Text(StringArray),
    /// A text of a dictionary per row; codes at NULL are zero.
    Coded { codes: Vec<u32>, texts: StringArray },
}

impl Piece {
    pub(crate) fn new(values: PieceValues, nulls: Option<NullBuffer>) -> Self {
        let rows = match &values {
            PieceValues::Int { values, .. } => values.len(),
            PieceValues::Wide(values) => values.len(),
            PieceValues::Text(texts) => texts.len(),
            PieceValues::Coded { codes, .. } => codes.len(),
        };
        Self { rows, values, nulls: nulls.filter(|it| it.null_count() > 0) }
    }

    /// A piece of integers, which are not copied; finds their range.
    pub(crate) fn ints(values: impl Into<ScalarBuffer<i64>>, nulls: Option<NullBuffer>) -> Self {
        let values = values.into();
        let range = match nulls.as_ref().filter(|it| it.null_count() > 0) {
            None => {
                let ends = (i64::MAX, i64::MIN);
                let ends = values.iter().fold(ends, |(low, high), &it| (low.min(it), high.max(it)));
                (!values.is_empty()).then_some(ends)
            }
            Some(nulls) => nulls.valid_indices().map(|it| &values[it]).fold(None, widen),
        };
        Self::new(PieceValues::Int { values, range }, nulls)
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|it| it.is_null(row))
    }

    pub(crate) fn null_count(&self) -> usize {
        self.nulls.as_ref().map_or(0, |it| it.null_count())
    }

    /// The text of a row of a piece of texts; empty for NULL and for numbers.
    pub(crate) fn text(&self, row: usize) -> &[u8] {
        match &self.values {
            _ if self.is_null(row) => &[],
            PieceValues::Text(texts) => text_bytes(texts, row),
            PieceValues::Coded { codes, texts } => text_bytes(texts, codes[row] as usize),
            PieceValues::Int { .. } | PieceValues::Wide(_) => &[],
        }
    }

    /// The number of a row of a piece of numbers, whatever it is at a NULL.
    pub(crate) fn number(&self, row: usize) -> Option<i128> {
        match &self.values {
            PieceValues::Int { values, .. } => values.get(row).map(|it| (*it).into()),
            PieceValues::Wide(values) => values.get(row).copied(),
            PieceValues::Text(_) | PieceValues::Coded { .. } => None,
        }
    }

    /// The rows at some places, in that order.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        let nulls = self.nulls.as_ref().map(|nulls| {
            NullBuffer::new(rows.iter().map(|&it| nulls.is_valid(it as usize)).collect())
        });
        let places = || rows.iter().map(|&it| it as usize);
        let values = match &self.values {
            PieceValues::Int { values, .. } => {
                return Self::ints(places().map(|it| values[it]).collect::<Vec<_>>(), nulls);
            }
            PieceValues::Wide(values) => PieceValues::Wide(places().map(|it| values[it]).collect()),
            PieceValues::Coded { codes, texts } => PieceValues::Coded {
                codes: places().map(|it| codes[it]).collect(),
                texts: texts.clone(),
            },
            PieceValues::Text(texts) => PieceValues::Text(StringArray::from_iter_values(
                places().map(|it| if texts.is_valid(it) { texts.value(it) } else { "" }),
            )),
        };
        Self::new(values, nulls)
    }

    /// The integers of an integer piece.
    pub(crate) fn as_ints(&self) -> &[i64] {
        match &self.values {
            PieceValues::Int { values, .. } => values,
            _ => &[],
        }
    }
}

/// The bytes of a text of an array, whatever stands at a NULL.
#[inline]
pub fn text_bytes(texts: &StringArray, row: usize) -> &[u8] {
    let offsets = texts.value_offsets();
    &texts.value_data()[offsets[row] as usize..offsets[row + 1] as usize]
}

fn widen(range: Option<(i64, i64)>, value: &i64) -> Option<(i64, i64)> {
    let (low, high) = range.unwrap_or((*value, *value));
    Some((low.min(*value), high.max(*value)))
}

/// All rows of a column in pieces.
pub(crate) struct Pieces {
    pub(crate) list: Vec<Piece>,
    /// The first row of each piece, and the end of the last.
    pub(crate) starts: Vec<usize>,
    pub(crate) nulls: usize,
}

impl Pieces {
    pub(crate) fn new(list: Vec<Piece>) -> Self {
        let list: Vec<Piece> = list.into_iter().filter(|it| it.rows > 0).collect();
        let mut starts = vec![0];
        let mut end = 0;
        for piece in &list {
            end += piece.rows;
            starts.push(end);
        }
        let nulls = list.iter().map(Piece::null_count).sum();
        Self { list, starts, nulls }
    }

    pub(crate) fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(crate) fn any_wide(&self) -> bool {
        self.list.iter().any(|it| matches!(it.values, PieceValues::Wide(_)))
    }

    /// Least and greatest integer of all pieces.
    pub(crate) fn range(&self) -> Option<(i64, i64)> {
        let ranges = self.list.iter().filter_map(|it| match &it.values {
            PieceValues::Int { range, .. } => *range,
            _ => None,
        });
        ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Calls `body` with each piece under a range of rows: its number, its rows in the range, and their place there.
    pub(crate) fn under(
        &self,
        rows: Range<usize>,
        mut body: impl FnMut(usize, Range<usize>, Range<usize>),
    ) {
        let mut index = self.starts.partition_point(|&it| it <= rows.start).saturating_sub(1);
        let mut row = rows.start;
        while row < rows.end {
            let start = self.starts[index];
            let end = self.starts[index + 1].min(rows.end);
            body(index, row - start..end - start, row - rows.start..end - rows.start);
            row = end;
            index += 1;
        }
    }
}
