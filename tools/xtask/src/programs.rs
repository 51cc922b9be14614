//! Programs that cargo builds: where they lie.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Cargo in a folder, without colours.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root).env("CARGO_TERM_COLOR", "never");
    command
}

/// Words with which cargo builds every library and program with the features that they have in the tests. For one package
/// alone, or without the tests and what they depend on, it would choose other features of outside crates and build nearly
/// everything again.
pub const ALL: &[&str] = &["build", "--workspace", "--lib", "--bins", "--tests"];

/// Name, path and kind (`bin`, `test`) of a program.
pub type Program = (String, String, String);

/// Lets cargo build with some words and gives back the programs, `None` if it failed.
pub fn built(root: &Path, words: &[&str]) -> Option<Vec<Program>> {
    let mut command = Command::new("cargo");
    command.current_dir(root).args(words).arg("--message-format=json-render-diagnostics");
    let output = command.stderr(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| programs(&text))
}

/// The programs among the messages of cargo: binaries by their name, integration tests as `crate/file`.
fn programs(messages: &str) -> Vec<Program> {
    let program = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message["executable"].as_str()?.to_owned();
        let name = message["target"]["name"].as_str()?;
        let kind = message["target"]["kind"][0].as_str()?;
        let unit = kind != "test" && message["profile"]["test"] == true;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.file_name()?;
        match (kind, unit) {
            ("test", _) => Some((format!("{}/{name}", folder.to_str()?), path, "test".to_owned())),
            (_, false) => Some((name.to_owned(), path, kind.to_owned())),
            _ => None,
        }
    };
    messages.lines().filter_map(program).collect()
}

/// The path of a binary by its name.
pub fn named<'a>(programs: &'a [Program], name: &str) -> Option<&'a str> {
    programs.iter().find(|it| it.0 == name && it.2 == "bin").map(|it| it.1.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_from_the_messages_of_cargo() {
        let message = |kind: &str, name: &str, executable: &str, test: bool| {
            let target = serde_json::json!({"name": name, "kind": [kind]});
            serde_json::json!({"reason": "compiler-artifact", "target": target, "profile": {"test": test},
                "manifest_path": "/w/crates/a/Cargo.toml", "executable": executable})
            .to_string()
        };
        let messages = [
            message("bin", "lab", "/t/lab", false),
            message("bin", "lab", "/t/deps/lab-1", true),
            message("lib", "a", "/t/deps/a-1", true),
            message("test", "nodes", "/t/deps/nodes-1", true),
            r#"{"reason":"compiler-artifact","target":{"name":"a"},"executable":null}"#.to_owned(),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];
        let three = |name: &str, path: &str, kind: &str| {
            (name.to_owned(), path.to_owned(), kind.to_owned())
        };
        assert_eq!(
            programs(&messages.join("\n")),
            [three("lab", "/t/lab", "bin"), three("a/nodes", "/t/deps/nodes-1", "test"),]
        );
    }
}
