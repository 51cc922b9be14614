//! The tests that run in guests: which suites, on which machines.
//!
//! One boot per machine, in which everything for that machine runs. The output is that of test harnesses, so that whoever
//! started the lab can sum it up.

use std::path::{Path, PathBuf};

use crate::LabResult;
use crate::guest::{self, Run};
use crate::image::Contents;
use crate::{data, experiment, topology};

/// A machine and what runs on it.
struct Plan {
    topology: &'static str,
    /// Suites of `lab-guest`.
    suites: &'static [&'static str],
    /// Test programs of the workspace, named `crate/file`.
    tests: &'static [&'static str],
}

/// What runs on each machine with several nodes that have CPUs.
const ALL: &[&str] = &["topology", "memory", "placement", "scheduling", "tpch"];

const PLANS: &[Plan] = &[
    Plan {
        topology: "4-mesh",
        suites: &["topology", "memory", "placement", "placer", "scheduling", "tpch", "binary"],
        tests: &["hardware-linux/nodes", "hardware-linux/machine"],
    },
    Plan { topology: "4-ring", suites: ALL, tests: &["hardware-linux/nodes"] },
    Plan { topology: "2x2-snc", suites: ALL, tests: &["hardware-linux/nodes"] },
    Plan { topology: "8", suites: ALL, tests: &["hardware-linux/nodes"] },
    Plan { topology: "cpuless", suites: &["topology", "memory"], tests: &["hardware-linux/nodes"] },
    Plan { topology: "1", suites: &["topology", "memory"], tests: &[] },
    Plan { topology: "32", suites: &["topology"], tests: &[] },
];

/// The experiment's name among the tests.
const EXPERIMENT: &str = "q6";

/// What the suites need from the build.
pub struct Programs {
    /// The program `lab-guest`.
    pub guest: PathBuf,
    /// The program `nodewise`.
    pub nodewise: PathBuf,
    /// Test programs by name.
    pub tests: Vec<(String, PathBuf)>,
}

/// Runs the tests on all machines, or on those named; true if all passed.
pub fn run(programs: &Programs, only: &[String]) -> LabResult<bool> {
    // Whatever is missing is missing for all.
    let folder = crate::folder()?;
    crate::packages::provide(&folder)?;
    let data = [data::made(&folder, &programs.nodewise, ("tpch", "0.01"))?, scripts()];
    let mut passed = true;
    for plan in
        PLANS.iter().filter(|it| only.is_empty() || only.iter().any(|name| name == it.topology))
    {
        passed &= run_plan(plan, programs, &data);
    }
    if only.is_empty() || only.iter().any(|name| name == EXPERIMENT) {
        passed &= run_experiment(programs);
    }
    Ok(passed)
}

/// The experiment's bars as tests.
fn run_experiment(programs: &Programs) -> bool {
    println!("== lab: {EXPERIMENT}");
    let verdicts = match experiment::q6::run(programs.nodewise.clone()) {
        Ok(counted) => {
            print!("{}", experiment::q6::table(&counted));
            experiment::q6::judge(&counted)
        }
        Err(error) => vec![("it runs", Err(error))],
    };
    let (mut passed, mut failed) = (0, 0);
    for (way, verdict) in verdicts {
        let name = way.replace(", ", "_").replace(' ', "_");
        match verdict {
            Ok(()) => {
                passed += 1;
                println!("test lab::q6::{name} ... ok");
            }
            Err(error) => {
                failed += 1;
                println!("lab::q6::{name}: {error}\ntest lab::q6::{name} ... FAILED");
            }
        }
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {failed} failed; 0 ignored");
    failed == 0
}

/// The scripts that place things.
fn scripts() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("invariant: the lab lies in tools/lab").join("tests/lab")
}

fn run_plan(plan: &Plan, programs: &Programs, data: &[PathBuf]) -> bool {
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
    let mut contents = Contents { copies: data.to_vec(), ..Contents::default() };
    contents.programs.push(("lab-guest".to_owned(), programs.guest.clone()));
    if plan.suites.contains(&"binary") {
        contents.programs.push(("nodewise".to_owned(), programs.nodewise.clone()));
    }
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
    (run.show, run.limit) = (true, guest::TESTS_LIMIT);
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
