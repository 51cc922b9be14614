//! Columns of decimals beyond 64 bits: always a dictionary.

use types::{ColumnStatistics, SqlResult};

use super::column::ColumnBuild;
use super::merge::merge_sorted;
use super::numbers::{column, store};
use super::pack::is_sorted;
use super::piece::{Piece, PieceValues};
use crate::parallel::map;
use crate::word::value_of_int;
use crate::{Column, Dictionary, Encoding};

/// Builds a column of which some piece needs 128 bits; others may be narrow.
pub(super) fn build(build: ColumnBuild<'_>) -> SqlResult<Column> {
    let list = &build.pieces.list;
    let lists = map(build.context.parallel, list.len(), |index| {
        let piece = &list[index];
        let mut values: Vec<i128> =
            (0..piece.rows).filter(|&it| !piece.is_null(it)).map(|it| value(piece, it)).collect();
        values.sort_unstable();
        values.dedup();
        values
    })?;
    let values = merge_sorted(build.context.parallel, lists)?;
    let (iv, zones) = build.pack_codes(values.len(), |_, piece, rows, out| {
        for (out, row) in out.iter_mut().zip(rows) {
            // A NULL row may hold a value that no other row has.
            *out = values.binary_search(&value(piece, row)).unwrap_or(0) as u32;
        }
    })?;
    let data_type = build.schema.data_type;
    let statistics = ColumnStatistics {
        nulls: build.pieces.nulls as u64,
        distinct: values.len() as u64,
        distinct_exact: true,
        min: values.first().map(|&it| value_of_int(data_type, it)),
        max: values.last().map(|&it| value_of_int(data_type, it)),
        sorted: is_sorted(&zones, |row| iv.get(row - 1) > iv.get(row)),
        widened: false,
    };
    let segment = build.place.dictionary(values.len() * 16, iv.packed().len())?;
    let sorted = store(segment, values.iter().copied(), 0..values.len());
    let encoding = Encoding::Dictionary(Dictionary::Wide(sorted));
    column(&build, encoding, (iv, zones), values.len(), None, statistics)
}

fn value(piece: &Piece, row: usize) -> i128 {
    match &piece.values {
        PieceValues::Wide(values) => values[row],
        _ => i128::from(piece.as_ints()[row]),
    }
}
