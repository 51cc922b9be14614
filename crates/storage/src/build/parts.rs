//! Builds the columns of the parts of a table: rows are dealt into parts chunk by chunk, and each part is built from its
//! rows as a table of its own would be, with its own dictionaries, on its own place (PP of P-HANA 4.2).

use hardware::Topology;
use stdx::sync::{Arc, Mutex};
use types::{DataType, SqlResult};

use super::column::ColumnBuild;
use super::context::BuildContext;
use super::piece::{Piece, Pieces};
use super::reader::ChunkReader;
use super::sources::{deal, pieces_of};
use super::text::near_unique;
use crate::parallel::try_map;
use crate::partition::Router;
use crate::place::ColumnPlace;
use crate::{BLOCK_ROWS, Column, ColumnSchema, Encoding, Part, Serial, TableDesign};

/// Rows of an old part that are decoded as one task.
const CHUNK_ROWS: usize = 8 * BLOCK_ROWS;

/// Builds the columns of each part: of its old rows, if there are parts already, and then of those that the reader
/// brings. A part that gets no new rows keeps its columns.
pub(crate) fn build(
    reader: &ChunkReader<'_>,
    router: &Router,
    design: &TableDesign,
    old: &[Part],
) -> SqlResult<Vec<Vec<Arc<Column>>>> {
    let parts = design.partitioning.parts();
    let build = PartsBuild { reader, design, old, lists: assign(reader, router)? };
    let grows = |part: &usize| old.is_empty() || build.lists.iter().any(|it| !it[*part].is_empty());
    let growing: Vec<usize> = (0..parts).filter(grows).collect();
    let mut columns: Vec<Vec<Arc<Column>>> = vec![Vec::new(); parts];
    for column in 0..reader.schema.len() {
        let built = build.column(column, &growing)?;
        for (part, columns) in columns.iter_mut().enumerate() {
            match growing.binary_search(&part) {
                Ok(index) => columns.push(built[index].clone()),
                Err(_) => columns.push(old[part].columns[column].clone()),
            }
        }
    }
    Ok(columns)
}

/// A part without rows, by its number in a design, whose texts are kept as those of another.
pub(crate) fn empty_part(
    like: &Part,
    schema: &[ColumnSchema],
    (design, number): (&TableDesign, usize),
    context: &BuildContext<'_>,
) -> SqlResult<Part> {
    let topology = context.allocator.machine().topology();
    let empty = |(column, (schema, like)): (usize, (&ColumnSchema, &Arc<Column>))| {
        let placement = design.placement_of(topology, column, number);
        let turn = design.turn_of(column, number, 0);
        let place = ColumnPlace::new(context.allocator, &placement, turn);
        let plain = Some(matches!(like.encoding, Encoding::Plain(_)));
        let pieces = Pieces::new(Vec::new());
        ColumnBuild { schema, pieces, context: *context, place, plain }.finish().map(Arc::new)
    };
    let columns = schema.iter().zip(like.columns.iter()).enumerate().map(empty);
    let columns = columns.collect::<SqlResult<_>>()?;
    Ok(Part::new(columns, number, 0, Vec::new()))
}

/// The rows of each part in each chunk.
fn assign(reader: &ChunkReader<'_>, router: &Router) -> SqlResult<Vec<Vec<Vec<u32>>>> {
    let source = reader.source;
    let mut firsts = vec![0];
    for chunk in 0..source.chunks() {
        firsts.push(firsts[chunk] + source.rows(chunk));
    }
    try_map(reader.context.parallel, source.chunks(), |chunk| {
        let keys: Vec<Vec<Piece>> =
            router.columns().iter().map(|&it| reader.read(chunk, it)).collect::<SqlResult<_>>()?;
        Ok(router.assign(&keys, firsts[chunk], source.rows(chunk)))
    })
}

struct PartsBuild<'a> {
    reader: &'a ChunkReader<'a>,
    design: &'a TableDesign,
    old: &'a [Part],
    /// By chunk and part.
    lists: Vec<Vec<Vec<u32>>>,
}

impl PartsBuild<'_> {
    fn topology(&self) -> &Topology {
        self.reader.context.allocator.machine().topology()
    }

    /// Builds a column of the growing parts.
    fn column(&self, column: usize, growing: &[usize]) -> SqlResult<Vec<Arc<Column>>> {
        let pieces = self.pieces(column, growing)?;
        let plain = self.plain(column, &pieces)?;
        let input: Vec<Mutex<Vec<Piece>>> = pieces.into_iter().map(Mutex::new).collect();
        let build = |index: usize, context: BuildContext<'_>| {
            let pieces = Pieces::new(std::mem::take(&mut *input[index].lock()));
            let part = growing[index];
            let placement = self.design.placement_of(self.topology(), column, part);
            let turn = self.design.turn_of(column, part, 0);
            let place = ColumnPlace::new(context.allocator, &placement, turn);
            let schema = &self.reader.schema[column];
            ColumnBuild { schema, pieces, context, place, plain }.finish().map(Arc::new)
        };
        let context = self.reader.context;
        // Each part holds about as many of the column's bytes as another.
        let compress_from = context.compress_from / self.design.partitioning.parts();
        let context = BuildContext { compress_from, ..context };
        if growing.len() < context.parallel.width() {
            return (0..growing.len()).map(|index| build(index, context)).collect();
        }
        // As many parts as workers: each part is one task, and its workers need not wait for each other.
        let alone = BuildContext { parallel: &Serial, ..context };
        try_map(context.parallel, growing.len(), |index| build(index, alone))
    }

    /// The rows of a column by growing part, the old ones first.
    fn pieces(&self, column: usize, growing: &[usize]) -> SqlResult<Vec<Vec<Piece>>> {
        let (reader, parallel) = (self.reader, self.reader.context.parallel);
        let schema = &reader.schema[column];
        let olds: Vec<(usize, usize)> = (growing.iter().enumerate())
            .filter(|_| !self.old.is_empty())
            .flat_map(|(index, &part)| {
                (0..self.old[part].rows()).step_by(CHUNK_ROWS).map(move |start| (index, start))
            })
            .collect();
        let old_pieces = try_map(parallel, olds.len(), |task| {
            let (index, start) = olds[task];
            reader.context.check_cancelled()?;
            let part = &self.old[growing[index]];
            let rows = start..part.rows().min(start + CHUNK_ROWS);
            pieces_of(&part.columns[column], rows, schema)
        })?;
        let new_pieces = try_map(parallel, self.lists.len(), |chunk| {
            let pieces = reader.read(chunk, column)?;
            let dealt = growing.iter().map(|&part| deal(&pieces, &self.lists[chunk][part]));
            let dealt: Vec<Vec<Piece>> = dealt.collect();
            reader.advance(chunk);
            Ok(dealt)
        })?;
        let mut by_part: Vec<Vec<Piece>> = growing.iter().map(|_| Vec::new()).collect();
        for ((index, _), pieces) in olds.iter().zip(old_pieces) {
            by_part[*index].extend(pieces);
        }
        for chunk in new_pieces {
            for (all, pieces) in by_part.iter_mut().zip(chunk) {
                all.extend(pieces);
            }
        }
        Ok(by_part)
    }

    /// Whether the texts of a column are kept one per row: alike in all parts, and as it was if there are old parts.
    fn plain(&self, column: usize, pieces: &[Vec<Piece>]) -> SqlResult<Option<bool>> {
        let data_type = self.reader.schema[column].data_type;
        if !data_type.stored().is_text() && data_type != DataType::Null {
            return Ok(None);
        }
        if let Some(part) = self.old.first() {
            return Ok(Some(matches!(part.columns[column].encoding, Encoding::Plain(_))));
        }
        let all: Vec<&Piece> = pieces.iter().flatten().collect();
        Ok(Some(near_unique(self.reader.context.parallel, &all)?.is_some()))
    }
}
