//! `nodewise simulate`: the papers' experiments on modelled machines.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;

use experiments::report::report;
use experiments::{Experiment, Figure, experiment, svg, text};
use simulator::{MachineModel, model, probe};

use crate::arguments::SimulateArguments;
use crate::commands::simulate_tpch;
use crate::failure::Failure;
use crate::modelled::{failed, machine, read};

/// Lists, runs, prints, and writes charts and the report. False when the direction of a figure does not hold, or an
/// answer is wrong.
pub fn run(options: &SimulateArguments) -> Result<bool, Failure> {
    if let Some(name) = &options.machine {
        return describe(&machine(name, options.probe.as_deref())?);
    }
    match options.name.as_deref() {
        None => list(),
        Some("tpch") => simulate_tpch::run(options),
        Some(name) => figures(name, options),
    }
}

fn figures(name: &str, options: &SimulateArguments) -> Result<bool, Failure> {
    let all = name == "all";
    let names: Vec<&str> = if all { experiment::names().collect() } else { vec![name] };
    let mut figures = Vec::new();
    for name in names {
        let figure = figure(name, options)?;
        writeln!(stdout(), "{}", text::tables(&figure))?;
        figures.push(figure);
    }
    if let Some(path) = &options.svg {
        for figure in &figures {
            let file = match all {
                true => path.join(format!("{}.svg", figure.experiment.name)),
                false => path.clone(),
            };
            write(&file, &svg::chart(figure))?;
        }
    }
    if let Some(file) = &options.report {
        let folder = file.parent().unwrap_or(Path::new(""));
        let charts = options.svg.as_ref().filter(|_| all);
        let charts = charts.map(|it| it.strip_prefix(folder).unwrap_or(it).to_string_lossy());
        write(file, &report(&figures, charts.as_deref()))?;
    }
    // Another set-up than the paper's has no record, so its point must come out.
    let passed = |it: &Figure| match it.experiment.changed.is_empty() {
        true => it.drifted().is_empty(),
        false => it.holds(),
    };
    Ok(figures.iter().all(passed))
}

fn figure(name: &str, options: &SimulateArguments) -> Result<Figure, Failure> {
    let mut experiment = if Path::new(name).extension().is_some_and(|it| it == "json") {
        Experiment::parse(name, &read(Path::new(name))?).map_err(failed)?
    } else {
        Experiment::by_name(name).map_err(failed)?
    };
    if let Some(most) = options.clients {
        experiment = experiment.with_clients_up_to(most);
    }
    if let Some(name) = &options.on {
        experiment = experiment.on(machine(name, options.probe.as_deref())?);
    }
    experiment = experiment.with_faults(&options.faults);
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
    writeln!(out, "Experiments: nodewise simulate NAME, or all; real queries: tpch\n")?;
    for name in experiment::names() {
        let it = Experiment::by_name(name).map_err(failed)?;
        writeln!(out, "  {name:8}  {}: {}", it.figure, it.title)?;
    }
    writeln!(
        out,
        "\nMachines: nodewise simulate --machine NAME shows one, NAME --on MACHINE runs there\n"
    )?;
    for name in model::names() {
        writeln!(out, "  {name:17} {}", MachineModel::by_name(name).map_err(failed)?.title)?;
    }
    Ok(true)
}

/// A model: what it measures of itself, and where its numbers come from.
fn describe(model: &MachineModel) -> Result<bool, Failure> {
    let measured = probe(model);
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

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    folder
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(file, text))
        .map_err(|error| Failure::Other(format!("cannot write {}: {error}", file.display())))
}
