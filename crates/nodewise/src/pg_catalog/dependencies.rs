//! `pg_depend` and `pg_rewrite`: what is made of what. Tools ask them which views go when a table goes, and which column a
//! sequence is of.

use std::collections::HashMap;

use ::types::{ColumnId, DataType, SqlResult, TableId, ViewDefinition, names};
use arrow_array::RecordBatch;
use stdx::sync::Arc;
use storage::{IndexKind, IndexedRelation, Table};

use super::attributes::default_of;
use super::constraints::{by_name, parent_key, referred};
use super::relations::{all, index_oid};
use super::row_types::{composite, is_own, of_relations};
use super::shapes;
use super::shared::number;
use super::system_views::numbered_views;
use super::{made_functions, oids};
use crate::Session;
use crate::constraints::columns_named;
use crate::pg_types::{array_of_made, made_type, wire_type};
use crate::views::{Cell, ViewBuilder};

/// An object: the view of the catalog that lists it, its number, and the place of a column, from 1; 0 of the object itself.
type Object = (&'static str, i64, i64);

const RELATION: &str = "pg_class";
const CONSTRAINT: &str = "pg_constraint";
const TYPE: &str = "pg_type";

/// How one object depends on another, as PostgreSQL's letters.
const NORMAL: &str = "n";
/// It goes with the other.
const AUTO: &str = "a";
/// It is a part of the other.
const INTERNAL: &str = "i";

type Dependency = (Object, Object, &'static str);

/// The number of the rule that a view is.
fn rule_oid(view: &ViewDefinition) -> i64 {
    oids::named("rule", view.id, "_RETURN")
}

fn column(relation: TableId, id: ColumnId) -> Object {
    (RELATION, oids::table(relation), id.index() as i64 + 1)
}

pub(super) fn rules(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_REWRITE);
    for it in session.snapshot().views() {
        view.row([
            number(rule_oid(&it)),
            "_RETURN".into(),
            number(oids::table(it.id)),
            "1".into(),
            "O".into(),
            true.into(),
            "<>".into(),
            it.query.as_str().into(),
        ]);
    }
    view.finish()
}

pub(super) fn dependencies(session: &Session) -> SqlResult<RecordBatch> {
    let mut found: Vec<Dependency> = Vec::new();
    let tables = all(session);
    for table in &tables {
        of_columns(table, &mut found);
        of_rules(table, &tables, &mut found)?;
    }
    session.snapshot().indexed_relations().iter().for_each(|it| of_indexes(it, &mut found));
    of_types(session, &mut found);
    of_views(session, &tables, &mut found);
    of_sequences(session, &tables, &mut found);
    let functions = made_functions::all(session).into_iter();
    found.extend(functions.map(|it| (("pg_proc", it.oid, 0), schema_of(&it.full), NORMAL)));
    let mut view = ViewBuilder::of(shapes::PG_DEPEND);
    let classes: HashMap<&str, i64> = numbered_views().map(|it| (it.2, it.0)).collect();
    let number_of = |class: &str| number(classes.get(class).copied().unwrap_or_default());
    for ((class, object, part), (of_class, of, of_part), kind) in found {
        view.row([
            number_of(class),
            number(object),
            number(part),
            number_of(of_class),
            number(of),
            number(of_part),
            Cell::from(kind),
        ]);
    }
    view.finish()
}

fn schema_of(name: &str) -> Object {
    ("pg_namespace", oids::schema_of(name), 0)
}

/// A table, its columns of types that users made, and its defaults.
fn of_columns(table: &Table, found: &mut Vec<Dependency>) {
    let rows = &table.rules().rows;
    found.push(((RELATION, oids::table(table.id), 0), schema_of(&table.name), NORMAL));
    for (place, it) in (0..).zip(&table.columns).filter(|it| !names::is_hidden(&it.1.name)) {
        let own = column(table.id, ColumnId(place));
        let of_type = match rows.domain(ColumnId(place)) {
            Some(domain) => Some(type_object(made_type(domain))),
            None => made_object(it.data_type),
        };
        found.extend(of_type.map(|it| (own, it, NORMAL)));
        if default_of(rows, ColumnId(place)).is_some() {
            let default = oids::named("default", table.id, &place.to_string());
            found.push((("pg_attrdef", default, 0), own, AUTO));
        }
    }
}

fn type_object(number: u32) -> Object {
    (TYPE, number.into(), 0)
}

/// A type that users made, or of arrays of one.
fn made_object(of: DataType) -> Option<Object> {
    of.element().unwrap_or(of).made_name().map(|_| type_object(wire_type(of).oid))
}

/// Types that users made, and those of the rows of relations. A type of arrays is a part of what it is of.
fn of_types(session: &Session, found: &mut Vec<Dependency>) {
    let snapshot = session.snapshot();
    for it in snapshot.user_types().filter(|it| it.domain.is_some() || is_own(it)) {
        let own = type_object(made_type(&it.name));
        found.push((own, schema_of(&it.name), NORMAL));
        found.push((type_object(array_of_made(&it.name)), own, INTERNAL));
        if let Some(domain) = &it.domain {
            let of = domain.of.as_deref().map(|it| type_object(made_type(it)));
            let of = of.or_else(|| made_object(it.data_type));
            found.extend(of.map(|it| (own, it, NORMAL)));
        }
        let Some((row, fields)) = composite(it) else { continue };
        found.push(((RELATION, row.relation, 0), own, INTERNAL));
        for (place, field) in (1..).zip(fields.fields()) {
            let of = made_object(field.data_type);
            found.extend(of.map(|it| ((RELATION, row.relation, place), it, NORMAL)));
        }
    }
    for it in of_relations(&snapshot) {
        found.push(((TYPE, it.oid, 0), (RELATION, it.relation, 0), INTERNAL));
        found.push(((TYPE, it.array, 0), (TYPE, it.oid, 0), INTERNAL));
    }
}

/// Keys are constraints, whose parts their indexes are.
fn of_indexes(relation: &IndexedRelation, found: &mut Vec<Dependency>) {
    let table = &relation.table;
    for it in &table.rules().indexes {
        let own = (RELATION, index_oid(relation.id, it), 0);
        let columns = it.columns.iter().chain(&it.included);
        let columns = columns.filter(|id| !names::is_hidden(&table.column(**id).name));
        let of = match it.kind {
            IndexKind::PrimaryKey | IndexKind::UniqueKey => {
                let key = (CONSTRAINT, oids::named("constraint", relation.id, &it.name), 0);
                found.push((own, key, INTERNAL));
                key
            }
            _ => own,
        };
        found.extend(columns.map(|id| (of, column(relation.id, *id), AUTO)));
    }
}

/// CHECK and FOREIGN KEY.
fn of_rules(table: &Table, tables: &[Arc<Table>], found: &mut Vec<Dependency>) -> SqlResult<()> {
    let own = |name: &str| (CONSTRAINT, oids::named("constraint", table.id, name), 0);
    for it in &table.rules().rows.checks {
        let columns = columns_named(table, &it.condition)?;
        found.extend(columns.into_iter().map(|id| (own(&it.name), column(table.id, id), AUTO)));
    }
    let by_name = by_name(tables);
    for it in &table.rules().references {
        found.extend(it.columns.iter().map(|id| (own(&it.name), column(table.id, *id), AUTO)));
        let Some(parent) = by_name.get(&*it.parent) else { continue };
        let referred = referred(it, parent);
        if let Some(key) = parent_key(parent, &referred) {
            found.push((own(&it.name), (RELATION, index_oid(parent.id, key), 0), NORMAL));
        }
        found.extend(referred.into_iter().map(|id| (own(&it.name), column(parent.id, id), NORMAL)));
    }
    Ok(())
}

/// A view is a rule, which depends on the columns that it names; on the relation alone where it names none.
fn of_views(session: &Session, tables: &[Arc<Table>], found: &mut Vec<Dependency>) {
    let (snapshot, by_name) = (session.snapshot(), by_name(tables));
    for it in snapshot.views() {
        let own = (RELATION, oids::table(it.id), 0);
        let rule = ("pg_rewrite", rule_oid(&it), 0);
        found.push((own, schema_of(&it.name), NORMAL));
        found.push((rule, own, INTERNAL));
        for used in &it.uses {
            let (id, columns): (_, Vec<&str>) =
                match (by_name.get(&*used.name), snapshot.view(&used.name)) {
                    (Some(table), _) => {
                        (table.id, table.columns.iter().map(|it| &*it.name).collect())
                    }
                    (None, Some(view)) => (view.id, view.columns.iter().map(|it| &*it.0).collect()),
                    (None, None) => continue,
                };
            let place = |name: &String| columns.iter().position(|it| it == name);
            let named: Vec<usize> = used.columns.iter().filter_map(place).collect();
            if named.is_empty() {
                found.push((rule, (RELATION, oids::table(id), 0), NORMAL));
            }
            let part = |place| (RELATION, oids::table(id), place as i64 + 1);
            found.extend(named.into_iter().map(|it| (rule, part(it), NORMAL)));
        }
    }
}

fn of_sequences(session: &Session, tables: &[Arc<Table>], found: &mut Vec<Dependency>) {
    let by_name = by_name(tables);
    for it in session.snapshot().sequences() {
        let own = (RELATION, oids::of_name("sequence", &it.name), 0);
        found.push((own, schema_of(&it.name), NORMAL));
        let Some(owner) = &it.owner else { continue };
        let Some(table) = by_name.get(&*owner.table) else { continue };
        let place = table.columns.iter().position(|it| it.name == *owner.column);
        if let Some(place) = place {
            let of = column(table.id, ColumnId(place as u16));
            found.push((own, of, if owner.is_identity { INTERNAL } else { AUTO }));
        }
    }
}
