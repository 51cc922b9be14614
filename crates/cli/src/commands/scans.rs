//! `nodewise bench scans`: P-HANA's scan workload for real.

use std::io::{Write, stdout};

use bench::report::scans_json;
use bench::scans::{ScanOptions, ScanRecord, check, load, run};

use crate::arguments::ScansArguments;
use crate::commands::bench::millis;
use crate::failure::Failure;
use crate::output::box_table::BoxTable;
use crate::shell::{open_database, open_session};

/// Loads, checks, runs each number of clients, prints. False when a statement failed.
pub fn scans(options: &ScansArguments) -> Result<bool, Failure> {
    let database = open_database(&options.pool)?;
    let mut session = open_session(&database);
    let scans = ScanOptions {
        rows: options.rows,
        columns: options.columns,
        selectivity: options.selectivity / 100.0,
        skewed: options.skewed,
        indexes: options.indexes,
        parallel: !options.serial,
        statements: options.statements,
        seed: options.seed,
    };
    load(&mut session, &scans)?;
    if let Some(difference) = check(&mut session, &scans)? {
        return Err(Failure::Other(format!("wrong answer: {difference}")));
    }
    writeln!(
        stdout(),
        "{} rows, {} columns in {}; selectivity {} %, {} columns, {} statements; {} workers",
        scans.rows,
        scans.columns,
        database.table_bytes(),
        options.selectivity,
        if scans.skewed { "skewed" } else { "uniform" },
        if scans.parallel { "parallel" } else { "serial" },
        database.workers(),
    )?;
    let records: Vec<ScanRecord> =
        options.clients.iter().map(|&it| run(&database, &scans, it)).collect();
    print(&records)?;
    if let Some(file) = &options.json {
        let text = format!("{:#}\n", scans_json(&scans, database.workers(), &records));
        std::fs::write(file, text)
            .map_err(|error| Failure::Other(format!("cannot write {}: {error}", file.display())))?;
    }
    for it in &records {
        if let (failed, Some(error)) = &it.failed {
            eprintln!("{} clients: {failed} statements failed, the first with {error}", it.clients);
        }
    }
    Ok(records.iter().all(|it| it.failed.0 == 0))
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
