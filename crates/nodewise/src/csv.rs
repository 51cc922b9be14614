//! Comma-separated values (RFC 4180) as `COPY .. WITH (FORMAT csv)` of PostgreSQL writes them: NULL is an empty field,
//! an empty text a pair of quotes.

use arrow_schema::Schema;

use crate::text::Cells;

/// How fields are told apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CsvStyle {
    /// What stands between two fields.
    pub delimiter: char,
    /// What stands for NULL; a text that is the same is quoted.
    pub null: String,
}

impl Default for CsvStyle {
    fn default() -> Self {
        Self { delimiter: ',', null: String::new() }
    }
}

impl CsvStyle {
    /// Appends a line of the names of columns.
    pub fn push_header(&self, schema: &Schema, out: &mut String) {
        for (index, field) in schema.fields().iter().enumerate() {
            self.separate(index, out);
            self.push_field(field.name(), out);
        }
        out.push('\n');
    }

    /// Appends a line of the values of a row.
    pub fn push_row(&self, columns: &[Cells<'_>], row: usize, out: &mut String) {
        let mut text = String::new();
        for (index, cells) in columns.iter().enumerate() {
            self.separate(index, out);
            text.clear();
            match cells.write(row, &mut text) {
                true => self.push_field(&text, out),
                false => out.push_str(&self.null),
            }
        }
        out.push('\n');
    }

    fn separate(&self, index: usize, out: &mut String) {
        if index > 0 {
            out.push(self.delimiter);
        }
    }

    fn push_field(&self, text: &str, out: &mut String) {
        if text == self.null || text.contains([self.delimiter, '"', '\n', '\r']) || text == "\\." {
            out.push('"');
            out.push_str(&text.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(text);
        }
    }
}
