//! Comma-separated values (RFC 4180) as `COPY .. WITH (FORMAT csv, HEADER)` of Postgres writes them: NULL is an empty
//! field, an empty text a pair of quotes.

use std::io::{self, Write};

use nodewise::Answer;

use super::columns::columns;
use crate::interrupt::Interrupt;

pub fn write(out: &mut dyn Write, answer: &Answer, interrupt: &Interrupt) -> io::Result<()> {
    let mut line = String::new();
    for (index, field) in answer.schema.fields().iter().enumerate() {
        separate(&mut line, index);
        push_field(&mut line, field.name());
    }
    writeln!(out, "{line}")?;
    let mut text = String::new();
    for batch in &answer.batches {
        interrupt.check()?;
        let columns = columns(batch);
        for row in 0..batch.num_rows() {
            line.clear();
            for (index, cells) in columns.iter().enumerate() {
                separate(&mut line, index);
                text.clear();
                if cells.write(row, &mut text) {
                    push_field(&mut line, &text);
                }
            }
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn separate(line: &mut String, index: usize) {
    if index > 0 {
        line.push(',');
    }
}

fn push_field(line: &mut String, text: &str) {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}
