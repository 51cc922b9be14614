//! What the lab runs in a guest: suites of checks that ask the kernel, not us, where pages are.
//!
//! It prints what a test harness prints, a line per check and a line of sums, so that `cargo xtask test` reads it.
#![forbid(unsafe_code)]

mod binary_suite;
mod checks;
mod clients;
mod kernel_view;
mod memory_suite;
mod placement_suite;
mod placer_suite;
mod scheduling_suite;
mod tables;
mod topology_suite;
mod tpch_suite;

use std::process::ExitCode;

use checks::Checks;
use lab::topology::{self, GuestMachine};

/// Runs the checks of a suite, which may look at what the guest was asked to be.
type Suite = fn(&mut Checks, &GuestMachine);

/// The suites by name.
const SUITES: &[(&str, Suite)] = &[
    ("topology", topology_suite::run),
    ("memory", memory_suite::run),
    ("placement", placement_suite::run),
    ("placer", placer_suite::run),
    ("scheduling", scheduling_suite::run),
    ("tpch", tpch_suite::run),
    ("binary", binary_suite::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, suites @ ..] = &arguments[..] else {
        eprintln!("usage: lab-guest TOPOLOGY SUITE..");
        return ExitCode::FAILURE;
    };
    let Some(machine) = topology::by_name(name) else {
        eprintln!("lab-guest: there is no topology {name}");
        return ExitCode::FAILURE;
    };
    let mut checks = Checks::new(name);
    for wanted in suites {
        match SUITES.iter().find(|it| it.0 == wanted) {
            Some((_, run)) => run(&mut checks, &machine),
            None => checks.run(wanted, || Err("there is no such suite".to_owned())),
        }
    }
    if checks.finish() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
