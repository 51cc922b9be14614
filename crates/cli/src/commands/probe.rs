//! `nodewise probe`: how fast the nodes reach each other's memory, and what stands in the way.

use std::cell::Cell;
use std::io::{Write, stdout};

use hardware::{Advice, Machine, Matrix, Performance};
use probe::{ProbeOptions, Report};
use serde_json::{Value, json};
use stdx::sync::Arc;

use crate::arguments::ProbeArguments;
use crate::failure::Failure;
use crate::{measured, progress};

/// Measures, keeps, and prints.
pub fn run(arguments: &ProbeArguments) -> Result<bool, Failure> {
    let machine: Arc<dyn Machine> = crate::switches::open_machine()?;
    let topology = machine.topology();
    let kept = arguments.output.clone().or_else(|| measured::kept_file(topology));
    let report = measure(&machine, arguments)?;
    match kept.as_ref().map(|it| (it, measured::keep(&report.performance, it))) {
        Some((file, Err(error))) if arguments.output.is_some() => {
            return Err(Failure::Other(format!("{} cannot be written: {error}", file.display())));
        }
        Some((file, Err(error))) => {
            eprintln!(
                "note: {} cannot be written, so nothing uses these figures: {error}",
                file.display()
            );
        }
        Some((file, Ok(()))) => eprintln!("kept in {}", file.display()),
        None => eprintln!("note: there is no home folder to keep these figures in; use --output"),
    }
    let mut out = stdout().lock();
    let advice = machine.advice();
    if arguments.json {
        writeln!(out, "{:#}", as_json(&report, &topology.name, &advice))?;
        return Ok(true);
    }
    writeln!(out, "{}, regions of {}\n", topology.name, report.region)?;
    write!(out, "{}", report.performance.to_tables())?;
    for note in &report.notes {
        writeln!(out, "note: {note}")?;
    }
    for restriction in machine.restrictions() {
        writeln!(out, "{} is refused here: {}", restriction.call, restriction.consequence)?;
    }
    print_advice(&mut out, &advice)?;
    Ok(true)
}

/// What an administrator should change, a line each.
pub fn print_advice(out: &mut impl Write, advice: &[Advice]) -> std::io::Result<()> {
    for it in advice {
        writeln!(out, "advice   {}. To change it: {}", it.finding, it.remedy)?;
    }
    Ok(())
}

fn measure(machine: &Arc<dyn Machine>, arguments: &ProbeArguments) -> Result<Report, Failure> {
    let options = ProbeOptions { quick: arguments.quick, bytes: None };
    let bar = progress::for_people(machine);
    let begun = Cell::new(false);
    let advance = |_, total: usize| {
        if !begun.replace(true) {
            bar.begin("probe", total as u64);
        }
        bar.advance(1);
    };
    let report = probe::measure(machine.clone(), &options, &advance);
    bar.end();
    report.map_err(|error| Failure::Other(error.to_string()))
}

fn as_json(report: &Report, name: &str, advice: &[Advice]) -> Value {
    let Performance { nodes, idle_ns, loaded_ns, read_mb_s, write_mb_s, caches, .. } =
        &report.performance;
    let idle = |pick: fn(&hardware::Latency) -> f64| mapped(idle_ns, |it| tenths(pick(it)));
    json!({
        "machine": name,
        "fingerprint": format!("{:016x}", report.performance.fingerprint),
        "region_bytes": report.region.0,
        "nodes": nodes.iter().map(|it| it.0).collect::<Vec<_>>(),
        "idle_latency_ns": idle(|it| it.mean),
        "idle_latency_least_ns": idle(|it| it.least),
        "idle_latency_greatest_ns": idle(|it| it.greatest),
        "loaded_latency_ns": mapped(loaded_ns, |it| tenths(*it)),
        "read_mb_s": read_mb_s,
        "write_mb_s": write_mb_s,
        "caches": caches
            .iter()
            .map(|it| json!({ "bytes": it.bytes.0, "latency_ns": tenths(it.latency_ns) }))
            .collect::<Vec<_>>(),
        "notes": report.notes,
        "advice": advice
            .iter()
            .map(|it| json!({ "subject": it.subject, "finding": it.finding, "remedy": it.remedy }))
            .collect::<Vec<_>>(),
    })
}

fn mapped<T>(matrix: &Matrix<T>, value: impl Fn(&T) -> f64) -> Vec<Vec<Option<f64>>> {
    matrix.iter().map(|row| row.iter().map(|it| it.as_ref().map(&value)).collect()).collect()
}

/// As exact as the measurement is.
fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
