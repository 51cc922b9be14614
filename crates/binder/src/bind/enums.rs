//! PostgreSQL's functions of ENUMs: enum_first, enum_last, enum_range.

use plan::Expr;
use sqlparser::ast;
use types::{DataType, EnumType, SqlError, SqlResult, SqlState, Value, array};

use super::Binder;
use super::errors::{at, unsupported};

impl<'a> Binder<'a> {
    /// A call of a function of ENUMs, which is a constant: only the types of its arguments count, and constants of a range.
    pub(super) fn enum_call(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        if !matches!(name, "enum_first" | "enum_last" | "enum_range") {
            return None;
        }
        let known = bound.iter().find_map(|it| match it.data_type {
            DataType::Enum(it) => Some(it),
            _ => None,
        })?;
        let is_of_it = |it: &Expr| {
            matches!(it.data_type, DataType::Null) || it.data_type == DataType::Enum(known)
        };
        if !bound.iter().all(is_of_it) {
            return None;
        }
        let made = match (name, bound) {
            ("enum_first", [_]) => end_of(known, 0),
            ("enum_last", [_]) => end_of(known, known.labels().len() as i64 - 1),
            ("enum_range", [_]) => range_of(known, None, None),
            ("enum_range", [from, to]) => self.enum_between(known, from, to, whole),
            _ => return None,
        };
        self.leave_out(bound.iter().cloned());
        Some(made.map_err(|it| at(it, whole)))
    }

    fn enum_between(
        &mut self,
        of: EnumType,
        from: &Expr,
        to: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut end = |it: &Expr| {
            let read = self.coerce(it.clone(), DataType::Enum(of), whole)?;
            match super::constant(&read) {
                Some(Value::Integer(place)) => Ok(Some(*place)),
                Some(Value::Null) => Ok(None),
                _ => Err(unsupported("enum_range of values that are no constants", whole)),
            }
        };
        let (from, to) = (end(from)?, end(to)?);
        range_of(of, from, to)
    }
}

fn end_of(of: EnumType, place: i64) -> SqlResult<Expr> {
    match of.labels().is_empty() {
        true => {
            let message = format!("enum {of} contains no values");
            Err(SqlError::new(SqlState("55000"), message))
        }
        false => Ok(Expr::literal(Value::Integer(place), DataType::Enum(of))),
    }
}

/// The labels from a place to a place, or from the first or to the last.
fn range_of(of: EnumType, from: Option<i64>, to: Option<i64>) -> SqlResult<Expr> {
    let last = of.labels().len() as i64 - 1;
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(last));
    let (mut held, mut count) = (String::new(), 0);
    for place in from..=to {
        array::push_integer(&mut held, place.into());
        count += 1;
    }
    array::close_list(&mut held, 0, count)?;
    let of = DataType::Enum(of).array().ok_or_else(|| SqlError::internal("arrays of labels"))?;
    Ok(Expr::literal(Value::Text(held.into()), of))
}
