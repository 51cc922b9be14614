//! How results look.

mod cells;
mod insert;
mod json;
mod lines;
mod look;
mod markup;
mod separated;

use std::io::{self, Write};

use nodewise::Answer;
use nodewise::box_table::{self, BoxTable};

use crate::interrupt::Interrupt;
use crate::output::cells::{columns, for_rows};

pub use look::{Format, Look, OutputOptions};

/// Writes the rows of an answer.
pub fn write_answer(
    out: &mut dyn Write,
    answer: &Answer,
    options: &OutputOptions,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let look = &options.look;
    match look.format {
        Format::Csv => separated::write(out, answer, ',', look, interrupt),
        Format::Tsv => separated::write(out, answer, '\t', look, interrupt),
        Format::Json => json::write_array(out, answer, interrupt),
        Format::Jsonl => json::write_lines(out, answer, interrupt),
        Format::Line => lines::write(out, answer, options, interrupt),
        Format::Markdown => markup::write_markdown(out, answer, look, interrupt),
        Format::Html => markup::write_html(out, answer, look, interrupt),
        Format::Latex => markup::write_latex(out, answer, look, interrupt),
        Format::Insert => insert::write(out, answer, look, interrupt),
        Format::Box | Format::Table if answer.tag == "EXPLAIN" => write_lines(out, answer),
        Format::Box => write_box(out, answer, options, &box_table::LINES, interrupt),
        Format::Table => write_box(out, answer, options, &box_table::ASCII, interrupt),
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
    frame: &'static box_table::Frame,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let fields = answer.schema.fields();
    let header = fields.iter().map(|it| (it.name().as_str(), it.data_type().is_numeric()));
    let mut table = BoxTable::new(header).framed(frame);
    let rows_max = options.rows_max.unwrap_or(usize::MAX);
    let null = options.look.null.as_deref().unwrap_or("NULL");
    for_rows(answer, null, rows_max, interrupt, |row| {
        table.measure(row);
        Ok(())
    })?;
    if let Some(width) = options.width {
        table.fit(width);
    }
    if options.look.headers { table.write_head(out) } else { table.write_top(out) }?;
    for_rows(answer, null, rows_max, interrupt, |row| {
        let is_faint = |at: usize| options.faint_null && row[at].is_null;
        table.write_row_with(out, row, is_faint)
    })?;
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

#[cfg(test)]
mod tests;
