//! Which joins send the rows of both sides to a node by their key (docs/design/02-memory-and-placement.md, "exchange by
//! node"; P-HYPER 4.3): where they are not in parts alike, and looks into memory of other nodes would cost more than moving
//! the rows. Then each node has a table of its own, and rows are looked up where they have come to.
//!
//! Key decision: it is decided in [`Exchange::decide`] alone, by what is expected for EXPLAIN, and once more when the build
//! side is complete, by the rows that it has. What can be known before, which joins allow it, is found in the plan.
//!
//! - Invariant: on a machine of one node nothing of this is asked.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use hardware::{NodeId, Topology};
use plan::{
    Expr, ExprKind, HashBuild, Join, JoinKind, Operator, Pipeline, PipelineId, Plan, Sink, Source,
};
use scheduler::{Affinity, Policy};
use stdx::sync::Arc;
use storage::Table;
use types::TableId;

use crate::co_location::CoLocation;

/// Nanoseconds of a look beyond the caches in memory of the own node, while others of its batch are under way: a hash table of
/// millions of rows against one in the caches (docs/design/07-measured-costs.md, "probes and sets": 19 and 6.3).
const LOOK_NANOS: f64 = 12.7;
/// Nanoseconds to hash a row and to put it beside others of its node (docs/design/07-measured-costs.md, "groups": 6.1 for a row
/// that is cut into partitions and grouped there, of which 1.4 are the grouping).
const ROW_NANOS: f64 = 4.7;
/// Nanoseconds for a byte of a row that moves: it is gathered, written, read and taken apart, each as a stream of some columns
/// (docs/design/07-measured-costs.md, "memory": 21 to 25 GB/s).
const BYTE_NANOS: f64 = 4.0 / 22.0;
/// Bytes of a value of a row that moves, and of one that is stored.
const VALUE_BYTES: f64 = 8.0;
/// Bytes of a line of memory. Looks for keys that rise into a table whose keys rise share it with their neighbours.
const LINE_BYTES: f64 = 64.0;
/// Columns of rows whose layout is known only when they are there.
const COLUMNS_ASSUMED: usize = 3;
/// Bytes of a row of a hash table beside what is stored of it.
const ENTRY_BYTES: f64 = 16.0;
/// Rows of a build side up to which the sides stay where they are, whatever is asked for: there is nothing to share.
const ROWS_MIN: u64 = 1;
/// A last-level cache whose size the machine does not tell.
const CACHE_ASSUMED: f64 = (32 << 20) as f64;

/// When joins exchange rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExchangeMode {
    /// Never.
    Off,
    /// Where it is found to cost less than remote looks.
    #[default]
    Auto,
    /// Wherever it is possible.
    On,
}

impl ExchangeMode {
    /// The words of all values, in order.
    pub const WORDS: [&str; 3] = ["off", "auto", "on"];
}

impl fmt::Display for ExchangeMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS[*self as usize])
    }
}

impl FromStr for ExchangeMode {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let all = [Self::Off, Self::Auto, Self::On];
        all.into_iter().find(|it| it.to_string().eq_ignore_ascii_case(word)).ok_or(())
    }
}

/// What joins are run on.
pub struct Surroundings<'a> {
    /// The machine.
    pub topology: &'a Topology,
    /// Its workers.
    pub workers: usize,
    /// How the statement is run.
    pub policy: &'a Policy,
    /// When its joins exchange rows.
    pub mode: ExchangeMode,
}

impl Surroundings<'_> {
    /// The nodes that work for the statement and have memory.
    fn nodes(&self) -> Vec<NodeId> {
        let topology = self.topology;
        let works = |it: &NodeId| {
            let asked = self.policy.nodes.is_empty() || self.policy.nodes.contains(it);
            asked && topology.cpus_of(*it).next().is_some()
        };
        topology.memory_nodes().into_iter().filter(works).collect()
    }
}

/// The machine as exchanges see it.
struct Figures {
    nodes: Vec<NodeId>,
    cache_bytes: f64,
    /// What reaching a node costs in the mean over all pairs of them, reaching the own one being 1.
    mean_cost: f64,
    mode: ExchangeMode,
}

impl Figures {
    fn of(around: &Surroundings<'_>, nodes: Vec<NodeId>) -> Self {
        let topology = around.topology;
        let from =
            |from: NodeId| nodes.iter().map(|to| topology.relative_cost(from, *to)).sum::<f64>();
        let pairs = (nodes.len() * nodes.len()) as f64;
        let mean_cost = nodes.iter().map(|it| from(*it)).sum::<f64>() / pairs;
        let cache_bytes = match topology.llc_bytes.0 {
            0 => CACHE_ASSUMED,
            bytes => bytes as f64,
        };
        Self { nodes, cache_bytes, mean_cost, mode: around.mode }
    }
}

/// What looks into a hash table.
#[derive(Clone, Copy, Default)]
struct Probes {
    /// Rows.
    rows: f64,
    /// Values of these rows.
    values: f64,
    /// Lines of memory that are asked for.
    looks: f64,
}

/// What is known of the exchange of a join.
pub struct Exchange {
    figures: Arc<Figures>,
    probes: Probes,
    /// Values that are stored of a build row, and its keys.
    payload: f64,
    keys: f64,
}

/// What an exchange comes to.
pub struct Decision {
    /// Whether rows are exchanged.
    pub pays: bool,
    /// Why, in words.
    pub reason: String,
}

impl Exchange {
    /// One between so many nodes whatever it costs.
    #[cfg(test)]
    pub(crate) fn forced(nodes: u16) -> Arc<Self> {
        let nodes = (0..nodes).map(NodeId).collect();
        let (cache_bytes, mean_cost, mode) = (0.0, 1.0, ExchangeMode::On);
        let figures = Arc::new(Figures { nodes, cache_bytes, mean_cost, mode });
        Arc::new(Self { figures, probes: Probes::default(), payload: 1.0, keys: 1.0 })
    }

    /// The nodes that rows go to.
    pub fn nodes(&self) -> &[NodeId] {
        &self.figures.nodes
    }

    /// Nanoseconds of workers for looks beyond the caches into a table that is dealt round the nodes.
    fn cost_of_remote_looks(&self, table_bytes: f64) -> f64 {
        match table_bytes <= self.figures.cache_bytes {
            true => 0.0,
            false => self.probes.looks * LOOK_NANOS * self.figures.mean_cost,
        }
    }

    /// Nanoseconds of workers for moving so many build rows and the rows that look for them, and for the looks then.
    fn cost_of_exchange(&self, rows: f64, table_bytes: f64) -> f64 {
        let own_bytes = table_bytes / self.figures.nodes.len() as f64;
        let looks = if own_bytes <= self.figures.cache_bytes { 0.0 } else { self.probes.looks };
        let values = rows * (self.payload + self.keys) + self.probes.values;
        let moved = (rows + self.probes.rows) * ROW_NANOS + values * VALUE_BYTES * BYTE_NANOS;
        moved + looks * LOOK_NANOS
    }

    /// Whether it pays for so many build rows.
    pub fn decide(&self, rows: u64) -> Decision {
        let table_bytes = rows as f64 * (ENTRY_BYTES + VALUE_BYTES * self.payload);
        let remote = self.cost_of_remote_looks(table_bytes);
        let exchange = self.cost_of_exchange(rows as f64, table_bytes);
        let pays = match self.figures.mode {
            _ if rows < ROWS_MIN => false,
            ExchangeMode::On => true,
            ExchangeMode::Off | ExchangeMode::Auto => exchange < remote,
        };
        let ms = |nanos: f64| format!("{:.1} ms", nanos / 1e6);
        let reason = match (pays, remote > 0.0) {
            (true, _) if exchange >= remote => "as join_exchange is on".to_owned(),
            (false, false) => "as it fits into a cache".to_owned(),
            (true, _) => {
                format!(
                    "as moving the rows costs about {} of work and remote looks {}",
                    ms(exchange),
                    ms(remote)
                )
            }
            (false, true) => {
                format!(
                    "as remote looks cost about {} of work and moving the rows {}",
                    ms(remote),
                    ms(exchange)
                )
            }
        };
        Decision { pays, reason }
    }
}

/// Why a join does not exchange rows.
type Obstacle = &'static str;

/// The joins of a plan that may exchange rows.
#[derive(Default)]
pub struct Exchanges(Vec<Result<Arc<Exchange>, Obstacle>>);

impl Exchanges {
    /// What can be told of a plan, of whose build sides these are in parts already, and those for which rows `can_wait` until
    /// all of them have come.
    pub fn of(
        plan: &Plan,
        tables: &HashMap<TableId, Arc<Table>>,
        co_location: &CoLocation,
        can_wait: &dyn Fn(PipelineId) -> bool,
        around: &Surroundings<'_>,
    ) -> Self {
        let nodes = match around.mode {
            ExchangeMode::Off => Vec::new(),
            ExchangeMode::Auto if around.policy.affinity == Affinity::None => Vec::new(),
            _ => around.nodes(),
        };
        if nodes.len() < 2 {
            return Self::default();
        }
        let count = plan.pipelines.len();
        let (builds, in_order) = (vec![Ok(Probes::default()); count], vec![false; count]);
        let mut search = Search { tables, co_location, can_wait, builds, in_order };
        plan.pipelines.iter().for_each(|it| search.look_at(it));
        let figures = Arc::new(Figures::of(around, nodes));
        let exchange = |(pipeline, probes): (&Pipeline, Result<Probes, Obstacle>)| {
            let probes = probes?;
            let Sink::HashBuild(HashBuild { keys, payload, .. }) = &pipeline.sink else {
                return Err("it is no build side");
            };
            if is_in_place(pipeline, tables) {
                return Err("it is where it is");
            }
            let (payload, keys) = (payload.len() as f64, keys.len() as f64);
            Ok(Arc::new(Exchange { figures: figures.clone(), probes, payload, keys }))
        };
        Self(plan.pipelines.iter().zip(search.builds).map(exchange).collect())
    }

    /// The exchange of what a pipeline builds, if there may be one.
    pub fn get(&self, pipeline: PipelineId) -> Option<&Arc<Exchange>> {
        self.0.get(pipeline.index())?.as_ref().ok()
    }

    /// Whether rows are exchanged for what a pipeline builds, with so many rows as are expected, and why.
    pub fn expected(&self, pipeline: &Pipeline) -> Decision {
        let no = |reason: &str| Decision { pays: false, reason: reason.to_owned() };
        match self.0.get(pipeline.id.index()) {
            None => no("as rows that join may be on any of them"),
            Some(Err(obstacle)) => no(obstacle),
            Some(Ok(exchange)) => exchange.decide(pipeline.estimated_rows as u64),
        }
    }
}

/// Whether the stored table itself is what a pipeline builds, as it finds its rows by their keys: nothing moves then.
pub(crate) fn is_in_place(pipeline: &Pipeline, tables: &HashMap<TableId, Arc<Table>>) -> bool {
    let (Source::Scan(scan), [], Sink::HashBuild(build)) =
        (&pipeline.source, &pipeline.operators[..], &pipeline.sink)
    else {
        return false;
    };
    let is_column = |it: &Expr| matches!(it.kind, ExprKind::Column(_));
    let numbers = |it: &Expr| match (&it.kind, tables.get(&scan.table)) {
        (ExprKind::Column(place), Some(table)) => {
            let column = scan.columns[scan.output[*place]];
            column.index() < table.columns.len() && table.dense_key(column).is_some()
        }
        _ => false,
    };
    scan.filters.is_empty()
        && scan.transfers.is_empty()
        && build.payload.iter().all(is_column)
        && matches!(&build.keys[..], [key] if numbers(key))
}

/// What is found on the way through a plan.
struct Search<'a> {
    tables: &'a HashMap<TableId, Arc<Table>>,
    co_location: &'a CoLocation,
    can_wait: &'a dyn Fn(PipelineId) -> bool,
    /// By pipeline that builds, who looks it up.
    builds: Vec<Result<Probes, Obstacle>>,
    /// By pipeline that builds, whether its rows come in the order of its only key.
    in_order: Vec<bool>,
}

impl Search<'_> {
    fn look_at(&mut self, pipeline: &Pipeline) {
        let obstacle = self.obstacle(pipeline);
        let mut columns = self.source(&pipeline.source);
        for operator in &pipeline.operators {
            match operator {
                Operator::Filter(_) => {}
                Operator::Repeat { numbered, kept, items, .. } => {
                    let place = |it: &usize| columns.get(*it).copied().unwrap_or_default();
                    columns = kept.iter().map(place).collect();
                    columns.resize(columns.len() + usize::from(*numbered) + items.len(), false);
                }
                Operator::Project(exprs) => columns = with(&columns, exprs),
                Operator::Fetch(fetch) => {
                    columns.resize(columns.len() + fetch.payload.len(), false)
                }
                Operator::Join(join) => {
                    self.look_at_join(join, obstacle, &columns, pipeline.estimated_rows);
                    let place = |it: &usize| columns.get(*it).copied().unwrap_or_default();
                    let numbers = join.numbers.then_some(false);
                    columns = join.output.iter().map(place).chain(numbers).collect();
                }
            }
        }
        if let Sink::HashBuild(build) = &pipeline.sink {
            self.in_order[pipeline.id.index()] = with(&columns, &build.keys)[..] == [true];
        }
    }

    /// The columns that a source hands on: whether rows come in their order.
    fn source(&self, source: &Source) -> Vec<bool> {
        match source {
            Source::Scan(scan) => {
                let table = self.tables.get(&scan.table);
                let rises = |it: &usize| {
                    let column = scan.columns[*it];
                    table.is_some_and(|it| {
                        let stored = column.index() < it.columns.len();
                        stored && it.column(column).statistics.sorted
                    })
                };
                scan.output.iter().map(rises).collect()
            }
            Source::Values { types, .. } => vec![false; types.len()],
            // How many there are is not told here; what an operator hands on is.
            Source::Read(_) | Source::BuildRows { .. } => vec![false; COLUMNS_ASSUMED],
        }
    }

    /// A join of rows with these columns. How many rows come to it is not in the plan, only how many there are at the end.
    fn look_at_join(
        &mut self,
        join: &Join,
        obstacle: Option<Obstacle>,
        columns: &[bool],
        rows: f64,
    ) {
        let stored = match join.kind {
            JoinKind::Inner | JoinKind::Left => {
                join.output.iter().filter(|it| **it >= columns.len()).count()
            }
            _ => 0,
        };
        let in_order = self.in_order[join.build.index()] && with(columns, &join.keys)[..] == [true];
        let share = if in_order { VALUE_BYTES / LINE_BYTES } else { 1.0 };
        let more = Probes {
            rows,
            values: rows * columns.len() as f64,
            looks: rows * (1 + stored) as f64 * share,
        };
        let obstacle = match (self.can_wait)(join.build) {
            _ if self.co_location.is_in_parts(join.build) => Some("as each part has its own"),
            false => Some("as rows that look for others cannot wait"),
            true => obstacle,
        };
        let known = &mut self.builds[join.build.index()];
        match (obstacle, &mut *known) {
            (Some(obstacle), _) => *known = Err(obstacle),
            (None, Ok(known)) => {
                known.rows += more.rows;
                known.values += more.values;
                known.looks += more.looks;
            }
            (None, Err(_)) => {}
        }
    }

    /// Why the rows of a pipeline stay where they are, if they do.
    fn obstacle(&self, pipeline: &Pipeline) -> Option<Obstacle> {
        let in_parts = |it: &Operator| match it {
            Operator::Join(join) => self.co_location.is_in_parts(join.build),
            _ => false,
        };
        if let Sink::Materialize { limit: Some(_), .. } = pipeline.sink {
            return Some("as the first rows are wanted soon");
        }
        let work =
            self.co_location.is_in_parts(pipeline.id) || pipeline.operators.iter().any(in_parts);
        work.then_some("as the rows that look for others stay with their parts")
    }
}

/// What expressions over some columns are: whether rows come in their order.
fn with(columns: &[bool], exprs: &[Expr]) -> Vec<bool> {
    let of = |it: &Expr| match it.kind {
        ExprKind::Column(place) => columns.get(place).copied().unwrap_or_default(),
        _ => false,
    };
    exprs.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use hardware::samples;

    use super::*;

    /// An exchange of a hundred million rows that look for others, each with so many values and looks, on a sample machine.
    fn exchange(machine: &str, values: f64, looks: f64, mode: ExchangeMode) -> Exchange {
        let topology = samples::by_name(machine).unwrap();
        let policy = Policy::default();
        let around = Surroundings { topology: &topology, workers: 8, policy: &policy, mode };
        let figures = Arc::new(Figures::of(&around, around.nodes()));
        let rows = 1e8;
        let probes = Probes { rows, values: rows * values, looks: rows * looks };
        Exchange { figures, probes, payload: looks - 1.0, keys: 1.0 }
    }

    #[test]
    fn rows_move_where_many_far_lines_are_asked_for() {
        let pays = |machine, values, looks, rows| {
            exchange(machine, values, looks, ExchangeMode::Auto).decide(rows).pays
        };
        // Three lines of a table beyond all caches for each row of two values.
        assert!(pays("four_sockets", 2.0, 3.0, 5_000_000));
        assert!(pays("thirty_two", 2.0, 1.0, 5_000_000), "the farther, the sooner");
        assert!(!pays("four_sockets", 20.0, 2.0, 5_000_000), "wide rows, few looks");
        assert!(!pays("four_sockets", 2.0, 3.0, 100_000), "a cache has all of it");
        assert!(!pays("sub_numa", 8.0, 1.0, 10_000_000), "near nodes");
        // More build rows than rows that look for them.
        assert!(!pays("four_sockets", 2.0, 2.0, 500_000_000));
        let on = exchange("four_sockets", 20.0, 1.0, ExchangeMode::On);
        assert!(on.decide(10).pays && !on.decide(0).pays);
        assert_eq!(on.decide(10).reason, "as join_exchange is on");
    }

    #[test]
    fn who_asks_for_few_nodes_gets_them() {
        let topology = samples::cpuless();
        let mut policy = Policy::default();
        let nodes = |policy: &Policy| {
            let mode = ExchangeMode::Auto;
            Surroundings { topology: &topology, workers: 8, policy, mode }.nodes()
        };
        assert_eq!(nodes(&policy), [NodeId(0), NodeId(1)], "no rows go where nobody works");
        policy.nodes = vec![NodeId(1)];
        assert_eq!(nodes(&policy), [NodeId(1)]);
    }

    #[test]
    fn modes_have_words() {
        for word in ExchangeMode::WORDS {
            assert_eq!(word.parse::<ExchangeMode>().unwrap().to_string(), word);
        }
        assert_eq!("ON".parse(), Ok(ExchangeMode::On));
        assert_eq!("perhaps".parse::<ExchangeMode>(), Err(()));
    }
}
