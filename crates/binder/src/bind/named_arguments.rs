//! Arguments by the names of their parameters: `make_interval(days => 3)`.
//!
//! Key decision: such a call is bound to one without names before anything else sees it, with the default of a parameter that nothing
//! is said of in its place.

use plan::Expr;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::errors::{at, unsupported};
use crate::syntax::ident;

/// The parameters of a function that has names for them.
struct Parameters {
    names: &'static [&'static str],
    /// How many of them must be said.
    required: usize,
}

fn parameters(function: &str) -> Option<Parameters> {
    let (names, required): (&[&str], usize) = match function {
        "make_date" => (&["year", "month", "day"], 3),
        "make_interval" => (&["years", "months", "weeks", "days", "hours", "mins", "secs"], 0),
        "make_time" => (&["hour", "min", "sec"], 3),
        "make_timestamp" => (&["year", "month", "mday", "hour", "min", "sec"], 6),
        "make_timestamptz" => (&["year", "month", "mday", "hour", "min", "sec", "timezone"], 6),
        "jsonb_set" => (&["jsonb_in", "path", "replacement", "create_if_missing"], 3),
        "jsonb_set_lax" => {
            (&["jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"], 3)
        }
        "jsonb_insert" => (&["jsonb_in", "path", "replacement", "insert_after"], 3),
        _ => return None,
    };
    Some(Parameters { names, required })
}

/// What a parameter is that nothing is said of; `None` of one that then is none of the call's.
fn default_of(function: &str, place: usize) -> Option<Expr> {
    match (function, place) {
        ("make_interval", 6) => Some(Expr::literal(Value::Float(0.0), DataType::Double)),
        ("make_interval", _) => Some(Expr::literal(Value::Integer(0), DataType::Integer)),
        ("jsonb_set_lax", 4) => Some(super::json::word("use_json_null")),
        ("jsonb_set" | "jsonb_set_lax", _) => {
            Some(Expr::literal(Value::Boolean(true), DataType::Boolean))
        }
        ("jsonb_insert", _) => Some(Expr::literal(Value::Boolean(false), DataType::Boolean)),
        _ => None,
    }
}

impl<'a> Binder<'a> {
    /// The arguments of a call of which some have names, in the order of the parameters; `None` of any other call.
    pub(super) fn named_arguments(
        &mut self,
        function: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Vec<Expr>>> {
        let FunctionArguments::List(list) = &call.args else { return Ok(None) };
        let is_named = |it: &FunctionArg| !matches!(it, FunctionArg::Unnamed(_));
        if !list.args.iter().any(is_named) {
            return Ok(None);
        }
        let Some(Parameters { names, required }) = parameters(function) else { return Ok(None) };
        let mut bound: Vec<Option<Expr>> = vec![None; names.len()];
        let mut has_named = false;
        let positional = list.args.iter().take_while(|it| !is_named(it)).count();
        for (at_place, argument) in list.args.iter().enumerate() {
            let name = name_of(argument);
            let place = match &name {
                Some(name) => names.iter().position(|it| it == name),
                None if has_named => {
                    let message = "positional argument cannot follow named argument";
                    return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
                }
                None => Some(at_place).filter(|it| *it < names.len()),
            };
            has_named |= name.is_some();
            let Some(expr) = expr_of(argument) else {
                return Err(unsupported("* as an argument", whole));
            };
            let expr = self.expr(expr)?;
            let Some(place) = place else {
                return Err(self.no_function(function, &[expr], whole));
            };
            if bound[place].is_some() && place < positional {
                return Err(self.no_function(function, &[expr], whole));
            }
            if bound[place].replace(expr).is_some() {
                let name = names[place];
                let message = format!("argument name \"{name}\" used more than once");
                return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
            }
        }
        let said: Vec<Expr> = bound.iter().flatten().cloned().collect();
        if bound[..required].iter().any(Option::is_none) {
            return Err(self.no_function(function, &said, whole));
        }
        let filled = bound.into_iter().enumerate();
        Ok(Some(
            filled.filter_map(|(place, it)| it.or_else(|| default_of(function, place))).collect(),
        ))
    }
}

fn name_of(argument: &FunctionArg) -> Option<String> {
    match argument {
        FunctionArg::Named { name, .. } => Some(ident(name)),
        FunctionArg::ExprNamed { name: ast::Expr::Identifier(name), .. } => Some(ident(name)),
        FunctionArg::ExprNamed { name, .. } => Some(name.to_string()),
        FunctionArg::Unnamed(_) => None,
    }
}

fn expr_of(argument: &FunctionArg) -> Option<&ast::Expr> {
    let (FunctionArg::Named { arg, .. }
    | FunctionArg::ExprNamed { arg, .. }
    | FunctionArg::Unnamed(arg)) = argument;
    match arg {
        FunctionArgExpr::Expr(expr) => Some(expr),
        _ => None,
    }
}
