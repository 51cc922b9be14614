//! Hands each row on as often as a column says: EXCEPT ALL and INTERSECT ALL after counting, series, whose rows are
//! numbered, and the items of arrays, of which each row gets one.

use std::borrow::Cow;

use stdx::sync::Arc;
use types::array::{self, Items};
use types::{DataType, SqlError, SqlResult, Value};

use crate::expression::vector_of;
use crate::value::text_of;
use crate::{
    BATCH_ROWS, Batch, ColumnShape, Layout, Next, Operator, Representation, Values, Vector,
    WorkContext,
};

/// The operator Repeat.
#[derive(Debug)]
pub struct RepeatOperator {
    /// The column with the counts.
    count: usize,
    /// Whether the how manieth of its kind a row is stands behind it.
    numbered: bool,
    /// The columns that are handed on: arrays that nobody asks for may be long.
    kept: Vec<usize>,
    /// The columns with arrays, whose items stand behind it.
    arrays: Vec<usize>,
    /// What the arrays are held as.
    held: Vec<ColumnShape>,
    /// What their items are held as.
    items: Vec<ColumnShape>,
    layout: Layout,
}

/// Bytes of texts in a batch that is handed on, beyond which it has no row more: a long text that comes with each row is not
/// held thousands of times at once.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// The rows of a batch to come.
#[derive(Default)]
struct Made {
    rows: Vec<u32>,
    numbers: Vec<i64>,
    items: Vec<Vec<Value>>,
    text_bytes: usize,
}

impl RepeatOperator {
    /// Repeats rows of `input`: the columns that are handed on, and those with arrays.
    pub fn new(
        count: usize,
        numbered: bool,
        (kept, arrays): (Vec<usize>, Vec<usize>),
        input: &Layout,
    ) -> Self {
        let held: Vec<ColumnShape> = arrays.iter().map(|&it| input[it].clone()).collect();
        let item = |it: &ColumnShape| {
            let element = it.data_type.element();
            ColumnShape::computed(element.unwrap_or(DataType::Text), true)
        };
        let items: Vec<ColumnShape> = held.iter().map(item).collect();
        let mut layout: Layout = kept.iter().map(|&it| input[it].clone()).collect();
        layout.extend(numbered.then(|| ColumnShape::computed(DataType::BigInt, false)));
        layout.extend(items.iter().cloned());
        Self { count, numbered, kept, arrays, held, items, layout }
    }

    /// Hands on what is made of a batch.
    fn hand_on(&self, batch: &Batch, made: &mut Made, next: &mut Next<'_>) -> SqlResult<()> {
        let mut taken = batch.take(&made.rows);
        if self.numbered {
            let numbers = std::mem::take(&mut made.numbers);
            taken.columns.push(Arc::new(Vector::new(Values::I64(numbers))));
        }
        for (values, shape) in made.items.iter_mut().zip(&self.items) {
            taken.columns.push(Arc::new(vector_of(values, shape)));
            values.clear();
        }
        made.rows.clear();
        made.text_bytes = 0;
        next(taken)
    }

    /// The array of a row, an empty one where it is NULL.
    fn array<'b>(&'b self, batch: &'b Batch, place: usize, row: usize) -> Cow<'b, str> {
        let vector = &*batch.columns[self.arrays[place]];
        match (&vector.values, &self.held[place].representation) {
            _ if !vector.is_valid(row) => Cow::Borrowed(""),
            (Values::Codes(codes), Representation::Codes(column)) => text_of(column, codes[row]),
            (Values::Text(texts), _) => Cow::Borrowed(texts.get(row)),
            _ => unreachable!("invariant: a vector is held as its shape says"),
        }
    }
}

impl Made {
    /// How many rows more may come with texts of so many bytes each: one does in any case.
    fn room_for(&self, text_bytes: usize) -> usize {
        let left = TEXT_BYTES_MAX.saturating_sub(self.text_bytes);
        let room = left.checked_div(text_bytes).unwrap_or(BATCH_ROWS);
        room.max(usize::from(self.rows.is_empty()))
    }
}

/// Bytes of the texts of a row that are copied with it.
fn text_bytes_of(batch: &Batch, row: usize) -> usize {
    let texts = batch.columns.iter().filter_map(|it| match &it.values {
        Values::Text(texts) => Some(texts.bytes_at(row).len()),
        _ => None,
    });
    texts.sum()
}

impl Operator for RepeatOperator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn execute(&self, batch: Batch, _context: &WorkContext, mut next: Next<'_>) -> SqlResult<()> {
        let Values::I64(counts) = &batch.columns[self.count].values else {
            return Err(SqlError::internal("rows are repeated by a column that holds no numbers"));
        };
        let columns = self.kept.iter().map(|&it| batch.columns[it].clone()).collect();
        let kept = Batch { rows: batch.rows, columns, sequence: batch.sequence };
        if !self.numbered && self.arrays.is_empty() && counts.iter().all(|it| *it == 1) {
            return next(kept);
        }
        // Whoever takes a batch looks whether the query is cancelled, so a large count is cut into batches, too.
        let mut made = Made { items: vec![Vec::new(); self.arrays.len()], ..Made::default() };
        for (row, &count) in counts.iter().enumerate() {
            let mut left = u64::try_from(count).unwrap_or(0);
            if left == 0 {
                continue;
            }
            let arrays: Vec<Cow<'_, str>> =
                (0..self.arrays.len()).map(|it| self.array(&batch, it, row)).collect();
            let mut items: Vec<Items<'_>> = arrays.iter().map(|it| Items::new(it)).collect();
            let text_bytes = text_bytes_of(&kept, row);
            let mut next_number = 1;
            while left > 0 {
                let room = (BATCH_ROWS - made.rows.len()).min(made.room_for(text_bytes));
                if room == 0 {
                    self.hand_on(&kept, &mut made, &mut next)?;
                    continue;
                }
                let taken = left.min(room as u64);
                made.text_bytes += taken as usize * text_bytes;
                made.rows.extend(std::iter::repeat_n(row as u32, taken as usize));
                if self.numbered {
                    made.numbers.extend(next_number..next_number + taken as i64);
                    next_number += taken as i64;
                }
                for ((items, values), shape) in
                    items.iter_mut().zip(&mut made.items).zip(&self.items)
                {
                    let value = |it: &str| array::value_of(it, shape.data_type);
                    values.extend((0..taken).map(|_| items.next().map_or(Value::Null, value)));
                }
                left -= taken;
                if made.rows.len() == BATCH_ROWS {
                    self.hand_on(&kept, &mut made, &mut next)?;
                }
            }
        }
        match made.rows.is_empty() {
            true => Ok(()),
            false => self.hand_on(&kept, &mut made, &mut next),
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
        RepeatOperator::new(1, false, (vec![0, 1], Vec::new()), &layout).execute(
            batch,
            &context(0),
            next,
        )
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
    fn long_texts_are_not_held_for_each_row_at_once() {
        let texts = ColumnShape::computed(DataType::Text, false);
        let counts = ColumnShape::computed(DataType::BigInt, false);
        let long = "x".repeat(TEXT_BYTES_MAX / 4 + 1);
        let texts_of = [&long[..], "y"].map(|it| Value::Text(it.into()));
        let columns = vec![
            stdx::sync::Arc::new(vector_of(&texts, &texts_of)),
            stdx::sync::Arc::new(vector_of(&counts, &[Value::Integer(10), Value::Integer(2)])),
        ];
        let layout: Layout = vec![texts, counts].into_iter().collect();
        let mut found = Vec::new();
        let operator = RepeatOperator::new(1, false, (vec![0], Vec::new()), &layout);
        let batch = Batch { rows: 2, columns, sequence: 0 };
        let mut next = |it: Batch| {
            found.push(it.rows);
            Ok(())
        };
        operator.execute(batch, &context(0), &mut next).unwrap();
        assert_eq!(found, [3, 3, 3, 3]);
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
