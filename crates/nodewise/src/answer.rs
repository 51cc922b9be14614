//! What a statement gives back.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use execution::PipelineReport;
use plan::ColumnOrigin;
use stdx::Nanos;
use stdx::sync::Arc;
use storage::lists::{outer, outer_field};
use types::{DataType, SqlError, SqlResult};

/// The answer of one statement.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was done, in the words of Postgres: `SELECT 5`, `CREATE TABLE`, `INSERT 0 3`.
    pub tag: String,
    /// Names and types of the rows; no fields for a statement without rows.
    pub schema: SchemaRef,
    /// The SQL types of its columns.
    pub types: Vec<DataType>,
    /// Where its columns come from ([`Described::origins`]).
    pub origins: Vec<Option<ColumnOrigin>>,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Where the time went.
    pub profile: QueryProfile,
}

/// Where the time of a statement went.
#[derive(Clone, Debug, Default)]
pub struct QueryProfile {
    /// Parsing, binding, optimising.
    pub planning: Nanos,
    /// Running, results included.
    pub execution: Nanos,
    /// What each pipeline did.
    pub pipelines: Vec<PipelineReport>,
}

impl Answer {
    /// Rows of the answer.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The answer with lists, structs and maps of Arrow in the place of the texts of arrays, structs and maps.
    ///
    /// # Errors
    /// 0A000 for an array of several dimensions.
    pub fn with_lists(mut self) -> SqlResult<Self> {
        self.schema = listed_schema(&self.schema, &self.types);
        for batch in &mut self.batches {
            *batch = listed(batch, &self.schema, &self.types)?;
        }
        Ok(self)
    }

    /// The columns of its rows.
    pub fn described(&self) -> Described {
        let (schema, types) = (self.schema.clone(), self.types.clone());
        Described { schema, types, origins: self.origins.clone() }
    }

    /// Whether the statement gives rows at all.
    pub fn has_rows(&self) -> bool {
        !self.schema.fields().is_empty()
    }
}

impl QueryProfile {
    /// Morsels of all pipelines.
    pub fn morsels(&self) -> u64 {
        self.pipelines.iter().map(|it| it.morsels).sum()
    }

    /// Morsels that ran away from the node of their data.
    pub fn stolen(&self) -> u64 {
        self.pipelines.iter().map(|it| it.stolen).sum()
    }

    /// Bytes read on the node of the reader.
    pub fn bytes_local(&self) -> u64 {
        self.pipelines.iter().map(|it| it.bytes_local).sum()
    }

    /// Bytes read from other nodes.
    pub fn bytes_remote(&self) -> u64 {
        self.pipelines.iter().map(|it| it.bytes_remote).sum()
    }
}

/// The answer of a statement that gives no rows.
pub(crate) fn done(tag: impl Into<String>) -> Answer {
    Answer {
        tag: tag.into(),
        schema: Arc::new(Schema::empty()),
        types: Vec::new(),
        origins: Vec::new(),
        batches: Vec::new(),
        profile: Default::default(),
    }
}

/// A schema with lists, structs and maps in the place of the texts of arrays, structs and maps.
pub(crate) fn listed_schema(schema: &SchemaRef, types: &[DataType]) -> SchemaRef {
    let field = |(field, of): (&Arc<Field>, &DataType)| match of.has_parts() {
        true => Arc::new(outer_field(field.name(), *of)),
        false => field.clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().zip(types).map(field).collect::<Vec<_>>()))
}

/// A batch with lists, structs and maps of Arrow in the place of the texts of arrays, structs and maps, of the columns that [`crate::Described::with_lists`] tells.
///
/// # Errors
/// 0A000 for an array of several dimensions.
pub fn listed(
    batch: &RecordBatch,
    schema: &SchemaRef,
    types: &[DataType],
) -> SqlResult<RecordBatch> {
    let column = |(array, of): (&ArrayRef, &DataType)| match array.as_string_opt() {
        Some(texts) if of.has_parts() => outer(texts, *of),
        _ => Ok(array.clone()),
    };
    let columns = batch.columns().iter().zip(types).map(column).collect::<SqlResult<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|it| SqlError::internal(format!("lists do not fit: {it}")))
}

/// The rows that a statement gives.
#[derive(Clone, Debug)]
pub struct Described {
    /// Their names and types in Arrow.
    pub schema: SchemaRef,
    /// Their types in SQL.
    pub types: Vec<DataType>,
    /// The columns of tables and views that they are, by their places; empty of rows that no query gives.
    pub origins: Vec<Option<ColumnOrigin>>,
}

impl Described {
    /// The columns in Arrow with lists in the place of the texts of arrays.
    pub fn with_lists(&self) -> SchemaRef {
        listed_schema(&self.schema, &self.types)
    }
}

/// An answer of one column of text.
pub(crate) fn text_answer(tag: &str, name: &str, lines: Vec<&str>) -> SqlResult<Answer> {
    let array: arrow_array::ArrayRef = Arc::new(arrow_array::StringArray::from(lines));
    let field = arrow_schema::Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array])
        .map_err(|error| SqlError::internal(error.to_string()))?;
    Ok(Answer { schema, types: vec![DataType::Text], batches: vec![batch], ..done(tag) })
}
