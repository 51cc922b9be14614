//! Rows of files that come in parts, with columns that tell where the files lie.

use std::path::PathBuf;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use files::{Parts, constant};
use storage::{Check, ColumnSchema, Give, HeldColumn, RowBlock, RowReader};
use types::{ColumnId, SqlError, SqlResult};

use super::extra::ExtraColumn;

/// What an error of a value is told with.
pub(super) type Advice = Box<dyn Fn(SqlError) -> SqlError + Send + Sync>;

/// Where a column is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// A column of the batches.
    Batch(usize),
    /// Nowhere: it is NULL.
    Absent,
    /// One that has one value in each file.
    Extra(usize),
}

impl Where {
    /// Where columns are, of which the first so many are those of files: `place` tells which of the batches each of these is.
    pub(super) fn of(
        columns: &[ColumnId],
        own: usize,
        place: impl Fn(usize) -> usize,
    ) -> Vec<Self> {
        let found = |it: &ColumnId| match it.index().checked_sub(own) {
            Some(extra) => Self::Extra(extra),
            None => Self::Batch(place(it.index())),
        };
        columns.iter().map(found).collect()
    }
}

/// Rows of files that come in parts.
pub(super) struct PartsRows {
    schema: Vec<ColumnSchema>,
    segments: Vec<Segment>,
    advice: Advice,
}

/// Files that are read alike.
struct Segment {
    /// The number of its first step among all.
    step: u64,
    parts: Box<dyn Parts>,
    /// The number of its first file among all.
    first: usize,
    places: Vec<Where>,
    /// The values of columns that have one in each file, by file of all, as arrays of one row.
    extra: Vec<Vec<ArrayRef>>,
}

/// Bits of an order that tell parts of a segment; those above tell the segment.
const PART_BITS: u32 = 18;

/// Bytes that a value takes in a file of text, about.
const VALUE_BYTES: u64 = 8;

/// How many rows files of text may have, by their bytes.
pub(super) fn rows_of(paths: &[PathBuf], columns: usize) -> u64 {
    let bytes = |it: &PathBuf| std::fs::metadata(it).map_or(0, |it| it.len());
    let all: u64 = paths.iter().map(bytes).sum();
    (all / (VALUE_BYTES * columns.max(1) as u64)).max(1)
}

impl PartsRows {
    /// Some columns of a table, of no files.
    pub(super) fn new(columns: &[ColumnId], schema: &[ColumnSchema], advice: Advice) -> Self {
        let schema = columns.iter().map(|it| schema[it.index()].clone()).collect();
        Self { schema, segments: Vec::new(), advice }
    }

    /// Adds files whose columns are at some places; the first of them has a number among all.
    pub(super) fn add(
        &mut self,
        parts: Box<dyn Parts>,
        places: Vec<Where>,
        extra: &[ExtraColumn],
        first: usize,
    ) -> SqlResult<()> {
        let step = self.segments.last().map_or(0, |it| it.step + it.parts.steps());
        let of_column = |it: &ExtraColumn| {
            let value = |text: &Option<String>| constant(text.as_deref(), it.data_type, 1);
            it.values.iter().map(value).collect::<SqlResult<Vec<_>>>()
        };
        let extra = extra.iter().map(of_column).collect::<SqlResult<Vec<_>>>()?;
        self.segments.push(Segment { step, parts, first, places, extra });
        Ok(())
    }
}

impl RowReader for PartsRows {
    fn steps(&self) -> u64 {
        self.segments.last().map_or(0, |it| it.step + it.parts.steps())
    }

    fn step(&self, step: u64, check: Check<'_>, give: Give<'_>) -> SqlResult<()> {
        let number = self.segments.partition_point(|it| it.step <= step) - 1;
        let segment = &self.segments[number];
        segment.parts.step(step - segment.step, check, &mut |order, part| {
            let order = (number as u64) << PART_BITS | order;
            let part = match part {
                Ok(mut part) => match part.failed.take() {
                    Some(error) => Err(error),
                    None => Ok(part),
                },
                Err(error) => Err(error),
            };
            match part {
                Ok(part) if part.batch.num_rows() == 0 => Ok(()),
                Ok(part) => {
                    let (schema, file) = (&self.schema, segment.first + part.file);
                    give(order, Ok(&PartBlock { schema, segment, file, batch: &part.batch }))
                }
                Err(error) => give(order, Err((self.advice)(error))),
            }
        })
    }

    fn progress(&self) -> Option<(u64, u64)> {
        let of = self.segments.iter().map(|it| it.parts.progress());
        Some(of.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1)))
    }
}

/// The rows of a part.
struct PartBlock<'a> {
    schema: &'a [ColumnSchema],
    segment: &'a Segment,
    /// The number of its file among all.
    file: usize,
    batch: &'a RecordBatch,
}

impl RowBlock for PartBlock<'_> {
    fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn column(&self, place: usize, _: Check<'_>) -> SqlResult<Vec<HeldColumn>> {
        let (schema, rows) = (&self.schema[place], self.rows());
        let array = match self.segment.places[place] {
            Where::Batch(column) => self.batch.column(column).clone(),
            Where::Absent => constant(None, schema.data_type, rows)?,
            Where::Extra(column) => repeated(&self.segment.extra[column][self.file], rows)?,
        };
        Ok(vec![HeldColumn::of(&array, schema)?])
    }
}

/// The one value of an array, in so many rows.
fn repeated(value: &ArrayRef, rows: usize) -> SqlResult<ArrayRef> {
    let taken = arrow_select::take::take(value, &UInt32Array::from(vec![0; rows]), None);
    taken.map_err(|error| SqlError::internal(format!("a value is malformed: {error}")))
}
