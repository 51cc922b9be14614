//! Expressions: names, operators, and the functions that execution has itself.

use datafusion_sql::sqlparser::ast::{self, Ident};
use plan::{
    Aggregate, AggregateFunction, BinaryOperator, DateField, Expr, ExprKind, UnaryOperator,
};
use types::{DataType, Value};

use super::numbers::{self, is_exact};
use super::scope::{Meaning, Scope, is_named};
use super::{Binder, constants};
use crate::frontend::average::mean_of;
use plan::build::{
    boolean, cast, compare, either, in_list, negated, strip_exact_cast, strip_integer_cast, unary,
};
use plan::relation::bare;

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_))
}

fn operator(it: &ast::BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator::*;
    use ast::BinaryOperator as Ast;
    Some(match it {
        Ast::Plus => Add,
        Ast::Minus => Subtract,
        Ast::Multiply => Multiply,
        Ast::Divide => Divide,
        Ast::Modulo => Modulo,
        Ast::Eq => Equal,
        Ast::NotEq => NotEqual,
        Ast::Lt => Less,
        Ast::LtEq => LessEqual,
        Ast::Gt => Greater,
        Ast::GtEq => GreaterEqual,
        Ast::And => And,
        Ast::Or => Or,
        _ => return None,
    })
}

impl<'a> Binder<'a> {
    /// Binds an expression.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr, scope: &Scope<'_>) -> Option<Expr> {
        use ast::Expr as Ast;
        match expr {
            Ast::Nested(it) => self.expr(it, scope),
            Ast::Identifier(name) => self.column(None, name, scope),
            Ast::CompoundIdentifier(parts) => match &parts[..] {
                [relation, name] => self.column(Some(relation), name, scope),
                _ => None,
            },
            Ast::Value(it) => constants::literal(&it.value),
            Ast::TypedString(it) => constants::typed(it),
            Ast::UnaryOp { op: ast::UnaryOperator::Minus, expr } => constants::negative(expr),
            Ast::UnaryOp { op: ast::UnaryOperator::Not, expr } => {
                inverse(self.predicate(expr, scope)?)
            }
            Ast::BinaryOp { left, op, right } => self.binary(left, operator(op)?, right, scope),
            Ast::Between { expr, negated, low, high } => {
                let operand = self.expr(expr, scope)?;
                let (low, high) = (self.expr(low, scope)?, self.expr(high, scope)?);
                between(operand, *negated, low, high)
            }
            Ast::InList { expr, list, negated } => self.in_list(expr, list, *negated, scope),
            Ast::Like { negated, any: false, expr, pattern, escape_char: None } => {
                let operand = self.expr(expr, scope)?;
                let pattern = self.expr(pattern, scope)?;
                like(operand, constants::text(&pattern)?, *negated)
            }
            Ast::IsNull(it) => self.null_test(UnaryOperator::IsNull, it, scope),
            Ast::IsNotNull(it) => self.null_test(UnaryOperator::IsNotNull, it, scope),
            Ast::Case { operand: None, conditions, else_result, .. } => {
                self.case(conditions, else_result.as_deref(), scope)
            }
            Ast::Extract { field, expr, .. } => {
                let operand = self.expr(expr, scope)?;
                extract(field, operand)
            }
            Ast::Substring { expr, substring_from: Some(start), substring_for, .. } => {
                let operand = self.expr(expr, scope)?;
                let start = self.expr(start, scope)?;
                let length = match substring_for {
                    Some(it) => Some(self.expr(it, scope)?),
                    None => None,
                };
                substring(operand, &start, length.as_ref())
            }
            Ast::Function(call) => self.aggregate(call, scope),
            Ast::Subquery(query) => self.scalar(query, scope),
            _ => None,
        }
    }

    /// A column of this SELECT, else of the one around it.
    fn column(
        &mut self,
        relation: Option<&Ident>,
        name: &Ident,
        scope: &Scope<'_>,
    ) -> Option<Expr> {
        if relation.is_none() && self.level.doubtful.iter().any(|it| is_named(name, it)) {
            return None;
        }
        let attr = match scope.find(relation, name) {
            Meaning::Column(attr) => attr,
            Meaning::Several => return None,
            Meaning::Nothing => match scope.outer?.find(relation, name) {
                Meaning::Column(attr) => {
                    self.level.outer_uses += 1;
                    attr
                }
                _ => return None,
            },
        };
        Some(self.column_expr(attr))
    }

    fn binary(
        &mut self,
        left: &'a ast::Expr,
        operator: BinaryOperator,
        right: &'a ast::Expr,
        scope: &Scope<'_>,
    ) -> Option<Expr> {
        use BinaryOperator::{Add, And, Or, Subtract};
        match (operator, left, right) {
            (And | Or, ..) => {
                let (left, right) = (self.predicate(left, scope)?, self.predicate(right, scope)?);
                if left == right {
                    return None;
                }
                Some(match operator {
                    Or => either(left, right),
                    _ => Expr::predicate(And, left, right),
                })
            }
            (Add | Subtract, _, ast::Expr::Interval(interval)) => {
                let date = self.expr(left, scope)?;
                let (months, days) = constants::interval(interval)?;
                let sign = if operator == Add { 1 } else { -1 };
                let (months, days) = (months.checked_mul(sign)?, days.checked_mul(sign)?);
                if date.data_type != DataType::Date {
                    return None;
                }
                constants::later(date, months, days)
            }
            _ => {
                let (left, right) = (self.expr(left, scope)?, self.expr(right, scope)?);
                match operator.is_comparison() {
                    true => comparison(operator, left, right),
                    false => arithmetic(operator, left, right),
                }
            }
        }
    }

    fn in_list(
        &mut self,
        operand: &'a ast::Expr,
        list: &'a [ast::Expr],
        negated: bool,
        scope: &Scope<'_>,
    ) -> Option<Expr> {
        let operand = self.expr(operand, scope)?;
        if is_literal(&operand) || matches!(operand.kind, ExprKind::Extract { .. }) {
            return None;
        }
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            let (_, item) = comparable(operand.clone(), self.expr(item, scope)?)?;
            if !is_literal(&item) {
                return None;
            }
            items.push(item);
        }
        match items.len() {
            0 => None,
            1 if negated => comparison(BinaryOperator::NotEqual, operand, items.remove(0)),
            1 => comparison(BinaryOperator::Equal, operand, items.remove(0)),
            _ => Some(in_list(operand, items, negated)),
        }
    }

    /// IS NULL of a column that may be; of others the answer is known, or the library knows better.
    fn null_test(
        &mut self,
        operator: UnaryOperator,
        operand: &'a ast::Expr,
        scope: &Scope<'_>,
    ) -> Option<Expr> {
        let operand = self.expr(operand, scope)?;
        let attr = bare(&operand)?;
        scope.nullable(attr, &self.attributes).then(|| unary(operator, operand))
    }

    fn case(
        &mut self,
        conditions: &'a [ast::CaseWhen],
        otherwise: Option<&'a ast::Expr>,
        scope: &Scope<'_>,
    ) -> Option<Expr> {
        let mut branches = Vec::with_capacity(conditions.len());
        for ast::CaseWhen { condition, result } in conditions {
            branches.push((self.predicate(condition, scope)?, self.expr(result, scope)?));
        }
        let otherwise = match otherwise {
            Some(it) => Some(self.expr(it, scope)?),
            None => None,
        };
        let results = otherwise.iter().chain(branches.iter().map(|it| &it.1));
        let data_type = match numbers::common(results.map(|it| it.data_type))? {
            it if it.is_text() => DataType::Text,
            it if is_exact(it) || it == DataType::Date => it,
            _ => return None,
        };
        let branches = branches.into_iter().map(|it| (it.0, cast(it.1, data_type))).collect();
        let otherwise = otherwise.map(|it| Box::new(cast(it, data_type)));
        Some(Expr { kind: ExprKind::Case { branches, otherwise }, data_type })
    }

    /// A call of an aggregate function, where there may be one.
    fn aggregate(&mut self, call: &'a ast::Function, scope: &Scope<'_>) -> Option<Expr> {
        let ast::Function {
            name,
            uses_odbc_syntax: false,
            parameters: ast::FunctionArguments::None,
            args: ast::FunctionArguments::List(list),
            filter: None,
            null_treatment: None,
            over: None,
            within_group,
        } = call
        else {
            return None;
        };
        let [ast::ObjectNamePart::Identifier(name)] = &name.0[..] else { return None };
        let ([argument], [], []) = (&list.args[..], &list.clauses[..], &within_group[..]) else {
            return None;
        };
        let function = [
            ("count", AggregateFunction::Count),
            ("sum", AggregateFunction::Sum),
            ("avg", AggregateFunction::Average),
            ("min", AggregateFunction::Min),
            ("max", AggregateFunction::Max),
        ];
        let function = function.iter().find(|it| is_named(name, it.0))?.1;
        let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
        // An aggregate of an aggregate finds no place for itself.
        let mut calls = self.level.calls.take()?;
        let aggregate = match argument {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)
                if function == AggregateFunction::Count && !distinct =>
            {
                let data_type = DataType::BigInt;
                Aggregate { function, argument: None, distinct, filter: None, data_type }
            }
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument)) => {
                let argument = self.expr(argument, scope)?;
                let nullable =
                    bare(&argument).is_none_or(|it| scope.nullable(it, &self.attributes));
                call_of(function, argument, distinct, nullable)?
            }
            _ => return None,
        };
        let data_type = aggregate.data_type;
        let attr = match calls.iter().find(|it| it.1 == aggregate) {
            Some((attr, _)) => *attr,
            None => {
                let nullable = aggregate.function != AggregateFunction::Count;
                let attr = self.attribute(data_type, nullable);
                calls.push((attr, aggregate));
                attr
            }
        };
        self.level.calls = Some(calls);
        Some(Expr::column(attr, data_type))
    }
}

/// An aggregate of a value, with the type of its result.
fn call_of(
    function: AggregateFunction,
    argument: Expr,
    distinct: bool,
    nullable: bool,
) -> Option<Aggregate> {
    let own = argument.data_type;
    if is_literal(&argument) {
        return None;
    }
    let offset = |it: &Expr| match &it.kind {
        ExprKind::Binary { operator, left, right } => {
            use BinaryOperator::{Add, Subtract};
            matches!(operator, Add | Subtract) && (is_literal(left) || is_literal(right))
        }
        _ => false,
    };
    let (data_type, argument) = match function {
        AggregateFunction::Count => (DataType::BigInt, (nullable || distinct).then_some(argument)),
        // The library makes a sum and a count of it.
        AggregateFunction::Sum if offset(&argument) => return None,
        AggregateFunction::Sum => {
            let data_type = match own {
                DataType::Decimal { precision, scale } => {
                    DataType::Decimal { precision: (precision + 10).min(38), scale }
                }
                it if it.is_integer() => DataType::BigInt,
                _ => return None,
            };
            (data_type, Some(strip_integer_cast(argument)))
        }
        AggregateFunction::Average => match own {
            DataType::Decimal { precision, scale } => (mean_of(precision, scale), Some(argument)),
            it if it.is_integer() => (DataType::Double, Some(cast(argument, DataType::Double))),
            _ => return None,
        },
        AggregateFunction::Min | AggregateFunction::Max => {
            if !(is_exact(own) || own.is_text() || own == DataType::Date) {
                return None;
            }
            (own, Some(argument))
        }
        AggregateFunction::AnyValue => return None,
    };
    let extreme = matches!(function, AggregateFunction::Min | AggregateFunction::Max);
    Some(Aggregate { function, argument, distinct: distinct && !extreme, filter: None, data_type })
}

/// Two operands that can be compared as they are, a text having become a date beside a date.
fn comparable(left: Expr, right: Expr) -> Option<(Expr, Expr)> {
    let (a, b) = (left.data_type, right.data_type);
    if a == DataType::Date && b == DataType::Text {
        let right = constants::date(constants::text(&right)?)?;
        return Some((left, right));
    }
    if b == DataType::Date && a == DataType::Text {
        let left = constants::date(constants::text(&left)?)?;
        return Some((left, right));
    }
    let same = a == b || (a.is_text() && b.is_text()) || (is_exact(a) && is_exact(b));
    same.then_some((left, right))
}

fn comparison(operator: BinaryOperator, left: Expr, right: Expr) -> Option<Expr> {
    let (left, right) = comparable(left, right)?;
    // Of a part of a date the library makes a range of dates.
    let part = |it: &Expr| matches!(it.kind, ExprKind::Extract { .. });
    let folds = is_literal(&left) && is_literal(&right);
    let ranges = (is_literal(&left) && part(&right)) || (is_literal(&right) && part(&left));
    (!folds && !ranges && left != right).then(|| compare(operator, left, right))
}

fn between(operand: Expr, negated: bool, low: Expr, high: Expr) -> Option<Expr> {
    use BinaryOperator::{And, Greater, GreaterEqual, Less, LessEqual};
    if negated {
        let below = comparison(Less, operand.clone(), low)?;
        return Some(either(below, comparison(Greater, operand, high)?));
    }
    let above = comparison(GreaterEqual, operand.clone(), low)?;
    Some(Expr::predicate(And, above, comparison(LessEqual, operand, high)?))
}

fn arithmetic(operator: BinaryOperator, left: Expr, right: Expr) -> Option<Expr> {
    use BinaryOperator::{Add, Multiply, Subtract};
    let signature = numbers::signature(operator, left.data_type, right.data_type)?;
    if is_literal(&left) && is_literal(&right) {
        return numbers::fold(operator, &left, &right);
    }
    // Nothing is added to, or multiplied by one: the library leaves it out.
    let trivial = |it: &Expr| match &it.kind {
        ExprKind::Literal(Value::Integer(it)) => matches!(it, 0 | 1),
        ExprKind::Literal(Value::Decimal { unscaled, scale }) => {
            *unscaled == 0 || *unscaled == 10i128.pow(u32::from(*scale))
        }
        _ => false,
    };
    let zero = |it: &Expr| matches!(&it.kind, ExprKind::Literal(it) if it.as_i128() == Some(0));
    let folds = match operator {
        Add | Subtract => zero(&left) || zero(&right),
        _ => trivial(&left) || trivial(&right),
    };
    if folds {
        return None;
    }
    let (left, right) = (cast(left, signature.left), cast(right, signature.right));
    let (left, right) = match operator {
        Add | Subtract => (strip_exact_cast(left), strip_exact_cast(right)),
        Multiply => (strip_integer_cast(left), strip_integer_cast(right)),
        _ => (left, right),
    };
    let kind = ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) };
    Some(Expr { kind, data_type: signature.result })
}

/// NOT, where it can be said otherwise.
fn inverse(mut expr: Expr) -> Option<Expr> {
    use BinaryOperator::*;
    match &mut expr.kind {
        ExprKind::InList { .. } | ExprKind::Like { .. } => Some(negated(expr)),
        ExprKind::Binary { operator, .. } => {
            *operator = match *operator {
                Equal => NotEqual,
                NotEqual => Equal,
                Less => GreaterEqual,
                LessEqual => Greater,
                Greater => LessEqual,
                GreaterEqual => Less,
                _ => return None,
            };
            Some(expr)
        }
        _ => None,
    }
}

fn like(operand: Expr, pattern: &str, negated: bool) -> Option<Expr> {
    if !operand.data_type.is_text() || is_literal(&operand) {
        return None;
    }
    Some(boolean(ExprKind::Like {
        operand: Box::new(operand),
        pattern: pattern.to_owned(),
        escape: Some('\\'),
        case_insensitive: false,
        negated,
    }))
}

fn extract(field: &ast::DateTimeField, operand: Expr) -> Option<Expr> {
    let field = match field {
        ast::DateTimeField::Year => DateField::Year,
        ast::DateTimeField::Quarter => DateField::Quarter,
        ast::DateTimeField::Month => DateField::Month,
        ast::DateTimeField::Day => DateField::Day,
        _ => return None,
    };
    if operand.data_type != DataType::Date || is_literal(&operand) {
        return None;
    }
    let kind = ExprKind::Extract { field, operand: Box::new(operand) };
    Some(Expr { kind, data_type: DataType::Integer })
}

fn substring(operand: Expr, start: &Expr, length: Option<&Expr>) -> Option<Expr> {
    let integer = |it: &Expr| match &it.kind {
        ExprKind::Literal(Value::Integer(it)) => Some(*it),
        _ => None,
    };
    let length = match length {
        Some(it) => Some(integer(it).filter(|it| *it >= 0)?),
        None => None,
    };
    if !operand.data_type.is_text() || is_literal(&operand) {
        return None;
    }
    let kind = ExprKind::Substring { operand: Box::new(operand), start: integer(start)?, length };
    Some(Expr { kind, data_type: DataType::Text })
}
