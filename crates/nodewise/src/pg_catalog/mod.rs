//! The views of schemas `pg_catalog` and `information_schema`, as far as clients of PostgreSQL ask for them.
//!
//! Key decision: they are made anew for each statement, as all views are, and their ids (`oids`) depend on nothing but what
//! they are of, so that what one statement has found another finds again. No statement is known by its text.
//!
//! Key decision: the relations of the system are relations as the others are, with numbers and columns of their own, and
//! stand behind those of users. Those of schema `nodewise` are in `pg_class` and `pg_attribute` alone: what lists relations by the standard leaves out the schemas that it knows of the
//! system, and would show them to users.
//!
//! Types that we do not have stand as the nearest of ours: `xid` and `regproc` are BIGINT or the name, expressions are TEXT.

mod activity;
mod attributes;
mod constraints;
mod dependencies;
mod descriptions;
mod domains;
mod extensions;
mod functions;
mod indexes;
mod information;
mod information_columns;
mod information_constraints;
mod information_routines;
mod information_types;
mod locks;
mod made_functions;
mod nothing;
pub(crate) mod oids;
mod owners;
mod privileges;
mod relations;
mod roles;
mod row_types;
mod session;
mod shapes;
mod shared;
mod standard_shapes;
mod standard_types;
mod statements;
mod system_views;
mod table_counts;
mod types;

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;

use crate::Session;
use crate::views::{ViewBuilder, columns_of};
use system_views::{COUNTS, number_of_view};

pub(crate) use relations::{number_by_id, serial_sequences};
pub(crate) use session::{catalog_texts, relation_number, session_value};
pub use system_views::names;

/// The schema of PostgreSQL's own catalog, which is looked through before all others.
pub const CATALOG: &str = names::CATALOG;
/// The schema of the standard's.
pub const INFORMATION: &str = names::INFORMATION;

/// The number of a type as SQL says it.
pub(crate) fn number_of_type(session: &Session, said: &str) -> Option<i64> {
    types::number_of(session, said)
}

/// A type as SQL says it in the words of PostgreSQL.
pub(crate) fn type_in_words(session: &Session, said: &str) -> String {
    let number = types::number_of(session, said);
    let known = types::all_names(session).into_iter().find(|it| Some(it.0) == number);
    known.map_or_else(|| said.to_lowercase(), |it| it.2)
}

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
        "pg_extension" => extensions::extensions(session),
        "pg_available_extensions" => extensions::available(session),
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
        "pg_range" => types::ranges(),
        "pg_views" => relations::views(session),
        _ => {
            if let Some((_, columns)) = COUNTS.iter().find(|it| it.0 == name) {
                return Some(table_counts::rows(&columns_of(columns), session));
            }
            let (_, columns) = nothing::NOTHING.iter().find(|it| it.0 == name)?;
            ViewBuilder::of(columns).finish()
        }
    })
}
