//! Files of a crate do not need each other in circles (docs/design/00-house.md, "levels").
//!
//! A file is a node; an edge is an import of, or a path to, an item that another file defines. Re-exports are followed to
//! the file that defines, and are no edges themselves unless the file that re-exports uses the name too: so the root of a
//! folder that only lists its files leads nowhere. An import of a module counts by what is taken out of it. Tests, and
//! imports for the documentation alone, do not count, nor do methods, whose files cannot be told from text.

mod graph;
mod module;
mod tokens;

use super::exceptions::Exceptions;
use super::report::{File, Report};
use super::text::is_test_file;
use graph::{CrateFiles, circles};
use std::collections::BTreeMap;

/// Reports each circle whose files are not all listed.
pub fn check(files: &[File], exceptions: &mut Exceptions, report: &mut Report) {
    let texts: BTreeMap<&str, &str> = (files.iter())
        .filter(|it| it.path.ends_with(".rs") && !is_test_file(&it.path))
        .map(|it| (it.path.as_str(), it.text.as_str()))
        .collect();
    let text_of = |path: &str| texts.get(path).map(|&it| it.to_owned());
    let is_root = |path: &&&str| path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs");
    for root in texts.keys().filter(is_root) {
        let edges = CrateFiles::read(root, &text_of).edges();
        for circle in circles(&edges) {
            let listed: Vec<bool> =
                circle.iter().map(|file| exceptions.allow("circle", file)).collect();
            if listed.iter().all(|&it| it) {
                continue;
            }
            report.error(format!("{root}: {} files use each other in a circle", circle.len()));
            for file in &circle {
                let inside = edges[file].iter().filter(|(to, _)| circle.contains(*to));
                let uses: Vec<String> =
                    inside.map(|(to, line)| format!("{} in line {line}", short(to))).collect();
                report.error(format!("  {file} uses {}", uses.join(", ")));
            }
        }
    }
}

/// A path from the folder `src` on.
fn short(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(listed: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("crates/x/src/lib.rs", "mod a;\nmod b;\n"),
            file("crates/x/src/a.rs", "use crate::b::B;\npub struct A;\n"),
            file("crates/x/src/b.rs", "pub struct B;\nfn f(_: crate::a::A) {}\n"),
        ];
        let mut report = Report::default();
        let mut exceptions = Exceptions::parse(listed, &mut report);
        check(&files, &mut exceptions, &mut report);
        exceptions.check_all_used(&mut report);
        report.errors
    }

    #[test]
    fn a_circle_is_an_error_unless_all_its_files_are_listed() {
        assert_eq!(errors("").len(), 3);
        assert!(errors("")[1].ends_with("a.rs uses b.rs in line 1"), "{:?}", errors(""));
        assert_eq!(errors("circle crates/x/src/a.rs why\n").len(), 3);
        assert!(errors("circle crates/x/src/a.rs why\ncircle crates/x/src/b.rs why\n").is_empty());
    }
}
