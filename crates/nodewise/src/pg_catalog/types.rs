//! The views `pg_type` and `pg_enum`: our types, with PostgreSQL's numbers and names, and those that users made.

use ::types::{DataType, Domain, SqlResult, UserType, names};
use arrow_array::RecordBatch;
use storage::CatalogSnapshot;

use super::owners::Shown;
use super::row_types::is_own;
use super::shapes;
use super::shared::{none, number, ways};
use super::{oids, row_types};
use crate::Session;
use crate::pg_types::{RANGES, array_of_made, made_type, wire_type};
use crate::views::ViewBuilder;

/// A type of PostgreSQL: number, name, bytes, kind, how the names of its functions begin, and its name in SQL.
pub(super) struct PgType {
    pub oid: i64,
    pub name: &'static str,
    pub length: i64,
    category: &'static str,
    functions: &'static str,
    pub sql: &'static str,
}

const fn pg_type(
    (oid, name, length): (i64, &'static str, i64),
    category: &'static str,
    functions: &'static str,
    sql: &'static str,
) -> PgType {
    PgType { oid, name, length, category, functions, sql }
}

/// What reads, writes, receives and sends values of a type.
const VERBS: [&str; 4] = ["in", "out", "recv", "send"];

impl PgType {
    /// The names of its functions, in the order of the verbs.
    fn function_names(&self) -> [String; 4] {
        VERBS.map(|verb| format!("{}{verb}", self.functions))
    }
}

/// The names of the functions that types have for their values.
pub(super) fn function_names() -> Vec<String> {
    let own = TYPES.iter().flat_map(PgType::function_names);
    let made = ["array", "enum", "domain", "record"];
    let made = made.iter().flat_map(|of| VERBS.map(|verb| format!("{of}_{verb}")));
    let mut all: Vec<String> = own.chain(made).collect();
    all.sort();
    all.dedup();
    all
}

/// By number. Those that no value has are there for what the catalog says of itself.
pub(super) const TYPES: &[PgType] = &[
    pg_type((16, "bool", 1), "B", "bool", "boolean"),
    pg_type((17, "bytea", -1), "U", "bytea", "bytea"),
    pg_type((18, "char", 1), "Z", "char", "\"char\""),
    pg_type((19, "name", 64), "S", "name", "name"),
    pg_type((20, "int8", 8), "N", "int8", "bigint"),
    pg_type((21, "int2", 2), "N", "int2", "smallint"),
    pg_type((22, "int2vector", -1), "A", "int2vector", "int2vector"),
    pg_type((23, "int4", 4), "N", "int4", "integer"),
    pg_type((25, "text", -1), "S", "text", "text"),
    pg_type((26, "oid", 4), "N", "oid", "oid"),
    pg_type((30, "oidvector", -1), "A", "oidvector", "oidvector"),
    pg_type((114, "json", -1), "U", "json_", "json"),
    pg_type((650, "cidr", -1), "I", "cidr_", "cidr"),
    pg_type((700, "float4", 4), "N", "float4", "real"),
    pg_type((701, "float8", 8), "N", "float8", "double precision"),
    pg_type((705, "unknown", -2), "X", "unknown", "unknown"),
    pg_type((869, "inet", -1), "I", "inet_", "inet"),
    pg_type((1042, "bpchar", -1), "S", "bpchar", "character"),
    pg_type((1043, "varchar", -1), "S", "varchar", "character varying"),
    pg_type((1082, "date", 4), "D", "date_", "date"),
    pg_type((1083, "time", 8), "D", "time_", "time without time zone"),
    pg_type((1114, "timestamp", 8), "D", "timestamp_", "timestamp without time zone"),
    pg_type((1184, "timestamptz", 8), "D", "timestamptz_", "timestamp with time zone"),
    pg_type((1186, "interval", 16), "T", "interval_", "interval"),
    pg_type((1266, "timetz", 12), "D", "timetz_", "time with time zone"),
    pg_type((1560, "bit", -1), "V", "bit_", "bit"),
    pg_type((1562, "varbit", -1), "V", "varbit_", "bit varying"),
    pg_type((1700, "numeric", -1), "N", "numeric_", "numeric"),
    pg_type((2249, "record", -1), "P", "record_", "record"),
    pg_type((2950, "uuid", 16), "U", "uuid_", "uuid"),
    pg_type((3802, "jsonb", -1), "U", "jsonb_", "jsonb"),
    pg_type((3904, "int4range", -1), "R", "range_", "int4range"),
    pg_type((3906, "numrange", -1), "R", "range_", "numrange"),
    pg_type((3908, "tsrange", -1), "R", "range_", "tsrange"),
    pg_type((3910, "tstzrange", -1), "R", "range_", "tstzrange"),
    pg_type((3912, "daterange", -1), "R", "range_", "daterange"),
    pg_type((3926, "int8range", -1), "R", "range_", "int8range"),
    pg_type((4451, "int4multirange", -1), "R", "multirange_", "int4multirange"),
    pg_type((4532, "nummultirange", -1), "R", "multirange_", "nummultirange"),
    pg_type((4533, "tsmultirange", -1), "R", "multirange_", "tsmultirange"),
    pg_type((4534, "tstzmultirange", -1), "R", "multirange_", "tstzmultirange"),
    pg_type((4535, "datemultirange", -1), "R", "multirange_", "datemultirange"),
    pg_type((4536, "int8multirange", -1), "R", "multirange_", "int8multirange"),
];

/// What a type is: a range, a set of ranges, of no values, or a base.
fn kind_of(it: &PgType) -> &'static str {
    match (it.category, it.functions) {
        ("R", "range_") => "r",
        ("R", _) => "m",
        _ if matches!(it.name, "unknown" | "record") => "p",
        _ => "b",
    }
}

/// The names of all types, those of arrays included, without lengths.
pub(super) fn all_names(session: &Session) -> Vec<(i64, Option<i64>, String)> {
    let snapshot = session.snapshot();
    let made = made_numbers(&snapshot).into_iter().flat_map(|(name, own, array)| {
        let name = names::sql(&name);
        [(array, None, format!("{name}[]")), (own, None, name)]
    });
    let own = TYPES.iter().map(|it| (it.oid, None, it.sql.to_owned()));
    let arrays = TYPES.iter().map(|it| {
        let oid = crate::pg_types::array_of(it.oid as u32).into();
        (oid, None, format!("{}[]", it.sql))
    });
    own.chain(arrays.filter(|it| it.0 != 0)).chain(made).collect()
}

/// The types that have names of users, with the numbers of each and of arrays of it: those that they made, and those of the rows of
/// relations.
fn made_numbers(snapshot: &CatalogSnapshot) -> Vec<(String, i64, i64)> {
    let made = snapshot.user_types().filter(|it| it.domain.is_some() || is_own(it));
    let made = made.map(|it| {
        let (own, array) = numbers_of(it);
        (it.name.clone(), own, array)
    });
    let rows = row_types::of_relations(snapshot).into_iter();
    made.chain(rows.map(|it| (it.name, it.oid, it.array))).collect()
}

/// Words of SQL for types whose names are others.
const WORDS: [&str; 7] = ["int", "decimal", "float", "char", "character", "time", "timestamp"];

/// The numbers of types by the names that texts have for them: those of SQL, and those of PostgreSQL alone and with their schema.
pub(super) fn known_names(session: &Session) -> Vec<(i64, String)> {
    let mut all: Vec<(i64, String)> =
        all_names(session).into_iter().map(|it| (it.0, it.2)).collect();
    all.extend(WORDS.iter().filter_map(|it| Some((number_of(session, it)?, (*it).to_owned()))));
    let mut add = |oid: i64, schema: &str, name: &str| {
        all.extend(ways(&[schema, name]).into_iter().map(|it| (oid, it)));
    };
    for it in TYPES {
        add(it.oid, names::CATALOG, it.name);
        let array = array_number(it.oid);
        array.into_iter().for_each(|array| add(array, names::CATALOG, &format!("_{}", it.name)));
    }
    for (full, own, array) in made_numbers(&session.snapshot()) {
        let (schema, name) = names::split(&full);
        add(own, &schema, &name);
        add(array, &schema, &format!("_{name}"));
    }
    // What is not said to be of the system's schema is a name of SQL first, as `char`.
    let named = |name: &str| WORDS.contains(&name);
    for it in TYPES.iter().filter(|it| !named(it.name)) {
        all.push((it.oid, it.name.to_owned()));
        all.extend(array_number(it.oid).map(|array| (array, format!("_{}", it.name))));
        all.extend(array_number(it.oid).map(|array| (array, format!("{}[]", it.name))));
    }
    all
}

pub(super) fn types(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_TYPE);
    for it in TYPES {
        let by_value = (1..=8).contains(&it.length);
        let preferred = matches!(
            it.name,
            "bool" | "text" | "float8" | "oid" | "timestamptz" | "interval" | "varbit" | "inet"
        );
        let [input, output, receive, send] = it.function_names();
        let collated = it.category == "S";
        view.row([
            number(it.oid),
            it.name.into(),
            number(oids::CATALOG),
            number(oids::OWNER),
            number(it.length),
            by_value.into(),
            kind_of(it).into(),
            it.category.into(),
            preferred.into(),
            true.into(),
            ",".into(),
            number(0),
            "-".into(),
            number(match it.name {
                "int2vector" => 21,
                "oidvector" => 26,
                _ => 0,
            }),
            number(crate::pg_types::array_of(it.oid as u32).into()),
            input.into(),
            output.into(),
            receive.into(),
            send.into(),
            false.into(),
            number(0),
            number(-1),
            number(0),
            number(if collated { oids::COLLATION } else { 0 }),
            none(),
            none(),
        ]);
    }
    for it in TYPES {
        array(&mut view, it);
    }
    let snapshot = session.snapshot();
    for it in snapshot.user_types() {
        let owner = super::owners::oid(it.owner);
        match &it.domain {
            Some(domain) => domain_type(&mut view, it, domain),
            None if let Some((of, _)) = row_types::composite(it) => {
                made_type_row(&mut view, (&it.name, owner), (of.oid, of.array), of.relation);
            }
            None if is_own(it) => made_type_row(&mut view, (&it.name, owner), numbers_of(it), 0),
            None => continue,
        }
        array_of_made_type(&mut view, (&it.name, owner), numbers_of(it));
    }
    for it in row_types::of_relations(&snapshot) {
        let owner = Shown::of_relation(session, &it.name).owner_number();
        made_type_row(&mut view, (&it.name, owner), (it.oid, it.array), it.relation);
        array_of_made_type(&mut view, (&it.name, owner), (it.oid, it.array));
    }
    view.finish()
}

/// A domain; most of it is what its type is.
fn domain_type(view: &mut ViewBuilder, it: &UserType, domain: &Domain) {
    let wire = wire_type(it.data_type);
    let of = TYPES.iter().find(|of| of.oid == i64::from(wire.oid));
    let category = match it.data_type {
        DataType::Enum(_) => "E",
        DataType::Array(_) => "A",
        DataType::Struct(row) if row.is_record() => "C",
        _ => of.map_or("U", |it| it.category),
    };
    let functions = match category {
        "E" => "enum_",
        "C" => "record_",
        "A" => "array_",
        _ => of.map_or("text", |it| it.functions),
    };
    let base = domain.of.as_ref().map_or(wire.oid, |it| made_type(it));
    view.row([
        number(made_type(&it.name).into()),
        names::bare(&it.name).into(),
        number(oids::schema_of(&it.name)),
        number(super::owners::oid(it.owner)),
        number(wire.size.into()),
        (1..=8).contains(&wire.size).into(),
        "d".into(),
        category.into(),
        false.into(),
        true.into(),
        ",".into(),
        number(0),
        "-".into(),
        number(0),
        number(array_of_made(&it.name).into()),
        "domain_in".into(),
        format!("{functions}out").into(),
        "domain_recv".into(),
        format!("{functions}send").into(),
        domain.not_null.into(),
        number(base.into()),
        number(wire.modifier.into()),
        number(0),
        number(if category == "S" { oids::COLLATION } else { 0 }),
        domain.default.clone().into(),
        none(),
    ]);
}

/// The numbers of a type that a user made, and of arrays of it.
fn numbers_of(it: &UserType) -> (i64, i64) {
    (made_type(&it.name).into(), array_of_made(&it.name).into())
}

/// A type of labels, or of rows, which has a relation.
fn made_type_row(
    view: &mut ViewBuilder,
    (name, owner): (&str, i64),
    (own, array): (i64, i64),
    relation: i64,
) {
    let is_row = relation != 0;
    let functions = if is_row { "record" } else { "enum" };
    view.row([
        number(own),
        names::bare(name).into(),
        number(oids::schema_of(name)),
        number(owner),
        number(if is_row { -1 } else { 4 }),
        (!is_row).into(),
        if is_row { "c" } else { "e" }.into(),
        if is_row { "C" } else { "E" }.into(),
        false.into(),
        true.into(),
        ",".into(),
        number(relation),
        "-".into(),
        number(0),
        number(array),
        format!("{functions}_in").into(),
        format!("{functions}_out").into(),
        format!("{functions}_recv").into(),
        format!("{functions}_send").into(),
        false.into(),
        number(0),
        number(-1),
        number(0),
        number(0),
        none(),
        none(),
    ]);
}

/// The view `pg_enum`: the labels of types.
pub(super) fn labels(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_ENUM);
    for it in session.snapshot().user_types() {
        let DataType::Enum(labels) = it.data_type else { continue };
        if !is_own(it) {
            continue;
        }
        for (place, label) in labels.labels().iter().enumerate() {
            view.row([
                number(oids::of_name("label", &format!("{}\0{label}", it.name))),
                number(made_type(&it.name).into()),
                number(place as i64 + 1),
                label.as_str().into(),
            ]);
        }
    }
    view.finish()
}

/// The view `pg_range`: what the ranges of types are of.
pub(super) fn ranges() -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_RANGE);
    for (of, one, set) in RANGES {
        let canonical = match of.is_discrete() {
            true => format!("{}_canonical", of.name()),
            false => "-".to_owned(),
        };
        let bound = i64::from(wire_type(of.bound()).oid);
        view.row([
            number(one.into()),
            number(bound),
            number(set.into()),
            number(0),
            number(oids::CLASSES + bound),
            canonical.into(),
            format!("{}_subdiff", of.name()).into(),
        ]);
    }
    view.finish()
}

/// The arrays of a type, if there are any.
fn array(view: &mut ViewBuilder, element: &PgType) {
    let oid = crate::pg_types::array_of(element.oid as u32);
    if oid != 0 {
        let collation = if element.category == "S" { oids::COLLATION } else { 0 };
        let place = (oids::CATALOG, oids::OWNER);
        let kind = if element.category == "P" { ("p", "P") } else { ("b", "A") };
        array_type(view, (oid.into(), element.name), place, (element.oid, collation), kind);
    }
}

fn array_of_made_type(
    view: &mut ViewBuilder,
    (name, owner): (&str, i64),
    (element, own): (i64, i64),
) {
    let place = (oids::schema_of(name), owner);
    array_type(view, (own, &names::bare(name)), place, (element, 0), ("b", "A"));
}

fn array_type(
    view: &mut ViewBuilder,
    (oid, name): (i64, &str),
    (schema, owner): (i64, i64),
    (element, collation): (i64, i64),
    (kind, category): (&str, &str),
) {
    view.row([
        number(oid),
        format!("_{name}").into(),
        number(schema),
        number(owner),
        number(-1),
        false.into(),
        kind.into(),
        category.into(),
        false.into(),
        true.into(),
        ",".into(),
        number(0),
        "array_subscript_handler".into(),
        number(element),
        number(0),
        "array_in".into(),
        "array_out".into(),
        "array_recv".into(),
        "array_send".into(),
        false.into(),
        number(0),
        number(-1),
        number(0),
        number(collation),
        none(),
        none(),
    ]);
}

/// The order of values in keys: one for all types.
pub(super) fn operator_classes() -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_OPCLASS);
    for it in TYPES {
        view.row([
            number(oids::CLASSES + it.oid),
            number(oids::BTREE),
            format!("{}_ops", it.name).into(),
            number(oids::CATALOG),
            number(oids::OWNER),
            number(0),
            number(it.oid),
            true.into(),
            number(0),
        ]);
    }
    view.finish()
}

/// The number of a type by its name.
pub(super) fn number_of(session: &Session, name: &str) -> Option<i64> {
    if let Some((_, number)) = POLYMORPHIC.iter().find(|it| name.eq_ignore_ascii_case(it.0)) {
        return Some(*number);
    }
    // With the schema of the system before it, it is a name of PostgreSQL's; arrays have one that begins with a line.
    if let Ok((Some(schema), own)) = binder::sequence_names::relation_in(name)
        && schema == names::CATALOG
    {
        let by_name = |name: &str| TYPES.iter().find(|it| it.name == name).map(|it| it.oid);
        return match own.strip_prefix('_') {
            Some(element) => by_name(element).and_then(array_number),
            None => by_name(&own),
        };
    }
    let (name, is_array) = match name.strip_suffix("[]") {
        Some(element) => (element, true),
        None => (name, false),
    };
    let is = |it: &&PgType| it.name == name || it.sql == name;
    let found = TYPES.iter().find(is).map(|it| it.oid);
    if found.is_none() {
        // As SQL says it: INT, NUMERIC(10, 2), TIMESTAMP(3) WITH TIME ZONE.
        if let Ok(plain) = binder::named_type(name) {
            let plain = if is_array { plain.array()? } else { plain };
            return Some(crate::pg_types::wire_type(plain).oid.into());
        }
        return made_number(session, &said_name(name), is_array);
    }
    if is_array { found.and_then(array_number) } else { found }
}

/// The types that mean what the arguments of a call make of them.
const POLYMORPHIC: [(&str, i64); 8] = [
    ("any", 2276),
    ("anyarray", 2277),
    ("anyelement", 2283),
    ("anynonarray", 2776),
    ("anyenum", 3500),
    ("anycompatible", 5077),
    ("anycompatiblearray", 5078),
    ("anycompatiblenonarray", 5079),
];

/// The number of a type that users made, or of the rows of a relation, or of arrays of it.
fn made_number(session: &Session, said: &str, is_array: bool) -> Option<i64> {
    let (full, snapshot) = (session.existing_type_name(said).ok()?, session.snapshot());
    let of = |(own, array)| if is_array { array } else { own };
    match snapshot.user_type(&full) {
        Some(it) if it.domain.is_some() || is_own(it) => Some(of(numbers_of(it))),
        Some(it) => {
            let data_type = if is_array { it.data_type.array()? } else { it.data_type };
            Some(wire_type(data_type).oid.into())
        }
        None => {
            let relation = session.existing_name(said, true).ok()?;
            let rows = row_types::of_relations(&snapshot).into_iter();
            let own = rows.filter(|it| it.name == relation).map(|it| of((it.oid, it.array))).next();
            own.or_else(|| if is_array { None } else { named_array(session, said) })
        }
    }
}

/// The number of a type of arrays by its own name, that of its items behind a line.
fn named_array(session: &Session, said: &str) -> Option<i64> {
    let (schema, name) = session.name_said(said).ok()?;
    let element = name.strip_prefix('_')?;
    let said = match &schema {
        Some(schema) => names::written(&[schema, element]),
        None => names::written(&[element]),
    };
    made_number(session, &said, true)
}

/// The number of the type of arrays of a type.
fn array_number(of: i64) -> Option<i64> {
    Some(crate::pg_types::array_of(of as u32).into()).filter(|it| *it != 0)
}

/// A name of a type, as statements say it.
fn said_name(text: &str) -> String {
    match binder::sequence_names::relation_in(text) {
        Ok((Some(schema), name)) => names::written(&[schema, name]),
        Ok((None, name)) => names::written(&[name]),
        Err(_) => text.to_owned(),
    }
}
