//! Where the rows of a relation are, and which attributes tell it.

use plan::relation::{Attr, AttrSet, Rel, bare, split_conjunction};
use plan::{BinaryOperator, Expr, ExprKind};

/// Where the rows of a relation are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Each shard makes all of them, and all the same.
    Everywhere,
    /// Each shard can make them, but two might make different ones.
    Anywhere,
    /// They are what all shards make, together. A row is in the shard that the value of each of these attributes says, which
    /// is never NULL.
    Parts(AttrSet),
    /// The coordinator has them.
    Here,
}

/// A relation and where its rows are.
pub(super) struct Placed {
    pub rel: Rel,
    pub place: Place,
}

impl Place {
    /// Where rows are that are made of one shard's copy of the tables, when two copies may not lead to the same.
    pub fn unsteady(self) -> Self {
        match self {
            Self::Everywhere => Self::Anywhere,
            other => other,
        }
    }

    /// Whether any shard can make the rows alone.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Everywhere | Self::Anywhere)
    }
}

/// Conjuncts.
pub(super) fn conjuncts(predicates: Vec<Expr>) -> Vec<Expr> {
    let mut all = Vec::with_capacity(predicates.len());
    predicates.into_iter().for_each(|it| split_conjunction(it, &mut all));
    all
}

/// Those that are about some attributes alone.
pub(super) fn about(conjuncts: &[Expr], attrs: &AttrSet) -> Vec<Expr> {
    conjuncts.iter().filter(|it| AttrSet::of(it).is_subset(attrs)).cloned().collect()
}

/// All attributes that have the value of one of these in rows for which the conjuncts hold.
pub(super) fn equal_to(attrs: &AttrSet, conjuncts: &[Expr]) -> AttrSet {
    let pairs: Vec<(Attr, Attr)> = conjuncts.iter().filter_map(equality).collect();
    let mut all = attrs.clone();
    loop {
        let more: Vec<Attr> = pairs
            .iter()
            .flat_map(|(a, b)| [(*a, *b), (*b, *a)])
            .filter(|(a, b)| all.contains(*a) && !all.contains(*b))
            .map(|it| it.1)
            .collect();
        if more.is_empty() {
            return all;
        }
        more.into_iter().for_each(|it| all.insert(it));
    }
}

/// Two attributes that an expression says are the same number. NULL is no key, so that the NULL-safe equality says it too.
fn equality(expr: &Expr) -> Option<(Attr, Attr)> {
    let ExprKind::Binary { operator, left, right } = &expr.kind else { return None };
    let is_equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::IsNotDistinctFrom);
    // A key is a whole number, and types that hold whole numbers agree on which are equal.
    let are_whole = left.data_type.is_integer() && right.data_type.is_integer();
    (is_equality && are_whole).then_some(())?;
    Some((bare(left)?, bare(right)?))
}
