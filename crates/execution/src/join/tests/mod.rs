//! Joins against a naive oracle: harness, oracle, and the tests by theme.

mod edges;
mod exchanged;
mod extremes;
mod in_place;
mod keys;
mod oracle;
mod ordered;
mod random;
mod rising;
mod spilled;
mod team;

use plan::{Expr, Join, JoinKind, PipelineId};
use scheduler::CancelToken;
use stdx::sync::{Arc, Mutex};
use types::{DataType, SqlResult, Value};

use self::oracle::{Cell, cells};
use self::team::Serial;
use crate::expression::NoOutside;

use super::{BuildSide, BuildSink, JoinTable, ProbeOperator, Structure, rows_by_match};
use crate::exchange::Exchange;
use crate::expression::Compiled;
use crate::{
    BATCH_ROWS, Batch, Bitmap, ColumnShape, Layout, Operator, Representation, Sink, Source, State,
    Team, Values, Vector, WorkContext,
};

/// One side of a join: batches and the layout they have.
struct Side {
    layout: Layout,
    batches: Vec<Batch>,
}

impl Side {
    /// One batch per `rows` rows of the columns.
    fn new(columns: Vec<(ColumnShape, Vector)>, rows: usize) -> Self {
        let total = columns.first().map_or(0, |it| it.1.values.len());
        let (layout, vectors): (Layout, Vec<Vector>) = columns.into_iter().unzip();
        let batches = (0..total)
            .step_by(rows.max(1))
            .map(|start| {
                let places: Vec<u32> = (start as u32..total.min(start + rows) as u32).collect();
                Batch {
                    rows: places.len(),
                    columns: vectors.iter().map(|it| Arc::new(it.take(&places))).collect(),
                    sequence: start as u64,
                }
            })
            .collect();
        Self { layout, batches }
    }

    fn rows(&self) -> Vec<Vec<Cell>> {
        cells(&self.layout, &self.batches)
    }
}

fn shape(data_type: DataType, representation: Representation) -> ColumnShape {
    ColumnShape { data_type, representation, bounds: None, nullable: true }
}

fn integers(values: &[Option<i64>]) -> (ColumnShape, Vector) {
    let bits = Bitmap::from_bits(values.iter().map(Option::is_some));
    let validity = values.contains(&None).then_some(bits);
    let values = Values::I64(values.iter().map(|it| it.unwrap_or(-7)).collect());
    (shape(DataType::BigInt, Representation::I64), Vector { values, validity })
}

fn numbers(values: impl IntoIterator<Item = i64>) -> (ColumnShape, Vector) {
    integers(&values.into_iter().map(Some).collect::<Vec<_>>())
}

fn columns(layout: &Layout, which: &[usize]) -> Vec<Expr> {
    which.iter().map(|&it| Expr::column(it, layout[it].data_type)).collect()
}

/// How a table is built.
#[derive(Clone, Copy)]
struct Build<'a> {
    keys: &'a [usize],
    payload: &'a [usize],
    unique: bool,
    keep_null_keys: bool,
    structure: Structure,
}

fn build(side: &Side, how: Build<'_>, team: &dyn Team) -> Arc<JoinTable> {
    build_side(side, how, team, context).of_part(0)[0].clone()
}

/// The same with contexts of the caller's choice; in files, where they leave no memory.
fn build_side(
    side: &Side,
    how: Build<'_>,
    team: &dyn Team,
    context: impl Fn(usize) -> WorkContext,
) -> Arc<BuildSide> {
    exchanged_side(side, how, team, context, None)
}

/// The same, for whose rows there may be an exchange.
fn exchanged_side(
    side: &Side,
    how: Build<'_>,
    team: &dyn Team,
    context: impl Fn(usize) -> WorkContext,
    exchange: Option<Arc<Exchange>>,
) -> Arc<BuildSide> {
    let compile = |which: &[usize]| -> Vec<Compiled> {
        columns(&side.layout, which)
            .iter()
            .map(|it| Compiled::new(it, &side.layout, &NoOutside).unwrap())
            .collect()
    };
    let (keys, payload) = (compile(how.keys), compile(how.payload));
    let sink = BuildSink::new(keys, payload, how.unique, how.keep_null_keys, team.slots())
        .with_structure(how.structure)
        .exchanging(exchange)
        .spilling(true);
    for (index, batch) in side.batches.iter().enumerate() {
        sink.consume(batch.clone(), &context(index % team.slots())).unwrap();
    }
    match sink.finish(team).unwrap() {
        State::Table(build) => build,
        _ => panic!("a build leaves a table"),
    }
}

fn context(slot: usize) -> WorkContext {
    let workspace = memory::Workspace::heap();
    let accesses = stdx::sync::Arc::default();
    let (node, cancel) = (hardware::NodeId(0), CancelToken::new());
    WorkContext { slot, node, cancel, workspace, accesses }
}

/// The operator that looks up in a table of all rows.
fn operator(
    side: &Side,
    join: &Join,
    table: &Arc<JoinTable>,
    slots: usize,
) -> SqlResult<ProbeOperator> {
    let build = Arc::new(BuildSide::whole(table.clone()));
    ProbeOperator::new(join, build, (&side.layout, None), &NoOutside, slots)
}

/// Runs the operator over all batches; checks what every batch must fulfil.
fn probe(side: &Side, join: &Join, table: &Arc<JoinTable>, slots: usize) -> (Layout, Vec<Batch>) {
    run(&operator(side, join, table, slots).unwrap(), side, &Serial(slots), context)
}

/// All that an operator hands on.
fn run(
    operator: &dyn Operator,
    side: &Side,
    team: &dyn Team,
    context: impl Fn(usize) -> WorkContext,
) -> (Layout, Vec<Batch>) {
    let check = |batch: &Batch| {
        assert!(batch.rows > 0 && batch.rows <= BATCH_ROWS);
        assert!(batch.columns.iter().all(|it| it.values.len() == batch.rows));
        assert_eq!(batch.columns.len(), operator.layout().len());
    };
    let mut out = Vec::new();
    for (index, batch) in side.batches.iter().enumerate() {
        let sequence = batch.sequence;
        operator
            .execute(batch.clone(), &context(index % team.slots()), &mut |batch| {
                assert_eq!(batch.sequence, sequence);
                check(&batch);
                out.push(batch);
                Ok(())
            })
            .unwrap();
    }
    let late = Mutex::new(Vec::new());
    operator
        .finish(team, &|batch, _| {
            check(&batch);
            late.lock().push(batch);
            Ok(())
        })
        .unwrap();
    out.extend(late.into_inner());
    (operator.layout().clone(), out)
}

/// The rows of a table that did or did not find a partner.
fn build_rows(table: &Arc<JoinTable>, matched: bool) -> Vec<Vec<Cell>> {
    rows_of(&Arc::new(BuildSide::whole(table.clone())), matched)
}

fn rows_of(build: &Arc<BuildSide>, matched: bool) -> Vec<Vec<Cell>> {
    let source = rows_by_match(build, matched);
    let batches = Mutex::new(Vec::new());
    for range in source.ranges() {
        let step = source.morsel_rows();
        for start in (range.start..range.end).step_by(step as usize) {
            let rows = start..range.end.min(start + step);
            source
                .produce(rows, &context(0), &mut |batch| {
                    batches.lock().push(batch);
                    Ok(())
                })
                .unwrap();
        }
    }
    cells(source.layout(), &batches.into_inner())
}

/// A join whose output is everything it can hand on.
fn join(kind: JoinKind, probe: &Layout, keys: &[usize], payload: usize) -> Join {
    let beyond = match kind {
        JoinKind::Inner | JoinKind::Left => payload,
        JoinKind::Mark { .. } => 1,
        _ => 0,
    };
    Join {
        build: PipelineId(0),
        kind,
        keys: columns(probe, keys),
        residual: None,
        output: (0..probe.len() + beyond).collect(),
        track_matches: false,
        numbers: false,
    }
}

const KINDS: [JoinKind; 8] = [
    JoinKind::Inner,
    JoinKind::Left,
    JoinKind::Semi,
    JoinKind::Anti,
    JoinKind::AntiNullAware,
    JoinKind::Mark { null_aware: false },
    JoinKind::Mark { null_aware: true },
    JoinKind::MarkBuild,
];

fn sorted(mut rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    rows.sort();
    rows
}
