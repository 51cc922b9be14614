//! The calls of SQL/JSON in words, of which [`crate::sql_json_words`] and [`crate::json_constructor_words`] made arguments.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident,
    ObjectName, Query, SetExpr, TableFactor, Value,
};

use super::parts::{arguments, own_name, word};
use crate::own_names::{ARRAY_ROWS, FORMATTED, JSON_QUERIES, UNIQUE};
use crate::syntax::quoted_name;

/// What stands for `JSON_ARRAY(query)` while a tree is written.
const ARRAY_OF_QUERY: &str = "json\narray of";

pub(super) fn call_in_words(name: &str, arguments: &[&Expr]) -> Option<String> {
    if let Some((kind, _)) = JSON_QUERIES.iter().find(|it| it.1 == name) {
        return queried(kind, arguments);
    }
    match (name, arguments) {
        (FORMATTED, [value, encoding]) => {
            Some(format!("{value} FORMAT JSON{}", encoded(word(encoding)?)))
        }
        (UNIQUE, [value, unique]) => {
            let how = if word(unique)?.is_empty() { "WITHOUT" } else { "WITH" };
            Some(format!("JSON({value} {how} UNIQUE KEYS)"))
        }
        (_, [returned, form, words, values @ ..]) => {
            let clauses = Clauses {
                returned: returning(returned)?,
                form: formatted(word(form)?),
                words: word(words)?,
            };
            constructed(name, &clauses, values)
        }
        _ => None,
    }
}

/// What the clauses of a constructor say.
struct Clauses<'a> {
    returned: String,
    form: String,
    words: &'a str,
}

impl Clauses<'_> {
    /// The clauses behind the values; `absent` where values that are NULL are left out if nothing is said.
    fn behind(&self, absent: bool) -> String {
        let is_absent = self.words.contains('a');
        let nulls = match is_absent == absent {
            true => "",
            false if is_absent => " ABSENT ON NULL",
            false => " NULL ON NULL",
        };
        let keys = if self.words.contains('u') { " WITH UNIQUE KEYS" } else { "" };
        format!("{nulls}{keys}{}{}", self.returned, self.form)
    }
}

fn constructed(name: &str, clauses: &Clauses<'_>, values: &[&Expr]) -> Option<String> {
    let listed = |all: Vec<String>, behind: String| match all.is_empty() {
        true => behind.trim_start().to_owned(),
        false => format!("{}{behind}", all.join(", ")),
    };
    match (name, values) {
        ("json\nobject", members) => {
            let member = |it: &[&Expr]| format!("{} : {}", it[0], it[1]);
            let members = members.chunks_exact(2).map(member).collect();
            Some(format!("JSON_OBJECT({})", listed(members, clauses.behind(false))))
        }
        ("json\narray", items) => {
            let items = items.iter().map(ToString::to_string).collect();
            Some(format!("JSON_ARRAY({})", listed(items, clauses.behind(true))))
        }
        (ARRAY_OF_QUERY, [Expr::Subquery(query)]) => {
            Some(format!("JSON_ARRAY({query}{}{})", clauses.returned, clauses.form))
        }
        ("json\nserialize", [value]) => {
            let returned = match &*clauses.returned {
                " RETURNING TEXT" => "",
                other => other,
            };
            Some(format!("JSON_SERIALIZE({value}{returned}{})", clauses.form))
        }
        ("json\narrayagg", aggregates) => {
            of_rows("JSON_ARRAYAGG", clauses.behind(true), aggregates)
        }
        ("json\nobjectagg", aggregates) => {
            of_rows("JSON_OBJECTAGG", clauses.behind(false), aggregates)
        }
        _ => None,
    }
}

/// An aggregate, of which there are the count of its rows and what is made of them.
fn of_rows(name: &str, behind: String, aggregates: &[&Expr]) -> Option<String> {
    let [Expr::Function(count), Expr::Function(made), _] = aggregates else { return None };
    let FunctionArguments::List(list) = &made.args else { return None };
    let order = list.clauses.iter().find_map(|it| match it {
        FunctionArgumentClause::OrderBy(keys) => {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            Some(format!(" ORDER BY {}", keys.join(", ")))
        }
        _ => None,
    });
    let values = match &arguments(made)?[..] {
        [value] => value.to_string(),
        [key, value] => format!("{key} : {value}"),
        _ => return None,
    };
    let filter = count.filter.as_deref().map(|it| match it {
        Expr::Nested(inner) => format!(" FILTER (WHERE {inner})"),
        other => format!(" FILTER (WHERE {other})"),
    });
    let over = count.over.as_ref().map(|it| format!(" OVER {it}"));
    let [order, filter, over] = [order, filter, over].map(Option::unwrap_or_default);
    Some(format!("{name}({values}{order}{behind}){filter}{over}"))
}

/// `JSON_ARRAY(query)` as one call, before the aggregate in it is written.
pub(super) fn of_query(query: &Query) -> Option<Function> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let [table] = &select.from[..] else { return None };
    let TableFactor::Derived { subquery, alias: Some(alias), .. } = &table.relation else {
        return None;
    };
    if alias.name.value != ARRAY_ROWS {
        return None;
    }
    let [item] = &select.projection[..] else { return None };
    let sqlparser::ast::SelectItem::UnnamedExpr(Expr::Function(call)) = item else { return None };
    let FunctionArguments::List(list) = &call.args else { return None };
    if own_name(&call.name) != Some("json\narrayagg") || list.args.len() < 3 {
        return None;
    }
    let mut call = call.clone();
    call.name = ObjectName::from(vec![Ident::with_quote('"', ARRAY_OF_QUERY)]);
    let FunctionArguments::List(list) = &mut call.args else { return None };
    list.args.truncate(3);
    let rows = Expr::Subquery(subquery.clone());
    list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(rows)));
    Some(call)
}

/// JSON_EXISTS, JSON_QUERY or JSON_VALUE.
fn queried(kind: &str, arguments: &[&Expr]) -> Option<String> {
    let [json, path, variables, returned, wrapper, quotes, empty, of_empty, error, of_error] =
        arguments
    else {
        return None;
    };
    let wrapper = match word(wrapper)? {
        "perhaps" => " WITH CONDITIONAL WRAPPER",
        "wrapped" => " WITH UNCONDITIONAL WRAPPER",
        _ => "",
    };
    let quotes = if word(quotes)? == "omit" { " OMIT QUOTES" } else { "" };
    let (passing, returned) = (passing(variables)?, returning(returned)?);
    let empty = behaviour(kind, word(empty)?, of_empty, "EMPTY");
    let error = behaviour(kind, word(error)?, of_error, "ERROR");
    let name = kind.to_uppercase();
    Some(format!("{name}({json}, {path}{passing}{returned}{wrapper}{quotes}{empty}{error})"))
}

/// What is said for nothing, or for an error.
fn behaviour(kind: &str, said: &str, value: &Expr, on: &str) -> String {
    let what = match said {
        "" => return String::new(),
        "default" => format!("DEFAULT {value}"),
        "null" if kind == "json_exists" => "UNKNOWN".to_owned(),
        "object" => "EMPTY OBJECT".to_owned(),
        "array" => "EMPTY ARRAY".to_owned(),
        word => word.to_uppercase(),
    };
    format!(" {what} ON {on}")
}

/// The variables of a path, which a call makes an object of.
pub(super) fn passing(variables: &Expr) -> Option<String> {
    let Expr::Function(call) = variables else { return None };
    let parts = arguments(call)?;
    if parts.is_empty() {
        return Some(String::new());
    }
    let each = |it: &[&Expr]| Some(format!("{} AS {}", it[1], quoted_name(word(it[0])?)));
    let each: Option<Vec<String>> = parts.chunks_exact(2).map(each).collect();
    Some(format!(" PASSING {}", each?.join(", ")))
}

/// The type that is wanted, of which there is a NULL.
fn returning(data_type: &Expr) -> Option<String> {
    match data_type {
        Expr::Cast { data_type, .. } => Some(format!(" RETURNING {data_type}")),
        Expr::Value(it) if it.value == Value::Null => Some(String::new()),
        _ => None,
    }
}

fn formatted(form: &str) -> String {
    match form.strip_prefix("json ") {
        Some(encoding) => format!(" FORMAT JSON{}", encoded(encoding)),
        None => String::new(),
    }
}

fn encoded(encoding: &str) -> String {
    match encoding {
        "" => String::new(),
        it => format!(" ENCODING {}", it.to_uppercase()),
    }
}
