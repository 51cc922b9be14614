//! `nodewise simulate`: the papers' experiments on modelled machines.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;

use experiments::{Experiment, Figure, experiment, svg, text};
use hardware::Machine;
use simulator::fields::FileError;
use simulator::{MachineModel, model, probe};

use crate::arguments::SimulateArguments;
use crate::failure::Failure;
use crate::measured;

/// The clock that this machine is taken to have; what it measures of memory does not depend on it.
const GHZ: f64 = 3.0;

/// Lists, runs, prints, and writes charts and the report. False when the direction of a figure does not hold.
pub fn run(options: &SimulateArguments) -> Result<bool, Failure> {
    if let Some(name) = &options.machine {
        return describe(name);
    }
    let Some(name) = &options.name else { return list() };
    let names: Vec<&str> =
        if name == "all" { experiment::names().collect() } else { vec![name.as_str()] };
    let mut figures = Vec::new();
    for name in names {
        let figure = figure(name, options)?;
        writeln!(stdout(), "{}", text::tables(&figure))?;
        figures.push(figure);
    }
    if let Some(file) = &options.svg {
        write(file, &svg::chart(&figures[0]))?;
    }
    if let Some(file) = &options.report {
        write(file, &text::report(&figures))?;
    }
    Ok(figures.iter().all(Figure::holds))
}

fn figure(name: &str, options: &SimulateArguments) -> Result<Figure, Failure> {
    let mut experiment = if Path::new(name).extension().is_some_and(|it| it == "json") {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Failure::Other(format!("cannot read {name}: {error}")))?;
        Experiment::parse(name, &text).map_err(failed)?
    } else {
        Experiment::by_name(name).map_err(failed)?
    };
    if let Some(most) = options.clients {
        experiment = experiment.with_clients_up_to(most);
    }
    let shown = stderr().is_terminal();
    let mut tell = |done: usize, total: usize| {
        if shown {
            let end = if done == total { "\r\x1b[K" } else { "" };
            eprint!("\r{name}: run {done} of {total}{end}");
        }
    };
    Figure::run(experiment, options.seed, &mut tell).map_err(failed)
}

fn list() -> Result<bool, Failure> {
    let mut out = stdout().lock();
    writeln!(out, "Experiments: nodewise simulate NAME, or all\n")?;
    for name in experiment::names() {
        let it = Experiment::by_name(name).map_err(failed)?;
        writeln!(out, "  {name:8}  {}: {}", it.figure, it.title)?;
    }
    writeln!(out, "\nMachines: nodewise simulate --machine NAME, or here for this one\n")?;
    for name in model::names() {
        writeln!(out, "  {name:17} {}", MachineModel::by_name(name).map_err(failed)?.title)?;
    }
    Ok(true)
}

/// A model: what it measures of itself, and where its numbers come from.
fn describe(name: &str) -> Result<bool, Failure> {
    let model =
        if name == "here" { here()? } else { MachineModel::by_name(name).map_err(failed)? };
    let measured = probe(&model);
    let mut out = stdout().lock();
    writeln!(out, "{}\n", model.title)?;
    write!(out, "{}", model.topology.to_tree())?;
    for (what, matrix, unit) in [
        ("idle read latency, ns", &measured.latency, 1.0),
        ("read bandwidth, GB/s", &measured.bandwidth, 1e9),
    ] {
        writeln!(out, "\nmodelled {what} (row: node of the CPUs, column: node of the memory)")?;
        for row in matrix {
            let cells: Vec<String> = row.iter().map(|it| format!("{:8.1}", it / unit)).collect();
            writeln!(out, "{}", cells.concat())?;
        }
    }
    let (local, mix) = (measured.total_local / 1e9, measured.total_mix / 1e9);
    writeln!(out, "\nall CPUs reading: local {local:.1} GB/s, from all nodes {mix:.1} GB/s\n")?;
    for (field, source) in &model.sources {
        writeln!(out, "{field}: {source}")?;
    }
    Ok(true)
}

/// This machine as its probe measured it.
fn here() -> Result<MachineModel, Failure> {
    let machine = hardware_linux::open();
    let topology = machine.topology().clone();
    let measured = measured::load(&topology)
        .ok_or_else(|| Failure::Other("nodewise probe has not measured this machine yet".into()))?;
    MachineModel::measured(topology, &measured, GHZ).map_err(failed)
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text)
        .map_err(|error| Failure::Other(format!("cannot write {}: {error}", file.display())))
}

fn failed(error: FileError) -> Failure {
    Failure::Arguments(error.to_string())
}
