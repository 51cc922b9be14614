//! The options of COPY for JSON.

use files::{Compression, Layout, OnError};
use types::{SqlError, SqlResult, SqlState};

use super::copy_options::{Direction, Verbosity, invalid, reject_limit, verbosity};
use super::values::{compression, is_on, wrong};

/// What COPY says of a file of JSON.
#[derive(Clone, Debug)]
pub(crate) struct CopyJson {
    /// Whether the rows stand in one array; `None`: as it is found, on lines of their own where they are written.
    pub(crate) layout: Option<Layout>,
    pub(crate) compression: Option<Compression>,
    pub(crate) on_error: OnError,
    pub(crate) verbosity: Verbosity,
}

impl CopyJson {
    /// What the options say.
    pub(crate) fn of(options: &[(String, String)], direction: Direction) -> SqlResult<Self> {
        let (mut layout, mut compressed, mut told) = (None, None, Verbosity::Count);
        let (mut skips, mut limit) = (false, None);
        for (name, value) in options.iter().filter(|it| it.0 != "format") {
            match (&**name, direction) {
                ("array", _) => {
                    let is_array = is_on(value).ok_or_else(|| wrong(name, "true or false"))?;
                    layout = Some(if is_array { Layout::Array } else { Layout::Lines });
                }
                ("compression", _) => compressed = compression(value)?,
                ("on_error", Direction::From) => match value.to_lowercase().as_str() {
                    "stop" => skips = false,
                    "ignore" => skips = true,
                    _ => return Err(invalid(format!("COPY ON_ERROR \"{value}\" not recognized"))),
                },
                ("reject_limit", Direction::From) => limit = Some(reject_limit(value)?),
                ("log_verbosity", Direction::From) => told = verbosity(value)?,
                ("auto_detect" | "freeze", Direction::From) if is_on(value).is_some() => {}
                _ => {
                    let message = format!("COPY has no option \"{name}\" for JSON");
                    return Err(SqlError::new(SqlState::SYNTAX, message).with_hint(
                        "it has ARRAY and COMPRESSION, and COPY FROM also ON_ERROR, REJECT_LIMIT and LOG_VERBOSITY",
                    ));
                }
            }
        }
        if limit.is_some() && !skips {
            return Err(invalid("COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE"));
        }
        let on_error = match skips {
            true => OnError::Skip { limit, malformed: false },
            false => OnError::Stop,
        };
        Ok(Self { layout, compression: compressed, on_error, verbosity: told })
    }
}
