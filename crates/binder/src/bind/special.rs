//! Forms of functions that SQL spells with words between their arguments.

use crate::collations;
use crate::walk;
use plan::{Expr, Function};
use sqlparser::ast::{self, CeilFloorKind, DateTimeField, TrimWhereField};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::Binder;
use super::errors::{at, unsupported};

impl<'a> Binder<'a> {
    /// Binds a form that is a function, or says that there is none.
    pub(super) fn special(&mut self, whole: &'a ast::Expr) -> SqlResult<Expr> {
        use ast::Expr as Ast;
        match whole {
            Ast::Substring { expr, substring_from, substring_for, shorthand, .. } => {
                let start = match substring_from {
                    Some(it) => self.expr(it)?,
                    None => super::arithmetic::integer(1),
                };
                let operand = self.expr(expr)?;
                let length = substring_for.as_ref().map(|it| self.expr(it)).transpose()?;
                self.substring(operand, start, length, *shorthand, whole)
            }
            Ast::Trim { trim_where, trim_what, expr, trim_characters } => {
                let function = match trim_where {
                    None | Some(TrimWhereField::Both) => Function::Btrim,
                    Some(TrimWhereField::Leading) => Function::Ltrim,
                    Some(TrimWhereField::Trailing) => Function::Rtrim,
                };
                let mut arguments = vec![self.expr(expr)?];
                match (trim_what, trim_characters.as_deref()) {
                    (Some(what), None) => arguments.push(self.expr(what)?),
                    (None, Some([what])) => arguments.push(self.expr(what)?),
                    (None, None | Some([])) => {}
                    _ => return Err(unsupported("trim of several texts", whole)),
                }
                self.invoke(function, arguments, whole)
            }
            Ast::Position { expr, r#in } => {
                let arguments = vec![self.expr(r#in)?, self.expr(expr)?];
                self.invoke(Function::Strpos, arguments, whole)
            }
            Ast::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut arguments =
                    vec![self.expr(expr)?, self.expr(overlay_what)?, self.expr(overlay_from)?];
                if let Some(it) = overlay_for {
                    arguments.push(self.expr(it)?);
                }
                self.invoke(Function::Overlay, arguments, whole)
            }
            Ast::Ceil { expr, field } => self.whole_number(Function::Ceil, expr, field, whole),
            Ast::Floor { expr, field } => self.whole_number(Function::Floor, expr, field, whole),
            Ast::Collate { expr, collation } => self.collated(expr, collation, whole),
            Ast::SimilarTo { .. } => self.similar(whole),
            Ast::IsNormalized { expr, form, negated } => {
                self.is_normalized(expr, form.as_ref(), *negated, whole)
            }
            Ast::AtTimeZone { timestamp, time_zone } => {
                self.at_time_zone(timestamp, time_zone, whole)
            }
            Ast::Rollup(_) | Ast::Cube(_) | Ast::GroupingSets(_) | Ast::Prefixed { .. } => {
                Err(of_group_by(whole))
            }
            Ast::Array(array) => self.array_of(&array.elem, whole),
            Ast::CompoundFieldAccess { root, access_chain } => {
                self.subscripted(root, access_chain, whole)
            }
            other => Err(unsupported("this expression", other)),
        }
    }

    /// `x COLLATE "C"`.
    fn collated(
        &mut self,
        expr: &'a ast::Expr,
        collation: &ast::ObjectName,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        collations::check(collation).map_err(|it| at(it, whole))?;
        let bound = self.expr(expr)?;
        collations::check_type(bound.data_type).map_err(|it| at(it, whole))?;
        Ok(bound)
    }

    /// `x IS [NOT] [NFC] NORMALIZED`.
    fn is_normalized(
        &mut self,
        operand: &'a ast::Expr,
        form: Option<&ast::NormalizationForm>,
        negated: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let form = form.map(|it| super::json::word(&it.to_string()));
        let arguments = [self.expr(operand)?].into_iter().chain(form).collect();
        let found = self.invoke(Function::IsNormalized, arguments, whole)?;
        Ok(if negated { plan::build::negated(found) } else { found })
    }

    /// A part of a text: so many characters from one on, or what a regular expression or a pattern of the standard matches.
    fn substring(
        &mut self,
        operand: Expr,
        start: Expr,
        length: Option<Expr>,
        shorthand: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        // Of the forms that a constant of unknown type may mean, PostgreSQL takes that of texts.
        let may_be_text = |it: &Expr| match it.data_type {
            DataType::Null => !shorthand && operand.data_type != DataType::Bytea,
            known => known.is_text(),
        };
        if !may_be_text(&start) || !length.as_ref().is_none_or(may_be_text) {
            let arguments = [operand, start].into_iter().chain(length).collect();
            return self.invoke(Function::Substring, arguments, whole);
        }
        let mut text = |it: Expr| match it.data_type {
            DataType::Null => self.coerce_unknown(it, DataType::Text),
            _ => Ok(it),
        };
        let (mut pattern, escape) = (text(start)?, length.map(text).transpose()?);
        if let Some(escape) = escape {
            pattern = self.invoke(Function::SimilarParts, vec![pattern, escape], whole)?;
        }
        self.invoke(Function::Substring, vec![operand, pattern], whole)
    }

    fn whole_number(
        &mut self,
        function: Function,
        operand: &'a ast::Expr,
        field: &CeilFloorKind,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if !matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime)) {
            return Err(unsupported("CEIL or FLOOR with TO, or with a scale,", whole));
        }
        let arguments = vec![self.expr(operand)?];
        self.invoke(function, arguments, whole)
    }
}

/// The error of what stands in GROUP BY alone.
fn of_group_by(whole: &ast::Expr) -> SqlError {
    let function = match whole {
        ast::Expr::Rollup(_) => "rollup",
        ast::Expr::Cube(_) => "cube",
        _ => {
            let message = "syntax error: this stands in GROUP BY alone";
            return at(SqlError::new(SqlState::SYNTAX, message), whole);
        }
    };
    let message = format!("function {function}(..) does not exist: it stands in GROUP BY");
    at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole)
}

/// Whether a subquery stands in an expression.
pub(super) fn has_subquery(expr: &ast::Expr) -> bool {
    walk::any_expression(expr, |it| {
        matches!(
            it,
            ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. }
        )
    })
}
