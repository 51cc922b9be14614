//! The lab: builds all programs and hands over to `tools/lab`.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

/// Builds the workspace's programs and runs the lab with the given words; its exit code is ours.
pub fn run(root: &Path, words: &[&str]) -> ExitCode {
    // All at once: for one package alone cargo would choose other features and build much anew.
    let Some(programs) = built(root, &["build", "--workspace", "--bins"]) else {
        return ExitCode::FAILURE;
    };
    let Some((_, lab)) = programs.iter().find(|(name, _)| name == "lab") else {
        eprintln!("cargo built no program lab");
        return ExitCode::FAILURE;
    };
    match Command::new(lab).args(words).status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("cannot run {lab}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Lets cargo build and gives back names and paths of the programs, `None` if it failed.
fn built(root: &Path, words: &[&str]) -> Option<Vec<(String, String)>> {
    let mut command = Command::new("cargo");
    command.current_dir(root).args(words).arg("--message-format=json-render-diagnostics");
    let output = command.stderr(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| programs(&text))
}

/// The programs among the messages of cargo.
fn programs(messages: &str) -> Vec<(String, String)> {
    let program = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message["executable"].as_str()?;
        Some((message["target"]["name"].as_str()?.to_owned(), path.to_owned()))
    };
    messages.lines().filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_from_the_messages_of_cargo() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"a"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"lab"},"executable":"/t/debug/lab"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(programs(messages), [("lab".to_owned(), "/t/debug/lab".to_owned())]);
    }
}
