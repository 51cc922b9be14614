//! The operator that adds what a table has stored of rows whose numbers a batch carries: after a groupjoin, once for each
//! group and not for each of its rows.

use plan::Fetch;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use super::build_side::BuildSide;
use crate::{Batch, Layout, Next, Operator, Values, WorkContext};

/// Adds columns of a table to batches with the numbers of its rows.
pub struct FetchOperator {
    build: Arc<BuildSide>,
    /// The column with the numbers.
    row: usize,
    payload: Vec<usize>,
    layout: Layout,
}

impl FetchOperator {
    /// An operator over batches of layout `input`.
    pub fn new(fetch: &Fetch, build: Arc<BuildSide>, mut input: Layout) -> SqlResult<Self> {
        let shapes = fetch.payload.iter().map(|it| build.layout().get(*it).cloned());
        let shapes: Option<Layout> = shapes.collect();
        input.extend(shapes.ok_or_else(|| SqlError::internal("a fetch of what is not stored"))?);
        let (row, payload) = (fetch.row, fetch.payload.clone());
        Ok(Self { build, row, payload, layout: input })
    }
}

impl Operator for FetchOperator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn execute(&self, mut batch: Batch, _: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let Values::I64(numbers) = &batch.columns[self.row].values else {
            return Err(SqlError::internal("a fetch by a column that holds no numbers"));
        };
        let rows: Vec<u32> = numbers.iter().map(|&it| it as u32).collect();
        let fetched = self.payload.iter().map(|&it| self.build.gather(it, &rows));
        let fetched: Vec<_> = fetched.collect();
        batch.columns.extend(fetched);
        next(batch)
    }

    fn describe(&self) -> String {
        format!("{} columns of {}", self.payload.len(), self.build.describe())
    }
}
