//! Errors as calls tell them.

use nodewise::SqlError;
use tonic::{Code, Status};

/// The field behind a failed call that holds the SQLSTATE.
const FIELD: &str = "sqlstate";

/// What a call fails with where a statement did. The SQLSTATE stands in the message, which is all that some clients show, and in a
/// field of its own.
pub fn status(error: &SqlError) -> Status {
    let state = error.state.0;
    let code = match (state, &state[..2]) {
        ("57014", _) => Code::Cancelled,
        ("42501", _) => Code::PermissionDenied,
        ("42P01" | "3F000" | "42704" | "26000", _) => Code::NotFound,
        ("42P07" | "42710" | "42P05", _) => Code::AlreadyExists,
        (_, "28") => Code::Unauthenticated,
        (_, "0A") => Code::Unimplemented,
        (_, "40") => Code::Aborted,
        (_, "53") => Code::ResourceExhausted,
        (_, "23" | "25" | "2B" | "55") => Code::FailedPrecondition,
        (_, "58" | "XX") => Code::Internal,
        _ => Code::InvalidArgument,
    };
    let hint = error.hint.as_ref().map_or(String::new(), |it| format!("\nHINT: {it}"));
    let detail = error.detail().map_or(String::new(), |it| format!("\nDETAIL: {it}"));
    let message = format!("{} (SQLSTATE {state}){detail}{hint}", error.message);
    let mut status = Status::new(code, message);
    if let Ok(state) = state.parse() {
        status.metadata_mut().insert(FIELD, state);
    }
    status
}

#[cfg(test)]
mod tests {
    use nodewise::SqlState;

    use super::*;

    #[test]
    fn codes_follow_states() {
        for (state, code) in [
            ("42601", Code::InvalidArgument),
            ("42P01", Code::NotFound),
            ("57014", Code::Cancelled),
            ("23505", Code::FailedPrecondition),
            ("40001", Code::Aborted),
            ("53200", Code::ResourceExhausted),
            ("XX000", Code::Internal),
        ] {
            let status = status(&SqlError::new(SqlState(state), "so").with_hint("do"));
            assert_eq!(status.code(), code, "{state}");
            assert_eq!(status.message(), format!("so (SQLSTATE {state})\nHINT: do"));
            assert_eq!(status.metadata().get(FIELD).unwrap(), state);
        }
    }
}
