//! Columns that follow from the keys of GROUP BY: with a key of a table among them, all columns of its row are one value for
//! each group (functional dependency, SQL:2023 feature T301).

use plan::relation::{Apply, Attr, AttrSet, Rel, bare};
use plan::{Aggregate, AggregateFunction, Expr};
use types::UniqueKey;

use super::Binder;
use super::upper::{Key, Upper};

impl Binder<'_> {
    /// The columns that follow from keys and are used above the groups: each as an aggregate, and the column that it is.
    ///
    /// Key decision: any value of the group, and not one more key, which would have to be hashed and compared.
    pub(super) fn dependents(
        &mut self,
        input: &Rel,
        keys: &[Key],
        upper: &mut Upper,
        subqueries: &[&[(Rel, Apply)]],
    ) -> Vec<(Attr, Aggregate, Expr)> {
        let named: AttrSet = keys.iter().filter_map(|it| bare(&it.expr)).collect();
        let mut follow = Vec::new();
        input.visit(&mut |rel| {
            let Rel::Scan(scan) = rel else { return };
            let own = scan.base..scan.base + scan.table.columns.len();
            if own.clone().all(|it| !named.contains(it)) {
                return;
            }
            let is_key = |it: &UniqueKey| {
                it.is_constraint
                    && !it.is_deferrable
                    && it.columns.iter().all(|column| {
                        let place = column.index();
                        scan.table.columns.get(place).is_some_and(|it| !it.nullable)
                            && named.contains(scan.base + place)
                    })
            };
            if self.environment.catalog.unique_keys(scan.table.id).iter().any(is_key) {
                follow.extend(own.filter(|it| !named.contains(*it)));
            }
        });
        if follow.is_empty() {
            return Vec::new();
        }
        let used = self.used_above(upper, subqueries);
        let follow = follow.into_iter().filter(|it| used.contains(*it));
        let mut made = Vec::new();
        for attr in follow {
            let column = self.column_expr(attr);
            let call =
                Aggregate::of(AggregateFunction::AnyValue, Some(column.clone()), column.data_type);
            made.push((self.attribute(column.data_type, true), call, column));
        }
        made
    }

    /// What stands above the groups uses of their rows.
    fn used_above(&mut self, upper: &mut Upper, subqueries: &[&[(Rel, Apply)]]) -> AttrSet {
        let mut used = AttrSet::default();
        let mut add = |it: &Expr| used.union_with(&AttrSet::of(it));
        upper.expressions_mut().for_each(|it| add(it));
        upper.having.iter().for_each(&mut add);
        self.level().left_out.iter().for_each(&mut add);
        for (rel, kind) in subqueries.iter().copied().flatten() {
            rel.visit_expressions(&mut |it| add(it));
            match kind {
                Apply::Any { condition, .. } => add(condition),
                Apply::Join { on, .. } => on.iter().for_each(&mut add),
                Apply::Scalar { .. } => {}
            }
        }
        used
    }
}
