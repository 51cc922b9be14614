//! Random queries against Nodewise, and what their answers must agree with.
//!
//! `differ` asks PostgreSQL (and DuckDB) the same. `logic` needs nobody else: it asks Nodewise one question in several
//! ways, on several machines and layouts of the tables. Both reduce a failing case to a small script and print the
//! command that repeats it. `changes` asks PostgreSQL what statements that change rows return and leave. `limits` gives Nodewise little memory, a bad disk and a machine that refuses memory, and prints
//! the statement and the command. `bytes` gives it texts and files that are nearly right. What they draw follows from seeds alone.
//!
//! Key decision: queries are a small tree of our own (`ast`), typed while they are generated, so that nearly all of them
//! run, and so that a failing one can be cut smaller without parsing SQL.
//!
//! Reading order: `ast`, `generate`, `case`, `peers`, `compare`, `verdict`, `differ`, `logic`, `limits`, `bytes`, `reduce`, `campaign`.
//!
//! - Invariant: nothing is dropped in silence; each case is counted under what came of it.
//! - Invariant: a seed and a number repeat a case.
#![forbid(unsafe_code)]

mod arguments;
mod ast;
mod bytes;
mod campaign;
mod case;
mod changes;
mod compare;
mod differ;
mod differences;
mod draw;
mod generate;
mod kind;
mod limits;
mod logic;
mod peers;
mod print;
mod reduce;
mod replay;
mod run;
mod stage;
mod verdict;
mod walk;
mod world;

use clap::Parser;
use std::process::ExitCode;

/// So that what statements take of the heap counts against their limits.
#[global_allocator]
static ALLOCATOR: memory::ReservingAllocator = memory::ReservingAllocator;

/// The exit code when there is nobody to compare with, so that a caller can count it as skipped.
const NO_PEER: u8 = 3;

fn main() -> ExitCode {
    // A panic inside Nodewise is an answer to be counted, and its text is in that answer.
    std::panic::set_hook(Box::new(|_| ()));
    match run::run(&arguments::Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(run::Ended::NoPeer(message)) => {
            println!("skipped: differ: {message}");
            ExitCode::from(NO_PEER)
        }
        Err(run::Ended::Failed(message)) => {
            eprintln!("fuzz: {message}");
            ExitCode::from(2)
        }
    }
}
