//! Walks over relations: the one place that knows the inputs and expressions of every operator. A walk that has nothing
//! to say about an operator leaves it to these, so that a new operator is added here and not in each walk.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::smallvec;
use types::SqlResult;

use super::{Apply, Attr, AttrSet, Attribute, Query, Rel};
use crate::{Expr, Few};

impl Apply {
    /// The attribute that it makes.
    pub fn made(&self) -> Option<Attr> {
        match self {
            Self::Any { mark, .. } => Some(*mark),
            Self::Scalar { value, .. } => Some(*value),
            Self::Join { .. } => None,
        }
    }
}

impl Rel {
    /// The relations directly below, from left to right.
    pub fn inputs(&self) -> Few<&Rel> {
        match self {
            Self::Scan(_) | Self::Values { .. } | Self::Shared { .. } => Few::new(),
            Self::Filter { input, .. }
            | Self::Map { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Sort { input, .. }
            | Self::Window { input, .. }
            | Self::Limit { input, .. }
            | Self::Repeat { input, .. } => smallvec![&**input],
            Self::Join(join) => smallvec![&join.left, &join.right],
            Self::Apply(apply) => smallvec![&apply.left, &apply.right],
            Self::Union { inputs, .. } => inputs.iter().map(|it| &it.0).collect(),
        }
    }

    /// The relations directly below, from left to right, to change them.
    pub fn inputs_mut(&mut self) -> Few<&mut Rel> {
        match self {
            Self::Scan(_) | Self::Values { .. } | Self::Shared { .. } => Few::new(),
            Self::Filter { input, .. }
            | Self::Map { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Sort { input, .. }
            | Self::Window { input, .. }
            | Self::Limit { input, .. }
            | Self::Repeat { input, .. } => smallvec![&mut **input],
            Self::Join(join) => smallvec![&mut join.left, &mut join.right],
            Self::Apply(apply) => smallvec![&mut apply.left, &mut apply.right],
            Self::Union { inputs, .. } => inputs.iter_mut().map(|it| &mut it.0).collect(),
        }
    }

    /// Its own expressions, not those of the relations below.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Self::Scan(scan) => scan.filters.iter().collect(),
            Self::Filter { predicates, .. } => predicates.iter().collect(),
            Self::Map { exprs, .. } => exprs.iter().map(|it| &it.1).collect(),
            Self::Aggregate { keys, aggregates, .. } => {
                let of = aggregates.iter().flat_map(|it| it.1.expressions());
                keys.iter().map(|it| &it.1).chain(of).collect()
            }
            Self::Sort { keys, .. } => keys.iter().map(|it| &it.expr).collect(),
            Self::Window { keys, functions, .. } => {
                let own = functions.iter().flat_map(|it| it.1.expressions());
                keys.iter().map(|it| &it.expr).chain(own).collect()
            }
            Self::Join(join) => {
                let keys = join.keys.iter().flat_map(|it| [&it.0, &it.1]);
                keys.chain(&join.residual).collect()
            }
            Self::Values { rows, .. } => rows.iter().flatten().collect(),
            Self::Apply(apply) => match &apply.kind {
                Apply::Any { condition, .. } => vec![condition],
                Apply::Scalar { .. } => Vec::new(),
                Apply::Join { on, .. } => on.iter().collect(),
            },
            Self::Limit { .. } | Self::Union { .. } | Self::Repeat { .. } | Self::Shared { .. } => {
                Vec::new()
            }
        }
    }

    /// Its own expressions, to change them.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Scan(scan) => scan.filters.iter_mut().collect(),
            Self::Filter { predicates, .. } => predicates.iter_mut().collect(),
            Self::Map { exprs, .. } => exprs.iter_mut().map(|it| &mut it.1).collect(),
            Self::Aggregate { keys, aggregates, .. } => {
                let of = aggregates.iter_mut().flat_map(|it| it.1.expressions_mut());
                keys.iter_mut().map(|it| &mut it.1).chain(of).collect()
            }
            Self::Sort { keys, .. } => keys.iter_mut().map(|it| &mut it.expr).collect(),
            Self::Window { keys, functions, .. } => {
                let own = functions.iter_mut().flat_map(|it| it.1.expressions_mut());
                keys.iter_mut().map(|it| &mut it.expr).chain(own).collect()
            }
            Self::Join(join) => {
                let keys = join.keys.iter_mut().flat_map(|it| [&mut it.0, &mut it.1]);
                keys.chain(&mut join.residual).collect()
            }
            Self::Values { rows, .. } => rows.iter_mut().flatten().collect(),
            Self::Apply(apply) => match &mut apply.kind {
                Apply::Any { condition, .. } => vec![condition],
                Apply::Scalar { .. } => Vec::new(),
                Apply::Join { on, .. } => on.iter_mut().collect(),
            },
            Self::Limit { .. } | Self::Union { .. } | Self::Repeat { .. } | Self::Shared { .. } => {
                Vec::new()
            }
        }
    }

    /// Calls `body` for it and every relation below, from the top down.
    pub fn visit<'a>(&'a self, body: &mut dyn FnMut(&'a Rel)) {
        body(self);
        self.inputs().into_iter().for_each(|it| it.visit(body));
    }

    /// Calls `body` for every expression in it and below, subexpressions not included.
    pub fn visit_expressions<'a>(&'a self, body: &mut dyn FnMut(&'a Expr)) {
        self.visit(&mut |it| it.expressions().into_iter().for_each(&mut *body));
    }

    /// Whether something holds for every expression in it and below, subexpressions not included.
    pub fn all_expressions(&self, holds: &mut dyn FnMut(&Expr) -> bool) -> bool {
        self.expressions().into_iter().all(&mut *holds)
            && self.inputs().into_iter().all(|it| it.all_expressions(holds))
    }

    /// Calls `body` for it and every relation below, to change them, from the top down.
    pub fn visit_mut(&mut self, body: &mut dyn FnMut(&mut Rel)) {
        body(self);
        self.inputs_mut().into_iter().for_each(|it| it.visit_mut(body));
    }

    /// Replaces every relation by what `body` makes of it, from the bottom up.
    pub fn transform(mut self, body: &mut dyn FnMut(Rel) -> SqlResult<Rel>) -> SqlResult<Rel> {
        for input in self.inputs_mut() {
            *input = input.take().transform(body)?;
        }
        body(self)
    }

    /// Takes a relation out of its place and leaves an empty one.
    pub fn take(&mut self) -> Rel {
        std::mem::replace(self, Rel::Values { output: Vec::new(), rows: Vec::new() })
    }

    /// The attributes that this operator itself makes. A group key that is a bare attribute is made anew.
    pub fn made(&self) -> Vec<Attr> {
        match self {
            Self::Scan(scan) => (scan.base..scan.base + scan.table.columns.len()).collect(),
            Self::Map { exprs, .. } => exprs.iter().map(|it| it.0).collect(),
            Self::Window { functions, .. } => functions.iter().map(|it| it.0).collect(),
            Self::Join(join) => join.mark.into_iter().collect(),
            Self::Aggregate { keys, aggregates, .. } => {
                keys.iter().map(|it| it.0).chain(aggregates.iter().map(|it| it.0)).collect()
            }
            Self::Union { output, .. } | Self::Values { output, .. } => output.clone(),
            Self::Shared { output, .. } => output.iter().map(|it| it.0).collect(),
            Self::Apply(apply) => match apply.kind {
                Apply::Any { mark, .. } => vec![mark],
                Apply::Scalar { value, .. } => vec![value],
                Apply::Join { .. } => Vec::new(),
            },
            Self::Repeat { number, items, .. } => {
                number.iter().copied().chain(items.iter().map(|it| it.0)).collect()
            }
            Self::Filter { .. } | Self::Sort { .. } | Self::Limit { .. } => Vec::new(),
        }
    }

    /// The attributes that this operator itself uses, in its expressions or by name.
    pub fn used(&self) -> AttrSet {
        let mut used = AttrSet::default();
        self.expressions().into_iter().for_each(|it| used.add_expr(it));
        match self {
            Self::Sort { partition, .. } | Self::Window { partition, .. } => {
                partition.iter().for_each(|it| used.insert(*it));
            }
            Self::Union { inputs, .. } => {
                inputs.iter().flat_map(|it| &it.1).for_each(|it| used.insert(*it));
            }
            Self::Repeat { count, items, .. } => {
                used.insert(*count);
                items.iter().for_each(|it| used.insert(it.1));
            }
            Self::Apply(apply) => {
                if let Apply::Scalar { source, .. } = apply.kind {
                    used.insert(source);
                }
            }
            _ => {}
        }
        used
    }

    /// The attributes that it uses and no relation within it offers where they are used: those of the left sides of
    /// the dependent joins around it.
    pub fn free_attrs(&self) -> AttrSet {
        let mut free = self.used();
        if let Self::Scan(_) = self {
            self.made().into_iter().for_each(|it| free.remove(it));
            return free;
        }
        let inputs = self.inputs();
        for input in &inputs {
            input.attrs().iter().for_each(|it| free.remove(it));
        }
        for (place, input) in inputs.iter().enumerate() {
            let mut own = input.free_attrs();
            if let (Self::Apply(apply), 1) = (self, place)
                && !own.is_empty()
            {
                apply.left.attrs().iter().for_each(|it| own.remove(it));
            }
            free.union_with(&own);
        }
        free
    }

    /// Gives attributes other numbers wherever they are made or used, in it and below. The columns of a table follow one
    /// another, so their new numbers must, too.
    pub fn rename(&mut self, to: &dyn Fn(Attr) -> Attr) {
        self.visit_mut(&mut |it| it.rename_own(to));
    }

    fn rename_own(&mut self, to: &dyn Fn(Attr) -> Attr) {
        self.expressions_mut().into_iter().for_each(|it| it.map_columns(&mut |attr| to(attr)));
        let put = |attr: &mut Attr| *attr = to(*attr);
        match self {
            Self::Scan(scan) => put(&mut scan.base),
            Self::Map { exprs, .. } => exprs.iter_mut().for_each(|it| put(&mut it.0)),
            Self::Join(join) => join.mark.iter_mut().for_each(put),
            Self::Aggregate { keys, aggregates, .. } => {
                keys.iter_mut().for_each(|it| put(&mut it.0));
                aggregates.iter_mut().for_each(|it| put(&mut it.0));
            }
            Self::Sort { partition, .. } => partition.iter_mut().for_each(put),
            Self::Window { partition, functions, .. } => {
                partition.iter_mut().chain(functions.iter_mut().map(|it| &mut it.0)).for_each(put);
            }
            Self::Union { inputs, output } => {
                output.iter_mut().chain(inputs.iter_mut().flat_map(|it| &mut it.1)).for_each(put);
            }
            Self::Values { output, .. } => output.iter_mut().for_each(put),
            Self::Repeat { count, number, items, .. } => {
                put(count);
                number.iter_mut().for_each(put);
                items.iter_mut().flat_map(|it| [&mut it.0, &mut it.1]).for_each(put);
            }
            Self::Shared { output, .. } => output.iter_mut().for_each(|it| put(&mut it.0)),
            Self::Apply(apply) => match &mut apply.kind {
                Apply::Any { mark, .. } => put(mark),
                Apply::Scalar { value, source } => {
                    put(value);
                    put(source);
                }
                Apply::Join { .. } => {}
            },
            Self::Filter { .. } | Self::Limit { .. } => {}
        }
    }
}

/// A part of a query that is computed once and read elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// An entry of [`Query::scalars`].
    Scalar(usize),
    /// An entry of [`Query::shared`].
    Shared(usize),
}

impl Query {
    /// The relation of a part.
    pub fn part(&self, part: Part) -> &Rel {
        match part {
            Part::Scalar(it) => &self.scalars[it].rel,
            Part::Shared(it) => &self.shared[it],
        }
    }

    /// The relation of a part, to change it.
    pub fn part_mut(&mut self, part: Part) -> &mut Rel {
        match part {
            Part::Scalar(it) => &mut self.scalars[it].rel,
            Part::Shared(it) => &mut self.shared[it],
        }
    }

    /// All parts that the answer needs, each after those that it uses.
    pub fn parts(&self) -> Vec<Part> {
        let (mut done, mut order) = (BTreeSet::new(), Vec::new());
        if self.scalars.is_empty() && self.shared.is_empty() {
            return order;
        }
        self.add_parts(&self.root, &mut done, &mut order);
        order
    }

    fn add_parts(&self, rel: &Rel, done: &mut BTreeSet<Part>, order: &mut Vec<Part>) {
        let mut used = Vec::new();
        rel.visit(&mut |it| {
            let mut scalars = Vec::new();
            it.expressions().into_iter().for_each(|it| it.collect_scalars(&mut scalars));
            used.extend(scalars.into_iter().map(|it| Part::Scalar(it.index())));
            if let Rel::Shared { id, .. } = it {
                used.push(Part::Shared(*id));
            }
        });
        for part in used {
            if done.insert(part) {
                self.add_parts(self.part(part), done, order);
                order.push(part);
            }
        }
    }
}

/// A copy of a relation with attributes of its own, and what each attribute made in it is in the copy. Attributes that it
/// does not make stay, and so does what it shares: entries of [`super::Query::shared`] and scalar subqueries.
pub fn fresh_copy(rel: &Rel, attributes: &mut Vec<Attribute>) -> (Rel, BTreeMap<Attr, Attr>) {
    let free = rel.free_attrs();
    let (mut scanned, mut others) = (Vec::new(), Vec::new());
    rel.visit(&mut |it| match it {
        Rel::Scan(_) => scanned.extend(it.made()),
        _ => others.extend(it.made()),
    });
    let mut fresh: BTreeMap<Attr, Attr> = BTreeMap::new();
    // The columns of each table come first and in their order, so that they follow one another in the copy.
    for attr in scanned.into_iter().chain(others).filter(|it| !free.contains(*it)) {
        fresh.entry(attr).or_insert_with(|| {
            attributes.push(attributes[attr].clone());
            attributes.len() - 1
        });
    }
    let mut copy = rel.clone();
    copy.rename(&|attr| fresh.get(&attr).copied().unwrap_or(attr));
    (copy, fresh)
}
