//! Tables of the rows of streams.

use stdx::sync::Mutex;
use types::{ColumnId, SqlResult};

use crate::build::{Piece, RowSource, build_table};
use crate::row_stream::{ColumnReader, RowReader, RowStream};
use crate::{BuildContext, ColumnSchema, NoProgress, Table};

/// A table of all rows of a stream with some of its columns, which are `schema`. After an error nothing remains.
///
/// # Errors
/// Those of the source; what a table does not hold.
pub fn load_stream(
    stream: &dyn RowStream,
    name: &str,
    (columns, schema): (&[ColumnId], &[ColumnSchema]),
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let reader = stream.begin(columns, &[])?;
    if let Some(columns) = reader.by_column() {
        // No more than some columns are in memory beside what was built.
        return build_table(name, schema, &ByColumn(columns), context);
    }
    let rows = kept_rows(&*reader, columns.len(), context)?;
    let context = BuildContext { progress: &NoProgress, ..*context };
    build_table(name, schema, &rows, &context)
}

/// Columns that are decoded when they are built.
struct ByColumn<'a>(&'a dyn ColumnReader);

impl RowSource for ByColumn<'_> {
    fn chunks(&self) -> usize {
        self.0.blocks()
    }

    fn rows(&self, chunk: usize) -> usize {
        self.0.rows(chunk)
    }

    fn read(
        &self,
        chunk: usize,
        column: usize,
        _: &ColumnSchema,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<Piece>> {
        let found = self.0.column(chunk, column, &|| context.check_cancelled())?;
        Ok(found.into_iter().map(|it| it.0).collect())
    }
}

/// The rows of a stream, kept.
struct StreamRows {
    /// By block, and by column of it.
    blocks: Vec<(usize, Vec<Vec<Piece>>)>,
}

/// All rows that a reader gives, in their order.
fn kept_rows(
    reader: &dyn RowReader,
    columns: usize,
    context: &BuildContext<'_>,
) -> SqlResult<StreamRows> {
    type Found = (u64, SqlResult<(usize, Vec<Vec<Piece>>)>);
    let found: Mutex<Vec<Found>> = Mutex::new(Vec::new());
    let check = || context.check_cancelled();
    let run = |step: usize| {
        check()?;
        reader.step(step as u64, &check, &mut |order, block| {
            let decoded = block.and_then(|block| {
                let column = |place| {
                    let pieces = block.column(place, &check)?;
                    Ok(pieces.into_iter().map(|it| it.0).collect())
                };
                let columns = (0..columns).map(column).collect::<SqlResult<_>>()?;
                Ok((block.rows(), columns))
            });
            let told = decoded.as_ref().map(|_| ()).map_err(Clone::clone);
            found.lock().push((order, decoded));
            told
        })?;
        if let Some((read, all)) = reader.progress() {
            context.progress.advance(read, all);
        }
        Ok(())
    };
    let outcome = match reader.steps() {
        1 => run(0),
        steps => context.parallel.run(steps as usize, &run),
    };
    let mut found = found.into_inner();
    found.sort_by_key(|it| it.0);
    let blocks = found.into_iter().map(|it| it.1).collect::<SqlResult<_>>()?;
    outcome?;
    Ok(StreamRows { blocks })
}

impl RowSource for StreamRows {
    fn chunks(&self) -> usize {
        self.blocks.len()
    }

    fn rows(&self, chunk: usize) -> usize {
        self.blocks[chunk].0
    }

    fn read(
        &self,
        chunk: usize,
        column: usize,
        _: &ColumnSchema,
        _: &BuildContext<'_>,
    ) -> SqlResult<Vec<Piece>> {
        Ok(self.blocks[chunk].1[column].clone())
    }
}
