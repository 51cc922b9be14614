//! Values of files into columns.

use std::borrow::Cow;
use std::collections::HashMap;

use types::json::{Lexer, Token, each_member, skip, string_of, unexpected};
use types::{SqlError, SqlResult, SqlState, Zone};

use super::layout::Layout;
use super::pieces::Piece;
use super::value::{self, How};
use crate::blocks::Chunk;
use crate::fault::{Fault, Origin, RecordPlace, invalid_bytes};
use crate::growing::Growing;
use crate::input::Compression;
use crate::rows::{OnError, Part, valid_text};
use crate::text_column::Columns;

/// How files of JSON are read.
#[derive(Clone, PartialEq, Debug)]
pub struct JsonFormat {
    /// How values stand, by file.
    pub layouts: Vec<Layout>,
    /// Whether values are objects whose members are the columns; else each value is the one column.
    pub is_records: bool,
    /// Whether members that no column is of are an error.
    pub is_closed: bool,
    /// `None`: as the end of a file's name says.
    pub compression: Option<Compression>,
    /// What becomes of rows with wrong values.
    pub on_error: OnError,
    /// Whether values that do not fit are NULL, and a line that is no JSON is a row of these.
    pub is_lenient: bool,
    /// In which moments are that name no time zone.
    pub zone: Zone,
}

/// What is no JSON (22P04), with the reason.
pub(super) fn malformed(error: SqlError) -> Fault {
    if error.state != SqlState::INVALID_TEXT {
        return Fault::of(error);
    }
    let reason = error.hint.as_deref().unwrap_or(&error.message);
    Fault::malformed(format!("malformed JSON: {}", reason.trim_end_matches('.')))
}

pub(super) struct Reader<'a> {
    origin: Origin<'a>,
    /// The number of the first of its files among all.
    first: usize,
    columns: &'a Columns,
    format: &'a JsonFormat,
    by_name: HashMap<&'a str, usize>,
}

/// A text that is read, and where it is.
struct Text<'a> {
    bytes: &'a [u8],
    text: &'a str,
    /// Where bytes are that are no text.
    bad: Option<usize>,
    file: usize,
    /// The line in which it begins, and what ends a line.
    line: u64,
    line_end: u8,
}

/// What was read of a piece.
struct Reading {
    growing: Growing,
    skipped: Vec<SqlError>,
    /// What is wrong with the record that is read, and where.
    fault: Option<(Fault, usize)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        (origin, first): (Origin<'a>, usize),
        columns: &'a Columns,
        format: &'a JsonFormat,
    ) -> Self {
        let by_name = columns.iter().enumerate().map(|(place, it)| (&*it.name, place)).collect();
        Self { origin, first, columns, format, by_name }
    }

    /// Reads whole lines, each with a value.
    pub(super) fn chunk(&self, chunk: &Chunk<'_>) -> SqlResult<Part> {
        let mut reading = self.reading()?;
        let (mut line, mut failed) = (chunk.line, None);
        for bytes in chunk.parts.into_iter().filter(|it| !it.is_empty()) {
            let text = Text::new(bytes, chunk.file, line, chunk.line_end);
            if let Err(error) = self.text_lines(&text, &mut reading) {
                failed = Some(error);
                break;
            }
            line += memchr::memchr_iter(chunk.line_end, bytes).count() as u64;
        }
        self.part(reading, chunk.file, failed)
    }

    fn text_lines(&self, text: &Text<'_>, reading: &mut Reading) -> SqlResult<()> {
        let mut at = 0;
        while at < text.text.len() {
            let rest = &text.text[at..];
            let end =
                memchr::memchr(text.line_end, rest.as_bytes()).map_or(rest.len(), |it| it + 1);
            // A record that goes on behind the last text is none.
            if text.bad.is_some()
                && at + end == text.text.len()
                && !rest[..end].ends_with(char::from(text.line_end))
            {
                break;
            }
            let mut lexer = Lexer::new(&rest[..end]);
            let read = self.line(&mut lexer, reading);
            if let Err(error) = read {
                let fault = malformed(error);
                if !self.format.is_lenient {
                    return Err(self.at(fault, text, at + lexer.start));
                }
                reading.growing.truncate();
                reading.fault = None;
                self.row_of_nulls(&mut reading.growing).map_err(|it| self.at(it, text, at))?;
            }
            self.ended(reading, text, at)?;
            at += end;
        }
        match text.bad {
            Some(at) => Err(self.at(Fault::of(invalid_bytes(&text.bytes[at..])), text, at)),
            None => Ok(()),
        }
    }

    /// Reads a line: one value, or none.
    fn line(&self, lexer: &mut Lexer<'_>, reading: &mut Reading) -> SqlResult<()> {
        let first = lexer.advance()?;
        if first == Token::End {
            return Ok(());
        }
        self.record(lexer, first, reading)?;
        match lexer.advance()? {
            Token::End => {
                reading.growing.rows += 1;
                Ok(())
            }
            token => Err(unexpected(lexer, token, "Expected end of line, but found")),
        }
    }

    /// Reads values that stand one behind the other.
    pub(super) fn piece(&self, piece: &Piece, is_array: bool) -> SqlResult<Part> {
        let mut reading = self.reading()?;
        let text = Text::new(&piece.bytes, 0, piece.line, b'\n');
        let mut lexer = Lexer::new(text.text);
        let failed = self.piece_values(piece, is_array, &text, &mut lexer, &mut reading).err();
        self.part(reading, 0, failed)
    }

    fn piece_values(
        &self,
        piece: &Piece,
        is_array: bool,
        text: &Text<'_>,
        lexer: &mut Lexer<'_>,
        reading: &mut Reading,
    ) -> SqlResult<()> {
        let wrong = |error: SqlError, lexer: &Lexer<'_>| match text.bad {
            Some(at) => self.at(Fault::of(invalid_bytes(&text.bytes[at..])), text, at),
            None => self.at(malformed(error), text, lexer.start),
        };
        let mut needs_value = !piece.is_first;
        loop {
            let first = lexer.advance().map_err(|it| wrong(it, lexer))?;
            if first == Token::End && text.bad.is_none() {
                if is_array && needs_value && piece.is_last && piece.is_closed {
                    let reason = "Expected JSON value, but found \"]\"";
                    return Err(self.at(
                        Fault::malformed(format!("malformed JSON: {reason}")),
                        text,
                        lexer.start,
                    ));
                }
                if piece.is_last && !piece.is_closed {
                    let what = "Expected JSON value, but found";
                    return Err(wrong(unexpected(lexer, Token::End, what), lexer));
                }
                return Ok(());
            }
            self.record(lexer, first, reading).map_err(|it| wrong(it, lexer))?;
            reading.growing.rows += 1;
            self.ended(reading, text, 0)?;
            if is_array {
                match lexer.advance().map_err(|it| wrong(it, lexer))? {
                    Token::Comma => needs_value = true,
                    Token::End if piece.is_last && piece.is_closed && text.bad.is_none() => {
                        return Ok(());
                    }
                    token => {
                        let what = "Expected \",\" or \"]\", but found";
                        return Err(wrong(unexpected(lexer, token, what), lexer));
                    }
                }
            }
        }
    }

    /// Reads a value whose first token was read; what is wrong with what it means is kept, what is no JSON is an error.
    fn record(&self, lexer: &mut Lexer<'_>, first: Token, reading: &mut Reading) -> SqlResult<()> {
        let start = lexer.start;
        if !self.format.is_records {
            skip(lexer, first)?;
            self.value(0, lexer.since(start), start, reading);
            return Ok(());
        }
        match first {
            Token::OpenObject => {}
            _ => {
                skip(lexer, first)?;
                if first != Token::Null && !self.format.is_lenient {
                    let shown: String = lexer.since(start).chars().take(40).collect();
                    reading.fail(
                        Fault::malformed(format!("an object is expected, not {shown}")),
                        start,
                    );
                }
                return self.missing(start, reading);
            }
        }
        let mut next = 0;
        each_member(lexer, |lexer, key, first| {
            let at = lexer.start;
            skip(lexer, first)?;
            // Most records have their keys in the order of the columns, written as they are meant.
            let is_next = self.columns.get(next).is_some_and(|it| is_written(key, &it.name));
            let key_text = if is_next { Cow::default() } else { string_of(key)? };
            let place = if is_next { Some(next) } else { self.by_name.get(&*key_text).copied() };
            match place {
                Some(place) => {
                    next = place + 1;
                    self.value(place, lexer.since(at), at, reading);
                }
                None if self.format.is_closed && !self.format.is_lenient => {
                    reading.fail(Fault::of(value::wrong_key("unknown", &key_text)), at);
                }
                None => {}
            }
            Ok(())
        })?;
        self.missing(start, reading)
    }

    /// Adds a value to a column.
    fn value(&self, place: usize, json: &str, at: usize, reading: &mut Reading) {
        let column = &self.columns[place];
        let rows = reading.growing.rows;
        if reading.fault.is_some() || !column.wanted {
            return;
        }
        if reading.growing.columns[place].as_ref().is_none_or(|it| it.rows() > rows) {
            if !self.format.is_lenient {
                reading.fail(Fault::of(value::wrong_key("duplicate", &column.name)), at);
            }
            return;
        }
        let pushed = match &mut reading.growing.columns[place] {
            Some(values) if json != "null" => {
                value::push(values, json, column.data_type, self.how())
                    .map_err(|error| Fault::value(error, &column.name, json))
            }
            _ => reading.growing.push_null(place, column),
        };
        let pushed = match pushed {
            Err(_) if self.format.is_lenient => reading.growing.push_null(place, column),
            other => other,
        };
        if let Err(fault) = pushed {
            reading.fail(fault, at);
        }
    }

    /// Columns that a record has no member for are NULL.
    fn missing(&self, at: usize, reading: &mut Reading) -> SqlResult<()> {
        let rows = reading.growing.rows;
        for (place, column) in self.columns.iter().enumerate() {
            let is_there = |it: &crate::column::Column| it.rows() > rows;
            if reading.fault.is_some()
                || reading.growing.columns[place].as_ref().is_none_or(is_there)
            {
                continue;
            }
            if let Err(fault) = reading.growing.push_null(place, column) {
                reading.fail(fault, at);
            }
        }
        Ok(())
    }

    fn row_of_nulls(&self, growing: &mut Growing) -> Result<(), Fault> {
        for (place, column) in self.columns.iter().enumerate() {
            growing.push_null(place, column)?;
        }
        growing.rows += 1;
        Ok(())
    }

    /// Looks what was wrong with the record that was read, where what was read begins at a place of the text.
    fn ended(&self, reading: &mut Reading, text: &Text<'_>, from: usize) -> SqlResult<()> {
        let Some((fault, at)) = reading.fault.take() else { return Ok(()) };
        reading.growing.rows -= 1;
        reading.growing.truncate();
        let is_skipped = match self.format.on_error {
            OnError::Stop => false,
            OnError::Skip { malformed, .. } => fault.is_value || malformed,
        };
        let error = self.at(fault, text, from + at);
        if !is_skipped {
            return Err(error);
        }
        reading.skipped.push(error);
        Ok(())
    }

    fn at(&self, fault: Fault, text: &Text<'_>, at: usize) -> SqlError {
        let at = at.min(text.bytes.len());
        fault.at(RecordPlace {
            origin: self.origin,
            file: text.file,
            line: text.line + memchr::memchr_iter(text.line_end, &text.bytes[..at]).count() as u64,
            text: text.text.get(at..).unwrap_or_default(),
        })
    }

    fn how(&self) -> How<'_> {
        How { zone: &self.format.zone, is_closed: self.format.is_closed && !self.format.is_lenient }
    }

    fn reading(&self) -> SqlResult<Reading> {
        let growing = Growing::new(self.columns, false, &self.format.zone)?;
        Ok(Reading { growing, skipped: Vec::new(), fault: None })
    }

    fn part(&self, reading: Reading, file: usize, failed: Option<SqlError>) -> SqlResult<Part> {
        let Reading { mut growing, skipped, .. } = reading;
        growing.truncate();
        let batch = growing.finish(self.columns)?;
        let file = self.first + file;
        Ok(Part { skipped, failed, ..Part::of(file, batch) })
    }
}

impl Reading {
    /// Keeps what is wrong with a record, unless something was before.
    fn fail(&mut self, fault: Fault, at: usize) {
        self.fault.get_or_insert((fault, at));
    }
}

impl<'a> Text<'a> {
    fn new(bytes: &'a [u8], file: usize, line: u64, line_end: u8) -> Self {
        let (text, bad) = valid_text(bytes);
        Self { bytes, text, bad, file, line, line_end }
    }
}

/// Whether a key in quotes is a name, written without escapes.
fn is_written(key: &str, name: &str) -> bool {
    let inner = key.as_bytes().get(1..key.len() - 1);
    inner == Some(name.as_bytes()) && !name.contains('\\')
}
