//! Rows in chunks: the trait of what has some, and the reader that a build takes them through.

use stdx::sync::atomic::{AtomicU64, Ordering};
use types::SqlResult;

use super::context::BuildContext;
use super::piece::Piece;
use crate::{ColumnSchema, Serial};

/// Values below which waking workers costs more than they save.
const SERIAL_VALUES: usize = 1 << 15;

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

/// Reads the chunks of a source, column by column, and tells how far it is.
pub(crate) struct ChunkReader<'a> {
    pub(super) schema: &'a [ColumnSchema],
    pub(super) source: &'a dyn RowSource,
    pub(super) context: BuildContext<'a>,
    /// Rows of all chunks.
    pub(super) rows: usize,
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

    /// How it builds: with no other workers where there are few values.
    pub(crate) fn context(&self) -> &BuildContext<'a> {
        &self.context
    }

    pub(super) fn read(&self, chunk: usize, column: usize) -> SqlResult<Vec<Piece>> {
        self.context.check_cancelled()?;
        self.source.read(chunk, column, &self.schema[column], &self.context)
    }

    /// Notes that a column of a chunk has been read.
    pub(super) fn advance(&self, chunk: usize) {
        let more = self.source.rows(chunk) as u64;
        let total = self.rows as u64 * self.schema.len() as u64;
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        self.context.progress.advance(done, total);
    }

    /// Columns that are read at once: with few chunks several, so that no worker is idle.
    pub(super) fn wave(&self) -> usize {
        let wanted = (4 * self.context.parallel.width()).div_ceil(self.source.chunks().max(1));
        wanted.min(self.schema.len()).max(1)
    }
}
