//! `pg_index`, and the statements that make indexes.

use ::types::{Deferral, SqlResult, names};
use arrow_array::RecordBatch;
use binder::IndexItem;
use storage::{IndexKind, Table, TableIndex};

use super::oids;
use super::relations::{all, full_name, index_oid, numbers, quoted};
use super::shared::number;
use crate::Session;
use crate::index_text::{Said, said, sql_of, sql_of_expression};
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

/// The keys and indexes of all tables.
pub(super) fn indexes(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("indexrelid", '#'),
        ("indrelid", '#'),
        ("indnatts", 'i'),
        ("indnkeyatts", 'i'),
        ("indisunique", 'b'),
        ("indnullsnotdistinct", 'b'),
        ("indisprimary", 'b'),
        ("indisexclusion", 'b'),
        ("indimmediate", 'b'),
        ("indisclustered", 'b'),
        ("indisvalid", 'b'),
        ("indcheckxmin", 'b'),
        ("indisready", 'b'),
        ("indislive", 'b'),
        ("indisreplident", 'b'),
        ("indkey", 'k'),
        ("indoption", 'k'),
        ("indexprs", 't'),
        ("indpred", 't'),
        ("indclass", 'o'),
        ("indcollation", 'o'),
    ]);
    for table in all(session) {
        for index in &table.rules().indexes {
            let columns = index.columns.len() as i64;
            let all = columns + index.included.len() as i64;
            let Said { items, predicate, .. } = said(&table, index);
            let expression = |it: &IndexItem| match it {
                IndexItem::Expression(it) => Some(sql_of_expression(it)),
                IndexItem::Column(_) => None,
            };
            let expressions: Vec<String> = items.iter().filter_map(expression).collect();
            let expressions = (!expressions.is_empty()).then(|| expressions.join(", "));
            let zeros = || numbers((0..columns).map(|_| 0), 0);
            view.row([
                number(index_oid(table.id, index)),
                number(oids::table(table.id)),
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
                numbers(item_places(&table, index, &items), 0)?.into(),
                zeros()?.into(),
                expressions.into(),
                predicate.into(),
                zeros()?.into(),
                zeros()?.into(),
            ]);
        }
    }
    view.finish()
}

/// The statements that make indexes, by their numbers.
pub(super) fn index_definitions(session: &Session) -> Vec<(i64, String)> {
    let mut definitions = Vec::new();
    for table in all(session) {
        for index in &table.rules().indexes {
            definitions.push((index_oid(table.id, index), definition(&table, index)));
        }
    }
    definitions
}

fn definition(table: &Table, index: &TableIndex) -> String {
    let unique = if index.kind.is_unique() { "UNIQUE " } else { "" };
    let (items, condition) = sql_of(table, index, quoted);
    let (name, of) = (quoted(&index.name), full_name(&table.name, ""));
    format!("CREATE {unique}INDEX {name} ON {of} USING inverted ({items}){condition}")
}

/// `pg_indexes`: keys and indexes by the names of their tables.
pub(super) fn by_name(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("schemaname", 'd'),
        ("tablename", 'd'),
        ("indexname", 'd'),
        ("tablespace", 'd'),
        ("indexdef", 't'),
    ]);
    for table in all(session) {
        let (schema, own) = names::split(&table.name);
        for index in &table.rules().indexes {
            let name = index.name.to_string();
            let definition = definition(&table, index);
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
