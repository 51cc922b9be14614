//! The operator that adds what a table has stored of rows whose numbers a batch carries: after a groupjoin, once for each
//! group and not for each of its rows.

use plan::Fetch;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use super::JoinTable;
use super::build_side::BuildSide;
use super::spilled::{Deferred, Each, Resumed, SpilledPart};
use crate::{Batch, Layout, Next, Operator, PartMap, Resume, Team, Values, WorkContext};

/// Adds columns of a table to batches with the numbers of its rows.
pub struct FetchOperator {
    build: Arc<BuildSide>,
    /// The column with the numbers.
    row: usize,
    payload: Vec<usize>,
    layout: Layout,
    /// The rows that wait, where what is stored is in files.
    deferred: Option<Deferred>,
}

impl FetchOperator {
    /// An operator over batches of layout `input` for `slots` workers, which are rows of a table with these parts, if they
    /// are of one.
    pub fn new(
        fetch: &Fetch,
        build: Arc<BuildSide>,
        (mut input, parts): (Layout, Option<Arc<PartMap>>),
        slots: usize,
    ) -> SqlResult<Self> {
        let deferred = build.spilled().map(|it| Deferred::new(it.clone(), parts, slots));
        let shapes = fetch.payload.iter().map(|it| build.layout().get(*it).cloned());
        let shapes: Option<Layout> = shapes.collect();
        input.extend(shapes.ok_or_else(|| SqlError::internal("a fetch of what is not stored"))?);
        let (row, payload) = (fetch.row, fetch.payload.clone());
        Ok(Self { build, row, payload, layout: input, deferred })
    }

    /// The numbers that a batch carries.
    fn numbers(&self, batch: &Batch) -> SqlResult<Vec<u32>> {
        let Values::I64(numbers) = &batch.columns[self.row].values else {
            return Err(SqlError::internal("a fetch by a column that holds no numbers"));
        };
        Ok(numbers.iter().map(|&it| it as u32).collect())
    }
}

impl Operator for FetchOperator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn execute(&self, mut batch: Batch, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let rows = self.numbers(&batch)?;
        if let Some(deferred) = &self.deferred {
            let partitions = rows.iter().map(|&it| deferred.build.partition_of(it)).collect();
            return deferred.hold(batch, partitions, context);
        }
        let fetched = self.payload.iter().map(|&it| self.build.gather(it, &rows, context.node));
        let fetched: Vec<_> = fetched.collect();
        batch.columns.extend(fetched);
        next(batch)
    }

    fn finish(&self, team: &dyn Team, next: Resume<'_>) -> SqlResult<()> {
        match &self.deferred {
            Some(deferred) => deferred.resume(team, &Resuming { operator: self, next }),
            None => Ok(()),
        }
    }

    fn describe(&self) -> String {
        format!("{} columns of {}", self.payload.len(), self.build.describe())
    }
}

/// Rows that go on once what is stored is there.
struct Resuming<'a> {
    operator: &'a FetchOperator,
    next: Resume<'a>,
}

impl Resumed for Resuming<'_> {
    fn cut(&self, batch: &Batch, part: &SpilledPart, _: &WorkContext) -> SqlResult<Vec<u8>> {
        let numbers = self.operator.numbers(batch)?;
        Ok(numbers.into_iter().map(|it| part.cut_of_number(it)).collect())
    }

    fn begin(&self, table: Arc<JoinTable>, first: u32) -> Box<Each<'_>> {
        Box::new(move |mut batch, context| {
            let operator = self.operator;
            let rows: Vec<u32> = operator.numbers(&batch)?.iter().map(|it| it - first).collect();
            let fetched = operator.payload.iter().map(|&it| table.gather(it, &rows, false));
            batch.columns.extend(fetched);
            (self.next)(batch, context)
        })
    }

    fn tracks_matches(&self) -> bool {
        false
    }
}
