//! Tables whose columns are read off rows that are made one by one.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use nodewise::made_files::{Batches, MadeTable};
use stdx::sync::Arc;

use crate::made::{numbers, sources_of_part, texts};

/// Sources whose rows become one batch.
const BATCH_SOURCES: u64 = 2 << 10;

/// How a row gives the value of a column; no value is NULL.
pub enum Column<R> {
    /// A whole number.
    Number(fn(&R) -> i32),
    /// A text, which is written behind what the buffer holds.
    Text(fn(&R, &mut String)),
}

impl<R> Column<R> {
    fn data_type(&self) -> DataType {
        match self {
            Self::Number(_) => DataType::Int32,
            Self::Text(_) => DataType::Utf8View,
        }
    }

    fn values(&self, rows: &[R]) -> ArrayRef {
        match self {
            Self::Number(value) => numbers(rows, value),
            Self::Text(write) => texts(rows, write),
        }
    }
}

/// The columns of a table by name.
pub type Columns<R> = &'static [(&'static str, Column<R>)];

/// A table each of whose sources, numbered from 0 on, gives some rows on its own, so that parts are made in any order.
pub struct Layout<R: 'static> {
    /// What the table is called.
    pub name: &'static str,
    /// Its columns.
    pub columns: Columns<R>,
    /// How many sources there are.
    pub sources: u64,
    /// Rows that a source gives, about.
    pub rows_of_source: u64,
}

impl<R: 'static> Layout<R> {
    /// The table, where `rows` puts what a source gives behind what is there.
    pub fn made(self, rows: impl Fn(u64, &mut Vec<R>) + Send + Sync + 'static) -> MadeTable {
        let Self { name, columns, sources, rows_of_source } = self;
        let field = |(name, column): &(&str, Column<R>)| {
            Field::new((*name).to_owned(), column.data_type(), false)
        };
        let schema = SchemaRef::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let rows = Arc::new(rows);
        MadeTable {
            name,
            schema: schema.clone(),
            rows: i64::try_from(sources.saturating_mul(rows_of_source)).unwrap_or(i64::MAX),
            part: Box::new(move |part, parts| {
                let (mut next, end) = sources_of_part(sources, part, parts);
                let (schema, rows) = (schema.clone(), Arc::clone(&rows));
                let batch = move || {
                    let until = end.min(next + BATCH_SOURCES);
                    let mut made = Vec::new();
                    (next..until).for_each(|source| rows(source, &mut made));
                    next = until;
                    (!made.is_empty()).then(|| batch_of(&schema, columns, &made))
                };
                Box::new(std::iter::from_fn(batch)) as Batches
            }),
        }
    }
}

fn batch_of<R>(
    schema: &SchemaRef,
    columns: Columns<R>,
    rows: &[R],
) -> Result<RecordBatch, ArrowError> {
    let values = columns.iter().map(|(_, column)| column.values(rows)).collect();
    RecordBatch::try_new(schema.clone(), values)
}
