//! Rules for the text of sources: size, unsafe code, the doors to locks and clocks, what must not be committed.

use super::exceptions::Exceptions;
use super::report::{File, Report};
use super::text::{code_of, first_test_line, has_word, is_test_file};

const LINES_WARN: usize = 500;
const LINES_MAX: usize = 800;

/// Crates that may hold unsafe code in any module; others list their modules as exceptions.
const UNSAFE_CRATES: &[&str] = &["hardware-linux", "memory", "bitpack"];
const UNSAFE_BY_MODULE: &[&str] = &["execution", "python"];

/// How far above an unsafe block its reason may stand.
const SAFETY_LINES: usize = 12;

/// What `std::sync` offers besides `Arc`, `Weak` and the write-once cells, which no model check needs to replace.
const LOCKS: &[&str] = &["Mutex", "RwLock", "Condvar", "Barrier", "atomic", "mpsc", "Once"];

/// Checks every file.
pub fn check_all(files: &[File], exceptions: &mut Exceptions, report: &mut Report) {
    for file in files {
        check_words(file, report);
        if file.path.ends_with(".rs") {
            check_size(file, exceptions, report);
            check_ascii(file, report);
            let code = code_of(&file.text);
            check_macros(file, &code, report);
            check_unsafe(file, &code, exceptions, report);
            check_doors(file, &code, exceptions, report);
        }
    }
}

/// The crate a path belongs to, for files below `crates/`.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// No registry hosts and no paths of one machine; the lock file names the registry, as it must.
fn check_words(file: &File, report: &mut Report) {
    let banned = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/tmp/", "peers"),
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("py", "pi.org"),
        concat!("arti", "factory"),
    ];
    if file.path == "Cargo.lock" {
        let good = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
        for line in file.text.lines().filter(|line| line.starts_with("source = ") && *line != good)
        {
            report.error(format!("Cargo.lock: a source other than the public registry: {line}"));
        }
        return;
    }
    for (number, line) in file.text.lines().enumerate() {
        for word in banned.iter().filter(|word| line.contains(**word)) {
            report.error(format!("{}:{}: names `{word}`", file.path, number + 1));
        }
    }
}

fn check_size(file: &File, exceptions: &mut Exceptions, report: &mut Report) {
    let lines = file.text.lines().count();
    if lines > LINES_MAX && !exceptions.allow("size", &file.path) {
        report.error(format!("{}: {lines} lines, over {LINES_MAX}", file.path));
    } else if lines > LINES_WARN {
        report.warning(format!("{}: {lines} lines, over {LINES_WARN}", file.path));
    }
}

fn check_ascii(file: &File, report: &mut Report) {
    for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.is_ascii()) {
        let odd = line.chars().find(|letter| !letter.is_ascii()).unwrap_or(' ');
        report.error(format!(
            "{}:{}: `{}` is not ASCII",
            file.path,
            number + 1,
            odd.escape_unicode()
        ));
    }
}

fn check_macros(file: &File, code: &str, report: &mut Report) {
    for (number, line) in code.lines().enumerate() {
        for name in ["todo", "unimplemented", "dbg"] {
            if has_word(line, name) && line.contains(&format!("{name}!")) {
                report.error(format!("{}:{}: `{name}!` is left over", file.path, number + 1));
            }
        }
    }
}

fn check_unsafe(file: &File, code: &str, exceptions: &mut Exceptions, report: &mut Report) {
    let path = &file.path;
    let owner = crate_of(path);
    let free = owner.is_some_and(|name| UNSAFE_CRATES.contains(&name));
    let by_module = owner.is_some_and(|name| UNSAFE_BY_MODULE.contains(&name));
    let root = path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs");
    if root && !free && !by_module && !code.contains("#![forbid(unsafe_code)]") {
        report.error(format!("{path}: lacks #![forbid(unsafe_code)]"));
    }
    if root && by_module && !code.contains("#![deny(unsafe_code)]") {
        report.error(format!("{path}: lacks #![deny(unsafe_code)]"));
    }
    let lines: Vec<&str> = code.lines().collect();
    let raw: Vec<&str> = file.text.lines().collect();
    let uses: Vec<usize> = (0..lines.len()).filter(|&at| has_word(lines[at], "unsafe")).collect();
    if !uses.is_empty() && !free && !exceptions.allow("unsafe", path) {
        report.error(format!("{path}:{}: unsafe code has no place here", uses[0] + 1));
    }
    for at in uses {
        let tail = lines[at].rsplit("unsafe").next().unwrap_or_default().trim_start();
        if !(tail.starts_with('{') || tail.starts_with("impl")) {
            continue;
        }
        let from = at.saturating_sub(SAFETY_LINES);
        if !raw[from..=at].iter().any(|line| line.contains("SAFETY:")) {
            report.error(format!("{path}:{}: unsafe without a SAFETY comment", at + 1));
        }
    }
}

/// Locks, atomics and threads come through `stdx::sync`, time through the Machine.
fn check_doors(file: &File, code: &str, exceptions: &mut Exceptions, report: &mut Report) {
    let path = &file.path;
    let door = path == "crates/stdx/src/sync.rs" || crate_of(path) == Some("hardware-linux");
    if door || crate_of(path).is_none() || is_test_file(path) {
        return;
    }
    let tests = first_test_line(code);
    for (number, line) in code.lines().take(tests).enumerate() {
        let at = number + 1;
        if names_lock(line) && !exceptions.allow("sync", path) {
            report
                .error(format!("{path}:{at}: locks, atomics and threads come through stdx::sync"));
        }
        if names_clock(line) && !exceptions.allow("clock", path) {
            report.error(format!("{path}:{at}: time comes from the Machine"));
        }
    }
}

fn names_lock(line: &str) -> bool {
    let after = ["std::sync::", "core::sync::"].iter().find_map(|door| line.split_once(door));
    let lock = after.is_some_and(|(_, rest)| LOCKS.iter().any(|name| has_word(rest, name)));
    let thread = ["std::thread::spawn", "std::thread::scope", "std::thread::Builder"];
    lock || line.contains("use std::thread") || thread.iter().any(|name| line.contains(name))
}

fn names_clock(line: &str) -> bool {
    let imported = line.split_once("std::time::");
    imported.is_some_and(|(_, rest)| has_word(rest, "Instant") || has_word(rest, "SystemTime"))
        || line.contains("Instant::now")
        || line.contains("SystemTime::now")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_of(path: &str, text: &str, listed: &str) -> Report {
        let mut report = Report::default();
        let mut exceptions = Exceptions::parse(listed, &mut report);
        let file = File { path: path.to_owned(), text: text.to_owned() };
        check_all(&[file], &mut exceptions, &mut report);
        report
    }

    fn errors(path: &str, text: &str) -> usize {
        report_of(path, text, "").errors.len()
    }

    #[test]
    fn long_files_warn_then_fail_unless_listed() {
        let path = "crates/types/src/a.rs";
        assert_eq!(report_of(path, &"//\n".repeat(500), "").warnings.len(), 0);
        assert_eq!(report_of(path, &"//\n".repeat(501), "").warnings.len(), 1);
        assert_eq!(errors(path, &"//\n".repeat(801)), 1);
        let listed = report_of(path, &"//\n".repeat(801), "size crates/types/src/a.rs a table\n");
        assert_eq!(listed.errors.len(), 0);
    }

    #[test]
    fn unsafe_code_stays_in_its_crates_and_says_why() {
        let good = "// SAFETY: alone.\nunsafe { x() }\n";
        assert_eq!(errors("crates/memory/src/a.rs", good), 0);
        assert_eq!(errors("crates/memory/src/a.rs", "unsafe { x() }\n"), 1);
        assert_eq!(errors("crates/memory/src/a.rs", "unsafe impl Send for X {}\n"), 1);
        assert_eq!(errors("crates/memory/src/a.rs", "unsafe fn x() {}\n"), 0);
        assert_eq!(errors("crates/types/src/a.rs", good), 1);
        assert_eq!(errors("crates/execution/src/a.rs", good), 1);
        let listed = "unsafe crates/execution/src/a.rs kernel\n";
        assert_eq!(report_of("crates/execution/src/a.rs", good, listed).errors.len(), 0);
        assert_eq!(errors("crates/types/src/a.rs", "// unsafe { x() }\n"), 0);
    }

    #[test]
    fn crate_roots_forbid_unsafe_code() {
        assert_eq!(errors("crates/types/src/lib.rs", "//! Head.\n"), 1);
        assert_eq!(errors("crates/types/src/lib.rs", "#![forbid(unsafe_code)]\n"), 0);
        assert_eq!(errors("crates/execution/src/lib.rs", "\n"), 1);
        assert_eq!(errors("crates/execution/src/lib.rs", "#![deny(unsafe_code)]\n"), 0);
        assert_eq!(errors("crates/memory/src/lib.rs", "\n"), 0);
        assert_eq!(errors("tools/xtask/src/main.rs", "fn main() {}\n"), 1);
    }

    #[test]
    fn locks_and_clocks_have_one_door() {
        let path = "crates/scheduler/src/a.rs";
        for bad in [
            "use std::sync::Mutex;\n",
            "use std::sync::{Arc, atomic::AtomicU64};\n",
            "use core::sync::atomic::Ordering;\n",
            "std::thread::spawn(|| ());\n",
            "use std::time::{Duration, Instant};\n",
            "let t = std::time::SystemTime::now();\n",
        ] {
            assert_eq!(errors(path, bad), 1, "{bad}");
            assert_eq!(errors("crates/hardware-linux/src/a.rs", bad), 0);
            assert_eq!(errors("crates/scheduler/tests/a.rs", bad), 0);
            assert_eq!(errors(path, &format!("#[cfg(test)]\nmod tests {{\n{bad}}}\n")), 0);
        }
        assert_eq!(errors(path, "use std::sync::{Arc, OnceLock};\nuse std::time::Duration;\n"), 0);
    }

    #[test]
    fn leftovers_and_other_alphabets_are_found() {
        let path = "crates/types/src/a.rs";
        assert_eq!(errors(path, "fn a() { todo!() }\n"), 1);
        assert_eq!(errors(path, "fn a() { unimplemented!(\"x\") }\n"), 1);
        assert_eq!(errors(path, "fn a() { dbg!(1); }\n"), 1);
        assert_eq!(errors(path, "// no todo!() here\n"), 0);
        assert_eq!(errors(path, "// caf\u{e9}\n"), 1);
    }

    #[test]
    fn machines_and_registries_are_not_named() {
        assert_eq!(errors("a.md", concat!("see /ro", "ot/x\n")), 1);
        assert_eq!(errors("a.md", concat!("see /home/wo", "rk/x\n")), 1);
        assert_eq!(errors("a.md", concat!("https://py", "pi.org\n")), 1);
        assert_eq!(errors("Cargo.lock", "source = \"registry+https://mirror.example\"\n"), 1);
        assert_eq!(errors("a.md", "see the network\n"), 0);
    }
}
