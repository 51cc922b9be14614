//! The view `pg_proc`: the functions that there are, by name.
//!
//! Key decision: a function is one row, whatever it takes: the types of its calls are found when it is called.

use std::borrow::Cow;

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;
use functions::Volatility;

use super::shapes;
use super::shared::{none, number as cell};
use super::{made_functions, oids};
use crate::Session;
use crate::views::{Cell, ViewBuilder};

/// A function: its name, its kind and how its results change.
struct Known {
    name: Cow<'static, str>,
    kind: &'static str,
    volatility: &'static str,
}

fn all() -> Vec<Known> {
    let scalars = functions::names().filter_map(|name| {
        let volatility = match functions::volatility(functions::lookup(name)?) {
            Volatility::Immutable => "i",
            Volatility::Stable => "s",
            Volatility::Volatile => "v",
        };
        Some(Known { name: name.into(), kind: "f", volatility })
    });
    let scalars = scalars.chain(binder::bind::json_names().map(|name| Known {
        name: name.into(),
        kind: "f",
        volatility: "i",
    }));
    let of_types = super::types::function_names().into_iter();
    let of_types = of_types.map(|name| Known { name: name.into(), kind: "f", volatility: "s" });
    let aggregates = binder::bind::aggregate_names();
    let aggregates = aggregates.map(|name| Known { name: name.into(), kind: "a", volatility: "i" });
    scalars.chain(of_types).chain(aggregates).collect()
}

fn oid(it: &Known) -> i64 {
    oids::of_name("function", &it.name)
}

/// The rows of `pg_proc`.
pub(super) fn functions(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_PROC);
    for it in all() {
        view.row([
            cell(oid(&it)),
            (&*it.name).into(),
            cell(oids::CATALOG),
            cell(oids::OWNER),
            cell(oids::INTERNAL),
            cell(1),
            cell(0),
            cell(0),
            it.kind.into(),
            false.into(),
            false.into(),
            false.into(),
            false.into(),
            it.volatility.into(),
            "s".into(),
            Cell::Integer(None),
            cell(0),
            cell(0),
            none(),
            none(),
            none(),
            none(),
            (&*it.name).into(),
            none(),
            none(),
            none(),
        ]);
    }
    made_functions::add(session, &mut view)?;
    view.finish()
}

/// The number of a function by what calls it, perhaps with the types of its parameters, which are not looked at of one that is
/// built in.
pub(super) fn number_called(session: &Session, text: &str) -> Option<i64> {
    let text = text.trim();
    if text == "-" {
        return Some(0);
    }
    let (name, types) = with_types(text);
    let (schema, name) = binder::sequence_names::relation_in(name).ok()?;
    if schema.as_deref().is_none_or(|it| it == names::CATALOG)
        && let Some(known) = all().iter().find(|it| it.name == name)
    {
        return Some(oid(known));
    }
    made_functions::number_of(session, (schema.as_deref(), &name), types.as_deref())
}

/// A name, and the types behind it in brackets.
fn with_types(text: &str) -> (&str, Option<Vec<String>>) {
    let (mut is_quoted, mut depth) = (false, 0_usize);
    let (mut begin, mut types) = (None, Vec::new());
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' => {
                depth += 1;
                if begin.is_none() {
                    (begin, end) = (Some(at + 1), at);
                }
            }
            ')' | ',' => {
                if let Some(from) = begin.filter(|_| depth == 1) {
                    types.push(text[from..at].trim().to_owned());
                    begin = Some(at + 1);
                }
                depth = if letter == ')' { depth.saturating_sub(1) } else { depth };
            }
            _ => {}
        }
    }
    // Without parameters there is nothing in the brackets.
    if let [only] = &types[..]
        && only.is_empty()
    {
        types.clear();
    }
    (&text[..end], begin.map(|_| types))
}

/// The names of functions by their numbers; with the types of the parameters of those that users made.
pub(super) fn names_of(session: &Session, with_types: bool) -> Vec<(i64, String)> {
    let made = made_functions::names(session, with_types);
    all().iter().map(|it| (oid(it), it.name.to_string())).chain(made).collect()
}

/// The names that texts have for functions, with their schemas and without, by their numbers; `-` is none.
pub(super) fn known_names(session: &Session, with_types: bool) -> Vec<(i64, String)> {
    let own = all().into_iter().map(|it| (oid(&it), it.name.to_string()));
    let own = own.flat_map(|(oid, name)| [(oid, format!("pg_catalog.{name}")), (oid, name)]);
    let made = made_functions::known_names(session, with_types);
    own.chain(made).chain([(0, "-".to_owned())]).collect()
}

/// What functions give, by their numbers.
pub(super) fn results(session: &Session) -> Vec<(i64, String)> {
    let made = made_functions::all(session).into_iter().map(|it| (it.oid, it.result));
    all().iter().map(|it| (oid(it), "any".to_owned())).chain(made).collect()
}

/// Statements that would make functions, by their numbers.
pub(super) fn definitions(session: &Session) -> Vec<(i64, String)> {
    let definition = |it: &Known| {
        let name = &it.name;
        format!(
            "CREATE OR REPLACE FUNCTION pg_catalog.{name}()\n LANGUAGE internal\nAS $function${name}$function$\n"
        )
    };
    let known = all().into_iter().filter(|it| it.kind == "f");
    let known = known.map(|it| (oid(&it), definition(&it)));
    known.chain(made_functions::definitions(session)).collect()
}
