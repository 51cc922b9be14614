//! Predicates: common factors out of ORs, predicates that an OR implies for one relation, strictness.

use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};

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
        .filter(|it| branches[1..].iter().all(|branch| branch.contains(it)))
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
                !used.is_empty() && used.is_subset(attrs)
            })
            .collect();
        parts.push(combine(BinaryOperator::And, own)?);
    }
    combine(BinaryOperator::Or, parts)
}

/// Whether the predicate cannot be TRUE when all these attributes are NULL.
pub fn rejects_null(expr: &Expr, attrs: &AttrSet) -> bool {
    match &expr.kind {
        ExprKind::Binary { operator: BinaryOperator::And, left, right } => {
            rejects_null(left, attrs) || rejects_null(right, attrs)
        }
        ExprKind::Binary { operator: BinaryOperator::Or, left, right } => {
            rejects_null(left, attrs) && rejects_null(right, attrs)
        }
        ExprKind::Binary { operator, left, right } if operator.is_comparison() => {
            is_null_with(left, attrs) || is_null_with(right, attrs)
        }
        ExprKind::Unary { operator, operand } => match operator {
            UnaryOperator::IsNotNull | UnaryOperator::Not => is_null_with(operand, attrs),
            UnaryOperator::IsTrue => rejects_null(operand, attrs),
            UnaryOperator::IsFalse => is_null_with(operand, attrs),
            _ => false,
        },
        ExprKind::InList { operand, .. } | ExprKind::Like { operand, .. } => {
            is_null_with(operand, attrs)
        }
        ExprKind::Column(attr) => attrs.contains(*attr),
        _ => false,
    }
}

/// Whether the expression surely is NULL when all these attributes are.
fn is_null_with(expr: &Expr, attrs: &AttrSet) -> bool {
    match &expr.kind {
        ExprKind::Column(attr) => attrs.contains(*attr),
        ExprKind::Binary { operator, left, right }
            if !matches!(
                operator,
                BinaryOperator::And
                    | BinaryOperator::Or
                    | BinaryOperator::IsDistinctFrom
                    | BinaryOperator::IsNotDistinctFrom
            ) =>
        {
            is_null_with(left, attrs) || is_null_with(right, attrs)
        }
        ExprKind::Unary { operator: UnaryOperator::Negate | UnaryOperator::Not, operand }
        | ExprKind::Cast(operand)
        | ExprKind::Extract { operand, .. }
        | ExprKind::Like { operand, .. }
        | ExprKind::InList { operand, .. }
        | ExprKind::Substring { operand, .. } => is_null_with(operand, attrs),
        _ => false,
    }
}
