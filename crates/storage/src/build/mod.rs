//! Builds tables column by column: read a column of all chunks, choose its encoding, pack it, let go of it, next.
//!
//! One column at a time bounds the memory beside the finished columns by the widest column. Chunks are read in
//! parallel; so are the blocks of a column when it is packed.

mod assign;
mod column;
mod column_change;
mod context;
pub(crate) mod convert;
mod encoding;
pub(crate) mod hash;
pub(crate) mod merge;
mod numbers;
pub(crate) mod pack;
mod parts;
pub(crate) mod piece;
mod reader;
mod rebuild;
mod sources;
pub(crate) mod text;
mod text_compress;
mod text_heap;
mod text_order;
mod text_plain;
mod text_union;
mod wide;

use arrow_array::RecordBatch;
use stdx::sync::{Arc, Mutex};
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::parallel::try_map;
use crate::partition::Router;
use crate::place::ColumnPlace;
use crate::{Column, ColumnSchema, Encoding, Part, PlaceTarget, Table, TableDesign};

pub(crate) use column::ColumnBuild;
pub use column_change::ColumnChange;
pub use context::{
    BrokenKeys, BuildContext, COMPRESS_FROM, DELTA_FROM, EverythingPutOff, NothingPutOff,
};
pub(crate) use convert::piece_of;
pub(crate) use hash::Sketch;
pub(crate) use pack::bits_for;
pub use piece::text_bytes;
pub(crate) use piece::{Piece, PieceValues, Pieces};
pub(crate) use reader::{ChunkReader, RowSource};
pub(crate) use sources::{BatchRows, Chained, KeptRows, pieces_of};

/// Collects batches from any number of producers and builds a table of them.
pub struct TableBuilder {
    name: String,
    schema: Vec<ColumnSchema>,
    chunks: Mutex<Vec<(u64, RecordBatch)>>,
}

impl TableBuilder {
    /// A builder of a table with these columns.
    pub fn new(name: impl Into<String>, schema: Vec<ColumnSchema>) -> Self {
        Self { name: name.into(), schema, chunks: Mutex::new(Vec::new()) }
    }

    /// Adds rows; those of lower `order` come first in the table, those of equal order as they were pushed.
    pub fn push(&self, order: u64, batch: RecordBatch) -> SqlResult<()> {
        if batch.num_columns() != self.schema.len() {
            let (given, wanted) = (batch.num_columns(), self.schema.len());
            let message = format!("table \"{}\" has {wanted} columns, not {given}", self.name);
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        self.chunks.lock().push((order, batch));
        Ok(())
    }

    /// Builds the table. Columns of the batches go by place.
    pub fn finish(self, context: &BuildContext<'_>) -> SqlResult<Table> {
        let mut chunks = self.chunks.into_inner();
        chunks.sort_by_key(|it| it.0);
        let rows = BatchRows::new(chunks.into_iter().map(|it| it.1).collect());
        build_table(&self.name, &self.schema, &rows, context)
    }
}

/// Builds a new table of all rows of a source, as the context designs it.
pub(crate) fn build_table(
    name: &str,
    schema: &[ColumnSchema],
    source: &dyn RowSource,
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let topology = context.allocator.machine().topology();
    let design = context.design.for_new_table(topology);
    build_designed(name, schema, source, design, context)
}

/// Builds a table of all rows of a source.
pub(crate) fn build_designed(
    name: &str,
    schema: &[ColumnSchema],
    source: &dyn RowSource,
    design: TableDesign,
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let reader = ChunkReader::new(schema, source, context);
    check_limits(name, schema, reader.rows)?;
    let table = match Router::new(&design.partitioning, schema, 0)? {
        None => {
            let columns = build_columns(&reader, &design, None)?;
            Table::whole(name, columns, reader.rows as u64, design)
        }
        Some(router) => {
            let columns = parts::build(&reader, &router, &design, &[])?;
            Table::parted(name, schema, columns, design, &reader.context)?
        }
    };
    table.follow_preference(&PlaceTarget::Table, &reader.context)
}

/// Builds the columns of a delta of a part: its texts are kept as those of the part.
pub(crate) fn delta_columns(
    reader: &ChunkReader<'_>,
    design: &TableDesign,
    main: &Part,
) -> SqlResult<Vec<Arc<Column>>> {
    build_columns(reader, design, Some(main))
}

/// Builds the columns of a table in one piece, or of a delta of a part.
fn build_columns(
    reader: &ChunkReader<'_>,
    design: &TableDesign,
    main: Option<&Part>,
) -> SqlResult<Vec<Arc<Column>>> {
    let (schema, context, chunks) = (reader.schema, reader.context, reader.source.chunks());
    let topology = context.allocator.machine().topology();
    let mut columns = Vec::with_capacity(schema.len());
    let wave = reader.wave();
    for first in (0..schema.len()).step_by(wave) {
        let wave = wave.min(schema.len() - first);
        let tasks = try_map(context.parallel, wave * chunks, |task| {
            let pieces = reader.read(task % chunks, first + task / chunks)?;
            reader.advance(task % chunks);
            Ok(pieces)
        })?;
        let mut tasks = tasks.into_iter();
        for (column, schema) in schema.iter().enumerate().skip(first).take(wave) {
            let pieces = Pieces::new(tasks.by_ref().take(chunks).flatten().collect());
            let number = main.map_or(0, Part::number);
            let placement = design.placement_of(topology, column, number);
            let turn = design.turn_of(column, number, context.turn);
            let place = ColumnPlace::new(context.allocator, &placement, turn);
            let is_text = schema.data_type.stored().is_text() || schema.data_type == DataType::Null;
            let is_plain = |it: &Part| matches!(it.columns[column].encoding, Encoding::Plain(_));
            let plain = main.filter(|_| is_text).map(is_plain);
            let build = ColumnBuild { schema, pieces, context, place, plain };
            columns.push(Arc::new(build.finish()?));
        }
    }
    Ok(columns)
}

fn check_limits(name: &str, schema: &[ColumnSchema], rows: usize) -> SqlResult<()> {
    let limit = |message: String| Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    if schema.len() > usize::from(u16::MAX) {
        return limit(format!("table \"{name}\" has {} columns; 65535 are possible", schema.len()));
    }
    // Positions of plain columns travel as 32-bit codes.
    if rows > u32::MAX as usize {
        return limit(format!(
            "table \"{name}\" would have {rows} rows; {} are possible",
            u32::MAX
        ));
    }
    let mut names: Vec<String> = schema.iter().map(|it| it.name.to_lowercase()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|it| it[0] == it[1]) {
        let message = format!("column \"{}\" of table \"{name}\" is named twice", pair[0]);
        return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
    }
    Ok(())
}
