//! `nodewise bench oltp`.

use std::io::{Write, stdout};

use bench::oltp::{Load, Step, check, fill, run};
use nodewise::Loading;
use stdx::Nanos;

use crate::arguments::OltpArguments;
use crate::commands::results::write_file;
use crate::failure::Failure;
use crate::opening::{open_database, open_folder};

/// Each kind of work by each number of clients, in turns; then whether the tables hold what was done.
pub fn oltp(options: &OltpArguments) -> Result<bool, Failure> {
    let database = match &options.folder {
        None => open_database(&options.pool)?,
        Some(folder) => open_folder(folder, &options.pool, Loading::Resident)?,
    };
    let mut session = database.session();
    for number in 0..options.tables {
        session.execute(&format!("CREATE TABLE oltp_other_{number} (a INTEGER, b TEXT)"))?;
    }
    let bank = fill(&mut session, options.branches as u64, options.accounts as u64)?;
    let mut out = stdout().lock();
    let durable = match (&options.folder, options.asynchronous) {
        (None, _) => "in memory",
        (Some(_), true) => "in a folder, answered before they are on the disk",
        (Some(_), false) => "on the disk before they are answered",
    };
    writeln!(out, "{} accounts, {} workers; commits {durable}", bank.accounts, database.workers())?;
    writeln!(
        out,
        "{:10} {:>8} {:>12} {:>11} {:>11} {:>11} {:>10}",
        "", "clients", "per second", "median us", "99 % us", "longest us", "conflicts"
    )?;
    let span = Nanos(options.seconds as u64 * 1_000_000_000);
    let mut figures = Vec::new();
    let is_wanted =
        |it: &Step| options.only.is_empty() || options.only.iter().any(|only| only == it.name());
    for step in Step::ALL.into_iter().filter(is_wanted) {
        for clients in &options.clients {
            let load = Load { clients: *clients, span, asynchronous: options.asynchronous };
            let found = run(&database, &bank, step, load)?;
            let time = |share| found.latencies.quantile(share).0 / 1000;
            writeln!(
                out,
                "{:10} {clients:>8} {:>12.0} {:>11} {:>11} {:>11} {:>10}",
                step.name(),
                found.per_second(),
                time(0.5),
                time(0.99),
                time(1.0),
                found.conflicts
            )?;
            figures.push(found.json());
        }
    }
    check(&mut session, &bank)?;
    writeln!(out, "The tables hold what was done.")?;
    if let Some(path) = &options.json {
        let json = serde_json::Value::from(figures);
        write_file(path, &json.to_string())?;
    }
    Ok(true)
}
