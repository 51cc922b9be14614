//! Look-ups: what belongs to a value, by pairs that are known when a statement is bound.
//!
//! Key decision: a look-up is the place of the value in one constant array, and what stands there in another, and so has its operand
//! once, however many pairs there are. A CASE would have it once for each, and one in another as often as the pairs of both
//! multiplied.

use plan::{Expr, ExprKind, Function, UnaryOperator};
use types::{DataType, SqlResult, Value, array};

/// What some pairs, of types, have for a value; NULL where none is of it.
///
/// # Errors
/// 54000 for more pairs than an array may have items.
pub(super) fn look_up(
    of: Expr,
    pairs: Vec<(Value, Value)>,
    (key, told): (DataType, DataType),
) -> SqlResult<Expr> {
    if pairs.is_empty() {
        return Ok(Expr::literal(Value::Null, told));
    }
    let (keys, values): (Vec<Value>, Vec<Value>) = pairs.into_iter().unzip();
    let list = |items: &[Value], of: DataType| -> SqlResult<Expr> {
        let of = of.array().ok_or_else(|| types::SqlError::internal("no arrays of this type"))?;
        Ok(Expr::literal(array::list(items)?, of))
    };
    let call = |function, arguments, data_type| Expr {
        kind: ExprKind::Call { function, arguments },
        data_type,
    };
    let place = call(Function::ArrayPosition, vec![list(&keys, key)?, of], DataType::Integer);
    let place = super::coercion::fold_cast(place, DataType::BigInt);
    Ok(call(Function::ArrayItem, vec![list(&values, told)?, place], told))
}

/// What a look-up gives, else something else.
pub(super) fn or_else(found: Expr, copy: Expr, otherwise: Expr) -> Expr {
    let data_type = found.data_type;
    let is_there = plan::build::unary(UnaryOperator::IsNotNull, copy);
    let (branches, otherwise) = (vec![(is_there, found)], Some(Box::new(otherwise)));
    Expr { kind: ExprKind::Case { branches, otherwise }, data_type }
}

/// The error that nothing of a kind has a name, which is known for each row only.
pub(super) fn unknown(kind: &str, name: Expr, data_type: DataType) -> Expr {
    let arguments = vec![Expr::literal(text(kind), DataType::Text), name];
    Expr { kind: ExprKind::Call { function: Function::RaiseUnknown, arguments }, data_type }
}

/// A constant text.
pub(super) fn text(it: &str) -> Value {
    Value::Text(it.into())
}
