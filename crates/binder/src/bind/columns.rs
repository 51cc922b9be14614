//! DuckDB's `COLUMNS(..)` in a select list: the entry stands for one of its kind for each of the columns that are meant, by `*`, `* EXCLUDE
//! (..)`, `t.*`, a regular expression, or a list of names.
//!
//! Key decision: the entry is bound once for each column, and the call means the column that it is bound for.

use std::cell::Cell;

use plan::{Expr, ExprKind, Function};
use sqlparser::ast::{self, Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::array::{Items, value_of};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::errors::{at, unsupported};
use super::scope::{Named, is_named};
use super::upper::Item;
use crate::walk;

/// Whether an expression is such a call.
fn is_columns(expr: &Ast) -> bool {
    matches!(expr, Ast::Function(it) if it.name.0.len() == 1
        && it.name.0[0].as_ident().is_some_and(|it| is_named(it, "columns")))
}

impl<'a> Binder<'a> {
    /// An entry of a select list with such a call, for each column that is meant; false where it has none.
    pub(super) fn each_column(
        &mut self,
        expr: &'a Ast,
        alias: Option<&'a ast::Ident>,
        items: &mut Vec<Item>,
    ) -> SqlResult<bool> {
        let Some(each) = self.each_meant(expr)? else { return Ok(false) };
        for (column, bound) in each {
            let name = match alias {
                Some(alias) => crate::syntax::ident(alias),
                None if is_columns(expr) => column,
                None => super::names::of_expression(expr),
            };
            items.push(Item::computed(name, bound));
        }
        Ok(true)
    }

    /// An expression with such a call, bound for each column that is meant, with the column's name; `None` where it has none.
    pub(super) fn each_meant(&mut self, expr: &'a Ast) -> SqlResult<Option<Vec<(String, Expr)>>> {
        if !walk::any_expression(expr, is_columns) {
            return Ok(None);
        }
        let argument = argument_of(expr)?;
        if self.is_resolving() {
            return Err(unsupported("COLUMNS in a view", expr));
        }
        let columns = self.meant(argument, expr)?;
        if columns.is_empty() {
            let message = "COLUMNS means no column";
            return Err(at(SqlError::new(SqlState::UNDEFINED_COLUMN, message), expr));
        }
        let mut each = Vec::with_capacity(columns.len());
        for Named { name, attr, .. } in columns {
            let before = self.chosen.replace(attr);
            let bound = self.expr(expr);
            self.chosen = before;
            each.push((name, bound?));
        }
        Ok(Some(each))
    }

    /// The columns that an argument means.
    fn meant(&mut self, argument: &'a FunctionArgExpr, whole: &'a Ast) -> SqlResult<Vec<Named>> {
        let all = self.level().frame.all();
        match argument {
            FunctionArgExpr::Wildcard => Ok(all),
            FunctionArgExpr::WildcardWithOptions(options) => {
                if options.opt_replace.is_some() || options.opt_rename.is_some() {
                    return Err(unsupported("REPLACE or RENAME in COLUMNS", whole));
                }
                let excluded = super::star::excluded(options)?;
                let is_kept = |it: &Named| !excluded.iter().any(|name| is_named(name, &it.name));
                Ok(all.into_iter().filter(is_kept).collect())
            }
            FunctionArgExpr::QualifiedWildcard(of) => {
                let relation = self.whole_row(of)?;
                Ok(relation.columns.named().collect())
            }
            FunctionArgExpr::Expr(names) => {
                let bound = self.expr(names)?;
                let ExprKind::Literal(Value::Text(text)) = &bound.kind else {
                    return Err(unsupported("COLUMNS of what is no constant", whole));
                };
                match bound.data_type.element() {
                    Some(element) => {
                        let listed: Vec<Value> =
                            Items::new(text).map(|it| value_of(it, element)).collect();
                        let is_meant = |it: &Named| {
                            listed.iter().any(|name| *name == Value::Text(it.name.as_str().into()))
                        };
                        Ok(all.into_iter().filter(is_meant).collect())
                    }
                    None => matching(all, text),
                }
            }
        }
    }
}

/// The columns whose names match a regular expression somewhere.
fn matching(all: Vec<Named>, pattern: &str) -> SqlResult<Vec<Named>> {
    let text = |it: &str| (Value::Text(it.into()), DataType::Text);
    let mut found = Vec::new();
    for column in all {
        let arguments = [text(&column.name), text(pattern)];
        let matches = functions::evaluate(Function::RegexLike, &arguments, DataType::Boolean)?;
        if matches == Value::Boolean(true) {
            found.push(column);
        }
    }
    Ok(found)
}

/// The argument of the only such call of an expression.
fn argument_of(expr: &Ast) -> SqlResult<&FunctionArgExpr> {
    let calls = Cell::new(0_usize);
    walk::any_expression(expr, |it| {
        calls.set(calls.get() + usize::from(is_columns(it)));
        false
    });
    let refused = || unsupported("COLUMNS beside another in one expression", expr);
    if calls.get() != 1 {
        return Err(refused());
    }
    let call = only_call(expr).ok_or_else(refused)?;
    match &call.args {
        FunctionArguments::List(list) => match &list.args[..] {
            [FunctionArg::Unnamed(it)] => Ok(it),
            _ => {
                let message = "syntax error: COLUMNS takes *, a regular expression or names";
                Err(at(SqlError::new(SqlState::SYNTAX, message), expr))
            }
        },
        _ => Err(refused()),
    }
}

/// The call itself, where it stands in calls, operations and casts.
fn only_call(expr: &Ast) -> Option<&ast::Function> {
    if let Ast::Function(call) = expr
        && is_columns(expr)
    {
        return Some(call);
    }
    match expr {
        Ast::Nested(it)
        | Ast::Cast { expr: it, .. }
        | Ast::UnaryOp { expr: it, .. }
        | Ast::IsNull(it)
        | Ast::IsNotNull(it) => only_call(it),
        Ast::BinaryOp { left, right, .. } => only_call(left).or_else(|| only_call(right)),
        Ast::Function(call) => {
            let FunctionArguments::List(list) = &call.args else { return None };
            list.args.iter().find_map(|it| match it {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) => only_call(it),
                _ => None,
            })
        }
        _ => None,
    }
}
