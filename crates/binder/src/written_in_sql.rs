//! Functions of PostgreSQL's catalog that are short in SQL: a call becomes what it stands for before anything is bound.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, visit_expressions_mut};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;
use types::SqlResult;

use crate::dialect::Postgres;
use crate::syntax::{NESTED_MAX, syntax};

/// The words of PostgreSQL that are quoted as names, of those that tables and columns are often called.
const QUOTED: [&str; 24] = [
    "all", "and", "array", "as", "case", "check", "column", "default", "desc", "end", "from",
    "group", "in", "limit", "not", "null", "offset", "on", "order", "select", "table", "to",
    "user", "where",
];

/// Whether a statement with such a token may call one of these: the walk is for those alone.
pub(crate) fn is_about(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    ["pg_size_pretty", "quote_ident"].iter().any(|it| word.value.eq_ignore_ascii_case(it))
}

/// Puts what they stand for in the places of calls.
pub(crate) fn expanded(statement: &mut impl ast::VisitMut) -> SqlResult<()> {
    let flow = visit_expressions_mut(statement, |expr| {
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        match of_call(call).map(|text| parsed(&text)) {
            None => ControlFlow::Continue(()),
            Some(Ok(new)) => {
                *expr = new;
                ControlFlow::Continue(())
            }
            Some(Err(error)) => ControlFlow::Break(error),
        }
    });
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

fn parsed(text: &str) -> SqlResult<Expr> {
    let parser = Parser::new(&Postgres).with_recursion_limit(NESTED_MAX);
    parser.try_with_sql(text).and_then(|mut it| it.parse_expr()).map_err(|it| syntax(&it))
}

fn of_call(call: &ast::Function) -> Option<String> {
    let name = call.name.0.last()?.as_ident()?.value.to_lowercase();
    let ast::FunctionArguments::List(list) = &call.args else { return None };
    let argument = |it: &ast::FunctionArg| match it {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(it)) => Some(it.to_string()),
        _ => None,
    };
    let arguments: Vec<String> = list.args.iter().map(argument).collect::<Option<_>>()?;
    expansion(&name, &arguments)
}

/// What a call of a function stands for; `None` for one that is none of these. Arguments are SQL, and may stand several times.
fn expansion(name: &str, arguments: &[String]) -> Option<String> {
    match (name, arguments) {
        ("quote_ident", [name]) => {
            let known: Vec<String> = QUOTED.iter().map(|it| format!("'{it}'")).collect();
            Some(format!(
                "(CASE WHEN {name} ~ '^[a-z_][a-z0-9_]*$' AND {name} NOT IN ({}) THEN {name} \
                 ELSE '\"' || replace({name}, '\"', '\"\"') || '\"' END)",
                known.join(", ")
            ))
        }
        ("pg_size_pretty", [bytes]) => Some(pretty(&format!("CAST({bytes} AS BIGINT)"))),
        _ => None,
    }
}

/// A number of bytes in the largest unit of which there are ten, rounded by halves.
fn pretty(bytes: &str) -> String {
    let mut text = format!("(CASE WHEN abs({bytes}) < 10240 THEN {bytes} || ' bytes'");
    let mut halves = 512_u64;
    for unit in ["kB", "MB", "GB", "TB"] {
        let in_halves = format!("({bytes} / {halves})");
        let rounded = rounded(bytes, halves);
        text.push_str(&format!(" WHEN abs({in_halves}) < 20479 THEN {rounded} || ' {unit}'"));
        halves *= 1024;
    }
    let rounded = rounded(bytes, halves);
    text.push_str(&format!(" ELSE {rounded} || ' PB' END)"));
    text
}

/// A number of bytes in a unit of so many times two, rounded away from zero.
fn rounded(bytes: &str, halves: u64) -> String {
    format!("((({bytes} / {halves}) + CASE WHEN {bytes} < 0 THEN -1 ELSE 1 END) / 2)")
}
