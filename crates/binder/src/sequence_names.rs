//! Where expressions name sequences.

use std::ops::ControlFlow;

use crate::walk;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::{SqlError, SqlResult, SqlState, names};

/// The schema and the name of a relation in a text, as `nextval` takes them: in lower case where they are not quoted.
///
/// Errors: 42602 when it is no name, 42601 and 0A000 when it has too many parts.
pub fn relation_in(text: &str) -> SqlResult<(Option<String>, String)> {
    let wrong = || {
        let message = format!("invalid name syntax: \"{text}\"");
        SqlError::new(SqlState("42602"), message)
    };
    let (mut parts, mut rest) = (Vec::new(), text.trim());
    loop {
        let part;
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut left = quoted;
            loop {
                let (front, behind) = left.split_once('"').ok_or_else(wrong)?;
                name.push_str(front);
                left = behind;
                match left.strip_prefix('"') {
                    Some(more) => {
                        name.push('"');
                        left = more;
                    }
                    None => break,
                }
            }
            (part, rest) = (name, left);
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            (part, rest) = (rest[..end].trim_end().to_lowercase(), &rest[end..]);
        }
        if part.is_empty() {
            return Err(wrong());
        }
        parts.push(part);
        match rest.trim_start().strip_prefix('.') {
            Some(more) => rest = more.trim_start(),
            None if rest.trim().is_empty() => break,
            None => return Err(wrong()),
        }
    }
    names::within(parts, text, "")
}

/// A name as [`relation_in`] reads it back.
pub fn as_relation(name: &str) -> String {
    let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let begins = |it: char| it.is_ascii_lowercase() || it == '_';
    match name.chars().all(plain) && name.starts_with(begins) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The sequences that a kept expression names by constants, each once.
pub fn sequences_in(expression: &str) -> SqlResult<Vec<String>> {
    let expr = crate::parse::expression(expression)?;
    let mut all: Vec<String> = Vec::new();
    let found: ControlFlow<()> = walk::expressions(&expr, |it| {
        if let Some(name) = named(it).and_then(kept_name)
            && !all.contains(&name)
        {
            all.push(name);
        }
        ControlFlow::Continue(())
    });
    debug_assert!(found.is_continue());
    Ok(all)
}

/// An expression with another name of a sequence in the place of one.
pub fn with_sequence_renamed(expression: &str, from: &str, to: &str) -> SqlResult<String> {
    let mut expr = crate::parse::expression(expression)?;
    let found: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        if named(it).and_then(kept_name).is_some_and(|it| it == from)
            && let ast::Expr::Function(call) = it
            && let Some(text) = constant_mut(call)
        {
            *text = as_kept(to);
        }
        ControlFlow::Continue(())
    });
    debug_assert!(found.is_continue());
    Ok(crate::written::written(&expr))
}

/// An expression as it is kept: sequences are named by what `find` says of a schema and a name, and only those of `public`
/// without their schema.
pub fn with_sequences_found(
    expression: &str,
    find: &dyn Fn(Option<&str>, &str) -> Option<String>,
) -> SqlResult<String> {
    let mut expr = crate::parse::expression(expression)?;
    let mut is_changed = false;
    let found: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        let said = named(it).and_then(|it| Some((it.to_owned(), relation_in(it).ok()?)));
        if let Some((said, (schema, name))) = said
            && let Some(full) = find(schema.as_deref(), &name)
            && let ast::Expr::Function(call) = it
            && let Some(text) = constant_mut(call)
            && kept_name(&said).as_deref() != Some(&*full)
        {
            *text = as_kept(&full);
            is_changed = true;
        }
        ControlFlow::Continue(())
    });
    debug_assert!(found.is_continue());
    Ok(if is_changed { crate::written::written(&expr) } else { expression.to_owned() })
}

/// A kept expression to be bound, wherever the statement looks for names.
pub(crate) fn kept_expression(text: &str) -> SqlResult<ast::Expr> {
    let mut expr = crate::parse::expression(text)?;
    let found: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        let full = named(it).and_then(kept_name);
        if let (Some(full), ast::Expr::Function(call)) = (full, it)
            && let Some(text) = constant_mut(call)
        {
            let (schema, name) = names::split(&full);
            *text = format!("{}.{}", as_relation(&schema), as_relation(&name));
        }
        ControlFlow::Continue(())
    });
    debug_assert!(found.is_continue());
    Ok(expr)
}

/// A kept expression that means the same wherever a statement looks for names.
pub fn qualified(text: &str) -> SqlResult<String> {
    kept_expression(text).map(|it| crate::written::written(&it))
}

/// A kept expression for people and their programs: what names a sequence is of the class of relations, as PostgreSQL tells it.
pub fn with_classes(text: &str) -> String {
    let Ok(mut expr) = crate::parse::expression(text) else { return text.to_owned() };
    let mut is_changed = false;
    let found: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        if named(it).is_some()
            && let ast::Expr::Function(call) = it
            && let Some(first) = first_mut(call)
        {
            let plain = Box::new(without_class(first).clone());
            *first = ast::Expr::Cast {
                kind: ast::CastKind::DoubleColon,
                expr: plain,
                data_type: ast::DataType::Custom(ast::Ident::new("regclass").into(), Vec::new()),
                array: false,
                format: None,
            };
            is_changed = true;
        }
        ControlFlow::Continue(())
    });
    debug_assert!(found.is_continue());
    if is_changed { crate::written::written(&expr) } else { text.to_owned() }
}

/// The name of the relation that a text in a kept expression means.
fn kept_name(text: &str) -> Option<String> {
    let (schema, name) = relation_in(text).ok()?;
    Some(names::joined(schema.as_deref().unwrap_or(names::PUBLIC), &name))
}

/// A relation as the texts of kept expressions name it.
pub fn as_kept(full: &str) -> String {
    let (schema, name) = names::split(full);
    match schema.as_str() {
        names::PUBLIC => as_relation(&name),
        _ => format!("{}.{}", as_relation(&schema), as_relation(&name)),
    }
}

/// The text that a call of a function about sequences names one by.
fn named(expr: &ast::Expr) -> Option<&str> {
    let ast::Expr::Function(call) = expr else { return None };
    let name = call.name.0.last()?.as_ident()?.value.to_lowercase();
    if !functions::lookup(&name)?.is_of_sequences() {
        return None;
    }
    let FunctionArguments::List(list) = &call.args else { return None };
    match list.args.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) => match without_class(it) {
            ast::Expr::Value(it) => match &it.value {
                ast::Value::SingleQuotedString(text) => Some(text),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The first argument of a call.
fn first_mut(call: &mut ast::Function) -> Option<&mut ast::Expr> {
    let FunctionArguments::List(list) = &mut call.args else { return None };
    match list.args.first_mut()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(first)) => Some(first),
        _ => None,
    }
}

fn constant_mut(call: &mut ast::Function) -> Option<&mut String> {
    let mut expr = first_mut(call)?;
    while let ast::Expr::Cast { expr: inner, .. } | ast::Expr::Nested(inner) = expr {
        expr = inner;
    }
    match expr {
        ast::Expr::Value(it) => match &mut it.value {
            ast::Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// What is cast to REGCLASS, the type of what a name stands for: the functions about sequences take the name.
pub(crate) fn without_class(expr: &ast::Expr) -> &ast::Expr {
    match expr {
        ast::Expr::Cast { expr, data_type: ast::DataType::Regclass, .. } => expr,
        ast::Expr::Nested(it) => without_class(it),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_told_with_their_class() {
        for (kept, told) in [
            ("nextval('s')", "nextval('s'::regclass)"),
            ("nextval('s'::regclass)", "nextval('s'::regclass)"),
            ("nextval('x.\"S\"') * 2", "nextval('x.\"S\"'::regclass) * 2"),
            ("lower('s')", "lower('s')"),
        ] {
            assert_eq!(with_classes(kept), told);
        }
    }

    #[test]
    fn names_in_texts_are_read_as_names_are() {
        let read = |it: &str| relation_in(it).map_err(|it| it.state.0);
        let some = |schema: Option<&str>, name: &str| Ok((schema.map(str::to_owned), name.into()));
        assert_eq!(read("S"), some(None, "s"));
        assert_eq!(read(" public . S "), some(Some("public"), "s"));
        assert_eq!(read("\"a.\"\"B\""), some(None, "a.\"B"));
        assert_eq!(read("x.\"Y\""), some(Some("x"), "Y"));
        for wrong in ["", "a.", ".a", "\"a", "\"\"", "\"a\"b"] {
            assert_eq!(read(wrong), Err("42602"), "{wrong}");
        }
        assert_eq!((read("a.b.c"), read("a.b.c.d")), (Err("0A000"), Err("42601")));
        for name in ["a", "A b", "q\"q", "1a", "t_id_seq"] {
            assert_eq!(read(&as_relation(name)), some(None, name));
        }
    }

    #[test]
    fn sequences_are_found_and_renamed() {
        let text = "nextval('S'::regclass) + nextval('\"T\"') * currval('s') + length('s')";
        assert_eq!(sequences_in(text).unwrap(), ["s", "T"]);
        let renamed = with_sequence_renamed(text, "s", "New").unwrap();
        assert_eq!(sequences_in(&renamed).unwrap(), ["New", "T"]);
        assert!(renamed.ends_with("length('s')"), "{renamed}");
    }
}
