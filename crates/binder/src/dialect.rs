//! PostgreSQL's dialect with a short cut. Where an expression begins, the parser first tries a type name with a text
//! (`DATE '..'`) and words that begin special expressions, and takes each try back: a quarter of its time. A plain name
//! or number before an operator or a comma can be none of these, a plain name before a parenthesis is a call, and a date is read
//! at once.
//!
//! Everything else is PostgreSQL's but for what is said below, method by method; the parser takes this dialect for PostgreSQL's where it asks.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::ops::ControlFlow;

use sqlparser::ast::{
    self, BinaryOperator, ColumnOption, DataType, Expr, Ident, Interval, ObjectName, Query,
    TypedString, Value,
};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::precedence;
use crate::walk::{self, Looker};

/// How often an expression may be begun for each token of a text: the parser tries some words in two or three ways.
const TRIES_OF_TOKEN: usize = 16;

/// How often it may be begun in any text.
const TRIES_OF_TEXT: usize = 50_000;

/// How many expressions may be copied in any text. What is read here after an operand has a copy of it, so a chain of `COLLATE`, `IN`,
/// `ISNULL` or `BETWEEN` copies in each link all before it: one of a thousand links comes to half a million and more.
const COPIES_OF_TEXT: usize = 600_000;

/// What a query counts as, beside the expressions in it.
const COPIES_OF_QUERY: usize = 16;

/// The dialect of all SQL here, for one text.
///
/// What the parser cannot read as one thing it tries as another, from the same token. Tries within tries double with each level
/// of a nest that is wrong inside, and no timeout ends them. So they are counted: a text whose tokens are tried too often is
/// refused as one that is nested too deeply, which is the one error that ends all tries at once.
#[derive(Debug)]
pub(crate) struct Postgres {
    /// Tries that are left.
    left: Cell<usize>,
    /// Copies that are left.
    copies: Cell<usize>,
    /// See [`Self::with_joins_of`].
    nests_joins: bool,
}

impl Postgres {
    /// For a text of so many tokens, or of so many letters at least.
    pub(crate) fn of(size: usize) -> Self {
        let tries = TRIES_OF_TEXT.saturating_add(size.saturating_mul(TRIES_OF_TOKEN));
        Self { left: Cell::new(tries), copies: Cell::new(COPIES_OF_TEXT), nests_joins: false }
    }

    /// Has the condition of a join stand behind those of joins within its right side: `a JOIN b LEFT JOIN c ON .. ON ..`. The parser
    /// takes what follows NATURAL JOIN for such a join, too, which it is not: statements with that word have no such joins.
    pub(crate) fn with_joins_of(self, tokens: &[TokenWithSpan]) -> Self {
        let is_natural = |it: &TokenWithSpan| crate::steering::is_word(&it.token, "natural");
        Self { nests_joins: !tokens.iter().any(is_natural), ..self }
    }

    /// Counts a copy of an operand; whether so much may be copied.
    fn copy(&self, operand: &Expr) -> bool {
        let mut counted = Copies(self.copies.get());
        let is_too_much = walk::look(operand, &mut counted);
        self.copies.set(counted.0);
        !is_too_much
    }

    /// Counts a try; whether there was one left.
    fn try_once(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

/// Counts down what is copied.
struct Copies(usize);

impl Looker for Copies {
    fn pre_query(&mut self, _: &Query) {
        self.0 = self.0.saturating_sub(COPIES_OF_QUERY);
    }

    fn pre_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

macro_rules! of_postgres {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        $(fn $name(&self, $($argument: $type),*) -> $result {
            PostgreSqlDialect {}.$name($($argument),*)
        })+
    };
}

impl Dialect for Postgres {
    fn dialect(&self) -> TypeId {
        PostgreSqlDialect {}.type_id()
    }

    /// PostgreSQL's names of arguments are names. A parser that takes an expression for a possible name parses each
    /// argument twice, and so a chain of n calls in 2^n steps.
    fn supports_named_fn_args_with_expr_name(&self) -> bool {
        false
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        if !self.try_once() {
            return Some(Err(ParserError::RecursionLimitExceeded));
        }
        if let Some(query) = crate::parenthesised::operand(parser) {
            return Some(query);
        }
        if let Some(signed) = precedence::sign(parser) {
            return Some(signed);
        }
        if let Some(function) = crate::lambda::written(parser) {
            return Some(function);
        }
        if let Some(said) = begun_by_word(parser).or_else(|| grouping(parser)) {
            return Some(said);
        }
        let [first, second] = parser.peek_tokens_ref();
        if !ends_operand(&second.token) {
            return None;
        }
        match &first.token {
            Token::Word(word) if word.keyword == Keyword::NoKeyword => {
                let (value, quote_style, span) = (word.value.clone(), word.quote_style, first.span);
                parser.advance_token();
                Some(Ok(Expr::Identifier(Ident { value, quote_style, span })))
            }
            Token::Number(..) | Token::SingleQuotedString(_) => {
                Some(parser.parse_value().map(Expr::Value))
            }
            _ => None,
        }
    }

    /// Operators rank as in PostgreSQL, and queries behind two parentheses are seen.
    fn parse_infix(
        &self,
        parser: &mut Parser,
        left: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        let read = precedence::infix(parser, left, precedence)
            .or_else(|| crate::parenthesised::membership(parser, left))?;
        Some(if self.copy(left) { read } else { Err(ParserError::RecursionLimitExceeded) })
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        match precedence::next(parser) {
            Some(rank) => Some(Ok(rank)),
            None => PostgreSqlDialect {}.get_next_precedence(parser),
        }
    }

    /// Words that begin an operation are no names, as in PostgreSQL; else one that is nested too deeply would be tried as a
    /// name, and the error would be another one.
    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        matches!(keyword, Keyword::NOT | Keyword::CASE | Keyword::CAST | Keyword::ARRAY)
            || PostgreSqlDialect {}.is_reserved_for_identifier(keyword)
    }

    /// A query without FROM may stand before ON CONFLICT: ON is a name only behind AS.
    fn is_column_alias(&self, keyword: &Keyword, parser: &mut Parser) -> bool {
        *keyword != Keyword::ON && PostgreSqlDialect {}.is_column_alias(keyword, parser)
    }

    /// Identity columns, with the options of their sequences in any order.
    fn parse_column_option(
        &self,
        parser: &mut Parser,
    ) -> Result<Option<Result<Option<ColumnOption>, ParserError>>, ParserError> {
        crate::sequence_words::column_option(parser)
    }

    /// `f(a := 1)`, as PostgreSQL and DuckDB have it.
    fn supports_named_fn_args_with_assignment_operator(&self) -> bool {
        true
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        !self.nests_joins
    }

    /// GROUPING SETS and the like are read as expressions, so that they may stand in one another.
    fn supports_group_by_expr(&self) -> bool {
        false
    }

    /// `ORDER BY ALL`, as DuckDB has it.
    fn supports_order_by_all(&self) -> bool {
        true
    }

    /// `SELECT * EXCLUDE (a)`, as DuckDB has it.
    fn supports_select_wildcard_exclude(&self) -> bool {
        true
    }

    /// `SELECT * REPLACE (a + 1 AS a)`, as DuckDB has it.
    fn supports_select_wildcard_replace(&self) -> bool {
        true
    }

    /// `SELECT * RENAME (a AS b)`, as DuckDB has it.
    fn supports_select_wildcard_rename(&self) -> bool {
        true
    }

    /// `FROM t` and `FROM t SELECT a`, as DuckDB has them.
    fn supports_from_first_select(&self) -> bool {
        true
    }

    /// `{'a': 1}`, as DuckDB has it.
    fn supports_dictionary_syntax(&self) -> bool {
        true
    }

    /// `MAP {'a': 1}`, as DuckDB has it.
    fn support_map_literal_syntax(&self) -> bool {
        true
    }

    /// The types of structs, which DuckDB's are brought to.
    fn supports_struct_literal(&self) -> bool {
        true
    }

    of_postgres! {
        identifier_quote_style(identifier: &str) -> Option<char>;
        is_delimited_identifier_start(start: char) -> bool;
        is_identifier_start(start: char) -> bool;
        is_identifier_part(part: char) -> bool;
        is_custom_operator_part(part: char) -> bool;
        prec_value(precedence: Precedence) -> u8;
        supports_unicode_string_literal() -> bool;
        supports_filter_during_aggregation() -> bool;
        allow_extract_custom() -> bool;
        allow_extract_single_quotes() -> bool;
        supports_create_index_with_clause() -> bool;
        supports_explain_with_utility_options() -> bool;
        supports_listen_notify() -> bool;
        supports_factorial_operator() -> bool;
        supports_bitwise_shift_operators() -> bool;
        supports_comment_on() -> bool;
        supports_load_extension() -> bool;
        supports_named_fn_args_with_colon_operator() -> bool;
        supports_empty_projections() -> bool;
        supports_nested_comments() -> bool;
        supports_string_escape_constant() -> bool;
        supports_numeric_literal_underscores() -> bool;
        supports_array_typedef_with_brackets() -> bool;
        supports_geometric_types() -> bool;
        supports_set_names() -> bool;
        supports_alter_column_type_using() -> bool;
        supports_notnull_operator() -> bool;
        supports_interval_options() -> bool;
        supports_insert_table_alias() -> bool;
        supports_create_table_like_parenthesized() -> bool;
        supports_select_wildcard_with_alias() -> bool;
        supports_comma_separated_trim() -> bool;
        supports_xml_expressions() -> bool;
        supports_comment_optimizer_hint() -> bool;
    }
}

/// A call of a function, or a date. The parser tries whether they begin with the name of a type, and makes an error when
/// they do not.
fn begun_by_word(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    use Keyword::{AVG, COUNT, DATE, INTERVAL, MAX, MIN, NoKeyword, POSITION, SUM};
    let [first, second] = parser.peek_tokens_ref();
    let Token::Word(word) = &first.token else { return None };
    match (&second.token, word.keyword) {
        (Token::LParen, NoKeyword | AVG | COUNT | MAX | MIN | SUM) => {
            let name = parser.parse_identifier();
            Some(name.and_then(|it| parser.parse_function(ObjectName::from(vec![it]))))
        }
        // The parser knows CURRENT_USER and its kin as functions without parentheses, these not.
        (behind, _)
            if !matches!(behind, Token::LParen | Token::Period)
                && word.quote_style.is_none()
                && ["current_role", "current_schema"]
                    .iter()
                    .any(|it| word.value.eq_ignore_ascii_case(it)) =>
        {
            Some(parser.parse_identifier().map(|it| Expr::Function(without_arguments(it))))
        }
        // Tried as a call, too, where it is wrong, and so each in another one twice.
        (Token::LParen, POSITION) if word.quote_style.is_none() => Some(position(parser)),
        // Tried as a type, its digits would be lost.
        (Token::LParen, INTERVAL) => {
            parser.advance_token();
            Some(interval_of_digits(parser))
        }
        // Before anything else the word is a name. Before a constant it would be tried as a type and as a word.
        (behind, INTERVAL) if word.quote_style.is_none() && !matches!(behind, Token::Period) => {
            let is_constant = is_constant(behind);
            Some(match is_constant {
                true => {
                    parser.advance_token();
                    parser.parse_interval()
                }
                false => parser.parse_identifier().map(Expr::Identifier),
            })
        }
        (Token::SingleQuotedString(_), DATE) => {
            parser.advance_token();
            Some(constant_of(parser, DataType::Date))
        }
        // A constant of a type that users made.
        (Token::SingleQuotedString(_), NoKeyword) => {
            let name = parser.parse_identifier();
            Some(name.and_then(|it| {
                constant_of(parser, DataType::Custom(ObjectName::from(vec![it]), Vec::new()))
            }))
        }
        _ => None,
    }
}

/// Whether this token is a text or a number.
fn is_constant(token: &Token) -> bool {
    use Token::{Number, Placeholder, SingleQuotedString, UnicodeStringLiteral};
    matches!(token, Number(..) | SingleQuotedString(_) | UnicodeStringLiteral(_) | Placeholder(_))
}

/// `POSITION(a IN b)`, or the call `position(a, b)`.
fn position(parser: &mut Parser) -> Result<Expr, ParserError> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    let first = parser.parse_subexpr(PostgreSqlDialect {}.prec_value(Precedence::Between))?;
    if parser.parse_keyword(Keyword::IN) {
        let within = parser.parse_expr()?;
        parser.expect_token(&Token::RParen)?;
        return Ok(Expr::Position { expr: Box::new(first), r#in: Box::new(within) });
    }
    let mut values = vec![first];
    if parser.consume_token(&Token::Comma) {
        values.extend(parser.parse_comma_separated(Parser::parse_expr)?);
    }
    parser.expect_token(&Token::RParen)?;
    let values = values.into_iter().map(ast::FunctionArgExpr::Expr).map(ast::FunctionArg::Unnamed);
    let args = ast::FunctionArgumentList {
        duplicate_treatment: None,
        args: values.collect(),
        clauses: Vec::new(),
    };
    Ok(Expr::Function(ast::Function {
        args: ast::FunctionArguments::List(args),
        ..without_arguments(name)
    }))
}

/// The text behind a type.
fn constant_of(parser: &mut Parser, data_type: DataType) -> Result<Expr, ParserError> {
    let value = parser.parse_value()?;
    Ok(Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }))
}

/// A call of a function that is a word.
fn without_arguments(name: Ident) -> ast::Function {
    ast::Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: ast::FunctionArguments::None,
        args: ast::FunctionArguments::None,
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// `(digits) '..'` behind INTERVAL, or `(expression) unit`, as DuckDB has it: so many of that unit.
fn interval_of_digits(parser: &mut Parser) -> Result<Expr, ParserError> {
    let [_, first, second] = parser.peek_tokens_ref();
    if !matches!(first.token, Token::Number(..)) || second.token != Token::RParen {
        parser.expect_token(&Token::LParen)?;
        let count = parser.parse_expr()?;
        parser.expect_token(&Token::RParen)?;
        let unit = parser.parse_identifier()?;
        let one = Value::SingleQuotedString(format!("1 {}", unit.value));
        let one = Interval {
            value: Box::new(Expr::Value(one.into())),
            leading_field: None,
            leading_precision: None,
            last_field: None,
            fractional_seconds_precision: None,
        };
        return Ok(Expr::Nested(Box::new(Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(count))),
            op: BinaryOperator::Multiply,
            right: Box::new(Expr::Interval(one)),
        })));
    }
    let digits = parser.parse_optional_precision()?;
    let value = Box::new(Expr::Value(parser.parse_value()?));
    Ok(Expr::Interval(Interval {
        value,
        leading_field: None,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: digits,
    }))
}

/// What only GROUP BY has: `GROUPING SETS (..)`, `ROLLUP (..)`, `CUBE (..)`, `()`, and DISTINCT before the first entry. The
/// binder refuses them elsewhere.
fn grouping(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    use Keyword::{CUBE, DISTINCT, GROUPING, ROLLUP, SETS};
    let [first, second] = parser.peek_tokens_ref();
    let of = |token: &Token| match token {
        Token::Word(it) if it.quote_style.is_none() => Some(it.keyword),
        _ => None,
    };
    let opens = second.token == Token::LParen;
    let make: fn(Vec<Vec<Expr>>) -> Expr = match (of(&first.token), of(&second.token)) {
        (Some(ROLLUP), _) if opens => Expr::Rollup,
        (Some(CUBE), _) if opens => Expr::Cube,
        (Some(GROUPING), Some(SETS)) => Expr::GroupingSets,
        (Some(DISTINCT), _) => {
            parser.advance_token();
            let prefix = Ident::new(DISTINCT_SETS);
            let of = |it| Expr::Prefixed { prefix, value: Box::new(it) };
            return Some(parser.parse_expr().map(of));
        }
        _ if first.token == Token::LParen && second.token == Token::RParen => {
            parser.advance_token();
            parser.advance_token();
            return Some(Ok(Expr::Tuple(Vec::new())));
        }
        _ => return None,
    };
    parser.advance_token();
    if !opens {
        parser.advance_token();
    }
    Some(elements(parser).map(make))
}

/// The word of `GROUP BY DISTINCT`.
const DISTINCT_SETS: &str = "DISTINCT";

/// The entry of GROUP BY behind the DISTINCT that [`grouping`] reads.
pub(crate) fn distinct_sets(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Prefixed { prefix, value } if prefix.value == DISTINCT_SETS => Some(value),
        _ => None,
    }
}

/// The elements of GROUPING SETS and the like: an expression, or several in parentheses.
fn elements(parser: &mut Parser) -> Result<Vec<Vec<Expr>>, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let parsed = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    let parts = |it| match it {
        Expr::Tuple(parts) => parts,
        Expr::Nested(inner) => vec![*inner],
        other => vec![other],
    };
    Ok(parsed.into_iter().map(parts).collect())
}

/// Whether a name or a constant before this token is an operand of its own.
fn ends_operand(token: &Token) -> bool {
    use Keyword::{
        AND, AS, ASC, BETWEEN, DESC, ELSE, END, FROM, GROUP, HAVING, IN, IS, LIKE, LIMIT, NOT, OR,
        ORDER, THEN, WHEN, WHERE,
    };
    match token {
        Token::Period
        | Token::Comma
        | Token::RParen
        | Token::Eq
        | Token::Neq
        | Token::Lt
        | Token::LtEq
        | Token::Gt
        | Token::GtEq
        | Token::Plus
        | Token::Minus
        | Token::Mul
        | Token::Div
        | Token::EOF => true,
        Token::Word(word) => matches!(
            word.keyword,
            AND | AS
                | ASC
                | BETWEEN
                | DESC
                | ELSE
                | END
                | FROM
                | GROUP
                | HAVING
                | IN
                | IS
                | LIKE
                | LIMIT
                | NOT
                | OR
                | ORDER
                | THEN
                | WHEN
                | WHERE
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the parser makes of a text, with all positions in it.
    fn parsed(dialect: &dyn Dialect, sql: &str) -> String {
        format!("{:?}", Parser::parse_sql(dialect, sql))
    }

    /// Whether the other dialect reads a statement in its own way: what our own rule of precedence decides has a test of its own,
    /// identities, generated columns and domains are words that rooms of their own read, and for deep nests the other takes a time that
    /// doubles with each call.
    fn is_read_apart(sql: &str) -> bool {
        let sets = ["GROUPING SETS", "ROLLUP", "CUBE"];
        let words = [
            "DISTINCT FROM",
            "IDENTITY",
            "abs(abs(abs(abs(",
            "SELECT ROLLUP",
            "BY DISTINCT",
            // `INTERVAL (n) HOUR` is read as a product, before parsing.
            "interval(",
            "INTERVAL (",
            // What is between dollars is a constant in quotes, before parsing.
            "INTERVAL $",
            // Queries behind two parentheses, and names of arguments.
            "(((SELECT",
            " := ",
            " => ",
            "CREATE DOMAIN",
            // A text behind a word is a constant of a type, not a name.
            "posint '",
            "inet '",
            "cidr '",
            "range '",
            // A word before anything but a constant is a name.
            "INTERVAL ARRAY[",
            "SELECT interval - 1",
            // What SQL/JSON gathers has words of its own.
            "JSON_OBJECTAGG(",
            // Types of structs and maps are read before parsing (`struct_words`), and a role by its word is a call.
            "STRUCT(",
            "MAP(",
            "current_role",
        ];
        words.iter().any(|word| sql.contains(word))
            || sql.to_ascii_lowercase().contains("generated")
            // There, sets inside of sets are calls of functions.
            || sets.iter().filter(|word| sql.contains(**word)).count() > 1
    }

    #[test]
    fn statements_are_parsed_as_postgres_parses_them() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let mut texts: Vec<String> = Vec::new();
        for folder in ["crates/nodewise/queries/tpch", "tests/sql"] {
            for entry in std::fs::read_dir(format!("{root}/{folder}")).unwrap() {
                let path = entry.unwrap().path();
                // What our own rules of precedence decide, or is read before parsing, has tests of its own.
                let apart = ["precedence.slt", "json_constructors.slt"];
                if path.is_dir() || apart.iter().any(|it| path.ends_with(it)) {
                    continue;
                }
                let text = std::fs::read_to_string(path).unwrap();
                // Blank lines part the records of a test; its directives do not parse, in either dialect.
                texts.extend(text.split("\n\n").flat_map(|it| {
                    let body = it.split_once('\n').map_or(it, |it| it.1);
                    [it.to_owned(), body.split("----").next().unwrap_or(body).to_owned()]
                }));
            }
        }
        assert!(texts.len() > 200, "{}", texts.len());
        for sql in [
            "SELECT a, a.b.c, \"A\".b, -a, a::int, a COLLATE \"C\", 'a' COLLATE \"C\", a [1] FROM t",
            "SELECT 1 + 2.5, 'a' 'b', E'\\n', 1e5, 1_000, x'1f', a -> b, a->>'k' FROM t",
            "SELECT date '2020-01-01', date, value, name AS name, interval '1' day, xml '<a/>' FROM t",
            "SELECT a(1), a (1), a.b(2), array[1, 2], (a, b), $1 + a, a IS NOT NULL, a IS NULL, a b FROM t",
            "SELECT a FROM t WHERE a BETWEEN 1 AND 2 OR a NOT IN (1, 'x') AND NOT a LIKE 'b' ESCAPE '!'",
            "SELECT CASE a WHEN 1 THEN 'x' WHEN b THEN c ELSE d END FROM t ORDER BY a DESC, b LIMIT 1",
            "SELECT a FROM t GROUP BY a HAVING a > 1 AND",
            "SELECT a. FROM t",
            "SELECT 1. FROM t",
            "CREATE TABLE t (a INTEGER DEFAULT 5 NOT NULL, b TEXT DEFAULT 'x' CHECK (a > b))",
            "INSERT INTO t VALUES (1, 'a', NULL), (2, b, DEFAULT)",
            "SET a = b",
            "EXECUTE p (1, 'x', a)",
        ] {
            texts.push(sql.to_owned());
        }
        let mut others = Vec::new();
        for sql in texts.iter().filter(|it| !is_read_apart(it)) {
            let (ours, theirs) =
                (parsed(&Postgres::of(sql.len()), sql), parsed(&PostgreSqlDialect {}, sql));
            // What only we read (queries behind two parentheses, what is DuckDB's) has tests of its own; and the parser takes
            // two operators of a rank where PostgreSQL does not.
            let ours_alone = [" EXCLUDE ", " REPLACE ", " RENAME ", "(FROM "];
            let is_ours = sql.trim_start().starts_with("FROM")
                || ours_alone.iter().any(|it| sql.contains(it));
            let unread = theirs.starts_with("Err") && (is_ours || !ours.starts_with("Err"));
            if !unread && !ours.contains("operators of a rank") && ours != theirs {
                others.push(format!("{sql}\n{ours}\n{theirs}"));
            }
        }
        assert!(others.is_empty(), "{}", others.join("\n\n"));
    }

    /// How often an expression was begun in a text.
    fn tries_of(sql: &str) -> usize {
        let dialect = Postgres::of(sql.len());
        let left = dialect.left.get();
        let parser = Parser::new(&dialect).with_recursion_limit(crate::syntax::NESTED_MAX);
        let _ = parser.try_with_sql(sql).and_then(|mut it| it.parse_query());
        left - dialect.left.get()
    }

    #[test]
    fn nests_of_constants_are_tried_once() {
        for (open, close) in [("INTERVAL ", ""), ("ARRAY[INTERVAL ", "]"), ("ARRAY[", "]")] {
            for (count, end) in [(10, "'1'"), (60, "'1'"), (60, "'x' y END"), (60, "(")] {
                let sql = format!("SELECT {}{end}{}", open.repeat(count), close.repeat(count));
                let tries = tries_of(&sql);
                assert!(tries <= 8 * (count + 1), "{open}: {tries} tries of {count}");
            }
        }
    }

    #[test]
    fn no_text_is_tried_without_end() {
        // A try of each would double with each level: 2^60.
        let words = [
            "trim(",
            "substring(",
            "extract(",
            "ceil(",
            "overlay(",
            "exists(",
            "try_cast(",
            "abs(INTERVAL (",
            "f(a := ",
        ];
        for open in words {
            let sql = format!("SELECT {}'x' y END{}", open.repeat(60), ")".repeat(60));
            let most = TRIES_OF_TEXT + TRIES_OF_TOKEN * sql.len();
            assert!(tries_of(&sql) <= most, "{open}");
            let parsed = crate::parse::parse(&sql).map(|it| it.len());
            let state = parsed.map_err(|it| it.state);
            let is_refused = [types::SqlState::SYNTAX, types::SqlState::STATEMENT_TOO_COMPLEX]
                .iter()
                .any(|it| state == Err(*it));
            assert!(is_refused, "{open}: {state:?}");
        }
    }

    #[test]
    fn queries_behind_parentheses_are_queries() {
        for (text, meant) in [
            ("x = ANY ((SELECT 1) UNION ALL SELECT 2)", "x = ANY((SELECT 1) UNION ALL SELECT 2)"),
            ("x <= ALL (((SELECT 1) LIMIT 1))", "x <= ALL(((SELECT 1) LIMIT 1))"),
            ("x = SOME (VALUES (1), (2))", "x = SOME(VALUES (1), (2))"),
            ("x IN ((SELECT 0), NULL)", "x IN ((SELECT 0), NULL)"),
            ("x NOT IN ((SELECT 0) + 1, 2)", "x NOT IN ((SELECT 0) + 1, 2)"),
            ("x IN ((SELECT 1) EXCEPT (SELECT 2))", "x IN ((SELECT 1) EXCEPT (SELECT 2))"),
            ("x IN (((SELECT 1)))", "x IN (((SELECT 1)))"),
            ("x IN ((1), 2) AND y", "x IN ((1), 2) AND y"),
            ("((SELECT 1) UNION (SELECT 1)) + 1", "((SELECT 1) UNION (SELECT 1)) + 1"),
            ("((SELECT 1) + 2) * 3", "((SELECT 1) + 2) * 3"),
            ("(VALUES (1)) = 1", "(VALUES (1)) = 1"),
        ] {
            let dialect = Postgres::of(text.len());
            let mut parser = Parser::new(&dialect).try_with_sql(text).unwrap();
            let parsed = parser.parse_expr();
            assert_eq!(parsed.map(|it| it.to_string()), Ok(meant.to_owned()));
            assert_eq!(parser.peek_token().token, Token::EOF, "{text}");
        }
        let subquery = |text: &str| {
            let parsed =
                Parser::new(&Postgres::of(text.len())).try_with_sql(text).unwrap().parse_expr();
            matches!(parsed, Ok(Expr::InSubquery { .. }))
        };
        assert!(subquery("x IN (((SELECT 1)))"));
        assert!(subquery("x IN ((SELECT 1) ORDER BY 1)"));
        assert!(!subquery("x IN (((SELECT 1)), 2)"));
        assert!(!subquery("x IN (((SELECT 1) + 1))"));
    }

    #[test]
    fn is_distinct_from_ends_before_and_and_or() {
        for (text, meant) in [
            ("a IS DISTINCT FROM b AND c", "(a IS DISTINCT FROM b) AND c"),
            ("a AND b IS NOT DISTINCT FROM c OR d", "(a AND (b IS NOT DISTINCT FROM c)) OR d"),
            ("a IS NOT DISTINCT FROM b + 1 * c OR d", "(a IS NOT DISTINCT FROM (b + 1 * c)) OR d"),
            ("NOT a IS DISTINCT FROM b", "NOT (a IS DISTINCT FROM b)"),
        ] {
            let whole = |sql: &str| match Parser::new(&Postgres::of(sql.len()))
                .try_with_sql(sql)
                .unwrap()
                .parse_expr()
            {
                Ok(it) => outline(&it),
                Err(error) => panic!("{error}"),
            };
            assert_eq!(whole(text), whole(meant), "{text}");
        }
    }

    /// An expression with parentheses around every operation.
    fn outline(expr: &Expr) -> String {
        match expr {
            Expr::Nested(inner) => outline(inner),
            Expr::BinaryOp { left, op, right } => {
                format!("({} {op} {})", outline(left), outline(right))
            }
            Expr::UnaryOp { op, expr } => format!("({op} {})", outline(expr)),
            Expr::IsDistinctFrom(left, right) => {
                format!("({} <> {})", outline(left), outline(right))
            }
            Expr::IsNotDistinctFrom(left, right) => {
                format!("({} == {})", outline(left), outline(right))
            }
            other => other.to_string(),
        }
    }
}
