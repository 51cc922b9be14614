//! Functions of a select list that make rows: where their rows are made. As in PostgreSQL that is behind groups and windows, and
//! behind ORDER BY, where that does not read them: the rows that come of one stand together, in their order.

use plan::relation::{Apply, AttrSet, Rel};
use plan::{Expr, SortKey};

use super::Binder;
use super::level::{apply, over};
use super::upper::{OrderKey, Upper};

/// What makes several rows of one, apart from the rows.
#[derive(Debug)]
pub(super) struct LateRows {
    rel: Rel,
    made: AttrSet,
}

impl LateRows {
    pub(super) fn new(rel: Rel) -> Self {
        let made = made_by(&rel);
        Self { rel, made }
    }

    /// These rows for each row of a relation.
    pub(super) fn of(self, rows: Rel) -> Rel {
        match stands_over_row(&self.rel) {
            true => over(rows, self.rel),
            false => apply(rows, self.rel, Apply::Join { outer: false, on: Vec::new() }),
        }
    }

    pub(super) fn makes(&self, expr: &Expr) -> bool {
        AttrSet::of(expr).intersects(&self.made)
    }

    /// Whether the order is one of the rows before they are made several.
    pub(super) fn may_follow(&self, order: &[OrderKey]) -> bool {
        let key = |it: &OrderKey| match it {
            OrderKey::By(SortKey { expr, .. }) | OrderKey::Place(_, SortKey { expr, .. }) => {
                self.makes(expr)
            }
        };
        // A dependent join would not keep the order.
        !order.is_empty()
            && !order.iter().any(key)
            && stands_over_row(&self.rel)
            && !has_join(&self.rel)
    }
}

impl Binder<'_> {
    /// Takes the functions of the select list that make rows out of what is pending, if nothing below the select list reads
    /// what they make.
    pub(super) fn late_rows(
        &mut self,
        pending: &mut Vec<(Rel, Apply)>,
        upper: &Upper,
    ) -> Option<(Rel, Apply)> {
        let first = self.level().series.as_ref()?.parts.first()?.value;
        let at = pending.iter().position(|(rel, kind)| {
            matches!(kind, Apply::Join { .. }) && rel.attrs().contains(first)
        })?;
        let made = made_by(&pending[at].0);
        let mut read = AttrSet::default();
        let exprs = upper.windows.iter().flat_map(|it| it.1.expressions());
        exprs.chain(&upper.qualify).chain(&upper.having).for_each(|it| read.add_expr(it));
        upper.keys.iter().for_each(|it| read.add_expr(&it.expr));
        for (place, (rel, kind)) in pending.iter().enumerate() {
            if place != at {
                read.union_with(&rel.free_attrs());
                match kind {
                    Apply::Any { condition, .. } => read.add_expr(condition),
                    Apply::Join { on, .. } => on.iter().for_each(|it| read.add_expr(it)),
                    Apply::Scalar { .. } => {}
                }
            }
        }
        (!read.intersects(&made)).then(|| pending.remove(at))
    }
}

/// The columns of a relation that it has from nowhere else.
fn made_by(rel: &Rel) -> AttrSet {
    let mut made = rel.attrs();
    rel.free_attrs().iter().for_each(|it| made.remove(it));
    made
}

/// Whether a relation is made of the row of no columns by what hands all columns on.
fn stands_over_row(rel: &Rel) -> bool {
    match rel {
        Rel::Values { output, rows } => output.is_empty() && rows.len() == 1,
        Rel::Map { input, .. } | Rel::Filter { input, .. } | Rel::Repeat { input, .. } => {
            stands_over_row(input)
        }
        Rel::Apply(it) => stands_over_row(&it.left),
        _ => false,
    }
}

fn has_join(rel: &Rel) -> bool {
    match rel {
        Rel::Map { input, .. } | Rel::Filter { input, .. } | Rel::Repeat { input, .. } => {
            has_join(input)
        }
        Rel::Apply(_) => true,
        _ => false,
    }
}
