//! Rows as lines of text: CSV, and PostgreSQL's text format.

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Schema};
use files::{Compression, Quoting};
use types::{SqlError, SqlResult, SqlState};

use crate::csv::CsvStyle;
use crate::reading::{CopyHeader, CopyText, Direction};
use crate::text::Cells;

/// How rows are written as lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineStyle {
    fields: Fields,
    /// Whether the first line has the names of the columns.
    header: bool,
    /// How a file of them is compressed; `None`: as the end of its name says.
    compression: Option<Compression>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Fields {
    Csv {
        style: CsvStyle,
        /// Columns whose values stand between quotes in any case; `*` for all.
        quoted: Vec<String>,
    },
    /// Special characters have a backslash.
    Text { delimiter: char, null: String },
    /// CSV without quotes: texts as they are, whatever is in them.
    Plain { delimiter: char, null: String },
}

impl LineStyle {
    /// What options of COPY .. TO say.
    pub(crate) fn of(options: &[(String, String)], is_csv: bool) -> SqlResult<Self> {
        let text = CopyText::of(options, is_csv, Direction::To)?;
        let delimiter = char::from(text.dialect.delimiter);
        let fields = match text.dialect.quoting {
            Quoting::Quotes { quote, escape } => {
                let (quote, escape) = (char::from(quote), char::from(escape));
                let style = CsvStyle { delimiter, null: text.null, quote, escape };
                Fields::Csv { style, quoted: text.force_quote }
            }
            Quoting::Backslash => Fields::Text { delimiter, null: text.null },
            Quoting::None => Fields::Plain { delimiter, null: text.null },
        };
        let header = text.header == CopyHeader::Skipped;
        Ok(Self { fields, header, compression: text.compression })
    }

    /// How a file of them is compressed; `None`: as the end of its name says.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Whether rows have the columns that the options name. Errors: 42703.
    pub(crate) fn check(&self, schema: &Schema) -> SqlResult<()> {
        let Fields::Csv { quoted, .. } = &self.fields else { return Ok(()) };
        match quoted.iter().find(|it| *it != "*" && schema.column_with_name(it).is_none()) {
            None => Ok(()),
            Some(name) => {
                let message = format!("column \"{name}\" does not exist");
                Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message))
            }
        }
    }

    /// The line of the names of columns; nothing where there is none.
    pub fn header(&self, schema: &Schema) -> String {
        let mut out = String::new();
        match &self.fields {
            _ if !self.header => {}
            Fields::Csv { style, .. } => style.push_header(schema, &mut out),
            Fields::Text { delimiter, .. } => {
                for (place, field) in schema.fields().iter().enumerate() {
                    separate(place, *delimiter, &mut out);
                    push_escaped(field.name(), *delimiter, &mut out);
                }
                out.push('\n');
            }
            Fields::Plain { delimiter, .. } => {
                for (place, field) in schema.fields().iter().enumerate() {
                    separate(place, *delimiter, &mut out);
                    out.push_str(field.name());
                }
                out.push('\n');
            }
        }
        out
    }

    /// What writes the rows of a batch.
    pub fn lines<'a>(&'a self, batch: &'a RecordBatch) -> LineWriter<'a> {
        let is_quoted = |name: &String| match &self.fields {
            Fields::Csv { quoted, .. } => quoted.iter().any(|it| it == "*" || it == name),
            Fields::Text { .. } | Fields::Plain { .. } => false,
        };
        let schema = batch.schema_ref();
        let column = |(place, array): (usize, &'a arrow_array::ArrayRef)| WrittenColumn {
            cells: Cells::new(array),
            truths: (array.data_type() == &DataType::Boolean).then(|| array.as_boolean()),
            is_quoted: is_quoted(schema.field(place).name()),
        };
        let columns = batch.columns().iter().enumerate().map(column).collect();
        LineWriter { style: self, columns, text: String::new() }
    }
}

/// Writes the rows of a batch as lines.
pub struct LineWriter<'a> {
    style: &'a LineStyle,
    columns: Vec<WrittenColumn<'a>>,
    text: String,
}

struct WrittenColumn<'a> {
    cells: Cells<'a>,
    /// Truths are `t` and `f` here, and words elsewhere.
    truths: Option<&'a BooleanArray>,
    is_quoted: bool,
}

impl LineWriter<'_> {
    /// Appends a row, with the end of its line.
    pub fn push(&mut self, row: usize, out: &mut String) {
        let is_alone = self.columns.len() == 1;
        for (place, column) in self.columns.iter().enumerate() {
            self.text.clear();
            let is_there = match column.truths {
                Some(it) if it.is_null(row) => false,
                Some(it) => {
                    self.text.push(if it.value(row) { 't' } else { 'f' });
                    true
                }
                None => column.cells.write(row, &mut self.text),
            };
            match &self.style.fields {
                Fields::Csv { style, .. } => {
                    style.separate(place, out);
                    match is_there {
                        false => out.push_str(&style.null),
                        true if column.is_quoted => style.push_quoted(&self.text, out),
                        true => style.push_field(&self.text, is_alone, out),
                    }
                }
                Fields::Plain { delimiter, null } => {
                    separate(place, *delimiter, out);
                    out.push_str(if is_there { &self.text } else { null });
                }
                Fields::Text { delimiter, null } => {
                    separate(place, *delimiter, out);
                    match is_there {
                        false => out.push_str(null),
                        true => push_escaped(&self.text, *delimiter, out),
                    }
                }
            }
        }
        out.push('\n');
    }
}

fn separate(place: usize, delimiter: char, out: &mut String) {
    if place > 0 {
        out.push(delimiter);
    }
}

/// Appends a text with backslashes before what would end it.
fn push_escaped(text: &str, delimiter: char, out: &mut String) {
    let is_special = |it: char| {
        matches!(it, '\\' | '\x08' | '\x0c' | '\n' | '\r' | '\t' | '\x0b') || it == delimiter
    };
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        let special = rest[at..].chars().next().unwrap_or_default();
        out.push_str(&rest[..at]);
        out.push('\\');
        out.push(match special {
            '\x08' => 'b',
            '\x0c' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\x0b' => 'v',
            other => other,
        });
        rest = &rest[at + special.len_utf8()..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, StringArray};
    use stdx::sync::Arc;

    use super::*;

    fn lines(texts: Vec<Option<&str>>, options: &[(&str, &str)], is_csv: bool) -> String {
        let count = texts.len();
        let truths: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true); count]));
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        let batch = RecordBatch::try_from_iter([("a", texts), ("b", truths)]).unwrap();
        let options: Vec<(String, String)> =
            options.iter().map(|it| (it.0.into(), it.1.into())).collect();
        let style = LineStyle::of(&options, is_csv).unwrap();
        let mut out = style.header(&batch.schema());
        let mut writer = style.lines(&batch);
        (0..count).for_each(|row| writer.push(row, &mut out));
        out
    }

    #[test]
    fn lines_are_as_postgres_writes_them() {
        // By COPY (VALUES ..) TO STDOUT of PostgreSQL 18.
        let texts = || vec![Some("a\tb\\\n\u{b}"), None, Some(""), Some("\\N")];
        assert_eq!(lines(texts(), &[], false), "a\\tb\\\\\\n\\v\tt\n\\N\tt\n\tt\n\\\\N\tt\n");
        let bar = [("delimiter", "|"), ("null", "-"), ("header", "true")];
        assert_eq!(lines(vec![Some("a|b\t"), None], &bar, false), "a|b\na\\|b\\t|t\n-|t\n");
        let texts = || vec![Some("x,\"y\""), None, Some(""), Some("plain")];
        assert_eq!(lines(texts(), &[], true), "\"x,\"\"y\"\"\",t\n,t\n\"\",t\nplain,t\n");
        let forced = [("force_quote", "a"), ("escape", "\\"), ("header", "on")];
        assert_eq!(
            lines(texts(), &forced, true),
            "a,b\n\"x,\\\"y\\\"\",t\n,t\n\"\",t\n\"plain\",t\n"
        );
    }
}
