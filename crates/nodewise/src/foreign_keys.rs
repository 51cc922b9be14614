//! FOREIGN KEY: rows refer to rows that are there (docs/design/08-transactions.md, "foreign keys").
//!
//! Key decision: what must hold, and what follows from a change, are statements of SQL over the tables and over one table of
//! the keys that changed. They are planned like any other, so that indexes, placement and strategies serve them, too.
//!
//! - Invariant: actions come first, in turn and not one inside the other; what must hold is asked when all of them are done.
//! - Invariant: what is asked of others' rows is asked of the newest ones, once the keys are locked that the answer rests on.

use std::collections::{HashSet, VecDeque};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_select::concat::concat;
use binder::{ParsedQuery, ReferenceDefinition, Statement};
use stdx::sync::Arc;
use storage::{BuildContext, Column, ColumnSchema, Rules, Table, TableBuilder, values_at};
use types::names as names_of;
use types::{
    ColumnId, DataType, Deferral, ForeignKey, ReferentialAction, SqlError, SqlResult, SqlState,
};

use crate::change::{Changes, parsed};
use crate::changed_keys::{KEYS, KeyColumns, Keys};
use crate::changed_rows::{malformed, positions};
use crate::conflict::concurrent_update;
use crate::constraints::{check_free, free_name, quoted};
use crate::dependents::needed;
use crate::index_ddl::column_of;
use crate::planning::plan_plain_change;
use crate::result::{place_of, schema_of};
use crate::sql_names::sql_path;
use crate::statement_catalog::StatementCatalog;
use crate::{CancelToken, Session};

/// A query that must find no row.
pub(crate) struct Asked {
    /// The table that is asked, beside that of the change.
    of: String,
    sql: String,
    keys: Option<Keys>,
    /// What is wrong when the query finds a row, from the text of the key in it.
    error: Box<dyn Fn(&str) -> SqlError>,
}

impl Session {
    /// Adds a FOREIGN KEY to the rules of a table.
    ///
    /// Errors: 42P01, 42703 and 42830 where its parent has no such key.
    pub(crate) fn add_reference(
        &self,
        table: &Table,
        rules: &mut Rules,
        new: &ReferenceDefinition,
    ) -> SqlResult<()> {
        let columns: Vec<ColumnId> =
            new.columns.iter().map(|it| column_of(table, it)).collect::<SqlResult<_>>()?;
        let found;
        // A table may refer to itself while it is made.
        let (parent, keys) = match new.parent.eq_ignore_ascii_case(&table.name) {
            true => (table, &*rules),
            false => {
                found = self.existing(&new.parent)?;
                (&*found, &**found.rules())
            }
        };
        if names_of::is_temporary(&parent.name) != names_of::is_temporary(&table.name) {
            let kind = if names_of::is_temporary(&table.name) { "temporary" } else { "permanent" };
            let message = format!("constraints on {kind} tables may reference only {kind} tables");
            return Err(SqlError::new(SqlState("42P16"), message));
        }
        let key = parent_key(parent, keys, &new.parent_columns)?;
        if key.len() != columns.len() {
            let message = "number of referencing and referenced columns for foreign key disagree";
            return Err(SqlError::new(INVALID_FOREIGN_KEY, message));
        }
        let suggested =
            || format!("{}_{}_fkey", names_of::bare(&table.name), new.columns.join("_"));
        for (own, other) in columns.iter().zip(&key) {
            let (own, other) = (table.column(*own), parent.column(*other));
            if !meet(own.data_type, other.data_type) {
                let name = new.name.clone().unwrap_or_else(|| free_name(rules, &suggested()));
                return Err(no_meeting(&name, own, other));
            }
        }
        let (parent_columns, parent) =
            (key.iter().map(|it| parent.column(*it).name.as_str().into()).collect(), &*parent.name);
        let parent = parent.into();
        check_free(table, rules, new.name.as_deref())?;
        let name = new.name.clone().unwrap_or_else(|| free_name(rules, &suggested())).into();
        let (on_delete, on_update) = (new.on_delete, new.on_update);
        rules.references.push(ForeignKey {
            name,
            columns,
            parent,
            parent_columns,
            on_delete,
            on_update,
            is_full: new.is_full,
            deferral: new.deferral,
            is_validated: !new.not_valid,
        });
        Ok(())
    }

    /// Refuses a foreign key whose columns cannot be compared, or that some row of its table breaks, unless it is not valid.
    pub(crate) fn check_reference(
        &self,
        child: &Table,
        key: &ForeignKey,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let own: Vec<String> = names(child, key).iter().map(|it| format!("c.{it}")).collect();
        let sql = format!(
            "SELECT {} FROM {} AS c WHERE {} AND {} LIMIT 1",
            own.join(", "),
            sql_path(&child.name),
            refers_to_nothing(key, &own),
            key.is_validated
        );
        let (name, at) = (child.name.clone(), key.clone());
        let columns = listed(child, key);
        let error = Box::new(move |value: &str| missing(&name, &at, &columns, value));
        let asked = Asked { of: key.parent.to_string(), sql, keys: None, error };
        self.ask(&asked, cancel).map_err(|error| match error.state.0 {
            "42883" | "42804" => {
                let message =
                    format!("foreign key constraint \"{}\" cannot be implemented", key.name);
                SqlError::new(SqlState("42804"), format!("{message}: {}", error.message))
            }
            _ => error,
        })
    }

    /// Does what follows from a change of rows for those that refer to them, and refuses what refers to nothing; what may be
    /// wrong until the transaction ends is noted.
    pub(crate) fn keep_references(
        &self,
        old: Arc<Table>,
        changes: Changes,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let (mut changed, mut asked) = (VecDeque::from([(old, changes)]), Vec::new());
        // What others may have brought that the picture of the transaction does not show.
        let mut unseen = Vec::new();
        while let Some((old, changes)) = changed.pop_front() {
            if changes.count == 0 {
                continue;
            }
            for key in &old.rules().references {
                let Some(keys) = new_children(&old, key, &changes)? else { continue };
                if self.is_deferred(key) {
                    self.defer(&old, key, keys, None);
                    continue;
                }
                self.lock_parents(key, &keys, cancel)?;
                asked.push(question_of_new(&old, key, keys, false));
            }
            for (child, key) in self.referring(&old.name) {
                for lost in lost_keys(&old, &key, &changes)? {
                    self.refresh()?;
                    if lost.action == ReferentialAction::NoAction && self.is_deferred(&key) {
                        let LostKeys { keys, is_update, .. } = lost;
                        self.defer(&child, &key, keys, Some(is_update));
                        continue;
                    }
                    if self.sees_less() {
                        unseen.push(lost.question(&child, &key));
                    }
                    match lost.action {
                        ReferentialAction::NoAction => asked.push(lost.question(&child, &key)),
                        ReferentialAction::Restrict => {
                            self.ask(&lost.question(&child, &key), cancel)?;
                        }
                        action => {
                            changed.push_back(self.act(&lost, &child, &key, cancel)?);
                            // The default may be the very key that went.
                            if action == ReferentialAction::SetDefault {
                                asked.push(lost.question(&child, &key));
                            }
                        }
                    }
                }
            }
        }
        self.ask_all(&asked, &unseen, cancel)
    }

    /// Asks what must hold of what the statement sees and, with what must hold besides, of what others have committed since.
    pub(crate) fn ask_all(
        &self,
        asked: &[Asked],
        unseen: &[Asked],
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        if asked.is_empty() && unseen.is_empty() {
            return Ok(());
        }
        self.refresh()?;
        asked.iter().try_for_each(|it| self.ask(it, cancel))?;
        if self.sees_less() {
            let newest = self.changes_on_newest()?;
            for it in asked.iter().chain(unseen) {
                if self.found(StatementCatalog::on(self, newest.clone()), it, cancel)?.is_some() {
                    return Err(concurrent_update());
                }
            }
        }
        Ok(())
    }

    /// The tables that refer to one, each with the foreign key.
    pub(crate) fn referring(&self, parent: &str) -> Vec<(Arc<Table>, ForeignKey)> {
        let (snapshot, mut all) = (self.snapshot(), Vec::new());
        // Asked for each change, and hardly ever true.
        if !snapshot.is_referred(parent) {
            return all;
        }
        for table in snapshot.each_table() {
            let keys = table.rules().references.iter().filter(|it| *it.parent == *parent);
            all.extend(keys.map(|it| (table.clone(), it.clone())));
        }
        all
    }

    /// Makes rows follow the keys that they refer to.
    fn act(
        &self,
        lost: &LostKeys,
        child: &Table,
        key: &ForeignKey,
        cancel: &CancelToken,
    ) -> SqlResult<(Arc<Table>, Changes)> {
        let (own, columns) = (sql_path(&child.name), names(child, key));
        let is_child = |it: (usize, &String)| format!("c.{} = k.o{}", it.1, it.0);
        let mut condition: Vec<String> = columns.iter().enumerate().map(is_child).collect();
        condition.extend(lost.is_update.then(|| differs(columns.len())));
        let condition = condition.join(" AND ");
        let set = |value: &dyn Fn(usize) -> String| {
            let set = |it: (usize, &String)| format!("{} = {}", it.1, value(it.0));
            let set: Vec<String> = columns.iter().enumerate().map(set).collect();
            format!("UPDATE {own} AS c SET {} FROM {KEYS} AS k WHERE {condition}", set.join(", "))
        };
        let sql = match (lost.action, lost.is_update) {
            (ReferentialAction::Cascade, false) => {
                format!("DELETE FROM {own} AS c USING {KEYS} AS k WHERE {condition}")
            }
            (ReferentialAction::Cascade, true) => set(&|place| format!("k.n{place}")),
            (ReferentialAction::SetDefault, _) => set(&|_| "DEFAULT".to_owned()),
            _ => set(&|_| "NULL".to_owned()),
        };
        self.rely_on(&child.name);
        loop {
            // Keys are kept on behalf of the tables, whoever has changed them.
            let catalog = StatementCatalog::new(self).unchecked();
            self.add_keys(&catalog, &lost.keys)?;
            let change = plan_plain_change(&parsed(&sql)?, &catalog)?;
            let tables = catalog.tables(&change.plan);
            drop(catalog);
            if let Some((old, _, changes)) =
                self.change_rows(&change, &change.plan, tables, cancel)?
            {
                return Ok((old, changes));
            }
            self.refresh()?;
        }
    }

    /// Asks a query that must find no row.
    fn ask(&self, asked: &Asked, cancel: &CancelToken) -> SqlResult<()> {
        self.rely_on(&asked.of);
        match self.found(StatementCatalog::new(self), asked, cancel)? {
            Some(found) => Err((asked.error)(&found)),
            None => Ok(()),
        }
    }

    /// The text of the key in the first row that a query finds that must find none.
    fn found(
        &self,
        catalog: StatementCatalog<'_>,
        asked: &Asked,
        cancel: &CancelToken,
    ) -> SqlResult<Option<String>> {
        let catalog = &catalog.unchecked();
        if let Some(keys) = &asked.keys {
            self.add_keys(catalog, keys)?;
        }
        let finished = self.run_on(catalog, &queried(&asked.sql)?, cancel, |_| Ok(()))?;
        let schema = self.zoned(&schema_of(&finished.plan.output));
        let (rows, place) = (&finished.executed.rows, place_of(&finished.executed));
        let found = self.shown_batches(rows, place, &schema, cancel, &|it| it)?;
        Ok(found.iter().find(|it| it.num_rows() > 0).map(|batch| {
            let texts: Vec<String> = (batch.columns().iter())
                .map(|it| crate::text::Cells::new(it).text(0).unwrap_or("NULL".into()))
                .collect();
            texts.join(", ")
        }))
    }

    /// The transaction rests on the rows of a table that it may not change itself.
    fn rely_on(&self, table: &str) {
        if let Some(writing) = &mut *self.writing.lock() {
            writing.asked.insert(table.to_lowercase());
        }
    }

    /// The rows of a query of ours.
    pub(crate) fn rows_of(&self, sql: &str, cancel: &CancelToken) -> SqlResult<Vec<RecordBatch>> {
        self.rows_of_kept(&queried(sql)?, cancel)
    }

    fn add_keys(&self, catalog: &StatementCatalog<'_>, keys: &Keys) -> SqlResult<()> {
        let builder = TableBuilder::new(KEYS, keys.schema.clone());
        builder.push(0, keys.rows.clone())?;
        let table = builder.finish(&BuildContext::serial(&self.database.allocator))?;
        catalog.add(KEYS.to_owned(), table);
        Ok(())
    }

    /// Makes keys of a table ready to go that it has not by its new rules, like [`Session::release_relations`]: because of an object, in words, and
    /// what others need of it.
    pub(crate) fn release_keys(
        &self,
        table: &Table,
        rules: &Rules,
        (dropped, of): (&str, &str),
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let mut referring = Vec::new();
        for (child, key) in self.referring(&table.name) {
            let columns = key.parent_columns.iter().map(|it| column_of(table, it));
            let columns: Vec<ColumnId> = columns.collect::<SqlResult<_>>()?;
            if key_of(rules, &columns).is_none() {
                referring.push((child, key));
            }
        }
        self.release_references(&referring, (dropped, of), cascade, cancel)
    }

    fn release_references(
        &self,
        referring: &[(Arc<Table>, ForeignKey)],
        (dropped, of): (&str, &str),
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let described = |(child, key): &(Arc<Table>, ForeignKey)| {
            format!("constraint {} on table {}", key.name, child.name)
        };
        if !cascade && !referring.is_empty() {
            let each = |it| format!("{} depends on {of}", described(it));
            return Err(needed(dropped, &referring.iter().map(each).collect::<Vec<_>>()));
        }
        for it in referring {
            self.cascades_to(described(it));
            self.remove_reference(&it.0, &it.1, cancel)?;
        }
        Ok(())
    }

    /// Tables that are to be emptied, each once, with those that refer to them.
    pub(crate) fn with_referring(
        &self,
        names: &[String],
        cascade: bool,
    ) -> SqlResult<Vec<Arc<Table>>> {
        let mut all: Vec<Arc<Table>> = Vec::new();
        for name in names {
            let table = self.existing(name)?;
            if !all.iter().any(|it| it.id == table.id) {
                all.push(table);
            }
        }
        let mut next = 0;
        while let Some(table) = all.get(next).cloned() {
            next += 1;
            for (child, key) in self.referring(&table.name) {
                if all.iter().any(|it| it.id == child.id) {
                    continue;
                }
                if !cascade {
                    let message = format!(
                        "cannot truncate a table referenced in a foreign key constraint: table \
                         \"{}\" references \"{}\" by \"{}\"",
                        child.name, table.name, key.name
                    );
                    return Err(SqlError::unsupported(message)
                        .with_hint("truncate both at the same time, or TRUNCATE .. CASCADE"));
                }
                all.push(child);
            }
        }
        Ok(all)
    }
}

const INVALID_FOREIGN_KEY: SqlState = SqlState("42830");

/// The columns of the key of a table that is meant.
fn parent_key(parent: &Table, rules: &Rules, named: &[String]) -> SqlResult<Vec<ColumnId>> {
    if named.is_empty() {
        let primary = rules.indexes.iter().find(|it| it.kind == storage::IndexKind::PrimaryKey);
        let primary = primary.ok_or_else(|| {
            let message =
                format!("there is no primary key for referenced table \"{}\"", parent.name);
            SqlError::new(SqlState::UNDEFINED_OBJECT, message)
        })?;
        return match primary.deferral {
            Deferral::None => Ok(primary.columns.clone()),
            _ => Err(deferrable_parent(parent)),
        };
    }
    let columns: Vec<ColumnId> =
        named.iter().map(|it| column_of(parent, it)).collect::<SqlResult<_>>()?;
    match key_of(rules, &columns).map(|it| it.deferral) {
        Some(Deferral::None) => Ok(columns),
        Some(_) => Err(deferrable_parent(parent)),
        None => {
            let message = format!(
                "there is no unique constraint matching given keys for referenced table \"{}\"",
                parent.name
            );
            Err(SqlError::new(INVALID_FOREIGN_KEY, message))
        }
    }
}

/// Whether values of a column may refer to those of another: numbers only to such of their kind or a wider one, whose
/// operators know them without a cast of the key.
fn meet(own: DataType, other: DataType) -> bool {
    let width = |of: DataType| match of.plain() {
        it if it.is_integer() => Some(0),
        DataType::Decimal { .. } | DataType::Numeric => Some(1),
        DataType::Real | DataType::Double => Some(2),
        _ => None,
    };
    match (width(own), width(other)) {
        (Some(own), Some(other)) => own <= other,
        // Other types are asked of the query that compares them.
        _ => true,
    }
}

/// 42804: a key of a type that cannot refer to that of the other column.
fn no_meeting(name: &str, own: &Column, other: &Column) -> SqlError {
    use types::numeric::errors::type_name;
    let message = format!("foreign key constraint \"{name}\" cannot be implemented");
    SqlError::new(SqlState("42804"), message).with_detail(format!(
        "Key columns \"{}\" of the referencing table and \"{}\" of the referenced table are of incompatible types: {} and {}.",
        own.name,
        other.name,
        type_name(own.data_type),
        type_name(other.data_type)
    ))
}

/// What is broken for a while can hold nothing.
fn deferrable_parent(parent: &Table) -> SqlError {
    let message = format!(
        "cannot use a deferrable unique constraint for referenced table \"{}\"",
        parent.name
    );
    SqlError::new(SqlState::NOT_IN_STATE, message)
}

/// The rule by which no two rows have the same values in some columns and no others; one that always holds if there is one.
fn key_of<'a>(rules: &'a Rules, columns: &[ColumnId]) -> Option<&'a storage::TableIndex> {
    let unique = rules.indexes.iter().filter(|it| it.kind.is_unique());
    let is_same = |it: &storage::TableIndex| {
        it.columns.len() == columns.len() && it.columns.iter().all(|it| columns.contains(it))
    };
    if columns.iter().collect::<HashSet<_>>().len() < columns.len() {
        return None;
    }
    let same = unique.filter(|it| is_same(it));
    same.min_by_key(|it| it.deferral != Deferral::None)
}

/// The columns that refer, in quotes.
fn names(child: &Table, key: &ForeignKey) -> Vec<String> {
    key.columns.iter().map(|it| quoted(&child.column(*it).name)).collect()
}

/// The same for people.
fn listed(child: &Table, key: &ForeignKey) -> String {
    let names: Vec<&str> = key.columns.iter().map(|it| &*child.column(*it).name).collect();
    names.join(", ")
}

/// That none of some values is NULL.
fn filled(values: &[String]) -> String {
    let filled: Vec<String> = values.iter().map(|it| format!("{it} IS NOT NULL")).collect();
    filled.join(" AND ")
}

/// The query of the parents that have a key.
fn parents(key: &ForeignKey, values: &[String]) -> String {
    let same = |it: (&Arc<str>, &String)| format!("p.{} = {}", quoted(it.0), it.1);
    let same: Vec<String> = key.parent_columns.iter().zip(values).map(same).collect();
    format!("SELECT 1 FROM {} AS p WHERE {}", sql_path(&key.parent), same.join(" AND "))
}

/// The error of a row that refers to nothing.
fn missing(child: &str, key: &ForeignKey, columns: &str, value: &str) -> SqlError {
    let ForeignKey { name, parent, .. } = key;
    let (own, parent) = (names_of::bare(child), names_of::bare(parent));
    let message =
        format!("insert or update on table \"{own}\" violates foreign key constraint \"{name}\"");
    let is_mixed = key.is_full && value.split(", ").any(|it| it == "NULL");
    let detail = match is_mixed {
        true => "MATCH FULL does not allow mixing of null and nonnull key values.".to_owned(),
        false => format!("Key ({columns})=({value}) is not present in table \"{parent}\"."),
    };
    SqlError::new(SqlState::FOREIGN_KEY_VIOLATION, message)
        .of_constraint(child, name)
        .with_detail(detail)
}

/// The keys of the rows that came into a table that refers to others; nothing where none is new.
fn new_children(table: &Table, key: &ForeignKey, changes: &Changes) -> SqlResult<Option<Keys>> {
    match changes.rows.iter().all(|it| it.num_rows() == 0) {
        true => Ok(None),
        false => changed_keys(table, &key.columns, changes),
    }
}

/// Whether a row with one of some keys refers to nothing. Those whose key is what it was are not asked; `is_late`: nor those
/// that are not there any more.
pub(crate) fn question_of_new(table: &Table, key: &ForeignKey, keys: Keys, is_late: bool) -> Asked {
    let count = key.columns.len();
    let new: Vec<String> = (0..count).map(|it| format!("k.n{it}")).collect();
    let is_row = |it: (&String, &String)| format!("c.{} IS NOT DISTINCT FROM {}", it.0, it.1);
    let is_there = match is_late {
        true => {
            let row: Vec<String> = names(table, key).iter().zip(&new).map(is_row).collect();
            let (own, row) = (sql_path(&table.name), row.join(" AND "));
            format!(" AND EXISTS (SELECT 1 FROM {own} AS c WHERE {row})")
        }
        false => String::new(),
    };
    let sql = format!(
        "SELECT {} FROM {KEYS} AS k WHERE {} AND {}{is_there} LIMIT 1",
        new.join(", "),
        differs(count),
        refers_to_nothing(key, &new)
    );
    let (name, at, columns) = (table.name.clone(), key.clone(), listed(table, key));
    let error = Box::new(move |value: &str| missing(&name, &at, &columns, value));
    Asked { of: key.parent.to_string(), sql, keys: Some(keys), error }
}

/// Whether values refer to something that is not there.
fn refers_to_nothing(key: &ForeignKey, values: &[String]) -> String {
    let plain = format!("{} AND NOT EXISTS ({})", filled(values), parents(key, values));
    match key.is_full && values.len() > 1 {
        true => {
            let null: Vec<String> = values.iter().map(|it| format!("{it} IS NULL")).collect();
            let null = null.join(" AND ");
            format!("({plain} OR NOT ({}) AND NOT ({null}))", filled(values))
        }
        false => format!("({plain})"),
    }
}

/// That a key is not what it was.
fn differs(count: usize) -> String {
    let differ: Vec<String> =
        (0..count).map(|it| format!("k.o{it} IS DISTINCT FROM k.n{it}")).collect();
    format!("({})", differ.join(" OR "))
}

/// Keys that a table had and that rows may refer to.
struct LostKeys {
    action: ReferentialAction,
    /// Whether their rows may have other keys now, and are not gone.
    is_update: bool,
    keys: Keys,
}

impl LostKeys {
    /// Whether a row still refers to one of them.
    fn question(&self, child: &Table, key: &ForeignKey) -> Asked {
        let restricts = self.action == ReferentialAction::Restrict;
        question_of_lost(child, key, self.keys.clone(), (self.is_update, restricts))
    }
}

/// Whether a row still refers to keys that went, or that changed where `is_update`; even to one that is there again where the key
/// `restricts`.
pub(crate) fn question_of_lost(
    child: &Table,
    key: &ForeignKey,
    keys: Keys,
    (is_update, restricts): (bool, bool),
) -> Asked {
    let old: Vec<String> = (0..key.columns.len()).map(|it| format!("k.o{it}")).collect();
    let is_child = |it: (&String, &String)| format!("c.{} = {}", it.0, it.1);
    let condition: Vec<String> = names(child, key).iter().zip(&old).map(is_child).collect();
    let mut sql = format!(
        "SELECT {} FROM {KEYS} AS k WHERE EXISTS (SELECT 1 FROM {} AS c WHERE {})",
        old.join(", "),
        sql_path(&child.name),
        condition.join(" AND ")
    );
    if is_update {
        sql.push_str(&format!(" AND {}", differs(old.len())));
    }
    if !restricts {
        sql.push_str(&format!(" AND NOT EXISTS ({})", parents(key, &old)));
    }
    sql.push_str(" LIMIT 1");
    let (of, child, key) = (child.name.clone(), child.name.clone(), key.clone());
    let error = move |value: &str| {
        let ForeignKey { name, parent, parent_columns, .. } = &key;
        let columns = parent_columns.join(", ");
        let (what, state) = match restricts {
            true => ("violates RESTRICT setting of", SqlState("23001")),
            false => ("violates", SqlState::FOREIGN_KEY_VIOLATION),
        };
        let (own, parent) = (names_of::bare(&child), names_of::bare(parent));
        let message = format!(
            "update or delete on table \"{parent}\" {what} foreign key constraint \"{name}\" on \
             table \"{own}\""
        );
        let is = if restricts { "is" } else { "is still" };
        SqlError::new(state, message)
            .of_constraint(&child, name)
            .with_detail(format!("Key ({columns})=({value}) {is} referenced from table \"{own}\"."))
    };
    Asked { of, sql, keys: Some(keys), error: Box::new(error) }
}

/// The keys of a table that went, and those that changed.
fn lost_keys(old: &Table, key: &ForeignKey, changes: &Changes) -> SqlResult<Vec<LostKeys>> {
    let columns: Vec<ColumnId> =
        key.parent_columns.iter().map(|it| column_of(old, it)).collect::<SqlResult<_>>()?;
    let mut lost = Vec::new();
    let replaced: HashSet<u64> = changes.replaced.iter().flat_map(positions).collect();
    let gone: Vec<Option<usize>> = (changes.gone.iter())
        .filter(|it| !replaced.contains(it))
        .map(|it| Some(*it as usize))
        .collect();
    if !gone.is_empty() {
        let keys = keys_of("o", old, &columns, |it| values_at(old, it, &gone))?;
        lost.push(LostKeys { action: key.on_delete, is_update: false, keys: Keys::of(keys)? });
    }
    if !replaced.is_empty()
        && let Some(keys) = changed_keys(old, &columns, changes)?
    {
        lost.push(LostKeys { action: key.on_update, is_update: true, keys });
    }
    Ok(lost)
}

/// Columns of [`KEYS`] for the columns of a key.
fn keys_of(
    prefix: &str,
    table: &Table,
    columns: &[ColumnId],
    values: impl Fn(ColumnId) -> SqlResult<ArrayRef>,
) -> SqlResult<KeyColumns> {
    let column = |(place, it): (usize, &ColumnId)| {
        let data_type = table.column(*it).data_type;
        Ok((ColumnSchema::new(format!("{prefix}{place}"), data_type, true), values(*it)?))
    };
    columns.iter().enumerate().map(column).collect()
}

/// The keys of the rows that came, with those of the rows in whose place they came; nothing where they are the same.
fn changed_keys(table: &Table, columns: &[ColumnId], changes: &Changes) -> SqlResult<Option<Keys>> {
    let new = keys_of("n", table, columns, |column| {
        let arrays: Vec<&dyn Array> =
            changes.rows.iter().map(|it| &**it.column(column.index())).collect();
        concat(&arrays).map_err(|error| malformed(&error))
    })?;
    let old: Vec<Option<usize>> = match changes.replaced.is_empty() {
        true => vec![None; changes.rows.iter().map(RecordBatch::num_rows).sum()],
        false => {
            let all = changes.replaced.iter().flat_map(|it| it.as_primitive::<Int64Type>());
            all.map(|it| it.map(|it| it as usize)).collect()
        }
    };
    let old = keys_of("o", table, columns, |it| values_at(table, it, &old))?;
    let is_same = old.iter().zip(&new).all(|(old, new)| *old.1 == *new.1);
    if is_same { Ok(None) } else { Keys::of(old.into_iter().chain(new).collect()).map(Some) }
}

/// A query of a text of ours.
pub(crate) fn queried(sql: &str) -> SqlResult<ParsedQuery> {
    match binder::parse::parse(sql)?.into_tree().pop() {
        Some(Statement::Query { query }) => Ok(query),
        _ => Err(SqlError::internal(format!("{sql} is not what it was"))),
    }
}
