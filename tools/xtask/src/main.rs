//! The project's chores, as `cargo xtask NAME`: one program instead of a folder of shell scripts.
//!
//! Key decision: what CI runs is a subcommand here, so that anybody can run exactly the same on their own machine.
//!
//! - Invariant: every subcommand exits with a code other than 0 if anything it looked at failed.
//! - Invariant: nothing is skipped in silence; what did not run is named with its reason.
#![forbid(unsafe_code)]

mod beside;
mod ci;
mod commands;
mod dist;
mod lab;
mod page;
mod programs;
mod python;
mod slt;
mod suites;
mod summary;
mod tidy;

use commands::COMMANDS;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = workspace_root();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match words.as_slice() {
        ["ci"] => ci::run(&root),
        ["test"] => suites::run(&root, false),
        ["test", "--quick"] => suites::run(&root, true),
        ["python"] => suites::run_one(&root, suites::of_python),
        ["page"] => suites::run_one(&root, suites::of_page),
        ["dist"] => dist::run(&root),
        ["tidy"] => tidy::run(&root),
        ["lab", words @ ..] => return lab::run(&root, words),
        ["slt", words @ ..] => return slt::run(&root, words),
        ["help" | "--help" | "-h"] | [] => {
            print_help();
            true
        }
        other => {
            eprintln!("cargo xtask: no such command: {}", other.join(" "));
            print_help();
            false
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_help() {
    println!("cargo xtask COMMAND");
    for (name, what) in COMMANDS {
        println!("  {name:6} {what}");
    }
}

/// This crate lies two folders below the root.
fn workspace_root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("invariant: xtask lies in tools/xtask").to_path_buf()
}
