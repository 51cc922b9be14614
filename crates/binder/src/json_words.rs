//! `IS [NOT] JSON [VALUE | ARRAY | OBJECT | SCALAR] [WITH UNIQUE [KEYS]]`, which the parser does not know: it becomes a call
//! of a function whose name no user writes by chance.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, UnaryOperator, Value,
};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// The name of the function.
pub(crate) const IS_JSON: &str = "is json";

/// Goes behind words that stand next, in any case; whether they do.
fn take(parser: &mut Parser, words: &[&str]) -> bool {
    let is_word = |place: usize| match &parser.peek_nth_token_ref(place).token {
        Token::Word(it) if it.quote_style.is_none() => it.value.eq_ignore_ascii_case(words[place]),
        _ => false,
    };
    if !(0..words.len()).all(is_word) {
        return false;
    }
    words.iter().for_each(|_| parser.advance_token());
    true
}

/// The test behind an operand, if it is one.
pub(crate) fn test(parser: &mut Parser, operand: &Expr) -> Option<Result<Expr, ParserError>> {
    let negated = take(parser, &["IS", "NOT", "JSON"]);
    if !negated && !take(parser, &["IS", "JSON"]) {
        return None;
    }
    let kinds = ["value", "array", "object", "scalar"];
    let kind = kinds.into_iter().find(|it| take(parser, &[it])).unwrap_or("value");
    let unique = take(parser, &["WITH", "UNIQUE"]);
    if unique || take(parser, &["WITHOUT", "UNIQUE"]) {
        take(parser, &["KEYS"]);
    }
    let values = [
        operand.clone(),
        Expr::value(Value::SingleQuotedString(kind.to_owned())),
        Expr::value(Value::Boolean(unique)),
    ];
    let args = values.map(|it| FunctionArg::Unnamed(FunctionArgExpr::Expr(it))).to_vec();
    let list = FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() };
    let call = Expr::Function(Function {
        name: ObjectName::from(vec![Ident::with_quote('"', IS_JSON)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    });
    Some(Ok(match negated {
        true => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(call) },
        false => call,
    }))
}
