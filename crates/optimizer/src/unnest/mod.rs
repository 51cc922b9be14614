//! Dependent joins taken out, so that no operator is evaluated row by row (Neumann and Kemper, BTW 2015).
//!
//! Key decision: from the outside in. A dependent join is looked at when no other is around it, so its left side uses
//! nothing from outside and can be computed once. In this order of preference:
//!
//! 1. nothing of the right side depends on the left: an ordinary join, or a scalar subquery of the query (`plain`);
//! 2. the right side has at most one row for each left row because it is an aggregate without keys or has no FROM: it is
//!    joined by its equalities, and everything above the aggregate is computed above the join (`single`);
//! 3. the right side is made of the left row alone, as by a function in FROM: it is made of all left rows (`row`);
//! 4. the conditions that depend on the left can be pulled up to the join (`pull`);
//! 5. else, and where the right side is volatile, the left side is shared, the distinct values that the right side uses of it are joined to the relations deep
//!    in the right side, and the results to the left rows (`push`).
//!
//! Before that, what of a right side may fail is told when its value is asked for (`guards`).
//!
//! - Invariant: what comes out has no [`Rel::Apply`], and no expression uses an attribute that its inputs lack.
//! - Invariant: an error of a subquery with several rows is raised where its value is used, not where it is computed.

mod around;
mod deferred;
mod expressions;
mod guards;
mod join;
mod null_safe;
mod nullable;
mod plain;
mod prepare;
mod prune;
mod pull;
mod push;
mod row;
mod single;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod unique;

use plan::properties::is_volatile;
use plan::relation::{Apply, ApplyRel, Attr, AttrSet, Query, Rel, bare};
use plan::{Expr, ExprKind, Frame, UnaryOperator, WindowCall, WindowFunction};
use types::{DataType, Interrupt, SqlResult};

pub(crate) use null_safe::replaced;

use crate::Outsides;
use expressions::{conjuncts, has_volatile};
use pull::Context;
use state::{Unnesting, Use};

/// Takes all dependent joins out of a query, unless `interrupt` ends that. Tells `outsides` what gives the values that recursive
/// queries which it reads depend on.
pub fn unnest(query: &mut Query, outsides: &mut Outsides, interrupt: &Interrupt) -> SqlResult<()> {
    prepare::prepare(query);
    let guards = guards::guard(query);
    let bound = query.shared.len();
    let mut this = Unnesting {
        attributes: std::mem::take(&mut query.attributes),
        scalars: std::mem::take(&mut query.scalars),
        shared: std::mem::take(&mut query.shared),
        guards,
        outsides: state::Wanted::of(outsides),
        bound,
        interrupt: interrupt.clone(),
    };
    for place in 0..bound {
        // Each is closed: it uses nothing of what is around its readers.
        let rel = this.shared[place].take();
        let required = rel.attrs();
        this.shared[place] = this.rel(rel, &required)?;
    }
    for place in 0..this.scalars.len() {
        let rel = this.scalars[place].rel.take();
        let required = [this.scalars[place].attr].into_iter().collect();
        this.scalars[place].rel = this.rel(rel, &required)?;
    }
    let output: AttrSet = query.output.iter().map(|it| it.attr).collect();
    query.root = this.rel(query.root.take(), &output)?;
    this.expand_null_safe(&mut query.root);
    this.tell(outsides)?;
    let Unnesting { attributes, scalars, shared, .. } = this;
    (query.attributes, query.scalars, query.shared) = (attributes, scalars, shared);
    deferred::defer(query, bound);
    prune::prune(query);
    Ok(())
}

impl Unnesting {
    /// A relation without dependent joins. It uses nothing from outside; `required` is what its consumer uses of it.
    fn rel(&mut self, rel: Rel, required: &AttrSet) -> SqlResult<Rel> {
        self.interrupt.check()?;
        match rel {
            Rel::Filter { input, predicates } => self.filter(*input, predicates, required),
            Rel::Apply(apply) => {
                let ApplyRel { left, right, kind } = *apply;
                self.apply(left, right, Use::Apply(kind), required)
            }
            mut other => {
                let mut below = other.used();
                below.union_with(required);
                for input in other.inputs_mut() {
                    *input = self.rel(input.take(), &below)?;
                }
                Ok(other)
            }
        }
    }

    /// A filter: what it asks of the left side of a dependent join below goes there, and whether it asks for the mark
    /// alone decides how that is joined.
    fn filter(&mut self, input: Rel, predicates: Vec<Expr>, required: &AttrSet) -> SqlResult<Rel> {
        let mut conjuncts = conjuncts(predicates);
        let apply = match input {
            Rel::Filter { input, predicates } => {
                conjuncts.splice(0..0, predicates);
                return self.filter(*input, conjuncts, required);
            }
            Rel::Apply(apply) => *apply,
            other => {
                let mut below = required.clone();
                conjuncts.iter().for_each(|it| below.add_expr(it));
                return Ok(self.rel(other, &below)?.filtered(conjuncts));
            }
        };
        let ApplyRel { left, right, kind } = apply;
        let left_attrs = left.attrs();
        let (below, mut above): (Vec<Expr>, Vec<Expr>) = conjuncts
            .into_iter()
            .partition(|it| AttrSet::of(it).is_subset(&left_attrs) && !is_volatile(it));
        let left = left.filtered(below);
        let mut demanded = required.clone();
        let how = match asks_for(&kind, &above) {
            Some((place, negated, mark)) if !required.contains(mark) => {
                let asking = above.remove(place);
                match above.iter().any(|it| AttrSet::of(it).contains(mark)) {
                    true => {
                        above.push(asking);
                        Use::Apply(kind)
                    }
                    false => how_to_keep(kind, negated),
                }
            }
            _ => Use::Apply(kind),
        };
        above.iter().for_each(|it| demanded.add_expr(it));
        Ok(self.apply(left, right, how, &demanded)?.filtered(above))
    }

    fn apply(
        &mut self,
        left: Rel,
        mut right: Rel,
        mut how: Use,
        required: &AttrSet,
    ) -> SqlResult<Rel> {
        // A value of the left side as that of the subquery: its rows still count.
        if let Use::Apply(Apply::Scalar { source, .. }) = &mut how
            && !right.attrs().contains(*source)
        {
            let own = self.attribute(self.attributes[*source].data_type, true);
            let exprs = vec![(own, self.column(*source))];
            right = Rel::Map { input: Box::new(right), exprs };
            *source = own;
        }
        let free = right.free_attrs();
        let mut below = required.clone();
        below.union_with(&free);
        match &how {
            Use::Apply(Apply::Any { condition, .. })
            | Use::Semi(condition)
            | Use::Anti(condition) => {
                below.add_expr(condition);
            }
            Use::Apply(Apply::Scalar { source, .. }) => below.insert(*source),
            Use::Apply(Apply::Join { on, .. }) => on.iter().for_each(|it| below.add_expr(it)),
        }
        let left = self.rel(left, &below)?;
        self.look_around(&left, &right)?;
        if free.is_empty() {
            let right = self.rel(right, &below)?;
            return self.independent(left, right, how);
        }
        if single::is_single(&right, &free, &how) {
            return self.single(left, right, how, &free, &below);
        }
        if let Use::Apply(Apply::Join { outer: false, on }) = &how
            && row::is_of_row(&right)
        {
            return Ok(row::over(right, left).filtered(on.clone()));
        }
        if has_volatile(&right) {
            return self.for_each_row(left, right, how, free, &below);
        }
        if let Some(pulled) = pull::pull(right.clone(), &Context::of(&free, &how))
            && self.can_join(&pulled, &how, &free)
        {
            return self.join(left, pulled, how, &below);
        }
        self.general(left, right, how, &free, &below)
    }

    /// The general way for a right side that may be another one each time that it is computed: for each left row, told
    /// apart by its number, and not for each of their distinct values.
    fn for_each_row(
        &mut self,
        left: Rel,
        right: Rel,
        how: Use,
        mut outer: AttrSet,
        required: &AttrSet,
    ) -> SqlResult<Rel> {
        let number = self.attribute(DataType::BigInt, false);
        let call = WindowCall {
            function: WindowFunction::RowNumber,
            arguments: Vec::new(),
            filter: None,
            order: 0,
            frame: Frame::default(),
            ignore_nulls: false,
            data_type: DataType::BigInt,
        };
        let input = Box::new(left);
        let (partition, keys, functions) = (Vec::new(), Vec::new(), vec![(number, call)]);
        let left = Rel::Window { input, partition, keys, functions };
        outer.insert(number);
        self.general(left, right, how, &outer, required)
    }
}

/// The place of the conjunct that asks for the mark of a dependent join alone, whether it asks for its contrary, and the
/// mark.
fn asks_for(kind: &Apply, conjuncts: &[Expr]) -> Option<(usize, bool, Attr)> {
    let Apply::Any { mark, .. } = kind else { return None };
    conjuncts.iter().enumerate().find_map(|(place, it)| {
        let negated = match &it.kind {
            ExprKind::Column(attr) if attr == mark => false,
            ExprKind::Unary { operator, operand } if bare(operand) == Some(*mark) => match operator
            {
                UnaryOperator::IsTrue => false,
                UnaryOperator::Not | UnaryOperator::IsFalse => true,
                _ => return None,
            },
            _ => return None,
        };
        Some((place, negated, *mark))
    })
}

fn how_to_keep(kind: Apply, negated: bool) -> Use {
    match kind {
        Apply::Any { condition, .. } if negated => Use::Anti(condition),
        Apply::Any { condition, .. } => Use::Semi(condition),
        other => Use::Apply(other),
    }
}
