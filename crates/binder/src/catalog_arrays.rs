//! Arrays as clients ask for them in the catalog: there they are texts (`{a,b}`), and so what is said of arrays is said of such
//! texts here.
//!
//! Key decision: there are no arrays as values. Their functions become calls of functions of texts before anything is bound, so
//! that the rest of the binder knows nothing of them. Elements with commas, quotes or NULLs are not told apart.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, visit_expressions_mut};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;
use types::SqlResult;

use crate::dialect::Postgres;
use crate::syntax::{NESTED_MAX, syntax};

/// Columns of the catalog that are arrays of numbers.
const NUMBERS: &[&str] =
    &["confkey", "conkey", "indclass", "indcollation", "indkey", "indoption", "prattrs", "stxkeys"];

/// Whether a statement with such a token may say something of arrays: the walk is for those alone.
pub(crate) fn is_about(token: &Token) -> bool {
    match token {
        Token::Word(word) => {
            let begins =
                |it: &str| word.value.get(..it.len()).is_some_and(|of| of.eq_ignore_ascii_case(it));
            matches!(word.keyword, Keyword::ANY | Keyword::ALL | Keyword::ARRAY)
                || begins("array_")
                || begins("cardinality")
                || begins("pg_size_pretty")
                || begins("quote_ident")
        }
        Token::LBracket => true,
        _ => false,
    }
}

/// Rewrites what a statement says of arrays.
pub(crate) fn as_texts(statement: &mut impl ast::VisitMut) -> SqlResult<()> {
    let flow = visit_expressions_mut(statement, |expr| match rewritten(expr) {
        None => ControlFlow::Continue(()),
        Some(text) => match parsed(&text) {
            Ok(new) => {
                *expr = new;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        },
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

/// What an expression about arrays says of texts; `None` for one that says nothing of arrays.
fn rewritten(expr: &Expr) -> Option<String> {
    match expr {
        Expr::AnyOp { left, compare_op: ast::BinaryOperator::Eq, right, .. } => {
            if let Some(list) = list_of(right) {
                return Some(format!("({left} IN ({list}))"));
            }
            let array = array_of(right)?;
            Some(format!("(find_in_set(CAST({left} AS TEXT), {}) > 0)", items(&array.to_string())))
        }
        Expr::AllOp { left, compare_op: ast::BinaryOperator::NotEq, right } => {
            Some(format!("({left} NOT IN ({}))", list_of(right)?))
        }
        Expr::Function(call) => rewritten_call(call),
        // `pg_catalog.int2[]`: psql's word for what is a text here.
        Expr::Cast { expr, data_type, .. }
            if data_type.to_string().starts_with("pg_catalog.")
                && data_type.to_string().ends_with("[]") =>
        {
            Some(format!("CAST({expr} AS TEXT)"))
        }
        Expr::CompoundFieldAccess { root, access_chain } => match &access_chain[..] {
            [ast::AccessExpr::Subscript(ast::Subscript::Index { index })] => {
                let place = format!("CAST({index} AS INTEGER)");
                let one = format!("split_part({}, ',', {place})", items(&root.to_string()));
                let name = root.to_string().to_lowercase();
                let is_number = NUMBERS.iter().any(|it| name.rsplit('.').next() == Some(it));
                Some(if is_number { format!("CAST(NULLIF({one}, '') AS BIGINT)") } else { one })
            }
            _ => None,
        },
        _ => None,
    }
}

/// An array that is a column, a text, or what a function gives; queries and lists of values are none.
fn array_of(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Nested(inner) => array_of(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Function(_) => Some(expr),
        Expr::Value(it) if matches!(it.value, ast::Value::SingleQuotedString(_)) => Some(expr),
        _ => None,
    }
}

/// The values of `ARRAY[a, b]`, which may be cast to a type of arrays.
fn list_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => list_of(inner),
        Expr::Cast { expr, data_type: ast::DataType::Array(_), .. } => list_of(expr),
        Expr::Array(array) if !array.elem.is_empty() => {
            let each: Vec<String> = array.elem.iter().map(ToString::to_string).collect();
            Some(each.join(", "))
        }
        _ => None,
    }
}

/// What stands between the braces of an array as text.
fn items(array: &str) -> String {
    format!("trim(BOTH '{{}}' FROM CAST({array} AS TEXT))")
}

fn rewritten_call(call: &ast::Function) -> Option<String> {
    let name = call.name.0.last()?.as_ident()?;
    let name = name.value.to_lowercase();
    if let (ast::FunctionArguments::Subquery(query), "array") = (&call.args, &*name) {
        let items = "coalesce(string_agg(CAST(item AS TEXT), ','), '')";
        return Some(format!("(SELECT '{{' || {items} || '}}' FROM ({query}) AS items (item))"));
    }
    let ast::FunctionArguments::List(list) = &call.args else { return None };
    let argument = |it: &ast::FunctionArg| match it {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(it)) => Some(it.to_string()),
        _ => None,
    };
    let arguments: Vec<String> = list.args.iter().map(argument).collect::<Option<_>>()?;
    match (&*name, &arguments[..]) {
        ("array_to_string", [array, between]) => {
            Some(format!("replace({}, ',', {between})", items(array)))
        }
        ("array_length" | "array_upper", [array, _]) | ("cardinality", [array]) => {
            let items = items(array);
            let none = if name == "cardinality" { "0" } else { "NULL" };
            Some(format!(
                "(CASE WHEN {items} = '' THEN {none} ELSE length({items}) - length(replace({items}, ',', '')) + 1 END)"
            ))
        }
        ("array_lower", [array, _]) => {
            Some(format!("(CASE WHEN {} <> '' THEN 1 END)", items(array)))
        }
        ("array_position", [array, item]) => {
            let item = format!("CAST({item} AS TEXT)");
            Some(format!("nullif(find_in_set({item}, {}), 0)", items(array)))
        }
        _ => crate::written_in_sql::expansion(&name, &arguments),
    }
}
