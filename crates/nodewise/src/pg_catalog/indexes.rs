//! `pg_index`, and the statements that make indexes.

use ::types::names::quoted;
use ::types::{DataType, Deferral, SqlResult, names};
use arrow_array::RecordBatch;
use binder::IndexItem;
use binder::index_words::is_call;
use storage::{IndexKind, IndexedRelation, Table, TableIndex};

use super::oids;
use super::relations::{full_name, index_oid, numbers};
use super::shapes;
use super::shared::number;
use super::types::TYPES;
use crate::Session;
use crate::index_text::{clauses, in_order, said, told_of_expression};
use crate::pg_types::wire_type;
use crate::views::ViewBuilder;

/// The places of what an index is of; zero for an expression.
fn item_places<'a>(
    table: &'a Table,
    index: &'a TableIndex,
    items: &'a [IndexItem],
) -> impl Iterator<Item = i64> + 'a {
    let own = index.columns.iter().zip(items).map(move |(id, item)| match item {
        IndexItem::Column(name) => {
            let place = table.columns.iter().position(|it| it.name == *name);
            place.unwrap_or(id.index()) as i64 + 1
        }
        IndexItem::Expression(_) => 0,
    });
    own.chain(index.included.iter().map(|it| it.index() as i64 + 1))
}

/// The keys and indexes of all tables and materialized views.
pub(super) fn indexes(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_INDEX);
    for of in session.snapshot().indexed_relations() {
        let table = &*of.table;
        for index in &table.rules().indexes {
            let columns = index.columns.len() as i64;
            let all = columns + index.included.len() as i64;
            let said = said(table, index);
            let expression = |it: &IndexItem| match it {
                IndexItem::Expression(it) => Some(told_of_expression(it)),
                IndexItem::Column(_) => None,
            };
            let expressions: Vec<String> = said.items.iter().filter_map(expression).collect();
            let expressions = (!expressions.is_empty()).then(|| expressions.join(", "));
            let types = || index.columns.iter().map(|it| table.column(*it).data_type);
            let orders = (0..index.columns.len()).map(|it| i64::from(index.order(it).bits()));
            view.row([
                number(index_oid(of.id, index)),
                number(oids::table(of.id)),
                number(all),
                number(columns),
                index.kind.is_unique().into(),
                index.nulls_equal.into(),
                (index.kind == IndexKind::PrimaryKey).into(),
                false.into(),
                (index.deferral == Deferral::None).into(),
                false.into(),
                true.into(),
                false.into(),
                true.into(),
                true.into(),
                false.into(),
                // Vectors of PostgreSQL's catalog count from zero.
                numbers(item_places(table, index, &said.items), 0)?.into(),
                numbers(orders, 0)?.into(),
                expressions.into(),
                said.predicate.as_deref().map(told_of_expression).into(),
                numbers(types().map(class), 0)?.into(),
                numbers(types().map(collation), 0)?.into(),
            ]);
        }
    }
    view.finish()
}

/// The order of the values of a type, as `pg_opclass` has it; zero of one that it does not have.
fn class(of: DataType) -> i64 {
    let oid = i64::from(wire_type(of).oid);
    if TYPES.iter().any(|it| it.oid == oid) { oids::CLASSES + oid } else { 0 }
}

/// The order of texts, as columns have it.
fn collation(of: DataType) -> i64 {
    if of.is_text() { oids::COLLATION } else { 0 }
}

/// The statements that make indexes, by their numbers.
pub(super) fn index_definitions(session: &Session) -> Vec<(i64, String)> {
    let mut definitions = Vec::new();
    for of in session.snapshot().indexed_relations() {
        for index in &of.table.rules().indexes {
            definitions.push((index_oid(of.id, index), definition(&of, index)));
        }
    }
    definitions
}

/// What each column of each index is, those that it includes last: by the number of the index and the place from one on.
pub(super) fn column_definitions(session: &Session) -> Vec<(i64, Option<i64>, String)> {
    let mut definitions = Vec::new();
    for of in session.snapshot().indexed_relations() {
        for index in &of.table.rules().indexes {
            let said = said(&of.table, index);
            let columns = said.items.iter().map(told_of_item);
            let columns = columns.chain(said.included.iter().map(|it| quoted(it)));
            let oid = index_oid(of.id, index);
            definitions.extend((1..).zip(columns).map(|(place, it)| (oid, Some(place), it)));
        }
    }
    definitions
}

/// A column as it is named, or an expression; what is no call has parentheses of its own beside those of its operator.
fn told_of_item(item: &IndexItem) -> String {
    match item {
        IndexItem::Column(column) => quoted(column),
        IndexItem::Expression(it) => {
            let told = told_of_expression(it);
            if is_call(it) { told } else { format!("({told})") }
        }
    }
}

/// The statement that makes an index.
fn definition(relation: &IndexedRelation, index: &TableIndex) -> String {
    let unique = if index.kind.is_unique() { "UNIQUE " } else { "" };
    let said = said(&relation.table, index);
    let items = in_order(index, said.items.iter().map(told_of_item).collect());
    let condition = said.predicate.as_deref().map(told_of_expression);
    let behind = clauses(&said, condition, quoted);
    let (name, of) = (quoted(&index.name), full_name(&relation.name, ""));
    let method = index.method.name();
    format!("CREATE {unique}INDEX {name} ON {of} USING {method} ({items}){behind}")
}

/// `pg_indexes`: keys and indexes by the names of their tables.
pub(super) fn by_name(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_INDEXES);
    for of in session.snapshot().indexed_relations() {
        let (schema, own) = names::split(&of.name);
        for index in &of.table.rules().indexes {
            let name = index.name.to_string();
            let definition = definition(&of, index);
            view.row([
                schema.clone().into(),
                own.clone().into(),
                name.into(),
                None::<String>.into(),
                definition.into(),
            ]);
        }
    }
    view.finish()
}
