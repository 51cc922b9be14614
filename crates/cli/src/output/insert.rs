//! Rows as the statements that insert them. What is written reads back as it was.

use std::io::{self, Write};

use arrow_schema::DataType;
use nodewise::Answer;
use nodewise::text::{quoted_name, relation_name};

use super::cells::for_rows;
use super::look::Look;
use crate::interrupt::Interrupt;

/// Rows of one statement: many enough to be read fast, few enough for a line editor.
const ROWS_PER_STATEMENT: usize = 100;

/// Writes INSERT statements into the table that the user named.
pub fn write(
    out: &mut dyn Write,
    answer: &Answer,
    look: &Look,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let fields = answer.schema.fields();
    let names: Vec<String> = fields.iter().map(|it| quoted_name(it.name())).collect();
    let (table, names) = (relation_name(&look.table), names.join(", "));
    let overriding = if look.overriding { " OVERRIDING SYSTEM VALUE" } else { "" };
    let head = format!("INSERT INTO {table} ({names}){overriding} VALUES");
    let bare: Vec<bool> = (fields.iter())
        .map(|it| it.data_type().is_numeric() || *it.data_type() == DataType::Boolean)
        .collect();
    let mut rows = 0;
    for_rows(answer, "NULL", usize::MAX, interrupt, |row| {
        match rows % ROWS_PER_STATEMENT {
            0 if rows == 0 => write!(out, "{head}\n  (")?,
            0 => write!(out, ";\n{head}\n  (")?,
            _ => write!(out, ",\n  (")?,
        }
        rows += 1;
        for (index, (cell, bare)) in row.iter().zip(&bare).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            // NaN and infinities are words, not numbers.
            let is_word = !cell.text.ends_with(|it: char| it.is_ascii_digit());
            let is_truth = matches!(&*cell.text, "true" | "false");
            if cell.is_null || *bare && (!is_word || is_truth) {
                write!(out, "{comma}{}", cell.text)?;
            } else {
                write!(out, "{comma}'{}'", cell.text.replace('\'', "''"))?;
            }
        }
        write!(out, ")")
    })?;
    if rows > 0 { writeln!(out, ";") } else { Ok(()) }
}
