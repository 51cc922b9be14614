//! Which nodes DataFusion's simplifier can do anything for. It takes every expression apart and puts it together again,
//! an eighth of the time of planning, and nearly all of them are as simple as they get: columns against constants.

use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_expr::{Expr, LogicalPlan, Operator};

/// Whether some expression of a node may become simpler.
pub fn may_become_simpler(node: &LogicalPlan) -> bool {
    let mut found = false;
    let visited = node.apply_expressions(|expr| {
        found = !expr_is_simple(expr);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || visited.is_err()
}

/// Whether nothing of an expression can be folded: every operation has a column to work on, and is none of those that
/// have better forms.
fn expr_is_simple(expr: &Expr) -> bool {
    let mut simple = true;
    let visited = expr.apply(|it| {
        simple = node_is_simple(it);
        Ok(if simple { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    simple && visited.is_ok()
}

fn node_is_simple(expr: &Expr) -> bool {
    let constant = |it: &Expr| matches!(it, Expr::Literal(..));
    match expr {
        Expr::Column(_) | Expr::Alias(_) => true,
        Expr::Literal(value, _) => !value.is_null(),
        Expr::BinaryExpr(it) => {
            let constants = usize::from(constant(&it.left)) + usize::from(constant(&it.right));
            match it.op {
                // OR has factors to take out.
                Operator::Or => false,
                // TRUE and FALSE take one of the sides away.
                Operator::And => constants == 0 && it.left != it.right,
                Operator::Eq
                | Operator::NotEq
                | Operator::Lt
                | Operator::LtEq
                | Operator::Gt
                | Operator::GtEq => constants < 2 && it.left != it.right,
                op => op.is_numerical_operators() && constants < 2,
            }
        }
        Expr::Like(it) => !constant(&it.expr) && constant(&it.pattern),
        // One value is a comparison.
        Expr::InList(it) => {
            !constant(&it.expr) && it.list.len() > 1 && it.list.iter().all(constant)
        }
        Expr::AggregateFunction(it) => {
            // A sum of a column and a constant is a sum and a count.
            let offset = |it: &Expr| match it {
                Expr::BinaryExpr(it) => constant(&it.left) || constant(&it.right),
                _ => false,
            };
            let plain = matches!(it.func.name(), "sum" | "avg" | "count" | "min" | "max");
            plain && !it.params.args.iter().any(offset)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use datafusion_common::ScalarValue;
    use datafusion_expr::{cast, col, lit};

    use super::*;

    #[test]
    fn what_can_be_folded_is_not_simple() {
        let null = || Expr::Literal(ScalarValue::Null, None);
        for simple in [
            col("a").lt(lit(1)).and(lit(2).lt_eq(col("b") * (lit(1) - col("c")))),
            col("a").eq(col("b")),
            col("a").like(lit("x%")),
            col("a").in_list(vec![lit(1), lit(2)], true),
        ] {
            assert!(expr_is_simple(&simple), "{simple}");
        }
        for other in [
            col("a").lt(lit(1) + lit(2)),
            col("a").lt(cast(lit("1"), datafusion_common::arrow::datatypes::DataType::Int32)),
            col("a").lt(lit(1)).or(col("b").lt(lit(1))),
            col("a").lt(lit(1)).and(lit(true)),
            col("a").eq(col("a")),
            col("a").between(lit(1), lit(2)),
            lit("abc").like(lit("a%")),
            col("a").lt(null()),
            col("a").in_list(vec![lit(1)], false),
            col("a").in_list(vec![lit(1), lit(1) + lit(1)], false),
            !col("a").lt(lit(1)),
            null().and(col("a")),
        ] {
            assert!(!expr_is_simple(&other), "{other}");
        }
    }
}
