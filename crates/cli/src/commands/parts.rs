//! `nodewise bench parts`: what it costs on one node that tables are cut into parts.

use std::io::{Write, stdout};

use bench::parts::{Both, load, mean_ratio, run};
use bench::record::{QueryRecord, Verdict};
use bench::tpch::{default_folder, judge, provide_data, select};

use crate::arguments::PartsArguments;
use crate::commands::results::{millis, report_faults, verdict};
use crate::failure::Failure;
use crate::opening::{open_database, open_session};
use crate::progress;
use nodewise::box_table::BoxTable;

/// The 22 queries over tables in one piece and in parts, in turns.
pub fn parts(options: &PartsArguments) -> Result<bool, Failure> {
    let records = select(&options.queries).map_err(|number| {
        Failure::Arguments(format!("there is no query {number}; they go from 1 to 22"))
    })?;
    let scale = options.data.scale;
    let databases = [open_database(&options.pool)?, open_database(&options.pool)?];
    let progress = progress::for_people(databases[0].machine());
    let folder = options.data.data.clone().unwrap_or_else(|| default_folder(scale));
    provide_data(&databases[0], &folder, scale, &*progress)?;
    let [mut whole, mut parts] = [open_session(&databases[0]), open_session(&databases[1])];
    let whole_loaded = bench::tpch::load(&mut whole, &folder)?;
    let parts_loaded = load(&mut parts, &folder, options.parts)?;
    for session in [&mut whole, &mut parts] {
        session.execute("SET plan_cache = off")?;
    }
    let sessions = [&mut whole, &mut parts];
    let all = run(sessions, records, &judge(scale), options.runs, &*progress);
    print(&all)?;
    let (number, workers) = (options.parts, databases[0].workers());
    let (whole, parts) = (whole_loaded.bytes, parts_loaded.bytes);
    writeln!(
        stdout(),
        "TPC-H at scale {scale}, {workers} workers: {whole} in one piece, {parts} in {number} parts"
    )?;
    let records: Vec<QueryRecord> = all.into_iter().flat_map(|it| [it.whole, it.parts]).collect();
    report_faults(&records);
    Ok(records.iter().all(|it| matches!(it.verdict, Verdict::Right | Verdict::Unchecked)))
}

fn print(all: &[Both]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let names = ["query", "whole ms", "parts ms", "ratio", "answer"];
    let mut table =
        BoxTable::new(names.into_iter().map(|it| (it, !matches!(it, "query" | "answer"))));
    let ratio = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), |it| format!("{it:.2}"));
    let row = |it: &Both| {
        let worse = match it.whole.verdict {
            Verdict::Right | Verdict::Unchecked => &it.parts.verdict,
            _ => &it.whole.verdict,
        };
        [
            it.whole.name.clone(),
            millis(it.whole.best()),
            millis(it.parts.best()),
            ratio(it.ratio()),
            verdict(worse).to_owned(),
        ]
    };
    let rows: Vec<[String; 5]> = all.iter().map(row).collect();
    rows.iter().for_each(|row| table.measure(row));
    table.write_head(&mut out)?;
    rows.iter().try_for_each(|row| table.write_row(&mut out, row))?;
    table.write_foot(&mut out)?;
    if let Some(mean) = mean_ratio(all) {
        writeln!(out, "Geometric mean of the ratios of the fastest runs: {mean:.3}")?;
    }
    Ok(())
}
