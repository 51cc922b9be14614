//! Right sides that are one row for each left row, or none where a condition drops it: an aggregate without keys, or
//! nothing at all (no FROM), below expressions, conditions, orders, limits and DISTINCT. The aggregate is grouped by what
//! its input is compared with and joined to the left rows; everything above is computed above the join, where it sees the
//! row that an aggregate has over no rows, too.

use plan::properties::is_volatile;
use plan::relation::{Apply, ApplyRel, Attr, AttrSet, Rel, RelJoin, combine, substitute};
use plan::{Aggregate, BinaryOperator, Expr};
use types::SqlResult;

use super::expressions::{case, conjuncts, constant, has_volatile, sides};
use super::join::joined;
use super::pull::{Context, Pulled, pull};
use super::push::{keeps_number, with_counts};
use super::state::{Unnesting, Use};

/// Whether a right side is such a row, and the dependent join can do with it.
pub(super) fn is_single(right: &Rel, outer: &AttrSet, how: &Use) -> bool {
    let extended = matches!(how, Use::Apply(Apply::Join { outer: true, .. }));
    match how {
        Use::Apply(Apply::Join { outer: true, on }) if !on.is_empty() => false,
        _ => is_row(right, outer, extended),
    }
}

/// Whether a relation is a row, and always there if `always`.
fn is_row(rel: &Rel, outer: &AttrSet, always: bool) -> bool {
    match rel {
        Rel::Values { rows, .. } => rows.len() == 1,
        Rel::Map { input, .. } => is_row(input, outer, always),
        Rel::Filter { input, .. } => !always && is_row(input, outer, always),
        Rel::Sort { input, partition, offset, limit, .. } => {
            let kept = *offset == 0 && *limit != Some(0);
            partition.is_empty() && (kept || !always) && is_row(input, outer, always)
        }
        Rel::Limit { input, offset, limit } => {
            let kept = *offset == 0 && *limit != Some(0);
            (kept || !always) && is_row(input, outer, always)
        }
        Rel::Aggregate { input, keys, aggregates, .. } if !keys.is_empty() => {
            aggregates.is_empty() && is_row(input, outer, always)
        }
        // What is volatile is computed for each left row anew.
        Rel::Aggregate { .. } if has_volatile(rel) => false,
        Rel::Aggregate { input, aggregates, .. } => {
            grouped((**input).clone(), aggregates.clone(), outer).is_some()
        }
        Rel::Apply(apply) => {
            !matches!(apply.kind, Apply::Join { .. }) && is_row(&apply.left, outer, always)
        }
        _ => false,
    }
}

/// An aggregate without keys, without what depended on the left side.
struct Grouped {
    input: Rel,
    aggregates: Vec<(Attr, Aggregate)>,
    /// The equalities that did.
    on: Vec<Expr>,
}

fn grouped(input: Rel, mut aggregates: Vec<(Attr, Aggregate)>, outer: &AttrSet) -> Option<Grouped> {
    let Pulled { rel, conjuncts, definitions } = pull(input, &Context::of_all(outer))?;
    let mut used = AttrSet::default();
    for (_, it) in &mut aggregates {
        for expr in it.expressions_mut() {
            substitute(expr, &definitions);
            used.add_expr(expr);
        }
    }
    let inner = rel.attrs();
    let fits =
        !used.intersects(outer) && conjuncts.iter().all(|it| sides(it, outer, &inner).is_some());
    fits.then_some(Grouped { input: rel, aggregates, on: conjuncts })
}

impl Unnesting {
    /// A dependent join with such a right side.
    pub(super) fn single(
        &mut self,
        left: Rel,
        right: Rel,
        how: Use,
        outer: &AttrSet,
        required: &AttrSet,
    ) -> SqlResult<Rel> {
        let mut present = Vec::new();
        let rel = self.row(left, right, outer, required, &mut present)?;
        let (attr, expr) = match how {
            Use::Semi(condition) => {
                present.extend(conjuncts(vec![condition]));
                return Ok(rel.filtered(present));
            }
            Use::Apply(Apply::Join { on, .. }) => {
                present.extend(on);
                return Ok(rel.filtered(present));
            }
            Use::Anti(condition) => {
                let found = self.if_present(present, condition, Some(constant(false)));
                return Ok(rel.filtered(vec![plan::build::negated(found)]));
            }
            Use::Apply(Apply::Any { mark, condition, .. }) => {
                (mark, self.if_present(present, condition, Some(constant(false))))
            }
            Use::Apply(Apply::Scalar { value, source }) => {
                (value, self.if_present(present, self.column(source), None))
            }
        };
        Ok(Rel::Map { input: Box::new(rel), exprs: vec![(attr, expr)] })
    }

    fn if_present(&self, present: Vec<Expr>, value: Expr, otherwise: Option<Expr>) -> Expr {
        let data_type = value.data_type;
        match combine(BinaryOperator::And, present) {
            Some(condition) => case(vec![(condition, value)], otherwise, data_type),
            None => value,
        }
    }

    /// The left rows with the attributes of the right side's row, and the conditions under which that is there.
    fn row(
        &mut self,
        left: Rel,
        right: Rel,
        outer: &AttrSet,
        required: &AttrSet,
        present: &mut Vec<Expr>,
    ) -> SqlResult<Rel> {
        match right {
            Rel::Values { output, mut rows } => {
                let row = rows.pop().unwrap_or_default();
                Ok(mapped(left, output.into_iter().zip(row).collect()))
            }
            Rel::Map { input, exprs } => {
                let rel = self.row(left, *input, outer, required, present)?;
                let mut exprs = exprs;
                for (_, it) in exprs.iter_mut().filter(|it| is_volatile(&it.1)) {
                    // Not for rows that a condition below has dropped.
                    *it = self.if_present(present.clone(), it.clone(), None);
                }
                Ok(mapped(rel, exprs))
            }
            Rel::Filter { input, predicates } => {
                let rel = self.row(left, *input, outer, required, present)?;
                present.extend(conjuncts(predicates));
                Ok(rel)
            }
            Rel::Sort { input, offset, limit, .. } | Rel::Limit { input, offset, limit } => {
                let rel = self.row(left, *input, outer, required, present)?;
                if offset > 0 || limit == Some(0) {
                    present.push(constant(false));
                }
                Ok(rel)
            }
            Rel::Aggregate { input, keys, aggregates, .. } if keys.is_empty() => {
                self.aggregate_row(left, *input, aggregates, outer, required)
            }
            Rel::Aggregate { input, keys, .. } => {
                let rel = self.row(left, *input, outer, required, present)?;
                Ok(mapped(rel, keys.into_iter().filter(|it| !keeps_number(it)).collect()))
            }
            Rel::Apply(apply) => {
                let ApplyRel { left: inner, right, kind } = *apply;
                let rel = self.row(left, inner, outer, required, present)?;
                let mut below = required.clone();
                below.union_with(outer);
                self.apply(rel, right, Use::Apply(kind), &below)
            }
            _ => Err(types::SqlError::internal("a subquery is no single row")),
        }
    }

    fn aggregate_row(
        &mut self,
        left: Rel,
        input: Rel,
        aggregates: Vec<(Attr, Aggregate)>,
        outer: &AttrSet,
        required: &AttrSet,
    ) -> SqlResult<Rel> {
        let Grouped { input, mut aggregates, on } = grouped(input, aggregates, outer)
            .ok_or_else(|| types::SqlError::internal("an aggregate cannot be grouped"))?;
        let (keys, on) = self.keys_of(on, outer, &input.attrs());
        let counts = match keys.is_empty() {
            true => Vec::new(),
            false => self.counts(&mut aggregates),
        };
        let kind = if keys.is_empty() { RelJoin::Inner } else { RelJoin::Left };
        let groups = Rel::Aggregate { input: Box::new(input), keys, aggregates, rows: 0.0 };
        let groups = self.rel(groups, required)?;
        Ok(with_counts(joined(kind, left, groups, on), counts))
    }
}

fn mapped(rel: Rel, exprs: Vec<(Attr, Expr)>) -> Rel {
    match exprs.is_empty() {
        true => rel,
        false => Rel::Map { input: Box::new(rel), exprs },
    }
}
