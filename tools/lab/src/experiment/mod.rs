//! Experiments of the papers in guests: most by counting the lines that workers fetch.

pub mod monet;
pub mod q6;
pub mod remote_lines;
pub mod reporting;

use std::path::PathBuf;

use crate::count::{self, CacheModel, Phase};
use crate::guest::{self, Outcome, Run};
use crate::image::Contents;
use crate::{LabResult, failed, folder, topology};

/// A cache that holds what a socket's workers keep between morsels, batches above all, and a small part of a table.
const CACHE_KIB: u64 = 1024;

/// Runs a script in a guest beside the data of a benchmark at a scale, and tells what it printed and what it counted.
fn counted(
    machine: &str,
    nodewise: PathBuf,
    data: (&str, &str),
    sql: &str,
) -> LabResult<(Outcome, Vec<Phase>)> {
    let script = folder()?.join("experiment.sql");
    std::fs::write(&script, sql).map_err(|error| failed(script.display(), error))?;
    let command = ["nodewise", "--format", "csv", "-f", "experiment.sql"];
    counted_by(machine, nodewise, data, &command, vec![script])
}

/// The same of a command, beside some files.
fn counted_by(
    machine: &str,
    nodewise: PathBuf,
    data: (&str, &str),
    command: &[&str],
    mut copies: Vec<PathBuf>,
) -> LabResult<(Outcome, Vec<Phase>)> {
    let folder = folder()?;
    crate::packages::provide(&folder)?;
    copies.push(crate::data::made(&folder, &nodewise, data)?);
    let contents = Contents {
        programs: vec![("nodewise".to_owned(), nodewise)],
        copies,
        command: command.iter().map(|it| (*it).to_owned()).collect(),
        ..Contents::default()
    };
    let machine =
        topology::by_name(machine).ok_or_else(|| failed(machine, "there is no such machine"))?;
    let mut run = Run::new(machine, contents);
    run.limit = guest::TESTS_LIMIT;
    let cache = CacheModel { kib: CACHE_KIB, ..CacheModel::default() };
    let counts = count::attach(&mut run, &folder, cache)?;
    let outcome = run.start()?;
    if outcome.code != 0 {
        return Err(failed("the experiment", format!("{}{}", outcome.stdout, outcome.stderr)));
    }
    let phases = count::read(&counts, &run.machine)?;
    Ok((outcome, phases))
}
