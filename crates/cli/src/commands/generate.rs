//! `nodewise generate`: data of benchmarks as files.

use std::io::{Write, stdout};
use std::path::Path;

use nodewise::SqlResult;
use nodewise::made_files::MadeData;

use crate::arguments::{GenerateArguments, GenerateCommand, PoolArguments};
use crate::failure::Failure;
use crate::opening::open_database;
use crate::progress;

/// Makes the tables of a benchmark in a folder.
pub fn run(command: &GenerateCommand) -> Result<bool, Failure> {
    match command {
        GenerateCommand::Tpch(options) => scaled(options, nodewise::tpch::data),
        GenerateCommand::Tpcds(options) => scaled(options, bench::tpcds::SUITE.data),
        GenerateCommand::Ssb(options) => scaled(options, bench::ssb::SUITE.data),
        GenerateCommand::Clickbench(options) => {
            make(&bench::clickbench::data(options.rows as u64)?, &options.dir, &options.pool)
        }
    }
}

fn scaled(
    options: &GenerateArguments,
    data: fn(f64) -> SqlResult<MadeData>,
) -> Result<bool, Failure> {
    let Some(folder) = options.dir.as_ref().or(options.out.as_ref()) else {
        return Err(Failure::Arguments("a folder is needed".into()));
    };
    make(&data(options.scale)?, folder, &options.pool)
}

fn make(data: &MadeData, folder: &Path, pool: &PoolArguments) -> Result<bool, Failure> {
    let database = open_database(pool)?;
    let machine = database.machine();
    let started = machine.now();
    data.generate_on(&database, folder, &*progress::for_people(machine))?;
    let time = machine.now() - started;
    let MadeData { title, size, .. } = data;
    writeln!(stdout(), "{title} at {size} is in {} (took {time})", folder.display())?;
    Ok(true)
}
