//! DuckDB's functions without a name: `lambda x, i: x + i`, and, as an argument of functions of lists, `x -> x + 1` and `(x, i) -> x + i`.
//!
//! Key decision: an arrow is PostgreSQL's operator of JSON and binds as one, so such an argument is read as that first. What binds
//! looser than an arrow then has it leftmost, and it is taken out of there. The first argument is the list and stays what it is.

use std::ops::ControlFlow;

use crate::walk;
use sqlparser::ast::{
    self, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, Ident, LambdaFunction,
    LambdaFunctionParameter, LambdaSyntax, OneOrManyWithParens,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// The functions that take one behind a list.
const FUNCTIONS: [&str; 10] = [
    "apply",
    "array_apply",
    "array_filter",
    "array_transform",
    "filter",
    "list_apply",
    "list_filter",
    "list_transform",
    "list_reduce",
    "reduce",
];

/// `lambda x, i: body`, if that comes next.
pub(crate) fn written(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let [first, second, third] = parser.peek_tokens_ref();
    let is_lambda = matches!(&first.token, Token::Word(it)
        if it.quote_style.is_none() && it.keyword == Keyword::LAMBDA);
    let is_named = matches!(second.token, Token::Word(_));
    if !is_lambda || !is_named || !matches!(third.token, Token::Colon | Token::Comma) {
        return None;
    }
    parser.advance_token();
    Some(behind_word(parser))
}

fn behind_word(parser: &mut Parser) -> Result<Expr, ParserError> {
    let names = parser.parse_comma_separated(Parser::parse_identifier)?;
    parser.expect_token(&Token::Colon)?;
    let body = parser.parse_expr()?;
    Ok(lambda(names, body))
}

fn lambda(names: Vec<Ident>, body: Expr) -> Expr {
    let parameter = |name| LambdaFunctionParameter { name, data_type: None };
    Expr::Lambda(LambdaFunction {
        params: OneOrManyWithParens::Many(names.into_iter().map(parameter).collect()),
        body: Box::new(body),
        syntax: LambdaSyntax::LambdaKeyword,
    })
}

/// Whether a statement with such a token may have one with an arrow: the walk is for those alone.
pub(crate) fn is_about(token: &Token) -> bool {
    *token == Token::Arrow
}

/// Whether a word is the name of a function that takes one.
pub(crate) fn is_function(word: &Token) -> bool {
    matches!(word, Token::Word(it) if FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(&it.value)))
}

/// Makes functions of the arguments with an arrow.
pub(crate) fn expanded(statement: &mut impl ast::VisitMut) {
    let _ = walk::expressions_mut(statement, |expr| {
        if let Expr::Function(call) = expr
            && let Some(name) = call.name.0.last().and_then(|it| it.as_ident())
            && FUNCTIONS.iter().any(|it| it.eq_ignore_ascii_case(&name.value))
            && let ast::FunctionArguments::List(list) = &mut call.args
        {
            for argument in list.args.iter_mut().skip(1) {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) = argument {
                    with_arrow(it);
                }
            }
        }
        ControlFlow::<()>::Continue(())
    });
}

/// Makes a function of an expression whose leftmost operation is an arrow behind names.
fn with_arrow(expr: &mut Expr) {
    if let Some(names) = take_arrow(expr) {
        let body = std::mem::replace(expr, Expr::Tuple(Vec::new()));
        *expr = lambda(names, body);
    }
}

/// Takes the leftmost operation of an expression out if it is an arrow behind names, which come back.
fn take_arrow(expr: &mut Expr) -> Option<Vec<Ident>> {
    if let Expr::BinaryOp { left, op: BinaryOperator::Arrow, right } = expr
        && let Some(names) = names_of(left)
    {
        let body = std::mem::replace(&mut **right, Expr::Tuple(Vec::new()));
        *expr = body;
        return Some(names);
    }
    match expr {
        Expr::BinaryOp { left, .. } => take_arrow(left),
        Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::Between { expr: inner, .. }
        | Expr::InList { expr: inner, .. }
        | Expr::Like { expr: inner, .. }
        | Expr::ILike { expr: inner, .. } => take_arrow(inner),
        _ => None,
    }
}

fn names_of(expr: &Expr) -> Option<Vec<Ident>> {
    let name = |it: &Expr| match it {
        Expr::Identifier(name) => Some(name.clone()),
        _ => None,
    };
    match expr {
        Expr::Tuple(all) => all.iter().map(name).collect(),
        Expr::Nested(inner) => Some(vec![name(inner)?]),
        other => Some(vec![name(other)?]),
    }
}
