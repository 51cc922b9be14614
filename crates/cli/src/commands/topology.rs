//! `nodewise topology`: the machine as this process may use it.

use std::io::{Write, stdout};

use hardware::Machine;

use crate::failure::Failure;

/// Prints the machine as a tree, then what it refuses.
pub fn run() -> Result<bool, Failure> {
    let machine = hardware_linux::open();
    let mut out = stdout().lock();
    write!(out, "{}", machine.topology().to_tree())?;
    for restriction in machine.restrictions() {
        writeln!(out, "{} is refused here: {}", restriction.call, restriction.consequence)?;
    }
    Ok(true)
}
