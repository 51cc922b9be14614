//! Whether a relation has at most one row for each combination of some of its attributes.

use plan::properties::is_volatile;
use plan::relation::{Apply, Attr, AttrSet, Rel, RelJoin, bare};
use plan::{BinaryOperator, Expr, ExprKind};
use types::ColumnId;

use super::state::Unnesting;

impl Unnesting {
    /// Whether no two rows of a relation share all of these attributes. Those that it does not have are the same for
    /// all rows.
    pub(super) fn is_unique(&self, rel: &Rel, by: &AttrSet) -> bool {
        match rel {
            Rel::Scan(scan) => {
                let unique = |it: usize| scan.table.is_unique(ColumnId(it as u16));
                (0..scan.table.columns.len()).any(|it| by.contains(scan.base + it) && unique(it))
            }
            Rel::Filter { input, predicates } => {
                let mut by = by.clone();
                close(&mut by, predicates);
                self.is_unique(input, &by)
            }
            Rel::Map { input, exprs } => {
                let mut by = by.clone();
                let known: Vec<Attr> = exprs
                    .iter()
                    .filter(|it| by.contains(it.0))
                    .filter_map(|it| bare(&it.1))
                    .collect();
                known.into_iter().for_each(|it| by.insert(it));
                self.is_unique(input, &by)
            }
            Rel::Sort { input, partition, limit, .. } => {
                let one = limit.is_some_and(|it| it <= 1);
                (one && partition.iter().all(|it| by.contains(*it))) || self.is_unique(input, by)
            }
            Rel::Window { input, .. } => self.is_unique(input, by),
            Rel::Limit { input, limit, .. } => {
                limit.is_some_and(|it| it <= 1) || self.is_unique(input, by)
            }
            Rel::Aggregate { keys, .. } => keys.iter().all(|it| by.contains(it.0)),
            Rel::Join(join) => match join.kind {
                RelJoin::Semi | RelJoin::Anti | RelJoin::Mark => self.is_unique(&join.left, by),
                RelJoin::Full => false,
                RelJoin::Left => self.unique_pairs(&join.left, &join.right, by, &join.residual),
                RelJoin::Inner => {
                    let mut by = by.clone();
                    close(&mut by, &join.residual);
                    self.unique_pairs(&join.left, &join.right, &by, &join.residual)
                        || self.unique_pairs(&join.right, &join.left, &by, &join.residual)
                }
            },
            Rel::Values { rows, .. } => rows.len() <= 1,
            Rel::Shared { id, output, .. } => {
                let there = output.iter().filter(|it| by.contains(it.0)).map(|it| it.1);
                self.is_unique(&self.shared[*id], &there.collect())
            }
            Rel::Apply(apply) => match apply.kind {
                Apply::Any { .. } | Apply::Scalar { .. } => self.is_unique(&apply.left, by),
                Apply::Join { .. } => false,
            },
            Rel::Union { .. } | Rel::Repeat { .. } => false,
        }
    }

    /// The same of the pairs of two relations, when the first is unique and the second for each row of the first.
    fn unique_pairs(&self, first: &Rel, second: &Rel, by: &AttrSet, on: &[Expr]) -> bool {
        if !self.is_unique(first, by) {
            return false;
        }
        let mut by = by.clone();
        by.union_with(&first.attrs());
        close(&mut by, on);
        self.is_unique(second, &by)
    }
}

/// Adds the attributes that conditions bind to others in the set, or to constants.
fn close(by: &mut AttrSet, on: &[Expr]) {
    loop {
        let before = by.clone();
        for condition in on {
            let ExprKind::Binary { operator, left, right } = &condition.kind else { continue };
            match operator {
                BinaryOperator::Equal | BinaryOperator::IsNotDistinctFrom => {}
                BinaryOperator::And => {
                    close(by, &[(**left).clone(), (**right).clone()]);
                    continue;
                }
                _ => continue,
            }
            for (one, other) in [(left, right), (right, left)] {
                if let Some(attr) = bare(one)
                    && one.data_type == other.data_type
                    && is_fixed(other, by)
                {
                    by.insert(attr);
                }
            }
        }
        if *by == before {
            return;
        }
    }
}

/// Whether an expression has one value where the attributes of a set have.
fn is_fixed(expr: &Expr, by: &AttrSet) -> bool {
    AttrSet::of(expr).is_subset(by) && !is_volatile(expr)
}
