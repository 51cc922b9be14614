//! Trees as the SQL that a user writes: what words became before parsing becomes words again.
//!
//! Key decision: this is the one place that makes texts that are kept (queries of views, bodies of functions, rules of tables), so that
//! whoever is shown one can run it. A node for which the parser has another spelling gives way to a name without quotes that is
//! the whole text of it, inner nodes first, and the parser writes the rest. What is written is read by [`crate::parse`] again.

mod json;
mod json_table;
mod parts;
mod pivot;
mod positional;
mod windows;

use std::fmt::Display;
use std::ops::ControlFlow;

use sqlparser::ast::{
    CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, Ident, Interval, ObjectName,
    Select, StructBracketKind, TableAlias, TableFactor, TypedString, UnaryOperator, Value,
    VisitMut,
};
use types::SqlError;

use self::parts::{arguments, own_name, shown, text, word};
use crate::catalog_tables::INPUT_ERRORS;
use crate::json_words::IS_JSON;
use crate::own_names::{ROWS_FROM, VARIADIC};
use crate::struct_words;
use crate::walk::{self, Editor};

/// What stands for `IS NOT JSON` while a tree is written.
const IS_NOT_JSON: &str = "is not\njson";

/// A tree as SQL.
pub(crate) fn written<T: VisitMut + Clone + Display>(tree: &T) -> String {
    let mut tree = tree.clone();
    let ended = walk::edit(&mut tree, &mut Words);
    debug_assert!(ended.is_continue());
    tree.to_string()
}

struct Words;

impl Editor for Words {
    fn pre_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        match expr {
            Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => {
                if let Expr::Function(call) = &mut **inner
                    && own_name(&call.name) == Some(IS_JSON)
                {
                    call.name = ObjectName::from(vec![Ident::with_quote('"', IS_NOT_JSON)]);
                    *expr = Expr::Function(call.clone());
                }
            }
            Expr::Subquery(query) => {
                if let Some(call) = json::of_query(query) {
                    *expr = Expr::Function(call);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        match expr {
            Expr::Function(call) => {
                windows::of_call(call);
                if let Some(words) = call_in_words(call) {
                    *expr = text(words);
                }
            }
            Expr::Identifier(it) if it.quote_style.is_some() && it.value == struct_words::ALL => {
                *it = shown("*".to_owned());
            }
            Expr::Cast { data_type, .. } => of_type(data_type),
            Expr::TypedString(it) => {
                of_type(&mut it.data_type);
                if let Some(cast) = of_constant(it) {
                    *expr = cast;
                }
            }
            Expr::Interval(it) => {
                if let Some(words) = of_interval(it) {
                    *expr = text(words);
                }
            }
            Expr::GroupingSets(sets) => *expr = text(of_sets(sets)),
            Expr::UnaryOp { op, expr: inner } => {
                let first = inner.to_string();
                // Two signs would be another operator, or begin a comment.
                if !matches!(op, UnaryOperator::Not)
                    && first.starts_with(['-', '+', '~', '@', '|', '!'])
                {
                    let operand = std::mem::replace(&mut **inner, Expr::Value(Value::Null.into()));
                    **inner = Expr::Nested(Box::new(operand));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        windows::of_select(select);
        select.from.iter_mut().for_each(positional::of_tables);
        ControlFlow::Continue(())
    }

    fn post_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        match factor {
            TableFactor::Table { name, alias, .. } | TableFactor::Function { name, alias, .. } => {
                if own_name(name) == Some(ROWS_FROM) {
                    *name = ObjectName::from(vec![shown("ROWS FROM ".to_owned())]);
                }
                of_columns(alias.as_mut());
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                positional::of_tables(table_with_joins);
            }
            TableFactor::Pivot { .. } => {
                if let Some(words) = pivot::of_factor(factor) {
                    *factor = words;
                }
            }
            TableFactor::Derived { lateral: true, subquery, alias, .. } => {
                of_columns(alias.as_mut());
                if let Some(words) = json_table::of_query(subquery) {
                    *factor = TableFactor::Function {
                        lateral: false,
                        name: ObjectName::from(vec![shown(words.name)]),
                        args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(text(words.inner)))],
                        with_ordinality: false,
                        alias: alias.take(),
                    };
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The types of columns that an alias says.
fn of_columns(alias: Option<&mut TableAlias>) {
    let columns = alias.into_iter().flat_map(|it| &mut it.columns);
    columns.filter_map(|it| it.data_type.as_mut()).for_each(of_type);
}

/// A call of a name that no user writes, as what users write.
fn call_in_words(call: &Function) -> Option<String> {
    let name = own_name(&call.name)?;
    let arguments = arguments(call)?;
    match (name, &arguments[..]) {
        (VARIADIC, [array]) => Some(format!("VARIADIC {array}")),
        (IS_JSON | IS_NOT_JSON, [value, kind, unique]) => {
            let not = if name == IS_JSON { "" } else { "NOT " };
            let kind = word(kind)?.to_uppercase();
            let is_unique = matches!(unique, Expr::Value(it) if it.value == Value::Boolean(true));
            let keys = if is_unique { " WITH UNIQUE KEYS" } else { "" };
            Some(format!("{value} IS {not}JSON {kind}{keys}"))
        }
        (INPUT_ERRORS, [value, data_type]) => Some(format!(
            "(SELECT ARRAY[message, detail, hint, sql_error_code] FROM pg_input_error_info({value}, {data_type}))"
        )),
        _ => pivot::aliased(name, &arguments).or_else(|| json::call_in_words(name, &arguments)),
    }
}

/// A type, in which maps and structs are in brackets.
fn of_type(data_type: &mut DataType) {
    match data_type {
        DataType::Struct(fields, kind) => {
            fields.iter_mut().for_each(|it| of_type(&mut it.field_type));
            let named = |place: usize| {
                let field = fields.get(place)?;
                field.field_name.as_ref().map(|it| &*it.value)
            };
            if named(0) == Some(struct_words::KEY) && named(1) == Some(struct_words::VALUE) {
                let map = format!("MAP({}, {})", fields[0].field_type, fields[1].field_type);
                *data_type = DataType::Custom(ObjectName::from(vec![shown(map)]), Vec::new());
            } else {
                *kind = StructBracketKind::Parentheses;
            }
        }
        DataType::Array(
            sqlparser::ast::ArrayElemTypeDef::SquareBracket(element, _)
            | sqlparser::ast::ArrayElemTypeDef::AngleBracket(element),
        ) => of_type(element),
        _ => {}
    }
}

/// A constant of a type whose name has parts, which is read as a cast alone.
fn of_constant(constant: &TypedString) -> Option<Expr> {
    let DataType::Custom(name, _) = &constant.data_type else { return None };
    (name.0.len() > 1).then(|| Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(constant.value.clone())),
        data_type: constant.data_type.clone(),
        array: false,
        format: None,
    })
}

/// `INTERVAL(3) '..'`, whose digits the parser writes behind the text.
fn of_interval(interval: &Interval) -> Option<String> {
    let digits = interval.fractional_seconds_precision?;
    let is_bare = interval.leading_field.is_none() && interval.last_field.is_none();
    is_bare.then(|| format!("INTERVAL({digits}) {}", interval.value))
}

/// Sets, of which those that are sets of their own have no brackets.
fn of_sets(sets: &[Vec<Expr>]) -> String {
    let set = |set: &Vec<Expr>| match &set[..] {
        [it @ (Expr::Rollup(_) | Expr::Cube(_))] => it.to_string(),
        [Expr::Identifier(it)] if it.value.starts_with("GROUPING SETS (") => it.value.clone(),
        entries => {
            let entries: Vec<String> = entries.iter().map(Expr::to_string).collect();
            format!("({})", entries.join(", "))
        }
    };
    let sets: Vec<String> = sets.iter().map(set).collect();
    format!("GROUPING SETS ({})", sets.join(", "))
}
