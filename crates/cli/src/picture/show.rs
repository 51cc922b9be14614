//! The picture of a table of a session, as this terminal wants it.

use std::io::{IsTerminal, stdout};

use nodewise::Session;

use super::{Style, draw};
use crate::failure::Failure;

/// The width of a picture that no terminal bounds.
const WIDTH: usize = 120;

/// The picture of a table as this terminal wants it.
pub fn show(session: &Session, table: &str, ascii: bool) -> Result<String, Failure> {
    let picture = session.database().picture(table).ok_or_else(|| no_table(session, table))?;
    let terminal = stdout().is_terminal();
    let style = Style {
        width: hardware_linux::terminal_size().map_or(WIDTH, |it| usize::from(it.columns)),
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

/// The error where there is no such table.
pub fn no_table(session: &Session, table: &str) -> Failure {
    let names: Vec<String> = session.database().tables().iter().map(|it| it.name.clone()).collect();
    Failure::Other(match names.as_slice() {
        [] => format!("there is no table {table}; --load FILE.parquet makes one"),
        names => format!("there is no table {table}; there are: {}", names.join(", ")),
    })
}
