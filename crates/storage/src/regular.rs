//! Files of rows as they lie on disks.

use std::fs::File;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use types::{SqlError, SqlResult, SqlState};

/// Opens a regular file. A pipe or a device is refused before it is opened: that could wait for ever.
///
/// # Errors
/// 58P01 for a file that is not there or may not be read, 42809 for what is no regular file, 58030 where the system refuses.
pub fn open(path: &Path) -> SqlResult<File> {
    let kind = std::fs::metadata(path).map_err(|error| unopened(path, &error))?;
    if kind.is_dir() {
        return Err(unopened(path, &ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        let message = format!("{} is not a regular file", path.display());
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
            .with_hint("rows are read from regular files, not from pipes or devices"));
    }
    File::open(path).map_err(|error| unopened(path, &error))
}

/// A file that cannot be opened.
pub(crate) fn unopened(path: &Path, error: &std::io::Error) -> SqlError {
    let message = format!("could not open file {}: {error}", path.display());
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
            SqlError::new(SqlState::UNDEFINED_FILE, message)
                .with_hint("paths are relative to the folder that Nodewise was started in")
        }
        ErrorKind::PermissionDenied => SqlError::new(SqlState::UNDEFINED_FILE, message)
            .with_hint("the user that runs Nodewise may not read the file"),
        _ => failed_by_system(message),
    }
}

/// What the system refuses whatever the file holds, such as another open file.
pub(crate) fn failed_by_system(message: String) -> SqlError {
    SqlError::new(SqlState::IO_ERROR, message)
        .with_hint("the operating system refused; see its limits (ulimit -a) and its log")
}

/// Runs a decoder; a panic in it comes back as its message.
///
/// # Errors
/// The message.
pub fn guard<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("the decoder failed: {}", text.unwrap_or("for no stated reason"))
    })
}
