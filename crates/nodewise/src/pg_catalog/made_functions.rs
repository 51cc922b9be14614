//! Functions that users wrote in SQL, as the catalog tells of them.

use ::types::names::quoted;
use ::types::{
    DataType, MacroDefinition, MacroForm, Parallel, SaidOfFunction, SqlFunction, SqlResult,
    Volatility, array, names,
};

use super::oids;
use super::relations::numbers;
use super::shared::{none, number as cell};
use super::standard_types::{said_type, udt};
use super::types::TYPES;
use crate::pg_types::{element_of, wire_type};
use crate::search_path::SearchPath;
use crate::views::{Cell, ViewBuilder};
use crate::{Session, macro_comments};

/// The number of the language SQL.
const SQL: i64 = 14;
/// The number of `record`, the type of rows.
const RECORD: i64 = 2249;

/// A function as the catalog tells of it.
pub(super) struct Made {
    pub(super) oid: i64,
    /// With its schema ([`names::joined`]).
    pub(super) full: String,
    /// In its schema.
    pub(super) name: String,
    /// What it gives, in words.
    pub(super) result: String,
    pub(super) result_type: SaidType,
    pub(super) parameters: Vec<Parameter>,
    /// The columns of what gives rows, if they have names.
    pub(super) columns: Vec<Parameter>,
    gives_rows: bool,
    pub(super) is_strict: bool,
    said: SaidOfFunction,
    pub(super) body: String,
    /// What the comment on it is kept under.
    pub(super) comment: Option<[String; 3]>,
}

/// A parameter of a function, or a column of what it gives.
pub(super) struct Parameter {
    /// Nothing of one that has none.
    pub(super) name: String,
    pub(super) of: SaidType,
    pub(super) default: Option<String>,
}

/// A type in a function.
pub(super) struct SaidType {
    oid: i64,
    /// As PostgreSQL writes it.
    words: String,
    /// As the standard says it.
    pub(super) standard: String,
    /// The schema and the name of it.
    pub(super) udt: (String, String),
}

impl SaidType {
    fn record() -> Self {
        let words = || "record".to_owned();
        let udt = (names::CATALOG.to_owned(), words());
        Self { oid: RECORD, words: words(), standard: words(), udt }
    }

    /// A type as SQL; `all_names` are the names of all types by their numbers.
    fn of(session: &Session, all_names: &[(i64, Option<i64>, String)], said: &str) -> Self {
        let oid = super::types::number_of(session, said).unwrap_or(0);
        let words = all_names.iter().find(|it| it.0 == oid).map(|it| it.2.clone());
        let words = words.unwrap_or_else(|| said.to_lowercase());
        let (standard, udt) = match data_type_of(session, said) {
            Ok(of) => {
                let wire = wire_type(of).oid;
                let element = i64::from(element_of(wire).unwrap_or(wire));
                let known = TYPES.iter().find(|it| it.oid == element);
                let standard = said_type(of, known.map_or("", |it| it.sql));
                (standard, udt(of, known.map_or("", |it| it.name)))
            }
            // A domain is a type of its own.
            Err(full) => ("USER-DEFINED".to_owned(), names::split(&full)),
        };
        Self { oid, words, standard, udt }
    }
}

/// A type that SQL says; the name of one that is a domain, or nothing.
fn data_type_of(session: &Session, said: &str) -> Result<DataType, String> {
    if let Ok(of) = binder::named_type(said) {
        return Ok(of);
    }
    let (name, is_array) = match said.strip_suffix("[]") {
        Some(element) => (element, true),
        None => (said, false),
    };
    let full = session.existing_type_name(name).map_err(|_| said.to_owned())?;
    match session.snapshot().user_type(&full) {
        Some(it) if it.domain.is_none() && is_array => it.data_type.array().ok_or(full),
        Some(it) if it.domain.is_none() => Ok(it.data_type),
        _ => Err(full),
    }
}

/// All of them, each form by itself.
pub(super) fn all(session: &Session) -> Vec<Made> {
    let snapshot = session.snapshot();
    if snapshot.macros().next().is_none() {
        return Vec::new();
    }
    let all_names = super::types::all_names(session);
    let said = |it: &str| SaidType::of(session, &all_names, it);
    let mut all = Vec::new();
    for definition in snapshot.macros() {
        for form in &definition.forms {
            all.extend(form.function.as_ref().map(|it| made(&said, definition, form, it)));
        }
    }
    all
}

fn made(
    said: &dyn Fn(&str) -> SaidType,
    definition: &MacroDefinition,
    form: &MacroForm,
    function: &SqlFunction,
) -> Made {
    let name = definition.bare_name();
    let parameter = |(it, of): (&::types::MacroParameter, &String)| Parameter {
        // Those without names are called by their places.
        name: if it.name.starts_with('$') { String::new() } else { it.name.clone() },
        of: said(of),
        default: it.default.clone(),
    };
    let column = |(name, of): &(String, String)| Parameter {
        name: name.clone(),
        of: said(of),
        default: None,
    };
    let (result, result_type, columns) = match (&function.returns[..], definition.is_table) {
        ([(_, of)], false) => (said(of).words, said(of), Vec::new()),
        ([(column, of)], true) if *column == name => {
            (format!("SETOF {}", said(of).words), said(of), Vec::new())
        }
        ([], _) => ("SETOF record".to_owned(), SaidType::record(), Vec::new()),
        (returns, _) => {
            let columns: Vec<Parameter> = returns.iter().map(column).collect();
            let each = columns.iter().map(|it| format!("{} {}", quoted(&it.name), it.of.words));
            let text = format!("TABLE({})", each.collect::<Vec<_>>().join(", "));
            let of = if let [(_, of)] = returns { said(of) } else { SaidType::record() };
            (text, of, columns)
        }
    };
    Made {
        oid: oids::of_name("function in SQL", &format!("{} {:?}", definition.name, function.types)),
        full: definition.name.clone(),
        name,
        result,
        result_type,
        parameters: form.parameters.iter().zip(&function.types).map(parameter).collect(),
        columns,
        gives_rows: definition.is_table,
        is_strict: function.is_strict,
        said: function.said,
        body: form.body.clone(),
        comment: macro_comments::comment_of(&definition.name, form),
    }
}

impl Made {
    /// What it says behind its language, in a line of its own.
    fn words(&self) -> String {
        let volatility = match self.said.volatility {
            Volatility::Volatile => "",
            Volatility::Stable => " STABLE",
            Volatility::Immutable => " IMMUTABLE",
        };
        let parallel = match self.said.parallel {
            Parallel::Unsafe => "",
            Parallel::Restricted => " PARALLEL RESTRICTED",
            Parallel::Safe => " PARALLEL SAFE",
        };
        let strict = if self.is_strict { " STRICT" } else { "" };
        let leakproof = if self.said.is_leakproof { " LEAKPROOF" } else { "" };
        match format!("{volatility}{parallel}{strict}{leakproof}") {
            it if it.is_empty() => it,
            it => format!("\n{it}"),
        }
    }

    /// Its parameters in words.
    fn arguments(&self, with_defaults: bool) -> String {
        let each = self.parameters.iter().map(|it| {
            let name = match it.name.is_empty() {
                true => String::new(),
                false => format!("{} ", quoted(&it.name)),
            };
            let default = it.default.as_ref().filter(|_| with_defaults);
            let default = default.map(|it| format!(" DEFAULT {it}")).unwrap_or_default();
            format!("{name}{}{default}", it.of.words)
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// Its name with the types of its parameters, which says a schema where `full` does.
    fn signature(&self, is_full: bool) -> String {
        let types: Vec<&str> = self.parameters.iter().map(|it| &*it.of.words).collect();
        format!("{}({})", self.named(is_full), types.join(","))
    }

    fn named(&self, is_full: bool) -> String {
        let (schema, name) = names::split(&self.full);
        match is_full {
            true => format!("{}.{}", quoted(&schema), quoted(&name)),
            false => quoted(&name),
        }
    }

    /// The place of its schema among those in which functions are looked for.
    fn place(&self, path: &SearchPath) -> Option<usize> {
        let schema = names::schema_of(&self.full);
        let is_its = |it: &String| *it == schema && !it.starts_with(names::TEMPORARY);
        path.schemas().iter().position(is_its)
    }

    fn types(&self) -> impl Iterator<Item = i64> + '_ {
        self.parameters.iter().map(|it| it.of.oid)
    }

    /// Whether a call that says no schema may mean it: none of the same types is in a schema before its own.
    fn is_visible(&self, all: &[Self], path: &SearchPath) -> bool {
        let Some(place) = self.place(path) else { return false };
        !all.iter().any(|it| {
            it.name == self.name
                && it.place(path).is_some_and(|it| it < place)
                && it.types().eq(self.types())
        })
    }
}

/// Their rows of `pg_proc`.
pub(super) fn add(session: &Session, view: &mut ViewBuilder) -> SqlResult<()> {
    for it in all(session) {
        let names: Vec<&str> =
            it.parameters.iter().chain(&it.columns).map(|it| &*it.name).collect();
        let has_names = names.iter().any(|it| !it.is_empty());
        let names = if has_names { list(names.into_iter())? } else { none() };
        let (all_types, modes) = match it.columns.is_empty() {
            true => (none(), none()),
            false => {
                let columns = it.columns.iter().map(|it| it.of.oid);
                let inner = it.parameters.iter().map(|_| "i");
                let modes = inner.chain(it.columns.iter().map(|_| "t"));
                (numbers(it.types().chain(columns), 1)?.into(), list(modes)?)
            }
        };
        view.row([
            cell(it.oid),
            it.name.as_str().into(),
            cell(oids::schema_of(&it.full)),
            cell(oids::OWNER),
            cell(SQL),
            cell(100),
            cell(if it.gives_rows { 1000 } else { 0 }),
            cell(0),
            "f".into(),
            false.into(),
            it.said.is_leakproof.into(),
            it.is_strict.into(),
            it.gives_rows.into(),
            letter_of(it.said.volatility).into(),
            letter_of_parallel(it.said.parallel).into(),
            cell(it.parameters.len() as i64),
            cell(it.parameters.iter().filter(|it| it.default.is_some()).count() as i64),
            cell(it.result_type.oid),
            numbers(it.types(), 0)?.into(),
            all_types,
            modes,
            names,
            it.body.into(),
            none(),
            none(),
            none(),
        ]);
    }
    Ok(())
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> SqlResult<Cell> {
    let (mut held, mut count) = (String::new(), 0);
    for it in texts {
        array::push_text(&mut held, it);
        count += 1;
    }
    array::close_list(&mut held, 0, count)?;
    Ok(held.into())
}

fn letter_of(volatility: Volatility) -> &'static str {
    match volatility {
        Volatility::Volatile => "v",
        Volatility::Stable => "s",
        Volatility::Immutable => "i",
    }
}

fn letter_of_parallel(parallel: Parallel) -> &'static str {
    match parallel {
        Parallel::Unsafe => "u",
        Parallel::Restricted => "r",
        Parallel::Safe => "s",
    }
}

/// Their arguments in words, by their numbers.
pub(super) fn arguments(session: &Session, with_defaults: bool) -> Vec<(i64, String)> {
    all(session).into_iter().map(|it| (it.oid, it.arguments(with_defaults))).collect()
}

/// The names of all as REGPROC has them, with their schemas where these must be said; with the types of parameters as REGPROCEDURE
/// has them.
pub(super) fn names(session: &Session, with_types: bool) -> Vec<(i64, String)> {
    let path = session.search_path(&session.snapshot());
    let all = all(session);
    let named = |it: &Made| match with_types {
        true => it.signature(!it.is_visible(&all, &path)),
        // The name alone must mean it, and nothing else.
        false => {
            let alike = |other: &&Made| other.name == it.name && other.place(&path).is_some();
            let is_alone = all.iter().filter(alike).count() == 1;
            it.named(!(is_alone && it.is_visible(&all, &path)))
        }
    };
    all.iter().map(|it| (it.oid, named(it))).collect()
}

/// All names that texts have for them.
pub(super) fn known_names(session: &Session, with_types: bool) -> Vec<(i64, String)> {
    let all = all(session);
    let of = |it: &Made, full| if with_types { it.signature(full) } else { it.named(full) };
    let full = all.iter().map(|it| (it.oid, of(it, true)));
    let path = session.search_path(&session.snapshot());
    let seen = all.iter().filter(|it| it.is_visible(&all, &path));
    seen.map(|it| (it.oid, of(it, false))).chain(full).collect()
}

/// Those that a call without a schema does not mean.
pub(super) fn hidden(session: &Session) -> Vec<(i64, String)> {
    let path = session.search_path(&session.snapshot());
    let all = all(session);
    let hidden = all.iter().filter(|it| !it.is_visible(&all, &path));
    hidden.map(|it| (it.oid, it.name.clone())).collect()
}

/// The number of a function by its schema, if one is said, its name, and the types of its parameters where these are.
pub(super) fn number_of(
    session: &Session,
    (schema, name): (Option<&str>, &str),
    types: Option<&[String]>,
) -> Option<i64> {
    let path = session.search_path(&session.snapshot());
    let schema = schema.map(|it| session.schema_said(it));
    let numbers = types
        .map(|all| all.iter().map(|it| super::types::number_of(session, it)).collect::<Vec<_>>());
    let is_it = |it: &&Made| {
        it.name == name
            && schema.as_ref().is_none_or(|of| names::schema_of(&it.full) == *of)
            && numbers.as_ref().is_none_or(|of| it.types().map(Some).eq(of.iter().copied()))
    };
    let place = |it: &Made| if schema.is_some() { Some(0) } else { it.place(&path) };
    let all = all(session);
    let found = all.iter().filter(is_it).filter_map(|it| Some((place(it)?, it.oid)));
    found.min_by_key(|it| it.0).map(|it| it.1)
}

/// Statements that would make them, by their numbers.
pub(super) fn definitions(session: &Session) -> Vec<(i64, String)> {
    let definition = |it: Made| {
        let words = it.words();
        let (name, arguments) = (it.named(true), it.arguments(true));
        let (result, body) = (it.result, it.body);
        let text = format!(
            "CREATE OR REPLACE FUNCTION {name}({arguments})\n RETURNS {result}\n LANGUAGE sql{words}\nAS $function${body}$function$\n"
        );
        (it.oid, text)
    };
    all(session).into_iter().map(definition).collect()
}
