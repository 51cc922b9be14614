//! The formats of files, and their options.

use std::path::Path;

use files::{Compression, Layout};
use types::{SqlError, SqlResult, SqlState};

use super::parquet_style::ParquetStyle;
use super::style::LineStyle;
use crate::reading::{CopyJson, Direction};

/// What rows are written as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CopyFormat {
    /// Columns, which only files have.
    Parquet(ParquetStyle),
    /// Lines.
    Lines(LineStyle),
    /// Arrow's own format, which only files have.
    Arrow {
        /// Whether it is a stream of batches, without a footer that tells where they are.
        is_stream: bool,
        /// How buffers are compressed.
        compression: Option<ArrowCompression>,
    },
    /// Rows as JSON, which only files have.
    Json {
        /// Whether they stand in one array; else each has a line.
        is_array: bool,
        /// `None`: as the end of the file's name says.
        compression: Option<Compression>,
    },
    /// PostgreSQL's binary format, which only clients are sent.
    Binary,
}

impl CopyFormat {
    /// What the options say; where they name no format, what `usual` is the name of.
    pub(crate) fn of(options: &[(String, String)], usual: Option<&str>) -> SqlResult<Self> {
        let said = options.iter().find(|it| it.0 == "format").map(|it| it.1.to_lowercase());
        match said.as_deref().or(usual) {
            Some("parquet") => ParquetStyle::of(options).map(Self::Parquet),
            Some("binary") => without_options(options, "BINARY mode").map(|()| Self::Binary),
            Some("csv") => LineStyle::of(options, true).map(Self::Lines),
            Some(name @ ("arrow" | "arrows" | "feather")) => {
                let is_stream = name == "arrows";
                arrow_compression(options).map(|compression| Self::Arrow { is_stream, compression })
            }
            Some("json") => {
                let CopyJson { layout, compression, .. } = CopyJson::of(options, Direction::To)?;
                Ok(Self::Json { is_array: layout == Some(Layout::Array), compression })
            }
            Some("text") => LineStyle::of(options, false).map(Self::Lines),
            Some(other) => {
                let message = format!("COPY format \"{other}\" not recognized");
                Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
            }
            None => {
                let message = "the name of the file does not tell its format";
                Err(SqlError::new(SqlState::INVALID_PARAMETER, message).with_hint(
                    "add WITH (FORMAT parquet), (FORMAT csv), (FORMAT json), (FORMAT arrow) or (FORMAT text)",
                ))
            }
        }
    }

    /// How names of such files end.
    pub(crate) fn extension(&self) -> &'static str {
        match self {
            Self::Parquet(_) => "parquet",
            Self::Lines(_) => "csv",
            Self::Json { .. } => "json",
            Self::Arrow { .. } => "arrow",
            Self::Binary => "bin",
        }
    }
}

/// Fails where there is an option beside the format (42601, 0A000).
pub(crate) fn without_options(options: &[(String, String)], format: &str) -> SqlResult<()> {
    match options.iter().find(|it| !matches!(&*it.0, "format" | "freeze")) {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!("cannot specify {} in {format}", name.to_uppercase());
            // As PostgreSQL has it of its binary format.
            let is_syntax = name != "header";
            let state = if is_syntax { SqlState::SYNTAX } else { SqlState::FEATURE_NOT_SUPPORTED };
            Err(SqlError::new(state, message))
        }
    }
}

/// How buffers of Arrow are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrowCompression {
    /// LZ4 in frames.
    Lz4,
    /// Zstandard.
    Zstd,
}

fn arrow_compression(options: &[(String, String)]) -> SqlResult<Option<ArrowCompression>> {
    let mut found = None;
    for (name, value) in options.iter().filter(|it| it.0 != "format") {
        found = match (&**name, value.to_lowercase().as_str()) {
            ("compression", "none" | "uncompressed") => None,
            ("compression", "lz4") => Some(ArrowCompression::Lz4),
            ("compression", "zstd") => Some(ArrowCompression::Zstd),
            ("compression", _) => {
                let message = "option \"compression\" takes none, lz4 or zstd";
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
            }
            _ => {
                let message = format!("COPY has no option \"{name}\" for Arrow");
                return Err(SqlError::new(SqlState::SYNTAX, message)
                    .with_hint("it has COMPRESSION none, lz4 or zstd"));
            }
        };
    }
    Ok(found)
}

/// The format that the name of a file tells.
pub(crate) fn format_of_name(path: &Path) -> Option<&'static str> {
    let stem = path.file_stem().map(Path::new);
    let path = stem.filter(|_| Compression::of_name(path) != Compression::None).unwrap_or(path);
    let ends = |it: &str| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(it));
    let known = [
        ("parquet", "parquet"),
        ("csv", "csv"),
        ("txt", "text"),
        ("json", "json"),
        ("jsonl", "json"),
        ("ndjson", "json"),
        ("arrow", "arrow"),
        ("feather", "arrow"),
        ("ipc", "arrow"),
        ("arrows", "arrows"),
    ];
    known.into_iter().find(|it| ends(it.0)).map(|it| it.1)
}
