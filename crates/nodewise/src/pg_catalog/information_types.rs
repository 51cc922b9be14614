//! The views of `information_schema` about types: `domains`, `attributes` (the fields of types of rows), `user_defined_types`, and
//! `element_types` (what arrays hold).

use ::types::{ColumnId, DataType, SqlResult, UserType, names};
use arrow_array::RecordBatch;
use stdx::sync::Arc;

use super::information_columns::{listed, said_type_cells, shown};
use super::row_types::composite;
use super::shared::{none, number};
use super::standard_shapes;
use super::standard_types::{catalog, said_type, udt};
use super::types::{PgType, TYPES};
use crate::Session;
use crate::pg_types::wire_type;
use crate::views::{Cell, ViewBuilder};

fn integer(_: usize) -> Cell {
    Cell::Integer(None)
}

fn text(_: usize) -> Cell {
    none()
}

/// PostgreSQL's type of that kind, where it has one.
fn known(of: DataType) -> Option<&'static PgType> {
    let oid = i64::from(wire_type(of).oid);
    TYPES.iter().find(|it| it.oid == oid)
}

/// The cells of what refers to a type.
fn reference(place: &str) -> [Cell; 5] {
    [none(), none(), none(), Cell::Integer(None), place.into()]
}

/// The database, the schema and the name of an object.
fn named(session: &Session, name: &str) -> [Cell; 3] {
    [catalog(session), names::schema_of(name).into(), names::bare(name).into()]
}

/// The types that users made.
fn made(session: &Session) -> Vec<Arc<UserType>> {
    session.snapshot().user_types().cloned().collect()
}

pub(super) fn domains(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::DOMAINS);
    for it in made(session) {
        let Some(domain) = &it.domain else { continue };
        let (mut said, udt) = said_type_cells(session, it.data_type);
        // PostgreSQL says what such a domain holds.
        if let Some(element) = it.data_type.element() {
            said[0] = match known(element) {
                Some(known) => format!("{}[]", known.sql).into(),
                None => "USER-DEFINED".into(),
            };
        }
        let cells = named(session, &it.name).into_iter().chain(said);
        let cells = cells.chain([domain.default.clone().into()]).chain(udt);
        view.row(cells.chain(reference("1")));
    }
    view.finish()
}

pub(super) fn attributes(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::ATTRIBUTES);
    for it in made(session) {
        let Some((of, fields)) = composite(&it) else { continue };
        for (place, field) in (1..).zip(fields.fields()) {
            let own = [(&*field.name).into(), number(place), none(), "YES".into()];
            let (said, udt) = said_type_cells(session, field.data_type);
            let cells = named(session, &of.name).into_iter().chain(own).chain(said).chain(udt);
            view.row(cells.chain(reference(&place.to_string())).chain(["NO".into()]));
        }
    }
    view.finish()
}

/// Types of rows are all that the standard calls so.
pub(super) fn user_defined_types(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::USER_DEFINED_TYPES);
    for it in made(session) {
        let Some((of, _)) = composite(&it) else { continue };
        let own: [Cell; 2] = ["STRUCTURED".into(), "YES".into()];
        let cells = named(session, &of.name).into_iter().chain(own);
        let cells = cells.chain(std::array::from_fn::<_, 7, _>(text)).chain(no_type());
        view.row(cells.chain([none(), none()]));
    }
    view.finish()
}

/// The cells of what is said of a type where nothing is said of a type.
fn no_type() -> impl Iterator<Item = Cell> {
    [none()].into_iter().chain(nothing_but_name())
}

/// The cells of what is said of a type behind its name, where nothing more is said of a type.
fn nothing_but_name() -> impl Iterator<Item = Cell> {
    let lengths = std::array::from_fn::<_, 2, _>(integer);
    let orders = std::array::from_fn::<_, 6, _>(text);
    let numbers = std::array::from_fn::<_, 4, _>(integer);
    let intervals = [none(), Cell::Integer(None)];
    lengths.into_iter().chain(orders).chain(numbers).chain(intervals)
}

/// What the arrays are of that columns, fields and domains hold.
pub(super) fn element_types(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::ELEMENT_TYPES);
    let mut row = |name: &str, kind: &str, place: usize, of: DataType| {
        let Some(element) = of.element() else { return };
        let known = known(element);
        let (schema, own) = udt(element, known.map_or("", |it| it.name));
        let said = said_type(element, known.map_or("", |it| it.sql));
        let cells = named(session, name).into_iter();
        let cells = cells.chain([kind.into(), place.to_string().into(), said.into()]);
        let cells = cells.chain(nothing_but_name()).chain([none()]);
        let cells = cells.chain([catalog(session), schema.into(), own.into()]);
        view.row(cells.chain(reference(&format!("a{place}"))));
    };
    for of in listed(session) {
        for (place, column) in shown(&of.columns) {
            // Where a column is of a domain, that holds the array.
            if of.rules.domain(ColumnId(place as u16)).is_none() {
                row(&of.relation, "TABLE", place + 1, column.data_type);
            }
        }
    }
    for it in made(session) {
        if it.domain.is_some() {
            row(&it.name, "DOMAIN", 1, it.data_type);
        }
        let Some((of, fields)) = composite(&it) else { continue };
        for (place, field) in (1..).zip(fields.fields()) {
            row(&of.name, "USER-DEFINED TYPE", place, field.data_type);
        }
    }
    view.finish()
}
