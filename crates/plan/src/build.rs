//! Expressions put together: conversions that are not needed left out, constants on the right, lists as lists.

use types::numeric::decimal;
use types::{DataType, Value};

use crate::properties::is_widening;
use crate::{BinaryOperator, Expr, ExprKind, UnaryOperator};

/// A Boolean expression.
pub fn boolean(kind: ExprKind) -> Expr {
    Expr { kind, data_type: DataType::Boolean }
}

/// A Boolean expression of one operand.
pub fn unary(operator: UnaryOperator, operand: Expr) -> Expr {
    boolean(ExprKind::Unary { operator, operand: Box::new(operand) })
}

/// NULL of a type.
pub fn null(data_type: DataType) -> Expr {
    Expr::literal(Value::Null, data_type)
}

/// NOT, folded into what has a negation of its own.
pub fn negated(mut expr: Expr) -> Expr {
    match &mut expr.kind {
        ExprKind::InList { negated, .. } | ExprKind::Like { negated, .. } => {
            *negated = !*negated;
            expr
        }
        _ => unary(UnaryOperator::Not, expr),
    }
}

/// A conversion, none where the type is held and compared in the same way. CHAR is not: its blanks do not count.
pub fn cast(expr: Expr, data_type: DataType) -> Expr {
    if expr.data_type == data_type || (data_type == DataType::Text && expr.data_type.is_cut_text())
    {
        return expr;
    }
    if let ExprKind::Literal(literal) = &expr.kind
        && let Some(converted) = exact_literal(literal, data_type)
    {
        return Expr::literal(converted, data_type);
    }
    Expr { kind: ExprKind::Cast(Box::new(expr)), data_type }
}

/// The same exact number (or NULL) in another type, when that type holds it.
fn exact_literal(value: &Value, data_type: DataType) -> Option<Value> {
    let (mut unscaled, mut scale) = match value {
        Value::Null => return Some(Value::Null),
        Value::Integer(it) => (i128::from(*it), 0),
        Value::Decimal { unscaled, scale } => (*unscaled, *scale),
        _ => return None,
    };
    while scale > data_type.scale() && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    while scale < data_type.scale() {
        unscaled = unscaled.checked_mul(10)?;
        scale += 1;
    }
    if !data_type.is_exact() || scale != data_type.scale() || !decimal::fits(unscaled, data_type) {
        return None;
    }
    Some(match data_type.stored() {
        DataType::Decimal { .. } => Value::Decimal { unscaled, scale },
        _ => Value::Integer(i64::try_from(unscaled).ok()?),
    })
}

/// Takes off a conversion between exact numbers that loses nothing and cannot fail: execution brings the operands of a
/// comparison, a sum or a difference to one scale itself. Not where the scale counts: see [`strip_integer_cast`].
pub fn strip_exact_cast(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Cast(inner)
            if inner.data_type.is_exact()
                && expr.data_type.is_exact()
                && inner.data_type.scale() <= expr.data_type.scale()
                && is_widening(inner.data_type, expr.data_type) =>
        {
            strip_exact_cast(*inner)
        }
        kind => Expr { kind, data_type: expr.data_type },
    }
}

/// The same where the scale must stay: the scale of a product is the sum of its factors', that of SUM its argument's.
pub fn strip_integer_cast(expr: Expr) -> Expr {
    match &expr.kind {
        ExprKind::Cast(inner) if inner.data_type.scale() == expr.data_type.scale() => {
            let scale = expr.data_type.scale();
            let stripped = strip_exact_cast(expr.clone());
            if stripped.data_type.scale() == scale { stripped } else { expr }
        }
        _ => expr,
    }
}

/// Takes off a conversion from a declared type to the plain one as which it is held.
pub fn strip_declared_cast(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Cast(inner)
            if inner.data_type != expr.data_type && inner.data_type.plain() == expr.data_type =>
        {
            *inner
        }
        kind => Expr { kind, data_type: expr.data_type },
    }
}

/// Takes off a conversion from one type of text to another that cuts nothing and pads nothing.
pub fn strip_text_cast(expr: Expr) -> Expr {
    let keeps = |from: DataType, to: DataType| match (from, to) {
        (_, DataType::Text | DataType::VARCHAR) => from.is_text() && from != DataType::Bpchar,
        (DataType::Char(own) | DataType::Varchar(own), DataType::Varchar(room)) => own <= room,
        _ => from == to,
    };
    match expr.kind {
        ExprKind::Cast(inner) if keeps(inner.data_type, expr.data_type) => strip_text_cast(*inner),
        kind => Expr { kind, data_type: expr.data_type },
    }
}

/// A comparison with the column bare wherever possible and the constant in the column's type.
pub fn compare(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    let (left, right) = (strip_exact_cast(left), strip_exact_cast(right));
    let (left, right) = (like_other(left, &right), right);
    let right = like_other(right, &left);
    // The constant stands on the right, so that execution finds the column on the left.
    let is_literal = |it: &Expr| {
        matches!(it.kind, ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Scalar(_))
    };
    if is_literal(&left) && !is_literal(&right) {
        return Expr::predicate(operator.mirrored(), right, left);
    }
    Expr::predicate(operator, left, right)
}

/// A constant in the type of the other operand where that holds it exactly.
fn like_other(expr: Expr, other: &Expr) -> Expr {
    match &expr.kind {
        ExprKind::Literal(literal) if other.data_type.is_exact() => {
            match exact_literal(literal, other.data_type) {
                Some(converted) => Expr::literal(converted, other.data_type),
                None => expr,
            }
        }
        _ => expr,
    }
}

/// OR; of equalities of one operand with constants a list, as which it is tested at once.
pub fn either(left: Expr, right: Expr) -> Expr {
    let same = match (members(&left), members(&right)) {
        (Some((a, _)), Some((b, _))) => a == b,
        _ => false,
    };
    if !same {
        return Expr::predicate(BinaryOperator::Or, left, right);
    }
    let (Some((operand, mut list)), Some((_, more))) = (members(&left), members(&right)) else {
        return Expr::predicate(BinaryOperator::Or, left, right);
    };
    let operand = Box::new(operand.clone());
    for value in more {
        if !list.contains(&value) {
            list.push(value);
        }
    }
    boolean(ExprKind::InList { operand, list, negated: false })
}

/// The operand and the constants of `a = 1` or `a IN (1, 2)`.
fn members(expr: &Expr) -> Option<(&Expr, Vec<Value>)> {
    match &expr.kind {
        ExprKind::InList { operand, list, negated: false } => Some((operand, list.clone())),
        ExprKind::Binary { operator: BinaryOperator::Equal, left, right } => match &right.kind {
            ExprKind::Literal(value)
                if left.data_type == right.data_type
                    || (left.data_type.is_text() && right.data_type.is_text()) =>
            {
                Some((left, vec![value.clone()]))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Membership in a list: of constants one set, else equalities.
pub fn in_list(operand: Expr, list: Vec<Expr>, negated_list: bool) -> Expr {
    let operand = strip_exact_cast(operand);
    let mut values = Vec::with_capacity(list.len());
    for item in &list {
        let item = like_other(item.clone(), &operand);
        match item.kind {
            ExprKind::Literal(Value::Null) => values.push(Value::Null),
            ExprKind::Literal(literal)
                if item.data_type == operand.data_type
                    || (item.data_type.is_text() && operand.data_type.is_text()) =>
            {
                values.push(literal);
            }
            _ => {
                let any = list
                    .into_iter()
                    .map(|it| compare(BinaryOperator::Equal, operand.clone(), it))
                    .reduce(|a, b| Expr::predicate(BinaryOperator::Or, a, b))
                    .unwrap_or_else(|| Expr::literal(Value::Boolean(false), DataType::Boolean));
                return if negated_list { negated(any) } else { any };
            }
        }
    }
    let kind = ExprKind::InList { operand: Box::new(operand), list: values, negated: negated_list };
    boolean(kind)
}

/// A mean of a sum and the number of values that are in it: NULL of none.
pub fn mean(sum: Expr, count: Expr, data_type: DataType) -> Expr {
    let zero = Expr::literal(Value::Integer(0), count.data_type);
    let any = Expr::predicate(BinaryOperator::Greater, count.clone(), zero);
    let (operator, left, right) = (BinaryOperator::Divide, Box::new(sum), Box::new(count));
    let quotient = Expr { kind: ExprKind::Binary { operator, left, right }, data_type };
    let branches = vec![(any, quotient)];
    Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CENTS: DataType = DataType::Decimal { precision: 10, scale: 2 };

    fn column(data_type: DataType) -> Expr {
        Expr::column(0, data_type)
    }

    fn to(data_type: DataType, expr: Expr) -> Expr {
        Expr { kind: ExprKind::Cast(Box::new(expr)), data_type }
    }

    fn decimal(precision: u8, scale: u8) -> DataType {
        DataType::Decimal { precision, scale }
    }

    fn is_bare(expr: &Expr) -> bool {
        matches!(expr.kind, ExprKind::Column(_))
    }

    #[test]
    fn only_conversions_that_lose_nothing_are_taken_off() {
        let strips = |from, data_type| is_bare(&strip_exact_cast(to(data_type, column(from))));
        assert!(strips(DataType::Integer, DataType::BigInt));
        assert!(strips(DataType::Integer, decimal(20, 5)));
        assert!(strips(CENTS, decimal(15, 4)));
        assert!(!strips(CENTS, DataType::Integer), "digits are lost");
        assert!(!strips(CENTS, decimal(10, 1)), "digits are lost");
        assert!(!strips(CENTS, decimal(10, 4)), "may be out of range");
        assert!(!strips(decimal(5, 0), DataType::SmallInt), "may be out of range");
        assert!(!strips(DataType::BigInt, DataType::Integer), "may be out of range");
        assert!(!strips(DataType::Integer, DataType::Double), "another arithmetic");
    }

    #[test]
    fn a_comparison_keeps_a_conversion_that_rounds() {
        let one = Expr::literal(Value::Integer(1), DataType::Integer);
        let compared = |expr| compare(BinaryOperator::Equal, expr, one.clone());
        let operand = |expr: Expr| match expr.kind {
            ExprKind::Binary { left, .. } => *left,
            _ => unreachable!("a comparison"),
        };
        assert!(!is_bare(&operand(compared(to(DataType::Integer, column(CENTS))))));
        assert!(is_bare(&operand(compared(to(decimal(12, 3), column(CENTS))))));
        let list = in_list(to(DataType::Integer, column(CENTS)), vec![one.clone()], false);
        let ExprKind::InList { operand, .. } = list.kind else { panic!("a list of constants") };
        assert!(!is_bare(&operand));
    }

    #[test]
    fn a_sum_keeps_the_scale_of_its_argument() {
        let wide = decimal(20, 5);
        assert_eq!(strip_integer_cast(to(wide, column(DataType::Integer))).data_type, wide);
        assert!(is_bare(&strip_integer_cast(to(DataType::BigInt, column(DataType::Integer)))));
    }

    #[test]
    fn texts_are_not_stripped_of_what_cuts_or_pads() {
        use DataType::{Char, Text, Varchar};
        let strips = |from, data_type| is_bare(&strip_text_cast(to(data_type, column(from))));
        assert!(strips(Varchar(5), Text));
        assert!(strips(Varchar(5), Varchar(7)));
        assert!(!strips(Varchar(5), Varchar(3)));
        assert!(!strips(Text, Varchar(3)));
        assert!(!strips(Varchar(5), Char(7)));
        assert!(!strips(DataType::Integer, Text));
        assert!(is_bare(&cast(column(Varchar(5)), Text)));
        assert!(!is_bare(&cast(column(Char(5)), Text)), "its blanks count from now on");
    }
}
