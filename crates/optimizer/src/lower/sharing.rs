//! Groups that a query asks for twice (a WITH query used twice, Q15) are computed once and read twice, and so are hash
//! tables that would be built in the same way (Q2, Q11). A total over rows that the query groups anyway is made of the
//! groups' totals (Q11).

use plan::properties::is_volatile;
use plan::relation::{Attr, AttrSet, Rel};
use plan::{Aggregate, AggregateFunction, Expr, Operator, PipelineId, Sink, Source};
use types::SqlResult;

use super::correspondence::Correspondence;
use super::inline::inline_once;
use super::state::{Grouping, Lowering};
use super::stream::Stream;

/// The rows of all tables below a relation.
fn table_rows(rel: &Rel) -> f64 {
    match rel {
        Rel::Scan(scan) => scan.table.rows as f64,
        other => other.inputs().into_iter().map(table_rows).sum(),
    }
}

/// Whether the aggregate of all rows is the same aggregate of what it is in each group. Sums of floats depend on their
/// order, and a count of nothing is no sum of counts.
fn is_of_parts(it: &Aggregate) -> bool {
    let function = match it.function {
        AggregateFunction::Min | AggregateFunction::Max => true,
        AggregateFunction::Sum => !it.data_type.is_float(),
        _ => false,
    };
    function
        && !it.distinct
        && it.filter.is_none()
        && it.argument.is_some()
        && !it.expressions().any(is_volatile)
}

impl Lowering<'_> {
    /// The state of a grouping computed before with the same keys and at least these aggregates. A reducer is an
    /// optimisation, so what it would have dropped may be there.
    pub(super) fn shared(
        &self,
        input: &Rel,
        keys: &[(Attr, Expr)],
        aggregates: &[(Attr, Aggregate)],
        rows: f64,
    ) -> Option<Stream> {
        for it in &self.shared {
            let there = (&it.input, &it.keys[..]);
            let Some(same) = Correspondence::of_grouping((input, keys), there) else { continue };
            let place = |own: &Aggregate| {
                it.aggregates.iter().position(|other| same.aggregate(own, &other.1))
            };
            let places: Option<Vec<usize>> = aggregates.iter().map(|it| place(&it.1)).collect();
            let Some(places) = places else { continue };
            // A column that nobody here asks for has a name that nobody uses.
            let nobody = self.attributes.len();
            let mut layout: Vec<Attr> = keys.iter().map(|it| it.0).collect();
            layout.resize(keys.len() + it.aggregates.len(), nobody);
            let mut aliases = Vec::new();
            for ((attr, _), place) in aggregates.iter().zip(places) {
                match &mut layout[keys.len() + place] {
                    free if *free == nobody => *free = *attr,
                    first => aliases.push((*attr, *first)),
                }
            }
            let stream = Stream::new(Source::Read(vec![it.pipeline]), layout, rows);
            return Some(Stream { aliases, ..stream });
        }
        None
    }

    /// Aggregates of all rows of an input from those of a grouping of the same input that the query needs anyway. Both
    /// are computed here, and the groups are shared later.
    pub(super) fn of_groups(
        &mut self,
        input: &Rel,
        aggregates: &[(Attr, Aggregate)],
    ) -> SqlResult<Option<Stream>> {
        if aggregates.is_empty() || !aggregates.iter().all(|it| is_of_parts(&it.1)) {
            return Ok(None);
        }
        for grouping in self.groupings.clone() {
            if grouping.rows * 2.0 > table_rows(input) {
                continue;
            }
            let (mut keys, mut finer) = (grouping.keys.to_vec(), grouping.aggregates.to_vec());
            let finer_input = inline_once(grouping.input, &mut keys, &mut finer);
            let Some(same) = Correspondence::of(input, &finer_input) else { continue };
            let part = |it: &Aggregate| {
                finer.iter().find(|finer| same.aggregate(it, &finer.1)).map(|finer| finer.0)
            };
            let parts: Option<Vec<Attr>> = aggregates.iter().map(|it| part(&it.1)).collect();
            let Some(parts) = parts else { continue };
            let all: AttrSet =
                keys.iter().map(|it| it.0).chain(finer.iter().map(|it| it.0)).collect();
            let Grouping { input, keys, aggregates: finer, rows } = grouping;
            let stream = self.aggregate(input, keys, finer, rows, &all, &[])?;
            let mut placed = Vec::with_capacity(parts.len());
            for ((_, aggregate), attr) in aggregates.iter().zip(parts) {
                let part = self.place(&Expr::column(attr, aggregate.data_type), &stream)?;
                placed.push(Aggregate { argument: Some(part), ..aggregate.clone() });
            }
            let layout = aggregates.iter().map(|it| it.0).collect();
            let sink =
                Sink::Aggregate { keys: Vec::new(), aggregates: placed, estimated_groups: 1.0 };
            let id = self.finish(stream, sink);
            return Ok(Some(Stream::new(Source::Read(vec![id]), layout, 1.0)));
        }
        Ok(None)
    }

    /// The pipeline that builds the same hash table from the same rows.
    pub(super) fn same_build(&self, stream: &Stream, sink: &Sink) -> Option<PipelineId> {
        let same = self.pipelines.iter().find(|it| {
            let same = it.source == stream.source && it.operators == stream.operators;
            same && it.sink == *sink && !self.marked.contains(&it.id)
        })?;
        // Functions that give something else each time are equal to none, not even to themselves.
        let marks = |it: &Operator| matches!(it, Operator::Join(join) if join.track_matches);
        (!stream.operators.iter().any(marks)).then_some(same.id)
    }
}
