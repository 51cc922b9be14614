//! Conversions that are written: CAST, `::`, TRY_CAST, and functions that mean the same.

use plan::build::{cast, negated};
use plan::{Expr, ExprKind, Function};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Styles, Value, numeric};

use super::Binder;
use super::coercion::{fold_cast, name_of, with_blanks};
use super::errors::at;
use super::failing::Failing;
use crate::registered::Registered;

impl<'a> Binder<'a> {
    /// `CAST(operand AS data_type)` or TRY_CAST.
    pub(super) fn cast(
        &mut self,
        failing: Failing,
        operand: &'a ast::Expr,
        data_type: &'a ast::DataType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if let Some(kind) = Registered::named(data_type) {
            return self.registered(kind, operand, whole);
        }
        if is_oid(data_type) && is_type_of(operand) {
            return self.registered(Registered::Type, operand, whole);
        }
        if let Some(fields) = crate::interval_fields::fields_of_type(data_type) {
            let to = crate::data_types::without_fields(data_type).map_err(|it| at(it, whole))?;
            if to == DataType::Interval && failing == Failing::Raises {
                return self.cast_to_interval(operand, fields, whole);
            }
            let value = self.cast_to(failing, operand, to, whole)?;
            return self.fitted(value, fields).map_err(|it| at(it, whole));
        }
        // A path is held as its text.
        if data_type.to_string().eq_ignore_ascii_case("jsonpath") {
            let path = self.expr(operand)?;
            return self.invoke(Function::JsonPathNormal, vec![path], whole);
        }
        if let Some(domain) = self.domain_named(data_type).map_err(|it| at(it, whole))? {
            self.note_domain_of(operand, &domain.name).map_err(|it| at(it, operand))?;
            let value = self.cast_to(failing, operand, domain.data_type, whole)?;
            return self.as_domain(failing, value, &domain).map_err(|it| at(it, whole));
        }
        let to = self.type_named(data_type).map_err(|it| at(it, whole))?;
        self.cast_to(failing, operand, to, whole)
    }

    /// A cast to a type.
    fn cast_to(
        &mut self,
        failing: Failing,
        operand: &'a ast::Expr,
        to: DataType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if to == DataType::Text
            && let ast::Expr::Cast { expr: inner, data_type, .. } = operand
            && let Some(kind) = Registered::named(data_type)
        {
            return self.registered_name(kind, inner, whole);
        }
        if super::literal::is_empty_array(operand) && to.element().is_some() {
            return Ok(super::literal::empty_array(to));
        }
        let bound = self.declared(operand)?;
        self.as_type(failing, bound, to).map_err(|it| at(it, whole))
    }

    /// The call of a function that converts its first argument to the type of its result.
    pub(super) fn conversion_call(
        &mut self,
        function: Function,
        operand: Expr,
        to: DataType,
    ) -> Option<SqlResult<Expr>> {
        let failing = match function {
            Function::ArrowCast | Function::CastToType => Failing::Raises,
            Function::ArrowTryCast | Function::TryCastToType => Failing::IsNull,
            _ => return None,
        };
        Some(self.as_type(failing, operand, to))
    }

    /// A text as a type, NULL where it or any part of it does not convert.
    pub(super) fn tried(&mut self, operand: Expr, to: DataType) -> SqlResult<Expr> {
        if let ExprKind::Literal(value) = &operand.kind {
            return read(self.read(value, to), to, Failing::IsNull);
        }
        // The third argument says that parts do not stand for themselves.
        let whole = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let arguments = vec![operand, Expr::literal(Value::Null, to), whole];
        let kind = ExprKind::Call { function: Function::TryCastToType, arguments };
        Ok(Expr { kind, data_type: to })
    }

    pub(super) fn as_type(
        &mut self,
        failing: Failing,
        operand: Expr,
        to: DataType,
    ) -> SqlResult<Expr> {
        // A CHAR is as many bytes as it shows.
        let operand = if to == DataType::Bytea { with_blanks(operand) } else { operand };
        let from = operand.data_type;
        if from == DataType::Null {
            return match &operand.kind {
                // A constant of unknown type is read as the type, and then cut to its length.
                ExprKind::Literal(value) if !value.is_null() => match failing {
                    Failing::Raises => read(self.read(value, to), to, failing),
                    Failing::IsNull => read(self.try_read(value, to), to, failing),
                },
                _ => self.coerce_unknown(operand, to),
            };
        }
        if from != to && !numeric::is_castable(from, to) {
            let message = format!("cannot cast type {} to {}", name_of(from), name_of(to));
            return Err(SqlError::new(SqlState("42846"), message));
        }
        // To NAME there is no cast but by what is shown.
        if (from, to) == (DataType::Boolean, DataType::Name) {
            return Ok(fold_cast(self.shown_truth(operand)?, to));
        }
        Ok(match (&operand.kind, failing) {
            (ExprKind::Literal(value), Failing::IsNull)
                if !numeric::depends_on_zone(from, to) && !Styles::decide_texts(from, to) =>
            {
                constant(value, from, to, failing)?
            }
            (ExprKind::Literal(_), Failing::Raises) => fold_cast(operand, to),
            // Nothing is to be done with the value, but clients are told the type.
            (_, Failing::Raises) if to == DataType::Text && from.is_cut_text() => {
                Expr { data_type: to, ..operand }
            }
            (_, Failing::Raises) => cast(operand, to),
            (_, Failing::IsNull) if from == to => operand,
            (_, Failing::IsNull) => {
                // The second argument only says the type.
                let arguments = vec![operand, Expr::literal(Value::Null, to)];
                let kind = ExprKind::Call { function: Function::TryCastToType, arguments };
                Expr { kind, data_type: to }
            }
        })
    }

    /// A truth value as it is shown: `t` or `f`.
    fn shown_truth(&mut self, truth: Expr) -> SqlResult<Expr> {
        let letter = |it: &str| Expr::literal(Value::Text(it.into()), DataType::Text);
        let of = |it| match it {
            true => letter("t"),
            false => letter("f"),
        };
        if let ExprKind::Literal(value) = &truth.kind {
            return Ok(match value {
                Value::Boolean(it) => of(*it),
                _ => Expr::literal(Value::Null, DataType::Text),
            });
        }
        let is_false = negated(self.copy(&truth)?);
        let branches = vec![(truth, of(true)), (is_false, of(false))];
        Ok(Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type: DataType::Text })
    }
}

/// Whether a type is that of numbers of the catalog.
fn is_oid(data_type: &ast::DataType) -> bool {
    match data_type {
        ast::DataType::Custom(name, arguments) if arguments.is_empty() => {
            let last = name.0.last().and_then(|it| it.as_ident());
            last.is_some_and(|it| it.value.eq_ignore_ascii_case("oid"))
        }
        _ => false,
    }
}

/// Whether it calls `pg_typeof`, which tells the name of a type, in PostgreSQL also its number.
pub(super) fn is_type_of(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Nested(inner) => is_type_of(inner),
        ast::Expr::Function(call) => {
            let last = call.name.0.last().and_then(|it| it.as_ident());
            last.is_some_and(|it| it.value.eq_ignore_ascii_case("pg_typeof"))
        }
        _ => false,
    }
}

fn constant(value: &Value, from: DataType, to: DataType, failing: Failing) -> SqlResult<Expr> {
    match failing {
        Failing::Raises => read(numeric::cast(value, from, to), to, failing),
        Failing::IsNull => {
            read(numeric::try_cast_in(value, from, to, &types::Zone::utc()), to, failing)
        }
    }
}

/// A constant that was converted, or what becomes of one that does not convert.
fn read(value: SqlResult<Value>, to: DataType, failing: Failing) -> SqlResult<Expr> {
    match (value, failing) {
        (Ok(value), _) => Ok(Expr::literal(value, to)),
        (Err(error), Failing::IsNull) if error.state.is_data_exception() => {
            Ok(Expr::literal(Value::Null, to))
        }
        (Err(error), _) => Err(error),
    }
}
