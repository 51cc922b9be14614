//! What a statement gives back.

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use execution::PipelineReport;
use stdx::Nanos;
use stdx::sync::Arc;
use types::DataType;

/// The answer of one statement.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was done, in the words of Postgres: `SELECT 5`, `CREATE TABLE`, `INSERT 0 3`.
    pub tag: String,
    /// Names and types of the rows; no fields for a statement without rows.
    pub schema: SchemaRef,
    /// The SQL types of its columns.
    pub types: Vec<DataType>,
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
        batches: Vec::new(),
        profile: Default::default(),
    }
}
