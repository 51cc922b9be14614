//! The rules of the house, checked against the tree: what nobody checks decays.
//!
//! Each file below holds one kind of rule as pure functions over text, with a bad example in its tests. Exceptions are
//! named with a reason in `tools/xtask/exceptions.txt`; an exception that no longer applies is an error itself.

mod circles;
mod citations;
mod documents;
mod exceptions;
mod functions;
mod layers;
mod report;
mod source;
mod text;

use exceptions::Exceptions;
use report::{File, Report};
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_BYTES_MAX: u64 = 1 << 20;

/// Checks everything; true if no rule is broken.
pub fn run(root: &Path) -> bool {
    let mut report = Report::default();
    if let Err(message) = check(root, &mut report) {
        report.error(message);
    }
    for warning in &report.warnings {
        println!("warning: {warning}");
    }
    for error in &report.errors {
        println!("error: {error}");
    }
    println!("tidy: {} errors, {} warnings", report.errors.len(), report.warnings.len());
    report.errors.is_empty()
}

fn check(root: &Path, report: &mut Report) -> Result<(), String> {
    let files = read_files(root, report)?;
    let listed = std::fs::read_to_string(root.join("tools/xtask/exceptions.txt"));
    let mut exceptions = Exceptions::parse(&listed.unwrap_or_default(), report);
    let crates = layers::read(root)?;
    layers::check(&crates, report);
    source::check_all(&files, &mut exceptions, report);
    functions::check(root, &files, report)?;
    documents::check(&files, &crates, report);
    citations::check(&files, report);
    circles::check(&files, &mut exceptions, report);
    exceptions.check_all_used(report);
    Ok(())
}

/// Reads what git tracks or would track; files too large to belong here are named.
fn read_files(root: &Path, report: &mut Report) -> Result<Vec<File>, String> {
    let listing = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !listing.status.success() {
        return Err("git ls-files failed: tidy runs inside a clone".to_owned());
    }
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let mut files = Vec::new();
    for path in listing.split('\0').filter(|path| !path.is_empty()) {
        let full: PathBuf = root.join(path);
        // A file that was deleted but not yet committed is still listed.
        let Ok(facts) = std::fs::symlink_metadata(&full) else { continue };
        if !facts.is_file() {
            continue;
        }
        if facts.len() > FILE_BYTES_MAX {
            report.error(format!("{path}: {} bytes; no file may pass 1 MiB", facts.len()));
            continue;
        }
        if let Ok(text) = std::fs::read_to_string(&full) {
            files.push(File { path: path.to_owned(), text });
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    /// The tree itself obeys; so a plain `cargo test` finds a broken rule too.
    #[test]
    fn the_tree_is_tidy() {
        assert!(super::run(&crate::workspace_root()), "see the errors above");
    }
}
