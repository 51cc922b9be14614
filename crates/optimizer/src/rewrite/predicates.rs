//! Predicates: common factors out of ORs, predicates that an OR implies for one relation, strictness.
//!
//! - NULL: `a AND (b OR c)` is TRUE exactly when `(a AND b) OR (a AND c)` is, and a filter keeps no other rows; FALSE
//!   and NULL may be exchanged. So these rewrites are for filters and join conditions, not for values.
//! - Volatile expressions are equal to none, not even to themselves, so they are never a common factor.
//! - Fallible conjuncts are neither a common factor nor implied: they stay behind the conjuncts of their branch.

use plan::properties::{is_fallible, is_volatile};
use plan::{BinaryOperator, Expr, ExprKind, outcomes};

use plan::relation::{AttrSet, combine, split_conjunction, split_disjunction};

/// Splits conjuncts and takes common factors out of ORs: `(a AND b) OR (a AND c)` is `a AND (b OR c)`.
pub fn simplify(predicates: Vec<Expr>) -> Vec<Expr> {
    let mut result: Vec<Expr> = Vec::with_capacity(predicates.len());
    for predicate in predicates {
        let mut conjuncts = Vec::new();
        split_conjunction(predicate, &mut conjuncts);
        for conjunct in conjuncts {
            for factor in factored(conjunct) {
                if !result.contains(&factor) {
                    result.push(factor);
                }
            }
        }
    }
    result
}

fn is_or(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Binary { operator: BinaryOperator::Or, .. })
}

fn factored(expr: Expr) -> Vec<Expr> {
    if !is_or(&expr) {
        return vec![expr];
    }
    let mut branches = branches_of(expr);
    let common: Vec<Expr> = branches[0]
        .iter()
        .filter(|it| branches[1..].iter().all(|branch| branch.contains(it)) && !is_fallible(it))
        .cloned()
        .collect();
    for branch in &mut branches {
        branch.retain(|it| !common.contains(it));
    }
    let mut result = common;
    // A branch that is nothing but the common part makes the rest of the OR true.
    if branches.iter().all(|it| !it.is_empty()) {
        let ors = branches.into_iter().filter_map(|it| combine(BinaryOperator::And, it)).collect();
        result.extend(combine(BinaryOperator::Or, ors));
    }
    result
}

/// The branches of an OR as conjuncts.
fn branches_of(expr: Expr) -> Vec<Vec<Expr>> {
    let mut branches = Vec::new();
    split_disjunction(expr, &mut branches);
    branches
        .into_iter()
        .map(|it| {
            let mut conjuncts = Vec::new();
            split_conjunction(it, &mut conjuncts);
            conjuncts
        })
        .collect()
}

/// What an OR over several relations implies for one of them: each branch's conjuncts over that relation alone,
/// if every branch has one (Q7: one of two nations on either side).
pub fn implied(expr: &Expr, attrs: &AttrSet) -> Option<Expr> {
    if !is_or(expr) || !AttrSet::of(expr).intersects(attrs) {
        return None;
    }
    let mut parts = Vec::new();
    for branch in branches_of(expr.clone()) {
        let own: Vec<Expr> = branch
            .into_iter()
            .filter(|it| {
                let used = AttrSet::of(it);
                !used.is_empty() && used.is_subset(attrs) && !is_fallible(it) && !is_volatile(it)
            })
            .collect();
        parts.push(combine(BinaryOperator::And, own)?);
    }
    combine(BinaryOperator::Or, parts)
}

/// Whether the predicate cannot be TRUE when all these attributes are NULL.
pub fn rejects_null(expr: &Expr, attrs: &AttrSet) -> bool {
    !outcomes::may_be_true(expr, &|it| attrs.contains(it))
}
