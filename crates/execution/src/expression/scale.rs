//! Scales of exact numbers: a common one for two operands, and whether 38 digits hold what comes of it.

use types::DataType;
use types::numeric::decimal::power_of_ten;

use super::integers::{Interval, bounds_of, contains, multiply, rescaled, type_range};
use super::node::Node;

/// A type to compute in, of a given scale: the result's own when that is its scale.
pub(super) fn type_of_scale(scale: u8, result: DataType) -> DataType {
    if result.scale() == scale { result } else { DataType::Decimal { precision: 38, scale } }
}

/// Brings both operands to the greater of their scales.
pub(super) fn with_common_scale(left: Node, right: Node) -> (Node, Node, u8) {
    let scale = left.shape.data_type.scale().max(right.shape.data_type.scale());
    let to_scale = |node: Node| {
        if node.shape.data_type.scale() == scale {
            node
        } else {
            rescaled(node, DataType::Decimal { precision: 38, scale })
        }
    };
    (to_scale(left), to_scale(right), scale)
}

/// What a decimal of 38 digits holds.
pub(super) fn decimal_range() -> Interval {
    type_range(DataType::Decimal { precision: 38, scale: 0 })
}

/// Whether 38 digits provably hold both operands at the greater of their scales.
pub(super) fn common_scale_fits(left: &Node, right: &Node) -> bool {
    let scale = left.shape.data_type.scale().max(right.shape.data_type.scale());
    [left, right].into_iter().all(|node| {
        let missing = scale - node.shape.data_type.scale();
        let factor = power_of_ten(u32::from(missing));
        let at_scale = factor.and_then(|it| multiply(bounds_of(&node.shape), (it, it)));
        missing == 0 || at_scale.is_some_and(|it| contains(decimal_range(), it))
    })
}
