//! Values of options.

use binder::FileOption;
use types::{SqlError, SqlResult, SqlState};

/// An option with a value that it cannot take (22023).
pub(crate) fn wrong(name: &str, wanted: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, format!("option \"{name}\" takes {wanted}"))
}

/// A Boolean, as PostgreSQL reads options.
pub(crate) fn is_on(value: &str) -> Option<bool> {
    match value.to_lowercase().as_str() {
        "true" | "on" | "1" => Some(true),
        "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// The text of an option.
pub(crate) fn text<'a>(name: &str, value: &'a FileOption) -> SqlResult<&'a str> {
    match value {
        FileOption::Text(it) => Ok(it),
        _ => Err(wrong(name, "one value")),
    }
}

/// A Boolean option.
pub(crate) fn boolean(name: &str, value: &FileOption) -> SqlResult<bool> {
    is_on(text(name, value)?).ok_or_else(|| wrong(name, "true or false"))
}

/// A number that is not negative.
pub(crate) fn number(name: &str, value: &FileOption) -> SqlResult<u64> {
    text(name, value)?.parse().map_err(|_| wrong(name, "a number"))
}

/// One character of ASCII that is no line break; `None` for an empty text.
pub(crate) fn character(name: &str, value: &str) -> SqlResult<Option<u8>> {
    match value.as_bytes() {
        [] => Ok(None),
        [b'\\', b't'] => Ok(Some(b'\t')),
        [it] if it.is_ascii() && !matches!(it, b'\n' | b'\r' | 0) => Ok(Some(*it)),
        _ => {
            let message = format!("option \"{name}\" takes a single one-byte character");
            Err(SqlError::unsupported(message))
        }
    }
}

/// A list, also of one.
pub(crate) fn list(name: &str, value: &FileOption) -> SqlResult<Vec<String>> {
    match value {
        FileOption::Text(it) => Ok(vec![it.clone()]),
        FileOption::List(it) => Ok(it.clone()),
        FileOption::Map(_) => Err(wrong(name, "a list")),
    }
}

/// An encoding.
pub(crate) fn encoding(value: &str) -> SqlResult<files::Encoding> {
    let name: String =
        value.to_lowercase().chars().filter(|it| it.is_ascii_alphanumeric()).collect();
    match name.as_str() {
        "utf8" | "unicode" | "sqlascii" => Ok(files::Encoding::Utf8),
        "latin1" | "iso88591" => Ok(files::Encoding::Latin1),
        _ => {
            let message = "argument to option \"encoding\" must be a valid encoding name";
            let hint = "UTF8 and LATIN1 are read";
            Err(SqlError::new(SqlState::INVALID_PARAMETER, message).with_hint(hint))
        }
    }
}

/// A way of compression; `None`: as the name of the file says.
pub(crate) fn compression(value: &str) -> SqlResult<Option<files::Compression>> {
    match value.to_lowercase().as_str() {
        "auto" | "auto_detect" => Ok(None),
        "none" | "uncompressed" => Ok(Some(files::Compression::None)),
        "gzip" => Ok(Some(files::Compression::Gzip)),
        "zstd" => Ok(Some(files::Compression::Zstd)),
        _ => Err(wrong("compression", "auto, none, gzip or zstd")),
    }
}
