//! What files are like: how their values stand, and the columns of these, from a sample of the first values.

use std::path::{Path, PathBuf};

use types::json::{Lexer, Token};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::layout::Layout;
use super::reader::malformed;
use super::shape::{LEVELS_MAX, Rules, Shape};
use crate::fault::{Origin, RecordPlace};
use crate::input::{self, Compression, Encoding};
use crate::rows::valid_text;
use crate::sniff::SAMPLE_ROWS;

/// Bytes of a sample, and more where one value is longer.
const SAMPLE_BYTES: [u64; 3] = [4 << 20, 64 << 20, 1 << 30];

/// What is known of files before one looks at them.
#[derive(Clone, Debug)]
pub struct JsonKnown {
    /// How values stand.
    pub layout: Option<Layout>,
    /// Names and types of the columns.
    pub columns: Option<Vec<(String, DataType)>>,
    /// Whether values are objects whose members are columns.
    pub is_records: Option<bool>,
    /// Values to look at; `None` for all.
    pub rows: Option<usize>,
    /// Files to look at.
    pub files: usize,
    /// Whether each file may have columns of its own.
    pub by_name: bool,
    /// Levels of arrays and objects that have types of their own; what is below is JSON.
    pub depth: Option<usize>,
    /// In which part of the objects a member has to be, on average over the members, so that they are structs.
    pub appearance: f64,
    /// So many members of one type are a map.
    pub map_from: usize,
    /// Whether what is no JSON is passed over.
    pub is_lenient: bool,
    /// `None`: as the ends of names say.
    pub compression: Option<Compression>,
}

impl Default for JsonKnown {
    fn default() -> Self {
        Self {
            layout: None,
            columns: None,
            is_records: None,
            rows: Some(SAMPLE_ROWS),
            files: 32,
            by_name: false,
            depth: None,
            appearance: 0.1,
            map_from: 200,
            is_lenient: false,
            compression: None,
        }
    }
}

/// What files are like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonFound {
    /// How values stand, by file.
    pub layouts: Vec<Layout>,
    /// Names and types of the columns.
    pub columns: Vec<(String, DataType)>,
    /// Whether values are objects whose members are columns; else each value is the one column.
    pub is_records: bool,
}

/// Looks at files.
///
/// # Errors
/// Those of reading them; 22P04 for what is no JSON; 22023 for several columns of values that are no objects.
pub fn sniff_json(paths: &[PathBuf], known: &JsonKnown) -> SqlResult<JsonFound> {
    let mut shape = Shape::default();
    let (mut layouts, mut left) = (Vec::new(), known.rows.unwrap_or(usize::MAX));
    for (file, path) in paths.iter().enumerate() {
        let is_looked_at = known.by_name || file < known.files && left > 0;
        if let (Some(layout), false) = (known.layout, is_looked_at) {
            layouts.push(layout);
            continue;
        }
        let most = if known.by_name { known.rows.unwrap_or(usize::MAX) } else { left };
        let sample = Sample { known, paths, file, path };
        let (layout, seen) = sample.look(if is_looked_at { most } else { 0 }, &mut shape)?;
        left = left.saturating_sub(seen);
        layouts.push(layout);
    }
    let rules = Rules { appearance: known.appearance, map_from: known.map_from };
    if known.is_records == Some(true) && shape.has_others() {
        let message = "the values of the files are no objects, which records are";
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    }
    let columns = shape.columns(rules);
    let has_columns = columns.is_some() || known.columns.is_some();
    let is_records = known.is_records.unwrap_or(match &known.columns {
        Some(columns) => columns.len() != 1 || !shape.has_others(),
        None => columns.is_some(),
    });
    let whole = || vec![("json".to_owned(), shape.data_type(rules))];
    let columns = match &known.columns {
        Some(columns) => columns.clone(),
        None if is_records => columns.unwrap_or_else(whole),
        None => whole(),
    };
    // Objects that are a map have no columns.
    let is_records = is_records && has_columns;
    if !is_records && columns.len() != 1 {
        let message = "values that are no records have one column";
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    }
    Ok(JsonFound { layouts, columns, is_records })
}

/// A file that is looked at.
struct Sample<'a> {
    known: &'a JsonKnown,
    paths: &'a [PathBuf],
    file: usize,
    path: &'a Path,
}

impl Sample<'_> {
    /// How values stand in it; the first of them are added to a shape. How many those were.
    fn look(&self, rows: usize, shape: &mut Shape) -> SqlResult<(Layout, usize)> {
        for most in SAMPLE_BYTES {
            let most = if self.known.rows.is_none() { SAMPLE_BYTES[2] } else { most };
            let compression = self.known.compression;
            let compression = compression.unwrap_or_else(|| Compression::of_name(self.path));
            let begun = input::begin(self.path, compression, Encoding::Utf8, 0)?;
            let most = if rows == 0 { 1 << 16 } else { most };
            let (bytes, is_whole) = begun.sample(self.path, most)?;
            // What is no text is told when it is read.
            let text = valid_text(&bytes).0;
            let layout = self.known.layout.unwrap_or_else(|| Layout::of(text, is_whole));
            if rows == 0 {
                return Ok((layout, 0));
            }
            let is_whole = is_whole && text.len() == bytes.len();
            let seen = match layout {
                Layout::Lines => self.lines(text, is_whole, rows, shape)?,
                Layout::Array | Layout::Sequence => {
                    self.values(text, is_whole, layout == Layout::Array, rows, shape)?
                }
            };
            if seen > 0 || is_whole || most == SAMPLE_BYTES[2] {
                return Ok((layout, seen));
            }
        }
        Ok((Layout::Sequence, 0))
    }

    fn levels(&self) -> usize {
        // Records are a level, too; values that are columns themselves are not.
        self.known.depth.map_or(LEVELS_MAX, |it| it.min(LEVELS_MAX))
    }

    fn lines(
        &self,
        text: &str,
        is_whole: bool,
        rows: usize,
        shape: &mut Shape,
    ) -> SqlResult<usize> {
        let (mut seen, mut at) = (0, 0);
        for line in text.split_inclusive(['\n', '\r']) {
            let is_cut = !is_whole && at + line.len() == text.len();
            if seen == rows || is_cut && !line.ends_with(['\n', '\r']) {
                break;
            }
            let mut lexer = Lexer::new(line);
            match lexer.advance() {
                Ok(Token::End) => {}
                first => {
                    let added = first.and_then(|it| shape.add(&mut lexer, it, self.levels()));
                    match added {
                        Err(error) if !self.known.is_lenient => {
                            return Err(self.wrong(error, text, at + lexer.start));
                        }
                        _ => seen += 1,
                    }
                }
            }
            at += line.len();
        }
        Ok(seen)
    }

    fn values(
        &self,
        text: &str,
        is_whole: bool,
        is_array: bool,
        rows: usize,
        shape: &mut Shape,
    ) -> SqlResult<usize> {
        let (mut lexer, mut seen) = (Lexer::new(text), 0);
        let mut token = lexer.advance();
        if is_array && token == Ok(Token::OpenArray) {
            token = lexer.advance();
        }
        while seen < rows {
            let mut one = Shape::default();
            let added = match token {
                Ok(Token::End) => break,
                Ok(Token::CloseArray) if is_array => break,
                Ok(first) => one.add(&mut lexer, first, self.levels()),
                Err(error) => Err(error),
            };
            match added {
                Ok(()) => {
                    shape.merge(&one);
                    seen += 1;
                }
                // The last value of a sample may be cut; others are told when they are read.
                Err(error) if is_whole && !self.known.is_lenient => {
                    return Err(self.wrong(error, text, lexer.start));
                }
                Err(_) => break,
            }
            token = lexer.advance();
            if is_array && token == Ok(Token::Comma) {
                token = lexer.advance();
            }
        }
        Ok(seen)
    }

    fn wrong(&self, error: SqlError, text: &str, at: usize) -> SqlError {
        let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u64;
        let origin = Origin::Files(self.paths);
        malformed(error).at(RecordPlace { origin, file: self.file, line, text: "" })
    }
}
