//! Queries behind two parentheses or more, which the parser takes for expressions: `x IN ((SELECT 1) UNION SELECT 2)` and
//! `x = ANY ((SELECT 1) LIMIT 1)` are queries, `x IN ((SELECT 1), 2)` is a list.
//!
//! What stands behind IN without a parenthesis is a list, one of whose items is meant.
//!
//! Key decision: what stands behind a parenthesis is told before anything is parsed, by the first word in it and by what
//! follows its end. Nothing is parsed twice, so a nest of them takes no longer than its tokens.

use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// An operand that is a query behind two parentheses, or `(VALUES ..)`, which the parser does not know as one.
pub(crate) fn operand(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let [first, second] = parser.peek_tokens_ref();
    let may_be = first.token == Token::LParen && begins_unknown(&second.token);
    (may_be && is_query(parser)).then(|| query(parser))
}

/// `left IN ((..` and `left = ANY ((..`, if that comes next.
pub(crate) fn membership(parser: &mut Parser, left: &Expr) -> Option<Result<Expr, ParserError>> {
    let [first, second, third, fourth] = parser.peek_tokens_ref();
    let negated = is(&first.token, Keyword::NOT) && is(&second.token, Keyword::IN);
    let (open, inner) = if negated { (third, fourth) } else { (second, third) };
    if (negated || is(&first.token, Keyword::IN))
        && open.token == Token::LParen
        && (inner.token == Token::LParen || begins_query(&inner.token))
    {
        return Some(member(parser, left, negated));
    }
    let is_in = negated || is(&first.token, Keyword::IN);
    if is_in && open.token != Token::LParen && !is(&open.token, Keyword::UNNEST) {
        return Some(item(parser, left, negated));
    }
    let compare_op = comparison(&first.token)?;
    let all = is(&second.token, Keyword::ALL);
    let is_some = is(&second.token, Keyword::SOME);
    let is_any = all || is_some || is(&second.token, Keyword::ANY);
    if !is_any || third.token != Token::LParen || !begins_unknown(&fourth.token) {
        return None;
    }
    parser.advance_token();
    parser.advance_token();
    if !is_query(parser) {
        parser.prev_token();
        parser.prev_token();
        return None;
    }
    let left = Box::new(left.clone());
    Some(query(parser).map(|right| {
        let right = Box::new(right);
        match all {
            true => Expr::AllOp { left, compare_op, right },
            false => Expr::AnyOp { left, compare_op, right, is_some },
        }
    }))
}

/// `left IN list`, as DuckDB has it.
fn item(parser: &mut Parser, left: &Expr, negated: bool) -> Result<Expr, ParserError> {
    parser.advance_token();
    if negated {
        parser.advance_token();
    }
    let (left, right) = (Box::new(left.clone()), Box::new(parser.parse_subexpr(u8::MAX)?));
    Ok(match negated {
        true => Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right },
        false => Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, is_some: false },
    })
}

fn member(parser: &mut Parser, left: &Expr, negated: bool) -> Result<Expr, ParserError> {
    parser.advance_token();
    if negated {
        parser.advance_token();
    }
    let expr = Box::new(left.clone());
    if is_query(parser) {
        return match query(parser)? {
            Expr::Subquery(subquery) => Ok(Expr::InSubquery { expr, subquery, negated }),
            other => Ok(other),
        };
    }
    parser.expect_token(&Token::LParen)?;
    let list = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::InList { expr, list, negated })
}

/// A query in parentheses.
fn query(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let query = parser.parse_query()?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Subquery(query))
}

/// Whether the parser does not look for a query behind a parenthesis with this in it.
fn begins_unknown(token: &Token) -> bool {
    *token == Token::LParen || is(token, Keyword::VALUES) || is(token, Keyword::TABLE)
}

/// Whether a query begins with a word. The parser would try a list, too, where the query is wrong, and so each query in another one
/// twice.
fn begins_query(token: &Token) -> bool {
    use Keyword::{SELECT, TABLE, VALUES, WITH};
    [SELECT, WITH, VALUES, TABLE].into_iter().any(|word| is(token, word))
}

fn is(token: &Token, keyword: Keyword) -> bool {
    matches!(token, Token::Word(word) if word.keyword == keyword && word.quote_style.is_none())
}

fn comparison(token: &Token) -> Option<BinaryOperator> {
    Some(match token {
        Token::Eq => BinaryOperator::Eq,
        Token::Neq => BinaryOperator::NotEq,
        Token::Lt => BinaryOperator::Lt,
        Token::LtEq => BinaryOperator::LtEq,
        Token::Gt => BinaryOperator::Gt,
        Token::GtEq => BinaryOperator::GtEq,
        Token::DoubleTilde => BinaryOperator::PGLikeMatch,
        Token::DoubleTildeAsterisk => BinaryOperator::PGILikeMatch,
        Token::ExclamationMarkDoubleTilde => BinaryOperator::PGNotLikeMatch,
        Token::ExclamationMarkDoubleTildeAsterisk => BinaryOperator::PGNotILikeMatch,
        _ => return None,
    })
}

/// Whether a query, perhaps in parentheses of its own, is all that stands between the parenthesis that comes next and its
/// end.
fn is_query(parser: &mut Parser) -> bool {
    let mut steps = 0;
    let found = looks_like_query(parser, &mut steps);
    for _ in 0..steps {
        parser.prev_token();
    }
    found
}

fn looks_like_query(parser: &mut Parser, steps: &mut usize) -> bool {
    let mut next = || {
        *steps += 1;
        parser.next_token().token
    };
    next();
    // Parentheses around the first query, and those that are open.
    let mut around: usize = 0;
    loop {
        match next() {
            Token::LParen => around += 1,
            it if begins_query(&it) => break,
            _ => return false,
        }
    }
    // Behind each of them the query ends or goes on.
    let mut open = around;
    while around > 0 {
        match next() {
            Token::LParen => open += 1,
            Token::RParen => open -= 1,
            Token::EOF => return false,
            _ => {}
        }
        while open < around {
            around = open;
            match next() {
                Token::RParen if open > 0 => open -= 1,
                Token::RParen => {}
                token if continues_query(&token) => {}
                _ => return false,
            }
        }
    }
    true
}

fn continues_query(token: &Token) -> bool {
    use Keyword::{EXCEPT, FETCH, FOR, INTERSECT, LIMIT, OFFSET, ORDER, UNION};
    [EXCEPT, FETCH, FOR, INTERSECT, LIMIT, OFFSET, ORDER, UNION]
        .into_iter()
        .any(|word| is(token, word))
}
