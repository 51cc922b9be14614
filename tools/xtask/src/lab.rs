//! The lab: builds all programs and hands over to `tools/lab`.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

/// The lab's exit code when QEMU or a package cannot be had.
pub const MISSING: i32 = 3;

/// Builds the workspace's programs and runs the lab with the given words; its exit code is ours.
pub fn run(root: &Path, words: &[&str]) -> ExitCode {
    match command(root, words).map(|mut command| command.status()) {
        Ok(Ok(status)) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Ok(Err(error)) => {
            eprintln!("cannot run the lab: {error}");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The lab's command line for some words, once all that it needs is built.
pub fn command(root: &Path, words: &[&str]) -> Result<Command, String> {
    // All at once: for one package alone cargo would choose other features and build much anew. Tests include the
    // programs that their crates have.
    let tests = words.first() == Some(&"test");
    let build: &[&str] = match words.first() {
        Some(&"test") => &["test", "--workspace", "--no-run"],
        // Nothing runs in a guest: the lab alone is there in a minute.
        Some(&("topologies" | "help")) | None => &["build", "--package", "lab", "--bin", "lab"],
        _ => &["build", "--workspace", "--bins"],
    };
    let programs = built(root, build).ok_or("cargo could not build what runs in guests")?;
    let lab = programs.iter().find(|it| it.0 == "lab" && it.2 == "bin");
    let mut command = Command::new(&lab.ok_or("cargo built no program lab")?.1);
    command.current_dir(root).args(words);
    for (name, path, kind) in &programs {
        if tests && kind == "test" {
            command.arg("--program").arg(format!("{name}={path}"));
        }
    }
    Ok(command)
}

/// Name, path and kind (`bin`, `test`) of a program.
type Program = (String, String, String);

/// Lets cargo build and gives back the programs, `None` if it failed.
fn built(root: &Path, words: &[&str]) -> Option<Vec<Program>> {
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
