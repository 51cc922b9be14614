//! Where rows come from: Arrow batches, another table, or several of these one after the other.

use std::ops::Range;

use arrow_array::{RecordBatch, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use types::{SqlError, SqlResult};

use super::context::BuildContext;
use super::convert::piece_of;
use super::piece::{Piece, PieceValues};
use super::reader::RowSource;
use crate::export::{column_to_arrow, ints};
use crate::word::key_of_float;
use crate::{BLOCK_ROWS, Column, ColumnSchema, Dictionary, Encoding, Part, Table};

/// Batches in memory; columns go by place.
pub(crate) struct BatchRows(Vec<RecordBatch>);

impl BatchRows {
    pub(crate) fn new(batches: Vec<RecordBatch>) -> Self {
        Self(batches)
    }
}

impl RowSource for BatchRows {
    fn chunks(&self) -> usize {
        self.0.len()
    }

    fn rows(&self, chunk: usize) -> usize {
        self.0[chunk].num_rows()
    }

    fn read(
        &self,
        chunk: usize,
        column: usize,
        schema: &ColumnSchema,
        _: &BuildContext<'_>,
    ) -> SqlResult<Vec<Piece>> {
        let array = self.0[chunk].columns().get(column).ok_or_else(|| {
            SqlError::internal(format!("a batch has no column for \"{}\"", schema.name))
        })?;
        Ok(vec![piece_of(array, schema)?])
    }
}

/// The rows of parts, some blocks at a time, part by part.
struct PartRows<'a> {
    parts: &'a [Part],
    /// The part and its rows of each chunk.
    chunks: Vec<(usize, Range<usize>)>,
}

const CHUNK_ROWS: usize = 8 * BLOCK_ROWS;

impl PartRows<'_> {
    fn read(&self, chunk: usize, column: usize, schema: &ColumnSchema) -> SqlResult<Vec<Piece>> {
        let (part, rows) = &self.chunks[chunk];
        pieces_of(&self.parts[*part].columns[column], rows.clone(), schema)
    }
}

/// Decodes some rows of a column.
pub(crate) fn pieces_of(
    column: &Column,
    rows: Range<usize>,
    schema: &ColumnSchema,
) -> SqlResult<Vec<Piece>> {
    let nulls = nulls_of(column, rows.clone());
    let piece = match &column.encoding {
        Encoding::Dictionary(Dictionary::Text(heap)) if heap.all_bytes().len() < 1 << 30 => {
            let texts = StringArray::from_iter_values((0..heap.len()).map(|it| heap.get(it)));
            let mut codes = vec![0; rows.len()];
            bitpack::unpack_u32(column.packed(), column.bits(), rows.start, &mut codes);
            if let Some(null) = column.null_code() {
                codes.iter_mut().filter(|it| **it == null).for_each(|it| *it = 0);
            }
            Piece::new(PieceValues::Coded { codes, texts }, nulls)
        }
        // Pieces of few rows, so that texts stay below what 32-bit offsets reach.
        _ if column.data_type.stored().is_text() => {
            return rows
                .clone()
                .step_by(BLOCK_ROWS / 8)
                .map(|it| it..(it + BLOCK_ROWS / 8).min(rows.end))
                .map(|it| piece_of(&column_to_arrow(column, it), schema))
                .collect();
        }
        Encoding::Dictionary(Dictionary::Wide(values)) => {
            let value = |row| {
                let code = column.iv().get(row) as usize;
                values.as_slice().get(code).copied().unwrap_or(0)
            };
            Piece::new(PieceValues::Wide(rows.map(value).collect()), nulls)
        }
        Encoding::Dictionary(Dictionary::Float(values)) => {
            let key = |row| {
                let code = column.iv().get(row) as usize;
                key_of_float(values.as_slice().get(code).copied().unwrap_or(0.0))
            };
            Piece::ints(rows.map(key).collect::<Vec<_>>(), nulls)
        }
        // Words of floats are their keys, as those of integers are.
        _ => {
            let keys = ints(column, rows);
            Piece::ints(keys.into_iter().map(|it| it.unwrap_or(0)).collect::<Vec<_>>(), nulls)
        }
    };
    Ok(vec![piece])
}

/// The rows of a list, counted over all pieces, cut out of each piece.
pub(crate) fn deal(pieces: &[Piece], rows: &[u32]) -> Vec<Piece> {
    let mut dealt = Vec::with_capacity(pieces.len());
    let (mut start, mut taken) = (0, 0);
    for piece in pieces {
        let end = start + piece.rows;
        let until = rows.partition_point(|&it| (it as usize) < end);
        let here: Vec<u32> = rows[taken..until].iter().map(|&it| it - start as u32).collect();
        if !here.is_empty() {
            dealt.push(piece.take(&here));
        }
        (start, taken) = (end, until);
    }
    dealt
}

fn nulls_of(column: &Column, rows: Range<usize>) -> Option<NullBuffer> {
    (column.statistics.nulls > 0).then(|| {
        let valid = rows.map(|row| !column.is_null(row));
        NullBuffer::new(valid.collect::<BooleanBuffer>())
    })
}

/// The rows of a table, or of some parts, that are there, without some that go.
pub(crate) struct KeptRows<'a> {
    all: PartRows<'a>,
    /// By chunk: its rows that are left, counted from its first; `None` where all are.
    kept: Vec<Option<Vec<u32>>>,
}

impl<'a> KeptRows<'a> {
    /// All rows but those at these positions, which rise.
    pub(crate) fn new(table: &'a Table, gone: &[u64]) -> Self {
        let all: Vec<usize> = (0..table.parts().len()).collect();
        Self::of_parts(table.parts(), &all, gone)
    }

    /// The rows of some parts but those at these positions, which rise.
    pub(crate) fn of_parts(parts: &'a [Part], which: &[usize], gone: &[u64]) -> Self {
        let chunks = which.iter().flat_map(|&part| {
            let rows = parts[part].rows();
            let range = move |start| start..rows.min(start + CHUNK_ROWS);
            (0..rows).step_by(CHUNK_ROWS).map(move |start| (part, range(start)))
        });
        let all = PartRows { parts, chunks: chunks.collect() };
        let kept = |(part, rows): &(usize, Range<usize>)| {
            let first = (parts[*part].positions().start + rows.start) as u64;
            let deletions = parts[*part].deletions();
            let here = gone.partition_point(|it| *it < first)
                ..gone.partition_point(|it| *it < first + rows.len() as u64);
            let gone = &gone[here];
            if gone.is_empty() && deletions.is_none() {
                return None;
            }
            let is_kept = |row: &u32| {
                let goes = gone.binary_search(&(first + u64::from(*row))).is_ok();
                !goes && !deletions.is_some_and(|it| it.contains(rows.start + *row as usize))
            };
            Some((0..rows.len() as u32).filter(is_kept).collect())
        };
        let kept = all.chunks.iter().map(kept).collect();
        Self { all, kept }
    }
}

impl RowSource for KeptRows<'_> {
    fn chunks(&self) -> usize {
        self.all.chunks.len()
    }

    fn rows(&self, chunk: usize) -> usize {
        self.kept[chunk].as_ref().map_or(self.all.chunks[chunk].1.len(), Vec::len)
    }

    fn read(
        &self,
        chunk: usize,
        column: usize,
        schema: &ColumnSchema,
        _: &BuildContext<'_>,
    ) -> SqlResult<Vec<Piece>> {
        let pieces = self.all.read(chunk, column, schema)?;
        Ok(match &self.kept[chunk] {
            None => pieces,
            Some(rows) => deal(&pieces, rows),
        })
    }
}

/// Several sources, one after the other.
pub(crate) struct Chained<'a> {
    parts: Vec<&'a dyn RowSource>,
}

impl<'a> Chained<'a> {
    pub(crate) fn new(parts: Vec<&'a dyn RowSource>) -> Self {
        Self { parts }
    }

    fn find(&self, mut chunk: usize) -> (&'a dyn RowSource, usize) {
        for part in &self.parts {
            if chunk < part.chunks() {
                return (*part, chunk);
            }
            chunk -= part.chunks();
        }
        unreachable!("invariant: a chunk is below the number of chunks")
    }
}

impl RowSource for Chained<'_> {
    fn chunks(&self) -> usize {
        self.parts.iter().map(|it| it.chunks()).sum()
    }

    fn rows(&self, chunk: usize) -> usize {
        let (part, chunk) = self.find(chunk);
        part.rows(chunk)
    }

    fn read(
        &self,
        chunk: usize,
        column: usize,
        schema: &ColumnSchema,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<Piece>> {
        let (part, chunk) = self.find(chunk);
        part.read(chunk, column, schema, context)
    }
}
