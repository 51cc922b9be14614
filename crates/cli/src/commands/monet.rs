//! `nodewise bench monet`.

use std::io::{Write, stdout};

use bench::monet::{Mode, MonetOptions, MonetRecord, measure, provide};
use bench::record::{QueryRecord, Verdict};
use bench::tpch::{default_folder, judge, provide_data};
use hardware::Machine;
use nodewise::{Database, DatabaseOptions};
use stdx::sync::Arc;

use crate::arguments::MonetArguments;
use crate::commands::results::{millis, report_faults, verdict};
use crate::failure::Failure;
use crate::progress;
use crate::switches::open_machine;

/// Each configuration in a folder of its own.
pub fn monet(options: &MonetArguments) -> Result<bool, Failure> {
    let machine: Arc<dyn Machine> = open_machine()?;
    let scale = options.data.scale;
    let data = options.data.data.clone().unwrap_or_else(|| default_folder(scale));
    let workers = options.pool.threads;
    let settings = || DatabaseOptions { workers, ..DatabaseOptions::default() };
    let maker = Database::open(machine.clone(), settings())?;
    provide_data(&maker, &data, scale, &*progress::for_people(&machine))?;
    drop(maker);
    let judge = judge(scale);
    let nodes = machine.topology().memory_nodes().len();
    let what = MonetOptions {
        runs: options.runs,
        parts: options.parts.unwrap_or(nodes.max(2)),
        workers,
        cold: !options.warm,
        data: &data,
        judge: &judge,
    };
    let mut all: Vec<QueryRecord> = Vec::new();
    for mode in Mode::ALL {
        let folder = options.folder.join(format!("{}-{scale}-{}", mode.name(), what.parts));
        provide(&machine, &folder, mode, &what)?;
        let found = measure(&machine, &folder, mode, &what)?;
        print(mode, &found)?;
        all.extend(found.queries.into_iter().map(|it| it.0));
    }
    report_faults(&all);
    Ok(all.iter().all(|it| matches!(it.verdict, Verdict::Right | Verdict::Unchecked)))
}

fn print(mode: Mode, found: &MonetRecord) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let opened = millis(Some(found.opened));
    writeln!(out, "{}: opened, with an answer, in {opened} ms", mode.name())?;
    for (query, first) in &found.queries {
        let (first, best) = (millis(Some(*first)), millis(query.best()));
        let (name, right) = (&query.name, verdict(&query.verdict));
        writeln!(out, "  {name:5} first look {first} ms, then at best {best} ms; {right}")?;
    }
    let pages: Vec<String> =
        found.pages.iter().map(|it| format!("{} on node {}", it.1, it.0)).collect();
    writeln!(out, "  pages of lineitem: {}", pages.join(", "))?;
    let [local, remote] = found.read;
    let share = 100.0 * local as f64 / (local + remote).max(1) as f64;
    writeln!(out, "  scans read {share:.1} % of their bytes from their own node")?;
    Ok(())
}
