//! What code and documents cite is in the project: pages of `docs/design` with the heading that is quoted, documents that
//! are named, links between documents. And no page of `docs/design` is left that nobody cites.

use super::report::{File, Report};
use std::collections::BTreeSet;

/// Where the decisions stand that code cites.
const DESIGN: &str = "docs/design/";
/// Documents of another project, or of none, whose sections may not be cited.
const ELSEWHERE: &[&str] =
    &[concat!("DE", "SIGN"), concat!("PERFOR", "MANCE"), concat!("STY", "LE")];

/// Checks all of them.
pub fn check(files: &[File], report: &mut Report) {
    let mut cited = BTreeSet::new();
    for file in files.iter().filter(|it| it.path.ends_with(".rs") || it.path.ends_with(".md")) {
        for (line, text) in passages(file) {
            check_elsewhere(file, line, &text, report);
            check_names(files, file, line, &text, &mut cited, report);
            check_headings(files, file, line, &text, report);
            if file.path.ends_with(".md") {
                check_anchors(files, file, line, &text, report);
            }
        }
    }
    for page in files.iter().filter(|it| it.path.starts_with(DESIGN)) {
        if !cited.contains(page.path.as_str()) {
            report.error(format!("{}: no code cites it, nor does ARCHITECTURE.md", page.path));
        }
    }
}

/// The comments of a source and the paragraphs of a document, each as one line, with the line (from 1) they begin in.
/// Blocks of commands in a document are left out: what they name may be made by them.
fn passages(file: &File) -> Vec<(usize, String)> {
    let is_source = file.path.ends_with(".rs");
    let prose = |line: &str| {
        let line = line.trim();
        match line.strip_prefix("//") {
            Some(rest) if is_source => rest.trim_start_matches(['/', '!']).trim().to_owned(),
            None if is_source => String::new(),
            _ => line.to_owned(),
        }
    };
    let mut passages: Vec<(usize, String)> = Vec::new();
    let (mut open, mut commands) = (false, false);
    for (at, line) in file.text.lines().enumerate() {
        let mut line = prose(line);
        let fence = line.starts_with("```");
        commands ^= fence;
        if commands || fence {
            line.clear();
        }
        match passages.last_mut() {
            Some((_, text)) if open && !line.is_empty() => {
                text.push(' ');
                text.push_str(&line);
            }
            _ if !line.is_empty() => passages.push((at + 1, line.clone())),
            _ => {}
        }
        open = !line.is_empty();
    }
    passages
}

/// A name with a section behind it, or as a file, of a document that is not here.
fn check_elsewhere(file: &File, line: usize, text: &str, report: &mut Report) {
    for name in ELSEWHERE {
        for (at, _) in text.match_indices(name) {
            let before = text[..at].chars().next_back();
            let rest = &text[at + name.len()..];
            let part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '/' | '-');
            let section = rest.strip_prefix([' ', ',']).map(str::trim_start).unwrap_or_default();
            let numbered =
                section.trim_start_matches('Q').starts_with(|it: char| it.is_ascii_digit());
            if !before.is_some_and(part) && (numbered || rest.starts_with(".md")) {
                report.error(format!("{}:{line}: cites {name}, which is not here", file.path));
            }
        }
    }
}

/// The names of documents in a text, and where they end; what a link is called is not looked at.
fn documents_in(text: &str) -> Vec<(&str, usize)> {
    let part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '/' | '-' | '.' | ':');
    let mut found = Vec::new();
    for (at, _) in text.match_indices(".md") {
        let end = at + ".md".len();
        if text[end..].starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_') {
            continue;
        }
        let start = text[..at].rfind(|it| !part(it)).map_or(0, |it| it + 1);
        if start == at || (text[..start].ends_with('[') && text[end..].starts_with("](")) {
            continue;
        }
        found.push((&text[start..end], end));
    }
    found
}

/// The document that a file names: from the root, from the file's own folder, or from that of its crate.
fn found<'a>(files: &'a [File], file: &File, name: &str) -> Option<&'a File> {
    let of_crate = file.path.split_once("/src/").map(|(krate, _)| format!("{krate}/{name}"));
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let own = parts.join("/");
    files.iter().find(|it| it.path == name || it.path == own || Some(&it.path) == of_crate.as_ref())
}

fn check_names(
    files: &[File],
    file: &File,
    line: usize,
    text: &str,
    cited: &mut BTreeSet<String>,
    report: &mut Report,
) {
    for (name, _) in documents_in(text).into_iter().filter(|(name, _)| !name.contains("://")) {
        match found(files, file, name) {
            Some(page) if file.path.ends_with(".rs") || file.path == "ARCHITECTURE.md" => {
                cited.insert(page.path.clone());
            }
            Some(_) => {}
            None => report.error(format!("{}:{line}: there is no {name}", file.path)),
        }
    }
}

/// A page of `docs/design`, a comma and a heading in quotes: the heading is there.
fn check_headings(files: &[File], file: &File, line: usize, text: &str, report: &mut Report) {
    for (name, end) in documents_in(text) {
        let Some(quoted) = text[end..].strip_prefix(", \"") else { continue };
        let Some(page) = found(files, file, name).filter(|it| it.path.starts_with(DESIGN)) else {
            continue;
        };
        let heading = quoted.split('"').next().unwrap_or_default();
        if !headings(page).any(|it| it.eq_ignore_ascii_case(heading)) {
            report.error(format!("{}:{line}: {name} has no heading \"{heading}\"", file.path));
        }
    }
}

/// A heading behind `#` in a link: it is there.
fn check_anchors(files: &[File], file: &File, line: usize, text: &str, report: &mut Report) {
    for link in text.split("](").skip(1) {
        let target = link.split(')').next().unwrap_or_default();
        let Some((name, anchor)) = target.split_once('#') else { continue };
        if name.contains("://") {
            continue;
        }
        let page = if name.is_empty() { Some(file) } else { found(files, file, name) };
        if !page.is_some_and(|page| headings(page).any(|it| anchor_of(it) == anchor)) {
            report.error(format!("{}:{line}: the link {target} leads nowhere", file.path));
        }
    }
}

fn headings(page: &File) -> impl Iterator<Item = &str> {
    let heading = |line: &'_ str| line.starts_with('#');
    (page.text.lines()).filter(move |it| heading(it)).map(|it| it.trim_start_matches('#').trim())
}

/// What a heading is called in a link: lower case, blanks as hyphens, other signs left out.
fn anchor_of(heading: &str) -> String {
    let kept = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | ' ');
    heading.to_ascii_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "docs/design/01-storage.md";

    fn errors(path: &str, text: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file(PAGE, "# Storage\n\n## Blocks, and zones\n"),
            file("README.md", "# Top\n"),
            file("crates/y/src/lib.rs", "//! docs/design/01-storage.md\n"),
            file(path, text),
        ];
        let mut report = Report::default();
        check(&files, &mut report);
        report.errors
    }

    #[test]
    fn a_quoted_heading_must_be_there() {
        let path = "crates/x/src/a.rs";
        let cited = |heading: &str| errors(path, &format!("//! So ({PAGE}, \"{heading}\").\n"));
        assert!(cited("blocks, and zones").is_empty());
        assert!(cited("blocks,\n//! and zones").is_empty());
        assert_eq!(cited("blocks").len(), 1);
        assert_eq!(errors(path, "// docs/design/02-gone.md\n").len(), 1);
        assert!(errors(path, "let a = \"docs/design/02-gone.md\";\n").is_empty());
    }

    #[test]
    fn documents_of_elsewhere_are_not_cited() {
        for name in ELSEWHERE {
            for (text, count) in [(" 4", 1), (" 1.2 and so on", 1), (", Q1", 1), (" of tables", 0)]
            {
                let text = format!("/// See {name}{text}\n");
                assert_eq!(errors("crates/x/src/a.rs", &text).len(), count, "{text}");
            }
            assert_eq!(errors("docs/a.md", &format!("see {name}.md\n")).len(), 2);
            assert!(errors("crates/x/src/a.rs", &format!("// PLAIN_{name} 4\n")).is_empty());
        }
    }

    #[test]
    fn links_lead_somewhere() {
        assert!(errors("docs/a.md", "[x](design/01-storage.md#blocks-and-zones)\n").is_empty());
        assert!(errors("docs/a.md", "# A b\n\n[x](#a-b) [y](../README.md)\n").is_empty());
        assert_eq!(errors("docs/a.md", "[x](design/01-storage.md#gone)\n").len(), 1);
        assert_eq!(errors("docs/a.md", "[x](gone.md)\n").len(), 1);
        assert!(errors("docs/a.md", "[x](https://example.org/gone.md#x)\n").is_empty());
    }

    #[test]
    fn a_page_that_nobody_cites_is_found() {
        let found = errors("docs/design/09-forgotten.md", "# Forgotten\n");
        assert_eq!(
            found,
            ["docs/design/09-forgotten.md: no code cites it, nor does ARCHITECTURE.md"]
        );
    }
}
