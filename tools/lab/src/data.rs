//! What programs in guests read, made on the host.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{LabResult, failed};

/// The TPC-H data of a scale as Parquet files, made on the host: a guest would take minutes.
pub fn tpch(folder: &Path, nodewise: &Path, scale: &str) -> LabResult<PathBuf> {
    let goal = folder.join(format!("tpch-{scale}"));
    if goal.join("lineitem.parquet").exists() {
        return Ok(goal);
    }
    let partial = folder.join(format!("tpch-{scale}.partial"));
    let _ = std::fs::remove_dir_all(&partial);
    let mut generate = Command::new(nodewise);
    generate.args(["generate", "tpch", "--scale", scale]).arg(&partial).stdout(Stdio::null());
    match generate.status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(failed("nodewise generate tpch", status)),
        Err(error) => return Err(failed(nodewise.display(), error)),
    }
    std::fs::rename(&partial, &goal).map_err(|error| failed(goal.display(), error))?;
    Ok(goal)
}
