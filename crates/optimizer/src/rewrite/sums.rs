//! Sums of one number that is moved by constants: `sum(a + 1)` beside `sum(a + 2)` is `sum(a) + count(a)` beside
//! `sum(a) + 2 * count(a)`, so that the rows are read and added up once.
//!
//! - Only SMALLINT moved within INTEGER, where no row can overflow, so that no error is lost, and whose sums are exact.
//! - Only where two sums are of the same number. One alone is as cheap as it stands.

use plan::properties::{is_fallible, is_volatile};
use plan::relation::{Attr, Attribute};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind};
use types::{DataType, Value};

use super::grouping::Aggregates;
use super::state::Optimiser;

impl Optimiser<'_> {
    /// Aggregates without moved sums, and what those are of them; `None` where there are too few.
    pub(super) fn unmoved_sums(
        &mut self,
        aggregates: &Aggregates,
    ) -> Option<(Aggregates, Vec<(Attr, Expr)>)> {
        let moved: Vec<Option<(&Expr, i64)>> = aggregates.iter().map(|it| moved(&it.1)).collect();
        let bases: Vec<Option<&Expr>> = (aggregates.iter().zip(&moved))
            .map(|((_, it), moved)| moved.map(|it| it.0).or_else(|| summed(it)))
            .collect();
        let shares = |base: &Expr| bases.iter().filter(|it| **it == Some(base)).count() > 1;
        if !moved.iter().flatten().any(|it| shares(it.0)) {
            return None;
        }
        let mut left: Aggregates = Vec::with_capacity(aggregates.len());
        let mut made = Vec::new();
        for ((attr, aggregate), moved) in aggregates.iter().zip(moved) {
            let Some((base, by)) = moved.filter(|it| shares(it.0)) else {
                left.push((*attr, aggregate.clone()));
                continue;
            };
            let mut part = |function| {
                let argument = Some(base.clone());
                let part = Aggregate { function, argument, ..aggregate.clone() };
                let known = left.iter().find(|it| it.1 == part).map(|it| it.0);
                let attr = known.unwrap_or_else(|| {
                    let nullable = function == AggregateFunction::Sum;
                    self.attributes.push(Attribute { data_type: DataType::BigInt, nullable });
                    left.push((self.attributes.len() - 1, part));
                    self.attributes.len() - 1
                });
                Expr::column(attr, DataType::BigInt)
            };
            let (sum, count) = (part(AggregateFunction::Sum), part(AggregateFunction::Count));
            let by = Expr::literal(Value::Integer(by), DataType::BigInt);
            let more = calculated(BinaryOperator::Multiply, count, by);
            made.push((*attr, calculated(BinaryOperator::Add, sum, more)));
        }
        Some((left, made))
    }
}

fn calculated(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr { kind: ExprKind::Binary { operator, left, right }, data_type: DataType::BigInt }
}

/// The argument of a sum of whole numbers that fit a BIGINT however many they are.
fn summed(it: &Aggregate) -> Option<&Expr> {
    // Sum and count are filtered each for itself.
    let repeatable = it.filter.as_ref().is_none_or(|it| !is_volatile(it));
    let is_plain = it.rest.is_empty() && it.order.is_empty() && !it.distinct && repeatable;
    let is_sum = it.function == AggregateFunction::Sum && it.data_type == DataType::BigInt;
    let argument = it.argument.as_ref()?;
    let fits = matches!(argument.data_type, DataType::SmallInt | DataType::Integer);
    (is_plain && is_sum && fits && !is_volatile(argument)).then_some(argument)
}

/// What is moved, and by how much.
fn moved(it: &Aggregate) -> Option<(&Expr, i64)> {
    let argument = summed(it)?;
    let ExprKind::Binary { operator, left, right } = &argument.kind else { return None };
    let constant = |it: &Expr| match it.kind {
        ExprKind::Literal(Value::Integer(it)) => Some(it),
        _ => None,
    };
    let (base, by) = match (operator, constant(left), constant(right)) {
        (BinaryOperator::Add, None, Some(by)) => (left, by),
        (BinaryOperator::Add, Some(by), None) => (right, by),
        (BinaryOperator::Subtract, None, Some(by)) => (left, by.checked_neg()?),
        _ => return None,
    };
    // The cast that brings both to one type changes no value.
    let base = match &base.kind {
        ExprKind::Cast(inner) if argument.data_type == DataType::Integer => inner,
        _ => base,
    };
    let most = i64::from(i32::MAX) - (1 << 15);
    let fits = base.data_type == DataType::SmallInt && argument.data_type == DataType::Integer;
    (fits && by.abs() < most && !is_fallible(base)).then_some((&**base, by))
}
