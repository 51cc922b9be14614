//! Expressions: names, and each form of expression to the file that binds it.

use plan::build::{negated, unary};
use plan::relation::split_conjunction;
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast::{self, Ident};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, plain};
use super::errors::{Name, ambiguous, at, no_column, suggested, unsupported};
use super::failing::Failing;
use super::literal::truth;
use super::scope::Meaning;
use crate::syntax::ident;

/// The operators that a plan has as such.
pub(super) fn operator(it: &ast::BinaryOperator) -> Option<BinaryOperator> {
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
    /// Binds an operand, which is of a plain type.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr) -> SqlResult<Expr> {
        self.declared(expr).map(plain)
    }

    /// Binds an expression whose value is kept or shown, with the type that it was declared with.
    pub(super) fn declared(&mut self, expr: &'a ast::Expr) -> SqlResult<Expr> {
        self.bound(expr, false)
    }

    /// Binds a condition of which only TRUE matters.
    pub(super) fn condition(&mut self, expr: &'a ast::Expr) -> SqlResult<Expr> {
        let bound = plain(self.bound(expr, true)?);
        self.boolean(bound, expr)
    }

    /// An operand that must be a truth value.
    pub(super) fn boolean(&mut self, bound: Expr, expr: &'a ast::Expr) -> SqlResult<Expr> {
        if bound.data_type == DataType::Boolean {
            return Ok(bound);
        }
        if bound.data_type == DataType::Null {
            return self.coerce(bound, DataType::Boolean, expr);
        }
        let message = format!(
            "argument of {} must be type boolean, not type {}",
            self.level().clause.name(),
            super::coercion::name_of(bound.data_type)
        );
        Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), expr))
    }

    /// Keeps the rows of the level for which a condition is TRUE. What needs no subquery comes first.
    pub(super) fn filter(&mut self, condition: &'a ast::Expr) -> SqlResult<()> {
        let mut conjuncts = Vec::new();
        split(condition, &mut conjuncts);
        let (with, without): (Vec<_>, Vec<_>) =
            conjuncts.into_iter().partition(|it| super::special::has_subquery(it));
        for conjuncts in [without, with] {
            let mut predicates = Vec::new();
            for conjunct in conjuncts {
                split_conjunction(self.condition(conjunct)?, &mut predicates);
            }
            if predicates.iter().any(|it| is_never(it, true)) {
                predicates = vec![truth(Value::Boolean(false))];
            }
            let level = self.level();
            level.input = level.input.take().filtered(predicates);
        }
        Ok(())
    }

    /// Binds an expression. `null_as_false`: whether NULL and FALSE come to the same for who uses it.
    fn bound(&mut self, expr: &'a ast::Expr, null_as_false: bool) -> SqlResult<Expr> {
        let bound = self.form(expr, null_as_false)?;
        Ok(self.as_key(bound))
    }

    fn form(&mut self, expr: &'a ast::Expr, null_as_false: bool) -> SqlResult<Expr> {
        use ast::Expr as Ast;
        self.count(1)?;
        match expr {
            Ast::Nested(it) => self.bound(it, null_as_false),
            Ast::Identifier(name) => self.column(name),
            Ast::CompoundIdentifier(parts) => self.qualified(parts),
            Ast::Value(it) => self.literal(&it.value, expr),
            Ast::TypedString(it) => self.typed_string(it, expr),
            Ast::UnaryOp { op, expr: operand } => self.unary_operator(*op, operand, expr),
            Ast::BinaryOp { left, op, right } => {
                self.binary_operator(left, op, right, expr, null_as_false)
            }
            Ast::IsNull(it) => self.null_test(UnaryOperator::IsNull, it),
            Ast::IsNotNull(it) => self.null_test(UnaryOperator::IsNotNull, it),
            Ast::IsTrue(it) => self.truth_test(UnaryOperator::IsTrue, it),
            Ast::IsFalse(it) => self.truth_test(UnaryOperator::IsFalse, it),
            Ast::IsNotTrue(it) => self.truth_test(UnaryOperator::IsNotTrue, it),
            Ast::IsNotFalse(it) => self.truth_test(UnaryOperator::IsNotFalse, it),
            Ast::IsUnknown(it) => self.truth_test(UnaryOperator::IsNull, it),
            Ast::IsNotUnknown(it) => self.truth_test(UnaryOperator::IsNotNull, it),
            Ast::IsDistinctFrom(left, right) => self.distinct_from(left, right, expr, false),
            Ast::IsNotDistinctFrom(left, right) => self.distinct_from(left, right, expr, true),
            Ast::Between { expr: operand, negated, low, high } => {
                self.between(operand, *negated, low, high, expr)
            }
            Ast::InList { expr: operand, list, negated } => {
                self.in_list(operand, list, *negated, expr)
            }
            Ast::InSubquery { expr, subquery, negated } => {
                self.in_subquery(expr, subquery, *negated, null_as_false)
            }
            Ast::AnyOp { left, compare_op, right, .. } => {
                self.quantified(left, compare_op, right, false, null_as_false)
            }
            Ast::AllOp { left, compare_op, right } => {
                self.quantified(left, compare_op, right, true, null_as_false)
            }
            Ast::Exists { subquery, negated } => self.exists(subquery, *negated),
            Ast::Subquery(query) => self.scalar_subquery(query),
            Ast::Like { .. } | Ast::ILike { .. } => self.like(expr),
            Ast::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), expr)
            }
            Ast::Cast { kind, expr: operand, data_type, array: false, format: None } => {
                let failing = match kind {
                    ast::CastKind::Cast | ast::CastKind::DoubleColon => Failing::Raises,
                    ast::CastKind::TryCast | ast::CastKind::SafeCast => Failing::IsNull,
                };
                self.cast(failing, operand, data_type, expr)
            }
            Ast::Extract { field, expr: operand, .. } => self.extract(field, operand, expr),
            Ast::Function(call) => self.call(call, expr),
            Ast::Tuple(parts) if parts.is_empty() => {
                Err(at(SqlError::new(SqlState::SYNTAX, "syntax error: () is no value"), expr))
            }
            Ast::Tuple(parts) => self.row_of_values(parts.iter().collect(), expr),
            Ast::Map(it) => self.map_literal(&it.entries, expr),
            Ast::Dictionary(fields) => self.struct_literal(fields, expr),
            Ast::Interval(it) => self.interval(it),
            other => self.special(other),
        }
    }

    /// A bare name.
    pub(super) fn column(&mut self, name: &'a Ident) -> SqlResult<Expr> {
        for level in (0..self.levels.len()).rev() {
            match self.levels[level].frame.find(name) {
                Meaning::Column(attr) => {
                    self.note_bare(name, level, attr);
                    return self.named_column(attr).map_err(|it| at(it, &Name(name)));
                }
                Meaning::Several => return Err(ambiguous(name)),
                Meaning::Nothing => {}
            }
        }
        if let Some(named) = self.of_select_list(name) {
            return named;
        }
        if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("default") {
            let message = "DEFAULT is not allowed in this context";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), &Name(name)));
        }
        if self.is_relation(name) {
            return self.row_of_relation(name).map_err(|it| at(it, &Name(name)));
        }
        let error = no_column(&ident(name), name);
        let mut names: Vec<&str> = Vec::new();
        self.levels.iter().for_each(|it| names.extend(it.frame.names().1));
        Err(suggested(error, &name.value, names.into_iter()))
    }

    /// `relation.name` or `schema.relation.name`, or a field of a column.
    fn qualified(&mut self, parts: &'a [Ident]) -> SqlResult<Expr> {
        let found = match parts {
            [relation, name] => self.column_of(None, relation, name),
            [schema, relation, name] => self.column_of(Some(schema), relation, name),
            [database, schema, relation, name] if self.is_own_database(database) => {
                self.note_database(database);
                self.column_of(Some(schema), relation, name)
            }
            _ => {
                let message = "improper qualified name (too many dotted names)";
                Err(SqlError::new(SqlState::SYNTAX, message))
            }
        };
        match found {
            Err(error) if error.state != SqlState::AMBIGUOUS_COLUMN => {
                self.fields_of_column(parts).unwrap_or(Err(error))
            }
            found => found,
        }
    }

    /// `relation.name` or `schema.relation.name`.
    pub(super) fn column_of(
        &mut self,
        schema: Option<&'a Ident>,
        relation: &'a Ident,
        name: &'a Ident,
    ) -> SqlResult<Expr> {
        for level in self.levels.iter().rev() {
            match level.frame.find_in(schema, relation, name) {
                Ok(Meaning::Column(attr)) => {
                    return self.named_column(attr).map_err(|it| at(it, &Name(name)));
                }
                Ok(Meaning::Several) if level.frame.called(schema, relation) > 1 => {
                    let message = format!("table reference \"{}\" is ambiguous", ident(relation));
                    return Err(at(SqlError::new(SqlState("42P09"), message), &Name(relation)));
                }
                Ok(Meaning::Several) => return Err(ambiguous(name)),
                Ok(Meaning::Nothing) => {
                    let error = no_column(&format!("{}.{}", ident(relation), ident(name)), name);
                    let found = level.frame.relation(schema, relation);
                    let names = found.into_iter().flat_map(|it| it.columns.iter().map(|it| it.0));
                    return Err(suggested(error, &name.value, names));
                }
                Err(()) => {}
            }
        }
        let message = format!("missing FROM-clause entry for table \"{}\"", ident(relation));
        let error = at(SqlError::new(SqlState::UNDEFINED_TABLE, message), &Name(relation));
        let mut names: Vec<&str> = Vec::new();
        self.levels.iter().for_each(|it| names.extend(it.frame.names().0));
        Err(suggested(error, &relation.value, names.into_iter()))
    }

    fn unary_operator(
        &mut self,
        operator: ast::UnaryOperator,
        operand: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match operator {
            ast::UnaryOperator::Not => {
                let bound = self.expr(operand)?;
                Ok(negated(self.boolean(bound, operand)?))
            }
            ast::UnaryOperator::Minus => self.minus(operand, whole),
            ast::UnaryOperator::Plus => self.plus(operand),
            ast::UnaryOperator::PGSquareRoot => {
                self.prefix(Function::Sqrt, operator, operand, whole)
            }
            ast::UnaryOperator::PGCubeRoot => self.prefix(Function::Cbrt, operator, operand, whole),
            ast::UnaryOperator::BitwiseNot => {
                self.prefix(Function::BitwiseNot, operator, operand, whole)
            }
            ast::UnaryOperator::PGAbs => self.prefix(Function::Abs, operator, operand, whole),
            other => Err(unsupported(&format!("the operator {other}"), whole)),
        }
    }

    /// An operator before a number that is a function.
    fn prefix(
        &mut self,
        function: Function,
        operator: ast::UnaryOperator,
        operand: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let bound = self.expr(operand)?;
        if function == Function::BitwiseNot && matches!(bound.data_type, DataType::Network(_)) {
            return self.invoke(Function::InetNot, vec![bound], whole);
        }
        let is_bits =
            function == Function::BitwiseNot && matches!(bound.data_type, DataType::Bits(_));
        if !bound.data_type.is_numeric() && bound.data_type != DataType::Null && !is_bits {
            let sign = operator.to_string();
            let of = bound.data_type;
            return Err(super::comparison::no_operator(&sign, DataType::Null, of, whole));
        }
        let operand = match function {
            // PostgreSQL has these signs of floats alone.
            Function::Sqrt | Function::Cbrt => fold_cast(bound, DataType::Double),
            _ => bound,
        };
        self.invoke(function, vec![operand], whole)
    }

    fn binary_operator(
        &mut self,
        left: &'a ast::Expr,
        sign: &'a ast::BinaryOperator,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
        null_as_false: bool,
    ) -> SqlResult<Expr> {
        use BinaryOperator::{And, Or};
        let Some(operator) = operator(sign) else {
            return self.special_operator(left, sign, right, whole);
        };
        if matches!(operator, And | Or) {
            return self.connective(operator, whole, null_as_false);
        }
        if !operator.is_comparison() {
            return self.arithmetic(operator, left, right, whole);
        }
        for side in [left, right] {
            if matches!(side, ast::Expr::BinaryOp { op, .. } if super::expression::operator(op).is_some_and(BinaryOperator::is_comparison))
            {
                let message = format!("syntax error: {sign} follows another comparison");
                let error = SqlError::new(SqlState::SYNTAX, message);
                return Err(at(error.with_hint("put one of them into parentheses"), whole));
            }
        }
        self.comparison(operator, left, right, whole)
    }

    /// A chain of ANDs, or of ORs, from its first operand to its last.
    fn connective(
        &mut self,
        wanted: BinaryOperator,
        whole: &'a ast::Expr,
        null_as_false: bool,
    ) -> SqlResult<Expr> {
        let mut operands = Vec::new();
        let mut first = whole;
        while let ast::Expr::BinaryOp { left, op, right } = first
            && operator(op) == Some(wanted)
        {
            operands.push(&**right);
            first = left;
        }
        operands.push(first);
        let mut bound = Vec::with_capacity(operands.len());
        for operand in operands.into_iter().rev() {
            let it = plain(self.bound(operand, null_as_false)?);
            bound.push(self.boolean_operand(it, wanted, operand)?);
        }
        // One constant may decide, wherever it stands; then the others are not computed.
        let deciding = Value::Boolean(wanted == BinaryOperator::Or);
        if bound.iter().any(|it| super::constant(it) == Some(&deciding)) {
            self.leave_out(bound);
            return Ok(truth(deciding));
        }
        let combined = bound.into_iter().reduce(|left, right| match wanted {
            BinaryOperator::Or => plan::build::either(left, right),
            _ => Expr::predicate(wanted, left, right),
        });
        combined.ok_or_else(|| SqlError::internal("a connective without operands"))
    }

    fn boolean_operand(
        &mut self,
        bound: Expr,
        operator: BinaryOperator,
        expr: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match bound.data_type {
            DataType::Boolean => Ok(bound),
            DataType::Null => self.coerce(bound, DataType::Boolean, expr),
            other => {
                let message = format!(
                    "argument of {} must be type boolean, not type {}",
                    operator.sql(),
                    super::coercion::name_of(other)
                );
                Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), expr))
            }
        }
    }

    fn null_test(&mut self, test: UnaryOperator, operand: &'a ast::Expr) -> SqlResult<Expr> {
        if let Some(parts) = super::comparison::row_of(operand) {
            // A row is NULL when all of it is, and NOT NULL when none is.
            let tests = parts.into_iter().map(|it| self.null_test(test, it));
            let tests = tests.collect::<SqlResult<Vec<_>>>()?;
            let all = plan::relation::combine(BinaryOperator::And, tests);
            return all.ok_or_else(|| SqlError::new(SqlState::SYNTAX, "an empty row"));
        }
        let is_whole = matches!(operand, ast::Expr::Identifier(it) if self.is_relation(it));
        let bound = self.expr(operand)?;
        match bound.data_type {
            DataType::Null => Ok(unary(test, self.coerce(bound, DataType::Text, operand)?)),
            DataType::Struct(it) if it.is_row() || !it.name().is_empty() || is_whole => {
                self.row_test(test, &bound)
            }
            _ => Ok(unary(test, bound)),
        }
    }

    fn truth_test(&mut self, test: UnaryOperator, operand: &'a ast::Expr) -> SqlResult<Expr> {
        let bound = self.expr(operand)?;
        match bound.data_type {
            DataType::Boolean => Ok(unary(test, bound)),
            DataType::Null => {
                let bound = self.coerce(bound, DataType::Boolean, operand)?;
                Ok(unary(test, bound))
            }
            other => {
                let message = format!(
                    "argument of IS TRUE and the like must be type boolean, not type {}",
                    super::coercion::name_of(other)
                );
                Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), operand))
            }
        }
    }

    /// CASE.
    fn case(
        &mut self,
        operand: Option<&'a ast::Expr>,
        conditions: &'a [ast::CaseWhen],
        otherwise: Option<&'a ast::Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let before = self.series_count();
        let tested = operand.map(|it| self.expr(it)).transpose()?;
        let mut tests = Vec::with_capacity(conditions.len());
        let mut results = Vec::with_capacity(conditions.len() + 1);
        for ast::CaseWhen { condition, result } in conditions {
            tests.push(match &tested {
                None => self.condition(condition)?,
                Some(tested) => {
                    let tested = self.copy(tested)?;
                    let value = self.expr(condition)?;
                    self.compare(BinaryOperator::Equal, tested, value, whole)?
                }
            });
            results.push(self.declared(result)?);
        }
        results.push(match otherwise {
            Some(it) => self.declared(it)?,
            None => Expr::literal(Value::Null, DataType::Null),
        });
        // ELSE is the first to say which type the results have.
        results.rotate_right(1);
        let data_type = self.unify(&mut results, "CASE").map_err(|it| at(it, whole))?;
        results.rotate_left(1);
        let otherwise = results.pop();
        let branches = tests.into_iter().zip(results).collect();
        self.no_series_since(before, "CASE", whole)?;
        let (branches, otherwise, closed) = super::closed_arms::open(branches, otherwise);
        self.leave_out(closed);
        let otherwise = otherwise.map(Box::new);
        Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type })
    }
}

/// The conjuncts of a condition, from left to right.
fn split<'e>(condition: &'e ast::Expr, into: &mut Vec<&'e ast::Expr>) {
    let mut reversed = Vec::new();
    let mut rest = vec![condition];
    while let Some(expr) = rest.pop() {
        match expr {
            ast::Expr::BinaryOp { left, op: ast::BinaryOperator::And, right } => {
                rest.push(left);
                rest.push(right);
            }
            ast::Expr::Nested(inner) => rest.push(inner),
            other => reversed.push(other),
        }
    }
    into.extend(reversed.into_iter().rev());
}

/// Whether constants alone keep a condition from ever being TRUE, or FALSE. PostgreSQL takes NULL for either in the ANDs,
/// ORs and NOTs of a condition, and computes nothing of one that a constant decides.
pub(super) fn is_never(expr: &Expr, wanted: bool) -> bool {
    use BinaryOperator::{And, Or};
    match &expr.kind {
        ExprKind::Literal(Value::Null) => true,
        ExprKind::Literal(value) => *value == Value::Boolean(!wanted),
        ExprKind::Unary { operator: UnaryOperator::Not, operand } => is_never(operand, !wanted),
        ExprKind::Binary { operator: operator @ (And | Or), left, right } => {
            // TRUE needs all operands of AND, FALSE all of OR.
            match (*operator == And) == wanted {
                true => is_never(left, wanted) || is_never(right, wanted),
                false => is_never(left, wanted) && is_never(right, wanted),
            }
        }
        _ => false,
    }
}
