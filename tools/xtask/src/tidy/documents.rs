//! Documents say what is there: the crates of ARCHITECTURE.md and their levels, and commands that exist.

use super::layers::Crate;
use super::report::{File, Report};
use crate::commands::COMMANDS;
use crate::suites::LOOM_CRATES;
use std::collections::BTreeMap;

/// Checks the documents against the crates, and the list of model checks against the sources.
pub fn check(files: &[File], crates: &[Crate], report: &mut Report) {
    let architecture = files.iter().find(|file| file.path == "ARCHITECTURE.md");
    check_architecture(architecture.map_or("", |file| &file.text), crates, report);
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        check_commands(file, report);
    }
    for krate in crates {
        let folder = format!("crates/{}/", krate.name);
        let modelled = files.iter().any(|file| {
            let code = super::text::code_of(&file.text);
            file.path.starts_with(&folder)
                && file.path.ends_with(".rs")
                && code.contains("loom::model")
        });
        if modelled != LOOM_CRATES.contains(&krate.name.as_str()) {
            report.error(format!("{}: model checks and LOOM_CRATES of xtask disagree", krate.name));
        }
    }
}

/// Headings of the code map: "### `name`, level N".
fn check_architecture(text: &str, crates: &[Crate], report: &mut Report) {
    let mut shown = BTreeMap::new();
    for line in text.lines() {
        let Some(heading) = line.strip_prefix("### `") else { continue };
        match heading.split_once("`, level ") {
            Some((name, level)) => {
                shown.insert(name, level.trim().parse::<u64>().ok());
            }
            None => report.error(format!("ARCHITECTURE.md: not \"### `crate`, level N\": {line}")),
        }
    }
    for krate in crates {
        match shown.remove(krate.name.as_str()) {
            None => report.error(format!("ARCHITECTURE.md: lacks the crate {}", krate.name)),
            Some(level) if level != krate.level => {
                report.error(format!("ARCHITECTURE.md: {} has another level", krate.name));
            }
            Some(_) => {}
        }
    }
    for name in shown.keys() {
        report.error(format!("ARCHITECTURE.md: shows {name}, which does not exist"));
    }
}

/// Every `cargo xtask NAME` must be a subcommand.
fn check_commands(file: &File, report: &mut Report) {
    for (number, line) in file.text.lines().enumerate() {
        for rest in line.split("cargo xtask ").skip(1) {
            let name: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
            if !name.is_empty() && !COMMANDS.iter().any(|(known, _)| *known == name) {
                let at = number + 1;
                report.error(format!("{}:{at}: there is no `cargo xtask {name}`", file.path));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn krate(name: &str, level: u64) -> Crate {
        Crate { name: name.to_owned(), level: Some(level), dependencies: Vec::new() }
    }

    #[test]
    fn the_code_map_names_exactly_the_crates_that_exist() {
        let crates = [krate("stdx", 0), krate("types", 1)];
        let errors = |text: &str| {
            let mut report = Report::default();
            check_architecture(text, &crates, &mut report);
            report.errors.len()
        };
        assert_eq!(errors("### `stdx`, level 0\n### `types`, level 1\n"), 0);
        assert_eq!(errors("### `stdx`, level 0\n"), 1);
        assert_eq!(errors("### `stdx`, level 0\n### `types`, level 2\n"), 1);
        assert_eq!(errors("### `stdx`, level 0\n### `types`, level 1\n### `gone`, level 3\n"), 1);
        assert_eq!(errors("### `stdx`\n### `types`, level 1\n"), 2);
    }

    #[test]
    fn a_command_that_does_not_exist_is_found() {
        let mut report = Report::default();
        let text = "Run `cargo xtask test` and `cargo xtask frobnicate`.\n".to_owned();
        check_commands(&File { path: "a.md".to_owned(), text }, &mut report);
        assert_eq!(report.errors, ["a.md:1: there is no `cargo xtask frobnicate`"]);
    }
}
