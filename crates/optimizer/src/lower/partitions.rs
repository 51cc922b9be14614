//! Window functions of which all rows of a partition have one value: a grouping by what makes a partition, whose results the
//! rows look up, each by its keys. Nothing is sorted, and of the rows nothing is kept.
//!
//! | Rule | Analysis | Data |
//! |---|---|---|
//! | a total over PARTITION BY is a grouping and a join | the frames are the whole partition, and no function goes by the order of its rows | none |
//!
//! The rows are read twice where reading them again gives the same ones and costs little (a table under conditions), else they
//! are computed once and read twice. A window beside it that has an order sorts the rows anyway, and then its functions are
//! computed there.

use std::borrow::Cow;

use plan::build::unary;
use plan::properties::{has_effect, is_volatile};
use plan::relation::{Attr, AttrSet, Rel};
use plan::{
    Aggregate, AggregateFunction, Exclusion, Expr, FrameBound, FrameUnit, Join, JoinKind, Operator,
    Sink, UnaryOperator, WindowCall, WindowFunction,
};
use types::SqlResult;

use super::state::Lowering;
use super::stream::Stream;
use crate::estimate;
use crate::facts::Facts;
use crate::unnest::replaced;

/// The aggregate that a function is of each of its partitions, if it is one.
fn aggregate_of(call: &WindowCall) -> Option<Aggregate> {
    let WindowFunction::Aggregate(function) = call.function else { return None };
    let mut arguments = call.arguments.iter().cloned();
    let aggregate = Aggregate::of(function, arguments.next(), call.data_type);
    let aggregate =
        Aggregate { rest: arguments.collect(), filter: call.filter.clone(), ..aggregate };
    (is_whole(call) && ignores_order(function)).then_some(aggregate)
}

/// Whether the frame of each row is its partition.
fn is_whole(call: &WindowCall) -> bool {
    let frame = &call.frame;
    // Without an order all rows are peers of the current one.
    let peers = call.order == 0 && frame.unit != FrameUnit::Rows;
    let reaches = |it: &FrameBound| match it {
        FrameBound::Unbounded => true,
        FrameBound::CurrentRow => peers,
        _ => false,
    };
    frame.exclusion == Exclusion::Nothing && reaches(&frame.start) && reaches(&frame.end)
}

/// Whether the value depends on which rows there are alone.
fn ignores_order(function: AggregateFunction) -> bool {
    !function.has_order() && function != AggregateFunction::AnyValue
}

/// Whether reading a relation once more gives the same rows for little, where `wanted` is asked of it.
fn reads_again(rel: &Rel, wanted: &AttrSet) -> bool {
    let plain = |it: &Expr| !is_volatile(it) && !has_effect(it);
    match rel {
        // Rows that nobody keeps are made anew each time.
        Rel::Scan(scan) => !scan.table.is_guess && scan.filters.iter().all(plain),
        Rel::Shared { .. } => true,
        Rel::Filter { input, predicates } => {
            let mut below = wanted.clone();
            predicates.iter().for_each(|it| below.add_expr(it));
            predicates.iter().all(plain) && reads_again(input, &below)
        }
        Rel::Map { input, exprs } => {
            let mut below = wanted.clone();
            exprs.iter().for_each(|it| below.add_expr(&it.1));
            exprs.iter().all(|it| plain(&it.1)) && reads_again(input, &below)
        }
        // Whose functions nobody asks for are not computed.
        Rel::Window { input, functions, .. } => {
            functions.iter().all(|it| !wanted.contains(it.0)) && reads_again(input, wanted)
        }
        _ => false,
    }
}

/// Expressions over rows that are equal where attributes are, NULL like NULL, and never NULL. `None` if there are none.
fn keys_of(attrs: &[(Attr, Expr)], is_nullable: impl Fn(Attr) -> bool) -> Option<Vec<Expr>> {
    let mut keys = Vec::with_capacity(attrs.len());
    for (attr, column) in attrs {
        if is_nullable(*attr) {
            keys.push(replaced(column)?);
            keys.push(unary(UnaryOperator::IsNull, column.clone()));
        } else {
            keys.push(column.clone());
        }
    }
    Some(keys)
}

impl Lowering<'_> {
    /// The rows of a window whose functions are aggregates of whole partitions; `None` if they are not.
    pub(super) fn grouped_window(
        &mut self,
        input: &Rel,
        partition: &[Attr],
        functions: &[&(Attr, WindowCall)],
        required: &AttrSet,
    ) -> SqlResult<Option<Stream>> {
        let aggregates: Option<Vec<(Attr, Aggregate)>> =
            functions.iter().map(|it| Some((it.0, aggregate_of(&it.1)?))).collect();
        let column = |it: &Attr| (*it, Expr::column(*it, self.attributes[*it].data_type));
        let attrs: Vec<(Attr, Expr)> = partition.iter().map(column).collect();
        let facts = Facts::new(self.attributes);
        let keys = keys_of(&attrs, |it| facts.nullable(input, it));
        let Some((aggregates, keys)) = aggregates.zip(keys).filter(|_| self.options.rewrites)
        else {
            return Ok(None);
        };
        let mut grouped: AttrSet = partition.iter().copied().collect();
        let mut handed = required.clone();
        partition.iter().for_each(|it| handed.insert(*it));
        aggregates.iter().for_each(|it| handed.remove(it.0));
        aggregates.iter().flat_map(|it| it.1.expressions()).for_each(|it| grouped.add_expr(it));
        let rows = match reads_again(input, &grouped) {
            true => Cow::Borrowed(input),
            false => {
                let mut all = grouped.clone();
                all.union_with(&handed);
                Cow::Owned(self.computed_once(input, &all)?)
            }
        };
        let groups = estimate::groups(input, &attrs);
        let results: Vec<Attr> = aggregates.iter().map(|it| it.0).collect();
        let input = Box::new(rows.clone().into_owned());
        let groups = Rel::Aggregate { input, keys: attrs, aggregates, rows: groups };
        let on = partition.iter().copied().collect();
        let built = (keys.clone(), &on);
        let table = self.build(&groups, built, results, &[], false, true)?;
        let mut stream = self.stream(&rows, &handed, &[])?;
        let keys = keys.iter().map(|it| self.place(it, &stream));
        let keys = keys.collect::<SqlResult<Vec<_>>>()?;
        let width = stream.layout.len();
        let wanted = required.iter().filter_map(|it| stream.position(it));
        let mut output: Vec<usize> = wanted.chain(width..width + table.payload.len()).collect();
        output.sort_unstable();
        output.dedup();
        let all = |place: &usize| match place.checked_sub(width) {
            None => stream.layout[*place],
            Some(result) => table.payload[result],
        };
        let layout = output.iter().map(all).collect();
        stream.before_join = width;
        stream.operators.push(Operator::Join(Join {
            build: table.build,
            kind: JoinKind::Inner,
            keys,
            residual: None,
            output,
            track_matches: false,
            numbers: false,
        }));
        stream.layout = layout;
        Ok(Some(stream))
    }

    /// A relation whose rows are computed once, from which those of these attributes that it has can be read more than once.
    fn computed_once(&mut self, rel: &Rel, attrs: &AttrSet) -> SqlResult<Rel> {
        let there = rel.attrs();
        let attrs: Vec<Attr> = attrs.iter().filter(|it| there.contains(*it)).collect();
        let mut stream = self.stream(rel, &attrs.iter().copied().collect(), &[])?;
        let (state, layout) = match stream.state(&attrs) {
            Some(state) => (state, stream.layout),
            None => {
                stream.shape(&attrs, self.attributes)?;
                let sink = Sink::Materialize { offset: 0, limit: None };
                (self.finish(stream, sink), attrs.clone())
            }
        };
        let id = self.shared_next;
        self.shared_next += 1;
        self.shared_rows.insert(id, (state, layout));
        let distinct = attrs.iter().map(|it| estimate::distinct(rel, *it)).collect();
        let output = attrs.into_iter().map(|it| (it, it)).collect();
        Ok(Rel::Shared { id, output, rows: rel.rows(), distinct })
    }
}
