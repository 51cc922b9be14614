//! A suite that runs beside the others: what it says goes to a file and is shown when the others have ended.
//!
//! Key decision: a file instead of a thread that reads pipes, so that lines of two suites never stand among one another.

use crate::summary::{Summary, end_of_process};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

/// A suite that has begun.
pub struct Beside {
    name: &'static str,
    child: Child,
    log: PathBuf,
    begin: SystemTime,
}

impl Beside {
    /// Starts a suite with its output going to `target/NAME.log`; `None` if it cannot run, which counts as a failure.
    pub fn start(
        root: &Path,
        name: &'static str,
        mut command: Command,
        summary: &mut Summary,
    ) -> Option<Beside> {
        println!("== {name}: it runs beside the other suites and is shown behind them");
        let log = root.join("target").join(format!("{name}.log"));
        let begin = SystemTime::now();
        let child = File::create(&log).and_then(|file| {
            let errors = file.try_clone()?;
            command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn()
        });
        match child {
            Ok(child) => Some(Beside { name, child, log, begin }),
            Err(error) => {
                summary.fail(format!("{name}: cannot run it: {error}"));
                None
            }
        }
    }

    /// Waits for the suite's end, shows what it said and counts its results.
    pub fn end(mut self, summary: &mut Summary) {
        let status = self.child.wait();
        println!("== {}", self.name);
        let before = summary.failed;
        let said = std::fs::read(&self.log);
        let said = String::from_utf8_lossy(said.as_deref().unwrap_or_default()).into_owned();
        let mut ends = Vec::new();
        for line in said.lines() {
            println!("{line}");
            summary.read_line(line);
            ends.extend(end_of_process(line));
        }
        // When it wrote last, which may be long before the others ended.
        let last = std::fs::metadata(&self.log).and_then(|it| it.modified());
        let took = last.ok().and_then(|it| it.duration_since(self.begin).ok());
        summary.took.push((self.name.to_owned(), took.unwrap_or_default().as_secs()));
        summary.close(self.name, before, ends, status.is_ok_and(|it| it.success()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, name: &'static str) -> Summary {
        let folder = std::env::temp_dir().join(format!("beside-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("target")).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut summary = Summary::default();
        let beside = Beside::start(&folder, name, command, &mut summary).unwrap();
        beside.end(&mut summary);
        std::fs::remove_dir_all(&folder).unwrap();
        summary
    }

    #[test]
    fn results_of_both_streams_are_counted() {
        let summary = run("echo 'test result: ok. 3 passed; 0 failed; 1 ignored'; echo x >&2", "a");
        assert_eq!((summary.passed, summary.failed), (3, 0));
    }

    #[test]
    fn an_end_without_a_result_is_a_failure() {
        assert_eq!(run("exit 1", "b").failed, 1);
        let text = "echo \"  process didn't exit successfully: 'x' (signal: 6)\" >&2; exit 101";
        let summary = run(text, "c");
        assert_eq!(summary.failures, ["c: process didn't exit successfully: 'x' (signal: 6)"]);
    }
}
