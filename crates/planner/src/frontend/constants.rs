//! Casts of constants to integers round, as in Postgres; the library's folding would cut digits off.

use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_common::{DFSchema, Result};
use datafusion_expr::expr::{Cast, ScalarFunction};
use datafusion_expr::expr_rewriter::NamePreserver;
use datafusion_expr::{Expr, ExprSchemable, LogicalPlan, ScalarUDF};
use stdx::sync::Arc;

/// Puts a rounding between fractional constants and their cast to an integer type. Columns need none: execution rounds.
pub fn round_before_integers(plan: LogicalPlan, round: &Arc<ScalarUDF>) -> Result<LogicalPlan> {
    let rounded = plan.transform_up_with_subqueries(|plan| {
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let rounded = expr.transform_up(|expr| Ok(rounded(expr, round)))?;
            Ok(rounded.update_data(|it| name.restore(it)))
        })
    })?;
    Ok(rounded.data)
}

fn rounded(expr: Expr, round: &Arc<ScalarUDF>) -> Transformed<Expr> {
    match expr {
        Expr::Cast(Cast { expr, field })
            if field.data_type().is_integer() && is_fractional_constant(&expr) =>
        {
            let call = ScalarFunction::new_udf(Arc::clone(round), vec![*expr]);
            let expr = Box::new(Expr::ScalarFunction(call));
            Transformed::yes(Expr::Cast(Cast { expr, field }))
        }
        other => Transformed::no(other),
    }
}

fn is_fractional_constant(expr: &Expr) -> bool {
    let constant = !expr.any_column_refs() && !matches!(expr, Expr::ScalarSubquery(_));
    let fractional =
        |it: datafusion_common::arrow::datatypes::DataType| it.is_floating() || it.is_decimal();
    constant && expr.get_type(&DFSchema::empty()).is_ok_and(fractional)
}
