//! `nodewise placement`: on which nodes a table lies, as a picture.

use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use nodewise::Session;

use crate::arguments::PlacementArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::picture::{Style, draw, svg};
use crate::shell::{open_database_on, open_session};

/// The width of a picture that no terminal bounds.
const WIDTH: usize = 120;

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

/// The picture of a table as this terminal wants it.
pub fn show(session: &Session, table: &str, ascii: bool) -> Result<String, Failure> {
    let picture = session.database().picture(table).ok_or_else(|| no_table(session, table))?;
    let terminal = stdout().is_terminal();
    let style = Style {
        width: hardware_linux::terminal_columns().map_or(WIDTH, usize::from),
        colours: terminal && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty()),
        unicode: !ascii && (!terminal || has_unicode()),
    };
    Ok(draw(&picture, &style))
}

/// Whether the terminal shows more than ASCII, by the variables that say so.
fn has_unicode() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"];
    let first = set.iter().filter_map(|it| std::env::var(it).ok()).find(|it| !it.is_empty());
    first.is_some_and(|it| it.to_ascii_uppercase().replace('-', "").contains("UTF8"))
}

fn no_table(session: &Session, table: &str) -> Failure {
    let names: Vec<String> = session.database().tables().iter().map(|it| it.name.clone()).collect();
    Failure::Other(match names.as_slice() {
        [] => format!("there is no table {table}; --load FILE.parquet makes one"),
        names => format!("there is no table {table}; there are: {}", names.join(", ")),
    })
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
