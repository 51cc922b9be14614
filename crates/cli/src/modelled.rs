//! The modelled machine that a command names.

use std::path::Path;

use hardware::{Machine, Performance};
use simulator::MachineModel;
use simulator::fields::FileError;

use crate::failure::Failure;
use crate::measured;

/// The clock that this machine is taken to have; what it measures of memory does not depend on it.
const GHZ: f64 = 3.0;

/// A machine by name, as a JSON file, this one, or one whose `sys` and `proc` somebody has captured in a folder; the last
/// two as a probe measured them.
pub fn machine(name: &str, probe: Option<&Path>) -> Result<MachineModel, Failure> {
    let path = Path::new(name);
    if path.extension().is_some_and(|it| it == "json") {
        return MachineModel::parse(name, &read(path)?).map_err(failed);
    }
    let captured = path.is_dir();
    if name != "here" && !captured {
        return MachineModel::by_name(name).map_err(failed);
    }
    let topology = if captured {
        hardware_linux::read_topology(path).map_err(|error| {
            Failure::Arguments(format!("{name} is no captured machine: {error}"))
        })?
    } else {
        hardware_linux::open().topology().clone()
    };
    let measured = match probe {
        Some(file) => Performance::from_text(&read(file)?).map_err(|error| {
            Failure::Arguments(format!("{} is no probe result: {error}", file.display()))
        })?,
        None => measured::load(&topology).ok_or_else(|| {
            let what = "nodewise probe has not measured this machine; --probe names a file of its";
            Failure::Other(format!("{name}: {what}"))
        })?,
    };
    MachineModel::measured(topology, &measured, GHZ).map_err(failed)
}

/// The text of a file.
pub fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::Other(format!("cannot read {}: {error}", file.display())))
}

/// What is wrong with a file, as the fault of who named it.
pub fn failed(error: FileError) -> Failure {
    Failure::Arguments(error.to_string())
}
