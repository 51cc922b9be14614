//! `nodewise bench scans`: P-HANA's scan workload for real.

use std::io::{Write, stdout};

use bench::report::scans_json;
use bench::scans::{
    Asked, ScanOptions, ScanRecord, Statement, check, create_indexes, load, load_file, run,
};
use bench::workload::Loaded;

use crate::arguments::{AskedArgument, ScansArguments};
use crate::commands::results::{millis, write_file};
use crate::failure::Failure;
use crate::opening::{open_database, open_session};
use nodewise::box_table::BoxTable;

/// Loads, checks, runs each selectivity and number of clients, prints. False when a statement failed.
pub fn scans(options: &ScansArguments) -> Result<bool, Failure> {
    let database = open_database(&options.pool)?;
    let mut session = open_session(&database);
    let mut runs = runs_of(options);
    let started = database.machine().now();
    match &options.data {
        Some(folder) => {
            let (rows, columns) = load_file(&mut session, folder)?;
            runs.iter_mut().for_each(|it| (it.rows, it.columns) = (rows, columns));
        }
        None => load(&mut session, &runs[0])?,
    }
    create_indexes(&mut session, &runs[0])?;
    let time = database.machine().now() - started;
    let loaded = Loaded { time, rows: runs[0].rows as u64, bytes: database.table_bytes() };
    for run in runs.iter().filter(|_| options.data.is_none()) {
        if let Some(difference) = check(&mut session, run)? {
            return Err(Failure::Other(format!("wrong answer: {difference}")));
        }
    }
    let mut records = Vec::new();
    for scans in runs {
        writeln!(
            stdout(),
            "{} rows, {} columns in {}; selectivity {} %, {} columns, {} statements for {}; {} workers",
            scans.rows,
            scans.columns,
            database.table_bytes(),
            scans.selectivity * 100.0,
            if scans.skewed { "skewed" } else { "uniform" },
            if scans.parallel { "parallel" } else { "serial" },
            scans.asked.word(),
            database.workers(),
        )?;
        let these: Vec<ScanRecord> =
            options.clients.iter().map(|&it| run(&database, &scans, it)).collect();
        print(&these)?;
        records.extend(these.into_iter().map(|it| (scans.clone(), it)));
    }
    if let Some(file) = &options.json {
        write_file(file, &format!("{:#}\n", scans_json(&database, &loaded, &records)))?;
    }
    if let Some(file) = &options.list {
        write_file(file, &list(&records))?;
    }
    for (_, it) in &records {
        if let (failed, Some(error)) = &it.failed {
            eprintln!("{} clients: {failed} statements failed, the first with {error}", it.clients);
        }
    }
    Ok(records.iter().all(|it| it.1.failed.0 == 0))
}

/// What is to be run over the one table: each selectivity, with what is asked.
fn runs_of(options: &ScansArguments) -> Vec<ScanOptions> {
    let asked: &[Asked] = match options.ask {
        AskedArgument::Rows => &[Asked::Rows],
        AskedArgument::Sums => &[Asked::Sums],
        AskedArgument::Both => &[Asked::Rows, Asked::Sums],
    };
    let run = |percent: f64, asked: Asked| ScanOptions {
        rows: options.rows,
        columns: options.columns,
        selectivity: percent / 100.0,
        asked,
        skewed: options.skewed,
        indexes: options.indexes,
        parallel: !options.serial,
        shared: !options.apart,
        statements: options.statements,
        seed: options.seed,
    };
    let all = options.selectivity.iter();
    all.flat_map(|&percent| asked.iter().map(move |&it| run(percent, it))).collect()
}

/// The statements of all runs, in order of run and number.
fn list(records: &[(ScanOptions, ScanRecord)]) -> String {
    let of_run = |(options, record): &(ScanOptions, ScanRecord)| {
        let numbers = 0..options.statements_of(record.clients);
        numbers.map(|it| Statement::numbered(it, options).sql + "\n").collect::<String>()
    };
    records.iter().map(of_run).collect()
}

fn print(records: &[ScanRecord]) -> Result<(), Failure> {
    let names = [
        "clients",
        "statements",
        "per second",
        "mean ms",
        "5 % ms",
        "median ms",
        "95 % ms",
        "max ms",
        "spread %",
        "failed",
    ];
    let mut table = BoxTable::new(names.iter().map(|it| (*it, true)));
    let rows: Vec<[String; 10]> = (records.iter())
        .map(|it| {
            let quantile = |share| millis(Some(it.quantile(share)));
            [
                it.clients.to_string(),
                it.latencies.len().to_string(),
                format!("{:.0}", it.throughput()),
                millis(Some(it.mean())),
                quantile(0.05),
                quantile(0.5),
                quantile(0.95),
                quantile(1.0),
                format!("{:.0}", 100.0 * it.spread()),
                it.failed.0.to_string(),
            ]
        })
        .collect();
    rows.iter().for_each(|row| table.measure(row));
    let mut out = stdout().lock();
    table.write_head(&mut out)?;
    for row in &rows {
        table.write_row(&mut out, row)?;
    }
    table.write_foot(&mut out)?;
    Ok(())
}
