//! The program as people run it.

use std::process::Command;

use lab::topology::GuestMachine;

use crate::checks::{Checks, Verdict, same, wrong};

/// Runs the suite.
pub fn run(checks: &mut Checks, _: &GuestMachine) {
    checks.run("binary::demo_answers_all_queries", demo);
    checks.run("binary::errors_end_it_with_a_code", errors);
}

fn demo() -> Verdict {
    let demo = ["demo", "--scale", "0.01", "--data", "tpch-0.01"];
    let output = Command::new("nodewise").args(demo).output().map_err(wrong)?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !text.contains("22 of 22 right") {
        return Err(format!(
            "{}\n{text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(())
}

fn errors() -> Verdict {
    let output = Command::new("nodewise").args(["-c", "SELECT 1 / 0"]).output().map_err(wrong)?;
    same("success", output.status.success(), false)?;
    same("22012 is named", String::from_utf8_lossy(&output.stderr).contains("22012"), true)
}
