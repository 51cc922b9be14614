//! Texts that are kept of expressions and of queries: the types in them are named with their schemas, so that they mean the same
//! wherever a statement looks for names.

use std::ops::ControlFlow;

use sqlparser::ast;
use types::{SqlResult, names};

use crate::bind::text_of;
use crate::type_names::{put_full, said, type_said};
use crate::walk;

/// An expression with the full names of the types in it. `find` tells that of a schema, if one is said, and a name.
///
/// # Errors
/// Those of parsing it.
pub fn with_types_found(
    expression: &str,
    find: &dyn Fn(Option<&str>, &str) -> Option<String>,
) -> SqlResult<String> {
    let mut is_changed = false;
    let find = |_: &ast::DataType, name: &str| {
        let (schema, bare) = names::said(name, "").ok()?;
        find(schema.as_deref(), &bare)
    };
    let changed = KeptText::Expression(expression).visit(&mut |it| {
        if let Some(said) = type_said(it) {
            is_changed |= put_full(said, &find);
        }
    })?;
    Ok(if is_changed { changed } else { expression.to_owned() })
}

/// A text that is kept: it names types with their schemas.
#[derive(Clone, Copy, Debug)]
pub enum KeptText<'a> {
    /// An expression of a table.
    Expression(&'a str),
    /// The query of a view.
    Query(&'a str),
}

impl KeptText<'_> {
    /// The text after a change of the expressions in it.
    fn visit(self, change: &mut dyn FnMut(&mut ast::Expr)) -> SqlResult<String> {
        let mut each = |it: &mut ast::Expr| -> ControlFlow<()> {
            change(it);
            ControlFlow::Continue(())
        };
        match self {
            Self::Expression(text) => {
                let mut expr = crate::parse::expression(text)?;
                let ended = walk::expressions_mut(&mut expr, &mut each);
                debug_assert!(ended.is_continue());
                Ok(crate::written::written(&expr))
            }
            Self::Query(text) => {
                let parsed = crate::view_text::parsed(text)?;
                stdx::stack::with_levels(parsed.levels(), || {
                    let mut query = parsed.into_tree();
                    let ended = walk::expressions_mut(&mut query, &mut each);
                    debug_assert!(ended.is_continue());
                    Ok(crate::written::written(&*query))
                })
            }
        }
    }

    /// Whether it names a type that users made.
    ///
    /// # Errors
    /// Those of parsing it.
    pub fn names_type(self, full: &str) -> SqlResult<bool> {
        let mut found = false;
        self.visit(&mut |it| {
            if let Some(it) = type_said(it) {
                found |= said(it).iter().any(|it| is_name(&it.1, full));
            }
        })?;
        Ok(found)
    }

    /// The text with another name of a type in the place of one.
    ///
    /// # Errors
    /// Those of parsing it.
    pub fn with_type_renamed(self, from: &str, to: &str) -> SqlResult<String> {
        let find = |_: &ast::DataType, name: &str| is_name(name, from).then(|| to.to_owned());
        self.visit(&mut |it| {
            if let Some(said) = type_said(it) {
                put_full(said, &find);
            }
        })
    }

    /// Whether a constant in it is this text.
    ///
    /// # Errors
    /// Those of parsing it.
    pub fn has_constant(self, text: &str) -> SqlResult<bool> {
        let mut found = false;
        self.visit(&mut |it| {
            let value = match it {
                ast::Expr::Value(it) => Some(&it.value),
                ast::Expr::TypedString(it) => Some(&it.value.value),
                _ => None,
            };
            found |= value.and_then(text_of) == Some(text);
        })?;
        Ok(found)
    }

    /// The text with another constant in the place of one, where it is nothing but that, or a cast of it; `None` of what is more.
    ///
    /// # Errors
    /// Those of parsing it.
    pub fn with_constant(self, from: &str, to: &str) -> SqlResult<Option<String>> {
        let Self::Expression(text) = self else { return Ok(None) };
        let mut expr = crate::parse::expression(text)?;
        let mut inner = &mut expr;
        while let ast::Expr::Cast { expr, .. } | ast::Expr::Nested(expr) = inner {
            inner = expr;
        }
        let value = match inner {
            ast::Expr::Value(it) => &mut it.value,
            ast::Expr::TypedString(it) => &mut it.value.value,
            _ => return Ok(None),
        };
        if text_of(value) != Some(from) {
            return Ok(None);
        }
        *value = ast::Value::SingleQuotedString(to.to_owned());
        Ok(Some(crate::written::written(&expr)))
    }
}

/// Whether a name, as a kept text says it, is that of a type.
fn is_name(said: &str, full: &str) -> bool {
    let (schema, bare) = names::split(said);
    names::joined(&schema, &bare) == full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_get_their_schemas() {
        let find = |schema: Option<&str>, name: &str| {
            (name == "mood").then(|| names::joined(schema.unwrap_or("s"), name))
        };
        let kept = |it: &str| with_types_found(it, &find).unwrap();
        assert_eq!(kept("'ok'::mood"), "'ok'::s.mood");
        assert_eq!(kept("a = CAST('ok' AS public.mood)"), "a = CAST('ok' AS public.mood)");
        assert_eq!(kept("a::mood[]"), "a::s.mood[]");
        assert_eq!(kept("a::text || b"), "a::text || b");
        assert_eq!(kept("a::other"), "a::other");
        assert_eq!(kept("a::mood || b::mood[]"), "a::s.mood || b::s.mood[]");
        assert_eq!(kept("a::STRUCT(b mood)"), kept("a::STRUCT(b s.mood)"));
    }

    #[test]
    fn kept_texts_are_searched_and_changed() {
        let text = KeptText::Expression("a = 'ok'::public.mood OR b = 'no'");
        assert!(text.names_type("mood").unwrap());
        assert!(!text.names_type("s.mood").unwrap());
        assert!(text.has_constant("ok").unwrap() && !text.has_constant("mood").unwrap());
        let renamed = text.with_type_renamed("mood", "s.feeling").unwrap();
        assert_eq!(renamed, "a = 'ok'::s.feeling OR b = 'no'");
        assert_eq!(text.with_constant("ok", "fine").unwrap(), None);
        let of = |it| KeptText::Expression(it).with_constant("it's", "o'k").unwrap();
        assert_eq!(of("'it''s'").as_deref(), Some("'o''k'"));
        assert_eq!(of("('it''s'::public.mood)").as_deref(), Some("('o''k'::public.mood)"));
        assert_eq!(of("'other'"), None);
    }
}
