//! What a file is like: its delimiter, quote, header, and the types of its columns, from a sample of its first records.

use std::path::Path;

use types::{DataType, SqlError, SqlResult, SqlState};

use crate::dialect::{Dialect, Quoting};
use crate::fault::{Fault, Origin, RecordPlace, invalid_bytes};
use crate::fields::{Fields, Lines};
use crate::guess::Guess;
use crate::input::{self, Compression, Encoding};

/// Bytes of a sample, at most, where nobody asks for more.
const SAMPLE_BYTES: u64 = 4 << 20;
/// Records of a sample, where nobody says how many.
pub const SAMPLE_ROWS: usize = 20_480;
/// Bytes of a sample of all records.
const WHOLE_BYTES: u64 = 1 << 30;

const DELIMITERS: [u8; 4] = [b',', b'|', b';', b'\t'];
const QUOTES: [Option<u8>; 3] = [Some(b'"'), Some(b'\''), None];

/// What is known of a file before one looks at it.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its delimiter.
    pub delimiter: Option<u8>,
    /// Its quote; `Some(None)`: it has none.
    pub quote: Option<Option<u8>>,
    /// What stands before a quote that is meant; else the quote.
    pub escape: Option<u8>,
    /// Whether its first record has the names of the columns.
    pub header: Option<bool>,
    /// The names of its first columns.
    pub names: Vec<String>,
    /// The types of some columns, by name.
    pub types: Vec<(String, DataType)>,
    /// The types of the first columns.
    pub first_types: Vec<DataType>,
    /// Whether all other columns are texts.
    pub all_text: bool,
    /// Records to look at; `None` for all.
    pub rows: Option<usize>,
    /// What stands for NULL.
    pub nulls: Vec<String>,
    /// Whether a delimiter may stand at the end of each record.
    pub trailing: bool,
    /// Lines before the first record.
    pub skip: u64,
    /// `None`: as the end of its name says.
    pub compression: Option<Compression>,
    /// What its bytes mean.
    pub encoding: Encoding,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            delimiter: None,
            quote: None,
            escape: None,
            header: None,
            names: Vec::new(),
            types: Vec::new(),
            first_types: Vec::new(),
            all_text: false,
            rows: Some(SAMPLE_ROWS),
            nulls: vec![String::new()],
            trailing: false,
            skip: 0,
            compression: None,
            encoding: Encoding::default(),
        }
    }
}

/// What a file is like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// How fields are told apart.
    pub dialect: Dialect,
    /// How lines end: `\n`, `\r\n` or `\r`.
    pub line_end: &'static str,
    /// The first record as it is, where it has the names of the columns.
    pub header: Option<Vec<String>>,
    /// Names and types of the columns.
    pub columns: Vec<(String, DataType)>,
    /// Whether the type of a column was guessed.
    pub guessed: Vec<bool>,
    /// Whether all records end with a delimiter.
    pub trailing: bool,
}

/// Looks at a file.
///
/// # Errors
/// Those of reading it; 22021 for bytes that are no text; 42703 for types of columns that it has not.
pub fn sniff(path: &Path, known: &Known) -> SqlResult<Found> {
    let compression = known.compression.unwrap_or_else(|| Compression::of_name(path));
    let begun = input::begin(path, compression, known.encoding, known.skip)?;
    let (end, returns, line) = (begun.line_end, begun.returns, begun.lines + 1);
    let lines = Lines { end, returns, strict: false };
    let most = if known.rows.is_none() { WHOLE_BYTES } else { SAMPLE_BYTES };
    let (bytes, is_whole) = begun.sample(path, most)?;
    let text = sample_text(&bytes, is_whole).map_err(|at| {
        let line = line + memchr::memchr_iter(end, &bytes[..at]).count() as u64;
        let paths = [path.to_path_buf()];
        let place = RecordPlace { origin: Origin::Files(&paths), file: 0, line, text: "" };
        Fault::of(invalid_bytes(&bytes[at..])).at(place)
    })?;
    let trial = best(text, known, lines, is_whole);
    let line_end = match (end, returns) {
        (b'\r', _) => "\\r",
        (_, true) => "\\r\\n",
        _ => "\\n",
    };
    describe(trial, known, line_end).map_err(|error| SqlError {
        message: format!("{} (file {})", error.message, path.display()),
        ..error
    })
}

/// The text of a sample, whose last character may be cut; else where it is none.
fn sample_text(bytes: &[u8], is_whole: bool) -> Result<&str, usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if !is_whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).map_err(|it| it.valid_up_to())
        }
        Err(error) => Err(error.valid_up_to()),
    }
}

/// The records of a sample, read in some way.
struct Trial {
    dialect: Dialect,
    records: Vec<Vec<(String, bool)>>,
    /// Whether quotes stand around fields.
    has_quotes: bool,
    /// Whether quotes stand within fields, or one is never closed.
    is_odd: bool,
}

impl Trial {
    fn new(text: &str, dialect: Dialect, lines: Lines, rows: usize, is_whole: bool) -> Self {
        let mut fields = Fields::new(text, dialect, lines);
        let (mut records, mut scratch) = (Vec::new(), Vec::new());
        let (mut has_quotes, mut is_odd) = (false, false);
        while !fields.is_at_end() && records.len() < rows {
            if fields.skip_blank() {
                continue;
            }
            let mut record = Vec::new();
            loop {
                let start = fields.place();
                let Ok(field) = fields.next(&mut scratch) else {
                    // In a sample that is cut the last field may be open.
                    is_odd |= is_whole || records.is_empty();
                    return Self { dialect, records, has_quotes, is_odd };
                };
                let (last, quoted) = (field.last, field.quoted);
                record.push((field.text.to_owned(), quoted));
                if quoted && let Quoting::Quotes { quote, .. } = dialect.quoting {
                    has_quotes = true;
                    let raw = &text.as_bytes()[start..fields.place()];
                    let raw = match raw {
                        [raw @ .., b'\r', last] if *last == lines.end => raw,
                        [raw @ .., last] if *last == lines.end || *last == dialect.delimiter => raw,
                        raw => raw,
                    };
                    is_odd |= raw.first() != Some(&quote) || raw.last() != Some(&quote);
                }
                if last {
                    break;
                }
            }
            // The last record of a sample that is cut may be, too.
            if is_whole || !fields.is_at_end() {
                records.push(record);
            }
        }
        Self { dialect, records, has_quotes, is_odd }
    }

    /// Fields of a record, and whether all have as many.
    fn width(&self) -> (usize, bool) {
        let first = self.records.first().map_or(1, Vec::len);
        let alike = self.records.iter().filter(|it| it.len() == first).count();
        (first, alike == self.records.len())
    }

    fn alike(&self) -> bool {
        let first = self.records.first().map_or(1, Vec::len);
        2 * self.records.iter().filter(|it| it.len() == first).count() >= self.records.len()
    }
}

/// The way of reading that gives the most columns of which all records have each.
fn best(text: &str, known: &Known, lines: Lines, is_whole: bool) -> Trial {
    let delimiters = known.delimiter.map_or(DELIMITERS.to_vec(), |it| vec![it]);
    let quotes = known.quote.map_or(QUOTES.to_vec(), |it| vec![it]);
    let rows = known.rows.unwrap_or(usize::MAX).max(2);
    let mut chosen: Option<(_, Trial)> = None;
    for quote in quotes {
        let quoting = match quote {
            None => Quoting::None,
            Some(quote) => Quoting::Quotes { quote, escape: known.escape.unwrap_or(quote) },
        };
        for &delimiter in &delimiters {
            if quote == Some(delimiter) {
                continue;
            }
            let trial = Trial::new(text, Dialect { delimiter, quoting }, lines, rows, is_whole);
            let (width, all) = trial.width();
            let is_sound = !trial.is_odd || known.quote.is_some();
            let rank = (is_sound && width > 1 && all, is_sound && width > 1 && trial.alike());
            let rank = (rank, is_sound, if rank.1 { width } else { 0 }, trial.has_quotes);
            if chosen.as_ref().is_none_or(|it| rank > it.0) {
                chosen = Some((rank, trial));
            }
        }
    }
    let none = Dialect { delimiter: known.delimiter.unwrap_or(b','), quoting: Quoting::None };
    chosen.map_or_else(|| Trial::new(text, none, lines, rows, is_whole), |it| it.1)
}

fn describe(trial: Trial, known: &Known, line_end: &'static str) -> SqlResult<Found> {
    let Trial { dialect, mut records, .. } = trial;
    let last_is_empty =
        |it: &Vec<(String, bool)>| it.len() > 1 && it.last().is_some_and(|it| it.0.is_empty());
    let trailing = known.trailing && !records.is_empty() && records.iter().all(last_is_empty);
    if trailing {
        records.iter_mut().for_each(|it| _ = it.pop());
    }
    let width = records.first().map_or(0, Vec::len).max(known.names.len()).max(1);
    let is_null = |it: &(String, bool)| !it.1 && known.nulls.contains(&it.0);
    let mut guesses = vec![Guess::NOTHING; width];
    for record in records.iter().skip(1) {
        for (guess, field) in guesses.iter_mut().zip(record) {
            if !is_null(field) {
                guess.add(&field.0);
            }
        }
    }
    let first = records.first().cloned().unwrap_or_default();
    let has_header = known.header.unwrap_or_else(|| is_header(&first, &guesses));
    let header = has_header.then(|| first.iter().map(|it| it.0.clone()).collect::<Vec<_>>());
    if !has_header {
        for (guess, field) in guesses.iter_mut().zip(&first).filter(|it| !is_null(it.1)) {
            guess.add(&field.0);
        }
    }
    let names = names(width, header.as_deref(), &known.names);
    for (name, _) in &known.types {
        if !names.iter().any(|it| it.eq_ignore_ascii_case(name)) {
            let message = format!("column \"{name}\" of a type does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message)
                .with_hint(format!("the columns are {}", names.join(", "))));
        }
    }
    if known.first_types.len() > width {
        let types = known.first_types.len();
        let message = format!("{types} types are said of {width} columns");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    }
    let (mut columns, mut guessed) = (Vec::new(), Vec::new());
    for (place, (name, guess)) in names.into_iter().zip(guesses).enumerate() {
        let said = known.types.iter().find(|it| it.0.eq_ignore_ascii_case(&name)).map(|it| it.1);
        let said = said.or_else(|| known.first_types.get(place).copied());
        let guess = if known.all_text { DataType::Text } else { guess.data_type() };
        guessed.push(said.is_none() && !known.all_text);
        columns.push((name, said.unwrap_or(guess)));
    }
    Ok(Found { dialect, line_end, header, columns, guessed, trailing })
}

/// Whether the first record has names: it has a text where the others have none, or all are texts.
fn is_header(first: &[(String, bool)], rest: &[Guess]) -> bool {
    let fields = || first.iter().zip(rest).filter(|it| !it.0.0.is_empty());
    let differs =
        fields().any(|(field, rest)| !rest.is_text() && !rest.agrees(Guess::of(&field.0)));
    // A single letter is a name sooner than a truth.
    let is_name = |it: &str| it.len() == 1 && !it.starts_with(|it: char| it.is_ascii_digit());
    let is_text = |it: &str| is_name(it) || Guess::of(it).is_text();
    let all_texts = fields().all(|(field, rest)| is_text(&field.0) && rest.is_text());
    fields().next().is_some() && (differs || all_texts)
}

/// A name for each column, no two of which are one.
fn names(width: usize, header: Option<&[String]>, said: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(width);
    let mut taken = std::collections::HashSet::new();
    // As DuckDB has it, such names are of one length.
    let digits = width.saturating_sub(1).max(1).ilog10() as usize + 1;
    for place in 0..width {
        let own = said.get(place).or_else(|| header?.get(place)).map(|it| it.trim().to_owned());
        let base =
            own.filter(|it| !it.is_empty()).unwrap_or_else(|| format!("column{place:0digits$}"));
        let numbered = (1..).map(|it| format!("{base}_{it}"));
        let mut free = std::iter::once(base.clone()).chain(numbered);
        let name = free.find(|it| taken.insert(it.to_lowercase())).unwrap_or_default();
        names.push(name);
    }
    names
}
