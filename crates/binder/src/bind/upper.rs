//! What a SELECT computes over its rows or groups.

use plan::relation::Attr;
use plan::{ColumnOrigin, Expr, SortKey};
use types::{DataType, Value};

use super::grouping_sets::Sets;
use super::window_parts::BoundWindow;

/// An entry of the select list.
#[derive(Debug)]
pub(super) struct Item {
    pub name: String,
    pub expr: Expr,
    /// Where it comes from, if it is a column as it is.
    pub origin: Option<ColumnOrigin>,
}

impl Item {
    /// What is computed.
    pub fn computed(name: String, expr: Expr) -> Self {
        Self { name, expr, origin: None }
    }
}

/// A key of GROUP BY.
#[derive(Debug)]
pub(super) struct Key {
    pub expr: Expr,
    /// The entry of the select list that it is, where sets of keys tell entries apart: one that a set leaves out is NULL
    /// beside another like it that the set has.
    pub item: Option<usize>,
}

/// Everything of a SELECT that stands over its rows or groups.
#[derive(Debug, Default)]
pub(super) struct Upper {
    pub items: Vec<Item>,
    pub keys: Vec<Key>,
    /// The sets of GROUPING SETS, ROLLUP and CUBE, of keys by number; none where there is but one of all keys.
    pub sets: Option<Sets>,
    pub having: Option<Expr>,
    /// Window functions, over the rows or groups.
    pub windows: Vec<(Attr, BoundWindow)>,
    /// QUALIFY, over the window functions.
    pub qualify: Option<Expr>,
    pub order: Vec<OrderKey>,
    /// DISTINCT ON, by entries of the select list or other expressions.
    pub distinct_on: Vec<OrderKey>,
}

impl Upper {
    /// A row for each row below, of which nothing is asked.
    pub fn of_rows() -> Self {
        let expr = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let name = String::new();
        Self { items: vec![Item::computed(name, expr)], ..Self::default() }
    }

    /// All that rows are ordered by, or parted by windows.
    pub fn orders_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let windows = self.windows.iter_mut().flat_map(|it| it.1.orders_mut());
        windows.chain(self.order.iter_mut().chain(&mut self.distinct_on).map(OrderKey::expr_mut))
    }

    /// All that stands above the groups and is no condition on them.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let orders = self.order.iter_mut().chain(&mut self.distinct_on).map(OrderKey::expr_mut);
        let windows = self.windows.iter_mut().flat_map(|it| it.1.expressions_mut());
        let items = self.items.iter_mut().map(|it| &mut it.expr);
        items.chain(windows).chain(&mut self.qualify).chain(orders)
    }
}

/// What ORDER BY names.
#[derive(Debug)]
pub(super) enum OrderKey {
    /// An output column by place.
    Place(usize, SortKey),
    /// Anything else.
    By(SortKey),
}

impl OrderKey {
    fn expr_mut(&mut self) -> &mut Expr {
        let (Self::Place(_, key) | Self::By(key)) = self;
        &mut key.expr
    }
}
