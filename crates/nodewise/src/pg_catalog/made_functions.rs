//! Functions that users wrote in SQL, as the catalog tells of them.

use ::types::{MacroDefinition, MacroForm, SqlFunction, SqlResult, array};

use super::oids;
use super::relations::{numbers, quoted};
use super::shared::{none, number as cell};
use crate::Session;
use crate::views::{Cell, ViewBuilder};

/// The number of the language SQL.
const SQL: i64 = 14;
/// The number of `record`, the type of rows.
const RECORD: i64 = 2249;

/// A function as the catalog tells of it.
pub(super) struct Made {
    pub(super) oid: i64,
    pub(super) name: String,
    /// What it gives, in words.
    pub(super) result: String,
    /// Its arguments in words, with their defaults and without.
    arguments: (String, String),
    /// The numbers of the types of its parameters, and of its result.
    types: Vec<i64>,
    result_type: i64,
    names: Vec<String>,
    defaults: usize,
    gives_rows: bool,
    is_strict: bool,
    body: String,
}

/// All of them; a function is told of as its first form.
pub(super) fn all(session: &Session) -> Vec<Made> {
    let snapshot = session.snapshot();
    let made = snapshot.macros().filter_map(|it| {
        let form = it.forms.iter().find(|it| it.function.is_some())?;
        Some(made(session, it, form, form.function.as_ref()?))
    });
    made.collect()
}

fn made(
    session: &Session,
    definition: &MacroDefinition,
    form: &MacroForm,
    function: &SqlFunction,
) -> Made {
    let of_type = |it: &str| super::types::number_of(session, it).unwrap_or(0);
    let all_names = super::types::all_names(session);
    let in_words = |it: &str| {
        let oid = of_type(it);
        let known = all_names.iter().find(|it| it.0 == oid).map(|it| it.2.clone());
        known.unwrap_or_else(|| it.to_lowercase())
    };
    let argument = |with_default: bool| {
        let each = form.parameters.iter().zip(&function.types).map(|(parameter, of)| {
            let mut text = in_words(of);
            if !parameter.name.is_empty() {
                text = format!("{} {text}", quoted(&parameter.name));
            }
            match parameter.default.as_ref().filter(|_| with_default) {
                Some(default) => format!("{text} DEFAULT {default}"),
                None => text,
            }
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let columns = function.returns.iter();
    let (result, result_type) = match &function.returns[..] {
        [(_, of)] if !definition.is_table => (in_words(of), of_type(of)),
        returns => {
            let columns = columns.map(|(name, of)| format!("{} {}", quoted(name), in_words(of)));
            let text = format!("TABLE({})", columns.collect::<Vec<_>>().join(", "));
            let of = if let [(_, of)] = returns { of_type(of) } else { RECORD };
            (text, of)
        }
    };
    let types = function.types.iter().map(|it| of_type(it)).collect();
    let own = format!("{} {:?}", definition.name, function.types);
    Made {
        oid: oids::of_name("function in SQL", &own),
        name: definition.name.clone(),
        result,
        arguments: (argument(true), argument(false)),
        types,
        result_type,
        names: form.parameters.iter().map(|it| it.name.clone()).collect(),
        defaults: form.parameters.iter().filter(|it| it.default.is_some()).count(),
        gives_rows: definition.is_table,
        is_strict: function.is_strict,
        body: form.body.clone(),
    }
}

/// Their rows of `pg_proc`.
pub(super) fn add(session: &Session, view: &mut ViewBuilder) -> SqlResult<()> {
    for it in all(session) {
        let types = numbers(it.types.iter().copied(), 0)?;
        let has_names = it.names.iter().any(|it| !it.is_empty());
        let names = if has_names { list(&it.names)? } else { none() };
        view.row([
            cell(it.oid),
            it.name.into(),
            cell(oids::PUBLIC),
            cell(oids::OWNER),
            cell(SQL),
            cell(100),
            cell(if it.gives_rows { 1000 } else { 0 }),
            cell(0),
            "f".into(),
            false.into(),
            false.into(),
            it.is_strict.into(),
            it.gives_rows.into(),
            "v".into(),
            "u".into(),
            cell(it.types.len() as i64),
            cell(it.defaults as i64),
            cell(it.result_type),
            types.into(),
            none(),
            none(),
            names,
            it.body.into(),
            none(),
            none(),
            none(),
        ]);
    }
    Ok(())
}

fn list(texts: &[String]) -> SqlResult<Cell> {
    let mut held = String::new();
    texts.iter().for_each(|it| array::push_text(&mut held, it));
    array::close_list(&mut held, 0, texts.len())?;
    Ok(held.into())
}

/// Their arguments in words, by their numbers.
pub(super) fn arguments(session: &Session, with_defaults: bool) -> Vec<(i64, String)> {
    let said = |it: Made| if with_defaults { it.arguments.0 } else { it.arguments.1 };
    all(session).into_iter().map(|it| (it.oid, said(it))).collect()
}

/// Statements that would make them, by their numbers.
pub(super) fn definitions(session: &Session) -> Vec<(i64, String)> {
    let definition = |it: Made| {
        let strict = if it.is_strict { "\n STRICT" } else { "" };
        let (name, arguments) = (quoted(&it.name), it.arguments.0);
        let (result, body) = (it.result, it.body);
        let text = format!(
            "CREATE OR REPLACE FUNCTION public.{name}({arguments})\n RETURNS {result}\n LANGUAGE sql{strict}\nAS $function${body}$function$\n"
        );
        (it.oid, text)
    };
    all(session).into_iter().map(definition).collect()
}
