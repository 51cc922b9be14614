//! ALTER TABLE on columns, and RENAME.
//!
//! Key decision: a column that comes, goes or gets another type is built or left out part by part, and all other columns, the rows
//! and their ids stay (`storage::ColumnChange`); what names columns beside the table (constraints, foreign keys of others,
//! sequences) is changed by its own operations in the same transaction.

use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use binder::column_names::{
    has_subquery, is_untyped, names_column, with_column_renamed, with_table_renamed,
};
use binder::{ColumnAlteration, ColumnDefinition, Constraints, Generation, Numbering};
use stdx::sync::Arc;
use storage::{ColumnChange, ColumnSchema, IndexKind, Rules, Sequence, Table, arrow_type};
use types::numeric::interval_text::Fields;
use types::{
    ColumnId, DataType, Generated, Identity, SequenceOwner, SqlError, SqlResult, SqlState, names,
    numeric,
};

use crate::changed_rows::malformed;
use crate::constraints::quoted;
use crate::dependents::needed;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::sequence_ddl::no_number_type;
use crate::{CancelToken, Session};

/// 42P16.
const INVALID_DEFINITION: SqlState = SqlState("42P16");

impl Session {
    /// Changes a column of a table.
    pub(crate) fn change_column(
        &mut self,
        table: &Arc<Table>,
        alteration: &ColumnAlteration,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        match alteration {
            ColumnAlteration::Add { column, constraints, if_not_exists } => {
                if !has_column(table, &column.name) {
                    return self.add_column(table, column, constraints, cancel);
                }
                let message = already_there(table, &column.name);
                if !if_not_exists {
                    return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
                }
                self.notice(Notice::told("42701", format!("{message}, skipping")));
                Ok(())
            }
            ColumnAlteration::Drop { column, if_exists, .. }
                if *if_exists && !has_column(table, column) =>
            {
                let message = format!("{}, skipping", not_there(table, column));
                self.notice(Notice::told("00000", message));
                Ok(())
            }
            ColumnAlteration::Drop { column, cascade, .. } => {
                self.drop_column(table, column, *cascade, cancel)
            }
            ColumnAlteration::Rename { column, to } => {
                self.rename_column(table, column, to, cancel)
            }
            ColumnAlteration::Type { column, data_type, using, domain, fields, .. } => {
                let id = own_column(table, column)?;
                // What the old domain asks is nothing that the new values are asked.
                self.set_domain(&table.name, id, None, cancel)?;
                let current = self.set_fields(&table.name, id, *fields, cancel)?;
                self.retype_column(&current, column, (*data_type, using.as_deref()), cancel)?;
                self.set_domain(&table.name, id, domain.as_deref(), cancel)
            }
            ColumnAlteration::Nullable { column, nullable } => {
                self.set_nullable(table, column, *nullable, cancel)
            }
        }
    }

    /// Puts a table with a column changed in the place of one, and notes it.
    pub(crate) fn alter_column(
        &self,
        table: &Arc<Table>,
        change: &ColumnChange,
        values: Option<ArrayRef>,
        cancel: &CancelToken,
    ) -> SqlResult<Arc<Table>> {
        let made = |context: &storage::BuildContext<'_>| {
            table.with_column_changed(change, values.as_ref(), context)
        };
        let new = self.replace_with(table, cancel, made)?;
        let rows = values.iter().map(|it| {
            RecordBatch::try_from_iter_with_nullable([("value", it.clone(), true)])
                .map_err(|error| malformed(&error))
        });
        let rows = rows.collect::<SqlResult<Vec<_>>>()?;
        self.note_table(&new, Some(&rows), || Operation::column(&table.name, change, &rows))?;
        Ok(new)
    }

    fn add_column(
        &mut self,
        table: &Arc<Table>,
        column: &ColumnDefinition,
        constraints: &Constraints,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let ColumnDefinition { name, data_type, nullable, numbering, generation, .. } = column;
        let id = ColumnId(table.columns.len() as u16);
        let default = self.defaults_of(&table.name, std::slice::from_ref(column))?.pop().flatten();
        let data_type = &self.current_type(*data_type)?;
        let schema = ColumnSchema::new(name.clone(), *data_type, true);
        let of_domain = match &column.domain {
            Some(it) if default.is_none() => self.domain_rules(it)?.default.map(Arc::from),
            _ => None,
        };
        let values = match default.as_ref().or(of_domain.as_ref()) {
            Some(expression) if generation.is_some() => {
                self.values_of_expression(table, (&schema, column.fields), expression, cancel)?
            }
            Some(default) => {
                self.values_of_default(table, (&schema, column.fields), default, cancel)?
            }
            None => new_null_array(&arrow_type(*data_type), 1),
        };
        let mut new = self.alter_column(table, &ColumnChange::Add(schema), Some(values), cancel)?;
        let mut rules = Rules::clone(new.rules());
        let rows = Arc::make_mut(&mut rules.rows);
        if default.is_some() {
            rows.defaults.resize(new.columns.len(), None);
            rows.defaults[id.index()] = default;
        }
        if let Some(Numbering::Identity { always, .. }) = numbering {
            rows.identities.push(Identity { column: id, always: *always });
        }
        if let Some(generation) = generation {
            let is_stored = *generation == Generation::Stored;
            rows.generated.push(Generated { column: id, is_stored });
        }
        rows.put_fields(id, column.fields);
        if rules != **new.rules() {
            new = self.apply_rules(&new, rules, cancel)?;
            self.check_rules(&new, cancel)?;
        }
        if let Some(domain) = &column.domain {
            self.set_domain(&table.name, id, Some(domain), cancel)?;
        }
        if *constraints != Constraints::default() {
            let add = binder::RuleChange::Add(constraints.clone());
            self.change_rules(&table.name, &[add], cancel)?;
        }
        if !nullable {
            let current = self.existing(&table.name)?;
            self.set_nullable(&current, name, false, cancel)?;
        }
        Ok(())
    }

    /// Says what a column keeps of the times or intervals that it is given from now on.
    fn set_fields(
        &self,
        table: &str,
        column: ColumnId,
        fields: Option<Fields>,
        cancel: &CancelToken,
    ) -> SqlResult<Arc<Table>> {
        let current = self.existing(table)?;
        if current.rules().rows.fields(column) == fields {
            return Ok(current);
        }
        let mut rules = Rules::clone(current.rules());
        Arc::make_mut(&mut rules.rows).put_fields(column, fields);
        self.apply_rules(&current, rules, cancel)
    }

    fn drop_column(
        &mut self,
        table: &Arc<Table>,
        column: &str,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let column = &*table.column(own_column(table, column)?).name;
        self.drop_indexes_naming(table, column, cancel)?;
        let table = &self.existing(&table.name)?;
        let dependent = self.generated_of(table, column)?;
        let dropped = format!("column {column} of table {}", table.name);
        let described = |it: &String| format!("column {it} of table {}", table.name);
        if !cascade && !dependent.is_empty() {
            let each = |it| format!("{} depends on {dropped}", described(it));
            return Err(needed(&dropped, &dependent.iter().map(each).collect::<Vec<_>>()));
        }
        for generated in &dependent {
            self.cascades_to(described(generated));
            let current = self.existing(&table.name)?;
            self.drop_column(&current, generated, true, cancel)?;
        }
        let table = &self.existing(&table.name)?;
        let id = own_column(table, column)?;
        check_not_cut_by(table, id, "drop")?;
        if table.columns.iter().filter(|it| !names::is_hidden(&it.name)).count() == 1 {
            let message = format!(
                "a table without columns is not supported: \"{column}\" is the only one of table \"{}\"",
                table.name
            );
            return Err(SqlError::unsupported(message).with_hint("DROP TABLE drops the table"));
        }
        let name = table.column(id).name.clone();
        self.release_views_of_column(&table.name, &name, cascade, cancel)?;
        let mut rules = Rules::clone(table.rules());
        rules.indexes.retain(|it| !it.columns.contains(&id) && !it.included.contains(&id));
        rules.references.retain(|it| !it.columns.contains(&id));
        let rows = Arc::make_mut(&mut rules.rows);
        let mut kept = Vec::new();
        for check in &rows.checks {
            if !names_column(&check.condition, &name)? {
                kept.push(check.clone());
            }
        }
        rows.checks = kept;
        rows.identities.retain(|it| it.column != id);
        rows.generated.retain(|it| it.column != id);
        if let Some(default) = rows.defaults.get_mut(id.index()) {
            *default = None;
        }
        self.release_keys(table, &rules, (&dropped, &dropped), cascade, cancel)?;
        let mut current = self.existing(&table.name)?;
        rules.references.retain(|it| current.rules().references.contains(it));
        if rules != **current.rules() {
            current = self.apply_rules(&current, rules, cancel)?;
        }
        for sequence in self.owned(&table.name, Some(&name)) {
            self.remove_sequence(&sequence, cascade, cancel)?;
        }
        self.move_comment(["relation", &table.name, &name], None)?;
        self.move_column_rights(&table.name, &name, None)?;
        self.alter_column(&current, &ColumnChange::Drop(id), None, cancel)?;
        self.drop_unused_hidden(&table.name, cancel)
    }

    fn rename_column(
        &self,
        table: &Arc<Table>,
        column: &str,
        to: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let id = own_column(table, column)?;
        if has_column(table, to) {
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, already_there(table, to)));
        }
        let from = table.column(id).name.clone();
        self.refuse_with_views(&table.name, Some(&from))?;
        let own = ["relation", &*table.name];
        self.move_comment([own[0], own[1], &from], Some([own[0], own[1], to]))?;
        self.move_column_rights(&table.name, &from, Some(to))?;
        let renamed = ColumnChange::Rename(id, to.to_owned());
        let new = self.alter_column(table, &renamed, None, cancel)?;
        let mut rules = Rules::clone(new.rules());
        let rows = Arc::make_mut(&mut rules.rows);
        for check in &mut rows.checks {
            check.condition = with_column_renamed(&check.condition, &from, to)?.into();
        }
        for expression in rows.generation_expressions() {
            *expression = with_column_renamed(expression, &from, to)?.into();
        }
        if rules != **new.rules() {
            self.apply_rules(&new, rules, cancel)?;
        }
        self.change_references(&table.name, cancel, |key| {
            let names = key.parent_columns.iter_mut().filter(|it| ***it == *from);
            names.for_each(|it| *it = to.into());
        })?;
        let named = |it: &SequenceOwner| SequenceOwner { column: to.to_owned(), ..it.clone() };
        self.change_owners(&table.name, Some(&from), named)
    }

    /// ALTER TABLE .. RENAME TO.
    pub(crate) fn rename_table(
        &mut self,
        table: &str,
        to: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        self.write_alone(cancel)?;
        let old = self.existing(table)?;
        if let Some(kind) = self.snapshot().kind_of(to) {
            let message = format!("relation \"{to}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, message)
                .with_hint(format!("it is a {kind}; choose another name")));
        }
        self.snapshot().check_free_relation(to)?;
        let new = self.catalog().rename(&old.name, to)?;
        self.note(|| Operation::rename(&old.name, to))?;
        self.rename_in_views(&old.name, to)?;
        let mut rules = Rules::clone(new.rules());
        let (was, is) = (names::bare(&old.name), names::bare(to));
        let rows = Arc::make_mut(&mut rules.rows);
        for check in &mut rows.checks {
            check.condition = with_table_renamed(&check.condition, &was, &is)?.into();
        }
        for expression in rows.generation_expressions() {
            *expression = with_table_renamed(expression, &was, &is)?.into();
        }
        if rules != **new.rules() {
            self.apply_rules(&new, rules, cancel)?;
        }
        self.change_references(&old.name, cancel, |key| key.parent = to.into())?;
        let named = |it: &SequenceOwner| SequenceOwner { table: to.to_owned(), ..it.clone() };
        self.change_owners(&old.name, None, named)
    }

    /// Changes the foreign keys that refer to a table.
    fn change_references(
        &self,
        parent: &str,
        cancel: &CancelToken,
        change: impl Fn(&mut types::ForeignKey),
    ) -> SqlResult<()> {
        for (child, key) in self.referring(parent) {
            let child = self.existing(&child.name)?;
            let mut rules = Rules::clone(child.rules());
            rules.references.iter_mut().filter(|it| **it == key).for_each(&change);
            self.apply_rules(&child, rules, cancel)?;
        }
        Ok(())
    }

    /// Changes whose the sequences of a table, or of a column of it, are.
    fn change_owners(
        &self,
        table: &str,
        column: Option<&str>,
        owner: impl Fn(&SequenceOwner) -> SequenceOwner,
    ) -> SqlResult<()> {
        for old in self.owned(table, column) {
            let (id, name, definition) = (old.id, old.name.clone(), old.definition.clone());
            let (owner, counter) = (old.owner.as_ref().map(&owner), old.counter.clone());
            self.put_sequence(Sequence { id, name, definition, owner, counter })?;
        }
        Ok(())
    }

    /// Says whether a column may hold NULL. Errors: 23502 where it does and shall not, 42P16, 42601.
    pub(crate) fn set_nullable(
        &self,
        table: &Arc<Table>,
        column: &str,
        nullable: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let id = own_column(table, column)?;
        let rules = table.rules();
        let primary = rules.indexes.iter().filter(|it| it.kind == IndexKind::PrimaryKey);
        if nullable && primary.into_iter().any(|it| it.columns.contains(&id)) {
            let message = format!("column \"{column}\" is in a primary key");
            return Err(SqlError::new(INVALID_DEFINITION, message));
        }
        if nullable && rules.rows.identity(id).is_some() {
            let message =
                format!("column \"{column}\" of relation \"{}\" is an identity column", table.name);
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        if !nullable && table.has_null(id) {
            return Err(contains_null(table, column));
        }
        if table.column(id).nullable == nullable {
            return Ok(());
        }
        let change = ColumnChange::Nullable(id, nullable);
        self.alter_column(table, &change, None, cancel)?;
        match nullable {
            true => {
                let dropped = format!("NOT NULL of column {column} of table {}", table.name);
                self.release_views_of_key(&table.name, (&dropped, false), cancel)
            }
            false => Ok(()),
        }
    }

    fn retype_column(
        &self,
        table: &Arc<Table>,
        column: &str,
        (data_type, using): (DataType, Option<&str>),
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let name = table.column(own_column(table, column)?).name.clone();
        self.refuse_with_views(&table.name, Some(&name))?;
        let indexes = self.drop_indexes_naming(table, &name, cancel)?;
        let table = &self.existing(&table.name)?;
        let id = own_column(table, column)?;
        check_not_cut_by(table, id, "alter")?;
        let data_type = self.current_type(data_type)?;
        let old = table.column(id).clone();
        if let Some(generated) = self.generated_of(table, &old.name)?.first() {
            let message = "cannot alter type of a column used by a generated column";
            let hint =
                format!("Column \"{}\" is used by generated column \"{generated}\".", old.name);
            return Err(SqlError::unsupported(message).with_hint(hint));
        }
        if table.rules().rows.identity(id).is_some() && !data_type.is_integer() {
            return Err(no_number_type());
        }
        if using.map_or(Ok(false), has_subquery)? {
            return Err(SqlError::unsupported("cannot use subquery in transform expression"));
        }
        let schema = ColumnSchema::new(old.name.clone(), data_type, old.nullable);
        let own = quoted(&old.name);
        let expression = using.unwrap_or(&own);
        let from = self.type_of_expression(table, expression)?;
        let is_untyped = using.map_or(Ok(false), is_untyped)?;
        if !is_untyped && !becomes(from, data_type) {
            return Err(not_cast(column, data_type, using.map_or(Some(&*own), |_| None)));
        }
        let default = table.rules().rows.defaults.get(id.index()).and_then(|it| it.as_ref());
        if default.is_some() && !becomes(old.data_type, data_type) {
            let to = data_type.to_string().to_lowercase();
            let message = format!(
                "default for column \"{column}\" cannot be cast automatically to type {to}"
            );
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        let fields = table.rules().rows.fields(id);
        let values = self.values_of_expression(table, (&schema, fields), expression, cancel)?;
        if values.len() as u64 != table.rows() {
            let message = "aggregate functions are not allowed in transform expressions";
            return Err(SqlError::new(SqlState("42803"), message));
        }
        if !old.nullable && values.null_count() > 0 {
            return Err(contains_null(table, column));
        }
        let change = ColumnChange::Retype(id, data_type);
        let new = self.alter_column(table, &change, Some(values), cancel)?;
        if new.rules().rows.identity(id).is_some() {
            self.retype_identity_sequence(&new.name, &old.name, data_type)?;
        }
        self.check_rules(&new, cancel)?;
        self.check_rows(&new, &new.rules().rows.checks, cancel)?;
        for (child, key) in self.referring(&table.name) {
            self.check_reference(&child, &key, cancel)?;
        }
        indexes.iter().try_for_each(|it| self.create_index(it, cancel).map(|_| ()))
    }
}

fn has_column(table: &Table, name: &str) -> bool {
    table.columns.iter().any(|it| it.name.eq_ignore_ascii_case(name))
}

fn own_column(table: &Table, name: &str) -> SqlResult<ColumnId> {
    let place = table.columns.iter().position(|it| it.name.eq_ignore_ascii_case(name));
    place
        .map(|it| ColumnId(it as u16))
        .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_COLUMN, not_there(table, name)))
}

pub(crate) fn check_not_cut_by(table: &Table, id: ColumnId, what: &str) -> SqlResult<()> {
    if !table.partitioning().columns().contains(&id) {
        return Ok(());
    }
    let message = format!(
        "cannot {what} column \"{}\" because it is part of the partition key of relation \"{}\"",
        table.column(id).name,
        table.name
    );
    Err(SqlError::new(INVALID_DEFINITION, message)
        .with_hint("ALTER TABLE .. PARTITION BY and MERGE PARTITIONS change how it is cut"))
}

/// Whether values of a type are stored in a column of another unasked.
fn becomes(from: DataType, to: DataType) -> bool {
    from == DataType::Null
        || from == to
        || from.is_text() && to.is_text()
        || numeric::is_assignable(from, to)
}

/// The error of values that do not become those of a type; with the column where it was not said how.
fn not_cast(column: &str, to: DataType, own: Option<&str>) -> SqlError {
    let to = to.to_string().to_lowercase();
    let (message, hint) = match own {
        Some(own) => (
            format!("column \"{column}\" cannot be cast automatically to type {to}"),
            format!("You might need to specify \"USING {own}::{to}\"."),
        ),
        None => (
            format!(
                "result of USING clause for column \"{column}\" cannot be cast automatically to type {to}"
            ),
            "You might need to add an explicit cast.".to_owned(),
        ),
    };
    SqlError::new(SqlState::DATATYPE_MISMATCH, message).with_hint(hint)
}

fn already_there(table: &Table, column: &str) -> String {
    format!("column \"{column}\" of relation \"{}\" already exists", table.name)
}

fn not_there(table: &Table, column: &str) -> String {
    format!("column \"{column}\" of relation \"{}\" does not exist", table.name)
}

pub(crate) fn contains_null(table: &Table, column: &str) -> SqlError {
    let message =
        format!("column \"{column}\" of relation \"{}\" contains null values", table.name);
    SqlError::new(SqlState::NOT_NULL_VIOLATION, message).about(|it| {
        it.table = Some(table.name.clone());
        it.column = Some(column.to_owned());
    })
}
