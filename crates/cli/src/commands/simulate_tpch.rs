//! `nodewise simulate tpch`: the queries of TPC-H over real rows, by the real scheduler, in the time of a modelled machine.

use std::io::{Write, stdout};

use bench::record::{QueryRecord, Verdict};
use bench::tpch::{default_folder, judge, load, provide_data, select};
use hardware::Machine;
use nodewise::{Database, DatabaseOptions, NoProgress};
use simulator::{Meters, SimulatedMachine};
use stdx::sync::Arc;
use stdx::{Bytes, Nanos};

use crate::arguments::SimulateArguments;
use crate::commands::results::{millis, report_faults, verdict};
use crate::failure::Failure;
use crate::modelled::machine;
use nodewise::box_table::BoxTable;

/// The machine when none is named: the first one of P-HYPER.
const MACHINE: &str = "nehalem-ex";

/// Loads, runs each query twice and shows the second run. False when an answer is wrong.
pub fn run(options: &SimulateArguments) -> Result<bool, Failure> {
    let real = &options.real;
    let mut records = select(&real.queries).map_err(|number| {
        Failure::Arguments(format!("there is no query {number}; they go from 1 to 22"))
    })?;
    let model = machine(options.on.as_deref().unwrap_or(MACHINE), options.probe.as_deref())?;
    for fault in &options.faults {
        fault.check(&model.topology).map_err(Failure::Arguments)?;
    }
    let title = model.title.clone();
    let simulated = SimulatedMachine::with_model(model, options.seed, options.faults.clone());
    let machine: Arc<dyn Machine> = simulated.clone();
    let settings = DatabaseOptions { workers: real.pool.threads, ..DatabaseOptions::default() };
    let database = Database::open(machine, settings)?;
    let folder = real.data.clone().unwrap_or_else(|| default_folder(real.scale));
    provide_data(&database, &folder, real.scale, &NoProgress)?;
    let mut session = database.session();
    let loaded = load(&mut session, &folder)?;
    for sql in &real.sql {
        session.execute(sql)?;
    }
    introduce(&title, &database, options, loaded.rows)?;
    let judge = judge(real.scale);
    let mut metered = Vec::new();
    for record in &mut records {
        record.warm(&mut session, &judge);
        simulated.reset_meters();
        record.run(&mut session);
        metered.push(simulated.meters().expect("invariant: the machine has a model"));
    }
    print(&records, &metered)?;
    report_faults(&records);
    Ok(records.iter().all(|it| matches!(it.verdict, Verdict::Right | Verdict::Unchecked)))
}

fn introduce(
    title: &str,
    database: &Database,
    options: &SimulateArguments,
    rows: u64,
) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let (workers, scale, seed) = (database.workers(), options.real.scale, options.seed);
    writeln!(
        out,
        "TPC-H at scale {scale}, {rows} rows, on {title}; {workers} workers, seed {seed}"
    )?;
    for fault in &options.faults {
        writeln!(out, "fault: {fault}")?;
    }
    Ok(())
}

fn print(records: &[QueryRecord], metered: &[Meters]) -> Result<(), Failure> {
    const NAMES: [&str; 9] = [
        "query",
        "virtual ms",
        "rows",
        "morsels",
        "stolen",
        "read local",
        "read remote",
        "memory GB/s",
        "answer",
    ];
    let mut out = stdout().lock();
    let columns = NAMES.iter().map(|it| (*it, !matches!(*it, "query" | "answer")));
    let mut table = BoxTable::new(columns);
    let row = |(it, meters): (&QueryRecord, &Meters)| {
        let profile = &it.profile;
        [
            it.name.clone(),
            millis(it.best()),
            it.rows.to_string(),
            profile.morsels().to_string(),
            profile.stolen().to_string(),
            Bytes(profile.bytes_local()).to_string(),
            Bytes(profile.bytes_remote()).to_string(),
            format!("{:.2}", meters.memory_total() / meters.span.max(1.0)),
            verdict(&it.verdict).to_owned(),
        ]
    };
    let rows: Vec<[String; 9]> = records.iter().zip(metered).map(row).collect();
    rows.iter().for_each(|row| table.measure(row));
    table.write_head(&mut out)?;
    for row in &rows {
        table.write_row(&mut out, row)?;
    }
    table.write_foot(&mut out)?;
    let sum: Nanos = records.iter().filter_map(QueryRecord::best).sum();
    let peak = metered.iter().map(|it| it.peak_load).fold(0.0, f64::max);
    writeln!(
        out,
        "{} virtual ms in all; no controller or link above {:.0} % of its capacity.\n\
         Time passes for what morsels read and a few cycles a row; planning, hash tables and sorting take none.",
        millis(Some(sum)),
        100.0 * peak
    )?;
    Ok(())
}
