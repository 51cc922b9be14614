//! CREATE, ALTER and DROP TYPE.
//!
//! Key decision: a column knows the labels of its type, not only its name, so that whoever reads rows asks no catalog. Who changes a
//! type changes all columns of it ([`crate::type_uses`]): where the labels keep their places only what the column is called by, else
//! its values.

use std::collections::HashSet;

use binder::{NewLabel, ParsedQuery, Statement, TypeBody, TypeChange};
use stdx::sync::Arc;
use types::structs::{StructType, changed, has_part};
use types::{DataType, EnumType, RoleId, SqlError, SqlResult, SqlState, UserType, names};

use crate::answer::done;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::text::Cells;
use crate::{Answer, CancelToken, Session};

impl Session {
    /// A statement about types or domains.
    pub(crate) fn run_type_statement(
        &mut self,
        statement: &Statement,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        match statement {
            Statement::CreateType { name, body } => self.create_type(name, body, cancel),
            Statement::AlterType { name, change } => self.alter_type(name, change, cancel),
            Statement::CreateDomain { name, body } => self.create_domain(name, body, cancel),
            Statement::AlterDomain { name, change } => self.alter_domain(name, change, cancel),
            Statement::DropType { names, domains, if_exists, cascade } => {
                if *domains {
                    self.check_domains(names)?;
                }
                let answer = self.drop_types(names, *if_exists, *cascade, cancel)?;
                Ok(if *domains { done("DROP DOMAIN") } else { answer })
            }
            _ => Err(SqlError::internal("a statement that is about no type")),
        }
    }

    fn create_type(
        &mut self,
        name: &str,
        body: &TypeBody,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let of_labels = |labels| EnumType::new(name, labels).map(DataType::Enum);
        let data_type = match body {
            TypeBody::Labels(labels) => of_labels(labels.clone())?,
            TypeBody::LabelsOf(query) => of_labels(self.labels_of(query, cancel)?)?,
            TypeBody::Alias { data_type, .. } => self.current_type(*data_type)?,
            TypeBody::Row { data_type, .. } => match self.current_type(*data_type)? {
                DataType::Struct(it) | DataType::Map(it) => {
                    DataType::Struct(StructType::named(name, it.fields().to_vec())?)
                }
                _ => return Err(SqlError::internal("a type of rows without columns")),
            },
        };
        self.write_alone(cancel)?;
        self.check_free_type(name)?;
        self.put_type(UserType {
            name: name.to_owned(),
            owner: self.role(),
            data_type,
            domain: None,
        })?;
        Ok(done("CREATE TYPE"))
    }

    /// Whether a type may be made under a name: 42710 where there is one, or a relation, 3F000 where there is no such schema.
    pub(crate) fn check_free_type(&self, name: &str) -> SqlResult<()> {
        let snapshot = self.snapshot();
        if names::is_temporary(name) {
            let message = "a type that goes with its session is not supported";
            return Err(SqlError::unsupported(message));
        }
        let has_type = |it: &str| matches!(it, "table" | "view" | "materialized view");
        if snapshot.user_type(name).is_some() || snapshot.kind_of(name).is_some_and(has_type) {
            let message = format!("type \"{}\" already exists", names::bare(name));
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let schema = names::schema_of(name);
        match snapshot.has_schema(&schema) {
            true => Ok(()),
            false => Err(crate::search_path::no_schema(&schema)),
        }
    }

    /// The texts of a query, each once, in the order in which they come.
    fn labels_of(&mut self, query: &ParsedQuery, cancel: &CancelToken) -> SqlResult<Vec<String>> {
        let answer =
            self.run_statement(Statement::Query { query: query.clone() }, cancel.clone())?;
        let mut labels: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        for batch in &answer.batches {
            let [column] = batch.columns() else {
                let message = "a query of labels has one column";
                return Err(SqlError::new(SqlState::SYNTAX, message));
            };
            let cells = Cells::new(column);
            for row in 0..batch.num_rows() {
                let Some(label) = cells.text(row) else {
                    let message = "a label cannot be NULL";
                    return Err(SqlError::new(SqlState::NOT_NULL_VIOLATION, message));
                };
                if known.insert(label.clone()) {
                    labels.push(label);
                }
            }
        }
        Ok(labels)
    }

    /// What has become of a type since a statement found it, while it waited for its turn.
    ///
    /// # Errors
    /// 42704 where it is gone.
    pub(crate) fn current_type(&self, of: DataType) -> SqlResult<DataType> {
        let gone = std::cell::Cell::new(None);
        let current = |it: DataType| match it {
            DataType::Enum(labels) if !labels.name().is_empty() => {
                match self.existing_type(labels.name()) {
                    Ok(found) => found.data_type,
                    Err(error) => {
                        gone.set(Some(error));
                        it
                    }
                }
            }
            other => other,
        };
        if let DataType::Struct(row) = of
            && !row.name().is_empty()
        {
            return self.existing_type(row.name()).map(|it| it.data_type);
        }
        let current = changed(of, &current)?;
        gone.take().map_or(Ok(current), Err)
    }

    /// The types that a role owns.
    pub(crate) fn types_of(&self, role: RoleId) -> Vec<Arc<UserType>> {
        self.snapshot().user_types().filter(|it| it.owner == role).cloned().collect()
    }

    pub(crate) fn put_type(&self, it: UserType) -> SqlResult<()> {
        let it = self.catalog().put_type(it);
        self.note(|| Operation::user_type(&it))
    }

    pub(crate) fn remove_type(&self, name: &str) -> SqlResult<()> {
        self.catalog().drop_type(name)?;
        self.note(|| Operation::drop_type(name))
    }

    /// A type that is there. Errors: 42704.
    pub(crate) fn existing_type(&self, name: &str) -> SqlResult<Arc<UserType>> {
        self.snapshot().user_type(name).cloned().ok_or_else(|| binder::no_type(name))
    }

    pub(crate) fn alter_type(
        &mut self,
        name: &str,
        change: &TypeChange,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let old = self.existing_type(name)?;
        if let TypeChange::Rename(to) = change {
            self.rename_type(name, to, cancel)?;
            return Ok(done("ALTER TYPE"));
        }
        if let TypeChange::Schema(schema) = change {
            let to = names::joined(schema, &names::bare(&old.name));
            if to != old.name {
                self.rename_type(name, &to, cancel)?;
            }
            return Ok(done("ALTER TYPE"));
        }
        let DataType::Enum(labels) = old.data_type else {
            let message = format!("{name} is not an enum");
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        let new = match change {
            TypeChange::Add { label, place, if_not_exists } => {
                if *if_not_exists && labels.place(label).is_some() {
                    let message = format!("enum label \"{label}\" already exists, skipping");
                    self.notice(Notice::told("42710", message));
                    return Ok(done("ALTER TYPE"));
                }
                added(labels, label, place)?
            }
            TypeChange::RenameLabel { from, to } => {
                let new = renamed(labels, from, to)?;
                self.rename_constants(labels, (from, to), cancel)?;
                new
            }
            TypeChange::Rename(_) | TypeChange::Schema(_) => labels,
        };
        let keeps_places = matches!(change, TypeChange::RenameLabel { .. })
            || new.labels().starts_with(labels.labels());
        self.change_type((labels, new), keeps_places, cancel)?;
        Ok(done("ALTER TYPE"))
    }

    pub(crate) fn drop_types(
        &mut self,
        names: &[String],
        if_exists: bool,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            if if_exists && self.snapshot().user_type(name).is_none() {
                self.skip_missing("type", name);
                continue;
            }
            found.push(self.existing_type(name)?);
        }
        while !found.is_empty() {
            let name = found.remove(first_to_go(&found)).name.clone();
            // As it is by now: it may have lost a field with another, or be named twice.
            let current = self.snapshot().user_type(&name).cloned();
            if let Some(it) = current {
                self.release_type(&it, cascade, cancel)?;
                self.remove_type(&name)?;
            }
        }
        Ok(done("DROP TYPE"))
    }

    /// Gives a type another name, in all columns of it and in all texts that name it.
    pub(crate) fn rename_type(
        &mut self,
        name: &str,
        to: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let old = self.existing_type(name)?;
        self.check_free_type(to)?;
        if matches!(old.data_type, DataType::Struct(it) if it.name() == old.name) {
            self.check_type_unused(&old)?;
        }
        self.rename_type_in_texts(&old.name, to, cancel)?;
        self.remove_type(&old.name)?;
        let renamed =
            |data_type| UserType { name: to.to_owned(), data_type, ..UserType::clone(&old) };
        self.rename_domain(&old.name, to, cancel)?;
        match old.data_type {
            DataType::Enum(labels) if labels.name() == old.name => {
                let new = EnumType::new(to, labels.labels().to_vec())?;
                self.put_type(renamed(DataType::Enum(new)))?;
                self.change_type((labels, new), true, cancel)
            }
            DataType::Struct(row) if row.name() == old.name => {
                let new = StructType::named(to, row.fields().to_vec())?;
                self.put_type(renamed(DataType::Struct(new)))
            }
            other => self.put_type(renamed(other)),
        }
    }
}

fn added(labels: EnumType, label: &str, place: &NewLabel) -> SqlResult<EnumType> {
    let mut all = labels.labels().to_vec();
    if labels.place(label).is_some() {
        let message = format!("enum label \"{label}\" already exists");
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
    }
    let at = match place {
        NewLabel::Last => all.len(),
        NewLabel::Before(it) => existing_place(labels, it)?,
        NewLabel::After(it) => existing_place(labels, it)? + 1,
    };
    all.insert(at, label.to_owned());
    EnumType::new(labels.name(), all)
}

fn renamed(labels: EnumType, from: &str, to: &str) -> SqlResult<EnumType> {
    let mut all = labels.labels().to_vec();
    let at = existing_place(labels, from)?;
    if labels.place(to).is_some() {
        let message = format!("enum label \"{to}\" already exists");
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
    }
    all[at] = to.to_owned();
    EnumType::new(labels.name(), all)
}

fn existing_place(labels: EnumType, label: &str) -> SqlResult<usize> {
    let place = labels.place(label).and_then(|it| usize::try_from(it).ok());
    place.ok_or_else(|| {
        let message = format!("\"{label}\" is not an existing enum label");
        SqlError::new(SqlState::INVALID_PARAMETER, message)
    })
}

/// Which of some types is no part of another of them, so that it goes before its own parts do.
fn first_to_go(all: &[Arc<UserType>]) -> usize {
    let is_part = |it: &UserType, of: &UserType| {
        let row = matches!(it.data_type, DataType::Struct(_)).then_some(it.data_type);
        it.name != of.name
            && it.domain.is_none()
            && row.is_some_and(|row| has_part(of.data_type, &|part| part == row))
    };
    let is_free = |it: &usize| !all.iter().any(|of| is_part(&all[*it], of));
    (0..all.len()).find(is_free).unwrap_or(0)
}
