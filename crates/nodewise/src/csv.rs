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
    /// What stands around a field that needs it.
    pub quote: char,
    /// What stands before a quote, and before itself, within quotes.
    pub escape: char,
}

impl Default for CsvStyle {
    fn default() -> Self {
        Self { delimiter: ',', null: String::new(), quote: '"', escape: '"' }
    }
}

impl CsvStyle {
    /// Appends a line of the names of columns.
    pub fn push_header(&self, schema: &Schema, out: &mut String) {
        let is_alone = schema.fields().len() == 1;
        for (index, field) in schema.fields().iter().enumerate() {
            self.separate(index, out);
            self.push_field(field.name(), is_alone, out);
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
                true => self.push_field(&text, columns.len() == 1, out),
                false => out.push_str(&self.null),
            }
        }
        out.push('\n');
    }

    /// Appends what stands before the field of a number, counted from 0.
    pub(crate) fn separate(&self, index: usize, out: &mut String) {
        if index > 0 {
            out.push(self.delimiter);
        }
    }

    /// Appends a field, between quotes where it needs them; one that `is_alone` in its line might be the mark of the end.
    pub(crate) fn push_field(&self, text: &str, is_alone: bool, out: &mut String) {
        let special = [self.delimiter, self.quote, '\n', '\r'];
        if text == self.null || text.contains(special) || is_alone && text == "\\." {
            self.push_quoted(text, out);
        } else {
            out.push_str(text);
        }
    }

    /// Appends a field between quotes.
    pub(crate) fn push_quoted(&self, text: &str, out: &mut String) {
        out.push(self.quote);
        for part in text.split_inclusive([self.quote, self.escape]) {
            let end = part.chars().next_back().filter(|it| [self.quote, self.escape].contains(it));
            match end {
                Some(end) => {
                    out.push_str(&part[..part.len() - end.len_utf8()]);
                    out.push(self.escape);
                    out.push(end);
                }
                None => out.push_str(part),
            }
        }
        out.push(self.quote);
    }
}
