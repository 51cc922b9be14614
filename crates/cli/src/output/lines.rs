//! A line for each value, for rows that are wider than the screen. NULL is told by `is`, so that it differs from a text
//! of these letters.

use std::io::{self, Write};

use nodewise::Answer;

use super::box_table::width_of;
use super::columns::columns;
use crate::interrupt::Interrupt;

/// Writes rows, at most so many, with an empty line between them.
pub fn write(
    out: &mut dyn Write,
    answer: &Answer,
    rows_max: Option<usize>,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let fields = answer.schema.fields();
    let width = fields.iter().map(|it| width_of(it.name())).max().unwrap_or(0);
    let mut left = rows_max.unwrap_or(usize::MAX);
    let mut first = true;
    for batch in &answer.batches {
        interrupt.check()?;
        let columns = columns(batch);
        for row in 0..batch.num_rows().min(left) {
            if !std::mem::take(&mut first) {
                writeln!(out)?;
            }
            for (field, cells) in fields.iter().zip(&columns) {
                let name = field.name();
                let blanks = " ".repeat(width - width_of(name));
                match cells.text(row) {
                    Some(text) => writeln!(out, "{blanks}{name} = {text}")?,
                    None => writeln!(out, "{blanks}{name} is NULL")?,
                }
            }
        }
        left -= batch.num_rows().min(left);
    }
    Ok(())
}
