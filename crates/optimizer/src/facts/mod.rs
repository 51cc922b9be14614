//! Facts: what holds for every row of a relation, whatever the data will be while the plan lives. Facts may change what
//! is computed; estimates ([`crate::estimate`]) may only change how.
//!
//! Key decision: a fact belongs to a place in the tree. An attribute that is never NULL where it is made may be NULL
//! above an outer join, and what determined it there need not determine it here; so every question names the relation.
//!
//! - Invariant: only exact statistics are used. A plan goes with the version of the catalog that it was made on.
//! - Invariant: equality is that of groups: NULL equals NULL, and the two zeros of floats are one value.

mod bounds;
mod dependencies;
mod keys;

use plan::properties::is_volatile;
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, bare};
use plan::{AggregateFunction, Expr, ExprKind, outcomes};
use types::DataType;

pub use bounds::{greatest, limit};
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
        self.look_up(rel, attr).unwrap_or(true)
    }

    /// The same; `None` where the relation does not have the attribute.
    fn look_up(&self, rel: &Rel, attr: Attr) -> Option<bool> {
        let at = |output: &[Attr]| output.iter().position(|it| *it == attr);
        match rel {
            Rel::Scan(scan) => {
                let own = scan.base..scan.base + scan.table.columns.len();
                own.contains(&attr).then(|| self.attributes[attr].nullable)
            }
            // A row with NULL that a condition never lets pass is not there.
            Rel::Filter { input, predicates } => {
                let rejects = |it: &Expr| !outcomes::may_be_true(it, &|column| column == attr);
                Some(self.look_up(input, attr)? && !predicates.iter().any(rejects))
            }
            Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
                Some((_, expr)) => Some(self.nullable_expr(input, expr)),
                None => self.look_up(input, attr),
            },
            Rel::Repeat { number: Some(number), .. } if *number == attr => Some(false),
            Rel::Repeat { items, .. } if items.iter().any(|it| it.0 == attr) => Some(true),
            Rel::Sort { input, .. } | Rel::Limit { input, .. } | Rel::Repeat { input, .. } => {
                self.look_up(input, attr)
            }
            Rel::Window { input, functions, .. } => {
                match functions.iter().find(|it| it.0 == attr) {
                    Some((_, it)) => Some(!it.function.is_never_null()),
                    None => self.look_up(input, attr),
                }
            }
            Rel::Join(join) => self.look_up_join(join, attr),
            Rel::Aggregate { input, keys, aggregates, .. } => {
                if let Some((_, key)) = keys.iter().find(|it| it.0 == attr) {
                    return Some(self.nullable_expr(input, key));
                }
                let own = aggregates.iter().find(|it| it.0 == attr)?;
                Some(own.1.function != AggregateFunction::Count)
            }
            Rel::Values { output, rows } => {
                let place = at(output)?;
                Some(rows.iter().any(|row| self.nullable_expr(rel, &row[place])))
            }
            Rel::Union { inputs, output } => {
                let place = at(output)?;
                Some(inputs.iter().any(|(rel, own)| self.nullable(rel, own[place])))
            }
            Rel::Shared { .. } | Rel::Apply(_) => None,
        }
    }

    fn look_up_join(&self, join: &JoinRel, attr: Attr) -> Option<bool> {
        if join.mark == Some(attr) {
            return Some(join.null_aware);
        }
        let left = self.look_up(&join.left, attr).map(|it| it || join.kind == RelJoin::Full);
        let extended = matches!(join.kind, RelJoin::Left | RelJoin::Full);
        let right = || self.look_up(&join.right, attr).map(|it| it || extended);
        let nullable = left.or_else(right)?;
        if !nullable || join.kind != RelJoin::Inner {
            return Some(nullable);
        }
        let rejects = |it: &Expr| !outcomes::may_be_true(it, &|column| column == attr);
        let is_null = |it: &Expr| outcomes::is_null(it, &|column| column == attr);
        let rejected = join.residual.iter().any(rejects)
            || join.keys.iter().any(|it| is_null(&it.0) || is_null(&it.1));
        Some(!rejected)
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
    if let (Some(left), Some(right)) = (left.element(), right.element()) {
        return equality_chains(left, right);
    }
    // Fields that meet may be converted.
    if types::structs::is_nested(left) || types::structs::is_nested(right) {
        return left == right;
    }
    let kind = |it: DataType| match it {
        DataType::SmallInt | DataType::Integer | DataType::BigInt => 0,
        DataType::Decimal { .. } | DataType::Whole(_) => 0,
        DataType::Real | DataType::Double => 1,
        DataType::Char(_) | DataType::Bpchar => 2,
        DataType::Varchar(_) | DataType::Text | DataType::Letter | DataType::Name => 3,
        DataType::Date => 4,
        DataType::Timestamp => 5,
        DataType::Boolean => 6,
        DataType::Null => 7,
        DataType::TimestampTz => 8,
        DataType::Time => 9,
        DataType::Interval => 10,
        DataType::Uuid => 11,
        DataType::Bytea => 12,
        DataType::Array(_) => 13,
        DataType::Json => 14,
        DataType::Jsonb => 15,
        DataType::Struct(_) | DataType::Map(_) => 16,
        DataType::Enum(_) => 17,
        DataType::Numeric => 18,
        DataType::TimeTz => 19,
        DataType::Bits(_) | DataType::Network(_) => 20,
        DataType::Range(_) | DataType::Multirange(_) => 21,
    };
    kind(left) == kind(right)
}
