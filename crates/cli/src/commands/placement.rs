//! `nodewise placement`: on which nodes a table lies, as a picture.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use nodewise::Session;

use crate::arguments::PlacementArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::opening::{open_database_on, open_session};
use crate::picture::{no_table, show, svg};

/// Loads, runs, draws.
pub fn run(options: &PlacementArguments) -> Result<bool, Failure> {
    let database = open_database_on(&options.machine, &options.pool)?;
    let mut session = open_session(&database);
    Interrupt::install(&session);
    for path in &options.load {
        for file in files_of(path)? {
            load(&mut session, &file)?;
        }
    }
    let named = Path::new(&options.table);
    let table = match named.extension().is_some_and(|it| it.eq_ignore_ascii_case("parquet")) {
        true => load(&mut session, named)?,
        false => options.table.clone(),
    };
    for sql in &options.sql {
        session.execute(sql)?;
    }
    let picture = show(&session, &table, options.ascii)?;
    write!(stdout().lock(), "{picture}")?;
    if let Some(file) = &options.svg {
        let picture = database.picture(&table).ok_or_else(|| no_table(&session, &table))?;
        std::fs::write(file, svg(&picture))
            .map_err(|error| Failure::Other(format!("cannot write {}: {error}", file.display())))?;
    }
    Ok(true)
}

/// A file, or the Parquet files of a folder by name.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path)
        .map_err(|error| Failure::Other(format!("cannot read {}: {error}", path.display())))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|it| it.path())
        .filter(|it| it.extension().is_some_and(|it| it.eq_ignore_ascii_case("parquet")))
        .collect();
    files.sort();
    match files.is_empty() {
        true => Err(Failure::Other(format!("there is no Parquet file in {}", path.display()))),
        false => Ok(files),
    }
}

/// Loads a file as the table that is called like it.
fn load(session: &mut Session, file: &Path) -> Result<String, Failure> {
    let name = file.file_stem().map(|it| it.to_string_lossy().to_lowercase()).unwrap_or_default();
    let quoted = name.replace('"', "\"\"");
    let path = file.to_string_lossy().replace('\'', "''");
    session.execute(&format!("CREATE TABLE \"{quoted}\" AS SELECT * FROM '{path}'"))?;
    Ok(name)
}
