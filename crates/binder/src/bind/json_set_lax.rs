//! `jsonb_set_lax`: what is put where the new value is NULL is said by its last argument.

use plan::build::unary;
use plan::{Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::errors::{at, unsupported};
use super::{coercion::fold_cast, constant};

/// The call of three to five bound arguments.
pub(super) fn bound<'a>(
    binder: &mut Binder<'a>,
    given: &[Expr],
    whole: &'a ast::Expr,
) -> SqlResult<Expr> {
    let (target, path) = (&given[0], &given[1]);
    let value = &match given[2].data_type {
        DataType::Null => binder.coerce_unknown(given[2].clone(), DataType::Jsonb)?,
        _ => given[2].clone(),
    };
    let create = match given.get(3) {
        Some(it) => it.clone(),
        None => Expr::literal(Value::Boolean(true), DataType::Boolean),
    };
    let set = |value| vec![target.clone(), path.clone(), value, create.clone()];
    let of_value = binder.invoke(Function::JsonSet, set(value.clone()), whole)?;
    let treatment = match given.get(4).map(constant) {
        None => "use_json_null".to_owned(),
        Some(Some(Value::Text(said))) => said.to_string(),
        Some(Some(Value::Null)) => String::new(),
        Some(_) => return Err(unsupported("a null_value_treatment that is no constant", whole)),
    };
    let otherwise = match &*treatment {
        "use_json_null" => {
            let json_null = Expr::literal(Value::Text("null".into()), DataType::Jsonb);
            binder.invoke(Function::JsonSet, set(json_null), whole)?
        }
        "delete_key" => {
            binder.invoke(Function::JsonDeletePath, vec![target.clone(), path.clone()], whole)?
        }
        "return_target" => match target.data_type {
            DataType::Null => {
                binder.as_type(super::failing::Failing::Raises, target.clone(), DataType::Jsonb)?
            }
            _ => fold_cast(target.clone(), DataType::Jsonb),
        },
        "raise_exception" if constant(value).is_some_and(Value::is_null) => {
            let error = SqlError::new(SqlState("22004"), "JSON value must not be null");
            let detail =
                "Exception was raised because null_value_treatment is \"raise_exception\".";
            return Err(at(error.with_detail(detail), whole));
        }
        "raise_exception" if constant(value).is_some() => return Ok(of_value),
        "raise_exception" => {
            return Err(unsupported("raise_exception for a value that is no constant", whole));
        }
        _ => {
            let message = "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \
                \"raise_exception\"";
            return Err(at(SqlError::new(SqlState::INVALID_PARAMETER, message), whole));
        }
    };
    let known = unary(UnaryOperator::IsNotNull, value.clone());
    let branches = vec![(known, of_value)];
    let otherwise = Some(Box::new(otherwise));
    Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type: DataType::Jsonb })
}
