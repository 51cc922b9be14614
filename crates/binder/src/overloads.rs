//! Calls of functions in SQL that only the types of their arguments tell apart, or tell the types of.
//!
//! Key decision: what each of the functions would stand for is there before anything is bound ([`crate::macros`]), in a call of a name that
//! no user can write; binding looks at the arguments and takes one (`crate::bind::overloads`). A type such as `anyelement` has a name of its own
//! in each call, which means what that call makes of it.

use sqlparser::ast::{
    self, Expr, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, Value,
};
use types::SqlFunction;

use crate::own_names::CALL_OF;

/// The types that mean what the arguments of a call make of them.
const POLYMORPHIC: [&str; 8] = [
    "anyelement",
    "anyarray",
    "anynonarray",
    "anyenum",
    "anycompatible",
    "anycompatiblearray",
    "anycompatiblenonarray",
    "any",
];

/// What the name of a type of one call begins with.
const OF_CALL: char = '\u{1}';
/// Between the types of a candidate.
const BETWEEN: char = '\u{2}';

/// Whether the arguments of a call tell what a type means.
pub fn is_polymorphic(data_type: &str) -> bool {
    POLYMORPHIC.iter().any(|it| data_type.eq_ignore_ascii_case(it))
}

/// A function whose polymorphic types are those of the call of a number.
pub(crate) fn of_call_number(function: &SqlFunction, number: usize) -> SqlFunction {
    let own = |it: &String| match is_polymorphic(it) {
        true => {
            let name = format!("{OF_CALL}{number} {}", it.to_lowercase());
            Ident::with_quote('"', name).to_string()
        }
        false => it.clone(),
    };
    let types = function.types.iter().map(own).collect();
    let returns = function.returns.iter().map(|(name, it)| (name.clone(), own(it))).collect();
    SqlFunction { types, returns, ..function.clone() }
}

/// The call and the polymorphic type that a name of a type is of.
pub(crate) fn in_call(data_type: &ast::DataType) -> Option<(&str, &str)> {
    let ast::DataType::Custom(name, _) = data_type else { return None };
    let [part] = &name.0[..] else { return None };
    part.as_ident()?.value.strip_prefix(OF_CALL)?.split_once(' ')
}

/// A function that a call may mean: the types of the parameters that its arguments are, and what the call stands for.
pub(crate) struct Candidate<T> {
    pub(crate) types: Vec<String>,
    pub(crate) body: T,
}

/// The call of one of some functions, for binding.
pub(crate) fn arguments_of(
    name: &str,
    candidates: Vec<Candidate<Expr>>,
    arguments: Vec<Expr>,
) -> Vec<FunctionArg> {
    let text = |it: String| Expr::Value(Value::SingleQuotedString(it).into());
    let mut all = vec![text(name.to_owned()), text(candidates.len().to_string())];
    for it in candidates {
        all.extend([text(it.types.join(&BETWEEN.to_string())), it.body]);
    }
    all.extend(arguments);
    all.into_iter().map(|it| FunctionArg::Unnamed(FunctionArgExpr::Expr(it))).collect()
}

pub(crate) fn own_name() -> ObjectName {
    ObjectName::from(vec![Ident::with_quote('"', CALL_OF)])
}

pub(crate) fn call(
    name: &str,
    candidates: Vec<Candidate<Expr>>,
    arguments: Vec<Expr>,
) -> ast::Function {
    ast::Function {
        name: own_name(),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments_of(name, candidates, arguments),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// Such a call, read.
pub(crate) struct Choice<'e> {
    /// The name of the functions, as it is said.
    pub(crate) name: &'e str,
    pub(crate) candidates: Vec<Candidate<&'e Expr>>,
    pub(crate) arguments: Vec<&'e Expr>,
}

/// Reads the arguments of such a call.
pub(crate) fn choice(arguments: &[FunctionArg]) -> Option<Choice<'_>> {
    let expr = |it| match it {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref it)) => Some(it),
        _ => None,
    };
    let all: Vec<&Expr> = arguments.iter().map(expr).collect::<Option<_>>()?;
    let [name, count, rest @ ..] = &all[..] else { return None };
    let (candidates, arguments) = rest.split_at_checked(2 * text(count)?.parse::<usize>().ok()?)?;
    let mut read = Vec::with_capacity(candidates.len() / 2);
    for pair in candidates.chunks_exact(2) {
        let said = text(pair[0])?;
        let types = match said.is_empty() {
            true => Vec::new(),
            false => said.split(BETWEEN).map(str::to_owned).collect(),
        };
        read.push(Candidate { types, body: pair[1] });
    }
    Some(Choice { name: text(name)?, candidates: read, arguments: arguments.to_vec() })
}

/// The call of one of some functions that an expression is.
pub(crate) fn of_expr(expr: &Expr) -> Option<(&ast::Function, Choice<'_>)> {
    let Expr::Function(call) = expr else { return None };
    let FunctionArguments::List(list) = &call.args else { return None };
    is_one(&call.name).then(|| choice(&list.args)).flatten().map(|it| (call, it))
}

/// Whether a call is one of some functions, by its name.
pub(crate) fn is_one(name: &ObjectName) -> bool {
    matches!(&name.0[..], [part] if part.as_ident().is_some_and(|it| it.value == CALL_OF))
}

fn text(expr: &Expr) -> Option<&str> {
    let Expr::Value(value) = expr else { return None };
    match &value.value {
        Value::SingleQuotedString(it) => Some(it),
        _ => None,
    }
}
