//! `nodewise check`: whether the folder of a database is whole.

use std::io::{Write, stdout};

use stdx::Bytes;

use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::opening::check_folder;

/// Prints a line for each table, for each damage, and one for all; false when something is damaged.
pub fn run(options: &CheckArguments) -> Result<bool, Failure> {
    let found = check_folder(&options.folder, &options.pool)?;
    let mut out = stdout().lock();
    for table in &found.tables {
        let (name, rows, parts, files) = (&table.name, table.rows, table.parts, table.files);
        writeln!(out, "table \"{name}\": {rows} rows, {parts} parts, {files} files")?;
    }
    for note in &found.notes {
        writeln!(out, "note: {note}")?;
    }
    for damage in &found.damages {
        writeln!(out, "DAMAGE {}: {}", damage.state.0, damage.message)?;
    }
    let (tables, files, bytes) = (found.tables.len(), found.files, Bytes(found.bytes));
    let last = found.last_record;
    write!(out, "{tables} tables, {files} files, {bytes}, last record {last}: ")?;
    match found.damages.len() {
        0 => writeln!(out, "no damage")?,
        1 => writeln!(out, "1 damage")?,
        damages => writeln!(out, "{damages} damages")?,
    }
    Ok(found.damages.is_empty())
}
