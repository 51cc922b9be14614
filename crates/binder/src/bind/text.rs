//! Texts: LIKE, regular expressions, concatenation.

use plan::build::{boolean, negated, null};
use plan::{Expr, ExprKind, Function};
use sqlparser::ast;
use types::{Bits, DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, with_blanks};
use super::comparison::no_operator;
use super::constant;
use super::errors::{at, unsupported};
use super::quantified_test::Test;

impl<'a> Binder<'a> {
    /// LIKE and ILIKE.
    pub(super) fn like(&mut self, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let (negate, any, operand, pattern, escape, case_insensitive) = match whole {
            ast::Expr::Like { negated, any, expr, pattern, escape_char } => {
                (*negated, *any, expr, pattern, escape_char, false)
            }
            ast::Expr::ILike { negated, any, expr, pattern, escape_char } => {
                (*negated, *any, expr, pattern, escape_char, true)
            }
            other => return Err(unsupported("this pattern", other)),
        };
        if any {
            return Err(unsupported("LIKE ANY of anything but an array or a query", whole));
        }
        let escape = match escape {
            // A backslash escapes unless ESCAPE says otherwise.
            None => Some('\\'),
            Some(it) => escape_of(&it.value, whole)?,
        };
        self.matched(operand, pattern, escape, case_insensitive, negate, whole)
    }

    fn matched(
        &mut self,
        operand: &'a ast::Expr,
        pattern: &'a ast::Expr,
        escape: Option<char>,
        case_insensitive: bool,
        negate: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let sign = if case_insensitive { "~~*" } else { "~~" };
        let (operand, pattern) = (self.expr(operand)?, self.expr(pattern)?);
        let texts = self.texts(operand, pattern, sign, whole)?;
        self.like_pattern(texts, escape, case_insensitive, negate, whole)
    }

    /// Whether a text matches a pattern, both of which are bound.
    fn like_pattern(
        &mut self,
        (operand, pattern): (Expr, Expr),
        escape: Option<char>,
        case_insensitive: bool,
        negate: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match constant(&pattern) {
            Some(Value::Null) => {
                self.leave_out([operand]);
                Ok(null(DataType::Boolean))
            }
            Some(Value::Text(text)) => {
                let operand = match ignores_blanks(text, escape) {
                    true => operand,
                    false => with_blanks(operand),
                };
                let (operand, pattern) = (Box::new(operand), text.to_string());
                let negated = negate;
                Ok(boolean(ExprKind::Like { operand, pattern, escape, case_insensitive, negated }))
            }
            _ => {
                let escape: String = escape.into_iter().collect();
                let escape = Expr::literal(Value::Text(escape.as_str().into()), DataType::Text);
                let folded = boolean(ExprKind::Literal(Value::Boolean(case_insensitive)));
                let arguments = vec![operand, pattern, escape, folded];
                let found = self.invoke(Function::Like, arguments, whole)?;
                Ok(if negate { negated(found) } else { found })
            }
        }
    }

    /// A test of ANY or ALL, of two values that are bound.
    pub(super) fn tested(
        &mut self,
        test: Test,
        left: Expr,
        right: Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match test {
            Test::Compares(operator) => self.compare(operator, left, right, whole),
            Test::Like { folds, negate } => {
                let sign = if folds { "~~*" } else { "~~" };
                let texts = self.texts(left, right, sign, whole)?;
                self.like_pattern(texts, Some('\\'), folds, negate, whole)
            }
            Test::Regex { folds, negate } => {
                let flags = if folds { "i" } else { "" };
                self.regex_pattern(left, right, flags, negate, whole)
            }
        }
    }

    /// Two operands that must be texts.
    fn texts(
        &mut self,
        left: Expr,
        right: Expr,
        sign: &str,
        whole: &'a ast::Expr,
    ) -> SqlResult<(Expr, Expr)> {
        let (a, b) = (left.data_type, right.data_type);
        let is_text = |it: DataType| it.is_text() || it == DataType::Null;
        if !is_text(a) || !is_text(b) {
            return Err(no_operator(sign, a, b, whole));
        }
        let mut text = |it: Expr| match it.data_type {
            DataType::Null => self.coerce_unknown(it, DataType::Text),
            _ => Ok(it),
        };
        Ok((text(left)?, fold_cast(text(right)?, DataType::Text)))
    }

    /// Operators that are functions.
    pub(super) fn special_operator(
        &mut self,
        left: &'a ast::Expr,
        operator: &'a ast::BinaryOperator,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        use ast::BinaryOperator as Sign;
        if let Some(function) = super::json::function_of(operator) {
            return self.json_operator(function, (left, right), &operator.to_string(), whole);
        }
        match operator {
            Sign::StringConcat => self.concatenation(left, right, whole),
            Sign::PGRegexMatch => self.regex(left, right, "", false, whole),
            Sign::PGRegexIMatch => self.regex(left, right, "i", false, whole),
            Sign::PGRegexNotMatch => self.regex(left, right, "", true, whole),
            Sign::PGRegexNotIMatch => self.regex(left, right, "i", true, whole),
            Sign::PGLikeMatch => self.matched(left, right, Some('\\'), false, false, whole),
            Sign::PGILikeMatch => self.matched(left, right, Some('\\'), true, false, whole),
            Sign::PGNotLikeMatch => self.matched(left, right, Some('\\'), false, true, whole),
            Sign::PGNotILikeMatch => self.matched(left, right, Some('\\'), true, true, whole),
            Sign::AtArrow => self.array_sets(Function::ArrayContains, (left, right), "@>", whole),
            Sign::ArrowAt => self.array_sets(Function::ArrayContains, (left, right), "<@", whole),
            Sign::PGOverlap => self.array_sets(Function::ArrayOverlap, (left, right), "&&", whole),
            Sign::PGExp => {
                let arguments = vec![self.expr(left)?, self.expr(right)?];
                let (a, b) = (arguments[0].data_type, arguments[1].data_type);
                if a.is_text() || b.is_text() {
                    return Err(no_operator("^", a, b, whole));
                }
                self.invoke(Function::Power, arguments, whole)
            }
            Sign::BitwiseAnd => self.of_bits(Function::BitwiseAnd, left, right, whole),
            Sign::BitwiseOr => self.of_bits(Function::BitwiseOr, left, right, whole),
            Sign::PGBitwiseXor => self.of_bits(Function::BitwiseXor, left, right, whole),
            Sign::PGBitwiseShiftLeft => self.of_bits(Function::ShiftLeft, left, right, whole),
            Sign::PGBitwiseShiftRight => self.of_bits(Function::ShiftRight, left, right, whole),
            Sign::Overlaps => self.overlaps(left, right, whole),
            Sign::Custom(sign) if matches!(&**sign, "<<=" | ">>=" | "-|-") => {
                self.of_own_types(sign, left, right, whole)
            }
            Sign::AndLt => self.of_own_types("&<", left, right, whole),
            Sign::AndGt => self.of_own_types("&>", left, right, whole),
            Sign::PGStartsWith => {
                let arguments = vec![self.expr(left)?, self.expr(right)?];
                self.invoke(Function::StartsWith, arguments, whole)
            }
            Sign::PGCustomBinaryOperator(parts) if matches!(&parts[..], [schema, _] if schema == "pg_catalog") => {
                match parts[1].as_str() {
                    "~" => self.regex(left, right, "", false, whole),
                    "~*" => self.regex(left, right, "i", false, whole),
                    "!~" => self.regex(left, right, "", true, whole),
                    "!~*" => self.regex(left, right, "i", true, whole),
                    "~~" => self.matched(left, right, Some('\\'), false, false, whole),
                    "=" => self.comparison(plan::BinaryOperator::Equal, left, right, whole),
                    other => Err(unsupported(&format!("the operator {other}"), whole)),
                }
            }
            other => Err(unsupported(&format!("the operator {other}"), whole)),
        }
    }

    /// An operator that only addresses or ranges have.
    fn of_own_types(
        &mut self,
        sign: &str,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (left, right) = self.operands(left, right)?;
        let (a, b) = (left.data_type, right.data_type);
        let found = self.own_operator(sign, &left, &right, whole)?;
        found.ok_or_else(|| no_operator(sign, a, b, whole))
    }

    /// An operator on the bits of whole numbers; a constant of unknown type is of the other's.
    fn of_bits(
        &mut self,
        function: Function,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut both = [self.expr(left)?, self.expr(right)?];
        let sign = match function {
            Function::BitwiseAnd => "&",
            Function::BitwiseOr => "|",
            Function::ShiftLeft => "<<",
            Function::ShiftRight => ">>",
            _ => "#",
        };
        if let Some(found) = self.own_operator(sign, &both[0], &both[1], whole)? {
            return Ok(found);
        }
        let types = [both[1].data_type, both[0].data_type];
        for (side, other) in both.iter_mut().zip(types) {
            let is_shift = matches!(function, Function::ShiftLeft | Function::ShiftRight);
            let of_bits = matches!(other, DataType::Bits(_)) && !is_shift;
            if side.data_type == DataType::Null && (other.is_integer() || of_bits) {
                let to = super::coercion::roomy(other, side);
                *side = self.coerce_unknown(side.clone(), to)?;
            }
        }
        self.invoke(function, both.into(), whole)
    }

    /// `a || b || c ..`, which leans to the left: one call of two texts after the other.
    fn concatenation(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let are_empty = [left, right].map(is_empty_list);
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        let [left, right] = beside_empty_list([left, right], are_empty);
        let (a, b) = (left.data_type, right.data_type);
        if let Some(of_json) = self.jsonb_operator(&left, &right, "||", whole) {
            return of_json;
        }
        if let Some(arrays) = self.array_concatenation(&left, &right, whole) {
            return arrays;
        }
        if matches!((a, b), (DataType::Bytea, DataType::Bytea | DataType::Null))
            || (a, b) == (DataType::Null, DataType::Bytea)
        {
            return self.invoke(Function::ConcatOperator, vec![left, right], whole);
        }
        let is_bits = |it: DataType| matches!(it, DataType::Bits(_));
        let may_be = |it: DataType| is_bits(it) || it == DataType::Null;
        if (is_bits(a) || is_bits(b)) && may_be(a) && may_be(b) {
            let of = DataType::Bits(Bits::AnyVarying);
            let both = vec![self.converted(left, of)?, self.converted(right, of)?];
            return self.fold_call(Function::ConcatOperator, both, of);
        }
        let is_text = |it: DataType| it.is_text() || it == DataType::Null;
        if !is_text(a) && !is_text(b) {
            return Err(no_operator("||", a, b, whole));
        }
        let mut arguments = Vec::with_capacity(2);
        for side in [left, right] {
            arguments.push(match side.data_type {
                DataType::Null => self.coerce_unknown(side, DataType::Text)?,
                _ => fold_cast(side, DataType::Text),
            });
        }
        self.fold_call(Function::ConcatOperator, arguments, DataType::Text)
    }

    /// SIMILAR TO, by the regular expression that the pattern stands for.
    pub(super) fn similar(&mut self, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let ast::Expr::SimilarTo { negated: negate, expr, pattern, escape_char } = whole else {
            return Err(unsupported("this pattern", whole));
        };
        let escape = match escape_char {
            None => Some('\\'),
            Some(it) => escape_of(&it.value, whole)?,
        };
        let (expr, pattern) = (self.expr(expr)?, self.expr(pattern)?);
        let (operand, pattern) = self.texts(expr, pattern, "~", whole)?;
        if constant(&pattern).is_some_and(Value::is_null) {
            self.leave_out([operand]);
            return Ok(null(DataType::Boolean));
        }
        let escape: String = escape.into_iter().collect();
        let escape = Expr::literal(Value::Text(escape.as_str().into()), DataType::Text);
        let expression = self.invoke(Function::SimilarToEscape, vec![pattern, escape], whole)?;
        let found = self.invoke(Function::RegexLike, vec![operand, expression], whole)?;
        Ok(if *negate { negated(found) } else { found })
    }

    fn regex(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        flags: &str,
        negate: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        self.regex_pattern(left, right, flags, negate, whole)
    }

    fn regex_pattern(
        &mut self,
        left: Expr,
        right: Expr,
        flags: &str,
        negate: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (operand, pattern) = self.texts(left, right, "~", whole)?;
        let mut arguments = vec![operand, pattern];
        if !flags.is_empty() {
            arguments.push(Expr::literal(Value::Text(flags.into()), DataType::Text));
        }
        let found = self.invoke(Function::RegexLike, arguments, whole)?;
        Ok(if negate { negated(found) } else { found })
    }
}

/// Whether a text matches a pattern with blanks at its end as without: what ends in `%` takes them, if nothing before it can.
fn ignores_blanks(pattern: &str, escape: Option<char>) -> bool {
    pattern.ends_with('%')
        && !pattern.contains([' ', '_'])
        && escape.is_none_or(|it| !pattern.contains(it))
}

/// The character of ESCAPE; none of an empty text.
fn escape_of(value: &ast::Value, whole: &ast::Expr) -> SqlResult<Option<char>> {
    let Some(text) = super::literal::text_of(value) else {
        return Err(unsupported("ESCAPE with anything but a constant", whole));
    };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (first, None) => Ok(first),
        _ => {
            let message = "invalid escape string";
            let error = SqlError::new(SqlState("22025"), message);
            Err(at(error.with_hint("escape string must be empty or one character"), whole))
        }
    }
}

/// Whether an expression is `[]`, whose type what is beside it tells.
fn is_empty_list(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Array(it) if it.elem.is_empty() && !it.named)
}

/// Two operands of `||`, of which `[]` is an array of what the other is.
fn beside_empty_list(both: [Expr; 2], are_empty: [bool; 2]) -> [Expr; 2] {
    let of = |it: &Expr| match it.data_type {
        DataType::Null => DataType::Text.array(),
        it if it.element().is_some() => Some(it),
        it => it.array(),
    };
    let [left, right] = both;
    match are_empty {
        [true, false] => match of(&right) {
            Some(array) => [super::literal::empty_array(array), right],
            None => [left, right],
        },
        [false, true] => match of(&left) {
            Some(array) => [left, super::literal::empty_array(array)],
            None => [left, right],
        },
        _ => [left, right],
    }
}
