//! `nodewise bench reporting` and `nodewise bench q1`: the reporting loads of P-HANA 6.3, here or on a modelled machine.

use std::io::{Write, stdout};

use bench::reporting::{
    AtOnce, Layout, ReportingOptions, ReportingRecord, Turns, Workload, run as run_clients,
};
use bench::tpch::{default_folder, provide_data};
use hardware::Machine;
use nodewise::{Database, DatabaseOptions};
use serde_json::json;
use simulator::SimulatedMachine;
use stdx::Nanos;
use stdx::sync::Arc;

use crate::commands::results::{millis, write_file};
use crate::failure::Failure;
use crate::modelled;
use crate::opening::{open_database, open_session};
use crate::reporting_arguments::{PlacementArgument, ReportingArguments};
use nodewise::box_table::BoxTable;

/// Reports of a run whose end nobody has named.
const SECONDS: usize = 10;

/// Which of the two loads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// Three schemas.
    Reporting,
    /// TPC-H Q1.
    Q1,
}

/// A run with what it ran under.
struct Run {
    layout: Layout,
    strategy: &'static str,
    record: ReportingRecord,
}

/// Loads each placement, runs each strategy, compares the answers, prints. False when a statement failed or two runs of one
/// gave different rows.
pub fn run(load: Load, options: &ReportingArguments) -> Result<bool, Failure> {
    let (database, simulated) = open(options)?;
    let mut session = open_session(&database);
    let reporting = reporting_options(load, options, &database)?;
    introduce(load, options, &database, simulated.is_some())?;
    let mut runs: Vec<Run> = Vec::new();
    for layout in layouts(options, &database) {
        layout.load(&mut session, &reporting.workload)?;
        for strategy in options.strategy.iter().map(|it| it.word()) {
            let record = match &simulated {
                None => run_clients(&database, &reporting, strategy, &AtOnce)?,
                Some(machine) => {
                    machine.expect_clients(reporting.clients);
                    run_clients(&database, &reporting, strategy, &Modelled(machine))?
                }
            };
            runs.push(Run { layout, strategy, record });
        }
    }
    print(&runs)?;
    if let Some(file) = &options.json {
        let json = json!({"clients": options.clients, "scale": options.scale,
            "runs": runs.iter().map(to_json).collect::<Vec<_>>()});
        write_file(file, &format!("{json:#}\n"))?;
    }
    judge(&runs)
}

/// The clients of a modelled machine take turns.
struct Modelled<'a>(&'a SimulatedMachine);

impl Turns for Modelled<'_> {
    fn begin(&self, client: usize) {
        self.0.begin_client(client);
    }

    fn end(&self, client: usize) {
        self.0.end_client(client);
    }
}

type Opened = (Arc<Database>, Option<Arc<SimulatedMachine>>);

fn open(options: &ReportingArguments) -> Result<Opened, Failure> {
    let Some(name) = &options.on else { return Ok((open_database(&options.pool)?, None)) };
    let model = modelled::machine(name, None)?;
    let simulated = SimulatedMachine::with_model(model, options.seed, Vec::new());
    let machine: Arc<dyn Machine> = simulated.clone();
    let settings = DatabaseOptions { workers: options.pool.threads, ..DatabaseOptions::default() };
    Ok((Database::open(machine, settings)?, Some(simulated)))
}

fn reporting_options(
    load: Load,
    options: &ReportingArguments,
    database: &Arc<Database>,
) -> Result<ReportingOptions, Failure> {
    let workload = match load {
        Load::Reporting => Workload::Reporting { scale: options.scale, seed: options.seed },
        Load::Q1 => {
            let folder = options.data.clone().unwrap_or_else(|| default_folder(options.scale));
            provide_data(database, &folder, options.scale, &nodewise::NoProgress)?;
            Workload::Q1(folder)
        }
    };
    let seconds = options.seconds.or(options.reports.is_none().then_some(SECONDS));
    Ok(ReportingOptions {
        workload,
        clients: options.clients,
        reports: options.reports.unwrap_or(usize::MAX),
        limit: seconds.map(|it| Nanos(it as u64 * 1_000_000_000)),
        seed: options.seed,
    })
}

fn layouts(options: &ReportingArguments, database: &Database) -> Vec<Layout> {
    let nodes = &database.machine().topology().nodes;
    let with_memory = nodes.iter().filter(|it| it.memory_total.0 > 0).count().max(1);
    let parts = if options.parts.is_empty() { vec![with_memory] } else { options.parts.clone() };
    let layouts = |it: &PlacementArgument| match it {
        PlacementArgument::Rr => vec![Layout::RoundRobin],
        PlacementArgument::Ivp => vec![Layout::Split],
        PlacementArgument::Pp => parts.iter().map(|&it| Layout::Parts(it)).collect(),
        PlacementArgument::Os => vec![Layout::FirstTouch],
    };
    options.placement.iter().flat_map(layouts).collect()
}

fn introduce(
    load: Load,
    options: &ReportingArguments,
    database: &Database,
    modelled: bool,
) -> Result<(), Failure> {
    let what = match load {
        Load::Reporting => "Reports over three schemas",
        Load::Q1 => "TPC-H Q1 with random parameters",
    };
    let (scale, clients, workers) = (options.scale, options.clients, database.workers());
    let nodes = database.machine().topology().nodes.len();
    let mut out = stdout().lock();
    writeln!(
        out,
        "{what} at scale {scale}, {clients} clients, {workers} workers on {nodes} nodes, seed {}",
        options.seed
    )?;
    match options.on.as_ref().filter(|_| modelled) {
        Some(name) => writeln!(
            out,
            "Times are modelled ({name}): what morsels read and a few cycles a row; planning, hash tables and sorting take none."
        )?,
        None if nodes == 1 => {
            writeln!(
                out,
                "This machine has one node: placements and strategies cannot differ here."
            )?;
        }
        None => {}
    }
    Ok(())
}

fn print(runs: &[Run]) -> Result<(), Failure> {
    const NAMES: [&str; 11] = [
        "placement",
        "strategy",
        "statements",
        "per minute",
        "of best",
        "median ms",
        "95 % ms",
        "99 % ms",
        "local %",
        "stolen %",
        "busy % by node",
    ];
    let columns = NAMES.iter().map(|it| (*it, !matches!(*it, "placement" | "strategy")));
    let mut table = BoxTable::new(columns);
    let best = runs.iter().map(|it| it.record.per_minute()).fold(f64::MIN_POSITIVE, f64::max);
    let row = |Run { layout, strategy, record }: &Run| {
        let quantile = |share| millis(Some(record.quantile(share)));
        let percent = |it: f64| format!("{:.0}", 100.0 * it);
        let loads = &record.loads;
        [
            layout.name(),
            (*strategy).to_owned(),
            record.latencies.len().to_string(),
            format!("{:.0}", record.per_minute()),
            format!("{:.2}", record.per_minute() / best),
            quantile(0.5),
            quantile(0.95),
            quantile(0.99),
            loads.local.map_or_else(|| "-".to_owned(), percent),
            percent(loads.stolen),
            loads.busy.iter().map(|&it| percent(it)).collect::<Vec<_>>().join(" "),
        ]
    };
    let rows: Vec<[String; 11]> = runs.iter().map(row).collect();
    rows.iter().for_each(|row| table.measure(row));
    let mut out = stdout().lock();
    table.write_head(&mut out)?;
    for row in &rows {
        table.write_row(&mut out, row)?;
    }
    table.write_foot(&mut out)?;
    Ok(())
}

fn to_json(Run { layout, strategy, record }: &Run) -> serde_json::Value {
    json!({
        "placement": layout.name(),
        "strategy": strategy,
        "statements": record.latencies.len(),
        "failed": record.failed.0,
        "per_minute": record.per_minute(),
        "median_ms": record.quantile(0.5).as_millis_f64(),
        "p95_ms": record.quantile(0.95).as_millis_f64(),
        "p99_ms": record.quantile(0.99).as_millis_f64(),
        "local": record.loads.local,
        "stolen": record.loads.stolen,
        "busy": record.loads.busy,
    })
}

/// Whether all statements ran, and every one gave the same rows in all runs.
fn judge(runs: &[Run]) -> Result<bool, Failure> {
    let mut right = true;
    for Run { layout, strategy, record } in runs {
        if let (failed, Some(error)) = &record.failed {
            eprintln!(
                "{}, {strategy}: {failed} statements failed, the first with {error}",
                layout.name()
            );
            right = false;
        }
        if let Some((report, step)) = runs[0].record.differs_from(record) {
            eprintln!(
                "{}, {strategy}: step {step} of report {report} gave other rows than under {}, {}",
                layout.name(),
                runs[0].layout.name(),
                runs[0].strategy
            );
            right = false;
        }
    }
    if right {
        writeln!(stdout(), "Every statement gave the same rows in all runs.")?;
    }
    Ok(right)
}
