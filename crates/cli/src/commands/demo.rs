//! `nodewise demo`: the main job from an empty folder to checked answers, and what the database did for them.

use std::io::{Write, stdout};

use bench::record::{QueryRecord, Verdict, geometric_mean, run_rounds};
use bench::tpch::{default_folder, judge, select};
use bench::workload::Loaded;
use nodewise::{Database, Session};
use stdx::Bytes;
use stdx::sync::Arc;

use crate::arguments::DemoArguments;
use crate::commands::results::{millis, report_faults, verdict};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::opening::{open_database, open_session};
use crate::output::{Format, Look, OutputOptions, write_answer};
use crate::progress;
use crate::shell::{converse, is_interactive};
use nodewise::box_table::BoxTable;

/// Timed runs of each query, after one to warm up.
const RUNS: usize = 3;

const PLACEMENT: &str = "SELECT table_name, column_name, data_type, encoding, bitcase, bytes, node \
    FROM nodewise.columns ORDER BY bytes DESC, table_name, column_name LIMIT 12";

/// Makes, loads, runs, checks, shows. False when an answer is wrong and there is nobody to talk to.
pub fn run(options: &DemoArguments) -> Result<bool, Failure> {
    let scale = options.data.scale;
    let database = open_database(&options.pool)?;
    let mut session = open_session(&database);
    introduce(&database)?;
    let loaded = prepare(&database, &mut session, options)?;
    let mut records = select(&[]).map_err(|it| Failure::Other(format!("no query {it}")))?;
    let progress = progress::for_people(database.machine());
    run_rounds(&mut session, &mut records, &judge(scale), RUNS, &*progress);
    print_queries(&records)?;
    print_summary(&database, &records, &loaded, scale)?;
    print_placement(&mut session)?;
    report_faults(&records);
    let right = records.iter().all(|it| matches!(it.verdict, Verdict::Right | Verdict::Unchecked));
    if is_interactive() {
        println!();
        return converse(session, Format::Box, None);
    }
    Ok(right)
}

fn introduce(database: &Arc<Database>) -> Result<(), Failure> {
    let topology = database.machine().topology();
    writeln!(
        stdout(),
        "Nodewise {} on {}: {} workers, NUMA nodes with memory: {}",
        env!("CARGO_PKG_VERSION"),
        topology.name,
        database.workers(),
        topology.memory_nodes().len(),
    )?;
    Ok(())
}

fn prepare(
    database: &Arc<Database>,
    session: &mut Session,
    options: &DemoArguments,
) -> Result<Loaded, Failure> {
    let scale = options.data.scale;
    let progress = progress::for_people(database.machine());
    let folder = options.data.data.clone().unwrap_or_else(|| default_folder(scale));
    let made = bench::tpch::provide_data(database, &folder, scale, &*progress)?;
    let mut out = stdout().lock();
    write!(out, "TPC-H at scale {scale} as Parquet in {}", folder.display())?;
    match made {
        Some(time) => writeln!(out, ", made in {time}")?,
        None => writeln!(out, ", from an earlier run")?,
    }
    let loaded = bench::tpch::load(session, &folder)?;
    let Loaded { time, rows, bytes } = loaded;
    writeln!(out, "8 tables, {rows} rows loaded in {time}: {bytes} in memory")?;
    Ok(loaded)
}

fn print_queries(records: &[QueryRecord]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let names = [
        "query",
        "ms",
        "planning ms",
        "rows",
        "morsels",
        "stolen",
        "read local",
        "read remote",
        "answer",
    ];
    let columns = names.iter().map(|it| (*it, !matches!(*it, "query" | "answer")));
    let mut table = BoxTable::new(columns);
    let rows: Vec<[String; 9]> = (records.iter())
        .map(|it| {
            let profile = &it.profile;
            [
                it.name.clone(),
                millis(it.best()),
                millis(it.best().map(|_| profile.planning)),
                it.rows.to_string(),
                profile.morsels().to_string(),
                profile.stolen().to_string(),
                Bytes(profile.bytes_local()).to_string(),
                Bytes(profile.bytes_remote()).to_string(),
                verdict(&it.verdict).to_owned(),
            ]
        })
        .collect();
    rows.iter().for_each(|row| table.measure(row));
    table.write_head(&mut out)?;
    for row in &rows {
        table.write_row(&mut out, row)?;
    }
    table.write_foot(&mut out)?;
    Ok(())
}

fn print_summary(
    database: &Database,
    records: &[QueryRecord],
    loaded: &Loaded,
    scale: f64,
) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let right = records.iter().filter(|it| it.verdict == Verdict::Right).count();
    let failed = records.iter().filter(|it| matches!(it.verdict, Verdict::Failed(_))).count();
    if nodewise::tpch::has_reference(scale) {
        writeln!(out, "Answers:        {right} of {} right", records.len())?;
    } else {
        let ran = records.len() - failed;
        let known = nodewise::tpch::answers::SCALES.join(", ");
        writeln!(
            out,
            "Answers:        {ran} of {} queries ran; unchecked, for reference answers are stored for scales {known}",
            records.len()
        )?;
    }
    if let Some(mean) = geometric_mean(records.iter().map(QueryRecord::best)) {
        writeln!(out, "Geometric mean: {} ms (best of {RUNS} runs each)", millis(Some(mean)))?;
    }
    writeln!(out, "Loading:        {}, {}", loaded.time, loaded.bytes)?;
    let (peak, now) = database.machine().resident_bytes();
    writeln!(out, "Memory:         {now} resident, {peak} at its peak")?;
    Ok(())
}

fn print_placement(session: &mut Session) -> Result<(), Failure> {
    let answer = session.query(PLACEMENT)?;
    let mut out = stdout().lock();
    writeln!(out, "Where the 12 biggest columns are:")?;
    write_answer(
        &mut out,
        &answer,
        &OutputOptions::plain(Look::new(Format::Box)),
        &Interrupt::default(),
    )?;
    Ok(())
}
