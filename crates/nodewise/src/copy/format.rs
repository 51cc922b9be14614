//! The formats of files, and their options.

use std::path::Path;

use types::{SqlError, SqlResult, SqlState};

use crate::csv::CsvStyle;

/// What a file is written as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FileFormat {
    Parquet,
    Csv {
        style: CsvStyle,
        /// Whether the first line has the names of the columns.
        header: bool,
    },
}

impl FileFormat {
    /// What the options say; where they name no format, what `usual` is the name of.
    pub(crate) fn of(options: &[(String, String)], usual: Option<&str>) -> SqlResult<Self> {
        let said = options.iter().find(|it| it.0 == "format").map(|it| it.1.to_lowercase());
        let mut format = match said.as_deref().or(usual) {
            Some("parquet") => Self::Parquet,
            Some("csv") => Self::Csv { style: CsvStyle::default(), header: false },
            Some(other) => {
                let message = format!("files cannot be written as \"{other}\"");
                return Err(SqlError::unsupported(message).with_hint("parquet and csv are there"));
            }
            None => {
                let message = "the name of the file does not tell its format";
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
                    .with_hint("add WITH (FORMAT parquet) or WITH (FORMAT csv)"));
            }
        };
        for (name, value) in options.iter().filter(|it| it.0 != "format") {
            format.set(name, value)?;
        }
        Ok(format)
    }

    fn set(&mut self, name: &str, value: &str) -> SqlResult<()> {
        let wrong = || {
            let message = format!("COPY has no option {name} {value} for this format");
            Err(SqlError::unsupported(message)
                .with_hint("CSV has HEADER, DELIMITER and NULL, Parquet has none"))
        };
        let Self::Csv { style, header } = self else { return wrong() };
        let mut characters = value.chars();
        match (name, characters.next(), characters.next()) {
            ("header", ..) if is_on(value).is_some() => *header = is_on(value) == Some(true),
            ("delimiter", Some(it), None) if !matches!(it, '"' | '\n' | '\r') => {
                style.delimiter = it;
            }
            ("null", ..) if !value.contains(['"', '\n', '\r']) => style.null = value.to_owned(),
            ("quote" | "escape", Some('"'), None) => {}
            ("encoding", ..) if value.eq_ignore_ascii_case("utf8") => {}
            _ => return wrong(),
        }
        Ok(())
    }

    /// How names of such files end.
    pub(crate) fn extension(&self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv { .. } => "csv",
        }
    }
}

/// The format that the name of a file tells.
pub(crate) fn format_of_name(path: &Path) -> Option<&'static str> {
    let ends = |it: &str| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(it));
    ["parquet", "csv"].into_iter().find(|it| ends(it))
}

fn is_on(value: &str) -> Option<bool> {
    match value.to_lowercase().as_str() {
        "true" | "on" | "1" => Some(true),
        "false" | "off" | "0" => Some(false),
        _ => None,
    }
}
