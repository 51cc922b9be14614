//! Constraints of CREATE TABLE, and what ALTER TABLE changes of what a table asks of its rows.

use binder::column_names::which_named;
pub(crate) use binder::quoted_name as quoted;
use binder::{
    CheckDefinition, Constraints, IdentityChange, KeyDefinition, Numbering, RuleChange,
    SequenceOptions,
};
use stdx::sync::Arc;
use storage::{IndexKind, Rules, Table, TableIndex};
use types::{CheckRule, ColumnId, Identity, SqlError, SqlResult, SqlState, names};

use crate::index_ddl::{column_of, key_column_of};
use crate::notice::Notice;
use crate::sequence_ddl::no_number_type;
use crate::sql_names::sql_path;
use crate::{CancelToken, Session};

impl Session {
    /// Adds constraints to the rules of a table, under names that are free.
    pub(crate) fn add_constraints(
        &self,
        table: &Table,
        rules: &mut Rules,
        new: &Constraints,
    ) -> SqlResult<()> {
        merged(&new.keys).iter().try_for_each(|it| self.add_key(table, rules, it))?;
        new.checks.iter().try_for_each(|it| add_check(table, rules, it))?;
        new.references.iter().try_for_each(|it| self.add_reference(table, rules, it))
    }

    fn add_key(&self, table: &Table, rules: &mut Rules, key: &KeyDefinition) -> SqlResult<()> {
        let kind = if key.primary { IndexKind::PrimaryKey } else { IndexKind::UniqueKey };
        if key.primary && rules.indexes.iter().any(|it| it.kind == kind) {
            let message = format!("table \"{}\" has more than one primary key", table.name);
            return Err(SqlError::new(SqlState("42P16"), message));
        }
        let mut columns = Vec::with_capacity(key.columns.len());
        for name in &key.columns {
            let column = key_column_of(table, name)?;
            if columns.contains(&column) {
                let message = format!("column \"{name}\" stands twice in a key");
                return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
            }
            columns.push(column);
        }
        let suggested = match key.primary {
            true => format!("{}_pkey", names::bare(&table.name)),
            false => format!("{}_{}_key", names::bare(&table.name), key.columns.join("_")),
        };
        check_free(table, rules, key.name.as_deref())?;
        let name = self.index_name(&table.name, key.name.as_deref(), &suggested, rules)?;
        let (deferral, nulls_equal) = (key.deferral, key.nulls_equal);
        let new = TableIndex { deferral, nulls_equal, ..TableIndex::new(name, columns, kind) };
        rules.indexes.push(new);
        Ok(())
    }

    /// Changes what a table asks of its rows. What is asked anew its rows keep already, else it is refused.
    pub(crate) fn change_rules(
        &mut self,
        table: &str,
        changes: &[RuleChange],
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        self.write_alone(cancel)?;
        for change in changes {
            let old = self.existing(table)?;
            let mut rules = Rules::clone(old.rules());
            match change {
                RuleChange::Add(new) => self.add_constraints(&old, &mut rules, new)?,
                RuleChange::Drop { name, if_exists, cascade } => {
                    let how = (*if_exists, *cascade);
                    self.drop_rule(&old, &mut rules, (name, how), cancel)?;
                }
                RuleChange::Column(alteration) => {
                    self.change_column(&old, alteration, cancel)?;
                    continue;
                }
                RuleChange::RenameConstraint { name, to } => {
                    check_free(&old, &rules, Some(to))?;
                    rename_constraint(&old, &mut rules, name, to)?;
                    let own = ["constraint", &*old.name];
                    self.move_comment([own[0], own[1], name], Some([own[0], own[1], to]))?;
                }
                RuleChange::Identity { column, change } => {
                    self.change_identity(&old, &mut rules, column, change, cancel)?;
                    if let IdentityChange::Drop { .. } = change {
                        continue;
                    }
                }
                RuleChange::Expression { column, change } => {
                    self.change_expression(&old, column, change, cancel)?;
                    continue;
                }
                RuleChange::Validate { name } => {
                    validate(&old, &mut rules, name)?;
                    let mut checks = rules.rows.checks.clone();
                    checks.retain(|it| *it.name == **name);
                    self.check_rows(&old, &checks, cancel)?;
                }
                RuleChange::Parameters { column } => {
                    if let Some(column) = column {
                        column_of(&old, column)?;
                    }
                    continue;
                }
                RuleChange::Default { column, default } => {
                    set_default(&old, &mut rules, column, default.as_deref())?;
                }
            }
            let current = self.existing(table)?;
            let new = self.apply_rules(&current, rules, cancel)?;
            self.check_rules(&new, cancel)?;
            if let RuleChange::Drop { name, cascade, .. } = change {
                let dropped = format!("constraint {name} on table {}", new.name);
                self.release_views_of_key(&new.name, (&dropped, *cascade), cancel)?;
            }
            if let RuleChange::Add(constraints) = change {
                let added = &new.rules().rows.checks[old.rules().rows.checks.len()..];
                self.check_rows(&new, added, cancel)?;
                self.keep_known(table, constraints, cancel)?;
            }
        }
        Ok(())
    }

    /// The columns of a primary key are NOT NULL from then on, also without it.
    fn keep_known(
        &mut self,
        table: &str,
        added: &binder::Constraints,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let primary = added.keys.iter().filter(|it| it.primary);
        for column in primary.flat_map(|it| &it.columns) {
            self.set_nullable(&self.existing(table)?, column, false, cancel)?;
        }
        Ok(())
    }

    /// Takes a constraint away, and with it, if that is said, the foreign keys that rest on it.
    fn drop_rule(
        &self,
        table: &Arc<Table>,
        rules: &mut Rules,
        (name, (if_exists, cascade)): (&str, (bool, bool)),
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let known = drop_constraint(rules, name);
        self.move_comment(["constraint", &table.name, name], None)?;
        if !known {
            let missing = no_constraint(table, name);
            if !if_exists {
                return Err(missing);
            }
            self.notice(Notice::told("00000", format!("{}, skipping", missing.message)));
        }
        let dropped = format!("constraint {name} on table {}", table.name);
        let index = format!("index {name}");
        self.release_keys(table, rules, (&dropped, &index), cascade, cancel)?;
        // Foreign keys of its own may have gone with the key that they named.
        let own = self.existing(&table.name)?;
        rules.references.retain(|it| own.rules().references.contains(it));
        Ok(())
    }

    /// Changes how a column is numbered by itself. An identity that goes is gone from the table as well.
    fn change_identity(
        &self,
        table: &Arc<Table>,
        rules: &mut Rules,
        column: &str,
        change: &IdentityChange,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let id = column_of(table, column)?;
        let info = table.column(id).schema();
        let rows = Arc::make_mut(&mut rules.rows);
        rows.defaults.resize(table.columns.len(), None);
        let is_identity = rows.identity(id).is_some();
        let wrong = |what: &str| {
            let message = format!("column \"{column}\" of relation \"{}\" {what}", table.name);
            Err(SqlError::new(SqlState::NOT_IN_STATE, message))
        };
        match change {
            IdentityChange::Add { .. } if !info.data_type.is_integer() => Err(no_number_type()),
            IdentityChange::Add { .. } if is_identity => wrong("is already an identity column"),
            IdentityChange::Add { .. } if rows.defaults[id.index()].is_some() => {
                wrong("already has a default value")
            }
            IdentityChange::Add { .. } if info.nullable => {
                wrong("must be declared NOT NULL before identity can be added")
            }
            IdentityChange::Add { always, options } => {
                let (always, options) = (*always, options.clone());
                let numbering = Numbering::Identity { always, options };
                let default =
                    self.number_column(&table.name, &info.name, info.data_type, &numbering)?;
                rows.defaults[id.index()] = Some(default.into());
                rows.identities.push(Identity { column: id, always });
                Ok(())
            }
            IdentityChange::Drop { if_exists: true } if !is_identity => {
                let own = names::bare(&table.name);
                let message =
                    format!("column \"{column}\" of relation \"{own}\" is not an identity column");
                self.notice(Notice::told("00000", format!("{message}, skipping")));
                Ok(())
            }
            IdentityChange::Set { .. } | IdentityChange::Drop { .. } if !is_identity => {
                wrong("is not an identity column")
            }
            IdentityChange::Set { always, options } => {
                if let Some(always) = *always {
                    let of_column = rows.identities.iter_mut().filter(|it| it.column == id);
                    of_column.for_each(|it| it.always = always);
                }
                match *options == SequenceOptions::default() {
                    true => Ok(()),
                    false => self.change_identity_sequence(&table.name, &info.name, options),
                }
            }
            IdentityChange::Drop { .. } => {
                rows.defaults[id.index()] = None;
                rows.identities.retain(|it| it.column != id);
                let sequence = self.identity_sequence(&table.name, &info.name)?;
                self.apply_rules(table, rules.clone(), cancel)?;
                self.remove_sequence(&sequence, false, cancel)
            }
        }
    }

    /// Whether the defaults, CHECK constraints and foreign keys of a table can be bound, and its rows keep the last.
    pub(crate) fn check_rules(&self, table: &Table, cancel: &CancelToken) -> SqlResult<()> {
        if !table.rules().rows.generated.is_empty() {
            self.check_generated(table)?;
        } else if !table.rules().rows.is_empty() {
            self.check_row_rules(table)?;
        }
        let mut references = table.rules().references.iter();
        references.try_for_each(|it| self.check_reference(table, it, cancel))
    }

    /// Refuses CHECK constraints that are false of a row that is there; those that are known of new rows only are not looked at.
    pub(crate) fn check_rows(
        &self,
        table: &Table,
        checks: &[CheckRule],
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        for CheckRule { name, condition, .. } in checks.iter().filter(|it| it.is_validated) {
            let own = sql_path(&table.name);
            let found = self
                .rows_of(&format!("SELECT 1 FROM {own} WHERE NOT ({condition}) LIMIT 1"), cancel)?;
            if found.iter().any(|it| it.num_rows() > 0) {
                let message = format!(
                    "check constraint \"{name}\" of relation \"{}\" is violated by some row",
                    table.name
                );
                let error = SqlError::new(SqlState::CHECK_VIOLATION, message);
                return Err(error.of_constraint(&table.name, name));
            }
        }
        Ok(())
    }
}

/// Keys of which none is said twice of the same columns in the same order: one that is primary stands for the other, and the name
/// is the one that was given, that of the primary one before all.
fn merged(keys: &[KeyDefinition]) -> Vec<KeyDefinition> {
    let mut all: Vec<KeyDefinition> = Vec::with_capacity(keys.len());
    for key in keys {
        let is_same = |it: &&mut KeyDefinition| {
            it.columns == key.columns
                && (it.deferral, it.nulls_equal) == (key.deferral, key.nulls_equal)
                && !(it.primary && key.primary)
        };
        match all.iter_mut().find(is_same) {
            Some(same) => {
                if same.name.is_none() || key.primary && key.name.is_some() {
                    same.name.clone_from(&key.name);
                }
                same.primary |= key.primary;
            }
            None => all.push(key.clone()),
        }
    }
    all
}

/// Gives a column a default, or none. One that is numbered or generated has its own.
fn set_default(
    table: &Table,
    rules: &mut Rules,
    column: &str,
    default: Option<&str>,
) -> SqlResult<()> {
    let id = column_of(table, column)?;
    let (kind, hint) = match (rules.rows.identity(id), rules.rows.generated(id)) {
        (Some(_), _) => ("an identity", "DROP IDENTITY takes its identity away"),
        (_, Some(_)) => ("a generated", "SET EXPRESSION says what of"),
        (None, None) => {
            let rows = Arc::make_mut(&mut rules.rows);
            rows.defaults.resize(table.columns.len(), None);
            rows.defaults[id.index()] = default.map(Arc::from);
            return Ok(());
        }
    };
    let message = format!("column \"{column}\" of relation \"{}\" is {kind} column", table.name);
    Err(SqlError::new(SqlState::SYNTAX, message)
        .with_hint(format!("ALTER TABLE .. ALTER COLUMN .. {hint}")))
}

fn add_check(table: &Table, rules: &mut Rules, check: &CheckDefinition) -> SqlResult<()> {
    let CheckDefinition { name, condition, not_valid } = check;
    check_free(table, rules, name.as_deref())?;
    let name = match name {
        Some(name) => name.clone(),
        None => {
            // Wherever it stands: the one column that it is about has its part in the name.
            let column = match columns_named(table, condition)?[..] {
                [column] => format!("_{}", table.column(column).name),
                _ => String::new(),
            };
            free_name(rules, &format!("{}{column}_check", names::bare(&table.name)))
        }
    };
    let (name, condition) = (name.into(), condition.as_str().into());
    let rule = CheckRule { name, condition, is_validated: !not_valid };
    Arc::make_mut(&mut rules.rows).checks.push(rule);
    Ok(())
}

/// The columns that the condition of a CHECK names, in the order of the table.
pub(crate) fn columns_named(table: &Table, condition: &str) -> SqlResult<Vec<ColumnId>> {
    let names: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
    let named = which_named(condition, &names)?;
    Ok((0..).map(ColumnId).zip(named).filter(|it| it.1).map(|it| it.0).collect())
}

/// Refuses a name that a constraint of the table has.
pub(crate) fn check_free(table: &Table, rules: &Rules, name: Option<&str>) -> SqlResult<()> {
    match name.filter(|it| is_taken(rules, it)) {
        Some(name) => {
            let message =
                format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
            Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message))
        }
        None => Ok(()),
    }
}

/// A name that no constraint of the table has, made from a suggestion.
pub(crate) fn free_name(rules: &Rules, suggested: &str) -> String {
    let mut numbered = (1..).map(|it: u32| format!("{suggested}{it}"));
    let own = std::iter::once(suggested.to_owned());
    own.chain(numbered.by_ref()).find(|it| !is_taken(rules, it)).unwrap_or_default()
}

pub(crate) fn is_taken(rules: &Rules, name: &str) -> bool {
    let keys = rules.indexes.iter().filter(|it| it.kind.is_constraint()).map(|it| &it.name);
    let checks = rules.rows.checks.iter().map(|it| &it.name);
    let references = rules.references.iter().map(|it| &it.name);
    keys.chain(checks).chain(references).any(|it| **it == *name)
}

/// Gives a constraint another name.
fn rename_constraint(table: &Table, rules: &mut Rules, name: &str, to: &str) -> SqlResult<()> {
    let rows = Arc::make_mut(&mut rules.rows);
    let keys = rules.indexes.iter_mut().filter(|it| it.kind.is_constraint());
    let keys = keys.map(|it| &mut it.name);
    let checks = rows.checks.iter_mut().map(|it| &mut it.name);
    let references = rules.references.iter_mut().map(|it| &mut it.name);
    let found = keys.chain(checks).chain(references).find(|it| ***it == *name);
    let found = found.ok_or_else(|| {
        let message = format!("constraint \"{name}\" for table \"{}\" does not exist", table.name);
        SqlError::new(SqlState::UNDEFINED_OBJECT, message)
    })?;
    *found = to.into();
    Ok(())
}

/// VALIDATE CONSTRAINT, but for looking at the rows.
fn validate(table: &Table, rules: &mut Rules, name: &str) -> SqlResult<()> {
    if let Some(key) = rules.references.iter_mut().find(|it| *it.name == *name) {
        key.is_validated = true;
        return Ok(());
    }
    if rules.rows.checks.iter().any(|it| *it.name == *name) {
        let checks = Arc::make_mut(&mut rules.rows).checks.iter_mut();
        checks.filter(|it| *it.name == *name).for_each(|it| it.is_validated = true);
        return Ok(());
    }
    match is_taken(rules, name) {
        true => {
            let message =
                format!("cannot validate constraint \"{name}\" of relation \"{}\"", table.name);
            Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                .with_hint("it is neither a foreign key nor a CHECK constraint"))
        }
        false => Err(no_constraint(table, name)),
    }
}

fn no_constraint(table: &Table, name: &str) -> SqlError {
    let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

/// Takes a constraint away, and tells whether there was one of this name.
fn drop_constraint(rules: &mut Rules, name: &str) -> bool {
    let known = is_taken(rules, name);
    rules.indexes.retain(|it| !it.kind.is_constraint() || *it.name != *name);
    Arc::make_mut(&mut rules.rows).checks.retain(|it| *it.name != *name);
    rules.references.retain(|it| *it.name != *name);
    known
}
