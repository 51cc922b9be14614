//! The nearest row: where of the pairs of a join only the first in an order is wanted for each row of one side, and the join
//! bounds what it is ordered by from the other, hardly any pair need be made (docs/design/05-sql-and-planning.md, "nearest
//! rows"). The rows of both sides stand in one order, and each finds what is nearest before it. ASOF joins are such, and
//! lookups of what was in force at a time.

use plan::build::unary;
use plan::properties::{is_fallible, is_volatile};
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, fresh_copy};
use plan::{
    BinaryOperator, Exclusion, Expr, ExprKind, Frame, FrameBound, FrameUnit, SortKey,
    UnaryOperator, WindowCall, WindowFunction,
};
use types::{DataType, Value};

use super::state::Optimiser;
use crate::facts::equality_chains;

/// Pairs for each row of the two sides from which on they are not made: a window over the rows costs as much as a join and an
/// order of about so many.
const PAIRS_PER_ROW: f64 = 4.0;

/// A join whose pairs need not be made.
struct Nearest {
    /// The rows that ask, and those that are asked for.
    asking: Rel,
    rows: Rel,
    /// What is equal: of the asking side, of the rows.
    equal: Vec<(Expr, Expr)>,
    /// What bounds what the rows are ordered by.
    bound: Expr,
    /// Whether rows at the bound are wanted.
    reaches: bool,
}

/// A column of both sides, one below the other.
struct Stacked {
    asking: Expr,
    of_rows: Expr,
    /// What it is in what both are.
    attr: Attr,
}

impl Optimiser<'_> {
    /// What an order of which only the first row is wanted for each combination of `partition` is made of: an optimised
    /// relation, or what has the same first rows.
    pub(super) fn nearest(&mut self, input: Rel, partition: &[Attr], keys: &[SortKey]) -> Rel {
        match input {
            Rel::Join(join) => match Nearest::of(*join, partition, keys) {
                Ok(found) => found.stacked(keys, self.attributes),
                Err(join) => Rel::Join(join),
            },
            Rel::Map { input, exprs } => {
                let input = Box::new(self.nearest(*input, partition, keys));
                Rel::Map { input, exprs }
            }
            other => other,
        }
    }
}

impl Nearest {
    /// The join, if it is one.
    fn of(join: JoinRel, partition: &[Attr], keys: &[SortKey]) -> Result<Self, Box<JoinRel>> {
        let Some((asks_left, bound, reaches)) = fits(&join, partition, keys) else {
            return Err(Box::new(join));
        };
        let JoinRel { left, right, keys: pairs, .. } = join;
        let (asking, rows, equal) = match asks_left {
            true => (left, right, pairs),
            false => (right, left, pairs.into_iter().map(|(l, r)| (r, l)).collect()),
        };
        Ok(Self { asking, rows, equal, bound, reaches })
    }

    /// The rows that ask, each with the row that is nearest, without those that have none.
    fn stacked(self, keys: &[SortKey], attributes: &mut Vec<Attribute>) -> Rel {
        let Self { asking, rows, equal, bound, reaches } = self;
        let (asking_attrs, rows_attrs): (Vec<Attr>, Vec<Attr>) =
            (asking.attrs().iter().collect(), rows.attrs().iter().collect());
        let (asking, of_asking) = fresh_copy(&asking, attributes);
        let (rows, of_rows) = fresh_copy(&rows, attributes);
        let renamed = |mut expr: Expr| {
            let known = |it: Attr| of_asking.get(&it).or_else(|| of_rows.get(&it)).copied();
            expr.map_columns(&mut |it| known(it).unwrap_or(it));
            expr
        };
        let mut stack = Stack { attributes, columns: Vec::new() };
        // What comes first of equals stands before what asks for it, if that reaches so far.
        let side = |it: bool| Expr::literal(Value::Integer(it.into()), DataType::Integer);
        let mut keys = keys.iter().cloned();
        let first = keys.next().expect("invariant: the bound is of the first key");
        let partition: Vec<Attr> = equal
            .iter()
            .map(|(own, others)| stack.add(renamed(own.clone()), renamed(others.clone())))
            .collect();
        let known = partition.len();
        let turned = |key: &SortKey, expr: Expr| SortKey {
            expr,
            descending: !key.descending,
            nulls_first: !key.nulls_first,
        };
        let place = stack.add(renamed(bound), renamed(first.expr.clone()));
        let mut order = vec![turned(&first, stack.column(place))];
        let side_of = stack.add(side(reaches), side(!reaches));
        let ascending = |expr| SortKey { expr, descending: false, nulls_first: false };
        order.push(ascending(stack.column(side_of)));
        for key in keys {
            let expr = renamed(key.expr.clone());
            let attr = stack.add(plan::build::null(expr.data_type), expr);
            order.push(turned(&key, stack.column(attr)));
        }
        let is_side = |stack: &Stack<'_>, it: bool| {
            Expr::predicate(BinaryOperator::Equal, stack.column(side_of), side(it))
        };
        let (is_asking, is_row) = (is_side(&stack, reaches), is_side(&stack, !reaches));
        let own: Vec<(Attr, Attr)> = asking_attrs
            .into_iter()
            .map(|attr| {
                let column = renamed(stack.column(attr));
                let none = plan::build::null(column.data_type);
                (attr, stack.add(column, none))
            })
            .collect();
        let mut functions = Vec::new();
        let mut nearest = |stack: &mut Stack<'_>, of: Attr| {
            let argument = stack.column(of);
            let found = stack.attribute(argument.data_type);
            functions.push((found, last_value(argument, &is_row, order.len())));
            found
        };
        let found = nearest(&mut stack, side_of);
        let mut made: Vec<(Attr, Attr)> = own;
        for attr in rows_attrs {
            let column = renamed(stack.column(attr));
            let none = plan::build::null(column.data_type);
            let stacked = stack.add(none, column);
            made.push((attr, nearest(&mut stack, stacked)));
        }
        let exprs = made.iter().map(|it| (it.0, stack.column(it.1))).collect();
        let there = unary(UnaryOperator::IsNotNull, stack.column(found));
        let union = stack.of(asking, rows, known + 1);
        let window = Rel::Window { input: Box::new(union), partition, keys: order, functions };
        Rel::Map { input: Box::new(window.filtered(vec![is_asking, there])), exprs }
    }
}

/// Columns of two relations, one below the other.
struct Stack<'a> {
    attributes: &'a mut Vec<Attribute>,
    columns: Vec<Stacked>,
}

impl Stack<'_> {
    /// An attribute that may be NULL.
    fn attribute(&mut self, data_type: DataType) -> Attr {
        self.attributes.push(Attribute { data_type, nullable: true });
        self.attributes.len() - 1
    }

    fn column(&self, attr: Attr) -> Expr {
        Expr::column(attr, self.attributes[attr].data_type)
    }

    /// A column more, of the asking side and of the rows.
    fn add(&mut self, asking: Expr, of_rows: Expr) -> Attr {
        let attr = self.attribute(asking.data_type);
        self.columns.push(Stacked { asking, of_rows, attr });
        attr
    }

    /// Both relations; the first so many columns are compared, and what is NULL there is equal to nothing and bounds nothing.
    fn of(mut self, asking: Rel, rows: Rel, compared: usize) -> Rel {
        let columns = std::mem::take(&mut self.columns);
        let output = columns.iter().map(|it| it.attr).collect();
        let (above, below): (Vec<Expr>, Vec<Expr>) =
            columns.into_iter().map(|it| (it.asking, it.of_rows)).unzip();
        let inputs = vec![self.side(asking, above, compared), self.side(rows, below, compared)];
        Rel::Union { inputs, output }
    }

    fn side(&mut self, rel: Rel, exprs: Vec<Expr>, compared: usize) -> (Rel, Vec<Attr>) {
        let known = exprs[..compared].iter().cloned();
        let known = known.map(|it| unary(UnaryOperator::IsNotNull, it)).collect();
        let exprs: Vec<(Attr, Expr)> =
            exprs.into_iter().map(|it| (self.attribute(it.data_type), it)).collect();
        let attrs = exprs.iter().map(|it| it.0).collect();
        (Rel::Map { input: Box::new(rel.filtered(known)), exprs }, attrs)
    }
}

/// The value of the last row up to the current one that passes a condition.
fn last_value(argument: Expr, filter: &Expr, order: usize) -> WindowCall {
    let (start, end) = (FrameBound::Unbounded, FrameBound::CurrentRow);
    WindowCall {
        function: WindowFunction::LastValue,
        data_type: argument.data_type,
        arguments: vec![argument],
        filter: Some(filter.clone()),
        order,
        frame: Frame { unit: FrameUnit::Rows, start, end, exclusion: Exclusion::Nothing },
        ignore_nulls: false,
    }
}

/// Whether the left side of a join asks, what bounds the rows of the other, and whether rows at the bound are wanted; `None` where
/// the pairs have to be made, or are too few to be left out.
fn fits(join: &JoinRel, partition: &[Attr], keys: &[SortKey]) -> Option<(bool, Expr, bool)> {
    let is_plain = join.kind == RelJoin::Inner && !join.null_aware && join.mark.is_none();
    let pays = join.rows > PAIRS_PER_ROW * (join.left.rows() + join.right.rows());
    let (left, right) = (join.left.attrs(), join.right.attrs());
    let among = |attrs: &AttrSet| partition.iter().all(|it| attrs.contains(*it));
    let asks_left = among(&left);
    if !is_plain || !pays || partition.is_empty() || asks_left == among(&right) {
        return None;
    }
    let (asking, rows) = if asks_left { (left, right) } else { (right, left) };
    let (bound, reaches) = bound_of(&join.residual, keys, &asking)?;
    let orders = keys.iter().map(|it| &it.expr);
    let within = orders.clone().all(|it| AttrSet::of(it).is_subset(&rows));
    let of_keys = join.keys.iter().flat_map(|it| [&it.0, &it.1]);
    let safe = |it: &Expr| !is_fallible(it) && !is_volatile(it);
    let alike = |it: &(Expr, Expr)| {
        it.0.data_type == it.1.data_type && equality_chains(it.0.data_type, it.1.data_type)
    };
    let all_safe = of_keys.chain(orders).chain([&bound]).all(safe);
    (within && all_safe && join.keys.iter().all(alike)).then_some((asks_left, bound, reaches))
}

/// What bounds the first key of an order, if that is all that a join asks beside equalities, and the order begins at the bound;
/// and whether it reaches what is equal to it.
fn bound_of(residual: &[Expr], keys: &[SortKey], asking: &AttrSet) -> Option<(Expr, bool)> {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    let ([condition], [first, ..]) = (residual, keys) else { return None };
    let ExprKind::Binary { operator, left, right } = &condition.kind else { return None };
    let (operator, bound) = match (**left == first.expr, **right == first.expr) {
        (true, _) => (*operator, right),
        (_, true) => (operator.mirrored(), left),
        _ => return None,
    };
    let begins = match operator {
        Less | LessEqual => first.descending,
        Greater | GreaterEqual => !first.descending,
        _ => return None,
    };
    let data_type = bound.data_type;
    let fits = data_type == first.expr.data_type && equality_chains(data_type, data_type);
    let asks = AttrSet::of(bound).is_subset(asking);
    (begins && fits && asks)
        .then(|| ((**bound).clone(), matches!(operator, LessEqual | GreaterEqual)))
}
