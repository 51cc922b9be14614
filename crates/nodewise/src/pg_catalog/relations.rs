//! Tables, indexes, sequences and views, and their names and numbers.

use ::types::array::{self, Dimension};
use ::types::names::quoted;
use ::types::numeric::errors::type_name;
use ::types::numeric::interval_text::Fields;
use ::types::{Bits, DataType, IndexMethod, SqlResult, TableId, names};
use arrow_array::RecordBatch;
use binder::bind::SerialSequence;
use std::borrow::Cow;
use stdx::sync::Arc;
use storage::{CatalogSnapshot, Rules, Table, TableIndex};

use super::owners::Shown;
use super::shared::{none, number, ways};
use super::{oids, row_types, shapes, system_views};
use crate::Session;
use crate::pg_types::wire_type;
use crate::search_path::SearchPath;
use crate::views::{Cell, ViewBuilder, Viewer};

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

/// The number of an index of a table or a materialized view.
pub(super) fn index_oid(relation: TableId, index: &TableIndex) -> i64 {
    oids::named("index", relation, &index.name)
}

pub(super) fn classes(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_CLASS);
    let row_type = |id| oids::row_type(id).0;
    for table in all(session) {
        let rules = table.rules();
        let columns = table.columns.iter().filter(|it| !names::is_hidden(&it.name)).count();
        let own = Class::of(oids::table(table.id), "r", columns);
        let own = Class { rows: table.rows(), row_type: row_type(table.id), ..own };
        class(session, &mut view, &table.name, &Class { rules: Some(rules), ..own })?;
    }
    for of in session.snapshot().indexed_relations() {
        for index in &of.table.rules().indexes {
            let columns = index.columns.len() + index.included.len();
            let own = Class::of(index_oid(of.id, index), "i", columns);
            let own = Class { owner: Some(&of.name), method: index.method, ..own };
            class(session, &mut view, &of.index_name(&index.name), &own)?;
        }
    }
    let snapshot = session.snapshot();
    for it in snapshot.views() {
        let kind = if it.materialized.is_some() { "m" } else { "v" };
        let own = Class::of(oids::table(it.id), kind, it.columns.len());
        let is_populated = it.materialized.as_ref().is_none_or(|it| it.is_populated);
        let kept = it.materialized.as_ref().and_then(|it| snapshot.get(&it.table));
        let (rules, rows) = (kept.map(|it| &**it.rules()), kept.map_or(0, |it| it.rows()));
        let own = Class { is_populated, row_type: row_type(it.id), rules, rows, ..own };
        class(session, &mut view, &it.name, &own)?;
    }
    for it in session.snapshot().user_types() {
        let Some((of, fields)) = row_types::composite(it) else { continue };
        let own = Class::of(of.relation, "c", fields.fields().len());
        let role = Some(super::owners::oid(it.owner));
        class(session, &mut view, &of.name, &Class { row_type: of.oid, role, ..own })?;
    }
    for it in session.snapshot().sequences() {
        let own = Class::of(oids::of_name("sequence", &it.name), "S", 3);
        class(session, &mut view, &it.name, &Class { rows: 1, ..own })?;
    }
    for it in system_views::relations()? {
        let kind = if it.is_table { "r" } else { "v" };
        let own = Class::of(it.oid, kind, it.columns.len());
        let own = Class { shown: Some(Shown::of_system(it)), ..own };
        class(session, &mut view, &names::joined(it.schema, it.name), &own)?;
    }
    view.finish()
}

/// The sequences, as `pg_sequence` has them.
pub(super) fn sequences(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_SEQUENCE);
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

/// The view `pg_sequences`: the last number is NULL until one was given out, and for who may not read it.
pub(super) fn sequences_by_name(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_SEQUENCES);
    for sequence in session.snapshot().sequences() {
        let (of, position) = (&sequence.definition, sequence.counter.lock().position);
        let is_seen = position.is_called && session.reads_sequence(&sequence.name);
        let (schema, name) = names::split(&sequence.name);
        view.row([
            schema.into(),
            name.into(),
            Shown::of_relation(session, &sequence.name).owner_name(session),
            type_name(of.data_type).into(),
            of.start.into(),
            of.min.into(),
            of.max.into(),
            of.increment.into(),
            of.cycles.into(),
            of.cache.into(),
            is_seen.then_some(position.number).into(),
        ]);
    }
    view.finish()
}

/// The last numbers that sequences gave out, by their numbers, of those that may be read.
pub(super) fn last_values(session: &Session) -> Vec<(i64, String)> {
    let snapshot = session.snapshot();
    let last = snapshot.sequences().filter_map(|it| {
        let position = it.counter.lock().position;
        let is_seen = position.is_called && session.reads_sequence(&it.name);
        let number = oids::of_name("sequence", &it.name);
        is_seen.then(|| (number, position.number.to_string()))
    });
    last.collect()
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
    /// Of an index, how it is kept.
    method: IndexMethod,
    /// The type of its rows, 0 where they have none.
    row_type: i64,
    /// The number of who owns it, where that is no owner of a relation.
    role: Option<i64>,
    /// Who owns a relation of the system, and what was given of it.
    shown: Option<Shown>,
}

impl Class<'_> {
    fn of(oid: i64, kind: &'static str, columns: usize) -> Self {
        Self {
            oid,
            kind,
            columns,
            rows: 0,
            rules: None,
            is_populated: true,
            owner: None,
            method: IndexMethod::default(),
            row_type: 0,
            role: None,
            shown: None,
        }
    }
}

fn class(
    session: &Session,
    view: &mut ViewBuilder,
    name: &str,
    class: &Class<'_>,
) -> SqlResult<()> {
    let of_own = || Shown::of_relation(session, class.owner.unwrap_or(name));
    let shown = class.shown.as_ref().map_or_else(|| Cow::Owned(of_own()), Cow::Borrowed);
    let acl = if class.kind == "i" { none() } else { shown.acl(session, false)? };
    let Class { oid, kind, columns, rows, rules, is_populated, .. } = *class;
    let method = match kind {
        "r" | "m" => oids::COLUMNS,
        "i" => oids::method(class.method),
        _ => 0,
    };
    let is_kept = !matches!(kind, "v" | "c");
    view.row([
        number(oid),
        names::bare(name).into(),
        number(oids::schema_of(name)),
        number(class.row_type),
        number(0),
        class.role.map_or_else(|| shown.owner(), number),
        number(method),
        number(if is_kept { oid } else { 0 }),
        number(0),
        number(0),
        Cell::Float(rows as f64),
        number(0),
        number(0),
        rules.is_some_and(|it| !it.indexes.is_empty()).into(),
        false.into(),
        if names::is_temporary(name) { "t".into() } else { "p".into() },
        kind.into(),
        number(columns as i64),
        number(rules.map_or(0, |it| it.rows.checks.len()) as i64),
        matches!(kind, "v" | "m").into(),
        rules.is_some_and(|it| !it.references.is_empty()).into(),
        false.into(),
        false.into(),
        false.into(),
        is_populated.into(),
        if matches!(kind, "r" | "m") { "d".into() } else { "n".into() },
        false.into(),
        number(0),
        number(0),
        number(0),
        acl,
        none(),
        none(),
    ]);
    Ok(())
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

pub(super) fn tables(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_TABLES);
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
    for it in system_views::standard()?.filter(|it| it.is_table) {
        let owner = Shown::of_system(it).owner_name(session);
        let (no, schema) = (|| false.into(), it.schema.into());
        view.row([schema, it.name.into(), owner, none(), no(), no(), no(), no()]);
    }
    view.finish()
}

pub(super) fn views(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_VIEWS);
    for it in session.snapshot().views().iter().filter(|it| it.materialized.is_none()) {
        let owner = Shown::of_relation(session, &it.name).owner_name(session);
        let definition = format!("{};", it.query);
        let (schema, name) = names::split(&it.name);
        view.row([schema.into(), name.into(), owner, definition.into()]);
    }
    for it in system_views::standard()?.filter(|it| !it.is_table) {
        // No query makes it.
        let owner = Shown::of_system(it).owner_name(session);
        view.row([it.schema.into(), it.name.into(), owner, none()]);
    }
    view.finish()
}

/// The view `pg_matviews`.
pub(super) fn materialized_views(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_MATVIEWS);
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
fn own_names(session: &Session) -> Vec<(i64, String)> {
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

/// [`own_names`], and those of the views of the system.
pub(super) fn names(session: &Session) -> Vec<(i64, String)> {
    // The schema of the catalog is looked through first.
    let of_system = system_views::numbered_views().map(|(oid, schema, name)| match schema {
        names::CATALOG => (oid, name.to_owned()),
        _ => (oid, format!("{schema}.{name}")),
    });
    own_names(session).into_iter().chain(of_system).collect()
}

/// The numbers of relations by the names that texts have for them: with the database and the schema, with the schema, and without
/// where they are found so.
pub(super) fn all_names(session: &Session) -> Vec<(i64, String)> {
    let snapshot = session.snapshot();
    let (path, database) = (session.search_path(&snapshot), &*session.client.database);
    let own = numbered(&snapshot).into_iter().map(|(oid, full)| {
        let (schema, name) = names::split(&full);
        (oid, schema, name, is_visible(session, &snapshot, &path, &full))
    });
    let of_system = system_views::numbered_views().map(|(oid, schema, name)| {
        (oid, schema.to_owned(), name.to_owned(), schema == names::CATALOG)
    });
    let mut all = Vec::new();
    for (oid, schema, name, is_visible) in own.chain(of_system) {
        let mut written = ways(&[&schema, &name]);
        written.extend(ways(&[database, &schema, &name]));
        written.extend(is_visible.then(|| ways(&[&name])).into_iter().flatten());
        all.extend(written.into_iter().map(|it| (oid, it)));
    }
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
    }
    for of in snapshot.indexed_relations() {
        let indexes = of.table.rules().indexes.iter();
        all.extend(indexes.map(|it| (index_oid(of.id, it), of.index_name(&it.name))));
    }
    all.extend(snapshot.views().iter().map(|it| (oids::table(it.id), it.name.clone())));
    let sequences = snapshot.sequences();
    all.extend(sequences.map(|it| (oids::of_name("sequence", &it.name), it.name.clone())));
    let composites = snapshot.user_types().filter_map(|it| row_types::composite(it));
    all.extend(composites.map(|(it, _)| (it.relation, it.name)));
    all
}

/// The number of a relation by its id, or by its full name where it is made for each statement; `None` of a file and the like.
pub(crate) fn number_by_id(snapshot: &CatalogSnapshot, id: TableId, name: &str) -> Option<u32> {
    let is_view = || snapshot.view(name).is_some_and(|it| it.id == id);
    let number = if snapshot.by_id(id).is_some() || is_view() {
        oids::table(id)
    } else if snapshot.sequence(name).is_some() {
        oids::of_name("sequence", name)
    } else {
        let (schema, own) = names::split(name);
        system_views::numbered_views().find(|it| it.1 == schema && it.2 == own)?.0
    };
    u32::try_from(number).ok()
}

/// Whether a relation is the one that its name without a schema means.
fn is_visible(
    session: &Session,
    snapshot: &CatalogSnapshot,
    path: &SearchPath,
    full: &str,
) -> bool {
    let (schema, name) = names::split(full);
    if schema == names::CATALOG {
        // It is looked through first.
        return true;
    }
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
    let of_system = system_views::numbered_views();
    let mut all = numbered(&snapshot);
    all.extend(of_system.map(|(oid, schema, name)| (oid, names::joined(schema, name))));
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
    // Those of the system are made for each statement.
    let of_system = system_views::numbered_views().map(|it| (it.0, "0".to_owned()));
    all(session).iter().map(size).chain(of_system).collect()
}

/// Types as `format_type` writes them: by number, and by number and modifier of those that have fields or digits of seconds.
pub(super) fn type_names(session: &Session) -> Vec<(i64, Option<i64>, String)> {
    let mut names = Vec::new();
    for data_type in [
        DataType::Timestamp,
        DataType::TimestampTz,
        DataType::Time,
        DataType::TimeTz,
        DataType::Interval,
    ] {
        let (oid, of_interval) = (wire_type(data_type).oid, data_type == DataType::Interval);
        let named = Fields::all(of_interval).into_iter().map(|it| {
            let modifier = it.modifier(of_interval);
            (i64::from(oid), Some(i64::from(modifier)), it.type_name(data_type))
        });
        names.extend(named);
    }
    // Without a length it is not the type that its word alone names.
    let bit = i64::from(wire_type(DataType::Bits(Bits::Any)).oid);
    names.push((bit, Some(-1), "\"bit\"".to_owned()));
    names.extend(super::types::all_names(session));
    names
}
