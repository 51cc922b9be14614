//! Which operator binds tighter, as in PostgreSQL.
//!
//! Key decision: the parser climbs precedences by numbers that grow with tightness, and asks for that of the next
//! operator. Where PostgreSQL ranks an operator elsewhere, or lets it not stand beside one of its own rank at all, the answers
//! and the operations are made here. From the tightest: sign, `^`, `* / %`, `+ -`, every other operator, BETWEEN
//! IN LIKE ILIKE SIMILAR, `< > = <= >= <>`, IS and its kin, NOT, AND, OR.

use sqlparser::ast::{BinaryOperator, Expr, Ident, UnaryOperator};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token};

/// What marks the lower bound of BETWEEN SYMMETRIC; it prints as the word.
pub(crate) const SYMMETRIC: &str = "SYMMETRIC";

/// Looser than a sign, tighter than all other operators but casts and subscripts.
const BELOW_SIGN: u8 = 120;

fn rank(precedence: Precedence) -> u8 {
    PostgreSqlDialect {}.prec_value(precedence)
}

/// Whether a token is ISNULL, for which the parser has no keyword.
pub(crate) fn is_isnull(token: &Token) -> bool {
    matches!(token, Token::Word(it) if it.quote_style.is_none() && it.value.eq_ignore_ascii_case("isnull"))
}

/// The rank of the next token as an operator, where the parser has another one than PostgreSQL. 0 of what is none.
pub(crate) fn next(parser: &Parser) -> Option<u8> {
    use Keyword::{DIV, MATCH, MEMBER, NOT, NULL, OPERATOR, REGEXP, RLIKE, XOR};
    let [first, second] = parser.peek_tokens_ref();
    match &first.token {
        Token::Tilde
        | Token::TildeAsterisk
        | Token::ExclamationMarkTilde
        | Token::ExclamationMarkTildeAsterisk
        | Token::DoubleTilde
        | Token::DoubleTildeAsterisk
        | Token::ExclamationMarkDoubleTilde
        | Token::ExclamationMarkDoubleTildeAsterisk => Some(rank(Precedence::PgOther)),
        Token::DoubleEq | Token::Spaceship | Token::Assignment => Some(0),
        Token::Word(word) => match word.keyword {
            OPERATOR => Some(rank(Precedence::PgOther)),
            DIV | MATCH | MEMBER | REGEXP | RLIKE | XOR => Some(0),
            // Only a constraint of a column is called so.
            NOT if matches!(&second.token, Token::Word(it) if it.keyword == NULL) => Some(0),
            NOT if matches!(&second.token, Token::Word(it) if matches!(it.keyword, RLIKE | REGEXP | MATCH | MEMBER)) => {
                Some(0)
            }
            _ if is_isnull(&first.token) => Some(rank(Precedence::Is)),
            _ => None,
        },
        _ => None,
    }
}

/// A sign and its operand, or another operator before its operand.
pub(crate) fn sign(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let (op, below) = match parser.peek_token_ref().token {
        Token::Minus => (UnaryOperator::Minus, BELOW_SIGN),
        Token::Plus => (UnaryOperator::Plus, BELOW_SIGN),
        Token::Tilde => (UnaryOperator::BitwiseNot, rank(Precedence::PgOther)),
        _ => return None,
    };
    parser.advance_token();
    Some(parser.parse_subexpr(below).map(|it| Expr::UnaryOp { op, expr: Box::new(it) }))
}

/// What the parser reads otherwise than PostgreSQL after an operand: IS DISTINCT FROM, whose right side ends before AND
/// and OR, BETWEEN, whose lower bound may hold comparisons, ISNULL; and two operators of a rank that does not associate.
pub(crate) fn infix(
    parser: &mut Parser,
    left: &Expr,
    precedence: u8,
) -> Option<Result<Expr, ParserError>> {
    use Keyword::{BETWEEN, DISTINCT, FROM, IS, NOT};
    if open_rank(left) == Some(precedence) {
        let found = parser.peek_token();
        return Some(parser.expected("parentheses around one of two operators of a rank", found));
    }
    // All of them begin with a word.
    let Token::Word(word) = &parser.peek_token_ref().token else { return None };
    if matches!(word.keyword, Keyword::AND | Keyword::OR) {
        return None;
    }
    let operand = || Box::new(left.clone());
    if is_isnull(&parser.peek_token_ref().token) {
        parser.advance_token();
        return Some(Ok(Expr::IsNull(operand())));
    }
    if let Some(test) = crate::json_words::test(parser, left) {
        return Some(test);
    }
    if parser.parse_keyword(Keyword::COLLATE) {
        let collation = parser.parse_object_name(false);
        return Some(collation.map(|collation| Expr::Collate { expr: operand(), collation }));
    }
    if parser.parse_keywords(&[IS, NOT, DISTINCT, FROM]) {
        let right = parser.parse_subexpr(rank(Precedence::Is));
        return Some(right.map(|it| Expr::IsNotDistinctFrom(operand(), Box::new(it))));
    }
    if parser.parse_keywords(&[IS, DISTINCT, FROM]) {
        let right = parser.parse_subexpr(rank(Precedence::Is));
        return Some(right.map(|it| Expr::IsDistinctFrom(operand(), Box::new(it))));
    }
    let negated = parser.parse_keywords(&[NOT, BETWEEN]);
    if negated || parser.parse_keyword(BETWEEN) {
        return Some(between(parser, left, negated));
    }
    None
}

/// What comes after BETWEEN.
fn between(parser: &mut Parser, left: &Expr, negated: bool) -> Result<Expr, ParserError> {
    use Keyword::{AND, ASYMMETRIC};
    let symmetric = parser.parse_keyword(Keyword::SYMMETRIC);
    if !symmetric {
        let _ = parser.parse_keyword(ASYMMETRIC);
    }
    let first = parser.peek_token();
    let mut low = parser.parse_subexpr(rank(Precedence::UnaryNot))?;
    if !is_plain(&low) {
        return parser.expected("parentheses around the lower bound of BETWEEN", first);
    }
    parser.expect_keyword_is(AND)?;
    let high = Box::new(parser.parse_subexpr(rank(Precedence::Between))?);
    if symmetric {
        let prefix = Ident { value: SYMMETRIC.to_owned(), quote_style: None, span: Span::empty() };
        low = Expr::Prefixed { prefix, value: Box::new(low) };
    }
    Ok(Expr::Between { expr: Box::new(left.clone()), negated, low: Box::new(low), high })
}

/// Whether an expression may be the lower bound of BETWEEN without parentheses.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp { op: UnaryOperator::Not, .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. } => false,
        Expr::BinaryOp { left, right, .. } => is_plain(left) && is_plain(right),
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            is_plain(left) && is_plain(right)
        }
        _ => true,
    }
}

/// The rank of an operation that ends with an operand and associates with none of its rank.
fn open_rank(expr: &Expr) -> Option<u8> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    match expr {
        Expr::BinaryOp { op: Eq | NotEq | Lt | LtEq | Gt | GtEq, .. } => Some(rank(Precedence::Eq)),
        Expr::Between { .. } | Expr::Like { .. } | Expr::ILike { .. } | Expr::SimilarTo { .. } => {
            Some(rank(Precedence::Between))
        }
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => Some(rank(Precedence::Is)),
        _ => None,
    }
}
