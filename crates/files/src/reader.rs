//! Records into columns.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use storage::parallel::try_map;
use storage::{BuildContext, Check};
use types::{SqlError, SqlResult, Zone};

use crate::blocks::{Chunk, Wave};
use crate::dialect::{Dialect, Quoting};
use crate::fault::{Fault, KeptPlace, Origin, RecordPlace, invalid_bytes};
use crate::feed::{Feed, Source};
use crate::fields::{Field, Fields, Lines};
use crate::growing::Growing;
use crate::input::{Compression, Encoding};
use crate::rows::{GivePart, OnError, Part, Parts, RefusedRow, Rows, all_rows, valid_text};
use crate::text_column::{Columns, TextColumn};

/// What the first record of a file is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Header {
    /// A row.
    Absent,
    /// Names that do not count.
    Skipped,
    /// These names.
    Matched(Vec<String>),
}

/// How files are read.
#[derive(Clone, PartialEq, Debug)]
pub struct TextFormat {
    /// How fields are told apart.
    pub dialect: Dialect,
    /// What stands for NULL, where no quotes stand around it.
    pub nulls: Vec<String>,
    /// What stands for the default of a column: there the column is NULL, and marked.
    pub default: Option<String>,
    /// What the first record is.
    pub header: Header,
    /// Lines before it.
    pub skip: u64,
    /// `None`: as the end of a file's name says.
    pub compression: Option<Compression>,
    /// What the bytes mean.
    pub encoding: Encoding,
    /// What becomes of rows with wrong values.
    pub on_error: OnError,
    /// Whether lines end alike, and empty lines are rows, as PostgreSQL has it.
    pub strict: bool,
    /// Whether a delimiter may stand at the end of a record, as in TPC's `.tbl`.
    pub trailing: bool,
    /// Whether fields that are missing at the end of a record are NULL.
    pub padded: bool,
    /// In which moments are that name no time zone.
    pub zone: Zone,
}

/// Reads files.
///
/// # Errors
/// 22P04 for records that are not written as they should be, 22021 for bytes that are no text; for values those of a cast from
/// text; 23502; 58P01, 58030 and XX001 for files that cannot be read.
pub fn read_text(
    paths: &[PathBuf],
    columns: &Columns,
    format: &TextFormat,
    context: &BuildContext<'_>,
) -> SqlResult<Rows> {
    read_blocks(paths, columns, format, context, None)
}

/// [`read_text`] in blocks of some size.
fn read_blocks(
    paths: &[PathBuf],
    columns: &Columns,
    format: &TextFormat,
    context: &BuildContext<'_>,
    block: Option<usize>,
) -> SqlResult<Rows> {
    let workers = context.parallel.width();
    let reader = TextReader::in_blocks(paths, columns.to_vec(), format.clone(), workers, block);
    all_rows(&reader, format.on_error, context)
}

/// Files that are read part by part.
pub struct TextReader {
    feed: Feed,
    columns: Vec<TextColumn>,
    format: TextFormat,
}

impl TextReader {
    /// Begins to read files; so many workers will.
    pub fn new(
        paths: &[PathBuf],
        columns: Vec<TextColumn>,
        format: TextFormat,
        workers: usize,
    ) -> Self {
        Self::in_blocks(paths, columns, format, workers, None)
    }

    fn in_blocks(
        paths: &[PathBuf],
        columns: Vec<TextColumn>,
        format: TextFormat,
        workers: usize,
        block: Option<usize>,
    ) -> Self {
        let source = Source {
            paths: paths.into(),
            compression: format.compression,
            encoding: format.encoding,
            skip: format.skip,
            quoting: format.dialect.quoting,
        };
        Self { feed: Feed::new(source, workers, block), columns, format }
    }
}

impl Parts for TextReader {
    fn steps(&self) -> u64 {
        self.feed.steps()
    }

    fn step(&self, step: u64, check: Check<'_>, give: GivePart<'_>) -> SqlResult<()> {
        let origin = Origin::Files(self.feed.paths());
        let reader = Reader { origin, columns: &self.columns, format: &self.format };
        self.feed.step(step, check, &mut |order, chunk| {
            give(order, chunk.and_then(|it| reader.read(&it)))
        })
    }

    fn progress(&self) -> (u64, u64) {
        self.feed.progress()
    }

    fn may_end(&self) -> bool {
        self.format.dialect.quoting == Quoting::Backslash
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) origin: Origin<'a>,
    pub(crate) columns: &'a Columns,
    pub(crate) format: &'a TextFormat,
}

/// What is told of rows beside their values.
#[derive(Default)]
struct Told {
    skipped: Vec<SqlError>,
    noted: Vec<(usize, KeptPlace)>,
}

/// What reading ended with.
struct Stopped {
    error: SqlError,
    /// The row that is wrong, where it is a whole one.
    row: Option<Box<RefusedRow>>,
}

impl From<SqlError> for Stopped {
    fn from(error: SqlError) -> Self {
        Self { error, row: None }
    }
}

/// What a record was.
enum Record {
    Row,
    End,
}

impl Reader<'_> {
    /// Reads the records of a wave. `ended` is the number of a file whose end was marked: behind it, whatever a file holds is
    /// none of it.
    pub(crate) fn add(
        &self,
        wave: &Wave,
        context: &BuildContext<'_>,
        rows: &mut Rows,
        ended: &mut Option<usize>,
    ) -> SqlResult<()> {
        let read = try_map(context.parallel, wave.len(), |index| self.read(&wave.chunk(index)))?;
        for part in read {
            if *ended != Some(part.file) {
                rows.add(part, self.format.on_error, ended)?;
            }
            if rows.refused.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn read(&self, chunk: &Chunk<'_>) -> SqlResult<Part> {
        let mut growing =
            Growing::new(self.columns, self.format.default.is_some(), &self.format.zone)?;
        let (mut told, mut failed, mut ended) = (Told::default(), None, false);
        let mut refused = None;
        let mut line = chunk.line;
        for (place, bytes) in chunk.parts.into_iter().enumerate() {
            if bytes.is_empty() {
                continue;
            }
            let has_header = chunk.first && (place == 0 || chunk.parts[0].is_empty());
            match self.part(bytes, chunk, has_header, line, &mut growing, &mut told) {
                Ok(Record::Row) => {}
                Ok(Record::End) => ended = true,
                Err(stopped) => {
                    (failed, refused) = (Some(stopped.error), stopped.row.map(|it| *it))
                }
            }
            if ended || failed.is_some() {
                break;
            }
            line += memchr::memchr_iter(chunk.line_end, bytes).count() as u64;
        }
        let batch = growing.finish(self.columns)?;
        let Told { skipped, noted } = told;
        Ok(Part { file: chunk.file, batch, skipped, failed, noted, refused, ended })
    }

    /// Reads the records of a piece of a chunk.
    fn part(
        &self,
        bytes: &[u8],
        chunk: &Chunk<'_>,
        has_header: bool,
        line: u64,
        growing: &mut Growing,
        told: &mut Told,
    ) -> Result<Record, Stopped> {
        // Whole records before bytes that are no text are read, so that what is told does not depend on where blocks end.
        let (text, bad) = valid_text(bytes);
        let text = match bad {
            None => text,
            Some(_) => &text[..self.format.dialect.quoting.whole(text.as_bytes(), chunk.line_end)],
        };
        let place = |at: usize| RecordPlace {
            origin: self.origin,
            file: chunk.file,
            line: line + memchr::memchr_iter(chunk.line_end, &bytes[..at]).count() as u64,
            text: text.get(at..).unwrap_or_default(),
        };
        let format = self.format;
        let (end, returns, strict) = (chunk.line_end, chunk.returns, format.strict);
        let mut fields = Fields::new(text, format.dialect, Lines { end, returns, strict });
        let mut scratch = Vec::new();
        let is_cut_at_once = bad.is_some() && text.is_empty();
        if has_header && format.header != Header::Absent && !is_cut_at_once {
            self.header(&mut fields, &mut scratch).map_err(|it| it.at(place(0)))?;
        }
        while !fields.is_at_end() {
            let start = fields.place();
            if !format.strict && self.columns.len() != 1 && fields.skip_blank() {
                continue;
            }
            match self.record(&mut fields, &mut scratch, growing) {
                Ok(Record::Row) => {
                    let row = growing.rows;
                    if growing.end_row() {
                        told.noted.push((row, place(start).kept()));
                    }
                }
                Ok(Record::End) => return Ok(Record::End),
                Err(fault) => {
                    growing.truncate();
                    if fault.is_null {
                        return Err(self.with_null(fault, &text[start..], chunk, place(start)));
                    }
                    let is_skipped = match format.on_error {
                        OnError::Stop => false,
                        OnError::Skip { malformed, .. } => fault.is_value || malformed,
                    };
                    let error = fault.at(place(start));
                    if !is_skipped {
                        return Err(error.into());
                    }
                    told.skipped.push(error);
                    fields.skip_record(start, &mut scratch);
                }
            }
        }
        match bad {
            None => Ok(Record::Row),
            Some(at) => {
                growing.truncate();
                Err(Fault::of(invalid_bytes(&bytes[at..])).at(place(at)).into())
            }
        }
    }

    /// What a row with NULL where there must be a value ends with: what is wrong with the rest of its record, or the row.
    fn with_null(
        &self,
        fault: Fault,
        text: &str,
        chunk: &Chunk<'_>,
        place: RecordPlace<'_>,
    ) -> Stopped {
        let columns: Vec<TextColumn> =
            self.columns.iter().map(|it| TextColumn { required: false, ..it.clone() }).collect();
        let reader = Reader { columns: &columns, ..*self };
        let (end, returns) = (chunk.line_end, chunk.returns);
        let lines = Lines { end, returns, strict: self.format.strict };
        let mut fields = Fields::new(text, self.format.dialect, lines);
        let mut read = || -> Result<RecordBatch, Fault> {
            let has_defaults = self.format.default.is_some();
            let growing = Growing::new(&columns, has_defaults, &self.format.zone);
            let mut growing = growing.map_err(Fault::of)?;
            reader.record(&mut fields, &mut Vec::new(), &mut growing)?;
            growing.end_row();
            growing.finish(&columns).map_err(Fault::of)
        };
        match read() {
            Ok(batch) => {
                let row = Some(Box::new(RefusedRow { batch, place: place.kept() }));
                Stopped { error: fault.at(place), row }
            }
            Err(other) => other.at(place).into(),
        }
    }

    fn header(&self, fields: &mut Fields<'_>, scratch: &mut Vec<u8>) -> Result<(), Fault> {
        let mut names = Vec::new();
        loop {
            let field = fields.next(scratch)?;
            names.push(field.text.to_owned());
            if field.last {
                break;
            }
        }
        let Header::Matched(wanted) = &self.format.header else { return Ok(()) };
        if names.len() != wanted.len() {
            let (got, expected) = (names.len(), wanted.len());
            return Err(Fault::malformed(format!(
                "wrong number of fields in header line: got {got}, expected {expected}"
            )));
        }
        for (place, (got, wanted)) in names.iter().zip(wanted).enumerate() {
            if got != wanted {
                return Err(Fault::malformed(format!(
                    "column name mismatch in header line field {}: got \"{got}\", expected \"{wanted}\"",
                    place + 1,
                )));
            }
        }
        Ok(())
    }

    fn record(
        &self,
        fields: &mut Fields<'_>,
        scratch: &mut Vec<u8>,
        growing: &mut Growing,
    ) -> Result<Record, Fault> {
        if self.format.dialect.quoting == Quoting::Backslash && self.is_end(fields)? {
            return Ok(Record::End);
        }
        let mut ended = false;
        for (place, column) in self.columns.iter().enumerate() {
            if ended {
                if !self.format.padded {
                    let message = format!("missing data for column \"{}\"", column.name);
                    return Err(Fault::malformed(message));
                }
                growing.push_null(place, column)?;
                continue;
            }
            if !column.wanted && fields.passes() {
                continue;
            }
            let field = fields.next(scratch)?;
            ended = field.last;
            self.value(&field, place, column, growing)?;
        }
        if !ended {
            let field = fields.next(scratch)?;
            let is_trailing = self.format.trailing && field.last && field.raw.is_empty();
            if !is_trailing && !self.columns.is_empty() {
                return Err(Fault::malformed("extra data after last expected column"));
            }
        }
        Ok(Record::Row)
    }

    /// Whether the mark of the end of data stands here.
    fn is_end(&self, fields: &Fields<'_>) -> Result<bool, Fault> {
        let line = fields.line();
        let unescaped =
            |it: &str| it.bytes().rev().skip(2).take_while(|it| *it == b'\\').count() % 2 == 0;
        match line {
            "\\." => Ok(true),
            it if it.ends_with("\\.") && unescaped(it) => {
                Err(Fault::malformed("end-of-copy marker is not alone on its line"))
            }
            _ => Ok(false),
        }
    }

    fn value(
        &self,
        field: &Field<'_>,
        place: usize,
        column: &TextColumn,
        growing: &mut Growing,
    ) -> Result<(), Fault> {
        if !column.wanted {
            return Ok(());
        }
        let is_null = match field.quoted {
            true => column.force_null,
            false => !column.force_not_null,
        } && self.format.nulls.iter().any(|it| it == field.raw);
        if is_null {
            return growing.push_null(place, column);
        }
        if !field.quoted && self.format.default.as_deref() == Some(field.raw) {
            return growing.push_default(place, column);
        }
        growing.push(place, field.text, column)
    }
}

#[cfg(test)]
mod tests;
