//! Arguments by the names of their parameters: `make_interval(days => 3)`.
//!
//! Key decision: such a call is bound to one without names before anything else sees it, with the default of a parameter that nothing
//! is said of in its place.

use plan::Expr;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments, Spanned};
use stdx::sync::OnceLock;
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
        "jsonb_path_exists"
        | "jsonb_path_exists_tz"
        | "jsonb_path_match"
        | "jsonb_path_match_tz"
        | "jsonb_path_query"
        | "jsonb_path_query_tz"
        | "jsonb_path_query_array"
        | "jsonb_path_query_array_tz"
        | "jsonb_path_query_first"
        | "jsonb_path_query_first_tz" => (&["target", "path", "vars", "silent"], 2),
        _ => return None,
    };
    Some(Parameters { names, required })
}

/// What a parameter is that nothing is said of; `None` of one that then is none of the call's.
pub(super) fn default_of(function: &str, place: usize) -> Option<Expr> {
    match (function, place) {
        ("make_interval", 6) => Some(Expr::literal(Value::Float(0.0), DataType::Double)),
        ("make_interval", _) => Some(Expr::literal(Value::Integer(0), DataType::Integer)),
        ("jsonb_set_lax", 4) => Some(super::json::word("use_json_null")),
        ("jsonb_set" | "jsonb_set_lax", _) => {
            Some(Expr::literal(Value::Boolean(true), DataType::Boolean))
        }
        (_, 2) if function.starts_with("jsonb_path_") => {
            Some(Expr::literal(Value::Text("{}".into()), DataType::Jsonb))
        }
        ("jsonb_insert", _) => Some(Expr::literal(Value::Boolean(false), DataType::Boolean)),
        (_, 3) if function.starts_with("jsonb_path_") => {
            Some(Expr::literal(Value::Boolean(false), DataType::Boolean))
        }
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
        let Some(parameters) = parameters(function).filter(|_| list.args.iter().any(is_named))
        else {
            return Ok(None);
        };
        let Some(places) = places(&parameters, &list.args, whole)? else {
            let said = list.args.iter().filter_map(expr_of);
            let said = said.map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
            return Err(self.no_function(function, &said, whole));
        };
        let mut bound = Vec::with_capacity(places.len());
        for (place, argument) in places.into_iter().enumerate() {
            match argument {
                Some(argument) => bound.push(self.expr(argument)?),
                None => bound.extend(default_of(function, place)),
            }
        }
        Ok(Some(bound))
    }
}

/// The arguments of a call that makes rows, in the order of the parameters; those of paths of JSON may have names.
///
/// # Errors
/// 42883 where no parameter has such a name, 42601 where one is said twice, and 0A000 of functions whose parameters have none.
pub(super) fn placed<'a>(
    function: &str,
    arguments: &'a [FunctionArg],
    node: &impl Spanned,
) -> SqlResult<Vec<&'a ast::Expr>> {
    let of_path = parameters(function).filter(|_| function.starts_with("jsonb_path_"));
    let Some(parameters) = of_path.filter(|_| arguments.iter().any(is_named)) else {
        return plain(arguments, node);
    };
    let Some(mut places) = places(&parameters, arguments, node)? else {
        let message = format!("function {function} does not exist with such arguments");
        return Err(at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), node));
    };
    while places.last().is_some_and(Option::is_none) {
        places.pop();
    }
    // The one parameter of theirs that may be left out before another: the variables of a path.
    Ok(places
        .into_iter()
        .map(|it| match it {
            Some(it) => it,
            None => no_variables(),
        })
        .collect())
}

/// The variables of a path of which none are said.
fn no_variables() -> &'static ast::Expr {
    static NONE: OnceLock<ast::Expr> = OnceLock::new();
    NONE.get_or_init(|| ast::Expr::value(ast::Value::SingleQuotedString("{}".to_owned())))
}

/// What stands for each parameter; `None` where a call does not fit them.
fn places<'a>(
    Parameters { names, required }: &Parameters,
    arguments: &'a [FunctionArg],
    node: &impl Spanned,
) -> SqlResult<Option<Vec<Option<&'a ast::Expr>>>> {
    let mut places: Vec<Option<&'a ast::Expr>> = vec![None; names.len()];
    let positional = arguments.iter().take_while(|it| !is_named(it)).count();
    for (at_place, argument) in arguments.iter().enumerate() {
        let place = match name_of(argument) {
            Some(name) => names.iter().position(|it| *it == name),
            None if at_place >= positional => {
                let message = "positional argument cannot follow named argument";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), node));
            }
            None => Some(at_place).filter(|it| *it < names.len()),
        };
        let Some(expr) = expr_of(argument) else {
            return Err(unsupported("* as an argument", node));
        };
        let Some(place) = place else { return Ok(None) };
        if places[place].is_some() && place < positional {
            return Ok(None);
        }
        if places[place].replace(expr).is_some() {
            let name = names[place];
            let message = format!("argument name \"{name}\" used more than once");
            return Err(at(SqlError::new(SqlState::SYNTAX, message), node));
        }
    }
    Ok(places[..*required].iter().all(Option::is_some).then_some(places))
}

fn is_named(argument: &FunctionArg) -> bool {
    !matches!(argument, FunctionArg::Unnamed(_))
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

/// The arguments of a call that has neither names nor `*` among them.
pub(super) fn plain<'a>(
    arguments: &'a [FunctionArg],
    node: &impl Spanned,
) -> SqlResult<Vec<&'a ast::Expr>> {
    let plain = |it: &'a FunctionArg| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr),
        _ => Err(unsupported("a named argument, or * as one,", node)),
    };
    arguments.iter().map(plain).collect()
}
