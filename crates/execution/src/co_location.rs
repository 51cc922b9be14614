//! Which joins and groupings run part by part (docs/design/02-memory-and-placement.md, "joins"; P-HYPER 4.3): joins of rows
//! that are hashed on the joined columns into equally many parts, and groupings that tell the parts apart. Rows that
//! belong together are then in parts of the same number, so that each part has a table of its own on its node, and nobody
//! looks into another.
//!
//! Key decision: it is found in the tables of the statement's snapshot when the plan is run, not when it is made: who
//! repartitions a table need not plan anew, and which nodes there are is known only here.
//!
//! - Invariant: batches that come from a scan or from groups in parts, through any operators, tell by their sequence which
//!   part they are of, as no batch is of two parts.

use std::collections::HashMap;

use hardware::NodeId;
use plan::{
    Expr, ExprKind, Join, JoinKind, Operator, Pipeline, PipelineId, Plan, Scan, Sink, Source,
};
use stdx::sync::Arc;
use storage::{Partitioning, Table};
use types::{ColumnId, TableId};

/// Workers for each part up to which work is done part by part, because one of them puts together what its part left. Not
/// measured on hardware; to put a table together is about a quarter of a join.
const WORKERS_PER_PART_MAX: usize = 4;

/// Parts up to which work is done part by part: each takes the memory of a table, and of the groups of each worker.
/// P-HYPER 5 cuts its tables into 64.
const PARTS_MAX: usize = 128;

/// The parts that rows are of.
#[derive(Clone, Debug)]
pub struct PartMap {
    /// The sequence of the first batch of each run of batches of one part, and the part: its deltas are runs of their own.
    runs: Vec<(u64, usize)>,
    /// The node of each part.
    homes: Vec<Option<NodeId>>,
}

impl PartMap {
    /// The parts of a table, whose rows are in sequence by position.
    pub fn of(table: &Table) -> Self {
        let run = |it: &storage::Part| (it.positions().start as u64, it.number());
        Self { runs: table.parts().iter().map(run).collect(), homes: homes_of(table) }
    }

    /// The same parts, of so many batches each.
    pub fn of_batches(&self, counts: impl Iterator<Item = usize>) -> Self {
        let mut next = 0;
        let first = |(part, count): (usize, usize)| {
            next += count as u64;
            (next - count as u64, part)
        };
        Self { runs: counts.enumerate().map(first).collect(), homes: self.homes.clone() }
    }

    /// The part of a batch.
    pub fn part_of(&self, sequence: u64) -> usize {
        let run = self.runs.partition_point(|it| it.0 <= sequence).saturating_sub(1);
        self.runs[run].1
    }

    /// The node of each part.
    pub fn homes(&self) -> &[Option<NodeId>] {
        &self.homes
    }
}

/// The node of each part; parts whose place has several take turns among them.
fn homes_of(table: &Table) -> Vec<Option<NodeId>> {
    let home = |(number, it): (usize, &storage::Part)| {
        let nodes = it.nodes();
        nodes.get(number.checked_rem(nodes.len())?).copied()
    };
    table.parts().iter().take(table.partitioning().parts()).enumerate().map(home).collect()
}

/// The pipelines of a plan whose hash table or groups are cut into parts.
#[derive(Default)]
pub struct CoLocation(Vec<bool>);

impl CoLocation {
    /// What can be told of a plan over these tables, for so many workers.
    pub fn of(plan: &Plan, tables: &HashMap<TableId, Arc<Table>>, workers: usize) -> Self {
        let mut search = Search { tables, workers, builds: Vec::new(), groups: Vec::new() };
        // Hardly any query reads tables in parts, and the others pay nothing.
        if !plan.pipelines.iter().any(|it| search.source(it).is_some()) {
            return Self::default();
        }
        search.builds.resize_with(plan.pipelines.len(), || None);
        search.groups.resize_with(plan.pipelines.len(), || None);
        plan.pipelines.iter().for_each(|it| search.look_at(it));
        let Search { builds, groups, .. } = search;
        Self(builds.iter().zip(&groups).map(|it| it.0.is_some() || it.1.is_some()).collect())
    }

    /// Whether nothing is cut into parts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a pipeline leaves a table, or groups, for each part.
    pub fn is_in_parts(&self, pipeline: PipelineId) -> bool {
        self.0.get(pipeline.index()).copied().unwrap_or(false)
    }
}

/// What a column is.
#[derive(Clone)]
enum Origin {
    /// A column of the table that decides the parts.
    Column(ColumnId),
    /// Something that is equal only where these columns of the table are.
    Determines(Vec<ColumnId>),
    /// Anything.
    Other,
}

impl Origin {
    /// The columns of the table that are equal where this is.
    fn determined(&self) -> &[ColumnId] {
        match self {
            Self::Column(column) => std::slice::from_ref(column),
            Self::Determines(columns) => columns,
            Self::Other => &[],
        }
    }

    fn is(&self, column: ColumnId) -> bool {
        matches!(self, Self::Column(it) if *it == column)
    }
}

/// Rows of parts: those of a table, or what its rows became.
#[derive(Clone)]
struct Rows<'a> {
    /// The table that decides the parts.
    table: &'a Table,
    /// By column; or, of a side of a join, by key.
    columns: Vec<Origin>,
}

impl<'a> Rows<'a> {
    fn of_scan(scan: &Scan, table: &'a Table) -> Self {
        let columns = scan.output.iter().map(|&it| Origin::Column(scan.columns[it])).collect();
        Self { table, columns }
    }

    /// The columns by which rows are hashed, and into how many parts.
    fn hashed(&self) -> (&'a [ColumnId], usize) {
        match self.table.partitioning() {
            Partitioning::Hash { columns, parts } => (columns, *parts),
            _ => (&[], 1),
        }
    }

    /// The same rows with other columns.
    fn with(&self, exprs: &[Expr]) -> Self {
        let origin = |it: &Expr| match it.kind {
            ExprKind::Column(place) => self.column(place),
            _ => Origin::Other,
        };
        Self { table: self.table, columns: exprs.iter().map(origin).collect() }
    }

    fn column(&self, place: usize) -> Origin {
        self.columns.get(place).cloned().unwrap_or(Origin::Other)
    }

    /// What an operator hands on.
    fn behind(mut self, operator: &Operator) -> Self {
        match operator {
            Operator::Filter(_) => {}
            Operator::Repeat { kept, .. } => {
                self.columns = kept.iter().map(|&it| self.column(it)).collect();
            }
            Operator::Project(exprs) => return self.with(exprs),
            Operator::Join(join) => {
                // What is beyond the input comes from the build side. Its rows with one number have one key.
                let keys = self.with(&join.keys).columns;
                let keys = keys.iter().flat_map(Origin::determined).copied().collect();
                let number = join.numbers.then_some(Origin::Determines(keys));
                let columns = join.output.iter().map(|&it| self.column(it));
                self.columns = columns.chain(number).collect();
            }
            Operator::Fetch(fetch) => {
                self.columns.extend(fetch.payload.iter().map(|_| Origin::Other));
            }
        }
        self
    }

    /// Whether rows of two sides that have equal keys are in parts of the same number.
    fn is_alike(&self, other: &Self) -> bool {
        let ((own, parts), (others, as_many)) = (self.hashed(), other.hashed());
        let meet = |(own, foreign): (&ColumnId, &ColumnId)| {
            let mut pairs = self.columns.iter().zip(&other.columns);
            self.table.column(*own).data_type == other.table.column(*foreign).data_type
                && pairs.any(|(left, right)| left.is(*own) && right.is(*foreign))
        };
        parts == as_many && own.len() == others.len() && own.iter().zip(others).all(meet)
    }

    /// Whether rows with equal values of all columns are in one part.
    fn tell_parts_apart(&self) -> bool {
        let determined = |it: &ColumnId| self.columns.iter().any(|of| of.determined().contains(it));
        self.hashed().0.iter().all(determined)
    }
}

/// What is found on the way through a plan.
struct Search<'a> {
    tables: &'a HashMap<TableId, Arc<Table>>,
    workers: usize,
    /// By pipeline, the keys of a build side, as long as all that look it up are cut alike.
    builds: Vec<Option<Rows<'a>>>,
    /// By pipeline, the groups that are left in parts.
    groups: Vec<Option<Rows<'a>>>,
}

impl<'a> Search<'a> {
    /// The rows that a pipeline begins with, if they are of parts.
    fn source(&self, pipeline: &Pipeline) -> Option<Rows<'a>> {
        match &pipeline.source {
            Source::Scan(scan) => {
                let table: &'a Table = self.tables.get(&scan.table)?;
                is_worth_it(table, self.workers).then(|| Rows::of_scan(scan, table))
            }
            Source::Read(from) => match from[..] {
                [only] => self.groups.get(only.index())?.clone(),
                _ => None,
            },
            _ => None,
        }
    }

    fn look_at(&mut self, pipeline: &Pipeline) {
        let mut rows = self.source(pipeline);
        if let Source::Scan(scan) = &pipeline.source {
            // The values of one of several keys are taken from the tables of all parts.
            let one_key = |it: &&plan::Transfer| self.has_one_key(it.build);
            let transfers: Vec<_> = scan.transfers.iter().filter(one_key).collect();
            for transfer in transfers {
                let columns = vec![Origin::Column(scan.columns[transfer.column])];
                let asking = rows.as_ref().map(|it| Rows { columns, ..it.clone() });
                self.use_of(transfer.build, asking);
            }
        }
        for operator in &pipeline.operators {
            if let Operator::Join(join) = operator {
                let asking = rows.as_ref().filter(|_| !asks_all_parts(join));
                self.use_of(join.build, asking.map(|it| it.with(&join.keys)));
            }
            rows = rows.map(|it| it.behind(operator));
        }
        let Some(rows) = rows else { return };
        let place = pipeline.id.index();
        match &pipeline.sink {
            Sink::HashBuild(build) => self.builds[place] = Some(rows.with(&build.keys)),
            Sink::Aggregate { keys, aggregates, .. } => {
                let mut groups = rows.with(keys);
                if groups.tell_parts_apart() {
                    groups.columns.extend(aggregates.iter().map(|_| Origin::Other));
                    self.groups[place] = Some(groups);
                }
            }
            Sink::Sort { .. } | Sink::Window { .. } | Sink::Materialize { .. } | Sink::Result => {}
        }
    }

    /// Whether what a pipeline builds is found by one key, as far as it is known to be of parts.
    fn has_one_key(&self, build: PipelineId) -> bool {
        self.builds[build.index()].as_ref().is_none_or(|it| it.columns.len() == 1)
    }

    /// Somebody looks up these keys in what a pipeline builds; `None` where they are not of parts.
    fn use_of(&mut self, build: PipelineId, asking: Option<Rows<'a>>) {
        let build = &mut self.builds[build.index()];
        let alike = |it: &Rows<'_>| asking.as_ref().is_some_and(|asking| it.is_alike(asking));
        *build = build.take().filter(alike);
    }
}

/// Whether work on the parts of a table is done part by part: they are enough for the workers. Values that are equal in SQL have
/// the same hash whatever their type: texts of CHAR are held without blanks at their end, and floats are hashed by the form in
/// which zeros and what is no number are one value each. It pays on one node, too: what is sorted by its key is so in each
/// part, but not over all, and smaller tables are nearer to a cache.
fn is_worth_it(table: &Table, workers: usize) -> bool {
    let Partitioning::Hash { parts, .. } = table.partitioning() else { return false };
    workers <= parts * WORKERS_PER_PART_MAX && *parts <= PARTS_MAX
}

/// Whether a join asks what other parts have, too: NOT IN is never TRUE where there is any NULL.
fn asks_all_parts(join: &Join) -> bool {
    matches!(join.kind, JoinKind::AntiNullAware | JoinKind::Mark { null_aware: true })
}
