//! The views of `information_schema` about types: `domains`, `attributes` (the fields of types of rows), `user_defined_types`, and
//! `element_types` (what arrays hold).

use ::types::{ColumnId, DataType, SqlResult, UserType, names};
use arrow_array::RecordBatch;
use stdx::sync::Arc;

use super::information_columns::{listed, said_type_cells, shown};
use super::row_types::composite;
use super::shared::{none, number};
use super::standard_types::{catalog, said_type, udt};
use super::system_views::columns_of;
use super::types::{PgType, TYPES};
use crate::Session;
use crate::pg_types::wire_type;
use crate::views::{Cell, ViewBuilder};

/// What is said of a type, which is [`said_type_cells`].
const TYPE: &str = "data_type:t character_maximum_length:4 character_octet_length:4 character_set_catalog:d character_set_schema:d character_set_name:d collation_catalog:d collation_schema:d collation_name:d numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 datetime_precision:4 interval_type:t interval_precision:4";
/// What stands behind the name of a type: what only the standard has, and by what `element_types` refers to it.
const REFERENCE: &str =
    "scope_catalog:d scope_schema:d scope_name:d maximum_cardinality:4 dtd_identifier:d";

fn view_of(columns: &str) -> ViewBuilder {
    ViewBuilder::new(&columns_of(columns))
}

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

/// The cells of [`REFERENCE`].
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
    let mut view = view_of(&format!(
        "domain_catalog:d domain_schema:d domain_name:d {TYPE} domain_default:t udt_catalog:d udt_schema:d udt_name:d {REFERENCE}"
    ));
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
    let mut view = view_of(&format!(
        "udt_catalog:d udt_schema:d udt_name:d attribute_name:d ordinal_position:4 attribute_default:t is_nullable:t {TYPE} attribute_udt_catalog:d attribute_udt_schema:d attribute_udt_name:d {REFERENCE} is_derived_reference_attribute:t"
    ));
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
    let mut view = view_of(&format!(
        "user_defined_type_catalog:d user_defined_type_schema:d user_defined_type_name:d user_defined_type_category:t is_instantiable:t is_final:t ordering_form:t ordering_category:t ordering_routine_catalog:d ordering_routine_schema:d ordering_routine_name:d reference_type:t {TYPE} source_dtd_identifier:d ref_dtd_identifier:d"
    ));
    for it in made(session) {
        let Some((of, _)) = composite(&it) else { continue };
        let own: [Cell; 2] = ["STRUCTURED".into(), "YES".into()];
        let cells = named(session, &of.name).into_iter().chain(own);
        let cells = cells.chain(std::array::from_fn::<_, 7, _>(text)).chain(no_type());
        view.row(cells.chain([none(), none()]));
    }
    view.finish()
}

/// The cells of [`TYPE`] where nothing is said of a type.
fn no_type() -> impl Iterator<Item = Cell> {
    [none()].into_iter().chain(nothing_but_name())
}

/// The cells of [`TYPE`] behind its name, where nothing more is said of a type.
fn nothing_but_name() -> impl Iterator<Item = Cell> {
    let lengths = std::array::from_fn::<_, 2, _>(integer);
    let orders = std::array::from_fn::<_, 6, _>(text);
    let numbers = std::array::from_fn::<_, 4, _>(integer);
    let intervals = [none(), Cell::Integer(None)];
    lengths.into_iter().chain(orders).chain(numbers).chain(intervals)
}

/// What the arrays are of that columns, fields and domains hold.
pub(super) fn element_types(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = view_of(&format!(
        "object_catalog:d object_schema:d object_name:d object_type:t collection_type_identifier:d {TYPE} domain_default:t udt_catalog:d udt_schema:d udt_name:d {REFERENCE}"
    ));
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
