//! Functions over 70 lines: how many there are may only fall.

use super::report::{File, Report};
use super::text::code_of;
use std::path::Path;

const LINES_MAX: usize = 70;
/// The count that was last accepted.
const RATCHET: &str = "tools/xtask/long-functions.txt";

/// Warns of each long function, and fails when there are more than the ratchet holds.
pub fn check(root: &Path, files: &[File], report: &mut Report) -> Result<(), String> {
    let mut found = 0;
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        for (line, name, lines) in long_functions(&file.text) {
            found += 1;
            report.warning(format!("{}:{line}: `{name}` has {lines} lines", file.path));
        }
    }
    let held = std::fs::read_to_string(root.join(RATCHET)).unwrap_or_default();
    let held: usize = held.trim().parse().map_err(|_| format!("{RATCHET}: holds one number"))?;
    compare(found, held, report);
    Ok(())
}

fn compare(found: usize, held: usize, report: &mut Report) {
    if found > held {
        report.error(format!("{found} functions over {LINES_MAX} lines; {RATCHET} allows {held}"));
    } else if found < held {
        report.warning(format!("only {found} long functions are left: write {found} to {RATCHET}"));
    }
}

/// Line (from 1), name and length of each function over the limit.
fn long_functions(source: &str) -> Vec<(usize, String, usize)> {
    let code = code_of(source);
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let length = function_length(&lines[at..]);
        if length > LINES_MAX {
            found.push((at + 1, name.to_owned(), length));
        }
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let qualifier = |word: &str| {
        matches!(word, "const" | "async" | "unsafe" | "extern")
            || word.starts_with("pub")
            || matches!(word, "crate)" | "super)")
    };
    if !before.split_whitespace().all(qualifier) {
        return None;
    }
    // In a macro the name is a variable, and the body is not one function.
    after.split(['(', '<']).next().filter(|name| !name.starts_with('$'))
}

/// Lines from the signature to the closing brace; 0 for a declaration without a body.
fn function_length(lines: &[&str]) -> usize {
    let (mut braces, mut brackets) = (0i32, 0i32);
    for (at, line) in lines.iter().enumerate() {
        for byte in line.bytes() {
            match byte {
                b'(' | b'[' => brackets += 1,
                b')' | b']' => brackets -= 1,
                b'{' => braces += 1,
                b'}' => {
                    braces -= 1;
                    if braces == 0 && brackets == 0 {
                        return at + 1;
                    }
                }
                b';' if braces == 0 && brackets == 0 => return 0,
                _ => {}
            }
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_function_is_found_and_a_long_comment_is_not() {
        let body = "    step();\n".repeat(69);
        let fits = format!("pub(crate) const fn fits(a: [u8; 3]) -> u8 {{\n{}}}\n", &body[12..]);
        assert!(long_functions(&fits).is_empty());
        let long = format!("impl X {{\nfn long<T>(t: T) {{\n{body}}}\n}}\n");
        assert_eq!(long_functions(&long), [(2, "long".to_owned(), 71)]);
        assert!(long_functions(&format!("/*\nfn long() {{\n{body}}}\n*/\n")).is_empty());
        assert!(long_functions("trait T {\n fn none(&self);\n}\n").is_empty());
    }

    #[test]
    fn the_count_may_only_fall() {
        let mut report = Report::default();
        compare(3, 3, &mut report);
        assert!(report.errors.is_empty() && report.warnings.is_empty());
        compare(2, 3, &mut report);
        assert_eq!((report.errors.len(), report.warnings.len()), (0, 1));
        compare(4, 3, &mut report);
        assert_eq!(report.errors.len(), 1);
    }
}
