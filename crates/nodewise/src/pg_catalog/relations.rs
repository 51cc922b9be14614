//! Tables, their columns, keys, indexes and constraints.

use std::collections::HashMap;

use ::types::array::{self, Dimension};
use ::types::{
    ColumnId, Deferral, ForeignKey, ObjectKind, ReferentialAction, SqlResult, TableId, names,
};
use arrow_array::RecordBatch;
use binder::bind::SerialSequence;
use stdx::sync::Arc;
use storage::{CatalogSnapshot, ColumnSchema, IndexKind, Rules, Table, TableIndex};

use super::oids;
use super::owners::Shown;
use super::shared::{none, number};
use crate::Session;
use crate::constraints;
use crate::index_text::nulls_clause;
use crate::pg_types::wire_type;
use crate::search_path::SearchPath;
use crate::views::{Cell, ViewBuilder};

/// A name as it is written in SQL: quoted where it has to be.
pub(super) fn quoted(name: &str) -> String {
    let begins = name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_');
    let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    if begins && name.chars().all(plain) { name.to_owned() } else { constraints::quoted(name) }
}

/// The name of a relation as it is written in SQL, without its schema if it is in this one.
pub(super) fn full_name(full: &str, within: &str) -> String {
    match names::split(full) {
        (schema, name) if schema == within => quoted(&name),
        (schema, name) => format!("{}.{}", quoted(&schema), quoted(&name)),
    }
}

/// The tables, but those that keep the rows of materialized views.
pub(super) fn all(session: &Session) -> Vec<Arc<Table>> {
    let mut tables = session.snapshot().tables();
    tables.retain(|it| names::schema_of(&it.name) != names::MATERIALIZED);
    tables
}

/// The number of an index.
pub(super) fn index_oid(table: TableId, index: &TableIndex) -> i64 {
    oids::named("index", table, &index.name)
}

/// The columns of `pg_class`.
const CLASS: [(&str, char); 29] = [
    ("oid", 'i'),
    ("relname", 't'),
    ("relnamespace", 'i'),
    ("reltype", 'i'),
    ("reloftype", 'i'),
    ("relowner", 'i'),
    ("relam", 'i'),
    ("relfilenode", 'i'),
    ("reltablespace", 'i'),
    ("relpages", 'i'),
    ("reltuples", 'i'),
    ("reltoastrelid", 'i'),
    ("relhasindex", 'b'),
    ("relisshared", 'b'),
    ("relpersistence", 't'),
    ("relkind", 't'),
    ("relnatts", 'i'),
    ("relchecks", 'i'),
    ("relhasrules", 'b'),
    ("relhastriggers", 'b'),
    ("relhassubclass", 'b'),
    ("relrowsecurity", 'b'),
    ("relforcerowsecurity", 'b'),
    ("relispopulated", 'b'),
    ("relreplident", 't'),
    ("relispartition", 'b'),
    ("relacl", 'a'),
    ("reloptions", 'a'),
    ("relpartbound", 't'),
];

pub(super) fn classes(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&CLASS);
    for table in all(session) {
        let rules = table.rules();
        let columns = table.columns.iter().filter(|it| !names::is_hidden(&it.name)).count();
        let own = Class { rows: table.rows(), ..Class::of(oids::table(table.id), "r", columns) };
        let schema = names::schema_of(&table.name);
        class(session, &mut view, &table.name, &Class { rules: Some(rules), ..own })?;
        for index in &rules.indexes {
            let own = Class::of(index_oid(table.id, index), "i", index.columns.len());
            let own = Class { owner: Some(&table.name), ..own };
            class(session, &mut view, &names::joined(&schema, &index.name), &own)?;
        }
    }
    for it in session.snapshot().views() {
        let kind = if it.materialized.is_some() { "m" } else { "v" };
        let own = Class::of(oids::table(it.id), kind, it.columns.len());
        let is_populated = it.materialized.as_ref().is_none_or(|it| it.is_populated);
        class(session, &mut view, &it.name, &Class { is_populated, ..own })?;
    }
    for it in session.snapshot().sequences() {
        let own = Class::of(oids::of_name("sequence", &it.name), "S", 3);
        class(session, &mut view, &it.name, &Class { rows: 1, ..own })?;
    }
    view.finish()
}

/// The sequences, as `pg_sequence` has them.
pub(super) fn sequences(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("seqrelid", 'i'),
        ("seqtypid", 'i'),
        ("seqstart", 'i'),
        ("seqincrement", 'i'),
        ("seqmax", 'i'),
        ("seqmin", 'i'),
        ("seqcache", 'i'),
        ("seqcycle", 'b'),
    ]);
    let snapshot = session.snapshot();
    for sequence in snapshot.sequences() {
        let of = &sequence.definition;
        view.row([
            number(oids::of_name("sequence", &sequence.name)),
            number(wire_type(of.data_type).oid.into()),
            number(of.start),
            number(of.increment),
            number(of.max),
            number(of.min),
            (of.cache).into(),
            of.cycles.into(),
        ]);
    }
    view.finish()
}

/// A relation of `pg_class`.
struct Class<'a> {
    oid: i64,
    kind: &'static str,
    columns: usize,
    rows: u64,
    /// Those of a table.
    rules: Option<&'a Rules>,
    /// Whether it can be read.
    is_populated: bool,
    /// Of an index, the table whose owner has it.
    owner: Option<&'a str>,
}

impl Class<'_> {
    fn of(oid: i64, kind: &'static str, columns: usize) -> Self {
        let (rows, rules, is_populated, owner) = (0, None, true, None);
        Self { oid, kind, columns, rows, rules, is_populated, owner }
    }
}

fn class(
    session: &Session,
    view: &mut ViewBuilder,
    name: &str,
    class: &Class<'_>,
) -> SqlResult<()> {
    let shown = Shown::of_relation(session, class.owner.unwrap_or(name));
    let acl = if class.kind == "i" { none() } else { shown.acl(session, false)? };
    let Class { oid, kind, columns, rows, rules, is_populated, .. } = *class;
    let method = match kind {
        "r" | "m" => oids::COLUMNS,
        "i" => oids::INVERTED,
        _ => 0,
    };
    let is_view = kind == "v";
    view.row([
        number(oid),
        names::bare(name).into(),
        number(oids::schema_of(name)),
        number(0),
        number(0),
        shown.owner(),
        number(method),
        number(if is_view { 0 } else { oid }),
        number(0),
        number(0),
        rows.into(),
        number(0),
        rules.is_some_and(|it| !it.indexes.is_empty()).into(),
        false.into(),
        if names::is_temporary(name) { "t".into() } else { "p".into() },
        kind.into(),
        number(columns as i64),
        number(rules.map_or(0, |it| it.rows.checks.len()) as i64),
        is_view.into(),
        rules.is_some_and(|it| !it.references.is_empty()).into(),
        false.into(),
        false.into(),
        false.into(),
        is_populated.into(),
        if kind == "r" { "d".into() } else { "n".into() },
        false.into(),
        acl,
        none(),
        none(),
    ]);
    Ok(())
}

/// The columns of `pg_attribute`.
const ATTRIBUTE: [(&str, char); 24] = [
    ("attrelid", 'i'),
    ("attname", 't'),
    ("atttypid", 'i'),
    ("attlen", 'i'),
    ("attnum", 'i'),
    ("atttypmod", 'i'),
    ("attndims", 'i'),
    ("attbyval", 'b'),
    ("attalign", 't'),
    ("attstorage", 't'),
    ("attcompression", 't'),
    ("attnotnull", 'b'),
    ("atthasdef", 'b'),
    ("atthasmissing", 'b'),
    ("attidentity", 't'),
    ("attgenerated", 't'),
    ("attisdropped", 'b'),
    ("attislocal", 'b'),
    ("attinhcount", 'i'),
    ("attcollation", 'i'),
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
            let more = (has_default, generated, acl);
            attribute(&mut view, (oids::table(table.id), place), column, more);
        }
        for index in &table.rules().indexes {
            for (place, column) in index.columns.iter().enumerate() {
                let mut column = ColumnSchema { nullable: true, ..columns[column.index()].clone() };
                if names::is_hidden(&column.name) {
                    column.name = "expr".to_owned();
                }
                let more = (false, "", Cell::Text(None));
                attribute(&mut view, (index_oid(table.id, index), place), &column, more);
            }
        }
    }
    for it in session.snapshot().views() {
        let rights = Shown::of(session, ObjectKind::Relation, &it.name);
        for (place, (name, data_type)) in it.columns.iter().enumerate() {
            let column = ColumnSchema::new(name, *data_type, true);
            let more = (false, "", rights.column_acl(session, name)?);
            attribute(&mut view, (oids::table(it.id), place), &column, more);
        }
    }
    view.finish()
}

fn attribute(
    view: &mut ViewBuilder,
    (relation, place): (i64, usize),
    schema: &ColumnSchema,
    (has_default, generated, acl): (bool, &str, Cell),
) {
    let wire = wire_type(schema.data_type);
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
        ViewBuilder::new(&[("oid", 'i'), ("adrelid", 'i'), ("adnum", 'i'), ("adbin", 't')]);
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

/// An array of numbers as it is held, from a subscript on.
pub(super) fn numbers(numbers: impl Iterator<Item = i64>, lower: i32) -> SqlResult<String> {
    let (mut held, mut length) = (String::new(), 0);
    for it in numbers {
        array::push_integer(&mut held, it.into());
        length += 1;
    }
    array::close(&mut held, 0, &[Dimension { length, lower }])?;
    Ok(held)
}

/// Columns as their numbers.
fn places(columns: &[ColumnId]) -> impl Iterator<Item = i64> {
    columns.iter().map(|it| it.index() as i64 + 1)
}

/// A constraint, with what the catalog says of it.
struct Constraint {
    oid: i64,
    name: String,
    kind: &'static str,
    columns: Vec<ColumnId>,
    index: Option<i64>,
    parent: Option<(i64, Vec<ColumnId>, &'static str, &'static str)>,
    definition: String,
    deferral: Deferral,
    /// Of a foreign key.
    rule: Option<ForeignKey>,
}

/// The letter of an action.
fn letter(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "a",
        ReferentialAction::Restrict => "r",
        ReferentialAction::Cascade => "c",
        ReferentialAction::SetNull => "n",
        ReferentialAction::SetDefault => "d",
    }
}

fn columns_of(table: &Table, columns: &[ColumnId]) -> String {
    let each: Vec<String> = columns.iter().map(|it| quoted(&table.column(*it).name)).collect();
    each.join(", ")
}

fn constraints_of(table: &Table, tables: &HashMap<&str, &Arc<Table>>) -> Vec<Constraint> {
    let oid = |name: &str| oids::named("constraint", table.id, name);
    let rules = table.rules();
    let keys = rules.indexes.iter().filter(|it| it.kind.is_constraint()).map(|it| {
        let primary = it.kind == IndexKind::PrimaryKey;
        let words = if primary { "PRIMARY KEY" } else { "UNIQUE" };
        Constraint {
            oid: oid(&it.name),
            name: it.name.to_string(),
            kind: if primary { "p" } else { "u" },
            columns: it.columns.to_vec(),
            index: Some(index_oid(table.id, it)),
            parent: None,
            rule: None,
            definition: format!(
                "{words}{} ({}){}",
                nulls_clause(it),
                columns_of(table, &it.columns),
                it.deferral.clause()
            ),
            deferral: it.deferral,
        }
    });
    let checks = rules.rows.checks.iter().map(|it| Constraint {
        oid: oid(&it.name),
        name: it.name.to_string(),
        kind: "c",
        columns: Vec::new(),
        index: None,
        parent: None,
        deferral: Deferral::None,
        rule: None,
        definition: format!("CHECK ({})", it.condition),
    });
    let references = rules.references.iter().map(|it| reference(table, it, tables));
    keys.chain(checks).chain(references).collect()
}

/// A rule that refers to another table, with the key there that it rests on.
fn reference(table: &Table, rule: &ForeignKey, tables: &HashMap<&str, &Arc<Table>>) -> Constraint {
    let ForeignKey { name, columns, parent, parent_columns, on_delete, on_update, .. } = rule;
    let (mut found, mut index) = (None, None);
    if let Some(parent) = tables.get(&**parent) {
        let schema = parent.schema();
        let place = |name: &Arc<str>| schema.iter().position(|it| *it.name == **name);
        let referred = parent_columns.iter().filter_map(place).map(|it| ColumnId(it as u16));
        let referred: Vec<ColumnId> = referred.collect();
        let is_key = |it: &&TableIndex| {
            it.kind.is_constraint()
                && it.columns.len() == referred.len()
                && it.columns.iter().all(|column| referred.contains(column))
        };
        let key = parent.rules().indexes.iter().find(is_key);
        index = key.map(|it| index_oid(parent.id, it));
        found = Some((oids::table(parent.id), referred, letter(*on_update), letter(*on_delete)));
    }
    let parent_names: Vec<String> = parent_columns.iter().map(|it| quoted(it)).collect();
    let mut definition = format!(
        "FOREIGN KEY ({}) REFERENCES {}({}){}",
        columns_of(table, columns),
        full_name(parent, names::PUBLIC),
        parent_names.join(", "),
        rule.match_clause()
    );
    for (event, action) in [("UPDATE", on_update), ("DELETE", on_delete)] {
        if *action != ReferentialAction::NoAction {
            definition.push_str(&format!(" ON {event} {}", action.name()));
        }
    }
    definition.push_str(&rule.last_clauses());
    Constraint {
        oid: oids::named("constraint", table.id, name),
        name: name.to_string(),
        kind: "f",
        columns: columns.to_vec(),
        index,
        parent: found,
        definition,
        deferral: rule.deferral,
        rule: Some(rule.clone()),
    }
}

/// The columns of `pg_constraint`.
const CONSTRAINT_COLUMNS: [(&str, char); 26] = [
    ("oid", 'i'),
    ("conname", 't'),
    ("connamespace", 'i'),
    ("contype", 't'),
    ("condeferrable", 'b'),
    ("condeferred", 'b'),
    ("conenforced", 'b'),
    ("convalidated", 'b'),
    ("conrelid", 'i'),
    ("contypid", 'i'),
    ("conindid", 'i'),
    ("conparentid", 'i'),
    ("confrelid", 'i'),
    ("confupdtype", 't'),
    ("confdeltype", 't'),
    ("confmatchtype", 't'),
    ("conislocal", 'b'),
    ("coninhcount", 'i'),
    ("connoinherit", 'b'),
    ("conkey", 's'),
    ("confkey", 's'),
    ("conbin", 't'),
    ("conperiod", 'b'),
    ("conpfeqop", 'n'),
    ("conexclop", 'n'),
    ("confdelsetcols", 's'),
];

pub(super) fn constraints(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&CONSTRAINT_COLUMNS);
    let tables = all(session);
    let by_name = tables.iter().map(|it| (it.name.as_str(), it)).collect();
    for table in &tables {
        for it in constraints_of(table, &by_name) {
            let array = |columns: &[ColumnId]| {
                let array = (!columns.is_empty()).then(|| numbers(places(columns), 1));
                array.transpose()
            };
            let (parent, keys, on_update, on_delete) =
                it.parent.clone().unwrap_or((0, Vec::new(), " ", " "));
            let deferral = it.deferral;
            view.row([
                number(it.oid),
                it.name.into(),
                number(oids::schema_of(&table.name)),
                it.kind.into(),
                (deferral != Deferral::None).into(),
                (deferral == Deferral::Deferred).into(),
                true.into(),
                it.rule.as_ref().is_none_or(|it| it.is_validated).into(),
                number(oids::table(table.id)),
                number(0),
                number(it.index.unwrap_or(0)),
                number(0),
                number(parent),
                on_update.into(),
                on_delete.into(),
                it.rule.as_ref().map_or(" ", |it| if it.is_full { "f" } else { "s" }).into(),
                true.into(),
                number(0),
                true.into(),
                array(&it.columns)?.into(),
                array(&keys)?.into(),
                none(),
                false.into(),
                none(),
                none(),
                none(),
            ]);
        }
    }
    view.finish()
}

pub(super) fn tables(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("schemaname", 't'),
        ("tablename", 't'),
        ("tableowner", 't'),
        ("tablespace", 't'),
        ("hasindexes", 'b'),
        ("hasrules", 'b'),
        ("hastriggers", 'b'),
        ("rowsecurity", 'b'),
    ]);
    for table in all(session) {
        view.row([
            names::schema_of(&table.name).into(),
            names::bare(&table.name).into(),
            Shown::of_relation(session, &table.name).owner_name(session),
            none(),
            (!table.rules().indexes.is_empty()).into(),
            false.into(),
            (!table.rules().references.is_empty()).into(),
            false.into(),
        ]);
    }
    view.finish()
}

pub(super) fn views(session: &Session) -> SqlResult<RecordBatch> {
    let columns = [("schemaname", 't'), ("viewname", 't'), ("viewowner", 't'), ("definition", 't')];
    let mut view = ViewBuilder::new(&columns);
    for it in session.snapshot().views().iter().filter(|it| it.materialized.is_none()) {
        let owner = Shown::of_relation(session, &it.name).owner_name(session);
        let definition = format!("{};", it.query);
        let (schema, name) = names::split(&it.name);
        view.row([schema.into(), name.into(), owner, definition.into()]);
    }
    view.finish()
}

/// The view `pg_matviews`.
pub(super) fn materialized_views(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("schemaname", 't'),
        ("matviewname", 't'),
        ("matviewowner", 't'),
        ("tablespace", 't'),
        ("hasindexes", 'b'),
        ("ispopulated", 'b'),
        ("definition", 't'),
    ]);
    for it in session.snapshot().views() {
        let Some(rows) = &it.materialized else { continue };
        let (schema, name) = names::split(&it.name);
        view.row([
            schema.into(),
            name.into(),
            Shown::of_relation(session, &it.name).owner_name(session),
            none(),
            false.into(),
            rows.is_populated.into(),
            format!("{};", it.query).into(),
        ]);
    }
    view.finish()
}

/// The queries of views by their numbers.
pub(super) fn view_definitions(session: &Session) -> Vec<(i64, String)> {
    let views = session.snapshot().views();
    views.iter().map(|it| (oids::table(it.id), format!("{};", it.query))).collect()
}

/// The names of tables, indexes and views by their numbers, as they are written in SQL.
pub(super) fn names(session: &Session) -> Vec<(i64, String)> {
    let snapshot = session.snapshot();
    let path = session.search_path(&snapshot);
    let shown = |full: &str| {
        let (schema, name) = names::split(full);
        match is_visible(session, &snapshot, &path, full) {
            true => quoted(&name),
            false => format!("{}.{}", quoted(&schema), quoted(&name)),
        }
    };
    numbered(&snapshot).into_iter().map(|(oid, full)| (oid, shown(&full))).collect()
}

/// The names of relations by their numbers: with their schemas, and without where they are found so.
pub(super) fn all_names(session: &Session) -> Vec<(i64, String)> {
    let mut all = names(session);
    all.extend(numbered(&session.snapshot()).into_iter().map(|(oid, full)| (oid, written(&full))));
    all.sort();
    all.dedup();
    all
}

/// The name of a relation with its schema, as SQL has it.
fn written(full: &str) -> String {
    let (schema, name) = names::split(full);
    format!("{}.{}", quoted(&schema), quoted(&name))
}

/// The sequences that columns own.
pub(crate) fn serial_sequences(session: &Session) -> Vec<SerialSequence> {
    let snapshot = session.snapshot();
    let path = session.search_path(&snapshot);
    let owned = snapshot.sequences().filter_map(|it| it.owner.as_ref().map(|owner| (it, owner)));
    let owned = owned.map(|(sequence, owner)| {
        let mut tables = vec![written(&owner.table)];
        if is_visible(session, &snapshot, &path, &owner.table) {
            tables.push(quoted(&names::split(&owner.table).1));
        }
        let (column, name) = (owner.column.to_string(), written(&sequence.name));
        SerialSequence { tables, column, name }
    });
    owned.collect()
}

/// All relations by their numbers.
pub(super) fn numbered(snapshot: &CatalogSnapshot) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    let own = |it: &&Arc<Table>| names::schema_of(&it.name) != names::MATERIALIZED;
    for table in snapshot.each_table().filter(own) {
        all.push((oids::table(table.id), table.name.clone()));
        let schema = names::schema_of(&table.name);
        let indexes = table.rules().indexes.iter();
        let full = |it: &TableIndex| names::joined(&schema, &it.name);
        all.extend(indexes.map(|it| (index_oid(table.id, it), full(it))));
    }
    all.extend(snapshot.views().iter().map(|it| (oids::table(it.id), it.name.clone())));
    let sequences = snapshot.sequences();
    all.extend(sequences.map(|it| (oids::of_name("sequence", &it.name), it.name.clone())));
    all
}

/// Whether a relation is the one that its name without a schema means.
fn is_visible(
    session: &Session,
    snapshot: &CatalogSnapshot,
    path: &SearchPath,
    full: &str,
) -> bool {
    let (schema, name) = names::split(full);
    if !path.schemas().contains(&schema) {
        return false;
    }
    // An index has no relation of its name before it, either.
    let is_there = |it: &str| it == full || snapshot.kind_of(it).is_some();
    session.find_name(path, (None, &name), &is_there).name.as_deref() == Some(full)
}

/// The numbers of relations that are not seen without their schema.
pub(super) fn hidden(session: &Session) -> Vec<(i64, String)> {
    let snapshot = session.snapshot();
    let path = session.search_path(&snapshot);
    let mut all = numbered(&snapshot);
    all.retain(|it| !is_visible(session, &snapshot, &path, &it.1));
    all
}

/// The number of a relation by its name.
pub(super) fn number_of(session: &Session, schema: Option<&str>, name: &str) -> Option<i64> {
    let snapshot = session.snapshot();
    let path = session.search_path(&snapshot);
    let all = numbered(&snapshot);
    let is_there = |full: &str| all.iter().any(|it| it.1 == full);
    let found = session.find_name(&path, (schema, name), &is_there).name?;
    all.into_iter().find(|it| it.1 == found).map(|it| it.0)
}

/// The bytes of tables by their numbers.
pub(super) fn sizes(session: &Session) -> Vec<(i64, String)> {
    let size = |it: &Arc<Table>| (oids::table(it.id), it.memory_bytes().to_string());
    all(session).iter().map(size).collect()
}

/// The definitions of constraints by their numbers.
pub(super) fn constraint_definitions(session: &Session) -> Vec<(i64, String)> {
    let tables = all(session);
    let by_name = tables.iter().map(|it| (it.name.as_str(), it)).collect();
    let each = tables.iter().flat_map(|it| constraints_of(it, &by_name));
    each.map(|it| (it.oid, it.definition)).collect()
}

/// Types as `format_type` writes them: by number, and by number and modifier of the columns that there are.
pub(super) fn type_names(session: &Session) -> Vec<(i64, Option<i64>, String)> {
    let mut names = Vec::new();
    let views = session.snapshot().views();
    let of_views = views.iter().flat_map(|it| it.columns.iter().map(|it| it.1));
    let of_tables = all(session).into_iter().flat_map(|it| it.schema());
    for data_type in of_tables.map(|it| it.data_type).chain(of_views) {
        {
            let wire = wire_type(data_type);
            let name = ::types::numeric::errors::type_name(data_type);
            let entry = (i64::from(wire.oid), Some(i64::from(wire.modifier)), name);
            if wire.modifier >= 0 && !names.contains(&entry) {
                names.push(entry);
            }
        }
    }
    names.extend(super::types::all_names(session));
    names
}
