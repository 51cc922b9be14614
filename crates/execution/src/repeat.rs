//! Hands each row on as often as a column says: EXCEPT ALL and INTERSECT ALL after counting, and series, whose rows are numbered.

use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult};

use crate::{BATCH_ROWS, Batch, ColumnShape, Layout, Next, Operator, Values, Vector, WorkContext};

/// The operator Repeat.
#[derive(Debug)]
pub struct RepeatOperator {
    /// The column with the counts.
    count: usize,
    /// Whether the how manieth of its kind a row is stands behind it.
    numbered: bool,
    layout: Layout,
}

impl RepeatOperator {
    /// Repeats rows of `layout`.
    pub fn new(count: usize, numbered: bool, mut layout: Layout) -> Self {
        layout.extend(numbered.then(|| ColumnShape::computed(DataType::BigInt, false)));
        Self { count, numbered, layout }
    }

    /// Some rows of a batch, and which of their kind each is.
    fn taken(&self, batch: &Batch, rows: &[u32], numbers: &mut Vec<i64>) -> Batch {
        let mut taken = batch.take(rows);
        let numbers = std::mem::take(numbers);
        if self.numbered {
            taken.columns.push(Arc::new(Vector::new(Values::I64(numbers))));
        }
        taken
    }
}

impl Operator for RepeatOperator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn execute(&self, batch: Batch, _context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let Values::I64(counts) = &batch.columns[self.count].values else {
            return Err(SqlError::internal("rows are repeated by a column that holds no numbers"));
        };
        if !self.numbered && counts.iter().all(|it| *it == 1) {
            return next(batch);
        }
        // Whoever takes a batch looks whether the query is cancelled, so a large count is cut into batches, too.
        let mut rows: Vec<u32> = Vec::with_capacity(BATCH_ROWS);
        let mut numbers: Vec<i64> = Vec::new();
        for (row, &count) in (0u32..).zip(counts) {
            let mut left = u64::try_from(count).unwrap_or(0);
            let mut next_number = 1;
            while left > 0 {
                let taken = left.min((BATCH_ROWS - rows.len()) as u64);
                rows.extend(std::iter::repeat_n(row, taken as usize));
                if self.numbered {
                    numbers.extend(next_number..next_number + taken as i64);
                    next_number += taken as i64;
                }
                left -= taken;
                if rows.len() == BATCH_ROWS {
                    next(self.taken(&batch, &rows, &mut numbers))?;
                    rows.clear();
                }
            }
        }
        match rows.is_empty() {
            true => Ok(()),
            false => next(self.taken(&batch, &rows, &mut numbers)),
        }
    }
}

#[cfg(test)]
mod tests {
    use types::{SqlState, Value};

    use super::*;
    use crate::testing::{context, rows_of, vector_of};

    fn run(counts: &[i64], next: Next<'_>) -> SqlResult<()> {
        let shape = ColumnShape::computed(DataType::BigInt, false);
        let column = |of: &dyn Fn(usize) -> i64| {
            let values: Vec<Value> = (0..counts.len()).map(|it| Value::Integer(of(it))).collect();
            stdx::sync::Arc::new(vector_of(&shape, &values))
        };
        let columns = vec![column(&|it| it as i64), column(&|it| counts[it])];
        let batch = Batch { rows: counts.len(), columns, sequence: 7 };
        let layout: Layout = vec![shape.clone(), shape.clone()].into_iter().collect();
        RepeatOperator::new(1, false, layout).execute(batch, &context(0), next)
    }

    #[test]
    fn rows_come_as_often_as_they_say() {
        let layout: Layout = vec![ColumnShape::computed(DataType::BigInt, false); 2];
        for counts in [&[1, 1, 1][..], &[0, 2, -3, 1], &[0, 0], &[10_000, 3, 4096, 0, 1]] {
            let mut found = Vec::new();
            run(counts, &mut |batch| {
                assert!(batch.rows > 0 && batch.rows <= BATCH_ROWS && batch.sequence == 7);
                found.extend(rows_of(&layout, &[batch]));
                Ok(())
            })
            .unwrap();
            let each = counts.iter().enumerate();
            let expected = each.flat_map(|(row, &count)| {
                let row = vec![Value::Integer(row as i64), Value::Integer(count)];
                std::iter::repeat_n(row, count.max(0) as usize)
            });
            assert!(found.into_iter().eq(expected), "{counts:?}");
        }
    }

    #[test]
    fn a_row_that_comes_for_ever_ends_with_the_query() {
        let mut batches = 0;
        let ended = run(&[i64::MAX], &mut |_| {
            batches += 1;
            match batches {
                5 => Err(SqlError::new(SqlState::QUERY_CANCELED, "the query was cancelled")),
                _ => Ok(()),
            }
        });
        assert_eq!((ended.unwrap_err().state, batches), (SqlState::QUERY_CANCELED, 5));
    }
}
