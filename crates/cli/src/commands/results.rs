//! How commands tell what they measured.

use std::path::Path;

use bench::record::{QueryRecord, Verdict};
use stdx::Nanos;

use crate::failure::Failure;

/// A time in milliseconds, for a table.
pub fn millis(time: Option<Nanos>) -> String {
    time.map_or_else(|| "-".to_owned(), |it| format!("{:.2}", it.as_millis_f64()))
}

/// A verdict in a word.
pub fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Unchecked => "unchecked",
        Verdict::Right => "ok",
        Verdict::Wrong(_) => "WRONG",
        Verdict::Failed(_) => "ERROR",
    }
}

/// Tells what is wrong with which answer.
pub fn report_faults(records: &[QueryRecord]) {
    for record in records {
        match &record.verdict {
            Verdict::Wrong(difference) => eprintln!("{}: {difference}", record.name),
            Verdict::Failed(error) => {
                eprintln!("{}: ERROR {}: {}", record.name, error.state.0, error.message);
            }
            Verdict::Right | Verdict::Unchecked => {}
        }
    }
}

/// Writes a file for other programs.
pub fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text)
        .map_err(|error| Failure::Other(format!("cannot write {}: {error}", file.display())))
}
