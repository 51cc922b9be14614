//! A line for each value, for rows that are wider than the screen. NULL is told by `is`, so that it differs from a text
//! of these letters.

use std::io::{self, Write};

use nodewise::Answer;

use super::cells::for_rows;
use super::look::OutputOptions;
use crate::interrupt::Interrupt;
use nodewise::box_table::width_of;

/// Writes rows with an empty line between them.
pub fn write(
    out: &mut dyn Write,
    answer: &Answer,
    options: &OutputOptions,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let fields = answer.schema.fields();
    let width = fields.iter().map(|it| width_of(it.name())).max().unwrap_or(0);
    let rows_max = options.rows_max.unwrap_or(usize::MAX);
    let chosen = options.look.null.as_deref();
    let mut first = true;
    for_rows(answer, chosen.unwrap_or("NULL"), rows_max, interrupt, |row| {
        if !std::mem::take(&mut first) {
            writeln!(out)?;
        }
        for (field, cell) in fields.iter().zip(row) {
            let name = field.name();
            let blanks = " ".repeat(width - width_of(name));
            let verb = if cell.is_null && chosen.is_none() { "is" } else { "=" };
            writeln!(out, "{blanks}{name} {verb} {}", cell.text)?;
        }
        Ok(())
    })
}
