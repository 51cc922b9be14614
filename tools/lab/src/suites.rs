//! The tests that run in guests: which suites, on which machines.
//!
//! One boot per machine, in which everything for that machine runs. The output is that of test harnesses, so that whoever
//! started the lab can sum it up.

use std::path::{Path, PathBuf};

use crate::LabResult;
use crate::guest::Run;
use crate::image::Contents;
use crate::topology;

/// A machine and what runs on it.
struct Plan {
    topology: &'static str,
    /// Suites of `lab-guest`.
    suites: &'static [&'static str],
    /// Test programs of the workspace, named `crate/file`.
    tests: &'static [&'static str],
}

const PLANS: &[Plan] = &[
    Plan {
        topology: "4-mesh",
        suites: &["topology", "memory"],
        tests: &["hardware-linux/nodes", "hardware-linux/machine"],
    },
    Plan { topology: "4-ring", suites: &["topology", "memory"], tests: &["hardware-linux/nodes"] },
    Plan { topology: "2x2-snc", suites: &["topology", "memory"], tests: &["hardware-linux/nodes"] },
    Plan { topology: "8", suites: &["topology", "memory"], tests: &["hardware-linux/nodes"] },
    Plan { topology: "cpuless", suites: &["topology", "memory"], tests: &["hardware-linux/nodes"] },
    Plan { topology: "1", suites: &["topology", "memory"], tests: &[] },
    Plan { topology: "32", suites: &["topology"], tests: &[] },
];

/// What the suites need from the build.
pub struct Programs {
    /// The program `lab-guest`.
    pub guest: PathBuf,
    /// Test programs by name.
    pub tests: Vec<(String, PathBuf)>,
}

/// Runs the tests on all machines, or on those named; true if all passed.
pub fn run(programs: &Programs, only: &[String]) -> LabResult<bool> {
    // Whatever is missing is missing for all.
    crate::packages::provide(&crate::folder()?)?;
    let mut passed = true;
    for plan in
        PLANS.iter().filter(|it| only.is_empty() || only.iter().any(|name| name == it.topology))
    {
        passed &= run_plan(plan, programs);
    }
    Ok(passed)
}

fn run_plan(plan: &Plan, programs: &Programs) -> bool {
    println!("== lab: {}", plan.topology);
    let failed = |why: &str| {
        println!("lab::{}: {why}", plan.topology);
        println!("test lab::{} ... FAILED", plan.topology);
        println!("test result: FAILED. 0 passed; 1 failed; 0 ignored");
        false
    };
    let Some(machine) = topology::by_name(plan.topology) else {
        return failed("there is no such machine");
    };
    let mut contents = Contents::default();
    contents.programs.push(("lab-guest".to_owned(), programs.guest.clone()));
    let mut script = format!("lab-guest {} {}; code=$?", plan.topology, plan.suites.join(" "));
    for wanted in plan.tests {
        let Some((_, path)) = programs.tests.iter().find(|it| it.0 == *wanted) else {
            return failed(&format!("cargo built no tests {wanted}"));
        };
        let name = wanted.replace('/', "-");
        script.push_str(&format!("; {name} --test-threads=1 || code=1"));
        contents.programs.push((name, path.clone()));
    }
    script.push_str("; exit $code");
    contents.command = vec!["sh".into(), "-c".into(), script];
    let mut run = Run::new(machine, contents);
    run.show = true;
    match run.start() {
        Ok(outcome) => outcome.code == 0,
        Err(error) => failed(&error.to_string()),
    }
}

/// Reads `NAME=PATH`.
pub fn named_path(word: &str) -> Option<(String, PathBuf)> {
    let (name, path) = word.split_once('=')?;
    Some((name.to_owned(), Path::new(path).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_is_tested_once() {
        for (name, _) in topology::list() {
            assert_eq!(PLANS.iter().filter(|it| it.topology == name).count(), 1, "{name}");
        }
        assert_eq!(named_path("a/b=/c=d"), Some(("a/b".to_owned(), PathBuf::from("/c=d"))));
        assert_eq!(named_path("a"), None);
    }
}
