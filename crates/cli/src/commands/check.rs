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
        let (rows, parts) = (counted(rows, "row"), counted(parts as u64, "part"));
        let files = counted(files as u64, "file");
        writeln!(out, "table \"{name}\": {rows}, {parts}, {files}")?;
    }
    for note in &found.notes {
        writeln!(out, "note: {note}")?;
    }
    for damage in &found.damages {
        writeln!(out, "DAMAGE {}: {}", damage.state.0, damage.message)?;
    }
    let tables = counted(found.tables.len() as u64, "table");
    let (files, bytes) = (counted(found.files as u64, "file"), Bytes(found.bytes));
    let damages = match found.damages.len() as u64 {
        0 => "no damage".to_owned(),
        damages => counted(damages, "damage"),
    };
    writeln!(out, "{tables}, {files}, {bytes}, last record {}: {damages}", found.last_record)?;
    Ok(found.damages.is_empty())
}

/// `1 file`, `2 files`.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
