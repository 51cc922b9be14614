//! Groups that a query asks for twice (a WITH query used twice, Q15) are computed once and read twice, and so are hash
//! tables that would be built in the same way (Q2, Q11). A total over rows that the query groups anyway is made of the
//! groups' totals (Q11).

use std::fmt::Write as _;

use plan::properties::is_volatile;
use plan::{Aggregate, AggregateFunction, Expr, Operator, PipelineId, Sink, Source};
use types::SqlResult;

use super::Lowering;
use super::breakers::inline_once;
use super::stream::Stream;
use plan::relation::{Attr, AttrSet, JoinRel, Rel};

/// A relation's text with attributes numbered by first appearance: equal for equal relations.
#[derive(Default)]
pub(super) struct Canonical {
    /// The text.
    pub text: String,
    /// The attribute of each number.
    attrs: Vec<Attr>,
    /// Whether something in it is volatile: then it is equal to nothing, not even to itself.
    volatile: bool,
}

/// A grouping that is computed already.
pub(super) struct Shared {
    /// The text of its input and keys.
    pub text: String,
    /// Its aggregates, as texts.
    pub aggregates: Vec<String>,
    /// The pipeline that left it.
    pub pipeline: PipelineId,
}

/// A grouping of the query.
#[derive(Clone, Copy)]
pub(super) struct Grouping<'a> {
    input: &'a Rel,
    keys: &'a [(Attr, Expr)],
    aggregates: &'a [(Attr, Aggregate)],
    rows: f64,
}

/// Adds the groupings with keys in a relation.
pub(super) fn groupings<'a>(rel: &'a Rel, into: &mut Vec<Grouping<'a>>) {
    rel.visit(&mut |it| match it {
        Rel::Aggregate { input, keys, aggregates, rows } if !keys.is_empty() => {
            into.push(Grouping { input, keys, aggregates, rows: *rows });
        }
        _ => {}
    });
}

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
        && !is_volatile_aggregate(it)
}

fn is_volatile_aggregate(it: &Aggregate) -> bool {
    it.argument.iter().chain(&it.filter).any(is_volatile)
}

impl Lowering<'_> {
    /// The state of a grouping computed before with the same keys and at least these aggregates. A reducer is an
    /// optimisation, so what it would have dropped may be there.
    pub(super) fn shared(
        &self,
        wanted: &Canonical,
        keys: &[(Attr, Expr)],
        aggregates: &[(Attr, Aggregate)],
        rows: f64,
    ) -> Option<Stream> {
        if wanted.volatile || aggregates.iter().any(|it| is_volatile_aggregate(&it.1)) {
            return None;
        }
        let mut texts = Vec::with_capacity(aggregates.len());
        texts.extend(aggregates.iter().map(|it| (wanted.text_of(&it.1), it.0)));
        let found = self.shared.iter().find(|it| {
            it.text == wanted.text && texts.iter().all(|(text, _)| it.aggregates.contains(text))
        })?;
        // A column that nobody here asks for has a name that nobody uses.
        let nobody = self.attributes.len();
        let mut layout: Vec<Attr> = keys.iter().map(|it| it.0).collect();
        let mut aliases = Vec::new();
        for text in &found.aggregates {
            let mut same = texts.iter().filter(|it| it.0 == *text).map(|it| it.1);
            let first = same.next().unwrap_or(nobody);
            aliases.extend(same.map(|it| (it, first)));
            layout.push(first);
        }
        let stream = Stream::new(Source::Read(vec![found.pipeline]), layout, rows);
        Some(Stream { aliases, ..stream })
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
        let own = Canonical::of(input, &[]);
        if own.volatile {
            return Ok(None);
        }
        for grouping in self.groupings.clone() {
            if grouping.rows * 2.0 > table_rows(input) {
                continue;
            }
            let (mut keys, mut finer) = (grouping.keys.to_vec(), grouping.aggregates.to_vec());
            let finer_input = inline_once(grouping.input, &mut keys, &mut finer);
            let other = Canonical::of(&finer_input, &[]);
            if other.text != own.text {
                continue;
            }
            let part = |it: &Aggregate| {
                let text = own.text_of(it);
                finer.iter().find(|finer| other.text_of(&finer.1) == text).map(|finer| finer.0)
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

impl Canonical {
    /// Of a grouping by these keys.
    pub fn of(input: &Rel, keys: &[(Attr, Expr)]) -> Self {
        let mut this = Self::default();
        this.rel(input);
        this.text.push_str(" group");
        for (attr, expr) in keys {
            this.expr(expr);
            this.define(*attr);
        }
        this
    }

    /// The text of an aggregate over the input.
    pub fn text_of(&self, aggregate: &Aggregate) -> String {
        let mut this = Self { attrs: self.attrs.clone(), ..Self::default() };
        this.aggregate(aggregate);
        this.text
    }

    /// The number of an attribute.
    fn number(&self, attr: Attr) -> Option<usize> {
        self.attrs.iter().position(|it| *it == attr)
    }

    fn define(&mut self, attr: Attr) {
        let number = self.number(attr).unwrap_or_else(|| {
            self.attrs.push(attr);
            self.attrs.len() - 1
        });
        let _ = write!(self.text, " @{number}");
    }

    fn expr(&mut self, expr: &Expr) {
        self.volatile |= is_volatile(expr);
        let mut copy = expr.clone();
        let used: AttrSet = AttrSet::of(expr);
        // Attributes are defined by the relations below, in an order that depends on their shape alone.
        for attr in used.iter().collect::<Vec<_>>() {
            if self.number(attr).is_none() {
                self.attrs.push(attr);
            }
        }
        copy.map_columns(&mut |attr| self.number(attr).unwrap_or(usize::MAX));
        let _ = write!(self.text, " {copy:?}");
    }

    fn aggregate(&mut self, it: &Aggregate) {
        let _ = write!(self.text, " {:?} {}", it.function, it.distinct);
        it.argument.iter().chain(&it.filter).for_each(|it| self.expr(it));
        let _ = write!(self.text, " {}", it.filter.is_some());
    }

    fn join(&mut self, join: &JoinRel) {
        self.text.push('(');
        self.rel(&join.left);
        self.text.push(',');
        self.rel(&join.right);
        let _ = write!(self.text, ") {:?} {}", join.kind, join.null_aware);
        for (left, right) in &join.keys {
            self.expr(left);
            self.expr(right);
        }
        join.residual.iter().for_each(|it| self.expr(it));
        if let Some(mark) = join.mark {
            self.define(mark);
        }
    }

    fn rel(&mut self, rel: &Rel) {
        match rel {
            Rel::Scan(scan) => {
                let _ = write!(self.text, " scan {}", scan.table.id.index());
                for place in 0..scan.table.columns.len() {
                    self.attrs.push(scan.base + place);
                }
                scan.filters.iter().for_each(|it| self.expr(it));
            }
            Rel::Filter { input, predicates } => {
                self.rel(input);
                self.text.push_str(" filter");
                predicates.iter().for_each(|it| self.expr(it));
            }
            Rel::Map { input, exprs } => {
                self.rel(input);
                self.text.push_str(" map");
                for (attr, expr) in exprs {
                    self.expr(expr);
                    self.define(*attr);
                }
            }
            Rel::Join(join) => self.join(join),
            Rel::Aggregate { input, keys, aggregates, .. } => {
                self.rel(input);
                self.text.push_str(" group");
                for (attr, expr) in keys {
                    self.expr(expr);
                    self.define(*attr);
                }
                for (attr, aggregate) in aggregates {
                    self.aggregate(aggregate);
                    self.define(*attr);
                }
            }
            // The rest is rare below groups: its own attributes make the text unlike any other.
            other => {
                let attrs: Vec<Attr> = other.attrs().iter().collect();
                let _ = write!(self.text, " other {attrs:?}");
            }
        }
    }
}
