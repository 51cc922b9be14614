//! `nodewise generate`: data of benchmarks as files.

use std::io::{Write, stdout};

use nodewise::tpch;

use crate::arguments::GenerateArguments;
use crate::failure::Failure;
use crate::opening::open_database;
use crate::progress;

/// Makes the eight tables of TPC-H in a folder.
pub fn run(options: &GenerateArguments) -> Result<bool, Failure> {
    let Some(folder) = options.dir.as_ref().or(options.out.as_ref()) else {
        return Err(Failure::Arguments("a folder is needed".into()));
    };
    let database = open_database(&options.pool)?;
    let machine = database.machine();
    let started = machine.now();
    tpch::generate_on(&database, folder, options.scale, &*progress::for_people(machine))?;
    let time = machine.now() - started;
    writeln!(
        stdout(),
        "TPC-H at scale {} is in {} (took {time})",
        options.scale,
        folder.display()
    )?;
    Ok(true)
}
