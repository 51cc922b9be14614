//! P-MONET's configurations of one process, over folders that are mapped (docs/design/10-files.md, "mapped").
//!
//! - *NUMA_Obliv*: tables in one piece; who reads a page first is left to chance, and so is who reads it then (`os`).
//! - *NUMA_Shard*: lineitem and orders in as many parts as there are nodes; each is read first, and scanned, by workers of its
//!   node. The paper's threads are not bound to the parts; ours are, as else it would be NUMA_Obliv but for its plans.
//!
//! NUMA_Distr, a process for each node, is not here.

use std::path::Path;

use arrow_array::RecordBatch;
use hardware::{Machine, NodeId};
use nodewise::text::Cells;
use nodewise::{
    Database, DatabaseOptions, Loading, NoProgress, Session, SqlError, SqlResult, SqlState,
};
use stdx::Nanos;
use stdx::sync::Arc;

use crate::record::{Judge, QueryRecord, Verdict};
use crate::tpch;

/// A configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// NUMA_Obliv.
    Oblivious,
    /// NUMA_Shard.
    Sharded,
}

/// What is measured.
pub struct MonetOptions<'a> {
    /// Timed rounds, after the first look.
    pub runs: usize,
    /// Parts of the sharded tables.
    pub parts: usize,
    /// Workers, as for a database.
    pub workers: Option<usize>,
    /// Whether the first look finds nothing of the files in memory.
    pub cold: bool,
    /// The folder of the Parquet files.
    pub data: &'a Path,
    /// Judges an answer.
    pub judge: Judge<'a>,
}

/// What a configuration came to.
pub struct MonetRecord {
    /// From nothing to a database that answers.
    pub opened: Nanos,
    /// The queries, and how long the first look of each took.
    pub queries: Vec<(QueryRecord, Nanos)>,
    /// Pages of lineitem by node, of those that were read.
    pub pages: Vec<(NodeId, u64)>,
    /// Bytes that scans of the timed rounds read from their node, and from others.
    pub read: [u64; 2],
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Oblivious, Self::Sharded];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oblivious => "NUMA_Obliv",
            Self::Sharded => "NUMA_Shard",
        }
    }

    fn strategy(self) -> &'static str {
        match self {
            Self::Oblivious => "os",
            Self::Sharded => "bound",
        }
    }
}

/// The name of the scan.
const SCAN: &str = "scan";

/// The paper's queries: 4, 6 and 19, and its scan without an answer.
pub fn queries() -> Vec<QueryRecord> {
    let mut records = tpch::select(&[4, 6, 19]).unwrap_or_default();
    records.push(QueryRecord::new(SCAN, "SELECT count(*) FROM lineitem WHERE l_quantity > 24"));
    records
}

/// Makes the folder of a configuration, unless it is there.
pub fn provide(
    machine: &Arc<dyn Machine>,
    folder: &Path,
    mode: Mode,
    options: &MonetOptions<'_>,
) -> SqlResult<()> {
    let settings = DatabaseOptions { workers: options.workers, ..DatabaseOptions::default() };
    let database = Database::open_dir(machine.clone(), folder, settings, &NoProgress)?;
    let mut session = database.session();
    if database.tables().is_empty() {
        tpch::load(&mut session, options.data)?;
        if mode == Mode::Sharded {
            for (table, key) in [("lineitem", "l_orderkey"), ("orders", "o_orderkey")] {
                let parts = options.parts;
                let sql =
                    format!("ALTER TABLE {table} PARTITION BY HASH ({key}) PARTITIONS {parts}");
                session.execute(&sql)?;
            }
        }
        session.execute("CHECKPOINT")?;
    }
    Ok(())
}

/// Measures a configuration in its folder.
pub fn measure(
    machine: &Arc<dyn Machine>,
    folder: &Path,
    mode: Mode,
    options: &MonetOptions<'_>,
) -> SqlResult<MonetRecord> {
    if options.cold {
        drop_caches(&**machine, folder)?;
    }
    let (workers, loading) = (options.workers, Loading::Mapped);
    let settings = DatabaseOptions { workers, loading, ..DatabaseOptions::default() };
    let started = machine.now();
    let database = Database::open_dir(machine.clone(), folder, settings, &NoProgress)?;
    let mut session = database.session();
    session.execute("SELECT count(*) FROM nation")?;
    let opened = machine.now() - started;
    session.execute(&format!("SET strategy = {}", mode.strategy()))?;
    // Nobody has an answer of the scan to compare with.
    let judge = |name: &str, answer: &[RecordBatch]| match name {
        SCAN => Verdict::Unchecked,
        _ => (options.judge)(name, answer),
    };
    let mut all = Vec::new();
    for mut record in queries() {
        let started = machine.now();
        record.warm(&mut session, &judge);
        all.push((record, machine.now() - started));
    }
    let before = traffic(&mut session)?;
    for _ in 0..options.runs {
        all.iter_mut().for_each(|it| it.0.run(&mut session));
    }
    let after = traffic(&mut session)?;
    let read = [after[0] - before[0], after[1] - before[1]];
    Ok(MonetRecord { opened, queries: all, pages: pages(&database), read })
}

/// Has the machine forget what it has of the files of a folder.
fn drop_caches(machine: &dyn Machine, folder: &Path) -> SqlResult<()> {
    let failed = |it: hardware::FolderError| SqlError::new(SqlState::IO_ERROR, it.to_string());
    let folder = machine.inspect_folder(folder).map_err(failed)?;
    for name in folder.list().map_err(failed)? {
        folder.open(&name).map_err(failed)?.drop_cache();
    }
    Ok(())
}

/// Bytes that scans have read on their own node, and elsewhere.
fn traffic(session: &mut Session) -> SqlResult<[u64; 2]> {
    let mut bytes = [0; 2];
    let by_place = ["running_node = memory_node", "running_node <> memory_node"];
    for (place, bytes) in by_place.iter().zip(&mut bytes) {
        let sql =
            format!("SELECT coalesce(sum(bytes_read), 0) FROM nodewise.item_traffic WHERE {place}");
        let answer = session.query(&sql)?;
        let text = answer.batches.first().and_then(|it| Cells::new(it.column(0)).text(0));
        *bytes = text.and_then(|it| it.parse().ok()).unwrap_or(0);
    }
    Ok(bytes)
}

fn pages(database: &Database) -> Vec<(NodeId, u64)> {
    let mut pages: Vec<(NodeId, u64)> = Vec::new();
    for table in database.tables().iter().filter(|it| it.name == "lineitem") {
        for component in table.components() {
            for (node, count) in component.segment.page_map().summary() {
                match pages.iter_mut().find(|it| it.0 == node) {
                    Some(it) => it.1 += count as u64,
                    None => pages.push((node, count as u64)),
                }
            }
        }
    }
    pages.sort_unstable();
    pages
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use simulator::SimulatedMachine;

    use super::*;

    #[test]
    fn shards_are_read_on_their_nodes_and_what_is_oblivious_is_not() {
        let data = std::env::temp_dir().join(format!("nodewise-monet-{}", std::process::id()));
        let machine = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 1);
        let machine: Arc<dyn Machine> = machine;
        let database = Database::open(machine.clone(), DatabaseOptions::default()).unwrap();
        tpch::provide_data(&database, &data, 0.01, &NoProgress).unwrap();
        let judge = tpch::judge(0.01);
        let options = MonetOptions {
            runs: 1,
            parts: 4,
            workers: None,
            cold: true,
            data: &data,
            judge: &judge,
        };
        let shares = Mode::ALL.map(|mode| {
            let folder = Path::new("/").join(mode.name());
            provide(&machine, &folder, mode, &options).unwrap();
            provide(&machine, &folder, mode, &options).unwrap();
            let found = measure(&machine, &folder, mode, &options).unwrap();
            for (query, _) in &found.queries {
                let right = [Verdict::Right, Verdict::Unchecked].contains(&query.verdict);
                assert!(right && query.rows > 0, "{}: {:?}", query.name, query.verdict);
            }
            let [local, remote] = found.read;
            assert!(found.pages.len() > 1 && local > 0, "{:?}, {local}", found.pages);
            local as f64 / (local + remote) as f64
        });
        std::fs::remove_dir_all(&data).unwrap();
        assert!(shares[0] < 0.7 && shares[1] > 0.9, "{shares:?}");
    }
}
