//! `nodewise bench monet`.

use std::io::{Write, stdout};
use std::path::Path;

use bench::monet::{Mode, MonetOptions, MonetRecord, measure, provide, queries};
use bench::record::{QueryRecord, Verdict};
use bench::tpch::{default_folder, judge, provide_data};
use hardware::{Machine, NodeId};
use nodewise::distributed::Shard;
use nodewise::{Database, DatabaseOptions, SqlResult};
use stdx::sync::Arc;

use crate::arguments::MonetArguments;
use crate::commands::results::{millis, report_faults, verdict};
use crate::failure::Failure;
use crate::processes::ShardProcess;
use crate::progress;
use crate::switches::open_machine;

/// Each configuration in folders of its own.
pub fn monet(options: &MonetArguments) -> Result<bool, Failure> {
    if let Err(number) = queries(&options.queries) {
        return Err(Failure::Arguments(format!("TPC-H has no query {number}")));
    }
    let machine: Arc<dyn Machine> = open_machine()?;
    let scale = options.data.scale;
    let data = options.data.data.clone().unwrap_or_else(|| default_folder(scale));
    let workers = options.pool.threads;
    let settings = || DatabaseOptions { workers, ..DatabaseOptions::default() };
    let maker = Database::open(machine.clone(), settings())?;
    provide_data(&maker, &data, scale, &*progress::for_people(&machine))?;
    drop(maker);
    let judge = judge(scale);
    let nodes = working_nodes(&*machine);
    let loading = options.loading;
    let start = |number: usize, folder: &Path| -> SqlResult<Box<dyn Shard>> {
        let node = nodes[number % nodes.len()];
        Ok(Box::new(ShardProcess::start(folder, node, workers, loading)?))
    };
    let what = MonetOptions {
        runs: options.runs,
        queries: &options.queries,
        parts: options.parts.unwrap_or(nodes.len().max(2)),
        workers,
        cold: !options.warm,
        loading,
        count: options.count,
        data: &data,
        start: &start,
        judge: &judge,
    };
    let mut all: Vec<QueryRecord> = Vec::new();
    for &mode in &options.modes {
        let folder = options.folder.join(format!("{}-{scale}-{}", mode.name(), what.parts));
        provide(&machine, &folder, mode, &what)?;
        let found = measure(&machine, &folder, mode, &what)?;
        print(mode, &found)?;
        all.extend(found.queries.into_iter().map(|it| it.0));
    }
    report_faults(&all);
    Ok(all.iter().all(|it| matches!(it.verdict, Verdict::Right | Verdict::Unchecked)))
}

/// The nodes with CPUs and memory, to which processes can be bound.
fn working_nodes(machine: &dyn Machine) -> Vec<NodeId> {
    let topology = machine.topology();
    let mut nodes = topology.memory_nodes();
    nodes.retain(|node| topology.cpus.iter().any(|it| it.node == *node));
    // Where they are not known, the machine is one.
    if nodes.is_empty() { vec![NodeId(0)] } else { nodes }
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
