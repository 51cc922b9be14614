//! `nodewise topology`: the machine as this process may use it.

use std::io::{Write, stdout};

use hardware::Machine;

use crate::commands::probe::print_advice;
use crate::failure::Failure;
use crate::measured;

/// Prints the machine as a tree, then what it refuses and what should be changed.
pub fn run() -> Result<bool, Failure> {
    let machine = hardware_linux::open();
    if let Some(performance) = measured::load(machine.topology()) {
        machine.topology().learn(performance);
    }
    let mut out = stdout().lock();
    write!(out, "{}", machine.topology().to_tree())?;
    for restriction in machine.restrictions() {
        writeln!(out, "{} is refused here: {}", restriction.call, restriction.consequence)?;
    }
    print_advice(&mut out, &machine.advice())?;
    Ok(true)
}
