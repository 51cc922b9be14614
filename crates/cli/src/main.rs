//! `nodewise`, the one binary: a shell, scripts, the demo, the benchmarks, a look at the machine.
//!
//! Key decision: everything written goes through one writer and every failure through one type, so that a closed pipe
//! is a quiet end and not a panic, and each way to run SQL (prompt, `-c`, `-f`, a pipe) behaves the same.
//!
//! Reading order: `arguments`, `console`, `dot`, `runner` (statements and dot commands), `shell` (the prompt), `output`, `commands`.
//!
//! - Invariant: exit code 0 means that all went well, 1 that something failed, 2 that the arguments were wrong.
//! - Invariant: results go to standard output; errors, notes and progress to standard error.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod configuration;
mod console;
mod dot;
mod failure;
mod frames;
mod interrupt;
mod measured;
mod mistyped;
mod modelled;
mod opening;
mod output;
mod pager;
mod picture;
mod pool_arguments;
mod processes;
mod progress;
mod reporting_arguments;
mod runner;
mod serve_arguments;
mod shell;
mod splitter;
mod suite_arguments;
mod switches;

use std::process::ExitCode;

use crate::arguments::{BenchCommand, Command, ConfigCommand};
use crate::commands::reporting::Load;

/// So that a shortage of memory ends statements, and not the tables.
#[global_allocator]
static ALLOCATOR: memory::ReservingAllocator = memory::ReservingAllocator;

fn main() -> ExitCode {
    let variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let arguments = match configuration::parse(std::env::args_os().collect(), &variables) {
        Ok(arguments) => arguments,
        Err(failure) => {
            failure.print();
            return failure.exit_code();
        }
    };
    memory::take_reserve();
    hardware_linux::keep_freed_memory();
    let done = match arguments.command {
        None => (arguments.shell.folder.as_deref().map_or(Ok(()), mistyped::check))
            .and_then(|()| shell::run(&arguments.shell)),
        Some(Command::Topology) => commands::topology::run(),
        Some(Command::Probe(options)) => commands::probe::run(&options),
        Some(Command::Placement(options)) => commands::placement::run(&options),
        Some(Command::Check(options)) => commands::check::run(&options),
        Some(Command::Serve(options)) => commands::serve::run(&options),
        Some(Command::Config(ConfigCommand::Check(options))) => commands::serve::check(&options),
        Some(Command::Password(options)) => commands::serve::password(&options),
        Some(Command::Demo(options)) => commands::demo::run(&options),
        Some(Command::Bench(BenchCommand::Tpch(options))) => commands::bench::tpch(&options),
        Some(Command::Bench(BenchCommand::Tpcds(options))) => {
            commands::bench::made_suite(&bench::tpcds::SUITE, &options)
        }
        Some(Command::Bench(BenchCommand::Ssb(options))) => {
            commands::bench::made_suite(&bench::ssb::SUITE, &options)
        }
        Some(Command::Bench(BenchCommand::Clickbench(options))) => {
            commands::bench::clickbench(&options)
        }
        Some(Command::Bench(BenchCommand::Workload(options))) => {
            commands::bench::workload(&options)
        }
        Some(Command::Trace(options)) => commands::trace::run(&options),
        Some(Command::Bench(BenchCommand::Memory(options))) => commands::bench::memory(&options),
        Some(Command::Bench(BenchCommand::Primitives(options))) => {
            commands::primitives::primitives(&options)
        }
        Some(Command::Bench(BenchCommand::Fixed(options))) => commands::primitives::fixed(&options),
        Some(Command::Bench(BenchCommand::Oltp(options))) => commands::oltp::oltp(&options),
        Some(Command::Bench(BenchCommand::Parts(options))) => commands::parts::parts(&options),
        Some(Command::Bench(BenchCommand::Monet(options))) => commands::monet::monet(&options),
        Some(Command::Bench(BenchCommand::Scans(options))) => commands::scans::scans(&options),
        Some(Command::Bench(BenchCommand::Reporting(options))) => {
            commands::reporting::run(Load::Reporting, &options)
        }
        Some(Command::Bench(BenchCommand::Q1(options))) => {
            commands::reporting::run(Load::Q1, &options)
        }
        Some(Command::Simulate(options)) => commands::simulate::run(&options),
        Some(Command::Bench(BenchCommand::Scheduling(options))) => {
            commands::scheduling::run(&options)
        }
        Some(Command::Generate(command)) => commands::generate::run(&command),
        Some(Command::Shard(options)) => commands::shard::run(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.exit_code()
        }
    }
}
