//! The views of schemas `pg_catalog` and `information_schema`, as far as clients of PostgreSQL ask for them.
//!
//! Key decision: they are made anew for each statement, as all views are, and their ids (`oids`) depend on nothing but what
//! they are of, so that what one statement has found another finds again. No statement is known by its text.
//!
//! Types that we do not have stand as the nearest of ours: `oid` and `xid` are BIGINT, `name`, `"char"`, arrays and expressions
//! are TEXT.

mod activity;
mod attributes;
mod constraints;
mod dependencies;
mod descriptions;
mod domains;
mod functions;
mod indexes;
mod information;
mod information_columns;
mod information_constraints;
mod locks;
mod made_functions;
mod nothing;
pub(crate) mod oids;
mod owners;
mod privileges;
mod relations;
mod roles;
mod session;
mod shared;
mod standard_types;
mod statements;
mod types;

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;

use crate::Session;
use crate::views::ViewBuilder;

pub(crate) use relations::serial_sequences;
pub(crate) use session::{catalog_texts, relation_number, session_value};

/// The schema of PostgreSQL's own catalog, which is looked through before all others.
pub const CATALOG: &str = names::CATALOG;
/// The schema of the standard's.
pub const INFORMATION: &str = names::INFORMATION;

/// Views of `pg_catalog` with rows.
const NAMES: [&str; 36] = [
    "pg_am",
    "pg_attrdef",
    "pg_attribute",
    "pg_auth_members",
    "pg_authid",
    "pg_class",
    "pg_collation",
    "pg_constraint",
    "pg_cursors",
    "pg_database",
    "pg_depend",
    "pg_description",
    "pg_enum",
    "pg_group",
    "pg_index",
    "pg_indexes",
    "pg_language",
    "pg_locks",
    "pg_matviews",
    "pg_namespace",
    "pg_opclass",
    "pg_prepared_statements",
    "pg_proc",
    "pg_rewrite",
    "pg_roles",
    "pg_sequence",
    "pg_sequences",
    "pg_settings",
    "pg_shadow",
    "pg_stat_activity",
    "pg_stat_statements",
    "pg_tables",
    "pg_tablespace",
    "pg_type",
    "pg_user",
    "pg_views",
];

/// Views of things that there are none of: their columns, all of them text or numbers.
const EMPTY: &[(&str, &[(&str, char)])] = &[
    ("pg_extension", &[("oid", '#'), ("extname", 't'), ("extnamespace", '#'), ("extversion", 't')]),
    ("pg_foreign_table", &[("ftrelid", '#'), ("ftserver", '#'), ("ftoptions", 'a')]),
    (
        "pg_inherits",
        &[("inhrelid", '#'), ("inhparent", '#'), ("inhseqno", 'i'), ("inhdetachpending", 'b')],
    ),
    (
        "pg_range",
        &[("rngtypid", '#'), ("rngsubtype", '#'), ("rngmultitypid", '#'), ("rngcollation", '#')],
    ),
    (
        "pg_trigger",
        &[
            ("oid", '#'),
            ("tgrelid", '#'),
            ("tgname", 't'),
            ("tgenabled", 'c'),
            ("tgisinternal", 'b'),
            ("tgparentid", '#'),
            ("tgconstraint", '#'),
            ("tgfoid", '#'),
            ("tgtype", 'i'),
            ("tgargs", 't'),
        ],
    ),
    ("pg_shdescription", &[("objoid", '#'), ("classoid", '#'), ("description", 't')]),
];

/// The rows of a view; `None` when there is no such view.
pub fn rows_of(schema: &str, name: &str, session: &Session) -> Option<SqlResult<RecordBatch>> {
    if schema == INFORMATION {
        return information::rows_of(name, session);
    }
    Some(match name {
        "pg_am" => shared::access_methods(),
        "pg_attrdef" => attributes::defaults(session),
        "pg_attribute" => attributes::attributes(session),
        "pg_auth_members" => roles::members(session),
        "pg_authid" => roles::roles(session, true),
        "pg_roles" => roles::roles(session, false),
        "pg_group" => roles::groups(session),
        "pg_shadow" => roles::users(session, true),
        "pg_user" => roles::users(session, false),
        "pg_class" => relations::classes(session),
        "pg_collation" => shared::collations(),
        "pg_constraint" => constraints::constraints(session),
        "pg_cursors" => activity::cursors(session),
        "pg_prepared_statements" => activity::prepared_statements(session),
        "pg_stat_activity" => activity::activity(session),
        "pg_database" => shared::databases(session),
        "pg_depend" => dependencies::dependencies(session),
        "pg_rewrite" => dependencies::rules(session),
        "pg_description" => descriptions::descriptions(session, number_of_view),
        "pg_index" => indexes::indexes(session),
        "pg_indexes" => indexes::by_name(session),
        "pg_language" => shared::languages(),
        "pg_locks" => locks::locks(session),
        "pg_matviews" => relations::materialized_views(session),
        "pg_namespace" => shared::namespaces(session),
        "pg_opclass" => types::operator_classes(),
        "pg_proc" => functions::functions(session),
        "pg_sequence" => relations::sequences(session),
        "pg_sequences" => relations::sequences_by_name(session),
        "pg_settings" => shared::settings(session),
        "pg_stat_statements" => statements::statements(session),
        "pg_tables" => relations::tables(session),
        "pg_tablespace" => shared::tablespaces(),
        "pg_type" => types::types(session),
        "pg_enum" => types::labels(session),
        "pg_views" => relations::views(session),
        _ => {
            if let Some((_, columns)) = EMPTY.iter().find(|it| it.0 == name) {
                return Some(ViewBuilder::new(columns).finish());
            }
            let (_, columns) = nothing::NOTHING.iter().find(|it| it.0 == name)?;
            let columns = columns.split(' ').filter_map(|it| it.split_once(':'));
            let columns: Vec<(&str, char)> =
                columns.filter_map(|it| Some((it.0, it.1.chars().next()?))).collect();
            ViewBuilder::new(&columns).finish()
        }
    })
}

/// The views of the system: their numbers, schemas and names.
fn numbered_views() -> impl Iterator<Item = (i64, &'static str, &'static str)> {
    // Those of the catalog are fewer than 500.
    [(0, CATALOG), (500, INFORMATION)].into_iter().flat_map(|(first, schema)| {
        let views = names(schema).into_iter().enumerate();
        views.map(move |(place, name)| (oids::view(first + place), schema, name))
    })
}

/// The number of a view of `pg_catalog`.
fn number_of_view(name: &str) -> i64 {
    numbered_views().find(|it| it.1 == CATALOG && it.2 == name).map_or(0, |it| it.0)
}

/// The views of a schema, in order.
pub fn names(schema: &str) -> Vec<&'static str> {
    match schema {
        CATALOG => {
            let nothing = nothing::NOTHING.iter().map(|it| it.0);
            NAMES.into_iter().chain(EMPTY.iter().map(|it| it.0)).chain(nothing).collect()
        }
        INFORMATION => information::NAMES.to_vec(),
        _ => Vec::new(),
    }
}
