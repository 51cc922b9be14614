//! Types of rows: those of CREATE TYPE .. AS, and those that the rows of each table and view are of.
//!
//! Key decision: as in PostgreSQL the fields of a type are columns in `pg_attribute`, and columns are of a relation. That of a type
//! that a user made is a relation of kind `c`, which is there for nothing else; those of tables and views are themselves.

use ::types::structs::StructType;
use ::types::{DataType, UserType, names};
use storage::CatalogSnapshot;

use super::oids;
use crate::pg_types::{array_of_made, made_type};

/// A type of rows that has a name.
pub(super) struct RowType {
    /// Its name with its schema ([`names::joined`]), which is that of its relation.
    pub name: String,
    pub oid: i64,
    /// That of arrays of it.
    pub array: i64,
    /// The relation whose columns its fields are.
    pub relation: i64,
}

/// The number of the relation of a type that a user made.
pub(super) fn relation_of(name: &str) -> i64 {
    oids::of_name("composite", name)
}

/// A type of rows that a user made; `None` of other types, and of other names of types.
pub(super) fn composite(it: &UserType) -> Option<(RowType, StructType)> {
    let DataType::Struct(fields) = it.data_type else { return None };
    let of = RowType {
        name: it.name.clone(),
        oid: made_type(&it.name).into(),
        array: array_of_made(&it.name).into(),
        relation: relation_of(&it.name),
    };
    is_own(it).then_some((of, fields))
}

/// The types of the rows of tables and views.
pub(super) fn of_relations(snapshot: &CatalogSnapshot) -> Vec<RowType> {
    let is_shown = |it: &str| names::schema_of(it) != names::MATERIALIZED;
    let tables = snapshot.each_table().filter(|it| is_shown(&it.name));
    let tables = tables.map(|it| (it.id, it.name.clone()));
    let views = snapshot.views().into_iter().map(|it| (it.id, it.name.clone()));
    let of = |(id, name)| {
        let (oid, array) = oids::row_type(id);
        RowType { name, oid, array, relation: oids::table(id) }
    };
    tables.chain(views).map(of).collect()
}

/// Whether a type that users made is one of its own, of labels or of rows, and no other name of a type.
pub(super) fn is_own(it: &UserType) -> bool {
    it.domain.is_none() && it.data_type.made_name() == Some(&*it.name)
}
