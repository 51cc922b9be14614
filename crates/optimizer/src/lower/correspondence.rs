//! Which attribute of a relation is which of another one that has the same rows: two occurrences of a WITH query, of a
//! view, of the same joins.
//!
//! Key decision: relations are compared as they are, attribute by attribute in one walk through both. What is volatile
//! equals nothing, not even itself, and neither does a choice of rows without an order.

use std::collections::BTreeMap;

use plan::properties::is_volatile;
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin};
use plan::{Aggregate, Expr, SortKey};

/// The attributes of one relation with those of another that has the same rows.
#[derive(Default)]
pub(super) struct Correspondence {
    there: BTreeMap<Attr, Attr>,
}

impl Correspondence {
    /// How two relations correspond, if it is certain that they have the same rows.
    pub fn of(here: &Rel, there: &Rel) -> Option<Self> {
        let mut this = Self::default();
        this.rel(here, there).then_some(this)
    }

    /// How two groupings correspond whose keys are equal, one by one.
    pub fn of_grouping(
        (here, here_keys): (&Rel, &[(Attr, Expr)]),
        (there, there_keys): (&Rel, &[(Attr, Expr)]),
    ) -> Option<Self> {
        let mut this = Self::default();
        let same = here_keys.len() == there_keys.len()
            && this.rel(here, there)
            && this.definitions(here_keys, there_keys);
        same.then_some(this)
    }

    /// Whether two expressions over the relations have the same value.
    fn expr(&self, here: &Expr, there: &Expr) -> bool {
        if is_volatile(here) || !AttrSet::of(here).iter().all(|it| self.there.contains_key(&it)) {
            return false;
        }
        let mut mapped = here.clone();
        mapped.map_columns(&mut |attr| self.there[&attr]);
        mapped == *there
    }

    fn exprs<'a>(
        &self,
        here: impl IntoIterator<Item = &'a Expr>,
        there: impl IntoIterator<Item = &'a Expr>,
    ) -> bool {
        let mut there = there.into_iter();
        let all = here.into_iter().all(|it| there.next().is_some_and(|other| self.expr(it, other)));
        all && there.next().is_none()
    }

    /// Whether two orders are the same.
    fn order(&self, here: &[SortKey], there: &[SortKey]) -> bool {
        let directions = |it: &SortKey| (it.descending, it.nulls_first);
        here.iter().map(directions).eq(there.iter().map(directions))
            && self.exprs(here.iter().map(|it| &it.expr), there.iter().map(|it| &it.expr))
    }

    /// Whether two aggregates over the relations have the same value in each group.
    pub fn aggregate(&self, here: &Aggregate, there: &Aggregate) -> bool {
        here.function == there.function
            && here.distinct == there.distinct
            && here.data_type == there.data_type
            && here.argument.is_some() == there.argument.is_some()
            && self.exprs(&here.argument, &there.argument)
            && self.exprs(&here.rest, &there.rest)
            && self.order(&here.order, &there.order)
            && self.exprs(&here.filter, &there.filter)
    }

    /// Whether two lists of definitions are equal; each defined attribute then corresponds to the other.
    fn definitions(&mut self, here: &[(Attr, Expr)], there: &[(Attr, Expr)]) -> bool {
        let same = self.exprs(here.iter().map(|it| &it.1), there.iter().map(|it| &it.1));
        self.there.extend(here.iter().zip(there).map(|it| (it.0.0, it.1.0)));
        same
    }

    /// Whether a relation can correspond to any, being of the kinds that are compared.
    pub fn is_possible(rel: &Rel) -> bool {
        let compared = matches!(
            rel,
            Rel::Scan(_)
                | Rel::Filter { .. }
                | Rel::Map { .. }
                | Rel::Join(_)
                | Rel::Aggregate { .. }
        );
        compared && rel.inputs().into_iter().all(Self::is_possible)
    }

    fn rel(&mut self, here: &Rel, there: &Rel) -> bool {
        match (here, there) {
            (Rel::Scan(a), Rel::Scan(b)) => {
                let columns = 0..a.table.columns.len();
                self.there.extend(columns.map(|it| (a.base + it, b.base + it)));
                a.table.id == b.table.id && self.exprs(&a.filters, &b.filters)
            }
            (
                Rel::Filter { input: a, predicates: of_a },
                Rel::Filter { input: b, predicates: of_b },
            ) => self.rel(a, b) && self.exprs(of_a, of_b),
            (Rel::Map { input: a, exprs: of_a }, Rel::Map { input: b, exprs: of_b }) => {
                self.rel(a, b) && self.definitions(of_a, of_b)
            }
            (Rel::Join(a), Rel::Join(b)) => self.join(a, b),
            (
                Rel::Aggregate { input: a, keys: keys_a, aggregates: of_a, .. },
                Rel::Aggregate { input: b, keys: keys_b, aggregates: of_b, .. },
            ) => {
                let same = self.rel(a, b) && self.definitions(keys_a, keys_b);
                let mut pairs = of_a.iter().zip(of_b);
                let same = same
                    && of_a.len() == of_b.len()
                    && pairs.all(|(a, b)| self.aggregate(&a.1, &b.1));
                self.there.extend(of_a.iter().zip(of_b).map(|it| (it.0.0, it.1.0)));
                same
            }
            // The rest is rare below groups.
            _ => false,
        }
    }

    fn join(&mut self, here: &JoinRel, there: &JoinRel) -> bool {
        let same = here.kind == there.kind
            && here.null_aware == there.null_aware
            && self.rel(&here.left, &there.left)
            && self.rel(&here.right, &there.right)
            && self.exprs(here.keys.iter().map(|it| &it.0), there.keys.iter().map(|it| &it.0))
            && self.exprs(here.keys.iter().map(|it| &it.1), there.keys.iter().map(|it| &it.1))
            && self.exprs(&here.residual, &there.residual);
        if let (RelJoin::Mark, Some(a), Some(b)) = (here.kind, here.mark, there.mark) {
            self.there.insert(a, b);
        }
        same
    }
}
