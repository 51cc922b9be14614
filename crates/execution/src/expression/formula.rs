//! Expressions as formulas of exact numbers that cannot fail, for who computes them in lanes of his own choice.

use plan::BinaryOperator;

use super::node::{Body, Node};
use crate::Representation;

/// A formula and what its value lies between, which 64 bits hold; it is never NULL, and no row can raise an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Formula {
    pub kind: FormulaKind,
    pub low: i64,
    pub high: i64,
}

/// What a formula computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FormulaKind {
    /// A column of the batch.
    Column(usize),
    /// A constant, which is `low` and `high`.
    Constant,
    /// A sum, difference or product.
    Binary(BinaryOperator, Box<Formula>, Box<Formula>),
}

impl Formula {
    /// The formula of a node, if it is one.
    pub(super) fn of(node: &Node) -> Option<Self> {
        let (low, high) = node.shape.bounds?;
        let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        if node.shape.nullable || !matches!(node.shape.representation, Representation::I64) {
            return None;
        }
        let kind = match &node.body {
            Body::Column(index) => FormulaKind::Column(*index),
            Body::Constant(_) => FormulaKind::Constant,
            Body::Kernel(kernel) => {
                let (operator, left, right) = kernel.exact()?;
                let (left, right) = (Self::of(left)?, Self::of(right)?);
                FormulaKind::Binary(operator, Box::new(left), Box::new(right))
            }
        };
        Some(Self { kind, low, high })
    }
}
