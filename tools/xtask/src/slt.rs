//! sqllogictest files of other projects: hands over to the program `slt` of `tools/sqltest`, in a release build.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Builds the program and runs it with the given words; its exit code is ours. Relative paths are those of the caller.
pub fn run(root: &Path, words: &[&str]) -> ExitCode {
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--quiet", "--package", "sqltest", "--bin", "slt"]);
    command.arg("--manifest-path").arg(root.join("Cargo.toml")).arg("--").args(words);
    match command.status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
