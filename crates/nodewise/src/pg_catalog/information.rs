//! The views of `information_schema`.

use ::types::{
    CheckOption, CheckRule, Deferral, DomainColumn, FieldsColumn, ObjectKind, SqlResult,
    ViewDefinition, names,
};
use arrow_array::RecordBatch;
use binder::bind::changeable_columns;
use stdx::sync::Arc;
use storage::{ColumnSchema, IndexKind};

use super::owners::Shown;
use super::shared::{none, number, schemas};
use super::standard_types::{catalog, digits, said_type, sizes, udt};
use super::types::TYPES;
use crate::Session;
use crate::pg_types::{element_of, wire_type};
use crate::views::{Cell, ViewBuilder};

pub(super) const NAMES: [&str; 14] = [
    "applicable_roles",
    "column_privileges",
    "columns",
    "domain_constraints",
    "domains",
    "enabled_roles",
    "key_column_usage",
    "role_column_grants",
    "role_table_grants",
    "schemata",
    "table_constraints",
    "table_privileges",
    "tables",
    "views",
];

pub(super) fn rows_of(name: &str, session: &Session) -> Option<SqlResult<RecordBatch>> {
    Some(match name {
        "applicable_roles" => super::roles::applicable_roles(session),
        "column_privileges" => super::roles::column_privileges(session, false),
        "columns" => columns(session),
        "domain_constraints" => super::domains::constraints(session),
        "domains" => super::domains::domains(session),
        "enabled_roles" => super::roles::enabled_roles(session),
        "key_column_usage" => key_columns(session),
        "role_column_grants" => super::roles::column_privileges(session, true),
        "role_table_grants" => super::roles::table_privileges(session, true),
        "schemata" => schemata(session),
        "table_constraints" => constraints(session),
        "table_privileges" => super::roles::table_privileges(session, false),
        "tables" => tables(session),
        "views" => views(session),
        _ => return None,
    })
}

fn schemata(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("catalog_name", 't'),
        ("schema_name", 't'),
        ("schema_owner", 't'),
        ("default_character_set_name", 't'),
    ]);
    for (name, _) in schemas(session) {
        let owner = Shown::of(session, ObjectKind::Schema, &name).owner_name(session);
        view.row([catalog(session), name.into(), owner, none()]);
    }
    view.finish()
}

fn tables(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("table_catalog", 't'),
        ("table_schema", 't'),
        ("table_name", 't'),
        ("table_type", 't'),
        ("is_insertable_into", 't'),
    ]);
    for table in super::relations::all(session) {
        view.row([
            catalog(session),
            names::schema_of(&table.name).into(),
            names::bare(&table.name).into(),
            if names::is_temporary(&table.name) { "LOCAL TEMPORARY" } else { "BASE TABLE" }.into(),
            "YES".into(),
        ]);
    }
    let snapshot = session.snapshot();
    for it in session.snapshot().views().iter().filter(|it| it.materialized.is_none()) {
        view.row([
            catalog(session),
            names::schema_of(&it.name).into(),
            names::bare(&it.name).into(),
            "VIEW".into(),
            said(changeable_columns(&it.name, &*snapshot).is_some()),
        ]);
    }
    view.finish()
}

fn views(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("table_catalog", 't'),
        ("table_schema", 't'),
        ("table_name", 't'),
        ("view_definition", 't'),
        ("check_option", 't'),
        ("is_updatable", 't'),
        ("is_insertable_into", 't'),
        ("is_trigger_updatable", 't'),
        ("is_trigger_deletable", 't'),
        ("is_trigger_insertable_into", 't'),
    ]);
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
    view.finish()
}

/// The columns of `columns`.
const COLUMNS: [(&str, char); 24] = [
    ("table_catalog", 't'),
    ("table_schema", 't'),
    ("table_name", 't'),
    ("column_name", 't'),
    ("ordinal_position", 'i'),
    ("column_default", 't'),
    ("is_nullable", 't'),
    ("data_type", 't'),
    ("character_maximum_length", 'i'),
    ("numeric_precision", 'i'),
    ("numeric_scale", 'i'),
    ("datetime_precision", 'i'),
    ("interval_type", 't'),
    ("interval_precision", 'i'),
    ("domain_catalog", 't'),
    ("domain_schema", 't'),
    ("domain_name", 't'),
    ("udt_catalog", 't'),
    ("udt_schema", 't'),
    ("udt_name", 't'),
    ("is_identity", 't'),
    ("is_generated", 't'),
    ("generation_expression", 't'),
    ("is_updatable", 't'),
];

fn columns(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&COLUMNS);
    for it in listed(session) {
        let Listed { relation, columns, defaults, generated, domains, fields, is_updatable } = it;
        for (place, column) in shown(&columns) {
            let of = i64::from(wire_type(column.data_type).oid);
            let element = element_of(of as u32).map_or(of, i64::from);
            let known = TYPES.iter().find(|it| it.oid == element);
            let (length, moment) = sizes(column.data_type);
            let kept = fields.iter().find(|it| it.column.index() == place).map(|it| it.fields);
            let (precision, scale) = match kept.and_then(|it| it.number) {
                Some(it) => (Some(it.precision.into()), Some(it.scale.into())),
                None => digits(column.data_type),
            };
            let moment = kept.and_then(|it| it.digits).map(i64::from).or(moment);
            let range = kept.filter(|it| it.range.is_some());
            let range = range.map(|it| it.suffix().trim_start().to_uppercase());
            let default = defaults.get(place).cloned().flatten().map(|it| it.to_string());
            let (udt_schema, udt_name) = udt(column.data_type, known.map_or("", |it| it.name));
            let domain = domains.iter().find(|it| it.column.index() == place);
            let domain = domain.map(|it| &*it.domain);
            let is_made = generated.contains(&place);
            let (default, expression) = if is_made { (None, default) } else { (default, None) };
            view.row([
                catalog(session),
                names::schema_of(&relation).into(),
                names::bare(&relation).into(),
                column.name.as_str().into(),
                number(place as i64 + 1),
                default.into(),
                if column.nullable { "YES".into() } else { "NO".into() },
                said_type(column.data_type, known.map_or("", |it| it.sql)).into(),
                Cell::Integer(length),
                Cell::Integer(precision),
                Cell::Integer(scale),
                Cell::Integer(moment),
                range.into(),
                Cell::Integer(None),
                if domain.is_some() { catalog(session) } else { none() },
                domain.map(names::schema_of).into(),
                domain.map(names::bare).into(),
                catalog(session),
                udt_schema.into(),
                udt_name.into(),
                "NO".into(),
                if is_made { "ALWAYS" } else { "NEVER" }.into(),
                expression.into(),
                said(is_updatable.get(place).copied().unwrap_or_default()),
            ]);
        }
    }
    view.finish()
}

/// A relation with its columns.
struct Listed {
    relation: String,
    columns: Vec<ColumnSchema>,
    defaults: Vec<Option<Arc<str>>>,
    /// The places of those that are generated of others.
    generated: Vec<usize>,
    domains: Vec<DomainColumn>,
    fields: Vec<FieldsColumn>,
    /// By column.
    is_updatable: Vec<bool>,
}

/// A truth as the standard has it.
fn said(truth: bool) -> Cell {
    if truth { "YES".into() } else { "NO".into() }
}

/// The columns that people see, with their places.
fn shown(columns: &[ColumnSchema]) -> impl Iterator<Item = (usize, &ColumnSchema)> {
    columns.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name))
}

/// All tables and views with their columns.
fn listed(session: &Session) -> Vec<Listed> {
    let snapshot = session.snapshot();
    let tables = super::relations::all(session).into_iter().map(|it| Listed {
        relation: it.name.clone(),
        columns: it.schema(),
        defaults: it.rules().rows.defaults.clone(),
        generated: it.rules().rows.generated.iter().map(|it| it.column.index()).collect(),
        domains: it.rules().rows.domains.clone(),
        fields: it.rules().rows.fields.clone(),
        is_updatable: vec![true; it.columns.len()],
    });
    let columns = |it: &ViewDefinition| {
        it.columns.iter().map(|it| ColumnSchema::new(&it.0, it.1, true)).collect()
    };
    let views = snapshot.views().into_iter().filter(|it| it.materialized.is_none());
    let views = views.map(|it| Listed {
        relation: it.name.clone(),
        columns: columns(&it),
        defaults: Vec::new(),
        generated: Vec::new(),
        domains: Vec::new(),
        fields: Vec::new(),
        is_updatable: changeable_columns(&it.name, &*snapshot).unwrap_or_default(),
    });
    tables.chain(views).collect()
}

fn constraints(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("constraint_catalog", 't'),
        ("constraint_schema", 't'),
        ("constraint_name", 't'),
        ("table_catalog", 't'),
        ("table_schema", 't'),
        ("table_name", 't'),
        ("constraint_type", 't'),
        ("is_deferrable", 't'),
        ("initially_deferred", 't'),
        ("enforced", 't'),
    ]);
    for table in super::relations::all(session) {
        let rules = table.rules();
        let keys = rules.indexes.iter().filter(|it| it.kind.is_constraint()).map(|it| {
            let primary = it.kind == IndexKind::PrimaryKey;
            (it.name.to_string(), if primary { "PRIMARY KEY" } else { "UNIQUE" }, it.deferral)
        });
        let check = |it: &CheckRule| (it.name.to_string(), "CHECK", Deferral::None);
        let checks = rules.rows.checks.iter().map(check);
        let references = rules.references.iter();
        let references = references.map(|it| (it.name.to_string(), "FOREIGN KEY", it.deferral));
        for (name, kind, deferral) in keys.chain(checks).chain(references) {
            view.row([
                catalog(session),
                names::schema_of(&table.name).into(),
                name.into(),
                catalog(session),
                names::schema_of(&table.name).into(),
                names::bare(&table.name).into(),
                kind.into(),
                if deferral == Deferral::None { "NO" } else { "YES" }.into(),
                if deferral == Deferral::Deferred { "YES" } else { "NO" }.into(),
                "YES".into(),
            ]);
        }
    }
    view.finish()
}

fn key_columns(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("constraint_catalog", 't'),
        ("constraint_schema", 't'),
        ("constraint_name", 't'),
        ("table_catalog", 't'),
        ("table_schema", 't'),
        ("table_name", 't'),
        ("column_name", 't'),
        ("ordinal_position", 'i'),
        ("position_in_unique_constraint", 'i'),
    ]);
    for table in super::relations::all(session) {
        let rules = table.rules();
        let keys = rules.indexes.iter().filter(|it| it.kind.is_constraint());
        let keys = keys.map(|it| (&it.name, &it.columns[..], false));
        let references = rules.references.iter().map(|it| (&it.name, &it.columns[..], true));
        for (name, columns, refers) in keys.chain(references) {
            for (place, column) in columns.iter().enumerate() {
                let place = place as i64 + 1;
                view.row([
                    catalog(session),
                    names::schema_of(&table.name).into(),
                    name.to_string().into(),
                    catalog(session),
                    names::schema_of(&table.name).into(),
                    names::bare(&table.name).into(),
                    table.column(*column).name.as_str().into(),
                    number(place),
                    Cell::Integer(refers.then_some(place)),
                ]);
            }
        }
    }
    view.finish()
}
