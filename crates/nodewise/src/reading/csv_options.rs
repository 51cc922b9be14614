//! The options of `read_csv`, by DuckDB's names.

use binder::{FileOption, FileReference, named_type};
use files::{Known, OnError, Quoting};
use types::{DataType, SqlError, SqlResult, SqlState, Zone};

use super::values::{boolean, character, compression, encoding, list, number, text, wrong};

/// What is said of a file of text.
#[derive(Clone, Debug)]
pub(crate) struct CsvOptions {
    pub(crate) known: Known,
    pub(crate) on_error: OnError,
    pub(crate) padded: bool,
    /// The time zone of the session.
    pub(crate) zone: Zone,
    /// Whether names become words that need no quotes.
    pub(crate) normalized: bool,
    /// The name of a column of the names of files.
    pub(crate) filename: Option<String>,
    /// Whether folders `name=value` are columns; `None`: where they are.
    pub(crate) hive: Option<bool>,
    /// Whether each file may have columns of its own.
    pub(crate) by_name: bool,
    /// Columns in which what stands for NULL is a text.
    pub(crate) force_not_null: Vec<String>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            known: Known::default(),
            on_error: OnError::Stop,
            padded: false,
            zone: Zone::utc(),
            normalized: false,
            filename: None,
            hive: None,
            by_name: false,
            force_not_null: Vec::new(),
        }
    }
}

impl CsvOptions {
    /// What the arguments of a call say.
    pub(crate) fn of(reference: &FileReference) -> SqlResult<Self> {
        let mut options = Self::default();
        let mut detects = true;
        for (name, value) in &reference.options {
            match name.as_str() {
                "auto_detect" => detects = boolean(name, value)?,
                _ => options.set(name, value)?,
            }
        }
        if !detects {
            let known = &mut options.known;
            known.delimiter.get_or_insert(b',');
            known.quote.get_or_insert(Some(b'"'));
            known.header.get_or_insert(false);
            known.all_text = true;
        }
        let known = &options.known;
        if known.delimiter.is_some() && known.quote.flatten() == known.delimiter {
            let message = "delimiter and quote must be different";
            return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &FileOption) -> SqlResult<()> {
        let known = &mut self.known;
        match name {
            "delim" | "sep" | "delimiter" => {
                let character = character(name, text(name, value)?)?;
                known.delimiter = Some(character.ok_or_else(|| wrong(name, "a character"))?);
            }
            "quote" => known.quote = Some(character(name, text(name, value)?)?),
            "escape" => known.escape = character(name, text(name, value)?)?,
            "header" => known.header = Some(boolean(name, value)?),
            "names" | "column_names" => known.names = list(name, value)?,
            "columns" => {
                let FileOption::Map(columns) = value else {
                    return Err(wrong(name, "names and types: {'a': 'INTEGER'}"));
                };
                known.names = columns.iter().map(|it| it.0.clone()).collect();
                known.types = typed(columns)?;
            }
            "types" | "dtypes" | "column_types" => match value {
                FileOption::Map(types) => known.types = typed(types)?,
                FileOption::List(types) => {
                    let types = types.iter().map(|it| named_type(it));
                    known.first_types = types.collect::<SqlResult<_>>()?;
                }
                FileOption::Text(_) => {
                    return Err(wrong(name, "types, or names and types: {'a': 'INTEGER'}"));
                }
            },
            "nullstr" | "null" => known.nulls = list(name, value)?,
            "skip" => known.skip = number(name, value)?,
            "all_varchar" => known.all_text = boolean(name, value)?,
            "sample_size" => {
                known.rows = match text(name, value)? {
                    "-1" => None,
                    _ => Some(number(name, value)?.clamp(1, 1 << 24) as usize),
                };
            }
            "ignore_errors" => {
                if boolean(name, value)? {
                    self.on_error = OnError::Skip { limit: None, malformed: true };
                }
            }
            "null_padding" => self.padded = boolean(name, value)?,
            "normalize_names" => self.normalized = boolean(name, value)?,
            "compression" => known.compression = compression(text(name, value)?)?,
            "encoding" => known.encoding = encoding(text(name, value)?)?,
            "filename" => self.filename = filename(name, value)?,
            "hive_partitioning" => self.hive = Some(boolean(name, value)?),
            "union_by_name" => self.by_name = boolean(name, value)?,
            "force_not_null" => self.force_not_null = list(name, value)?,
            // They say how a file is read, and not as what.
            "parallel" | "buffer_size" | "max_line_size" | "maximum_line_size" => {}
            // How lines end is found.
            "new_line" if ["\\n", "\\r", "\\r\\n"].contains(&text(name, value)?) => {}
            _ => {
                let message = format!("read_csv has no option \"{name}\"");
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message).with_hint(
                    "it has delim, quote, escape, header, names, columns, types, nullstr, skip, all_varchar, \
                     sample_size, ignore_errors, null_padding, normalize_names, compression, encoding, filename, \
                     hive_partitioning, union_by_name, force_not_null and auto_detect",
                ));
            }
        }
        Ok(())
    }
}

/// The name of a column of the names of files: `true`, or how it is called.
pub(crate) fn filename(name: &str, value: &FileOption) -> SqlResult<Option<String>> {
    let text = text(name, value)?;
    Ok(match super::values::is_on(text) {
        Some(true) => Some("filename".to_owned()),
        Some(false) => None,
        None => Some(text.to_owned()),
    })
}

/// Names with the types of their names.
pub(super) fn typed(columns: &[(String, String)]) -> SqlResult<Vec<(String, DataType)>> {
    columns.iter().map(|(name, of)| Ok((name.clone(), named_type(of)?))).collect()
}

/// How a quote is written in the answer of `sniff_csv`.
pub(crate) fn shown(quoting: Quoting) -> (String, String) {
    match quoting {
        Quoting::Quotes { quote, escape } => {
            (char::from(quote).to_string(), char::from(escape).to_string())
        }
        Quoting::None | Quoting::Backslash => (String::new(), String::new()),
    }
}
