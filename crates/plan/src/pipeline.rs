//! Pipelines: where rows come from, what is done to a batch on the way, where they end.

use serde::{Deserialize, Serialize};
use stdx::sync::Arc;
use types::{ColumnId, DataType, TableId};

use crate::{Aggregate, Expr, PipelineId, SortKey, WindowCall};

/// A whole query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Pipelines in an order that respects their dependencies; the last one ends in [`Sink::Result`].
    pub pipelines: Vec<Pipeline>,
    /// Names and types of the result.
    pub output: Vec<OutputColumn>,
    /// What is run before, for rows that pipelines scan as tables; each may scan those before it.
    pub recursions: Vec<Recursion>,
}

/// Rows that are made of rows, round by round ([`crate::relation::RecursiveQuery`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recursion {
    /// The table of its rows: to `step` those of the last round, to all others those of all.
    pub table: TableId,
    /// Its name.
    pub name: String,
    /// To `step` the table of the rows of all rounds so far, where rows come once.
    pub seen: Option<TableId>,
    /// The first round.
    pub first: Plan,
    /// Each other round.
    pub step: Plan,
    /// How many rows are enough, whatever rounds there are to come.
    pub enough: Option<u64>,
}

impl Plan {
    /// All scans, those of recursions with them.
    pub fn scans(&self) -> Vec<&Scan> {
        let own = self.pipelines.iter().filter_map(|it| match &it.source {
            Source::Scan(scan) => Some(scan),
            _ => None,
        });
        let parts = self.recursions.iter().flat_map(|it| [&it.first, &it.step]);
        own.chain(parts.flat_map(Self::scans)).collect()
    }
}

/// A column of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputColumn {
    /// Its name as a user sees it.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Where it comes from, if it is a column of a relation as it is.
    pub origin: Option<ColumnOrigin>,
}

impl OutputColumn {
    /// One that comes from no relation.
    pub fn computed(name: impl Into<String>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, origin: None }
    }
}

/// A column of a relation of the catalog, as `pg_attribute` has it: what a column of a result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ColumnOrigin {
    /// The number of the table or the view (`attrelid`).
    pub relation: u32,
    /// The number of the column in it, from 1 on (`attnum`).
    pub column: u16,
}

/// One pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// Its place in the plan.
    pub id: PipelineId,
    /// Where its rows come from.
    pub source: Source,
    /// What happens to each batch, in order.
    pub operators: Vec<Operator>,
    /// Where its rows end.
    pub sink: Sink,
    /// Rows that the planner expects to reach the sink.
    pub estimated_rows: f64,
}

/// Where the rows of a pipeline come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Source {
    /// The rows of a table.
    Scan(Scan),
    /// The rows that earlier pipelines left ([`Sink::Aggregate`], [`Sink::Sort`], [`Sink::Materialize`]), one after the
    /// other (UNION ALL); a sorted state keeps its order when it is the only one.
    Read(Vec<PipelineId>),
    /// The rows of a hash table, after all probes with `track_matches` are done: those that found a partner or those
    /// that did not. Layout: the build's payload.
    BuildRows {
        /// The pipeline that built the table.
        build: PipelineId,
        /// Which rows.
        matched: bool,
    },
    /// Constant rows; one row without columns for SELECT without FROM.
    Values {
        /// Types of the columns.
        types: Vec<DataType>,
        /// The rows; expressions without columns.
        rows: Vec<Vec<Expr>>,
    },
}

/// A scan of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scan {
    /// The table.
    pub table: TableId,
    /// Its name, for EXPLAIN.
    pub name: String,
    /// The columns that filters, transfers or output use. `filters` and `transfers` name columns by place in this list.
    pub columns: Vec<ColumnId>,
    /// Their names, for EXPLAIN.
    pub column_names: Vec<String>,
    /// Conjuncts; execution turns them into code ranges and code sets where the encoding allows.
    pub filters: Vec<Expr>,
    /// Semi-join reductions from hash tables built before (predicate transfer): rows without a partner there may be
    /// dropped. An optimisation: the join itself stays in the plan.
    pub transfers: Vec<Transfer>,
    /// The columns handed on, by place in `columns`; the layout of the first operator.
    pub output: Vec<usize>,
    /// An index that is expected to find the rows sooner than a look at all of them. A hint: execution knows the exact
    /// number of matches, and reads the whole table when they are many.
    pub index: Option<IndexHint>,
}

/// The index by which a scan may find its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexHint {
    /// Its name, for EXPLAIN.
    #[serde(with = "types::shared")]
    pub name: Arc<str>,
    /// Its column, by place in [`Scan::columns`].
    pub column: usize,
}

/// A reduction of a scan by the keys of a hash table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The column, by place in [`Scan::columns`].
    pub column: usize,
    /// The pipeline whose hash table has this column's values as a key.
    pub build: PipelineId,
    /// Which of the table's keys; each row has a partner by all of them, so that any of them alone may drop rows.
    pub key: usize,
}

/// What happens to a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operator {
    /// Keeps rows for which the expression is TRUE.
    Filter(Expr),
    /// Replaces the layout by these expressions.
    Project(Vec<Expr>),
    /// Looks each row up in a hash table.
    Join(Join),
    /// Adds columns of rows of a hash table that are known by number.
    Fetch(Fetch),
    /// Each row as often as a column says.
    Repeat {
        /// The column: a BIGINT that is never NULL; below one is not at all.
        count: usize,
        /// Whether there is a column more: the how manieth of its kind a row is, from 1 on.
        numbered: bool,
        /// The columns that are handed on.
        kept: Vec<usize>,
        /// Columns with arrays. For each there is a column more, behind the number: of its items the how manieth the row is,
        /// NULL behind the last.
        items: Vec<usize>,
    },
}

/// How rows of the probe side and rows of the build side are put together. The probe side is the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum JoinKind {
    /// Each pair.
    Inner,
    /// Each pair, and rows of the probe side without a partner, with NULL for the build side.
    Left,
    /// Rows of the probe side that have a partner, once.
    Semi,
    /// Rows of the probe side that have none (NOT EXISTS).
    Anti,
    /// Rows of the probe side that surely have none (NOT IN): none at all when the build side has a NULL key, and a
    /// NULL key of the probe side passes only when the build side is empty. One key.
    AntiNullAware,
    /// Each row of the probe side with a Boolean more: whether it has a partner. With `null_aware` as IN demands, else
    /// never NULL.
    Mark {
        /// NULL where IN would be NULL.
        null_aware: bool,
    },
    /// No row at all: only marks partners in the hash table for a later [`Source::BuildRows`].
    MarkBuild,
}

/// A lookup of each row in a hash table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// The pipeline that built the table ([`Sink::HashBuild`]).
    pub build: PipelineId,
    /// How rows are put together.
    pub kind: JoinKind,
    /// Keys over the input, as many and of the same types as the build's. None at all: every row is a partner.
    pub keys: Vec<Expr>,
    /// A further condition over input columns followed by the build's payload.
    pub residual: Option<Expr>,
    /// The columns handed on, by place in: input columns, then payload (Inner, Left) or the mark (Mark).
    pub output: Vec<usize>,
    /// Whether partners in the hash table are marked for a later [`Source::BuildRows`] (right and full joins).
    pub track_matches: bool,
    /// Whether the number of the partner's row is handed on as the last column (Inner): the rows of a group may be those
    /// with one partner (groupjoin), and a [`Fetch`] finds what is stored of it.
    pub numbers: bool,
}

/// Columns of a hash table, added behind those of the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fetch {
    /// The pipeline that built the table ([`Sink::HashBuild`]).
    pub build: PipelineId,
    /// The input column with the numbers of rows, as [`Join::numbers`] gave them.
    pub row: usize,
    /// The columns, by place in the payload.
    pub payload: Vec<usize>,
}

/// Where the rows of a pipeline end. All but `Result` leave a state for later pipelines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sink {
    /// A hash table.
    HashBuild(HashBuild),
    /// Groups. Layout of the state: keys, then aggregates. Without keys: exactly one row.
    Aggregate {
        /// Group keys; NULLs are one group.
        keys: Vec<Expr>,
        /// Aggregates.
        aggregates: Vec<Aggregate>,
        /// Groups that the planner expects.
        estimated_groups: f64,
    },
    /// Rows in order. Layout: the input's.
    Sort {
        /// The order.
        keys: Vec<SortKey>,
        /// Leading keys whose equal values make a group: offset and limit count for each group of rows. 0 means that all
        /// rows are one.
        partition: usize,
        /// Rows left out at the beginning.
        offset: u64,
        /// At most so many rows after the offset.
        limit: Option<u64>,
    },
    /// Rows in order, with window functions. Layout: the input's, then a column for each function.
    Window {
        /// The order.
        keys: Vec<SortKey>,
        /// Leading keys whose equal values make a partition; the others order it.
        partition: usize,
        /// What is computed of each row.
        functions: Vec<WindowCall>,
        /// Of each partition only the first so many rows, with those equal to the last of them, need come out: later ones
        /// change nothing about them, and fail a condition behind.
        first: Option<u64>,
    },
    /// Rows in no order, at most `limit` after leaving out `offset`.
    Materialize {
        /// Rows left out.
        offset: u64,
        /// At most so many rows.
        limit: Option<u64>,
    },
    /// The answer of the query, in the order of the source when that is a sorted state.
    Result,
}

/// A hash table to build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HashBuild {
    /// Its keys over the input. Rows with a NULL key are kept only when `keep_null_keys`.
    pub keys: Vec<Expr>,
    /// What is stored of each row.
    pub payload: Vec<Expr>,
    /// Whether the planner knows that no two rows share their keys.
    pub unique: bool,
    /// Whether rows with a NULL key matter to a later [`Source::BuildRows`].
    pub keep_null_keys: bool,
}

/// The one walk over the expressions of a pipeline, to read them (`&`, `iter`) or to change them (`&mut`, `iter_mut`).
macro_rules! expressions {
    ($(#[$meta:meta])* $name:ident, $iter:ident, $($reference:tt)+) => {
        $(#[$meta])*
        pub fn $name($($reference)+ self) -> Vec<$($reference)+ Expr> {
            let mut all = Vec::new();
            match $($reference)+ self.source {
                Source::Scan(scan) => all.extend(scan.filters.$iter()),
                Source::Values { rows, .. } => all.extend(rows.$iter().flatten()),
                Source::Read(_) | Source::BuildRows { .. } => {}
            }
            for operator in self.operators.$iter() {
                match operator {
                    Operator::Filter(expr) => all.push(expr),
                    Operator::Project(exprs) => all.extend(exprs),
                    Operator::Join(join) => {
                        all.extend(join.keys.$iter().chain(join.residual.$iter()));
                    }
                    Operator::Fetch(_) | Operator::Repeat { .. } => {}
                }
            }
            match $($reference)+ self.sink {
                Sink::HashBuild(build) => {
                    all.extend(build.keys.$iter().chain(build.payload.$iter()));
                }
                Sink::Aggregate { keys, aggregates, .. } => {
                    all.extend(keys);
                    all.extend(aggregates.$iter().flat_map(|it| it.$name()));
                }
                Sink::Sort { keys, .. } => {
                    all.extend(keys.$iter().map(|it| $($reference)+ it.expr));
                }
                Sink::Window { keys, functions, .. } => {
                    all.extend(keys.$iter().map(|it| $($reference)+ it.expr));
                    all.extend(functions.$iter().flat_map(|it| it.$name()));
                }
                Sink::Materialize { .. } | Sink::Result => {}
            }
            all
        }
    };
}

impl Pipeline {
    expressions! {
        /// Its expressions from the source to the sink, subexpressions not included.
        expressions, iter, &
    }
    expressions! {
        /// Its expressions from the source to the sink, to change them.
        expressions_mut, iter_mut, &mut
    }

    /// The pipelines whose states it reads.
    pub fn inputs(&self) -> Vec<PipelineId> {
        let mut inputs = self.rows_read();
        self.expressions().into_iter().for_each(|it| it.collect_scalars(&mut inputs));
        inputs
    }

    /// The pipelines whose rows or tables it reads: all of its inputs but those of which an expression asks a value.
    pub fn rows_read(&self) -> Vec<PipelineId> {
        let mut inputs = Vec::new();
        match &self.source {
            Source::Scan(scan) => inputs.extend(scan.transfers.iter().map(|it| it.build)),
            Source::Read(from) => inputs.extend(from),
            Source::BuildRows { build, .. } => inputs.push(*build),
            Source::Values { .. } => {}
        }
        inputs.extend(self.operators.iter().filter_map(|it| match it {
            Operator::Join(join) => Some(join.build),
            Operator::Fetch(fetch) => Some(fetch.build),
            Operator::Filter(_) | Operator::Project(_) | Operator::Repeat { .. } => None,
        }));
        inputs
    }
}
