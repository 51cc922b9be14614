//! What the parser's errors and names are here.

use sqlparser::ast::{self, ObjectName};
use sqlparser::keywords::ALL_KEYWORDS;
use sqlparser::parser::ParserError;
use stdx::stack;
use types::{SqlError, SqlState, names};

/// Parentheses in one another, and what counts as such: the parser's own limit. It tries some of them twice.
pub(crate) const NESTED_MAX: usize = 1_000;

pub(crate) fn syntax(error: &ParserError) -> SqlError {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => return too_deep(),
    };
    let (what, place) = match text.rsplit_once(" at Line: ") {
        Some((what, place)) => (what, format!(" at line {}", place.replace("Column:", "column"))),
        None => (text, String::new()),
    };
    let what = what.replace("Expected: ", "expected ").replace("found: EOF", "found the end");
    let message = format!("syntax error{place}: {}", what.replace("found: ", "found "));
    let error = SqlError::new(SqlState::SYNTAX, message);
    let numbers = place.strip_prefix(" at line ").and_then(|it| it.split_once(", column "));
    match numbers.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?))) {
        Some((line, column)) => error.at(line, column),
        None => error,
    }
}

pub(crate) fn too_deep() -> SqlError {
    let message = "stack depth limit exceeded: the statement is nested too deeply";
    SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message).with_hint(format!(
        "chains of operators may have about {} links, parentheses may stand {NESTED_MAX} deep",
        stack::LEVELS_MAX
    ))
}

/// A query that says nothing but its body.
pub(crate) fn bare_query(body: ast::SetExpr) -> ast::Query {
    ast::Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

pub(crate) fn unsupported(what: impl std::fmt::Display) -> SqlError {
    SqlError::unsupported(format!("{what} is not supported"))
}

/// 42712: a second query of a WITH under one name.
pub(crate) fn twice_named(name: &ast::Ident) -> SqlError {
    let message = format!("WITH query name \"{}\" specified more than once", ident(name));
    let error = SqlError::new(SqlState::DUPLICATE_ALIAS, message);
    let start = name.span.start;
    match start.line {
        0 => error,
        line => error.at(line as u32, start.column as u32),
    }
}

/// A statement, or a form of one, that is not there, by its first words.
pub(crate) fn unknown(statement: &impl std::fmt::Display) -> SqlError {
    let text = statement.to_string();
    let upper = |it: &&str| it.chars().all(|it| it.is_ascii_uppercase());
    let words: Vec<&str> = text.split_whitespace().take(3).take_while(upper).collect();
    unsupported(words.join(" "))
}

/// The name of a relation as it is said, with its schema if that is said, too (`types::names::written`): without quotes when
/// it was quoted, in lower case when it was not.
pub(crate) fn name(object: &ObjectName) -> String {
    let parts: Vec<String> = object.0.iter().filter_map(|it| it.as_ident()).map(ident).collect();
    names::written(&parts)
}

/// The name of a setting or of a prepared statement.
pub(crate) fn dotted(object: &ObjectName) -> String {
    let parts: Vec<String> = object.0.iter().filter_map(|it| it.as_ident()).map(ident).collect();
    parts.join(".")
}

/// A name as SQL reads it back: in quotes where it would not be a name, or not this one, without.
pub fn quoted_name(name: &str) -> String {
    let is_letter = |it: u8| it.is_ascii_lowercase() || it == b'_';
    let is_plain = name.bytes().all(|it| is_letter(it) || it.is_ascii_digit())
        && name.bytes().next().is_some_and(is_letter);
    if is_plain && ALL_KEYWORDS.binary_search(&&*name.to_ascii_uppercase()).is_err() {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(crate) fn ident(ident: &ast::Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// An expression without the parentheses around it.
pub(crate) fn bare(mut expr: &ast::Expr) -> &ast::Expr {
    while let ast::Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

#[cfg(test)]
mod tests {
    use super::quoted_name;

    #[test]
    fn names_are_quoted_where_sql_needs_it() {
        assert_eq!(quoted_name("l_orderkey"), "l_orderkey");
        for (name, quoted) in [
            ("Order Key", "\"Order Key\""),
            ("1a", "\"1a\""),
            ("a\"b", "\"a\"\"b\""),
            ("", "\"\""),
            ("order", "\"order\""),
            ("select", "\"select\""),
            ("gr\u{fc}n", "\"gr\u{fc}n\""),
        ] {
            assert_eq!(super::quoted_name(name), quoted);
        }
    }
}
