//! What the suites told of themselves, summed into one closing line.

/// How a test says why it is ignored, if another suite runs it: `cargo xtask NAME` runs it.
const RUNS_ELSEWHERE: &str = "` runs it";

/// What ran and what did not.
#[derive(Default)]
pub struct Summary {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed, and suites that broke.
    pub failed: usize,
    /// Tests and suites that did not run, with the reason.
    pub skipped: Vec<String>,
    /// Names of failed tests, and suites that broke without a result.
    pub failures: Vec<String>,
    /// Each suite with the seconds that it took, its build among them.
    pub took: Vec<(String, u64)>,
}

impl Summary {
    /// True if something ran and nothing failed.
    pub fn passed_all(&self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    /// Lists what failed and what was skipped, and closes with one line.
    pub fn print(&self) {
        for name in &self.failures {
            println!("failed: {name}");
        }
        for reason in &self.skipped {
            println!("skipped: {reason}");
        }
        let took: Vec<String> =
            self.took.iter().map(|(name, it)| format!("{name} {it} s")).collect();
        println!("took: {}", took.join(", "));
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped.len());
    }

    /// Counts one failure, with what is to be said of it.
    pub fn fail(&mut self, what: String) {
        self.failed += 1;
        self.failures.push(what);
    }

    /// Counts how a suite ended, beside the results that it told; `before` is the number of failures when it began.
    pub fn close(&mut self, name: &str, before: usize, ends: Vec<String>, succeeded: bool) {
        // A test that ends its process leaves no result line, and those that were still to run there ran not.
        for end in ends {
            self.fail(format!("{name}: {end}"));
        }
        if !succeeded && self.failed == before {
            // It did not build: no result line says so.
            self.fail(format!("{name}: ended with an error and without a result"));
        }
    }

    /// Names what did not run, with the reason.
    pub fn skip(&mut self, what: &str, why: &str) {
        self.skipped.push(format!("{what}: {why}"));
    }

    /// Reads one line that the test harness or the documentation tests print.
    pub fn read_line(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            for part in counts.split(['.', ';']) {
                let mut words = part.split_whitespace();
                if let (Some(number), Some(word)) = (words.next(), words.next()) {
                    match (number.parse::<usize>(), word) {
                        (Ok(number), "passed") => self.passed += number,
                        (Ok(number), "failed") => self.failed += number,
                        _ => {}
                    }
                }
            }
        } else if let Some(test) = line.strip_prefix("test ") {
            if let Some((name, reason)) = test.split_once(" ... ignored") {
                let reason = reason.trim_start_matches(',').trim();
                // Another suite runs it, and counts it.
                if reason.ends_with(RUNS_ELSEWHERE) {
                    return;
                }
                self.skip(
                    name,
                    if reason.is_empty() { "ignored, no reason given" } else { reason },
                );
            } else if let Some(name) = test.strip_suffix(" ... FAILED") {
                self.failures.push(name.to_owned());
            }
        }
    }
}

/// What a line of cargo's tells of a test program that a signal or an exit ended.
pub fn end_of_process(line: &str) -> Option<String> {
    line.starts_with("  process didn't exit successfully").then(|| line.trim_start().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Summary {
        let mut summary = Summary::default();
        lines.iter().for_each(|line| summary.read_line(line));
        summary
    }

    #[test]
    fn results_are_summed_over_all_binaries() {
        let summary = read(&[
            "test a ... ok",
            "test b ... FAILED",
            "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished",
            "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0s",
        ]);
        assert_eq!((summary.passed, summary.failed), (7, 1));
        assert_eq!(summary.failures, ["b"]);
        assert!(!summary.passed_all());
    }

    #[test]
    fn an_ignored_test_is_named_with_its_reason() {
        let summary = read(&["test slow ... ignored, needs two nodes", "test bare ... ignored"]);
        assert_eq!(summary.skipped[0], "slow: needs two nodes");
        assert_eq!(summary.skipped[1], "bare: ignored, no reason given");
        let summary = read(&["test view ... ignored, needs a browser: `cargo xtask page` runs it"]);
        assert_eq!(summary.skipped, Vec::<String>::new());
    }

    #[test]
    fn nothing_ran_is_not_a_pass() {
        assert!(!Summary::default().passed_all());
    }
}
