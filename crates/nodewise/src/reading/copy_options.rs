//! The options of COPY for text, as PostgreSQL has them.

use files::{Compression, Dialect, Encoding, OnError, Quoting};
use types::{SqlError, SqlResult, SqlState};

use super::values::{self, is_on};

/// What COPY says of a file of text.
#[derive(Clone, Debug)]
pub(crate) struct CopyText {
    pub(crate) dialect: Dialect,
    pub(crate) null: String,
    pub(crate) header: CopyHeader,
    pub(crate) default: Option<String>,
    pub(crate) compression: Option<Compression>,
    pub(crate) encoding: Encoding,
    pub(crate) on_error: OnError,
    /// Whether each row that is left out is told.
    pub(crate) verbosity: Verbosity,
    /// Columns, `*` for all.
    pub(crate) force_null: Vec<String>,
    pub(crate) force_not_null: Vec<String>,
    pub(crate) force_quote: Vec<String>,
    /// Whether lines end alike, and empty ones are rows.
    pub(crate) strict: bool,
    /// Whether a delimiter may stand at the end of a line.
    pub(crate) trailing: bool,
}

/// Whether rows come or go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    From,
    To,
}

/// What is said of the first line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CopyHeader {
    Absent,
    Skipped,
    Matched,
}

/// What is asked of rows that were read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedOfRows {
    /// Whether they say where the default of a column is meant.
    pub(crate) has_defaults: bool,
    /// What is told of those that were left out.
    pub(crate) verbosity: Verbosity,
}

/// What is told of rows that are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verbosity {
    Silent,
    Count,
    Verbose,
}

/// What is said so far.
#[derive(Default)]
struct Said {
    delimiter: Option<u8>,
    null: Option<String>,
    quote: Option<u8>,
    /// Whether there are no quotes: DuckDB's `QUOTE ''`.
    unquoted: bool,
    escape: Option<u8>,
    header: Option<CopyHeader>,
    default: Option<String>,
    compression: Option<Compression>,
    encoding: Encoding,
    skips: bool,
    limit: Option<u64>,
    verbosity: Option<Verbosity>,
    force_null: Vec<String>,
    force_not_null: Vec<String>,
    force_quote: Vec<String>,
}

impl CopyText {
    /// What is asked of rows that were read.
    pub(crate) fn asked(&self) -> AskedOfRows {
        AskedOfRows { has_defaults: self.default.is_some(), verbosity: self.verbosity }
    }

    /// What the options say of CSV, or of PostgreSQL's text format.
    pub(crate) fn of(
        options: &[(String, String)],
        is_csv: bool,
        direction: Direction,
    ) -> SqlResult<Self> {
        let mut said = Said::default();
        for (name, value) in options.iter().filter(|it| it.0 != "format") {
            check_direction(name, value, direction)?;
            said.set(name, value, is_csv)?;
        }
        said.checked(is_csv)
    }
}

/// Whether an option is one of a direction. Errors as in PostgreSQL: 0A000, 22023.
fn check_direction(name: &str, value: &str, direction: Direction) -> SqlResult<()> {
    let upper = name.to_uppercase();
    match (direction, name) {
        (Direction::From, "force_quote") => {
            Err(SqlError::unsupported("COPY FORCE_QUOTE cannot be used with COPY FROM"))
        }
        (Direction::To, "force_null" | "force_not_null" | "freeze" | "default") => {
            Err(SqlError::unsupported(format!("COPY {upper} cannot be used with COPY TO")))
        }
        (Direction::To, "on_error" | "reject_limit") => {
            Err(invalid(format!("COPY {upper} cannot be used with COPY TO")))
        }
        (Direction::To, "header") if value.eq_ignore_ascii_case("match") => {
            Err(SqlError::unsupported("cannot use \"match\" with HEADER in COPY TO"))
        }
        (Direction::To, "encoding") if values::encoding(value)? != Encoding::Utf8 => {
            Err(SqlError::unsupported(format!("COPY TO in encoding {value} is not supported"))
                .with_hint("rows are written as UTF8"))
        }
        _ => Ok(()),
    }
}

/// 22023.
pub(super) fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, message)
}

/// How many rows may be left out. Errors: 22023.
pub(super) fn reject_limit(value: &str) -> SqlResult<u64> {
    let limit = value.parse().ok().filter(|it| *it > 0);
    limit.ok_or_else(|| invalid(format!("REJECT_LIMIT ({value}) must be greater than zero")))
}

/// What is told of rows that are left out. Errors: 22023.
pub(super) fn verbosity(value: &str) -> SqlResult<Verbosity> {
    match value.to_lowercase().as_str() {
        "silent" => Ok(Verbosity::Silent),
        "default" => Ok(Verbosity::Count),
        "verbose" => Ok(Verbosity::Verbose),
        _ => Err(invalid(format!("COPY LOG_VERBOSITY \"{value}\" not recognized"))),
    }
}

impl Said {
    fn set(&mut self, name: &str, value: &str, is_csv: bool) -> SqlResult<()> {
        let character = || {
            let message = format!("COPY {name} must be a single one-byte character");
            match value.as_bytes() {
                [it] if it.is_ascii() => Ok(*it),
                _ => Err(SqlError::unsupported(message)),
            }
        };
        let only_csv = ["quote", "escape", "force_null", "force_not_null", "force_quote"];
        if !is_csv && only_csv.contains(&name) {
            let name = name.to_uppercase();
            return Err(SqlError::unsupported(format!("COPY {name} requires CSV mode")));
        }
        match name {
            "delimiter" => self.delimiter = Some(character()?),
            "null" => self.null = Some(value.to_owned()),
            "quote" if value.is_empty() => self.unquoted = true,
            "quote" => self.quote = Some(character()?),
            "escape" => self.escape = Some(character()?),
            "header" => {
                self.header = Some(match is_on(value) {
                    Some(true) => CopyHeader::Skipped,
                    Some(false) => CopyHeader::Absent,
                    None if value.eq_ignore_ascii_case("match") => CopyHeader::Matched,
                    None => {
                        let message = "header requires a Boolean value or \"match\"";
                        return Err(SqlError::new(SqlState::SYNTAX, message));
                    }
                });
            }
            "default" => self.default = Some(value.to_owned()),
            "encoding" => self.encoding = values::encoding(value)?,
            "compression" => self.compression = values::compression(value)?,
            "on_error" => match value.to_lowercase().as_str() {
                "stop" => self.skips = false,
                "ignore" => self.skips = true,
                _ => return Err(invalid(format!("COPY ON_ERROR \"{value}\" not recognized"))),
            },
            "reject_limit" => self.limit = Some(reject_limit(value)?),
            "log_verbosity" => self.verbosity = Some(verbosity(value)?),
            "force_null" => self.force_null.push(value.to_owned()),
            "force_not_null" => self.force_not_null.push(value.to_owned()),
            "force_quote" => self.force_quote.push(value.to_owned()),
            // Rows are always as good as frozen.
            "freeze" if is_on(value).is_some() => {}
            _ => {
                let message = format!("option \"{name}\" not recognized");
                return Err(SqlError::new(SqlState::SYNTAX, message));
            }
        }
        Ok(())
    }

    fn checked(self, is_csv: bool) -> SqlResult<CopyText> {
        let delimiter = self.delimiter.unwrap_or(if is_csv { b',' } else { b'\t' });
        let null = self.null.unwrap_or_else(|| if is_csv { "" } else { "\\N" }.to_owned());
        let quote = self.quote.unwrap_or(b'"');
        let breaks = |it: &str| it.contains(['\n', '\r']);
        if matches!(delimiter, b'\n' | b'\r') {
            return Err(invalid("COPY delimiter cannot be newline or carriage return"));
        }
        if breaks(&null) {
            return Err(invalid("COPY null representation cannot use newline or carriage return"));
        }
        if self.default.as_deref().is_some_and(breaks) {
            return Err(invalid(
                "COPY default representation cannot use newline or carriage return",
            ));
        }
        let letters = b"\\.abcdefghijklmnopqrstuvwxyz0123456789";
        if !is_csv && letters.contains(&delimiter) {
            let shown = char::from(delimiter);
            return Err(invalid(format!("COPY delimiter cannot be \"{shown}\"")));
        }
        let is_quoted = is_csv && !self.unquoted;
        if self.unquoted && (self.escape.is_some() || !self.force_quote.is_empty()) {
            return Err(invalid("COPY without quotes has no ESCAPE and no FORCE_QUOTE"));
        }
        if is_quoted && delimiter == quote {
            return Err(invalid("COPY delimiter and quote must be different"));
        }
        for (what, text) in [("NULL", Some(&null)), ("DEFAULT", self.default.as_ref())] {
            if text.is_some_and(|it| it.as_bytes().contains(&delimiter)) {
                let message =
                    format!("COPY delimiter character must not appear in the {what} specification");
                return Err(invalid(message));
            }
            if is_quoted && text.is_some_and(|it| it.as_bytes().contains(&quote)) {
                let message =
                    format!("CSV quote character must not appear in the {what} specification");
                return Err(invalid(message));
            }
        }
        if self.default.as_ref() == Some(&null) {
            return Err(invalid("NULL specification and DEFAULT specification cannot be the same"));
        }
        if self.limit.is_some() && !self.skips {
            return Err(invalid("COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE"));
        }
        let quoting = match is_csv {
            true if is_quoted => Quoting::Quotes { quote, escape: self.escape.unwrap_or(quote) },
            true => Quoting::None,
            false => Quoting::Backslash,
        };
        Ok(CopyText {
            dialect: Dialect { delimiter, quoting },
            null,
            header: self.header.unwrap_or(CopyHeader::Absent),
            default: self.default,
            compression: self.compression,
            encoding: self.encoding,
            on_error: match self.skips {
                true => OnError::Skip { limit: self.limit, malformed: false },
                false => OnError::Stop,
            },
            verbosity: self.verbosity.unwrap_or(Verbosity::Count),
            force_null: self.force_null,
            force_not_null: self.force_not_null,
            force_quote: self.force_quote,
            strict: true,
            trailing: false,
        })
    }
}
