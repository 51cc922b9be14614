//! The lab: a real Linux kernel on an emulated machine of several NUMA nodes runs the real programs
//! (docs/design/06-proof-without-hardware.md, "guests").
//!
//! Key decision: QEMU emulates in software, so the lab needs neither KVM nor rights, only the packages of a Debian. All
//! that a guest needs is in one initramfs that we write ourselves: no disk image, no network, nothing installed in it.
//! Times measured in a guest mean nothing; what the lab shows is where pages are and which node touches them.
//!
//! - Invariant: a guest ends. It is killed at its time limit, and it powers itself off if nobody is left to kill it.
//! - Invariant: a command's exit code, output and files come back whole, or the run is an error that says why.
//! - Invariant: the distances of a guest are those of the sample machine of the same shape in `hardware`.
//!
//! Reading order: [`topology`], [`packages`], [`image`], [`guest`], [`count`], [`suites`],
//! [`experiment`].
#![forbid(unsafe_code)]

pub mod count;
pub mod cpio;
pub mod data;
pub mod experiment;
pub mod guest;
pub mod image;
pub mod packages;
pub mod suites;
pub mod topology;

use std::path::{Path, PathBuf};

/// Why the lab could not do what was asked, in a sentence for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LabError {
    /// A program or a package is missing and could not be had: what is missing, and what to do.
    Missing(String),
    /// Anything else that went wrong.
    Failed(String),
}

impl std::fmt::Display for LabError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(message) | Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for LabError {}

/// The result of the lab's functions.
pub type LabResult<T> = Result<T, LabError>;

/// An error that names what was attempted.
pub(crate) fn failed(what: impl std::fmt::Display, why: impl std::fmt::Display) -> LabError {
    LabError::Failed(format!("{what}: {why}"))
}

/// The folder of the workspace that keeps the kernel and the guests' files: `target/lab`, which this makes.
pub fn folder() -> LabResult<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = own.ancestors().nth(2).expect("invariant: the lab lies in tools/lab");
    let path = root.join("target").join("lab");
    std::fs::create_dir_all(&path).map_err(|error| failed(path.display(), error))?;
    Ok(path)
}
