//! The views `domains` and `domain_constraints` of `information_schema`.

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;

use super::constraints::domain_checks;
use super::shared::none;
use super::standard_types::{catalog, digits, said_type, sizes, udt};
use super::types::TYPES;
use crate::Session;
use crate::pg_types::{element_of, wire_type};
use crate::views::{Cell, ViewBuilder};

pub(super) fn domains(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("domain_catalog", 'd'),
        ("domain_schema", 'd'),
        ("domain_name", 'd'),
        ("data_type", 't'),
        ("character_maximum_length", '4'),
        ("collation_name", 'd'),
        ("numeric_precision", '4'),
        ("numeric_scale", '4'),
        ("domain_default", 't'),
        ("udt_catalog", 'd'),
        ("udt_schema", 'd'),
        ("udt_name", 'd'),
    ]);
    for it in session.snapshot().user_types() {
        let Some(domain) = &it.domain else { continue };
        let oid = wire_type(it.data_type).oid;
        let element = i64::from(element_of(oid).unwrap_or(oid));
        let known = TYPES.iter().find(|it| it.oid == element);
        let (precision, scale) = digits(it.data_type);
        let (length, _) = sizes(it.data_type);
        let (udt_schema, udt_name) = udt(it.data_type, known.map_or("", |it| it.name));
        view.row([
            catalog(session),
            names::schema_of(&it.name).into(),
            names::bare(&it.name).into(),
            said_type(it.data_type, known.map_or("", |it| it.sql)).into(),
            Cell::Integer(length),
            none(),
            Cell::Integer(precision),
            Cell::Integer(scale),
            domain.default.clone().into(),
            catalog(session),
            udt_schema.into(),
            udt_name.into(),
        ]);
    }
    view.finish()
}

pub(super) fn constraints(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("constraint_catalog", 'd'),
        ("constraint_schema", 'd'),
        ("constraint_name", 'd'),
        ("domain_catalog", 'd'),
        ("domain_schema", 'd'),
        ("domain_name", 'd'),
        ("is_deferrable", 't'),
        ("initially_deferred", 't'),
    ]);
    for (own, it) in domain_checks(session) {
        view.row([
            catalog(session),
            names::schema_of(&own.name).into(),
            it.name.into(),
            catalog(session),
            names::schema_of(&own.name).into(),
            names::bare(&own.name).into(),
            "NO".into(),
            "NO".into(),
        ]);
    }
    view.finish()
}
