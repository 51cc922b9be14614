//! Runs kept scripts again, on Nodewise and on PostgreSQL: which of them still fail?

use std::path::Path;

use crate::compare::{self, Tolerance};
use crate::peers::nodewise::{Host, Nodewise};
use crate::peers::reply::{Peer, Reply};

/// Runs each script in tables of its own and prints a line for it; true if all agree.
pub fn replay(files: &[std::path::PathBuf], theirs: &mut impl Peer) -> Result<bool, String> {
    let mut ours = Nodewise::open(Host::Threads(2))?;
    let mut all = true;
    for file in files {
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
        let wrong = disagreement(&text, &mut ours, theirs)?;
        all &= wrong.is_none();
        print_line(file, wrong.as_deref());
    }
    Ok(all)
}

fn print_line(file: &Path, wrong: Option<&str>) {
    match wrong {
        None => println!("agrees  {}", file.display()),
        Some(what) => println!("DIFFERS {}: {what}", file.display()),
    }
}

/// What the sides disagree about first, if anything.
fn disagreement(
    script: &str,
    ours: &mut Nodewise,
    theirs: &mut impl Peer,
) -> Result<Option<String>, String> {
    ours.reset()?;
    theirs.reset()?;
    for sql in statements(script) {
        let (one, other) = (ours.run(&sql), theirs.run(&sql));
        let agree = match (&one, &other) {
            (Reply::Rows(one), Reply::Rows(other)) => {
                compare::difference(one, other, false, Tolerance::REAL).is_none()
            }
            (Reply::Error { state, .. }, Reply::Error { state: other, .. }) => {
                state.get(..2) == other.get(..2)
            }
            (one, other) => one == other,
        };
        if !agree {
            return Ok(Some(format!("{} against {}", one.describe(), other.describe())));
        }
    }
    Ok(None)
}

/// The statements of a script: each ends with a semicolon at the end of a line; lines of comments are left out.
fn statements(script: &str) -> Vec<String> {
    let code: Vec<&str> = script.lines().filter(|line| !line.starts_with("--")).collect();
    let code = code.join("\n") + "\n";
    let bare = code.split(";\n").map(|it| it.trim().to_owned());
    bare.filter(|it| !it.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_cut_into_statements() {
        let script = "-- WRONG\nCREATE TABLE t (a TEXT);\nINSERT INTO t VALUES (';');\n-- x\nSELECT 1\nFROM t;\n";
        let statements = statements(script);
        assert_eq!(statements.len(), 3);
        assert_eq!(statements[1], "INSERT INTO t VALUES (';')");
        assert_eq!(statements[2], "SELECT 1\nFROM t");
    }
}
