//! All tests, summed into one closing line: what cargo runs, what the lab runs in guests, random queries, the model
//! checks under loom, and Miri.
//!
//! The last two need a build of their own (another cfg, another compiler), hence folders of their own under `target`.

use crate::beside::Beside;
use crate::programs::{self, cargo};
use crate::summary::{Summary, end_of_process};
use crate::{lab, page, python};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Crates with model checks; `cargo xtask tidy` compares this list with the sources.
pub const LOOM_CRATES: &[&str] = &["stdx", "scheduler"];

/// The unsafe crates that Miri can run: they call no operating system, and shorten their tests under `cfg(miri)`.
const MIRI_CRATES: &[&str] = &["bitpack", "memory"];

/// The exit code of random queries when there is nobody to compare with.
const NO_PEER: i32 = 3;

/// What property tests draw their cases from. It is fixed unless the caller sets it, so that a change is red for its own
/// sake and red again when repeated; other seeds are tried beside (CONTRIBUTING).
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

/// Runs the suites and prints the closing line; true if all passed.
pub fn run(root: &Path, quick: bool) -> bool {
    let summary = all(root, quick);
    summary.print();
    summary.passed_all()
}

/// Runs the suites.
pub fn all(root: &Path, quick: bool) -> Summary {
    let mut summary = Summary::default();
    // Miri interprets on one core, and takes only what the other suites leave.
    let miri = if quick { None } else { miri(root, &mut summary) };
    let mut workspace = cargo(root);
    workspace.args(["test", "--workspace", "--no-fail-fast"]);
    with_seed(&mut workspace);
    stream("cargo test", workspace, &mut summary);
    if quick {
        summary.skip("python", "--quick was asked for");
        summary.skip("page", "--quick was asked for");
        summary.skip("lab", "--quick was asked for");
        summary.skip("fuzz", "--quick was asked for");
        summary.skip("loom", "--quick was asked for");
        summary.skip("miri", "--quick was asked for");
        return summary;
    }
    of_python(root, &mut summary);
    of_page(root, &mut summary);
    guests(root, &mut summary);
    fuzz(root, &mut summary);
    let mut loom = cargo(root);
    // Optimised: a model check runs its body for each of many thousand schedules.
    loom.args(["test", "--release", "--no-fail-fast", "--lib", "--target-dir", "target/loom"]);
    for name in LOOM_CRATES {
        loom.args(["--package", name]);
    }
    loom.env("RUSTFLAGS", "--cfg loom");
    stream("loom", loom, &mut summary);
    if let Some(miri) = miri {
        miri.end(&mut summary);
    }
    summary
}

/// Runs one suite and prints the closing line; true if nothing failed.
pub fn run_one(root: &Path, suite: fn(&Path, &mut Summary)) -> bool {
    let mut summary = Summary::default();
    suite(root, &mut summary);
    summary.print();
    summary.failed == 0
}

/// The tests of the page; without a browser they are skipped.
pub fn of_page(root: &Path, summary: &mut Summary) {
    match page::is_there() {
        true => stream("page", page::tests(root), summary),
        false => summary.skip("page", page::NO_BROWSER),
    }
}

/// The tests of the Python package; without a Python they are skipped.
pub fn of_python(root: &Path, summary: &mut Summary) {
    if !python::is_there() {
        return summary.skip("python", python::NO_PYTHON);
    }
    match python::tests(root) {
        Ok(command) => stream("python", command, summary),
        Err(message) => summary.fail(format!("python: {message}")),
    }
}

/// The tests in guests; without the emulator they are skipped, which only CI takes for a failure.
fn guests(root: &Path, summary: &mut Summary) {
    let command = match lab::command(root, &["test"]) {
        Ok(command) => command,
        Err(message) => return summary.fail(format!("lab: {message}")),
    };
    if stream_unless("lab", command, Some(lab::MISSING), summary) {
        let why =
            "QEMU or a package that a guest needs cannot be had; its message above says what to do";
        summary.skip("lab", why);
        if std::env::var_os("CI").is_some() {
            summary.fail("lab: it must not be skipped where CI is set".to_owned());
        }
    }
}

/// Random queries of a fixed seed, a minute of each kind at most; without PostgreSQL the one kind that needs it is skipped.
fn fuzz(root: &Path, summary: &mut Summary) {
    let programs = programs::built(root, programs::ALL).unwrap_or_default();
    let Some(program) = programs::named(&programs, "fuzz") else {
        return summary.fail("fuzz: cargo could not build it".to_owned());
    };
    for (kind, queries, seconds) in [
        ("logic", "300", "55"),
        ("differ", "2000", "55"),
        ("limits", "60", "25"),
        ("bytes", "400", "40"),
    ] {
        let name = format!("fuzz {kind}");
        let mut command = Command::new(program);
        command.current_dir(root).args([
            kind,
            "--seeds",
            "1",
            "--queries",
            queries,
            "--seconds",
            seconds,
        ]);
        command.args(["--reductions", "5", "--reduction-seconds", "5"]);
        let before = summary.failed;
        if stream_unless(&name, command, Some(NO_PEER), summary) {
            summary.skip(
                &name,
                "no PostgreSQL can be reached by PGHOST and its like, or psql is missing",
            );
        } else if summary.failed == before {
            summary.passed += 1;
        }
    }
}

/// Fixes what property tests draw from, unless the caller has said it.
fn with_seed(command: &mut Command) {
    if std::env::var_os(PROPERTY_SEED).is_none() {
        command.env(PROPERTY_SEED, "1");
    }
}

/// Starts Miri. It comes with the nightly compiler only, which is fetched where rustup can, and named as skipped where not.
fn miri(root: &Path, summary: &mut Summary) -> Option<Beside> {
    let quiet = |command: &mut Command| {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let present = || quiet(Command::new("cargo").args(["+nightly", "miri", "--version"]));
    if !present() {
        println!("== miri: asking rustup for the nightly compiler with Miri");
        let mut rustup = Command::new("rustup");
        rustup.args([
            "toolchain",
            "install",
            "nightly",
            "--profile",
            "minimal",
            "--no-self-update",
        ]);
        rustup.args(["--component", "miri", "--component", "rust-src"]);
        if !quiet(&mut rustup) || !present() {
            let why = "needs the nightly compiler with its components miri and rust-src, and rustup \
                       could not install them";
            summary.skip("miri", why);
            return None;
        }
    }
    let mut command = Command::new("nice");
    command.current_dir(root).args([
        "-n",
        "19",
        "cargo",
        "+nightly",
        "miri",
        "test",
        "--no-fail-fast",
        "--lib",
        "--tests",
    ]);
    command.args(["--target-dir", "target/miri"]);
    for name in MIRI_CRATES {
        command.args(["--package", name]);
    }
    with_seed(&mut command);
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("CARGO_TERM_COLOR", "never");
    Beside::start(root, "miri", command, summary)
}

/// Runs one suite with its output shown, and reads the results from it.
fn stream(name: &str, command: Command, summary: &mut Summary) {
    stream_unless(name, command, None, summary);
}

/// [`stream`], but an exit code that says that the suite could not run is no failure; true if it was that.
fn stream_unless(
    name: &str,
    mut command: Command,
    missing: Option<i32>,
    summary: &mut Summary,
) -> bool {
    println!("== {name}");
    let begin = Instant::now();
    let before = summary.failed;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            summary.fail(format!("{name}: cannot run it: {error}"));
            return false;
        }
    };
    let output = child.stdout.take().expect("invariant: standard output is a pipe");
    let errors = child.stderr.take().expect("invariant: standard error is a pipe");
    let ends = std::thread::scope(|scope| {
        let ends = scope.spawn(|| ends_of_processes(errors));
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            summary.read_line(&line);
        }
        ends.join().expect("invariant: who reads lines does not panic")
    });
    let status = child.wait();
    summary.took.push((name.to_owned(), begin.elapsed().as_secs()));
    if missing.is_some() && status.as_ref().is_ok_and(|it| it.code() == missing) {
        return true;
    }
    summary.close(name, before, ends, status.is_ok_and(|it| it.success()));
    false
}

/// Shows what a suite says of itself; returns what cargo tells of test programs that a signal or an exit ended.
fn ends_of_processes(errors: impl Read) -> Vec<String> {
    let lines = BufReader::new(errors).lines().map_while(Result::ok);
    let shown = lines.inspect(|it| eprintln!("{it}"));
    shown.filter_map(|it| end_of_process(&it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_that_cannot_start_fails() {
        let mut summary = Summary::default();
        stream("x", Command::new("no-such-program-of-ours"), &mut summary);
        assert_eq!(summary.failed, 1);
        stream("y", Command::new("false"), &mut summary);
        assert_eq!(summary.failed, 2);
        assert!(stream_unless("z", Command::new("false"), Some(1), &mut summary));
        assert!(!stream_unless("z", Command::new("false"), Some(3), &mut summary));
        assert_eq!(summary.failed, 3);
    }

    #[test]
    fn a_test_program_that_a_signal_ends_is_named_beside_failures_of_others() {
        let mut summary = Summary::default();
        let mut command = Command::new("sh");
        let text = "echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'
            echo \"  process didn't exit successfully: 'deps/views' (signal: 6)\" >&2; exit 101";
        command.args(["-c", text]);
        stream("x", command, &mut summary);
        assert_eq!((summary.passed, summary.failed), (1, 2));
        assert_eq!(
            summary.failures,
            ["x: process didn't exit successfully: 'deps/views' (signal: 6)"]
        );
    }
}
