//! P-HANA section 6.3 in a guest: the reporting load and TPC-H Q1 by many clients, on a kernel that sees several nodes.
//!
//! Times in a guest mean nothing, so its throughput is not judged. What is: that every statement gives the same rows under
//! every placement and strategy while pages really lie apart, and where scans read, by the database's own counters.

use std::path::PathBuf;

use serde_json::Value;

use crate::guest::{self, Run};
use crate::image::Contents;
use crate::{LabResult, failed, folder, topology};

const TPCH_SCALE: &str = "0.01";
/// Parts on four nodes, bound: nothing of a fact table is read from afar, only dimensions are.
const LOCAL_MIN: f64 = 0.9;

/// A load of the two, as the guest wrote it down.
pub struct Load {
    /// `reporting` or `q1`.
    pub name: &'static str,
    /// What it printed.
    pub text: String,
    /// Its figures.
    pub json: Value,
}

/// Runs both loads on a machine of the lab.
pub fn run(machine: &str, nodewise: PathBuf) -> LabResult<Vec<Load>> {
    ["reporting", "q1"].into_iter().map(|name| one(name, machine, nodewise.clone())).collect()
}

fn one(name: &'static str, machine: &str, nodewise: PathBuf) -> LabResult<Load> {
    let folder = folder()?;
    crate::packages::provide(&folder)?;
    let data = crate::data::made(&folder, &nodewise, ("tpch", TPCH_SCALE))?;
    let out = folder.join("reporting-out");
    std::fs::create_dir_all(&out).map_err(|error| failed(out.display(), error))?;
    let contents = Contents {
        programs: vec![("nodewise".to_owned(), nodewise)],
        copies: if name == "q1" { vec![data] } else { Vec::new() },
        command: command(name),
        ..Contents::default()
    };
    let machine =
        topology::by_name(machine).ok_or_else(|| failed(machine, "there is no such machine"))?;
    let mut run = Run::new(machine, contents);
    (run.limit, run.out) = (guest::TESTS_LIMIT, Some(out.clone()));
    let outcome = run.start()?;
    if outcome.code != 0 {
        return Err(failed(name, format!("{}{}", outcome.stdout, outcome.stderr)));
    }
    let file = out.join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file).map_err(|error| failed(file.display(), error))?;
    let json = serde_json::from_str(&text).map_err(|error| failed(file.display(), error))?;
    Ok(Load { name, text: outcome.stdout, json })
}

/// 32 clients as in the paper, few statements: a guest is slow.
fn command(name: &str) -> Vec<String> {
    let mut words = format!("nodewise bench {name} --clients 32 --json /out/{name}.json");
    words += match name {
        "q1" => {
            " --scale 0.01 --data tpch-0.01 --reports 32 --placement rr,ivp,pp --strategy target,bound"
        }
        _ => " --scale 0.02 --reports 32 --placement rr,ivp,pp --strategy target,bound",
    };
    words.split(' ').map(str::to_owned).collect()
}

/// The bars: what is wrong, if anything. That rows are the same is the exit code of the guest.
pub fn judge(loads: &[Load]) -> LabResult<()> {
    for Load { name, json, .. } in loads {
        let runs = json["runs"].as_array().map_or(&[][..], Vec::as_slice);
        let bound = |it: &&Value| it["placement"] == "pp 4" && it["strategy"] == "bound";
        let local = runs.iter().find(bound).and_then(|it| it["local"].as_f64());
        match local {
            Some(local) if local >= LOCAL_MIN => {}
            _ => {
                return Err(failed(
                    name,
                    format!("{local:?} of the bytes are local in parts, bound"),
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(local: f64) -> Load {
        let run = serde_json::json!({"placement": "pp 4", "strategy": "bound", "local": local});
        Load { name: "q1", text: String::new(), json: serde_json::json!({"runs": [run]}) }
    }

    #[test]
    fn the_bar_is_held() {
        assert!(judge(&[load(0.95), load(1.0)]).is_ok());
        assert!(judge(&[load(0.95), load(0.5)]).is_err());
        let nothing = Load { name: "q1", text: String::new(), json: Value::Null };
        assert!(judge(&[nothing]).is_err());
    }

    #[test]
    fn both_loads_have_the_clients_of_the_paper() {
        for name in ["reporting", "q1"] {
            let words = command(name).join(" ");
            assert!(words.contains("--clients 32") && words.contains(&format!("/out/{name}.json")));
        }
        assert!(command("q1").contains(&format!("tpch-{TPCH_SCALE}")));
    }
}
