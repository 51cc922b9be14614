//! Names that no user can write: what words of SQL that the parser does not know become before parsing ([`crate::parse`]), and from
//! which they become words again ([`crate::written`]).

use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments};

/// The function that stands for ROWS FROM: its arguments are calls.
pub(crate) const ROWS_FROM: &str = "rows\nfrom";
/// The function that stands for VARIADIC: its argument is the array.
pub(crate) const VARIADIC: &str = "variadic\nargument";
/// The function that stands for a call of one of several functions ([`crate::overloads`]).
pub(crate) const CALL_OF: &str = "call\nof";
/// What stands for `json_exists`, `json_query` and `json_value`.
pub(crate) const JSON_QUERIES: [(&str, &str); 3] =
    [("json_exists", "json\nexists"), ("json_query", "json\nquery"), ("json_value", "json\nvalue")];
/// A value that is the text of JSON.
pub(crate) const FORMATTED: &str = "json\nformatted";
/// JSON of a text, in which no object may have a key twice.
pub(crate) const UNIQUE: &str = "json\nunique";
/// The rows of the query of `JSON_ARRAY(query)`.
pub(crate) const ARRAY_ROWS: &str = "json\nrows";
/// The aggregates that make arrays and objects, and what they are of JSON and of JSONB.
pub(crate) const JSON_AGGREGATES: [(&str, &str, &str); 2] = [
    ("json\nagg", "json_agg", "jsonb_agg"),
    ("json\nobject_agg", "json_object_agg", "jsonb_object_agg"),
];
/// Begins the text that keeps the columns of a JSON_TABLE.
pub(crate) const TABLE_COLUMNS: &str = "json_table\n";
/// The aggregates of a PIVOT.
pub(crate) const PIVOT_USING: &str = "pivot\nusing";
/// The columns by which a PIVOT groups.
pub(crate) const PIVOT_KEYS: &str = "pivot\nkeys";
/// A column of a PIVOT, and the values of it that become columns.
pub(crate) const PIVOT_VALUES: &str = "pivot\nvalues";
/// A column of a PIVOT all of whose values become columns, or those that a query has.
pub(crate) const PIVOT_OPEN: &str = "pivot\nopen";
/// A value or an aggregate of a PIVOT, and what it is called.
pub(crate) const PIVOT_ALIAS: &str = "pivot\nalias";

/// The name and the arguments of what may be a call of such a name: one word, and nothing but expressions.
pub(crate) fn own_call(expr: &Expr) -> Option<(&str, Vec<&Expr>)> {
    let Expr::Function(call) = expr else { return None };
    // The parser takes the quotes off the names of aggregates.
    let [name] = &call.name.0[..] else { return None };
    let FunctionArguments::List(list) = &call.args else { return None };
    let arguments = list.args.iter().map(|it| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) => Some(it),
        _ => None,
    });
    Some((&name.as_ident()?.value, arguments.collect::<Option<_>>()?))
}
