//! Builds tables column by column: read a column of all chunks, choose its encoding, pack it, let go of it, next.
//!
//! One column at a time bounds the memory beside the finished columns by the widest column. Chunks are read in
//! parallel; so are the blocks of a column when it is packed.

mod assign;
mod convert;
pub(crate) mod hash;
pub(crate) mod merge;
mod numbers;
pub(crate) mod pack;
pub(crate) mod parts;
mod piece;
mod sources;
pub(crate) mod text;
mod text_compress;
mod text_plain;
mod wide;

use arrow_array::RecordBatch;
use memory::Allocator;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult, SqlState};

use crate::parallel::try_map;
use crate::partition::Router;
use crate::place::ColumnPlace;
use crate::{Column, ColumnSchema, NoProgress, Parallel, Progress, Serial, Table, TableDesign};

pub(crate) use convert::piece_of;
pub(crate) use hash::Sketch;
use piece::Pieces;
pub(crate) use piece::{Piece, PieceValues};
pub(crate) use sources::{BatchRows, Chained, TableRows, pieces_of};

/// Values below which waking workers costs more than they save.
const SERIAL_VALUES: usize = 1 << 15;

/// What a build needs from the layers above and below.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// Workers.
    pub parallel: &'a dyn Parallel,
    /// Placed memory; its machine tells the topology.
    pub allocator: &'a Allocator,
    /// Columns that other tables have: the first column goes to the node whose turn it is after them.
    pub turn: usize,
    /// Hears how far the build is.
    pub progress: &'a dyn Progress,
    /// Asked often; `true` ends the build with 57014.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// How a new table is cut and placed. A table that is built anew keeps its own design.
    pub design: &'a TableDesign,
    /// Bytes of near-unique texts from which on a column is compressed, if that saves enough.
    pub compress_from: usize,
}

/// [`BuildContext::compress_from`] where nobody says it: smaller columns would save little memory.
pub const COMPRESS_FROM: usize = 32 << 20;

/// What nobody designed.
static PLAIN_DESIGN: TableDesign = TableDesign::PLAIN;

impl<'a> BuildContext<'a> {
    /// A build on the calling thread that nobody watches or stops.
    pub fn serial(allocator: &'a Allocator) -> Self {
        let (progress, cancelled) = (&NoProgress, &|| false);
        let design = &PLAIN_DESIGN;
        let compress_from = COMPRESS_FROM;
        Self { parallel: &Serial, allocator, turn: 0, progress, cancelled, design, compress_from }
    }

    pub(crate) fn check_cancelled(&self) -> SqlResult<()> {
        if (self.cancelled)() {
            return Err(SqlError::new(SqlState::QUERY_CANCELED, "the load was cancelled"));
        }
        Ok(())
    }
}

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

/// Rows in chunks that can be read column by column, from several threads at once.
pub(crate) trait RowSource: Sync {
    /// How many chunks.
    fn chunks(&self) -> usize;
    /// How many rows a chunk has.
    fn rows(&self, chunk: usize) -> usize;
    /// A column of a chunk, converted to the type of the table's column.
    fn read(
        &self,
        chunk: usize,
        column: usize,
        schema: &ColumnSchema,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<Piece>>;
}

/// What one column is built with.
pub(crate) struct ColumnBuild<'a> {
    pub(crate) schema: &'a ColumnSchema,
    pub(crate) pieces: Pieces,
    pub(crate) context: BuildContext<'a>,
    pub(crate) place: ColumnPlace<'a>,
    /// Whether a column of text is plain; `None` to decide by its texts.
    pub(crate) plain: Option<bool>,
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
            let columns = build_columns(&reader, &design)?;
            Table::whole(name, columns, reader.rows as u64, design)
        }
        Some(router) => {
            let columns = parts::build(&reader, &router, &design, &[])?;
            Table::parted(name, schema, columns, design, &reader.context)?
        }
    };
    table.follow_preference(&reader.context)
}

/// Reads the chunks of a source, column by column, and tells how far it is.
pub(crate) struct ChunkReader<'a> {
    schema: &'a [ColumnSchema],
    source: &'a dyn RowSource,
    context: BuildContext<'a>,
    /// Rows of all chunks.
    rows: usize,
    done: AtomicU64,
}

impl<'a> ChunkReader<'a> {
    pub(crate) fn new(
        schema: &'a [ColumnSchema],
        source: &'a dyn RowSource,
        context: &BuildContext<'a>,
    ) -> Self {
        let rows = (0..source.chunks()).map(|it| source.rows(it)).sum();
        let mut context = *context;
        if usize::saturating_mul(rows, schema.len()) <= SERIAL_VALUES {
            context.parallel = &Serial;
        }
        Self { schema, source, context, rows, done: AtomicU64::new(0) }
    }

    fn read(&self, chunk: usize, column: usize) -> SqlResult<Vec<Piece>> {
        self.context.check_cancelled()?;
        self.source.read(chunk, column, &self.schema[column], &self.context)
    }

    /// Notes that a column of a chunk has been read.
    fn advance(&self, chunk: usize) {
        let more = self.source.rows(chunk) as u64;
        let total = self.rows as u64 * self.schema.len() as u64;
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        self.context.progress.advance(done, total);
    }

    /// Columns that are read at once: with few chunks several, so that no worker is idle.
    fn wave(&self) -> usize {
        let wanted = (4 * self.context.parallel.width()).div_ceil(self.source.chunks().max(1));
        wanted.min(self.schema.len()).max(1)
    }
}

/// Builds the columns of a table in one piece.
fn build_columns(reader: &ChunkReader<'_>, design: &TableDesign) -> SqlResult<Vec<Arc<Column>>> {
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
            let placement = design.placement_of(topology, column, 0);
            let turn = context.turn.wrapping_add(column);
            let place = ColumnPlace::new(context.allocator, &placement, turn);
            let build = ColumnBuild { schema, pieces, context, place, plain: None };
            columns.push(Arc::new(build.finish()?));
        }
    }
    Ok(columns)
}

impl ColumnBuild<'_> {
    fn finish(self) -> SqlResult<Column> {
        self.context.check_cancelled()?;
        if self.schema.data_type.is_text() || self.schema.data_type == types::DataType::Null {
            text::build(self)
        } else if self.pieces.any_wide() {
            wide::build(self)
        } else {
            numbers::build(self)
        }
    }
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
