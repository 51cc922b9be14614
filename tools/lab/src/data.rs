//! What programs in guests read, made on the host.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{LabResult, failed};

/// The data of a benchmark, as `nodewise generate` calls it, at a scale as Parquet files, made on the host: a guest would take
/// minutes.
pub fn made(folder: &Path, nodewise: &Path, (suite, scale): (&str, &str)) -> LabResult<PathBuf> {
    let goal = folder.join(format!("{suite}-{scale}"));
    if goal.exists() {
        return Ok(goal);
    }
    let partial = folder.join(format!("{suite}-{scale}.partial"));
    let _ = std::fs::remove_dir_all(&partial);
    let mut generate = Command::new(nodewise);
    generate.args(["generate", suite, "--scale", scale]).arg(&partial).stdout(Stdio::null());
    match generate.status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(failed(format!("nodewise generate {suite}"), status)),
        Err(error) => return Err(failed(nodewise.display(), error)),
    }
    std::fs::rename(&partial, &goal).map_err(|error| failed(goal.display(), error))?;
    Ok(goal)
}
