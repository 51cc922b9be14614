//! The views of `information_schema`: schemas, relations and sequences. Columns and constraints have files of their own.

use ::types::numeric::errors::type_name;
use ::types::{CheckOption, ObjectKind, SqlResult, names};
use arrow_array::RecordBatch;
use binder::bind::changeable_columns;

use super::nothing::STANDARD_NOTHING;
use super::owners::Shown;
use super::shared::{none, schemas};
use super::standard_types::{catalog, digits, radix, said};
use super::{
    information_columns, information_constraints, information_routines, information_types,
    standard_shapes, system_views,
};
use crate::Session;
use crate::views::{Cell, ViewBuilder};

pub(super) fn rows_of(name: &str, session: &Session) -> Option<SqlResult<RecordBatch>> {
    Some(match name {
        "applicable_roles" => super::roles::applicable_roles(session),
        "attributes" => information_types::attributes(session),
        "check_constraints" => information_constraints::checks(session),
        "column_privileges" => super::roles::column_privileges(session, false),
        "columns" => information_columns::columns(session),
        "constraint_column_usage" => information_constraints::columns_used(session),
        "constraint_table_usage" => information_constraints::tables_used(session),
        "domain_constraints" => super::domains::constraints(session),
        "domains" => information_types::domains(session),
        "element_types" => information_types::element_types(session),
        "enabled_roles" => super::roles::enabled_roles(session),
        "key_column_usage" => information_constraints::key_columns(session),
        "parameters" => information_routines::parameters(session),
        "referential_constraints" => information_constraints::references(session),
        "role_column_grants" => super::roles::column_privileges(session, true),
        "role_table_grants" => super::roles::table_privileges(session, true),
        "routines" => information_routines::routines(session),
        "schemata" => schemata(session),
        "sequences" => sequences(session),
        "table_constraints" => information_constraints::constraints(session),
        "table_privileges" => super::roles::table_privileges(session, false),
        "tables" => tables(session),
        "user_defined_types" => information_types::user_defined_types(session),
        "views" => views(session),
        _ => {
            let (_, columns) = STANDARD_NOTHING.iter().find(|it| it.0 == name)?;
            ViewBuilder::of(columns).finish()
        }
    })
}

fn schemata(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::SCHEMATA);
    for (name, _) in schemas(session) {
        let owner = Shown::of(session, ObjectKind::Schema, &name).owner_name(session);
        let unsaid = [(); 4].map(|()| none());
        view.row([catalog(session), name.into(), owner].into_iter().chain(unsaid));
    }
    view.finish()
}

fn tables(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::TABLES);
    let mut row = |full: &str, kind: &str, is_insertable: bool| {
        let named = [catalog(session), names::schema_of(full).into(), names::bare(full).into()];
        // What rows of types of their own refer to.
        let untyped = [(); 5].map(|()| none());
        let more = [said(is_insertable), said(false), none()];
        view.row(named.into_iter().chain([kind.into()]).chain(untyped).chain(more));
    };
    for table in super::relations::all(session) {
        let is_temporary = names::is_temporary(&table.name);
        row(&table.name, if is_temporary { "LOCAL TEMPORARY" } else { "BASE TABLE" }, true);
    }
    let snapshot = session.snapshot();
    for it in session.snapshot().views().iter().filter(|it| it.materialized.is_none()) {
        row(&it.name, "VIEW", changeable_columns(&it.name, &*snapshot).is_some());
    }
    for it in system_views::standard()? {
        let kind = if it.is_table { "BASE TABLE" } else { "VIEW" };
        row(&names::joined(it.schema, it.name), kind, false);
    }
    view.finish()
}

fn views(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::VIEWS);
    let snapshot = session.snapshot();
    for it in session.snapshot().views().iter().filter(|it| it.materialized.is_none()) {
        let is_changeable = changeable_columns(&it.name, &*snapshot).is_some();
        view.row([
            catalog(session),
            names::schema_of(&it.name).into(),
            names::bare(&it.name).into(),
            format!("{};", it.query).into(),
            it.check.map_or("NONE", CheckOption::name).into(),
            said(is_changeable),
            said(is_changeable),
            "NO".into(),
            "NO".into(),
            "NO".into(),
        ]);
    }
    for it in system_views::standard()?.filter(|it| !it.is_table) {
        // No query makes it.
        let named = [catalog(session), it.schema.into(), it.name.into(), none(), "NONE".into()];
        view.row(named.into_iter().chain([(); 5].map(|()| said(false))));
    }
    view.finish()
}

/// The sequences that are no identity's. Numbers stand as texts, as the standard wants.
fn sequences(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::SEQUENCES);
    for sequence in session.snapshot().sequences() {
        if sequence.owner.as_ref().is_some_and(|it| it.is_identity) {
            continue;
        }
        let of = &sequence.definition;
        let (schema, name) = names::split(&sequence.name);
        let (precision, scale) = digits(of.data_type);
        view.row([
            catalog(session),
            schema.into(),
            name.into(),
            type_name(of.data_type).into(),
            Cell::Integer(precision),
            Cell::Integer(radix(of.data_type)),
            Cell::Integer(scale),
            of.start.to_string().into(),
            of.min.to_string().into(),
            of.max.to_string().into(),
            of.increment.to_string().into(),
            said(of.cycles),
        ]);
    }
    view.finish()
}
