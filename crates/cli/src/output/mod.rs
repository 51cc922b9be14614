//! How results look.

pub mod box_table;
mod columns;
mod csv;
mod json;
mod lines;

use std::io::{self, Write};

use nodewise::Answer;

use crate::interrupt::Interrupt;
use crate::output::box_table::BoxTable;
use crate::output::columns::columns;

/// A format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people
    Box,
    /// Comma-separated values with a header, NULL as an empty field
    Csv,
    /// An array of objects
    Json,
    /// A line for each value
    Line,
}

/// How results are written.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// The format.
    pub format: Format,
    /// Rows that a box shows at most.
    pub rows_max: Option<usize>,
    /// Columns of the terminal.
    pub width: Option<usize>,
    /// Whether a line below a box tells the number of rows.
    pub footer: bool,
}

impl OutputOptions {
    /// Everything, without a word more: for scripts.
    pub fn plain(format: Format) -> Self {
        Self { format, rows_max: None, width: None, footer: false }
    }
}

/// Writes the rows of an answer.
pub fn write_answer(
    out: &mut dyn Write,
    answer: &Answer,
    options: &OutputOptions,
    interrupt: &Interrupt,
) -> io::Result<()> {
    match options.format {
        Format::Csv => csv::write(out, answer, interrupt),
        Format::Json => json::write(out, answer, interrupt),
        Format::Line => lines::write(out, answer, options.rows_max, interrupt),
        Format::Box if answer.tag == "EXPLAIN" => write_lines(out, answer),
        Format::Box => write_box(out, answer, options, interrupt),
    }
}

/// A plan is a text of its own; a box would only be in the way.
fn write_lines(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    for batch in &answer.batches {
        for cells in columns(batch) {
            for row in 0..batch.num_rows() {
                writeln!(out, "{}", cells.text(row).unwrap_or_default())?;
            }
        }
    }
    Ok(())
}

fn write_box(
    out: &mut dyn Write,
    answer: &Answer,
    options: &OutputOptions,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let fields = answer.schema.fields();
    let header = fields.iter().map(|it| (it.name().as_str(), it.data_type().is_numeric()));
    let mut table = BoxTable::new(header);
    let rows_max = options.rows_max.unwrap_or(usize::MAX);
    for_rows(answer, rows_max, interrupt, |cells| {
        table.measure(cells);
        Ok(())
    })?;
    if let Some(width) = options.width {
        table.fit(width);
    }
    table.write_head(out)?;
    for_rows(answer, rows_max, interrupt, |cells| table.write_row(out, cells))?;
    table.write_foot(out)?;
    if options.footer {
        let rows = answer.rows();
        let plural = if rows == 1 { "" } else { "s" };
        if rows > rows_max {
            write!(out, "({rows_max} of {rows} row{plural} shown")?;
        } else {
            write!(out, "({rows} row{plural}")?;
        }
        if let Some(columns) = table.columns_shown() {
            write!(out, ", {columns} of {} columns", fields.len())?;
        }
        writeln!(out, ")")?;
    }
    Ok(())
}

/// Calls `body` with the texts of each row.
fn for_rows(
    answer: &Answer,
    rows_max: usize,
    interrupt: &Interrupt,
    mut body: impl FnMut(&[String]) -> io::Result<()>,
) -> io::Result<()> {
    let mut texts = vec![String::new(); answer.schema.fields().len()];
    let mut left = rows_max;
    for batch in &answer.batches {
        interrupt.check()?;
        let columns = columns(batch);
        for row in 0..batch.num_rows().min(left) {
            for (text, cells) in texts.iter_mut().zip(&columns) {
                text.clear();
                if !cells.write(row, text) {
                    text.push_str("NULL");
                }
            }
            body(&texts)?;
        }
        left -= batch.num_rows().min(left);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
