//! The layers: every crate states its level, and an edge may only point to a lower one.

use super::report::Report;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// One crate of the workspace.
pub struct Crate {
    /// Its name.
    pub name: String,
    /// `[package.metadata.nodewise] level`, if it states one.
    pub level: Option<u64>,
    /// What it depends on, and whether only for tests.
    pub dependencies: Vec<(String, bool)>,
}

/// Nothing depends on the tools.
const TOOLS_LEVEL: u64 = 8;
/// The one crate that any crate may test on, whatever its level: it is the second Machine.
const TEST_MACHINE: &str = "simulator";
/// Outside crates (by the start of their names) that only one of ours may know.
const SOLE_USERS: &[(&str, &str)] = &[("libc", "hardware-linux"), ("sqlparser", "binder")];

/// Asks cargo for the crates of the workspace.
pub fn read(root: &Path) -> Result<Vec<Crate>, String> {
    let output = Command::new("cargo")
        .current_dir(root)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let value: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    Ok(parse(&value))
}

fn parse(metadata: &Value) -> Vec<Crate> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    packages
        .map(|package| Crate {
            name: text(&package["name"]),
            level: package["metadata"]["nodewise"]["level"].as_u64(),
            dependencies: package["dependencies"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|edge| (text(&edge["name"]), edge["kind"] == "dev"))
                .collect(),
        })
        .collect()
}

/// Checks the levels and the crates that only one of ours may know.
pub fn check(crates: &[Crate], report: &mut Report) {
    let levels: BTreeMap<&str, Option<u64>> =
        crates.iter().map(|krate| (krate.name.as_str(), krate.level)).collect();
    for krate in crates {
        let name = &krate.name;
        let Some(level) = krate.level else {
            report
                .error(format!("{name}: its manifest states no [package.metadata.nodewise] level"));
            continue;
        };
        for (other, dev) in &krate.dependencies {
            for (prefix, user) in SOLE_USERS {
                let known = other == prefix || other.starts_with(&format!("{prefix}-"));
                if known && name != user {
                    report.error(format!("{name}: only {user} may depend on {other}"));
                }
            }
            let Some(Some(below)) = levels.get(other.as_str()) else { continue };
            if *below == TOOLS_LEVEL {
                report.error(format!("{name}: nothing depends on the tools, so not on {other}"));
            } else if *below >= level && !(*dev && other == TEST_MACHINE) {
                report.error(format!(
                    "{name} (level {level}) depends on {other} (level {below}): an edge points down"
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn krate(name: &str, level: u64, dependencies: &[(&str, bool)]) -> Crate {
        let dependencies = dependencies.iter().map(|&(name, dev)| (name.to_owned(), dev)).collect();
        Crate { name: name.to_owned(), level: Some(level), dependencies }
    }

    fn errors(crates: &[Crate]) -> Vec<String> {
        let mut report = Report::default();
        check(crates, &mut report);
        report.errors
    }

    #[test]
    fn edges_down_are_fine() {
        let crates = [krate("a", 0, &[]), krate("b", 1, &[("a", false), ("serde", false)])];
        assert!(errors(&crates).is_empty());
    }

    #[test]
    fn edges_up_and_sideways_are_not() {
        let up = [krate("a", 0, &[("b", false)]), krate("b", 1, &[])];
        assert_eq!(errors(&up).len(), 1);
        let sideways = [krate("a", 1, &[("b", true)]), krate("b", 1, &[])];
        assert_eq!(errors(&sideways).len(), 1);
    }

    #[test]
    fn any_crate_may_test_on_the_simulator_but_not_build_on_it() {
        let machine = || krate("simulator", 2, &[]);
        assert!(errors(&[krate("a", 2, &[("simulator", true)]), machine()]).is_empty());
        assert_eq!(errors(&[krate("a", 2, &[("simulator", false)]), machine()]).len(), 1);
    }

    #[test]
    fn nothing_depends_on_tools() {
        let crates = [krate("xtask", 8, &[]), krate("a", 9, &[("xtask", false)])];
        assert_eq!(errors(&crates).len(), 1);
    }

    #[test]
    fn some_outside_crates_have_one_user() {
        assert_eq!(errors(&[krate("a", 1, &[("libc", false), ("sqlparser", true)])]).len(), 2);
        assert!(errors(&[krate("binder", 1, &[("sqlparser", false)])]).is_empty());
    }

    #[test]
    fn a_level_is_read_from_the_metadata_and_must_be_there() {
        let metadata = serde_json::json!({"packages": [
            {"name": "a", "metadata": {"nodewise": {"level": 3}}, "dependencies": [{"name": "b", "kind": "dev"}]},
            {"name": "c", "metadata": null, "dependencies": [{"name": "b", "kind": null}]},
        ]});
        let crates = parse(&metadata);
        assert_eq!(crates[0].level, Some(3));
        assert_eq!(crates[0].dependencies, [("b".to_owned(), true)]);
        assert_eq!(crates[1].dependencies, [("b".to_owned(), false)]);
        assert_eq!(errors(&crates).len(), 1);
    }
}
