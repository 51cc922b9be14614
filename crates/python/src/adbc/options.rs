//! Options: texts by name. What is no option of ADBC's own is a setting, as SET has it.

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::OptionValue;
use nodewise::{Session, SqlState};

use super::errors::{error, refused};

/// The value of an option as a text; numbers are written.
pub fn text(key: &str, value: OptionValue) -> Result<String> {
    match value {
        OptionValue::String(it) => Ok(it),
        OptionValue::Int(it) => Ok(it.to_string()),
        OptionValue::Double(it) => Ok(it.to_string()),
        _ => Err(refused(Status::NotImplemented, format!("no option takes bytes, as {key} does"))),
    }
}

/// The value of an option that is true or false.
pub fn flag(key: &str, value: OptionValue) -> Result<bool> {
    match &*text(key, value)? {
        "true" => Ok(true),
        "false" => Ok(false),
        other => {
            let message = format!("option {key} is true or false, not {other:?}");
            Err(refused(Status::InvalidArguments, message))
        }
    }
}

/// How ADBC writes what is true or false.
pub fn flag_text(flag: bool) -> String {
    flag.to_string()
}

/// The value of an option as a whole number.
pub fn int(key: &str, text: &str) -> Result<i64> {
    text.parse().map_err(|_| other_type(key, text))
}

/// The value of an option as a number.
pub fn double(key: &str, text: &str) -> Result<f64> {
    text.parse().map_err(|_| other_type(key, text))
}

fn other_type(key: &str, text: &str) -> Error {
    refused(Status::InvalidState, format!("option {key} is no number: {text:?}"))
}

/// An option that there is not.
pub fn unknown(key: &str) -> Error {
    refused(Status::NotImplemented, format!("there is no option {key}"))
}

/// An option that has no value.
pub fn unset(key: &str) -> Error {
    refused(Status::NotFound, format!("option {key} has no value"))
}

/// A value that an option has not.
pub fn wrong(key: &str, value: &str) -> Error {
    refused(Status::InvalidArguments, format!("option {key} cannot be {value:?}"))
}

/// Changes a setting of a session by an option of its name.
pub fn set(session: &mut Session, key: &str, value: &str) -> Result<()> {
    if key.starts_with("adbc.") {
        return Err(unknown(key));
    }
    session.set_setting(key, value).map_err(|it| match it.state {
        SqlState::UNDEFINED_OBJECT => unknown(key),
        _ => error(&it),
    })
}
