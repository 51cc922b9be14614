//! Long results page by page, in the program that the user has for it.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// What shows pages when `PAGER` does not say it: lines are not folded, and what fits the screen stays on it.
const USUAL: &str = "less -SFRX";

/// Shows a text in the pager; the text itself is written where there is none.
pub fn show(text: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let program = std::env::var("PAGER").ok().filter(|it| !it.trim().is_empty());
    let program = program.as_deref().unwrap_or(USUAL);
    let child = Command::new("sh").args(["-c", program]).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return out.write_all(text) };
    if let Some(mut input) = child.stdin.take() {
        // Who leaves the pager early has seen enough.
        let _ = input.write_all(text);
    }
    match child.wait()?.code() {
        // The shell did not find the program.
        Some(126 | 127) => out.write_all(text),
        _ => Ok(()),
    }
}
