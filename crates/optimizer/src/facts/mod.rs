//! Facts: what holds for every row of a relation, whatever the data will be while the plan lives. Facts may change what
//! is computed; estimates ([`crate::estimate`]) may only change how.
//!
//! Key decision: a fact belongs to a place in the tree. An attribute that is never NULL where it is made may be NULL
//! above an outer join, and what determined it there need not determine it here; so every question names the relation.
//!
//! - Invariant: only exact statistics are used. A plan goes with the version of the catalog that it was made on.
//! - Invariant: equality is that of groups: NULL equals NULL, and the two zeros of floats are one value.

mod dependencies;
mod keys;

use plan::properties::is_volatile;
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, bare};
use plan::{AggregateFunction, Expr, ExprKind, outcomes};
use types::DataType;

pub use dependencies::Dependencies;
pub use keys::unique_keys;

/// The facts of the relations of one query.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    attributes: &'a [Attribute],
}

impl<'a> Facts<'a> {
    /// Facts of relations over these attributes.
    pub fn new(attributes: &'a [Attribute]) -> Self {
        Self { attributes }
    }

    /// The type of an attribute.
    pub fn data_type(&self, attr: Attr) -> DataType {
        self.attributes[attr].data_type
    }

    /// Whether rows that agree in the columns of an expression agree in its value.
    pub fn follows_from_columns(&self, expr: &Expr) -> bool {
        let exact = |it: Attr| equal_is_same(self.data_type(it));
        bare(expr).is_some() || (!is_volatile(expr) && AttrSet::of(expr).iter().all(exact))
    }

    /// Whether an attribute may be NULL in the rows of a relation.
    pub fn nullable(&self, rel: &Rel, attr: Attr) -> bool {
        match rel {
            Rel::Scan(_) => self.attributes[attr].nullable,
            // A row with NULL that a condition never lets pass is not there.
            Rel::Filter { input, predicates } => {
                let rejects = |it: &Expr| !outcomes::may_be_true(it, &|column| column == attr);
                !predicates.iter().any(rejects) && self.nullable(input, attr)
            }
            Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
                Some((_, expr)) => self.nullable_expr(input, expr),
                None => self.nullable(input, attr),
            },
            Rel::Sort { input, .. } | Rel::Limit { input, .. } | Rel::Repeat { input, .. } => {
                self.nullable(input, attr)
            }
            Rel::Shared { .. } | Rel::Apply(_) => true,
            Rel::Join(join) => self.nullable_in_join(join, attr),
            Rel::Aggregate { input, keys, aggregates, .. } => {
                if let Some((_, key)) = keys.iter().find(|it| it.0 == attr) {
                    return self.nullable_expr(input, key);
                }
                let own = aggregates.iter().find(|it| it.0 == attr);
                own.is_none_or(|it| it.1.function != AggregateFunction::Count)
            }
            Rel::Values { output, rows } => {
                let place = output.iter().position(|it| *it == attr);
                place.is_none_or(|it| rows.iter().any(|row| self.nullable_expr(rel, &row[it])))
            }
            Rel::Union { inputs, output } => {
                let place = output.iter().position(|it| *it == attr);
                place.is_none_or(|it| inputs.iter().any(|(rel, own)| self.nullable(rel, own[it])))
            }
        }
    }

    fn nullable_in_join(&self, join: &JoinRel, attr: Attr) -> bool {
        if join.mark == Some(attr) {
            return join.null_aware;
        }
        let in_left = join.left.attrs().contains(attr);
        let extended = match join.kind {
            RelJoin::Full => true,
            RelJoin::Left => !in_left,
            _ => false,
        };
        let strict = join.kind == RelJoin::Inner && {
            let rejects = |it: &Expr| !outcomes::may_be_true(it, &|column| column == attr);
            let is_null = |it: &Expr| outcomes::is_null(it, &|column| column == attr);
            join.residual.iter().any(rejects)
                || join.keys.iter().any(|it| is_null(&it.0) || is_null(&it.1))
        };
        let side = if in_left { &join.left } else { &join.right };
        extended || (!strict && self.nullable(side, attr))
    }

    /// Whether an expression over the rows of a relation may be NULL.
    pub fn nullable_expr(&self, rel: &Rel, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Column(attr) => self.nullable(rel, *attr),
            ExprKind::Literal(value) => value.is_null(),
            ExprKind::Unary { operator, operand } => match operator {
                plan::UnaryOperator::Not | plan::UnaryOperator::Negate => {
                    self.nullable_expr(rel, operand)
                }
                _ => false,
            },
            ExprKind::Binary { operator, left, right } => {
                let distinct = matches!(
                    operator,
                    plan::BinaryOperator::IsDistinctFrom | plan::BinaryOperator::IsNotDistinctFrom
                );
                !distinct && (self.nullable_expr(rel, left) || self.nullable_expr(rel, right))
            }
            ExprKind::Cast(operand) => self.nullable_expr(rel, operand),
            _ => true,
        }
    }
}

/// Whether equal values of a type are one and the same value: not so for floats, of which zero has two.
pub fn equal_is_same(data_type: DataType) -> bool {
    !data_type.is_float()
}

/// Whether `=` between two types is an equality like that within each of them, so that it may be chained: `a = b` and
/// `b = c` give `a = c`. Not so where a comparison converts with a loss (a large integer with a float), or where blanks
/// count on one side only (CHAR with VARCHAR).
pub fn equality_chains(left: DataType, right: DataType) -> bool {
    let kind = |it: DataType| match it {
        DataType::SmallInt | DataType::Integer | DataType::BigInt | DataType::Decimal { .. } => 0,
        DataType::Real | DataType::Double => 1,
        DataType::Char(_) => 2,
        DataType::Varchar(_) | DataType::Text => 3,
        DataType::Date => 4,
        DataType::Timestamp => 5,
        DataType::Boolean => 6,
        DataType::Null => 7,
    };
    kind(left) == kind(right)
}
