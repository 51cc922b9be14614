//! `cargo xtask slt`: runs sqllogictest files of any project and tells what is right, wrong and refused.
//!
//! Key decision: a process per file, so that a statement that ends the process, or that nothing can stop, costs its own
//! record and not the run: the file is run again without it.
//!
//! Reading order: `child` (one file), `parent` (all of them).
//!
//! - Invariant: exit code 0 means that nothing was wrong, 1 that something was, 2 that the arguments were.
#![forbid(unsafe_code)]

mod child;
mod parent;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs sqllogictest files and groups what is not right by its cause
#[derive(Parser)]
#[command(name = "cargo xtask slt")]
struct Arguments {
    /// Files, or folders of files with the extensions test and slt
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The engine whose records run, as onlyif and skipif name it
    #[arg(long, default_value = "postgresql")]
    engine: String,
    /// sqlite, duckdb or postgres; told by the file where not given
    #[arg(long)]
    flavour: Option<String>,
    /// Files at once; one per hardware thread where not given
    #[arg(long)]
    jobs: Option<usize>,
    /// Workers of each database
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// Seconds that a record may take
    #[arg(long, default_value_t = 20)]
    timeout: u64,
    /// Seconds that a file may take
    #[arg(long, default_value_t = 1200)]
    file_timeout: u64,
    /// MiB that a database may take; its process may take twice as many
    #[arg(long, default_value_t = 2048)]
    memory: u64,
    /// Takes each N-th file only
    #[arg(long, default_value_t = 1, value_name = "N")]
    sample: usize,
    /// Causes shown of each kind
    #[arg(long, default_value_t = 40)]
    top: usize,
    /// Writes all wrong records, with ours and the expected rows
    #[arg(long, value_name = "FILE")]
    wrong: Option<PathBuf>,
    /// Writes an example of every cause in every file
    #[arg(long, value_name = "FILE")]
    all: Option<PathBuf>,
    /// Runs statements of a session first, such as settings
    #[arg(long, value_name = "SQL")]
    before: Vec<String>,
    /// One file in this process; for the program itself
    #[arg(long, hide = true)]
    child: bool,
    /// Lines of records that must not run
    #[arg(long, hide = true, value_delimiter = ',')]
    deadly: Vec<usize>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = if arguments.child { child::run(&arguments) } else { parent::run(&arguments) };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
