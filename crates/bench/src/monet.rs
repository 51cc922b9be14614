//! P-MONET's configurations, over folders that are mapped (docs/design/10-files.md, "mapped").
//!
//! - *NUMA_Obliv*: tables in one piece; who reads a page first is left to chance, and so is who reads it then (`os`).
//! - *NUMA_Shard*: lineitem and orders in as many parts as there are nodes; each is read first, and scanned, by workers of its
//!   node. The paper's threads are not bound to the parts; ours are, as else it would be NUMA_Obliv but for its plans.
//! - *NUMA_Distr*: lineitem and orders in as many databases, each with all other tables too; an engine for each of them, bound to
//!   a node by whoever starts it, and a coordinator that plans, asks and merges.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use hardware::{Machine, NodeId};
use nodewise::distributed::{Coordinator, Shard, shard_of};
use nodewise::text::Cells;
use nodewise::{
    Answer, Database, DatabaseOptions, Loading, NoProgress, Session, SqlError, SqlResult, SqlState,
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
    /// NUMA_Distr.
    Distributed,
}

/// Starts an engine, which counts from zero, with a shard in a folder.
pub type StartShard<'a> = &'a dyn Fn(usize, &Path) -> SqlResult<Box<dyn Shard>>;

/// What is measured.
pub struct MonetOptions<'a> {
    /// Timed rounds, after the first look.
    pub runs: usize,
    /// Queries of TPC-H by number.
    pub queries: &'a [usize],
    /// Parts of the sharded tables, and engines.
    pub parts: usize,
    /// Workers, as for a database.
    pub workers: Option<usize>,
    /// Whether the first look finds nothing of the files in memory.
    pub cold: bool,
    /// How files come into memory.
    pub loading: Loading,
    /// Whether each query of the timed rounds is a phase for who counts accesses.
    pub count: bool,
    /// The folder of the Parquet files.
    pub data: &'a Path,
    /// Starts engines.
    pub start: StartShard<'a>,
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

/// The tables that are cut, and by what.
const KEYS: [(&str, &str); 2] = [("lineitem", "l_orderkey"), ("orders", "o_orderkey")];

impl Mode {
    /// All.
    pub const ALL: [Self; 3] = [Self::Oblivious, Self::Sharded, Self::Distributed];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oblivious => "NUMA_Obliv",
            Self::Sharded => "NUMA_Shard",
            Self::Distributed => "NUMA_Distr",
        }
    }

    /// The same for a command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Oblivious => "obliv",
            Self::Sharded => "shard",
            Self::Distributed => "distr",
        }
    }
}

/// The name of the scan.
const SCAN: &str = "scan";

/// Queries of TPC-H, and the paper's scan without an answer; an error names a number that is none.
pub fn queries(numbers: &[usize]) -> Result<Vec<QueryRecord>, usize> {
    let mut records = tpch::select(numbers)?;
    records.push(QueryRecord::new(SCAN, "SELECT count(*) FROM lineitem WHERE l_quantity > 24"));
    Ok(records)
}

/// Makes the folders of a configuration, unless they are there.
pub fn provide(
    machine: &Arc<dyn Machine>,
    folder: &Path,
    mode: Mode,
    options: &MonetOptions<'_>,
) -> SqlResult<()> {
    for (number, folder) in folders(folder, mode, options.parts).iter().enumerate() {
        let settings = DatabaseOptions { workers: options.workers, ..DatabaseOptions::default() };
        let database = Database::open_dir(machine.clone(), folder, settings, &NoProgress)?;
        if database.tables().is_empty() {
            fill(&mut database.session(), mode, number, options)?;
        }
    }
    Ok(())
}

/// The folders of the databases of a configuration.
fn folders(folder: &Path, mode: Mode, parts: usize) -> Vec<PathBuf> {
    match mode {
        Mode::Oblivious | Mode::Sharded => vec![folder.to_owned()],
        Mode::Distributed => {
            (0..parts).map(|it| PathBuf::from(format!("{}.{it}", folder.display()))).collect()
        }
    }
}

/// Loads a database of a configuration.
fn fill(
    session: &mut Session,
    mode: Mode,
    number: usize,
    options: &MonetOptions<'_>,
) -> SqlResult<()> {
    let parts = options.parts;
    match mode {
        Mode::Oblivious => {
            session.execute("SET default_placement = os")?;
            tpch::load(session, options.data)?;
        }
        Mode::Sharded => {
            tpch::load(session, options.data)?;
            for (table, key) in KEYS {
                session.execute(&format!(
                    "ALTER TABLE {table} PARTITION BY HASH ({key}) PARTITIONS {parts}"
                ))?;
            }
        }
        Mode::Distributed => {
            for table in nodewise::tpch::TABLES {
                let path = options.data.join(format!("{table}.parquet"));
                let path = path.display().to_string().replace('\'', "''");
                let key = KEYS.iter().find(|it| it.0 == table);
                let own = key.map(|it| format!("WHERE {} = {number}", shard_of(it.1, parts)));
                let own = own.unwrap_or_default();
                session
                    .execute(&format!("CREATE TABLE {table} AS SELECT * FROM '{path}' {own}"))?;
            }
        }
    }
    session.execute("CHECKPOINT")?;
    Ok(())
}

/// What answers.
enum Engine {
    One(Box<Session>),
    Shards(Box<Coordinator>),
}

impl Engine {
    fn open(
        machine: &Arc<dyn Machine>,
        folder: &Path,
        mode: Mode,
        options: &MonetOptions<'_>,
    ) -> SqlResult<Self> {
        let (workers, loading) = (options.workers, options.loading);
        let settings = DatabaseOptions { workers, loading, ..DatabaseOptions::default() };
        if mode == Mode::Distributed {
            let folders = folders(folder, mode, options.parts);
            let started: SqlResult<Vec<_>> =
                folders.iter().enumerate().map(|it| (options.start)(it.0, it.1)).collect();
            let coordinator = Coordinator::open(machine.clone(), settings, started?, &KEYS)?;
            return Ok(Self::Shards(Box::new(coordinator)));
        }
        let database = Database::open_dir(machine.clone(), folder, settings, &NoProgress)?;
        let mut session = database.session();
        let strategy = if mode == Mode::Oblivious { "os" } else { "bound" };
        session.execute(&format!("SET strategy = {strategy}"))?;
        Ok(Self::One(Box::new(session)))
    }

    fn query(&mut self, sql: &str) -> SqlResult<Answer> {
        match self {
            Self::One(session) => session.query(sql),
            Self::Shards(coordinator) => coordinator.query(sql),
        }
    }

    /// What each engine answers to a look at its views.
    fn each(&mut self, sql: &str) -> SqlResult<Vec<Vec<RecordBatch>>> {
        match self {
            Self::One(session) => Ok(vec![session.query(sql)?.batches]),
            Self::Shards(coordinator) => coordinator.on_shards(sql),
        }
    }

    /// Pairs of numbers that each engine answers, added up by the first.
    fn pairs(&mut self, sql: &str) -> SqlResult<Vec<(u64, u64)>> {
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        for batch in self.each(sql)?.iter().flatten() {
            let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
            let number = |column: usize, row| cells.get(column)?.text(row)?.parse().ok();
            for row in 0..batch.num_rows() {
                let (Some(key), Some(value)) = (number(0, row), number(1, row)) else { continue };
                match pairs.iter_mut().find(|it| it.0 == key) {
                    Some(it) => it.1 += value,
                    None => pairs.push((key, value)),
                }
            }
        }
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// Bytes that scans have read on their own node, and elsewhere.
    fn traffic(&mut self) -> SqlResult<[u64; 2]> {
        let sql = "SELECT CASE WHEN running_node = memory_node THEN 0 ELSE 1 END, sum(bytes_read) \
            FROM nodewise.item_traffic GROUP BY 1";
        let pairs = self.pairs(sql)?;
        Ok([0, 1].map(|place| pairs.iter().filter(|it| it.0 == place).map(|it| it.1).sum()))
    }
}

/// Measures a configuration in its folders.
pub fn measure(
    machine: &Arc<dyn Machine>,
    folder: &Path,
    mode: Mode,
    options: &MonetOptions<'_>,
) -> SqlResult<MonetRecord> {
    if options.cold {
        for folder in folders(folder, mode, options.parts) {
            drop_caches(&**machine, &folder)?;
        }
    }
    let no_query =
        |number| SqlError::new(SqlState::INVALID_PARAMETER, format!("TPC-H has no query {number}"));
    let records = queries(options.queries).map_err(no_query)?;
    let started = machine.now();
    let mut engine = Engine::open(machine, folder, mode, options)?;
    engine.query("SELECT count(*) FROM nation")?;
    let opened = machine.now() - started;
    // Nobody has an answer of the scan to compare with.
    let judge = |name: &str, answer: &[RecordBatch]| match name {
        SCAN => Verdict::Unchecked,
        _ => (options.judge)(name, answer),
    };
    let mut all = Vec::new();
    for mut record in records {
        let started = machine.now();
        record.warm_by(&mut |sql| engine.query(sql), &judge);
        all.push((record, machine.now() - started));
    }
    let before = engine.traffic()?;
    for (record, _) in &mut all {
        for _ in 0..options.runs {
            let count = |on: bool| {
                if options.count {
                    machine.count_accesses(on);
                }
            };
            count(true);
            record.run_by(&**machine, &mut |sql| engine.query(sql));
            count(false);
        }
    }
    let after = engine.traffic()?;
    let read = [after[0] - before[0], after[1] - before[1]];
    let page = machine.page_bytes().max(1) as u64;
    let placed = engine.pairs(
        "SELECT node, sum(bytes) FROM nodewise.column_placement \
         WHERE table_name = 'lineitem' AND node IS NOT NULL GROUP BY node",
    )?;
    let pages = placed.into_iter().map(|it| (NodeId(it.0 as u16), it.1 / page)).collect();
    Ok(MonetRecord { opened, queries: all, pages, read })
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

#[cfg(test)]
mod tests {
    use hardware::samples;
    use nodewise::distributed::LocalShard;
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
        let start = |_: usize, folder: &Path| -> SqlResult<Box<dyn Shard>> {
            let settings =
                DatabaseOptions { loading: Loading::Mapped, ..DatabaseOptions::default() };
            let database = Database::open_dir(machine.clone(), folder, settings, &NoProgress)?;
            Ok(Box::new(LocalShard::new(&database)))
        };
        let options = MonetOptions {
            runs: 1,
            queries: &[4, 6, 19],
            parts: 4,
            workers: None,
            cold: true,
            loading: Loading::Mapped,
            count: false,
            data: &data,
            start: &start,
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
        assert_eq!(queries(&[23]).unwrap_err(), 23);
    }
}
