//! The lab: builds all programs and hands over to `tools/lab`.

use crate::programs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The lab's exit code when QEMU or a package cannot be had.
pub const MISSING: i32 = 3;

/// Builds the workspace's programs and runs the lab with the given words; its exit code is ours.
pub fn run(root: &Path, words: &[&str]) -> ExitCode {
    match command(root, words).map(|mut command| command.status()) {
        Ok(Ok(status)) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Ok(Err(error)) => {
            eprintln!("cannot run the lab: {error}");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The lab's command line for some words, once all that it needs is built.
pub fn command(root: &Path, words: &[&str]) -> Result<Command, String> {
    // All at once: for one package alone cargo would choose other features and build much anew. Tests include the
    // programs that their crates have.
    let tests = words.first() == Some(&"test");
    let build: &[&str] = match words.first() {
        Some(&"test") => &["test", "--workspace", "--no-run"],
        // Nothing runs in a guest: the lab alone is there in a minute.
        Some(&("topologies" | "help")) | None => &["build", "--package", "lab", "--bin", "lab"],
        _ => &["build", "--workspace", "--bins"],
    };
    let programs =
        programs::built(root, build).ok_or("cargo could not build what runs in guests")?;
    let lab = programs::named(&programs, "lab").ok_or("cargo built no program lab")?;
    let mut command = Command::new(lab);
    command.current_dir(root).args(words);
    for (name, path, kind) in &programs {
        if tests && kind == "test" {
            command.arg("--program").arg(format!("{name}={path}"));
        }
    }
    Ok(command)
}
