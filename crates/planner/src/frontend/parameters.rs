//! The types of parameters, as the library finds them.

use ::binder::parameters::number;
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_expr::{Expr, LogicalPlan};
use types::DataType;

use super::types::from_arrow;

/// Fills in the types that the uses of parameters in a plan tell, where none is known. The first that tells wins; a use
/// that tells another is converted, or is an error, as for a constant of the first type.
pub(super) fn types_in(
    plan: &LogicalPlan,
    types: &mut [Option<DataType>],
) -> datafusion_common::Result<()> {
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::Placeholder(it) = expr
                    && let Some(field) = &it.field
                    && let Ok(place) = number(&it.id)
                    && let Some(known @ None) = types.get_mut(place)
                {
                    *known = from_arrow(field.data_type()).ok().filter(|it| *it != DataType::Null);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}
