//! What the finished pipelines of a plan left, for those that read it.

use functions::Sequences;
use plan::PipelineId;
use scheduler::CancelToken;
use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState, Value, Zone};

use crate::expression::{Outside, is_of_rows};
use crate::join::BuildSide;
use crate::{Rows, State};

/// The finished states of a plan, by pipeline.
pub(crate) struct States<'a> {
    pub states: &'a [Option<State>],
    /// What functions about sequences ask.
    pub sequences: Option<&'a Arc<dyn Sequences>>,
    /// Ends the statement.
    pub cancel: CancelToken,
    /// The time zone of the session.
    pub zone: Zone,
    /// Rows that are expected to reach what is compiled; 0 where they may be few.
    pub expected_rows: f64,
}

impl Outside for States<'_> {
    fn scalar(&self, pipeline: PipelineId) -> SqlResult<Value> {
        States::scalar(self, pipeline)
    }

    fn sequences(&self) -> Option<Arc<dyn Sequences>> {
        self.sequences.cloned()
    }

    fn zone(&self) -> Zone {
        self.zone.clone()
    }

    fn expected_rows(&self) -> f64 {
        self.expected_rows
    }
}

#[cfg(test)]
impl<'a> States<'a> {
    /// Those of plans without sequences.
    pub fn of(states: &'a [Option<State>]) -> Self {
        let cancel = CancelToken::new();
        Self { states, sequences: None, cancel, zone: Zone::utc(), expected_rows: 0.0 }
    }
}

impl States<'_> {
    fn get(&self, id: PipelineId) -> SqlResult<&State> {
        match self.states.get(id.index()).and_then(Option::as_ref) {
            Some(State::Failed(error)) => Err(SqlError::clone(error)),
            Some(state) => Ok(state),
            None => Err(SqlError::internal(format!("pipeline {id} is read before it is done"))),
        }
    }

    /// The rows that a pipeline left.
    pub fn rows(&self, id: PipelineId) -> SqlResult<&Arc<Rows>> {
        match self.get(id)? {
            State::Rows(rows) => Ok(rows),
            _ => Err(SqlError::internal(format!("pipeline {id} left no rows"))),
        }
    }

    /// What a pipeline built for joins.
    pub fn table(&self, id: PipelineId) -> SqlResult<&Arc<BuildSide>> {
        match self.get(id)? {
            State::Table(table) => Ok(table),
            _ => Err(SqlError::internal(format!("pipeline {id} built no table"))),
        }
    }

    /// The only value of a scalar subquery, `None` where there is none to be had: whoever asks for that raises why.
    pub fn known_scalar(&self, id: PipelineId) -> SqlResult<Option<Value>> {
        match self.scalar(id) {
            Err(error) if is_of_rows(&error) => Ok(None),
            other => other.map(Some),
        }
    }

    /// The only value of a scalar subquery.
    pub fn scalar(&self, id: PipelineId) -> SqlResult<Value> {
        let rows = self.rows(id)?;
        match rows.rows() {
            0 => Ok(Value::Null),
            1 => {
                let batch = rows.batches.iter().find(|it| it.rows() == 1);
                let batch = batch.expect("invariant: one row is in one batch").batch()?;
                Ok(batch.columns[0].value(&rows.layout[0], 0))
            }
            _ => Err(SqlError::new(
                SqlState::CARDINALITY_VIOLATION,
                "more than one row returned by a subquery used as an expression",
            )
            .with_hint("add LIMIT 1, an aggregate, or a condition that leaves one row")),
        }
    }
}
