//! What a change must pass. All steps run, so that one red run tells everything; the tests come last and close it.

use crate::summary::Summary;
use crate::{suites, tidy};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Runs every step and prints the list of them with their times; true if all passed.
pub fn run(root: &Path) -> bool {
    let mut steps: Vec<(&str, bool, f64)> = Vec::new();
    let mut step = |name: &'static str, body: &mut dyn FnMut() -> bool| {
        println!("== {name}");
        let begin = Instant::now();
        let passed = body();
        steps.push((name, passed, begin.elapsed().as_secs_f64()));
    };
    step("format", &mut || cargo(root, &["fmt", "--all", "--check"], &[]));
    step("tidy", &mut || tidy::run(root));
    step("lints", &mut || {
        cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])
    });
    step("documentation", &mut || {
        cargo(root, &["doc", "--no-deps", "--workspace"], &[("RUSTDOCFLAGS", "-D warnings")])
    });
    let mut summary = Summary::default();
    step("tests", &mut || {
        summary = suites::all(root, false);
        summary.passed_all()
    });
    println!("== steps");
    for (name, passed, seconds) in &steps {
        println!("{:6} {name} ({seconds:.0} s)", if *passed { "ok" } else { "FAILED" });
    }
    let passed = steps.iter().all(|(_, passed, _)| *passed);
    summary.print();
    passed
}

/// Runs cargo with its output shown; true if it succeeded.
fn cargo(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> bool {
    let mut command = Command::new("cargo");
    command.current_dir(root).args(arguments).envs(environment.iter().copied());
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot run cargo: {error}");
            false
        }
    }
}
