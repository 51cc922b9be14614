//! What an expression needs beside its columns.

use functions::Sequences;
use plan::PipelineId;
use stdx::sync::Arc;
use types::{SqlError, SqlResult, Value, Zone};

/// What an expression needs beside its columns.
pub trait Outside {
    /// The value of a finished scalar subquery.
    fn scalar(&self, pipeline: PipelineId) -> SqlResult<Value>;

    /// The sequences that its statement sees, if it may ask for any.
    fn sequences(&self) -> Option<Arc<dyn Sequences>> {
        None
    }

    /// The time zone of its session.
    fn zone(&self) -> Zone;

    /// How many rows it is computed for, as the planner expects; 0 where that may be few.
    fn expected_rows(&self) -> f64 {
        0.0
    }
}

/// Nothing: of columns as they are, and of expressions that are no part of a statement.
#[derive(Debug)]
pub struct NoOutside;

impl Outside for NoOutside {
    fn scalar(&self, _: PipelineId) -> SqlResult<Value> {
        Err(SqlError::internal("a subquery is asked for its value where there is none"))
    }

    fn zone(&self) -> Zone {
        Zone::utc()
    }
}

/// Whether an error is one of the values of rows, which only those who ask for the rows have; others end the statement.
pub(crate) fn is_of_rows(error: &SqlError) -> bool {
    const CARDINALITY: &str = "21";
    const DATA: &str = "22";
    const INTEGRITY: &str = "23";
    [CARDINALITY, DATA, INTEGRITY].iter().any(|it| error.state.0.starts_with(it))
}
