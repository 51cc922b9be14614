//! From a pipeline as data to a pipeline that runs: layouts are decided, expressions compiled, states looked up.

use memory::Workspace;
use plan::Source as PlanSource;
use plan::{
    Expr, ExprKind, Operator as PlanOperator, Pipeline, PipelineId, Sink as PlanSink, SortKey,
};
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use crate::aggregate::{AggregateSink, AggregateSpec, argument_of, stands_alone};
use crate::co_location::CoLocation;
use crate::exchange::{Exchange, Exchanges, Surroundings};
use crate::expression::{Compiled, constant_rows};
use crate::filter::FilterOperator;
use crate::join::{BuildSink, FetchOperator, InPlace, ProbeOperator, SpillingJoins, rows_by_match};
use crate::materialize::{MaterializeSink, ReadSource, ValuesSource};
use crate::project::ProjectOperator;
use crate::repeat::RepeatOperator;
use crate::scan::ScanSource;
use crate::scan::index::IndexSource;
use crate::scan::repeated::Repeated;
use crate::scan::streamed::StreamSource;
use crate::sort::{CompiledSortKey, FIRSTS_MAX, GroupLimitSink, SortSink, firsts_of};
use crate::states::States;
use crate::team::QueryTeam;
use crate::{
    Kept, Layout, Operator, PartMap, PipelineReport, QueryContext, Rows, Sink, Source, State,
    check, check_memory, window,
};

/// A pipeline ready to run.
pub struct Lowered {
    /// Where rows come from.
    pub source: Box<dyn Source>,
    /// What is done to them, in order.
    pub operators: Vec<Box<dyn Operator>>,
    /// Where they end.
    pub sink: Box<dyn Sink>,
}

/// Rows of constants up to which they are few: they cost less than a pipeline that hands them on.
const FEW_CONSTANTS: usize = 64;

/// The rows of a plan that is a few rows of constants and nothing else, as of INSERT .. VALUES; they are there without a
/// pipeline that runs. `None` for all other plans, and where the steps of pipelines are measured.
pub(crate) fn few_constants(
    plan: &plan::Plan,
    context: &QueryContext,
) -> SqlResult<Option<(Rows, PipelineReport)>> {
    let [pipeline] = &plan.pipelines[..] else { return Ok(None) };
    let (PlanSource::Values { types, rows }, [], PlanSink::Result) =
        (&pipeline.source, &pipeline.operators[..], &pipeline.sink)
    else {
        return Ok(None);
    };
    if rows.len() > FEW_CONSTANTS || context.profile {
        return Ok(None);
    }
    check(&context.control.cancel)?;
    let (layout, batches) = {
        let _entered = context.workspace.enter(None);
        constant_rows(types, rows, &states_of(pipeline, &[], context))?
    };
    check_memory(context.workspace.account())?;
    let batches = batches.into_iter().map(Kept::Here).collect();
    let made = Rows { layout, batches, ordered: true, homes: Vec::new(), parts: None };
    let report = PipelineReport { rows: rows.len() as u64, ..PipelineReport::default() };
    Ok(Some((made, report)))
}

/// What is known of a plan when one of its pipelines is lowered.
fn states_of<'a>(
    pipeline: &Pipeline,
    states: &'a [Option<State>],
    context: &'a QueryContext,
) -> States<'a> {
    States {
        states,
        sequences: Some(&context.sequences),
        cancel: context.control.cancel.clone(),
        zone: context.zone.clone(),
        expected_rows: rows_before_operators(pipeline),
    }
}

/// What is known of all pipelines of a plan together.
pub struct Together {
    /// Tests of rows that several scans make.
    pub repeated: Repeated,
    /// Joins that run part by part.
    pub co_location: CoLocation,
    /// Build sides that may be in files.
    pub spilling: SpillingJoins,
    /// Joins whose rows may go to the nodes of their keys.
    pub exchanges: Exchanges,
}

impl Together {
    /// What can be told of a plan.
    pub fn of(plan: &plan::Plan, context: &QueryContext) -> Self {
        let repeated = Repeated::of(plan, context);
        let workers = context.scheduler.workers();
        let co_location = CoLocation::of(plan, &context.tables, workers);
        let spilling = SpillingJoins::of(plan);
        let topology = context.machine.topology();
        let exchanges = match has_nodes(context) {
            false => Exchanges::default(),
            true => {
                let policy = &context.control.policy();
                let around = Surroundings { topology, workers, policy, mode: context.exchange };
                let can_wait = |it| spilling.may_spill(it);
                Exchanges::of(plan, &context.tables, &co_location, &can_wait, &around)
            }
        };
        Self { repeated, co_location, spilling, exchanges }
    }
}

/// Prepares a pipeline to run on the states of those before it; `reader` is the only one that reads its own, and `workspace`
/// for what is kept of it.
pub fn lower(
    pipeline: &Pipeline,
    reader: Option<&Pipeline>,
    states: &[Option<State>],
    together: &Together,
    context: &QueryContext,
    workspace: &Arc<Workspace>,
) -> SqlResult<Lowered> {
    let mut states = states_of(pipeline, states, context);
    let slots = context.scheduler.slots();
    if let (PlanSource::Scan(scan), [], PlanSink::HashBuild(build)) =
        (&pipeline.source, pipeline.operators.as_slice(), &pipeline.sink)
        && let Some(table) = context.tables.get(&scan.table)
        // Where several nodes would share the rows by key, those of a part had better be on its node.
        && !(together.co_location.is_in_parts(pipeline.id) && has_nodes(context))
        && let Some(source) = InPlace::of(scan, build, table, workspace)
    {
        let source = source?;
        let sink = Box::new(source.sink());
        return Ok(Lowered { source: Box::new(source), operators: Vec::new(), sink });
    }
    let team = || QueryTeam::of(pipeline.id, workspace, context);
    let (mut source, ordered) =
        lower_source(&pipeline.source, &states, &together.repeated, (context, &team))?;
    let parts = match together.co_location.is_empty() {
        true => None,
        false => parts_of(&pipeline.source, &states, context)?,
    };
    let mut layout = source.layout().clone();
    let mut operators = Vec::with_capacity(pipeline.operators.len());
    for operator in &pipeline.operators {
        let operator = lower_operator(operator, layout, parts.as_ref(), &states, slots)?;
        layout = operator.layout().clone();
        operators.push(operator);
    }
    let having = reader.and_then(|it| asked_first(it, pipeline.id));
    let parts = parts.filter(|_| together.co_location.is_in_parts(pipeline.id));
    let kept = Keeping {
        ordered,
        spills: together.spilling.may_spill(pipeline.id),
        parts,
        exchange: together.exchanges.get(pipeline.id).cloned(),
        workers: context.scheduler.workers(),
    };
    states.expected_rows = rows_before_sink(pipeline);
    let sink = lower_sink(pipeline, layout, kept, having, &states, slots)?;
    if let (PlanSink::Sort { keys, .. }, Some(cutoff)) = (&pipeline.sink, sink.cutoff())
        && let ([], ExprKind::Column(column)) = (&operators[..], &keys[0].expr.kind)
    {
        source.cut_off(*column, cutoff);
    }
    source.settle(context.machine.topology(), reads_all(pipeline));
    Ok(Lowered { source, operators, sink })
}

/// Whether all rows are asked for: who wants the first ones only may be done long before the last.
fn reads_all(pipeline: &Pipeline) -> bool {
    !matches!(pipeline.sink, PlanSink::Materialize { limit: Some(_), .. })
}

/// The rows that are expected to reach the sink; 0 where the first ones may do.
fn rows_before_sink(pipeline: &Pipeline) -> f64 {
    if reads_all(pipeline) { pipeline.estimated_rows } else { 0.0 }
}

/// At least so many rows are expected to reach each operator: those of the sink, unless rows become more on the way.
fn rows_before_operators(pipeline: &Pipeline) -> f64 {
    let keeps =
        |it: &PlanOperator| matches!(it, PlanOperator::Filter(_) | PlanOperator::Project(_));
    if pipeline.operators.iter().all(keeps) { rows_before_sink(pipeline) } else { 0.0 }
}

/// Whether memory is near to some workers and far from others.
fn has_nodes(context: &QueryContext) -> bool {
    context.machine.topology().nodes.len() > 1
}

/// The condition that the only reader of a pipeline asks of its rows before anything else. It asks it again: rows that
/// are dropped sooner are only never written.
fn asked_first(reader: &Pipeline, id: PipelineId) -> Option<&Expr> {
    let PlanSource::Read(from) = &reader.source else { return None };
    match reader.operators.first() {
        Some(PlanOperator::Filter(condition)) if from[..] == [id] => {
            Some(condition).filter(|it| stands_alone(it))
        }
        _ => None,
    }
}

fn lower_source(
    source: &PlanSource,
    states: &States<'_>,
    repeated: &Repeated,
    (context, team): (&QueryContext, &dyn Fn() -> QueryTeam),
) -> SqlResult<(Box<dyn Source>, bool)> {
    Ok(match source {
        PlanSource::Scan(scan) if context.streams.contains_key(&scan.table) => {
            let table = &context.streams[&scan.table];
            (Box::new(StreamSource::new(scan, table, states)?), false)
        }
        PlanSource::Scan(scan) => {
            let table = context.tables.get(&scan.table).ok_or_else(|| {
                SqlError::internal(format!("table {} is not in the snapshot", scan.name))
            })?;
            let found = IndexSource::new(scan, table, states)?;
            match found {
                Some(source) => (Box::new(source) as Box<dyn Source>, false),
                None => {
                    let source =
                        ScanSource::sharing(scan, table.clone(), states, repeated, Some(team))?;
                    (Box::new(source) as _, false)
                }
            }
        }
        PlanSource::Read(from) => {
            let rows = from.iter().map(|&id| states.rows(id).cloned()).collect::<Result<_, _>>()?;
            let source = ReadSource::new(rows)?;
            let ordered = source.is_ordered();
            (Box::new(source), ordered)
        }
        PlanSource::BuildRows { build, matched } => {
            (rows_by_match(states.table(*build)?, *matched), false)
        }
        PlanSource::Values { types, rows } => {
            let (layout, batches) = constant_rows(types, rows, states)?;
            (Box::new(ValuesSource::new(layout, batches)), true)
        }
    })
}

fn compile(expr: &Expr, layout: &Layout, states: &States<'_>) -> SqlResult<Compiled> {
    Compiled::new(expr, layout, states)
}

fn compile_all(exprs: &[Expr], layout: &Layout, states: &States<'_>) -> SqlResult<Vec<Compiled>> {
    let mut all = Vec::with_capacity(exprs.len());
    for expr in exprs {
        all.push(compile(expr, layout, states)?);
    }
    Ok(all)
}

/// The parts that the rows of a source are of, if they are of parts.
fn parts_of(
    source: &PlanSource,
    states: &States<'_>,
    context: &QueryContext,
) -> SqlResult<Option<Arc<PartMap>>> {
    Ok(match source {
        PlanSource::Scan(scan) => {
            context.tables.get(&scan.table).map(|it| Arc::new(PartMap::of(it)))
        }
        PlanSource::Read(from) => match from[..] {
            [only] => states.rows(only)?.parts.clone(),
            _ => None,
        },
        _ => None,
    })
}

fn lower_operator(
    operator: &PlanOperator,
    layout: Layout,
    parts: Option<&Arc<PartMap>>,
    states: &States<'_>,
    slots: usize,
) -> SqlResult<Box<dyn Operator>> {
    Ok(match operator {
        PlanOperator::Filter(expr) => {
            let condition = compile(expr, &layout, states)?;
            Box::new(FilterOperator::new(condition, layout))
        }
        PlanOperator::Project(exprs) => {
            Box::new(ProjectOperator::new(compile_all(exprs, &layout, states)?))
        }
        PlanOperator::Join(join) => {
            let build = states.table(join.build)?.clone();
            Box::new(ProbeOperator::new(join, build, (&layout, parts.cloned()), states, slots)?)
        }
        PlanOperator::Fetch(fetch) => {
            let build = states.table(fetch.build)?.clone();
            Box::new(FetchOperator::new(fetch, build, (layout, parts.cloned()), slots)?)
        }
        PlanOperator::Repeat { count, numbered, kept, items } => {
            let columns = (kept.clone(), items.clone());
            Box::new(RepeatOperator::new(*count, *numbered, columns, &layout))
        }
    })
}

/// How what a sink keeps is kept.
struct Keeping {
    /// Whether the order of the rows means something.
    ordered: bool,
    /// Whether a hash table may go to files.
    spills: bool,
    /// The parts for each of which a hash table or groups are left.
    parts: Option<Arc<PartMap>>,
    /// How rows of a hash table may go to nodes by their keys.
    exchange: Option<Arc<Exchange>>,
    /// How many share the rows.
    workers: usize,
}

fn lower_sink(
    pipeline: &Pipeline,
    layout: Layout,
    Keeping { ordered, spills, parts, exchange, workers }: Keeping,
    having: Option<&Expr>,
    states: &States<'_>,
    slots: usize,
) -> SqlResult<Box<dyn Sink>> {
    Ok(match &pipeline.sink {
        PlanSink::HashBuild(build) => {
            let keys = compile_all(&build.keys, &layout, states)?;
            let payload = compile_all(&build.payload, &layout, states)?;
            let sink = BuildSink::new(keys, payload, build.unique, build.keep_null_keys, slots);
            Box::new(sink.in_parts(parts).exchanging(exchange).spilling(spills))
        }
        PlanSink::Aggregate { keys, aggregates, estimated_groups } => {
            let keys = compile_all(keys, &layout, states)?;
            let rows = Some(states.expected_rows / workers.max(1) as f64).filter(|it| *it > 0.0);
            let sink = lower_aggregate(keys, aggregates, &layout, states, slots)?
                .expecting(*estimated_groups, rows)
                .ended_by(states.cancel.clone())
                .in_parts(parts);
            Box::new(match having {
                Some(condition) => sink.having(condition, states.zone.clone()),
                None => sink,
            })
        }
        PlanSink::Sort { keys, partition, offset, limit } => {
            let all = |keys: &[SortKey]| compile_keys(keys, &layout, states);
            match partition {
                0 => Box::new(SortSink::new(all(keys)?, layout, *offset, *limit, slots)),
                count => {
                    let (groups, order) = keys.split_at(*count);
                    let sorted = SortSink::new(all(keys)?, layout.clone(), 0, None, slots);
                    let wanted = limit.and_then(|it| it.checked_add(*offset));
                    let wanted = wanted.filter(|it| *it <= FIRSTS_MAX && !order.is_empty());
                    let sorted: Box<dyn Sink> = match wanted {
                        Some(it) => {
                            firsts_of(Box::new(sorted), (all(groups)?, all(order)?), it, slots)
                        }
                        None => Box::new(sorted),
                    };
                    Box::new(GroupLimitSink::new(sorted, all(groups)?, *offset, *limit))
                }
            }
        }
        PlanSink::Window { keys, partition, functions, first } => {
            let (keys, functions) = ((&keys[..], *partition), (&functions[..], *first));
            let compile = |it: &Expr| compile(it, &layout, states);
            Box::new(window::lowered(keys, functions, layout.clone(), &compile, slots)?)
        }
        PlanSink::Materialize { offset, limit } => {
            Box::new(MaterializeSink::new(layout, *offset, *limit, ordered, slots))
        }
        PlanSink::Result => Box::new(MaterializeSink::new(layout, 0, None, ordered, slots)),
    })
}

fn compile_keys(
    keys: &[SortKey],
    layout: &Layout,
    states: &States<'_>,
) -> SqlResult<Vec<CompiledSortKey>> {
    let compile_key = |it: &SortKey| -> SqlResult<CompiledSortKey> {
        let (descending, nulls_first) = (it.descending, it.nulls_first);
        Ok(CompiledSortKey { key: compile(&it.expr, layout, states)?, descending, nulls_first })
    };
    keys.iter().map(compile_key).collect()
}

fn lower_aggregate(
    keys: Vec<Compiled>,
    aggregates: &[plan::Aggregate],
    layout: &Layout,
    states: &States<'_>,
    slots: usize,
) -> SqlResult<AggregateSink> {
    // Equal arguments are computed once, and then share their accumulators.
    let mut arguments: Vec<Expr> = Vec::new();
    let mut place = |expr: &Expr| -> Option<usize> {
        Some(arguments.iter().position(|it| it == expr).unwrap_or_else(|| {
            arguments.push(expr.clone());
            arguments.len() - 1
        }))
    };
    let spec = |it: &plan::Aggregate| AggregateSpec {
        function: it.function,
        argument: argument_of(it).and_then(|it| place(&it)),
        rest: it.rest.iter().filter_map(&mut place).collect(),
        distinct: it.distinct,
        order: (it.order.iter())
            .filter_map(|it| Some((place(&it.expr)?, it.descending, it.nulls_first)))
            .collect(),
        filter: it.filter.as_ref().and_then(&mut place),
        data_type: it.data_type,
    };
    let specs = aggregates.iter().map(spec).collect();
    let arguments = compile_all(&arguments, layout, states)?;
    AggregateSink::new(keys, arguments, specs, slots)
}
