//! The Python package: built as it lies in the sources, and tested by Python.

use crate::programs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest Python that the package is for.
const OLDEST: &str = "import sys; sys.exit(sys.version_info < (3, 10))";

/// Why nothing of Python ran.
pub const NO_PYTHON: &str = "there is no python3 of 3.10 or newer to run";

/// Whether there is a Python for the package.
pub fn is_there() -> bool {
    let mut python = Command::new("python3");
    let python = python.args(["-c", OLDEST]).stdout(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|it| it.success())
}

/// Builds the package into a folder of `target`, and gives back the command that runs its tests.
pub fn tests(root: &Path) -> Result<Command, String> {
    let package = package(root)?;
    let mut command = Command::new("python3");
    command.current_dir(root).env("PYTHONPATH", package);
    command.arg("crates/python/tests/run.py");
    Ok(command)
}

/// The folder in which the package lies, newly built.
fn package(root: &Path) -> Result<PathBuf, String> {
    programs::built(root, programs::ALL).ok_or("cargo could not build the extension module")?;
    let package = root.join("target/python");
    let inside = package.join("nodewise");
    let copied = std::fs::create_dir_all(&inside).and_then(|()| {
        for entry in std::fs::read_dir(root.join("crates/python/nodewise"))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), inside.join(entry.file_name()))?;
            }
        }
        let module = root.join("target/debug/lib_native.so");
        std::fs::copy(module, inside.join("_native.abi3.so"))
    });
    copied.map_err(|error| format!("cannot put the package together: {error}"))?;
    Ok(package)
}
