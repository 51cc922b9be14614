//! Everything that can go wrong in the binary.

use std::io;
use std::process::ExitCode;

use nodewise::SqlError;

use nodewise::box_table::width_of;

/// Letters of a line that are shown around a place, and those of them before it.
const SHOWN_MAX: usize = 72;
const BEFORE_MAX: usize = 48;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// A statement failed; with its text, where that is at hand.
    Sql(SqlError, Option<Box<str>>),
    /// Output could not be written.
    Io(io::Error),
    /// Something else, in a sentence.
    Other(String),
    /// Arguments that are wrong in a way that only the command knows.
    Arguments(String),
}

impl Failure {
    /// Whether the reader of our output has gone, which is no failure.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Tells the user.
    pub fn print(&self) {
        match self {
            Self::Sql(error, sql) => {
                eprintln!("ERROR {}: {}", error.state.0, error.message);
                if let (Some(place), Some(sql)) = (error.position, sql)
                    && let Some(excerpt) = excerpt(sql, place)
                {
                    eprintln!("{excerpt}");
                }
                if let Some(detail) = error.detail() {
                    eprintln!("DETAIL: {detail}");
                }
                if let Some(hint) = &error.hint {
                    eprintln!("HINT: {hint}");
                }
            }
            Self::Io(error) => eprintln!("ERROR: {error}"),
            Self::Other(message) => eprintln!("ERROR: {message}"),
            Self::Arguments(message) => eprintln!("error: {message}"),
        }
    }

    /// What the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Arguments(_)) { 2 } else { 1 })
    }
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Sql(error, None)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The line of a statement with a caret under a place, both counted from 1; a long line is cut on both sides. Nothing when
/// the statement has no such place.
fn excerpt(sql: &str, (line, column): (u32, u32)) -> Option<String> {
    let text = sql.lines().nth(line.checked_sub(1)? as usize)?;
    let at = column.checked_sub(1)? as usize;
    let letters: Vec<char> =
        text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    if at > letters.len() {
        return None;
    }
    let first = if letters.len() > SHOWN_MAX { at.saturating_sub(BEFORE_MAX) } else { 0 };
    let last = letters.len().min(first + SHOWN_MAX);
    let dots = |cut: bool| if cut { "..." } else { "" };
    let before: String = letters[first..at].iter().collect();
    let after: String = letters[at..last].iter().collect();
    let head = format!("LINE {line}: {}{before}", dots(first > 0));
    let tail = dots(last < letters.len());
    Some(format!("{head}{after}{tail}\n{}^", " ".repeat(width_of(&head))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_stands_under_the_place() {
        let shown = |sql: &str, line, column| excerpt(sql, (line, column)).unwrap_or_default();
        assert_eq!(shown("SELEC 1", 1, 1), "LINE 1: SELEC 1\n        ^");
        assert_eq!(shown("SELECT\n\tnope\nFROM t", 2, 2), "LINE 2:  nope\n         ^");
        // Letters that take two columns, and the place after the last letter.
        assert_eq!(shown("'\u{6f22}' +", 1, 5), "LINE 1: '\u{6f22}' +\n             ^");
        assert_eq!(shown("1 +", 1, 4), "LINE 1: 1 +\n           ^");
        for nowhere in [(0, 1), (1, 0), (1, 10), (2, 1)] {
            assert_eq!(excerpt("SELECT 1", nowhere), None, "{nowhere:?}");
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let long = format!("{}!{}", "a".repeat(100), "b".repeat(100));
        let shown = excerpt(&long, (1, 101)).unwrap();
        let (line, caret) = shown.split_once('\n').unwrap();
        assert_eq!(line, format!("LINE 1: ...{}!{}...", "a".repeat(48), "b".repeat(23)));
        assert_eq!(line.chars().nth(caret.len() - 1), Some('!'));
        let shown = excerpt(&long, (1, 1)).unwrap();
        assert_eq!(shown, format!("LINE 1: {}...\n        ^", "a".repeat(72)));
    }
}
