//! Subqueries that DataFusion would take apart wrongly are found here, before it does.
//!
//! An IN inside an OR becomes a mark that is TRUE or FALSE but never NULL. Where FALSE and NULL are told apart (under
//! NOT, IS NULL, CASE) and an operand may be NULL, the answer would be wrong.

use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, DataFusionError, Result};
use datafusion_expr::{Expr, ExprSchemable, LogicalPlan, Operator};

/// Rejects what cannot be planned rightly, and tells what is to be done with the rest.
pub fn check(plan: &LogicalPlan) -> Result<Needs> {
    let mut needs = Needs::default();
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Filter(filter) = node {
            conjunct(&filter.predicate, filter.input.schema())?;
        }
        needs.distinct |= matches!(node, LogicalPlan::Distinct(_));
        needs.lateral |= matches!(node, LogicalPlan::Subquery(_));
        node.apply_expressions(|expr| {
            expr.apply(|it| {
                match it {
                    Expr::SetComparison(it) => {
                        needs.comparisons = true;
                        quantified(&it.expr, &it.subquery.subquery)?;
                    }
                    Expr::InSubquery(_) | Expr::Exists(_) => needs.predicates = true,
                    Expr::ScalarSubquery(_) => needs.scalars = true,
                    Expr::Cast(it) if it.field.data_type().is_integer() => needs.rounding = true,
                    _ => {}
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(needs)
}

/// Which rewrites a plan is in need of; the others would go over it in vain.
#[derive(Clone, Copy, Default)]
pub struct Needs {
    /// There are comparisons with ANY or ALL of a subquery.
    pub comparisons: bool,
    /// There are IN or EXISTS with a subquery.
    pub predicates: bool,
    /// There are subqueries as values.
    pub scalars: bool,
    /// There are lateral subqueries.
    pub lateral: bool,
    /// There is a DISTINCT.
    pub distinct: bool,
    /// There are casts to integers.
    pub rounding: bool,
}

impl Needs {
    /// There are subqueries in expressions, or lateral ones.
    pub fn unnesting(self) -> bool {
        self.comparisons || self.predicates || self.scalars || self.lateral
    }
}

/// A conjunct may be IN or NOT IN as a whole: those become semi and anti joins that know NULL.
fn conjunct(expr: &Expr, schema: &DFSchema) -> Result<()> {
    match expr {
        Expr::BinaryExpr(it) if it.op == Operator::And => {
            conjunct(&it.left, schema)?;
            conjunct(&it.right, schema)
        }
        Expr::InSubquery(_) => Ok(()),
        Expr::Not(inner) if matches!(**inner, Expr::InSubquery(_)) => Ok(()),
        other => positive(other, schema),
    }
}

/// Under AND and OR alone, NULL and FALSE lead to the same rows.
fn positive(expr: &Expr, schema: &DFSchema) -> Result<()> {
    match expr {
        Expr::BinaryExpr(it) if matches!(it.op, Operator::And | Operator::Or) => {
            positive(&it.left, schema)?;
            positive(&it.right, schema)
        }
        Expr::InSubquery(it) if !it.negated => Ok(()),
        other => strict(other, schema),
    }
}

/// `x > ALL (subquery)` becomes EXISTS with x inside, where a column of the same name would take its place.
fn quantified(operand: &Expr, subquery: &LogicalPlan) -> Result<()> {
    if operand.column_refs().iter().any(|it| subquery.schema().has_column(it)) {
        return Err(DataFusionError::NotImplemented(
            "ANY or ALL over a subquery on the same table; give the table another name in the \
             subquery, as in SELECT other.a FROM orders AS other"
                .to_owned(),
        ));
    }
    Ok(())
}

fn strict(expr: &Expr, schema: &DFSchema) -> Result<()> {
    expr.apply(|it| {
        if let Expr::InSubquery(it) = it {
            let right = it.subquery.subquery.schema().field(0).is_nullable();
            if right || it.expr.nullable(schema).unwrap_or(true) {
                return Err(DataFusionError::NotImplemented(
                    "IN (subquery) over values that may be NULL, under NOT or inside a larger \
                     expression; use NOT EXISTS instead"
                        .to_owned(),
                ));
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}
