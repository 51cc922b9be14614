//! Scan of rows that no table holds ([`storage::RowStream`]): blocks come from a reader, conditions are asked of the columns that they
//! name, and the others are decoded where some row is left.
//!
//! - Invariant: of several rows that cannot be read the first in the order of the stream is told, whoever came upon it.

use std::ops::Range;

use plan::Scan;
use scheduler::MorselRange;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use storage::{Check, HeldColumn, RowBlock, RowReader, Table};
use types::{ColumnId, SqlError, SqlResult};

use super::held::{Picked, pick};
use super::residual::Residual;
use super::wanted::bounds_of;
use crate::states::States;
use crate::{BATCH_ROWS, Batch, ColumnShape, Layout, Next, Source, Vector, WorkContext};

/// Bits of a batch's sequence that tell rows of a block; those above tell the block.
const ROW_BITS: u32 = 28;

/// The rows of a stream that pass some conditions. They are numbered by the steps of its reader.
pub struct StreamSource {
    reader: Box<dyn RowReader>,
    shapes: Layout,
    conditions: Vec<Residual>,
    output: Vec<usize>,
    layout: Layout,
    rows_read: AtomicU64,
    rows_passed: AtomicU64,
    /// What was wrong with the first block, by order, that could not be read.
    fault: Mutex<Option<(u64, SqlError)>>,
}

impl StreamSource {
    /// Begins to read the stream of a table.
    pub(crate) fn new(scan: &Scan, table: &Table, states: &States<'_>) -> SqlResult<Self> {
        let stream = table.stream().ok_or_else(|| SqlError::internal("a table that is stored"))?;
        let shape = |it: &ColumnId| {
            let column = table.column(*it);
            ColumnShape::computed(column.data_type, column.nullable)
        };
        let shapes: Layout = scan.columns.iter().map(shape).collect();
        let condition = |filter| Residual::new(filter, &shapes, states);
        let conditions = scan.filters.iter().map(condition).collect::<SqlResult<Vec<_>>>()?;
        let reader = stream.begin(&scan.columns, &bounds_of(scan))?;
        Ok(Self {
            reader,
            conditions,
            output: scan.output.clone(),
            layout: scan.output.iter().map(|&it| shapes[it].clone()).collect(),
            shapes,
            rows_read: AtomicU64::new(0),
            rows_passed: AtomicU64::new(0),
            fault: Mutex::new(None),
        })
    }

    /// Notes what is wrong with a block.
    fn failed(&self, order: u64, error: SqlError) -> SqlError {
        let mut fault = self.fault.lock();
        if fault.as_ref().is_none_or(|it| order < it.0) {
            *fault = Some((order, error.clone()));
        }
        error
    }

    /// Pushes the rows of a block.
    fn give(
        &self,
        (order, block): (u64, &dyn RowBlock),
        context: &WorkContext,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let check = || context.check();
        let mut block = Columns::new(block, (order, self), &check);
        let rows = block.block.rows();
        self.rows_read.fetch_add(rows as u64, Ordering::Relaxed);
        let sequence = |row: usize| order << ROW_BITS | row as u64;
        let mut passed: Option<Vec<u32>> = None;
        for condition in &self.conditions {
            let left = match passed {
                None => block.passing(condition, pieces(rows).map(Picked::Range), &sequence)?,
                Some(rows) => {
                    let picked = rows.chunks(BATCH_ROWS).map(Picked::Places);
                    block.passing(condition, picked, &sequence)?
                }
            };
            if left.is_empty() {
                return Ok(());
            }
            passed = Some(left);
        }
        let passed = passed.filter(|it| it.len() < rows);
        let count = passed.as_ref().map_or(rows, Vec::len);
        self.rows_passed.fetch_add(count as u64, Ordering::Relaxed);
        let mut push = |picked: Picked<'_>| {
            let columns = block.picked(&self.output, &picked)?;
            next(Batch { rows: picked.len(), columns, sequence: sequence(picked.first()) })
        };
        match &passed {
            None => pieces(rows).try_for_each(|it| push(Picked::Range(it))),
            Some(rows) => rows.chunks(BATCH_ROWS).try_for_each(|it| push(Picked::Places(it))),
        }
    }
}

/// Rows of a block, as many at a time as a batch holds.
fn pieces(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows).step_by(BATCH_ROWS).map(move |start| start..rows.min(start + BATCH_ROWS))
}

/// The columns of a block that were decoded.
struct Columns<'a> {
    block: &'a dyn RowBlock,
    order: u64,
    source: &'a StreamSource,
    check: Check<'a>,
    decoded: Vec<Option<Vec<HeldColumn>>>,
}

impl<'a> Columns<'a> {
    fn new(
        block: &'a dyn RowBlock,
        (order, source): (u64, &'a StreamSource),
        check: Check<'a>,
    ) -> Self {
        let decoded = source.shapes.iter().map(|_| None).collect();
        Self { block, order, source, check, decoded }
    }

    fn decoded(&mut self, place: usize) -> SqlResult<&[HeldColumn]> {
        let pieces = match self.decoded[place].take() {
            Some(it) => it,
            None => {
                let found = self.block.column(place, self.check);
                let found = found.map_err(|it| self.source.failed(self.order, it))?;
                let rows: usize = found.iter().map(HeldColumn::rows).sum();
                if rows != self.block.rows() {
                    let message = format!("{rows} values for {} rows", self.block.rows());
                    return Err(self.source.failed(self.order, SqlError::internal(message)));
                }
                found
            }
        };
        Ok(self.decoded[place].insert(pieces))
    }

    /// Some rows of columns.
    fn picked(&mut self, places: &[usize], rows: &Picked<'_>) -> SqlResult<Vec<Arc<Vector>>> {
        let source = self.source;
        let mut columns = Vec::with_capacity(places.len());
        for &place in places {
            let vector = pick(self.decoded(place)?, &source.shapes[place], rows)?;
            columns.push(Arc::new(vector));
        }
        Ok(columns)
    }

    /// The rows that pass a condition, of those that are left.
    fn passing<'r>(
        &mut self,
        condition: &Residual,
        rows: impl Iterator<Item = Picked<'r>>,
        sequence: &dyn Fn(usize) -> u64,
    ) -> SqlResult<Vec<u32>> {
        let (mut left, mut chosen) = (Vec::new(), Vec::new());
        for picked in rows {
            (self.check)()?;
            let columns = self.picked(&condition.columns, &picked)?;
            let sequence = sequence(picked.first());
            let batch = Batch { rows: picked.len(), columns, sequence };
            condition.condition.select(&batch, &mut chosen)?;
            left.extend(chosen.iter().map(|&it| picked.row(it as usize)));
        }
        Ok(left)
    }
}

impl Source for StreamSource {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The unit is a step of the reader, not a row.
    fn ranges(&self) -> Vec<MorselRange> {
        match self.reader.steps() {
            0 => Vec::new(),
            end => vec![MorselRange { node: None, start: 0, end }],
        }
    }

    fn morsel_rows(&self) -> u64 {
        1
    }

    fn produce(&self, steps: Range<u64>, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        for step in steps {
            self.reader.step(step, &|| context.check(), &mut |order, block| {
                let block = block.map_err(|it| self.failed(order, it))?;
                self.give((order, block), context, next)
            })?;
        }
        Ok(())
    }

    fn fault(&self) -> Option<SqlError> {
        self.fault.lock().take().map(|it| it.1)
    }

    fn describe(&self) -> String {
        let (read, passed) = (&self.rows_read, &self.rows_passed);
        let (read, passed) = (read.load(Ordering::Relaxed), passed.load(Ordering::Relaxed));
        format!(
            "{passed} of {read} rows passed {} conditions, read in place",
            self.conditions.len()
        )
    }
}
