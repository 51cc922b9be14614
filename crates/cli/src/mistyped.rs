//! Words that were meant as a command and would make a folder.

use std::path::Path;

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::failure::Failure;

/// Refuses a folder that is not there and is called almost as a command is.
pub fn check(folder: &Path) -> Result<(), Failure> {
    let Some(word) = folder.to_str().filter(|_| !folder.exists()) else { return Ok(()) };
    let commands = Arguments::command();
    let names = commands.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    match names.into_iter().find(|it| is_near(word, it)) {
        None => Ok(()),
        Some(name) => Err(Failure::Arguments(format!(
            "there is no command and no folder '{word}'\n\n  tip: a similar command is '{name}'; \
             write './{word}' if a new database is meant"
        ))),
    }
}

/// Whether a word comes from another by one letter in four that is missing, added, changed or has changed places.
pub fn is_near(word: &str, name: &str) -> bool {
    distance(word.to_lowercase().as_bytes(), name.as_bytes()) <= (name.len() / 4).max(1)
}

/// Letters to add, leave out, change, or exchange with the next one, between two words (optimal string alignment).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let width = b.len() + 1;
    let mut steps = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = |i: usize, j: usize| steps[i * width + j];
            steps[i * width + j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let changed = at(i - 1, j - 1) + usize::from(a[i - 1] != b[j - 1]);
                    let turned = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    let turned = if turned { at(i - 2, j - 2) + 1 } else { usize::MAX };
                    changed.min(at(i - 1, j) + 1).min(at(i, j - 1) + 1).min(turned)
                }
            };
        }
    }
    steps[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_near_that_differ_by_a_letter_or_two() {
        for (word, name) in [
            ("toplogy", "topology"),
            ("topolgoy", "topology"),
            ("Chekc", "check"),
            ("chck", "check"),
            ("dmeo", "demo"),
            ("simulat", "simulate"),
        ] {
            assert!(is_near(word, name), "{word}");
        }
        for (word, name) in
            [("db", "demo"), ("data", "demo"), ("tests", "trace"), ("shop", "help"), ("", "demo")]
        {
            assert!(!is_near(word, name), "{word}");
        }
        assert_eq!(distance(b"abcd", b"badc"), 2);
        assert_eq!(distance(b"", b"abc"), 3);
    }

    #[test]
    fn a_folder_that_is_there_or_has_a_path_is_one() {
        assert!(check(Path::new("toplogy")).is_err());
        assert!(check(Path::new("./toplogy")).is_ok());
        assert!(check(Path::new("/")).is_ok());
        assert!(check(Path::new("sales")).is_ok());
    }
}
