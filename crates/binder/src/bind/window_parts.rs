//! Windows as they are bound, before they are put together.

use plan::properties::is_volatile;
use plan::{Expr, Frame, SortKey, WindowCall};

/// A window function over its own window, before windows are put together.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct BoundWindow {
    pub partition: Vec<Expr>,
    pub order: Vec<SortKey>,
    pub call: WindowCall,
}

impl BoundWindow {
    /// What parts its rows and orders them.
    pub fn orders_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.partition.iter_mut().chain(self.order.iter_mut().map(|it| &mut it.expr))
    }

    /// All its expressions.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order = self.order.iter_mut().map(|it| &mut it.expr);
        self.partition.iter_mut().chain(order).chain(self.call.expressions_mut())
    }

    /// All its expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|it| &it.expr);
        self.partition.iter().chain(order).chain(self.call.expressions())
    }

    /// Whether two that are equal have one value.
    pub fn is_repeatable(&self) -> bool {
        self.expressions().all(|it| !is_volatile(it))
    }
}

/// A window: what makes its partitions, their order, and the frame if it says one.
#[derive(Clone, Debug, Default)]
pub(super) struct Definition {
    pub partition: Vec<Expr>,
    pub order: Vec<SortKey>,
    pub frame: Option<Frame>,
}
