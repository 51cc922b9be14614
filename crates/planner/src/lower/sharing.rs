//! Groups that a query asks for twice (a WITH query used twice, Q15) are computed once and read twice, and so are hash
//! tables that would be built in the same way (Q2, Q11).

use std::fmt::Write as _;

use plan::{Aggregate, Expr, Operator, PipelineId, Sink};

use super::Lowering;
use super::stream::Stream;
use crate::logical::{Attr, AttrSet, JoinRel, Rel};

/// A relation's text with attributes numbered by first appearance: equal for equal relations.
#[derive(Default)]
pub(super) struct Canonical {
    /// The text.
    pub text: String,
    /// The attribute of each number.
    pub attrs: Vec<Attr>,
}

/// A grouping that is computed already.
pub(super) struct Shared {
    /// Its text.
    pub text: String,
    /// The pipeline that left it.
    pub pipeline: PipelineId,
    /// Its layout as numbers of the text.
    pub layout: Vec<usize>,
}

impl Lowering<'_> {
    /// The pipeline that builds the same hash table from the same rows.
    pub(super) fn same_build(&self, stream: &Stream, sink: &Sink) -> Option<PipelineId> {
        let same = self.pipelines.iter().find(|it| {
            it.sink == *sink && it.source == stream.source && it.operators == stream.operators
        })?;
        // Functions that give something else each time are equal to none, not even to themselves.
        let marks = |it: &Operator| matches!(it, Operator::Join(join) if join.track_matches);
        (!stream.operators.iter().any(marks)).then_some(same.id)
    }
}

impl Canonical {
    /// Of a grouping with these aggregates; `None` when it holds what cannot be compared.
    pub fn of(input: &Rel, keys: &[(Attr, Expr)], aggregates: &[(Attr, Aggregate)]) -> Self {
        let mut this = Self::default();
        this.rel(input);
        this.text.push_str(" group");
        for (attr, expr) in keys {
            this.expr(expr);
            this.define(*attr);
        }
        for (attr, aggregate) in aggregates {
            this.aggregate(aggregate);
            this.define(*attr);
        }
        this
    }

    /// The number of an attribute.
    pub fn number(&self, attr: Attr) -> Option<usize> {
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
