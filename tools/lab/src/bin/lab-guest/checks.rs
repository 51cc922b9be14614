//! Named checks, reported as a test harness does.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A check that takes as long says so.
const SLOW: Duration = Duration::from_secs(5);

/// What a check says: nothing, or what is wrong.
pub type Verdict = Result<(), String>;

/// The checks of one guest.
pub struct Checks {
    guest: String,
    passed: usize,
    failed: usize,
}

impl Checks {
    /// No checks yet; the guest's name goes before theirs.
    pub fn new(guest: &str) -> Self {
        Self { guest: guest.to_owned(), passed: 0, failed: 0 }
    }

    /// Runs a check and reports it; a panic is a failure with its message.
    pub fn run(&mut self, name: &str, check: impl FnOnce() -> Verdict) {
        let start = Instant::now();
        let verdict = catch_unwind(AssertUnwindSafe(check));
        if start.elapsed() >= SLOW {
            println!("lab::{}::{name} took {:.0} s", self.guest, start.elapsed().as_secs_f64());
        }
        let verdict = verdict.unwrap_or_else(|_| Err("it panicked, see above".to_owned()));
        match verdict {
            Ok(()) => {
                self.passed += 1;
                println!("test lab::{}::{name} ... ok", self.guest);
            }
            Err(message) => {
                self.failed += 1;
                println!("lab::{}::{name}: {message}", self.guest);
                println!("test lab::{}::{name} ... FAILED", self.guest);
            }
        }
    }

    /// Prints the sums; true if something ran and nothing failed.
    pub fn finish(self) -> bool {
        let passed = self.failed == 0 && self.passed > 0;
        println!(
            "test result: {}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out",
            if passed { "ok" } else { "FAILED" },
            self.passed,
            self.failed
        );
        passed
    }
}

/// An error unless both are equal.
pub fn same<T: PartialEq + std::fmt::Debug>(what: impl Display, found: T, wanted: T) -> Verdict {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{what}: found {found:?}, wanted {wanted:?}")),
    }
}

/// Any error as what is wrong.
pub fn wrong(error: impl Display) -> String {
    error.to_string()
}
