//! Comparisons: of two values, of rows of values, with lists and with ranges.

use plan::build::{boolean, negated};
use plan::relation::Attr;
use plan::{BinaryOperator, Expr, ExprKind};
use sqlparser::ast::{self, Spanned};
use types::numeric::{self, datetime};
use types::{DataType, SqlError, SqlResult, SqlState, TableInfo, Value};

use super::Binder;
use super::coercion::{fold_cast, name_of, plain, roomy};
use super::errors::{at, unsupported};
use crate::precedence::SYMMETRIC;
use crate::registered::Registered;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The values of a row that is assigned to several columns.
pub(super) fn assigned_row(expr: &ast::Expr) -> SqlResult<Vec<&ast::Expr>> {
    match expr {
        ast::Expr::Nested(value) => Ok(vec![value]),
        other => row_of(other)
            .ok_or_else(|| unsupported("anything but a row (..) for several columns", other)),
    }
}

/// The values of `(a, b)` or `ROW(a, b)`.
pub(super) fn row_of(expr: &ast::Expr) -> Option<Vec<&ast::Expr>> {
    match expr {
        ast::Expr::Tuple(parts) => Some(parts.iter().collect()),
        ast::Expr::Nested(inner) => row_of(inner),
        ast::Expr::Function(call) => row_call(call),
        _ => None,
    }
}

/// The arguments of `ROW(..)`.
fn row_call(call: &ast::Function) -> Option<Vec<&ast::Expr>> {
    let [ast::ObjectNamePart::Identifier(name)] = &call.name.0[..] else { return None };
    let ast::FunctionArguments::List(list) = &call.args else { return None };
    if name.quote_style.is_some() || !name.value.eq_ignore_ascii_case("row") {
        return None;
    }
    let plain = |it| match it {
        &ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}

/// Whether an operand is cast to REGPROC.
fn is_function_said(operand: &ast::Expr) -> bool {
    match operand {
        ast::Expr::Nested(inner) => is_function_said(inner),
        ast::Expr::Cast { data_type, .. } => {
            let said = Registered::named(data_type);
            matches!(said, Some(Registered::Function | Registered::Procedure))
        }
        _ => false,
    }
}

/// The error of an operator that there is not for these types.
pub(super) fn no_operator(
    sign: &str,
    left: DataType,
    right: DataType,
    node: &impl Spanned,
) -> SqlError {
    let message = format!("operator does not exist: {} {sign} {}", name_of(left), name_of(right));
    let error = SqlError::new(SqlState::UNDEFINED_FUNCTION, message);
    at(error.with_hint("you might need to write a CAST"), node)
}

impl<'a> Binder<'a> {
    pub(super) fn comparison(
        &mut self,
        operator: BinaryOperator,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match (row_of(left), row_of(right)) {
            (None, None) => {
                let said = [left, right].map(is_function_said);
                let (left, right) = self.operands(left, right)?;
                let (left, right) = self.functions_of_catalog(left, right, said, whole)?;
                self.compare(operator, left, right, whole)
            }
            (Some(left), Some(right)) => {
                let pairs = self.pairs_of(&left, &right, whole)?;
                self.compare_rows(operator, &pairs, whole)
            }
            (Some(left), None) if let ast::Expr::Subquery(query) = right => {
                let left =
                    left.into_iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
                let right = self.row_subquery(query)?;
                if left.len() != right.len() {
                    let message = match left.len() < right.len() {
                        true => "subquery has too many columns",
                        false => "subquery has too few columns",
                    };
                    return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
                }
                let pairs: Vec<_> = left.into_iter().zip(right).collect();
                self.compare_rows(operator, &pairs, whole)
            }
            _ => {
                let (left, right) = self.operands(left, right)?;
                self.compare(operator, left, right, whole)
            }
        }
    }

    /// Operands, where the name of a function meets the number of one, as where a column of `pg_type` is compared with what is of
    /// REGPROC: the number is told by its name, which is `-` of 0. `said` tells which of them are of that type.
    pub(super) fn functions_of_catalog(
        &mut self,
        left: Expr,
        right: Expr,
        said: [bool; 2],
        whole: &'a ast::Expr,
    ) -> SqlResult<(Expr, Expr)> {
        let is_number = |it: &Expr| it.data_type.plain().is_integer();
        let number = |it: Expr| fold_cast(plain(it), DataType::BigInt);
        let is_name = |this: &Self, it: &Expr, other_is_said: bool| {
            other_is_said && it.data_type.is_text() || this.names_function(it)
        };
        if is_number(&right) && is_name(self, &left, said[1]) {
            return Ok((left, self.name_of_number(Registered::Function, number(right), whole)?));
        }
        if is_number(&left) && is_name(self, &right, said[0]) {
            return Ok((self.name_of_number(Registered::Function, number(left), whole)?, right));
        }
        Ok((left, right))
    }

    fn names_function(&self, expr: &Expr) -> bool {
        matches!(expr.kind, ExprKind::Column(attr) if self.names_of_functions.contains(attr))
    }

    /// Notes which columns of a table of the catalog are names of functions.
    pub(super) fn note_names_of_functions(&mut self, table: &TableInfo, base: Attr) {
        const NAMES: [&str; 4] = ["typinput", "typoutput", "typreceive", "typsend"];
        if !table.name.ends_with("pg_catalog.pg_type") {
            return;
        }
        for (place, column) in table.columns.iter().enumerate() {
            if NAMES.contains(&column.name.as_str()) {
                self.names_of_functions.insert(base + place);
            }
        }
    }

    /// The operands of an operator.
    pub(super) fn operands(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
    ) -> SqlResult<(Expr, Expr)> {
        let left = self.expr(left)?;
        Ok((left, self.expr(right)?))
    }

    fn pairs_of(
        &mut self,
        left: &[&'a ast::Expr],
        right: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Vec<(Expr, Expr)>> {
        if left.len() != right.len() || left.is_empty() {
            let message = "unequal number of entries in row expressions";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
        }
        left.iter().zip(right).map(|(a, b)| self.operands(a, b)).collect()
    }

    /// Rows of values: equal when all are, and in the order of the first that differ.
    fn compare_rows(
        &mut self,
        operator: BinaryOperator,
        pairs: &[(Expr, Expr)],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        use BinaryOperator::*;
        let Some(((left, right), rest)) = pairs.split_first() else {
            return Err(SqlError::internal("a row without values"));
        };
        let (left, right) = (self.copy(left)?, self.copy(right)?);
        if rest.is_empty() {
            return self.compare(operator, left, right, whole);
        }
        let others = self.compare_rows(operator, rest, whole)?;
        match operator {
            Equal => {
                let first = self.compare(Equal, left, right, whole)?;
                Ok(Expr::predicate(And, first, others))
            }
            NotEqual => {
                let first = self.compare(NotEqual, left, right, whole)?;
                Ok(Expr::predicate(Or, first, others))
            }
            _ => {
                // a < b, or a = b and the rest decides.
                let strict = match operator {
                    LessEqual => Less,
                    GreaterEqual => Greater,
                    other => other,
                };
                let (a, b) = (self.copy(&left)?, self.copy(&right)?);
                let before = self.compare(strict, a, b, whole)?;
                let same = self.compare(Equal, left, right, whole)?;
                let decided = Expr::predicate(And, same, others);
                Ok(Expr::predicate(Or, before, decided))
            }
        }
    }

    /// A comparison of two bound values.
    pub(super) fn compare(
        &mut self,
        operator: BinaryOperator,
        left: Expr,
        right: Expr,
        node: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (left, right) = self.comparable(operator.sql(), left, right, node)?;
        if [&left, &right].into_iter().any(|it| super::constant(it).is_some_and(Value::is_null)) {
            self.leave_out([left, right]);
            return Ok(plan::build::null(DataType::Boolean));
        }
        let simpler = dates_apart(operator, &left, &right)
            .or_else(|| super::number_ranges::of(operator, &left, &right));
        Ok(match simpler {
            Some(simpler) => simpler,
            None => plan::build::compare(operator, left, right),
        })
    }

    /// Two values brought to types that compare.
    fn comparable(
        &mut self,
        sign: &str,
        left: Expr,
        right: Expr,
        node: &'a ast::Expr,
    ) -> SqlResult<(Expr, Expr)> {
        let (left, right) = (plain(left), plain(right));
        let (a, b) = (left.data_type, right.data_type);
        let meet = numeric::comparison_type(a, b).filter(|it| !types::structs::has_json(*it));
        let Some(meet) = meet else {
            return Err(no_operator(sign, a, b, node));
        };
        let meet = match meet {
            DataType::Null => DataType::Text,
            DataType::Bpchar => DataType::Char(u32::MAX),
            known => known,
        };
        let mut side = |it: Expr, other: DataType| match it.data_type {
            DataType::Null if other.is_blank_padded() => {
                let to = DataType::Char(u32::MAX);
                self.coerce_unknown(it, to).map_err(|it| at(it, node))
            }
            DataType::Null => {
                let to = roomy(other, &it);
                self.coerce_unknown(it, to).map_err(|it| at(it, node))
            }
            // Exact numbers compare as they are.
            own if own.is_exact() && other.is_exact() => Ok(it),
            // VARCHAR beside CHAR compares without the blanks at its end; other texts compare as they are.
            own if own.is_cut_text() && meet.is_blank_padded() => Ok(fold_cast(it, meet)),
            DataType::Bpchar => Ok(fold_cast(it, meet)),
            own if own.is_text() && other.is_text() => Ok(it),
            DataType::Bits(_) => Ok(it),
            DataType::Date if other == DataType::Timestamp => Ok(it),
            _ => Ok(fold_cast(it, meet)),
        };
        let left = side(left, if b == DataType::Null { meet } else { b })?;
        let right = side(right, if a == DataType::Null { meet } else { a })?;
        match (left.data_type, right.data_type) {
            (a, b) if a == b && super::coercion::has_key(a) && a != DataType::Bpchar => {
                Ok((super::coercion::key_of(left), super::coercion::key_of(right)))
            }
            (DataType::Date, DataType::Timestamp) if constant_time(&right).is_none() => {
                Ok((fold_cast(left, DataType::Timestamp), right))
            }
            (DataType::Timestamp, DataType::Date) if constant_time(&left).is_none() => {
                Ok((left, fold_cast(right, DataType::Timestamp)))
            }
            _ => Ok((left, right)),
        }
    }

    pub(super) fn distinct_from(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
        same: bool,
    ) -> SqlResult<Expr> {
        let operator = match same {
            true => BinaryOperator::IsNotDistinctFrom,
            false => BinaryOperator::IsDistinctFrom,
        };
        let (left, right) = self.operands(left, right)?;
        let (left, right) = self.comparable(operator.sql(), left, right, whole)?;
        let meet = |it: Expr, other: DataType| match (it.data_type, other) {
            (DataType::Date, DataType::Timestamp) => fold_cast(it, other),
            _ => it,
        };
        let (a, b) = (left.data_type, right.data_type);
        Ok(Expr::predicate(operator, meet(left, b), meet(right, a)))
    }

    pub(super) fn between(
        &mut self,
        operand: &'a ast::Expr,
        negate: bool,
        low: &'a ast::Expr,
        high: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (low, symmetric) = match low {
            ast::Expr::Prefixed { prefix, value } if prefix.value == SYMMETRIC => (&**value, true),
            _ => (low, false),
        };
        let operand = self.expr(operand)?;
        let low = self.expr(low)?;
        let high = self.expr(high)?;
        let turned = match symmetric {
            true => Some((self.copy(&operand)?, self.copy(&high)?, self.copy(&low)?)),
            false => None,
        };
        let again = self.copy(&operand)?;
        let above = self.compare(BinaryOperator::GreaterEqual, operand, low, whole)?;
        let below = self.compare(BinaryOperator::LessEqual, again, high, whole)?;
        let mut within = Expr::predicate(BinaryOperator::And, above, below);
        if let Some((operand, low, high)) = turned {
            let again = self.copy(&operand)?;
            let above = self.compare(BinaryOperator::GreaterEqual, operand, low, whole)?;
            let below = self.compare(BinaryOperator::LessEqual, again, high, whole)?;
            let turned = Expr::predicate(BinaryOperator::And, above, below);
            within = Expr::predicate(BinaryOperator::Or, within, turned);
        }
        Ok(if negate { negated(within) } else { within })
    }

    /// Membership in a list.
    pub(super) fn in_list(
        &mut self,
        operand: &'a ast::Expr,
        list: &'a [ast::Expr],
        negate: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if list.is_empty() {
            let message = "syntax error: IN needs at least one value";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
        }
        if let Some(left) = row_of(operand) {
            let mut any: Option<Expr> = None;
            for item in list {
                let Some(right) = row_of(item) else {
                    return Err(unsupported("the comparison of a row with a single value", item));
                };
                let pairs = self.pairs_of(&left, &right, whole)?;
                let one = self.compare_rows(BinaryOperator::Equal, &pairs, whole)?;
                any = Some(match any {
                    None => one,
                    Some(any) => Expr::predicate(BinaryOperator::Or, any, one),
                });
            }
            let any = any.ok_or_else(|| SqlError::internal("an empty list"))?;
            return Ok(if negate { negated(any) } else { any });
        }
        let operand = self.expr(operand)?;
        let items = list.iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
        let any = self.member(operand, items, whole)?;
        Ok(if negate { negated(any) } else { any })
    }

    /// Whether a value is one of several: a set where they are constants of its type, else equalities.
    pub(super) fn member(
        &mut self,
        operand: Expr,
        items: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut operand = operand;
        if operand.data_type == DataType::Null {
            let known = items.iter().map(|it| it.data_type).find(|it| *it != DataType::Null);
            let known = known.map(|it| roomy(it, &operand));
            operand = self
                .coerce_unknown(operand, known.unwrap_or(DataType::Text))
                .map_err(|it| at(it, whole))?;
        }
        let mut equalities = Vec::with_capacity(items.len());
        let mut values = Vec::new();
        for item in items {
            let copy = self.copy(&operand)?;
            let (left, right) = self.comparable("=", copy, item, whole)?;
            match in_type(&right, left.data_type) {
                Some(value) if left == operand => values.push(value),
                _ => equalities.push(match dates_apart(BinaryOperator::Equal, &left, &right) {
                    Some(simpler) => simpler,
                    None => plan::build::compare(BinaryOperator::Equal, left, right),
                }),
            }
        }
        if !values.is_empty() {
            let operand = Box::new(plan::build::strip_declared_cast(operand));
            let kind = ExprKind::InList { operand, list: values, negated: false };
            equalities.insert(0, boolean(kind));
        }
        let any = plan::relation::combine(BinaryOperator::Or, equalities);
        any.ok_or_else(|| SqlError::internal("an empty list"))
    }
}

/// The value of a constant in the type of what it is compared with, where that type holds it exactly.
fn in_type(expr: &Expr, data_type: DataType) -> Option<Value> {
    let ExprKind::Literal(value) = &expr.kind else { return None };
    let own = expr.data_type;
    if own == data_type || own.is_text() && data_type.is_text() || value.is_null() {
        return Some(value.clone());
    }
    if !(own.is_exact() && data_type.is_exact()) {
        return None;
    }
    let there = numeric::cast(value, own, data_type).ok()?;
    let same = numeric::compare((&there, data_type), (value, own)).ok()?;
    (same == Some(std::cmp::Ordering::Equal)).then_some(there)
}

fn constant_time(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Literal(Value::Timestamp(it)) => Some(it),
        _ => None,
    }
}

/// A date compared with a constant point of time, as a comparison of dates.
fn dates_apart(operator: BinaryOperator, left: &Expr, right: &Expr) -> Option<Expr> {
    use BinaryOperator::*;
    let (date, time, operator) = match (left.data_type, right.data_type) {
        (DataType::Date, DataType::Timestamp) => (left, constant_time(right)?, operator),
        (DataType::Timestamp, DataType::Date) => (right, constant_time(left)?, operator.mirrored()),
        _ => return None,
    };
    let day = i32::try_from(datetime::date_of_timestamp(time)).ok();
    let within = time.rem_euclid(DAY) != 0 && !datetime::is_infinite(time);
    let Some(day) = day else {
        return Some(plan::build::compare(
            operator,
            fold_cast(date.clone(), DataType::Timestamp),
            Expr::literal(Value::Timestamp(time), DataType::Timestamp),
        ));
    };
    // No date is within a day: those before its middle are those up to it.
    let operator = match operator {
        Less if within => LessEqual,
        GreaterEqual if within => Greater,
        Equal | NotEqual if within => {
            let whole = fold_cast(date.clone(), DataType::Timestamp);
            let time = Expr::literal(Value::Timestamp(time), DataType::Timestamp);
            return Some(plan::build::compare(operator, whole, time));
        }
        other => other,
    };
    let day = Expr::literal(Value::Date(day), DataType::Date);
    Some(plan::build::compare(operator, date.clone(), day))
}
