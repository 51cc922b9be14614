//! The columns of tables, of indexes and of views, and their defaults.

use ::types::numeric::interval_text::Fields;
use ::types::{ColumnId, DataType, ObjectKind, SqlResult, names};
use arrow_array::RecordBatch;
use storage::ColumnSchema;

use super::oids;
use super::owners::Shown;
use super::relations::{all, index_oid};
use super::shared::{none, number};
use crate::Session;
use crate::pg_types::{made_type, wire_type};
use crate::views::{Cell, ViewBuilder};

/// The columns of `pg_attribute`.
const ATTRIBUTE: [(&str, char); 24] = [
    ("attrelid", '#'),
    ("attname", 't'),
    ("atttypid", '#'),
    ("attlen", 'i'),
    ("attnum", 'i'),
    ("atttypmod", 'i'),
    ("attndims", 'i'),
    ("attbyval", 'b'),
    ("attalign", 'c'),
    ("attstorage", 'c'),
    ("attcompression", 'c'),
    ("attnotnull", 'b'),
    ("atthasdef", 'b'),
    ("atthasmissing", 'b'),
    ("attidentity", 'c'),
    ("attgenerated", 'c'),
    ("attisdropped", 'b'),
    ("attislocal", 'b'),
    ("attinhcount", 'i'),
    ("attcollation", '#'),
    ("attstattarget", 'i'),
    ("attacl", 'a'),
    ("attoptions", 'a'),
    ("attfdwoptions", 'a'),
];

pub(super) fn attributes(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&ATTRIBUTE);
    for table in all(session) {
        let columns = table.schema();
        let defaults = &table.rules().rows.defaults;
        let rights = Shown::of(session, ObjectKind::Relation, &table.name);
        let shown = columns.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name));
        for (place, column) in shown {
            let has_default = defaults.get(place).is_some_and(Option::is_some);
            let generated = table.rules().rows.generated(ColumnId(place as u16));
            let generated = generated.map_or("", |it| if it.is_stored { "s" } else { "v" });
            let acl = rights.column_acl(session, &column.name)?;
            let domain = table.rules().rows.domain(ColumnId(place as u16));
            let more = (has_default, generated, acl, domain.map(|it| &**it));
            let fields = table.rules().rows.fields(ColumnId(place as u16));
            attribute(&mut view, (oids::table(table.id), place), (column, fields), more);
        }
        for index in &table.rules().indexes {
            for (place, &id) in index.columns.iter().enumerate() {
                let mut column = ColumnSchema { nullable: true, ..columns[id.index()].clone() };
                if names::is_hidden(&column.name) {
                    column.name = "expr".to_owned();
                }
                let more = (false, "", Cell::Text(None), None);
                let fields = table.rules().rows.fields(id);
                attribute(&mut view, (index_oid(table.id, index), place), (&column, fields), more);
            }
        }
    }
    for it in session.snapshot().views() {
        let rights = Shown::of(session, ObjectKind::Relation, &it.name);
        for (place, (name, data_type)) in it.columns.iter().enumerate() {
            let column = ColumnSchema::new(name, *data_type, true);
            let more = (false, "", rights.column_acl(session, name)?, None);
            attribute(&mut view, (oids::table(it.id), place), (&column, None), more);
        }
    }
    view.finish()
}

fn attribute(
    view: &mut ViewBuilder,
    (relation, place): (i64, usize),
    (schema, fields): (&ColumnSchema, Option<Fields>),
    (has_default, generated, acl, domain): (bool, &str, Cell, Option<&str>),
) {
    let mut wire = wire_type(schema.data_type);
    if let Some(fields) = fields {
        wire.modifier = fields.modifier(schema.data_type == DataType::Interval);
    }
    if let Some(domain) = domain {
        // The modifier of its type is the domain's own.
        (wire.oid, wire.modifier) = (made_type(domain), -1);
    }
    let by_value = (1..=8).contains(&wire.size);
    view.row([
        number(relation),
        schema.name.as_str().into(),
        number(wire.oid.into()),
        number(wire.size.into()),
        number(place as i64 + 1),
        number(wire.modifier.into()),
        number(0),
        by_value.into(),
        if wire.size == 8 { "d".into() } else { "i".into() },
        if by_value { "p".into() } else { "x".into() },
        "".into(),
        (!schema.nullable).into(),
        has_default.into(),
        false.into(),
        "".into(),
        generated.into(),
        false.into(),
        true.into(),
        number(0),
        number(if schema.data_type.is_text() { oids::COLLATION } else { 0 }),
        Cell::Integer(None),
        acl,
        none(),
        none(),
    ]);
}

pub(super) fn defaults(session: &Session) -> SqlResult<RecordBatch> {
    let mut view =
        ViewBuilder::new(&[("oid", '#'), ("adrelid", '#'), ("adnum", 'i'), ("adbin", 't')]);
    for table in all(session) {
        for (place, default) in table.rules().rows.defaults.iter().enumerate() {
            let Some(default) = default else { continue };
            view.row([
                number(oids::named("default", table.id, &place.to_string())),
                number(oids::table(table.id)),
                number(place as i64 + 1),
                (&**default).into(),
            ]);
        }
    }
    view.finish()
}
