//! Values between separators, as `COPY .. WITH (FORMAT csv, HEADER)` writes them.

use std::io::{self, Write};

use nodewise::Answer;
use nodewise::csv::CsvStyle;

use super::cells::columns;
use super::look::Look;
use crate::interrupt::Interrupt;

pub fn write(
    out: &mut dyn Write,
    answer: &Answer,
    delimiter: char,
    look: &Look,
    interrupt: &Interrupt,
) -> io::Result<()> {
    let null = look.null.clone().unwrap_or_default();
    let style = CsvStyle { delimiter, null, ..CsvStyle::default() };
    let mut line = String::new();
    if look.headers {
        style.push_header(&answer.schema, &mut line);
        out.write_all(line.as_bytes())?;
    }
    for batch in &answer.batches {
        interrupt.check()?;
        let columns = columns(batch);
        for row in 0..batch.num_rows() {
            line.clear();
            style.push_row(&columns, row, &mut line);
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}
