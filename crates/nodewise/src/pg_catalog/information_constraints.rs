//! The views of `information_schema` that tell of constraints.

use ::types::{CheckRule, ColumnId, Deferral, SqlResult, names};
use arrow_array::RecordBatch;
use stdx::sync::Arc;
use storage::{IndexKind, Table};

use super::constraints::{by_name, domain_checks, parent_key, referred};
use super::shared::{none, number};
use super::standard_shapes;
use super::standard_types::catalog;
use crate::Session;
use crate::constraints::columns_named;
use crate::views::{Cell, ViewBuilder};

/// A constraint and its table: what two of the views begin with.
fn of_table(session: &Session, table: &Table, constraint: &str) -> [Cell; 6] {
    let schema = names::schema_of(&table.name);
    [
        catalog(session),
        schema.clone().into(),
        constraint.into(),
        catalog(session),
        schema.into(),
        names::bare(&table.name).into(),
    ]
}

pub(super) fn constraints(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::TABLE_CONSTRAINTS);
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
            let more: [Cell; 4] = [
                kind.into(),
                if deferral == Deferral::None { "NO" } else { "YES" }.into(),
                if deferral == Deferral::Deferred { "YES" } else { "NO" }.into(),
                "YES".into(),
            ];
            view.row(of_table(session, &table, &name).into_iter().chain(more));
        }
    }
    view.finish()
}

pub(super) fn key_columns(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::KEY_COLUMN_USAGE);
    for table in super::relations::all(session) {
        let rules = table.rules();
        let keys = rules.indexes.iter().filter(|it| it.kind.is_constraint());
        let keys = keys.map(|it| (&it.name, &it.columns[..], false));
        let references = rules.references.iter().map(|it| (&it.name, &it.columns[..], true));
        for (name, columns, refers) in keys.chain(references) {
            for (place, column) in columns.iter().enumerate() {
                let place = place as i64 + 1;
                let more: [Cell; 3] = [
                    table.column(*column).name.as_str().into(),
                    number(place),
                    Cell::Integer(refers.then_some(place)),
                ];
                view.row(of_table(session, &table, name).into_iter().chain(more));
            }
        }
    }
    view.finish()
}

/// The conditions of tables and domains, in parentheses.
pub(super) fn checks(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::CHECK_CONSTRAINTS);
    let tables = super::relations::all(session);
    let of_tables = |it: &Arc<Table>| -> Vec<(String, String, String)> {
        let schema = names::schema_of(&it.name);
        let one = |it: &CheckRule| (schema.clone(), it.name.to_string(), it.condition.to_string());
        it.rules().rows.checks.iter().map(one).collect()
    };
    let of_domains = domain_checks(session).into_iter();
    let of_domains =
        of_domains.map(|(own, it)| (names::schema_of(&own.name), it.name, it.condition));
    for (schema, name, condition) in tables.iter().flat_map(of_tables).chain(of_domains) {
        view.row([catalog(session), schema.into(), name.into(), format!("({condition})").into()]);
    }
    view.finish()
}

/// What a constraint rests on: for a foreign key that is the table it refers to.
struct Used {
    /// The table of the constraint.
    own: Arc<Table>,
    /// The name of the constraint.
    name: Arc<str>,
    /// The table that it uses.
    table: Arc<Table>,
    columns: Vec<ColumnId>,
    /// Whether it is a key or refers to one: what a CHECK uses is columns, not a table.
    is_key: bool,
}

fn used(session: &Session) -> SqlResult<Vec<Used>> {
    let tables = super::relations::all(session);
    let by_name = by_name(&tables);
    let mut all = Vec::new();
    for own in &tables {
        let rules = own.rules();
        let mut add = |name: &Arc<str>, table: &Arc<Table>, columns: Vec<ColumnId>, is_key| {
            let (own, name, table) = (own.clone(), name.clone(), table.clone());
            all.push(Used { own, name, table, columns, is_key });
        };
        for it in rules.indexes.iter().filter(|it| it.kind.is_constraint()) {
            add(&it.name, own, it.columns.to_vec(), true);
        }
        for it in &rules.references {
            let Some(parent) = by_name.get(&*it.parent) else { continue };
            add(&it.name, parent, referred(it, parent), true);
        }
        for it in &rules.rows.checks {
            add(&it.name, own, columns_named(own, &it.condition)?, false);
        }
    }
    Ok(all)
}

pub(super) fn columns_used(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::CONSTRAINT_COLUMN_USAGE);
    for it in used(session)? {
        for column in it.columns {
            view.row([
                catalog(session),
                names::schema_of(&it.table.name).into(),
                names::bare(&it.table.name).into(),
                it.table.column(column).name.as_str().into(),
                catalog(session),
                names::schema_of(&it.own.name).into(),
                it.name.to_string().into(),
            ]);
        }
    }
    view.finish()
}

pub(super) fn tables_used(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::CONSTRAINT_TABLE_USAGE);
    for it in used(session)?.into_iter().filter(|it| it.is_key) {
        view.row([
            catalog(session),
            names::schema_of(&it.table.name).into(),
            names::bare(&it.table.name).into(),
            catalog(session),
            names::schema_of(&it.own.name).into(),
            it.name.to_string().into(),
        ]);
    }
    view.finish()
}

pub(super) fn references(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::REFERENTIAL_CONSTRAINTS);
    let tables = super::relations::all(session);
    let by_name = by_name(&tables);
    for table in &tables {
        for it in &table.rules().references {
            let key = by_name.get(&*it.parent).and_then(|parent| {
                let name = parent_key(parent, &referred(it, parent))?.name.to_string();
                Some((names::schema_of(&parent.name), name))
            });
            let (schema, name) = key.unzip();
            view.row([
                catalog(session),
                names::schema_of(&table.name).into(),
                it.name.to_string().into(),
                if name.is_some() { catalog(session) } else { none() },
                schema.into(),
                name.into(),
                if it.is_full { "FULL" } else { "NONE" }.into(),
                it.on_update.name().into(),
                it.on_delete.name().into(),
            ]);
        }
    }
    view.finish()
}
