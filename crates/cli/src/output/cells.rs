//! The rows of an answer as texts.

use std::io;

use arrow_array::RecordBatch;
use nodewise::Answer;
use nodewise::text::Cells;

use crate::interrupt::Interrupt;

/// A value of a row as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// What is shown.
    pub text: String,
    /// Whether it stands for NULL.
    pub is_null: bool,
}

impl AsRef<str> for Cell {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The cells of each column.
pub(super) fn columns(batch: &RecordBatch) -> Vec<Cells<'_>> {
    batch.columns().iter().map(Cells::new).collect()
}

/// Calls `body` with the cells of each row, of so many rows at most, with `null` in the place of NULL.
pub(super) fn for_rows(
    answer: &Answer,
    null: &str,
    rows_max: usize,
    interrupt: &Interrupt,
    mut body: impl FnMut(&[Cell]) -> io::Result<()>,
) -> io::Result<()> {
    let mut row_cells = vec![Cell::default(); answer.schema.fields().len()];
    let mut left = rows_max;
    for batch in &answer.batches {
        interrupt.check()?;
        let columns = columns(batch);
        for row in 0..batch.num_rows().min(left) {
            for (cell, cells) in row_cells.iter_mut().zip(&columns) {
                cell.text.clear();
                cell.is_null = !cells.write(row, &mut cell.text);
                if cell.is_null {
                    cell.text.push_str(null);
                }
            }
            body(&row_cells)?;
        }
        left -= batch.num_rows().min(left);
    }
    Ok(())
}
