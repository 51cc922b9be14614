//! Names of files with `*`, `?`, `[..]` and `**`.

use std::path::PathBuf;

use types::{SqlError, SqlResult, SqlState};

/// The files that a name or a pattern means, in the order of their names. A name without a pattern is that file, whether it is
/// there or not.
///
/// # Errors
/// 58P01 where no file matches a pattern, 22023 for what is no pattern.
pub fn expand(pattern: &str) -> SqlResult<Vec<PathBuf>> {
    let literal = PathBuf::from(pattern);
    if !is_pattern(pattern) || literal.exists() {
        return Ok(vec![literal]);
    }
    let found = matching(pattern)?;
    if found.is_empty() {
        let message = format!("no file matches the pattern \"{pattern}\"");
        return Err(SqlError::new(SqlState::UNDEFINED_FILE, message)
            .with_hint("paths are relative to the folder that Nodewise was started in"));
    }
    Ok(found)
}

/// The files that match a pattern, in the order of their names; none where there are none.
///
/// # Errors
/// 22023 for what is no pattern, 58030 for a folder that cannot be read.
pub fn matching(pattern: &str) -> SqlResult<Vec<PathBuf>> {
    let paths = glob::glob(pattern).map_err(|error| {
        let message = format!("\"{pattern}\" is no pattern of names: {error}");
        SqlError::new(SqlState::INVALID_PARAMETER, message)
    })?;
    let mut found = Vec::new();
    for path in paths {
        let path = path.map_err(|error| {
            let message = format!("could not read the folder of a pattern: {error}");
            SqlError::new(SqlState::IO_ERROR, message)
        })?;
        if !path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a name has a pattern in it.
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}
