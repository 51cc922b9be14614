//! From window functions as data to functions that run.

use plan::{
    Aggregate, AggregateFunction, Expr, Frame, FrameBound, SortKey, WindowCall, WindowFunction,
};
use types::SqlResult;

use super::call::{CompiledBound, CompiledCall, CompiledFrame};
use super::sink::WindowSink;
use crate::aggregate::{AggregateSpec, StateSpec, argument_of};
use crate::expression::Compiled;
use crate::materialize::common_shape;
use crate::sort::{CompiledSortKey, FIRSTS_MAX, KeyEncoder};
use crate::{ColumnShape, Layout};

/// How expressions are compiled.
type Compile<'a> = &'a dyn Fn(&Expr) -> SqlResult<Compiled>;

/// The sink for functions over rows of `layout`, in the order of `keys`, of which the first ones make a partition; of each only
/// the first `wanted` and those equal to the last of them need be there.
pub fn lowered(
    (keys, partition): (&[SortKey], usize),
    (functions, wanted): (&[WindowCall], Option<u64>),
    layout: Layout,
    compile: Compile<'_>,
    slots: usize,
) -> SqlResult<WindowSink> {
    let all = |keys: &[SortKey]| keys.iter().map(|it| key(it, compile)).collect::<SqlResult<_>>();
    let mut orders: Vec<usize> = functions.iter().map(|it| it.order).filter(|it| *it > 0).collect();
    orders.sort_unstable();
    orders.dedup();
    let mut levels = vec![(0, all(&keys[..partition])?)];
    for order in orders {
        levels.push((order, all(&keys[..partition + order])?));
    }
    let first = keys.get(partition);
    let calls = functions.iter().map(|it| call(it, first, compile));
    let calls = calls.collect::<SqlResult<Vec<_>>>()?;
    let firsts = match wanted.filter(|it| *it <= FIRSTS_MAX) {
        Some(wanted) => Some((all(&keys[..partition])?, all(&keys[partition..])?, wanted)),
        None => None,
    };
    Ok(WindowSink::new((all(keys)?, firsts), levels, calls, layout, slots))
}

fn key(it: &SortKey, compile: Compile<'_>) -> SqlResult<CompiledSortKey> {
    let (descending, nulls_first) = (it.descending, it.nulls_first);
    Ok(CompiledSortKey { key: compile(&it.expr)?, descending, nulls_first })
}

fn call(it: &WindowCall, first: Option<&SortKey>, compile: Compile<'_>) -> SqlResult<CompiledCall> {
    let mut exprs = it.arguments.clone();
    let mut ordered = None;
    if let WindowFunction::Aggregate(function) = it.function {
        let rest = exprs.split_off(exprs.len().min(1));
        let aggregate = Aggregate::of(function, exprs.pop(), it.data_type);
        let first = argument_of(&aggregate).map(|it| it.into_owned());
        exprs = first.into_iter().chain(rest).collect();
        let chooses = matches!(
            function,
            AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::AnyValue
        );
        if let (true, Some(argument)) = (chooses, exprs.first()) {
            let key = compile(argument)?;
            let key = CompiledSortKey { key, descending: false, nulls_first: false };
            ordered = Some(KeyEncoder::new(vec![key]));
        }
    }
    let arguments = exprs.iter().map(compile).collect::<SqlResult<Vec<_>>>()?;
    let filter = it.filter.as_ref().map(compile).transpose()?;
    let value = value_of(it.function, &arguments);
    let states = states_of(it, &arguments)?;
    let (function, order, data_type) = (it.function, it.order, it.data_type);
    let (frame, ignore_nulls) = (frame(&it.frame, first, compile)?, it.ignore_nulls);
    Ok(CompiledCall {
        function,
        arguments,
        filter,
        ordered,
        states,
        order,
        frame,
        ignore_nulls,
        value,
        data_type,
    })
}

/// What an aggregate keeps by itself of its arguments, if it does.
fn states_of(it: &WindowCall, arguments: &[Compiled]) -> SqlResult<Option<StateSpec>> {
    let WindowFunction::Aggregate(function) = it.function else { return Ok(None) };
    let layout: Layout = arguments.iter().map(|it| it.shape().clone()).collect();
    let spec = AggregateSpec {
        function,
        argument: (!arguments.is_empty()).then_some(0),
        rest: (1..arguments.len()).collect(),
        distinct: false,
        order: Vec::new(),
        filter: None,
        data_type: it.data_type,
    };
    StateSpec::new(&spec, &layout)
}

/// What the values of a function that chooses one are held as.
fn value_of(function: WindowFunction, arguments: &[Compiled]) -> Option<ColumnShape> {
    use AggregateFunction::{AnyValue, Max, Min};
    use WindowFunction::{Aggregate, FirstValue, Lag, LastValue, Lead, NthValue};
    if !matches!(
        function,
        Aggregate(Min | Max | AnyValue) | Lag | Lead | FirstValue | LastValue | NthValue
    ) {
        return None;
    }
    let value = arguments.first()?.shape();
    Some(arguments.get(2).map_or_else(|| value.clone(), |it| common_shape(value, it.shape())))
}

fn frame(it: &Frame, first: Option<&SortKey>, compile: Compile<'_>) -> SqlResult<CompiledFrame> {
    let bound = |it: &FrameBound| -> SqlResult<CompiledBound> {
        Ok(match it {
            FrameBound::Unbounded => CompiledBound::Unbounded,
            FrameBound::CurrentRow => CompiledBound::CurrentRow,
            FrameBound::Preceding(it) => CompiledBound::Preceding(compile(it)?),
            FrameBound::Following(it) => CompiledBound::Following(compile(it)?),
            FrameBound::Value(it) => CompiledBound::Value(compile(it)?),
        })
    };
    let has_values = [&it.start, &it.end].iter().any(|it| it.expression().is_some());
    let key = match first.filter(|_| has_values && it.unit == plan::FrameUnit::Range) {
        Some(first) => Some(key(first, compile)?),
        None => None,
    };
    let (start, end) = (bound(&it.start)?, bound(&it.end)?);
    Ok(CompiledFrame { unit: it.unit, start, end, exclusion: it.exclusion, key })
}
