//! Expressions of DataFusion as expressions of the plan.

use datafusion_common::arrow::datatypes::Field;
use datafusion_common::{Column, DFSchema, ScalarValue};
use datafusion_expr::expr::{Case, Like, Placeholder, ScalarFunction};
use datafusion_expr::{BinaryExpr, Expr as DfExpr, ExprSchemable, Operator};
use plan::build::{
    boolean, cast, compare, either, in_list, negated, null, strip_exact_cast, strip_integer_cast,
    strip_text_cast, unary,
};
use plan::{BinaryOperator, DateField, Expr, ExprKind, PipelineId, UnaryOperator};
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::functions::{AddInterval, LibraryFunction};
use super::translate::Translator;
use super::types::{from_arrow, interval_parts, is_interval, value};
use plan::relation::{Attr, ScalarQuery};

/// The names that an expression may use.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// Names and types.
    pub schema: &'a DFSchema,
    /// The attribute of each field.
    pub attrs: &'a [Attr],
}

impl Translator<'_> {
    /// The attribute that a column names.
    pub fn column(&self, column: &Column, scope: Scope<'_>) -> SqlResult<Attr> {
        match scope.schema.maybe_index_of_column(column) {
            Some(index) => Ok(scope.attrs[index]),
            None => Err(SqlError::unsupported(format!(
                "a subquery uses column \"{}\" of a query further out than the one directly around it",
                column.name
            ))
            .with_hint("rewrite the subquery as a join")),
        }
    }

    fn type_of(&self, expr: &DfExpr, scope: Scope<'_>) -> SqlResult<DataType> {
        let arrow = expr.get_type(scope.schema).map_err(|it| self.convert(it))?;
        from_arrow(&arrow)
    }

    fn all(&mut self, exprs: &[DfExpr], scope: Scope<'_>) -> SqlResult<Vec<Expr>> {
        exprs.iter().map(|it| self.expr(it, scope)).collect()
    }

    /// Translates an expression.
    pub fn expr(&mut self, expr: &DfExpr, scope: Scope<'_>) -> SqlResult<Expr> {
        use UnaryOperator::*;
        let one = |this: &mut Self, operator, operand: &DfExpr| {
            Ok(unary(operator, this.expr(operand, scope)?))
        };
        match expr {
            DfExpr::Alias(alias) => self.expr(&alias.expr, scope),
            DfExpr::Column(column) => {
                let attr = self.column(column, scope)?;
                Ok(Expr::column(attr, self.attributes[attr].data_type))
            }
            DfExpr::Literal(scalar, _) => literal(scalar),
            DfExpr::Placeholder(it) => parameter(it),
            DfExpr::BinaryExpr(binary) => self.binary(expr, binary, scope),
            DfExpr::Like(like) => self.like(like, scope),
            DfExpr::Not(it) => Ok(negated(self.expr(it, scope)?)),
            DfExpr::IsNotNull(it) | DfExpr::IsNotUnknown(it) => one(self, IsNotNull, it),
            DfExpr::IsNull(it) | DfExpr::IsUnknown(it) => one(self, IsNull, it),
            DfExpr::IsTrue(it) => one(self, IsTrue, it),
            DfExpr::IsFalse(it) => one(self, IsFalse, it),
            DfExpr::IsNotTrue(it) => one(self, IsNotTrue, it),
            DfExpr::IsNotFalse(it) => one(self, IsNotFalse, it),
            DfExpr::Negative(it) => {
                let operand = self.expr(it, scope)?;
                let data_type = operand.data_type;
                let operand = Box::new(operand);
                Ok(Expr { kind: ExprKind::Unary { operator: Negate, operand }, data_type })
            }
            DfExpr::Between(it) => {
                let low = self.expr(&it.low, scope)?;
                let high = self.expr(&it.high, scope)?;
                let operand = self.expr(&it.expr, scope)?;
                let lower = compare(BinaryOperator::GreaterEqual, operand.clone(), low);
                let upper = compare(BinaryOperator::LessEqual, operand, high);
                let both = Expr::predicate(BinaryOperator::And, lower, upper);
                Ok(if it.negated { negated(both) } else { both })
            }
            DfExpr::Case(case) => self.case(expr, case, scope),
            DfExpr::Cast(it) => {
                let data_type = from_arrow(it.field.data_type())?;
                let operand = self.expr(&it.expr, scope)?;
                Ok(cast(operand, data_type))
            }
            DfExpr::InList(it) => {
                let operand = self.expr(&it.expr, scope)?;
                let list = self.all(&it.list, scope)?;
                Ok(in_list(operand, list, it.negated))
            }
            DfExpr::ScalarFunction(call) => self.function(expr, call, scope),
            DfExpr::ScalarSubquery(subquery) => {
                if !subquery.outer_ref_columns.is_empty() {
                    return Err(correlated("scalar subquery"));
                }
                let (rel, attrs) = self.rel(&subquery.subquery)?;
                let attr = attrs[0];
                let data_type = self.attributes[attr].data_type;
                self.scalars.push(ScalarQuery { rel, attr });
                let place = PipelineId(self.scalars.len() as u32 - 1);
                Ok(Expr { kind: ExprKind::Scalar(place), data_type })
            }
            other => Err(refused(other)),
        }
    }

    fn like(&mut self, like: &Like, scope: Scope<'_>) -> SqlResult<Expr> {
        let operand = self.expr(&like.expr, scope)?;
        let pattern = strip_text_cast(self.expr(&like.pattern, scope)?);
        let pattern = match pattern.kind {
            ExprKind::Literal(Value::Text(text)) => text.to_string(),
            ExprKind::Literal(Value::Null) => return Ok(null(DataType::Boolean)),
            _ => {
                return Err(SqlError::unsupported(
                    "LIKE with a pattern that is not a constant is not supported",
                ));
            }
        };
        Ok(boolean(ExprKind::Like {
            operand: Box::new(operand),
            pattern,
            // In Postgres a backslash escapes unless ESCAPE says otherwise.
            escape: like.escape_char.or(Some('\\')),
            case_insensitive: like.case_insensitive,
            negated: like.negated,
        }))
    }

    fn binary(&mut self, whole: &DfExpr, it: &BinaryExpr, scope: Scope<'_>) -> SqlResult<Expr> {
        if let Some(result) = self.date_arithmetic(it, scope)? {
            return Ok(result);
        }
        let operator = match it.op {
            Operator::Eq => BinaryOperator::Equal,
            Operator::NotEq => BinaryOperator::NotEqual,
            Operator::Lt => BinaryOperator::Less,
            Operator::LtEq => BinaryOperator::LessEqual,
            Operator::Gt => BinaryOperator::Greater,
            Operator::GtEq => BinaryOperator::GreaterEqual,
            Operator::Plus => BinaryOperator::Add,
            Operator::Minus => BinaryOperator::Subtract,
            Operator::Multiply => BinaryOperator::Multiply,
            Operator::Divide => BinaryOperator::Divide,
            Operator::Modulo => BinaryOperator::Modulo,
            Operator::And => BinaryOperator::And,
            Operator::Or => BinaryOperator::Or,
            Operator::IsDistinctFrom => BinaryOperator::IsDistinctFrom,
            Operator::IsNotDistinctFrom => BinaryOperator::IsNotDistinctFrom,
            Operator::StringConcat => return self.concat(it, scope),
            Operator::RegexMatch => return self.regex(it, scope, false, false),
            Operator::RegexIMatch => return self.regex(it, scope, true, false),
            Operator::RegexNotMatch => return self.regex(it, scope, false, true),
            Operator::RegexNotIMatch => return self.regex(it, scope, true, true),
            other => {
                return Err(SqlError::unsupported(format!("operator {other} is not supported")));
            }
        };
        let left = self.expr(&it.left, scope)?;
        let right = self.expr(&it.right, scope)?;
        use BinaryOperator::*;
        match operator {
            And => Ok(Expr::predicate(operator, left, right)),
            Or => Ok(either(left, right)),
            Add | Subtract | Multiply | Divide | Modulo => {
                let data_type = self.type_of(whole, scope)?;
                let (left, right) = match operator {
                    Add | Subtract => (strip_exact_cast(left), strip_exact_cast(right)),
                    Multiply => (strip_integer_cast(left), strip_integer_cast(right)),
                    _ => (left, right),
                };
                let kind =
                    ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) };
                Ok(Expr { kind, data_type })
            }
            _ => Ok(compare(operator, left, right)),
        }
    }

    /// A date or timestamp plus or minus a constant interval.
    fn date_arithmetic(&mut self, it: &BinaryExpr, scope: Scope<'_>) -> SqlResult<Option<Expr>> {
        let minus = it.op == Operator::Minus;
        if !minus && it.op != Operator::Plus {
            return Ok(None);
        }
        let interval = |expr: &DfExpr| match expr {
            DfExpr::Literal(scalar, _) if is_interval(&scalar.data_type()) => {
                interval_parts(scalar)
            }
            _ => None,
        };
        let ((months, days, nanos), date) = match (interval(&it.left), interval(&it.right)) {
            (None, Some(parts)) => (parts, &it.left),
            (Some(parts), None) if !minus => (parts, &it.right),
            _ => return Ok(None),
        };
        let date = self.expr(date, scope)?;
        let data_type = match date.data_type {
            DataType::Date | DataType::Timestamp => date.data_type,
            _ => return Ok(None),
        };
        let sign = if minus { -1 } else { 1 };
        let function = AddInterval::new(months * sign, days * sign, nanos * i64::from(sign));
        let kind = ExprKind::Function { function: Arc::new(function), arguments: vec![date] };
        Ok(Some(Expr { kind, data_type }))
    }

    /// `a || b` is NULL when one of them is, unlike concat(a, b).
    fn concat(&mut self, it: &BinaryExpr, scope: Scope<'_>) -> SqlResult<Expr> {
        let arguments = [(*it.left).clone(), (*it.right).clone()];
        let joined = self.call("concat", &arguments, scope)?;
        let missing = [&it.left, &it.right].map(|side| DfExpr::IsNull(Box::new((**side).clone())));
        let [left, right] = missing;
        let condition = Expr::predicate(
            BinaryOperator::Or,
            self.expr(&left, scope)?,
            self.expr(&right, scope)?,
        );
        let branches = vec![(condition, null(DataType::Text))];
        let kind = ExprKind::Case { branches, otherwise: Some(Box::new(joined)) };
        Ok(Expr { kind, data_type: DataType::Text })
    }

    fn regex(
        &mut self,
        it: &BinaryExpr,
        scope: Scope<'_>,
        ignore_case: bool,
        not: bool,
    ) -> SqlResult<Expr> {
        let mut arguments = vec![(*it.left).clone(), (*it.right).clone()];
        if ignore_case {
            arguments.push(DfExpr::Literal(ScalarValue::Utf8(Some("i".to_owned())), None));
        }
        let result = self.call("regexp_like", &arguments, scope)?;
        Ok(if not { negated(result) } else { result })
    }

    fn call(&mut self, name: &str, args: &[DfExpr], scope: Scope<'_>) -> SqlResult<Expr> {
        let Some(func) = self.context.library.scalar(name) else {
            return Err(SqlError::internal(format!("function {name} is missing")));
        };
        let call = ScalarFunction { func, args: args.to_vec() };
        self.function(&DfExpr::ScalarFunction(call.clone()), &call, scope)
    }

    fn case(&mut self, whole: &DfExpr, case: &Case, scope: Scope<'_>) -> SqlResult<Expr> {
        let data_type = self.type_of(whole, scope)?;
        let tested = case.expr.as_ref().map(|it| self.expr(it, scope)).transpose()?;
        let mut branches = Vec::with_capacity(case.when_then_expr.len());
        for (when, then) in &case.when_then_expr {
            let when = self.expr(when, scope)?;
            let condition = match &tested {
                Some(tested) => compare(BinaryOperator::Equal, tested.clone(), when),
                None => when,
            };
            branches.push((condition, cast(self.expr(then, scope)?, data_type)));
        }
        let otherwise = match &case.else_expr {
            Some(it) => Some(Box::new(cast(self.expr(it, scope)?, data_type))),
            None => None,
        };
        Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type })
    }

    fn function(
        &mut self,
        whole: &DfExpr,
        call: &ScalarFunction,
        scope: Scope<'_>,
    ) -> SqlResult<Expr> {
        let data_type = self.type_of(whole, scope)?;
        let arguments = self.all(&call.args, scope)?;
        if let Some(kind) = known_function(call.func.name(), &arguments, data_type) {
            return Ok(Expr { kind, data_type });
        }
        let to_field = |it: &DfExpr| it.to_field(scope.schema).map(|it| it.1);
        let fields = call
            .args
            .iter()
            .map(to_field)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|it| self.convert(it))?;
        let returned = whole.get_type(scope.schema).map_err(|it| self.convert(it))?;
        let constants = call.args.iter().map(|it| match it {
            DfExpr::Literal(scalar, _) => Some(scalar.clone()),
            _ => None,
        });
        let constants: Vec<_> = constants.collect();
        let function = LibraryFunction {
            udf: Arc::clone(&call.func),
            name: call.func.name().to_owned(),
            fields,
            constants,
            returns: Arc::new(Field::new(call.func.name(), returned, true)),
            data_type,
            options: Arc::clone(&self.context.library.options),
        };
        Ok(Expr { kind: ExprKind::Function { function: Arc::new(function), arguments }, data_type })
    }
}

/// Why an expression cannot be planned.
fn refused(expr: &DfExpr) -> SqlError {
    match expr {
        DfExpr::Exists(_) => correlated("EXISTS"),
        DfExpr::InSubquery(_) | DfExpr::SetComparison(_) => correlated("IN, ANY or ALL"),
        DfExpr::OuterReferenceColumn(_, column) => SqlError::unsupported(format!(
            "the use of the outer column \"{}\" in this subquery is not supported",
            column.name
        ))
        .with_hint("rewrite the subquery as a join"),
        DfExpr::WindowFunction(_) => {
            SqlError::unsupported("window functions (OVER) are not supported")
        }
        DfExpr::TryCast(_) => SqlError::unsupported("TRY_CAST is not supported")
            .with_hint("use CAST, which ends the statement when a value does not convert"),
        DfExpr::SimilarTo(_) => SqlError::unsupported("SIMILAR TO is not supported")
            .with_hint("use LIKE or a regular expression (~)"),
        other => SqlError::unsupported(format!("the expression {other} is not supported")),
    }
}

fn correlated(what: &str) -> SqlError {
    SqlError::unsupported(format!(
        "a correlated {what} subquery in this place or of this form is not supported"
    ))
    .with_hint("move it into WHERE, or rewrite it as a join")
}

/// Functions that execution has itself.
fn known_function(name: &str, arguments: &[Expr], data_type: DataType) -> Option<ExprKind> {
    let text = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => Some(text.to_lowercase()),
        _ => None,
    };
    let integer = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(Value::Integer(it)) => Some(*it),
        _ => None,
    };
    match (name, arguments) {
        ("date_part", [field, operand]) => {
            let dated = matches!(operand.data_type, DataType::Date | DataType::Timestamp);
            let field = match text(field)?.as_str() {
                "year" => DateField::Year,
                "quarter" => DateField::Quarter,
                "month" => DateField::Month,
                "day" => DateField::Day,
                _ => return None,
            };
            dated.then(|| ExprKind::Extract { field, operand: Box::new(operand.clone()) })
        }
        ("substr", [operand, start]) => Some(ExprKind::Substring {
            operand: Box::new(strip_text_cast(operand.clone())),
            start: integer(start)?,
            length: None,
        }),
        ("substr", [operand, start, length]) => {
            let length = integer(length)?;
            (length >= 0).then_some(())?;
            Some(ExprKind::Substring {
                operand: Box::new(strip_text_cast(operand.clone())),
                start: integer(start)?,
                length: Some(length),
            })
        }
        ("coalesce" | "nvl", [rest @ .., last]) if !rest.is_empty() => {
            let branches = rest
                .iter()
                .map(|it| {
                    let present = unary(UnaryOperator::IsNotNull, it.clone());
                    (present, cast(it.clone(), data_type))
                })
                .collect();
            let otherwise = Some(Box::new(cast(last.clone(), data_type)));
            Some(ExprKind::Case { branches, otherwise })
        }
        ("nullif", [left, right]) => {
            let same = compare(BinaryOperator::Equal, left.clone(), right.clone());
            Some(ExprKind::Case {
                branches: vec![(same, null(data_type))],
                otherwise: Some(Box::new(cast(left.clone(), data_type))),
            })
        }
        _ => None,
    }
}

/// A parameter, of the type that it was declared with or that its surroundings gave it.
fn parameter(it: &Placeholder) -> SqlResult<Expr> {
    let number = ::binder::parameters::number(&it.id)?;
    let Some(field) = &it.field else {
        let message = format!("the type of parameter {} cannot be told", it.id);
        return Err(SqlError::new(SqlState("42P18"), message).with_hint(
            "declare it, as in PREPARE p (INTEGER) AS .., or write CAST($1 AS INTEGER)",
        ));
    };
    let data_type = from_arrow(field.data_type())?;
    Ok(Expr { kind: ExprKind::Parameter(number), data_type })
}

/// A constant.
pub fn literal(scalar: &ScalarValue) -> SqlResult<Expr> {
    Ok(Expr::literal(value(scalar)?, from_arrow(&scalar.data_type())?))
}
