//! Objects, one per line. Numbers keep all their digits; what JSON has no number for (NaN) becomes null.

use std::io::{self, Write};

use arrow_schema::DataType;
use nodewise::Answer;

use super::cells::columns;
use crate::interrupt::Interrupt;

/// An array of objects.
pub fn write_array(out: &mut dyn Write, answer: &Answer, interrupt: &Interrupt) -> io::Result<()> {
    write!(out, "[")?;
    write_objects(out, answer, ",\n", interrupt)?;
    writeln!(out, "]")
}

/// An object on each line, and nothing else.
pub fn write_lines(out: &mut dyn Write, answer: &Answer, interrupt: &Interrupt) -> io::Result<()> {
    write_objects(out, answer, "\n", interrupt)?;
    if answer.rows() > 0 { writeln!(out) } else { Ok(()) }
}

fn write_objects(
    out: &mut dyn Write,
    answer: &Answer,
    between: &str,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let fields = answer.schema.fields();
    let keys: Vec<String> = fields.iter().map(|it| quoted(it.name())).collect();
    let bare: Vec<bool> = (fields.iter())
        .map(|it| it.data_type().is_numeric() || *it.data_type() == DataType::Boolean)
        .collect();
    let mut separator = "";
    let mut text = String::new();
    for batch in &answer.batches {
        interrupt.check()?;
        let columns = columns(batch);
        for row in 0..batch.num_rows() {
            write!(out, "{separator}{{")?;
            for (index, cells) in columns.iter().enumerate() {
                text.clear();
                let comma = if index > 0 { "," } else { "" };
                let key = &keys[index];
                if !cells.write(row, &mut text) || bare[index] && !is_json(&text) {
                    write!(out, "{comma}{key}:null")?;
                } else if bare[index] {
                    write!(out, "{comma}{key}:{text}")?;
                } else {
                    write!(out, "{comma}{key}:{}", quoted(&text))?;
                }
            }
            write!(out, "}}")?;
            separator = between;
        }
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_json(text: &str) -> bool {
    !text.ends_with("NaN") && !text.ends_with("Infinity")
}
