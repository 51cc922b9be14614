//! CREATE, ALTER and DROP SEQUENCE, and the sequences that columns own: of SERIAL, of GENERATED AS IDENTITY, by OWNED BY.
//!
//! Key decision: a default names its sequence in its text, as `nextval('s')`; so who renames or drops a sequence looks through
//! the defaults of all tables.

use binder::sequence_names::{as_kept, sequences_in, with_sequence_renamed};
use binder::{ColumnDefinition, Numbering, SequenceChange, SequenceOptions};
use stdx::sync::Arc;
use storage::{Counter, Rules, Sequence, Table};
use types::{
    DataType, ObjectKind, SequenceDefinition, SequenceOwner, SequencePosition, SqlError, SqlResult,
    SqlState, names,
};

use crate::answer::done;
use crate::dependents::needed;
use crate::durability::Operation;
use crate::{Answer, CancelToken, Session};

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, message)
}

impl Session {
    pub(crate) fn create_sequence(
        &mut self,
        name: &str,
        options: &SequenceOptions,
        if_not_exists: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        if if_not_exists && self.is_relation(name) {
            self.skip_existing(name);
            return Ok(done("CREATE SEQUENCE"));
        }
        if options.name.is_some() {
            return Err(SqlError::new(SqlState::SYNTAX, "syntax error: SEQUENCE NAME"));
        }
        let definition = defined(None, options)?;
        let owner = self.owner(options)?.flatten();
        self.put_new_sequence(name, definition, owner)?;
        Ok(done("CREATE SEQUENCE"))
    }

    fn put_new_sequence(
        &self,
        name: &str,
        definition: SequenceDefinition,
        owner: Option<SequenceOwner>,
    ) -> SqlResult<()> {
        let catalog = self.catalog();
        catalog.snapshot().check_free_name(name)?;
        let counter = Counter::new(catalog.next_number(), definition.beginning());
        let id = catalog.next_number();
        self.put_sequence(Sequence { id, name: name.to_owned(), definition, owner, counter })?;
        self.own(ObjectKind::Sequence, name)
    }

    pub(crate) fn put_sequence(&self, sequence: Sequence) -> SqlResult<()> {
        let sequence = self.catalog().put_sequence(sequence);
        self.note(|| Operation::sequence(&sequence))
    }

    fn existing_sequence(&self, name: &str) -> SqlResult<Arc<Sequence>> {
        let snapshot = self.snapshot();
        snapshot.sequence(name).cloned().ok_or_else(|| match snapshot.kind_of(name) {
            Some(_) => {
                let message = format!("\"{name}\" is not a sequence");
                SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
            }
            None => {
                let message = format!("relation \"{name}\" does not exist");
                SqlError::new(SqlState::UNDEFINED_TABLE, message)
            }
        })
    }

    /// The column that OWNED BY names, which must be there.
    fn owner(&self, options: &SequenceOptions) -> SqlResult<Option<Option<SequenceOwner>>> {
        let Some(said) = &options.owner else { return Ok(None) };
        let Some((table, column)) = said else { return Ok(Some(None)) };
        let found = self.catalog().get(table).ok_or_else(|| {
            let message = format!("relation \"{table}\" does not exist");
            SqlError::new(SqlState::UNDEFINED_TABLE, message)
        })?;
        let column = found.columns.iter().find(|it| it.name == *column).ok_or_else(|| {
            let message = format!("column \"{column}\" of relation \"{table}\" does not exist");
            SqlError::new(SqlState::UNDEFINED_COLUMN, message)
        })?;
        let (table, column) = (found.name.clone(), column.name.clone());
        Ok(Some(Some(SequenceOwner { table, column, is_identity: false })))
    }

    pub(crate) fn alter_sequence(
        &mut self,
        name: &str,
        change: &SequenceChange,
        if_exists: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        if if_exists && self.snapshot().kind_of(name).is_none() {
            self.skip_missing("relation", name);
            return Ok(done("ALTER SEQUENCE"));
        }
        let old = self.existing_sequence(name)?;
        match change {
            SequenceChange::Options(options) => {
                if options.name.is_some() {
                    return Err(SqlError::new(SqlState::SYNTAX, "syntax error: SEQUENCE NAME"));
                }
                self.change_sequence(&old, options)?;
            }
            SequenceChange::Rename(new) => self.rename_sequence(&old, new, cancel)?,
        }
        Ok(done("ALTER SEQUENCE"))
    }

    /// Gives a sequence options.
    fn change_sequence(&self, old: &Sequence, options: &SequenceOptions) -> SqlResult<()> {
        let definition = defined(Some(&old.definition), options)?;
        let owner = match self.owner(options)? {
            Some(_) if old.owner.as_ref().is_some_and(|it| it.is_identity) => {
                let message = "cannot change ownership of identity sequence";
                return Err(SqlError::unsupported(message));
            }
            Some(owner) => owner,
            None => old.owner.clone(),
        };
        let counter = match options.restart {
            Some(at) => {
                let number = at.unwrap_or(definition.start);
                let position = SequencePosition { number, is_called: false };
                check_within(&definition, "RESTART", number)?;
                Counter::new(self.catalog().next_number(), position)
            }
            None => {
                check_within(&definition, "RESTART", old.counter.lock().position.number)?;
                old.counter.clone()
            }
        };
        let (id, name) = (old.id, old.name.clone());
        self.put_sequence(Sequence { id, name, definition, owner, counter })
    }

    /// Gives a sequence another name, perhaps in another schema.
    pub(crate) fn rename_sequence_to(
        &self,
        old: &str,
        new: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        self.rename_sequence(&*self.existing_sequence(old)?, new, cancel)
    }

    fn rename_sequence(&self, old: &Sequence, new: &str, cancel: &CancelToken) -> SqlResult<()> {
        self.snapshot().check_free_name(new)?;
        self.refuse_with_views(&old.name, None)?;
        let renamed = Sequence {
            id: old.id,
            name: new.to_owned(),
            definition: old.definition.clone(),
            owner: old.owner.clone(),
            counter: old.counter.clone(),
        };
        // In this order, so that the counter is never gone when this is done again.
        self.put_sequence(renamed)?;
        self.move_comments(&old.name, new)?;
        self.move_rights(&old.name, new)?;
        self.catalog().drop_sequence(&old.name)?;
        self.note(|| Operation::drop_sequence(&old.name))?;
        for (table, places) in self.asking(&old.name)? {
            let mut rules = Rules::clone(table.rules());
            let rows = Arc::make_mut(&mut rules.rows);
            for place in places {
                if let Some(default) = &mut rows.defaults[place] {
                    *default = with_sequence_renamed(default, &old.name, new)?.into();
                }
            }
            self.apply_rules(&table, rules, cancel)?;
        }
        Ok(())
    }

    /// The tables with defaults that ask a sequence, and their columns.
    fn asking(&self, name: &str) -> SqlResult<Vec<(Arc<Table>, Vec<usize>)>> {
        let mut found = Vec::new();
        for table in self.snapshot().tables() {
            let mut places = Vec::new();
            for (place, default) in table.rules().rows.defaults.iter().enumerate() {
                if let Some(text) = default
                    && sequences_in(text)?.iter().any(|it| it.eq_ignore_ascii_case(name))
                {
                    places.push(place);
                }
            }
            if !places.is_empty() {
                found.push((table, places));
            }
        }
        Ok(found)
    }

    pub(crate) fn drop_sequences(
        &mut self,
        names: &[String],
        if_exists: bool,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        for name in names {
            if if_exists && self.snapshot().kind_of(name).is_none() {
                self.skip_missing("sequence", name);
                continue;
            }
            let snapshot = self.snapshot();
            let sequence = snapshot.sequence(name).ok_or_else(|| match snapshot.kind_of(name) {
                Some(_) => {
                    let message = format!("\"{name}\" is not a sequence");
                    SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                }
                None => {
                    let message = format!("sequence \"{name}\" does not exist");
                    SqlError::new(SqlState::UNDEFINED_TABLE, message)
                }
            })?;
            if let Some(owner) = sequence.owner.as_ref().filter(|it| it.is_identity) {
                let (table, column) = (&owner.table, &owner.column);
                let message = format!(
                    "cannot drop sequence {name} because column {column} of table {table} requires it"
                );
                return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS, message).with_hint(
                    format!("ALTER TABLE {table} ALTER {column} DROP IDENTITY drops it"),
                ));
            }
            self.remove_sequence(sequence, cascade, cancel)?;
        }
        Ok(done("DROP SEQUENCE"))
    }

    /// Drops a sequence, and with `cascade` the defaults that ask it, which are refused else.
    pub(crate) fn remove_sequence(
        &self,
        sequence: &Sequence,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let own = std::slice::from_ref(&sequence.name);
        self.release_relations("sequence", own, cascade, cancel)?;
        let asking = self.asking(&sequence.name)?;
        let of_table = |(table, places): &(Arc<Table>, Vec<usize>)| -> Vec<String> {
            let name = |it: &usize| &table.columns[*it].name;
            let described =
                |it| format!("default value for column {} of table {}", name(it), table.name);
            places.iter().map(described).collect()
        };
        let described: Vec<String> = asking.iter().flat_map(of_table).collect();
        if !cascade && !described.is_empty() {
            let dropped = format!("sequence {}", sequence.name);
            let each = |it: &String| format!("{it} depends on {dropped}");
            return Err(needed(&dropped, &described.iter().map(each).collect::<Vec<_>>()));
        }
        described.into_iter().for_each(|it| self.cascades_to(it));
        for (table, places) in asking {
            let mut rules = Rules::clone(table.rules());
            let rows = Arc::make_mut(&mut rules.rows);
            places.into_iter().for_each(|it| rows.defaults[it] = None);
            self.apply_rules(&table, rules, cancel)?;
        }
        self.catalog().drop_sequence(&sequence.name)?;
        self.note(|| Operation::drop_sequence(&sequence.name))
    }

    /// Drops the sequences that columns of a table own, which is gone already.
    pub(crate) fn drop_owned(
        &self,
        table: &str,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        for sequence in self.owned(table, None) {
            self.remove_sequence(&sequence, cascade, cancel)?;
        }
        Ok(())
    }

    /// The sequences that columns of a table own, or one column.
    pub(crate) fn owned(&self, table: &str, column: Option<&str>) -> Vec<Arc<Sequence>> {
        let is_own = |it: &SequenceOwner| {
            it.table == table && column.is_none_or(|column| it.column == column)
        };
        let snapshot = self.snapshot();
        let owned = snapshot.sequences().filter(|it| it.owner.as_ref().is_some_and(is_own));
        owned.cloned().collect()
    }

    /// Lets the sequences that columns of a table own begin anew.
    pub(crate) fn restart_owned(&self, table: &str) -> SqlResult<()> {
        let options = SequenceOptions { restart: Some(None), ..SequenceOptions::default() };
        self.owned(table, None).iter().try_for_each(|it| self.change_sequence(it, &options))
    }

    /// Makes the sequence of a column that is numbered by itself. Tells the default of the column.
    pub(crate) fn number_column(
        &self,
        table: &str,
        column: &str,
        data_type: DataType,
        numbering: &Numbering,
    ) -> SqlResult<String> {
        let (options, is_identity) = match numbering {
            Numbering::Serial => (SequenceOptions::default(), false),
            Numbering::Identity { options, .. } => (options.clone(), true),
        };
        if !data_type.is_integer() {
            return Err(no_number_type());
        }
        if options.data_type.is_some() || options.owner.is_some() {
            let message = "conflicting or redundant options";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        let snapshot = self.snapshot();
        let (schema, own) = names::split(table);
        let suggested = names::joined(&schema, &format!("{own}_{column}_seq"));
        let numbered =
            (1..).map(|it: u32| names::joined(&schema, &format!("{own}_{column}_seq{it}")));
        let mut free = std::iter::once(suggested.clone()).chain(numbered);
        let free = free.find(|it| snapshot.kind_of(it).is_none() && it != table);
        let name = options.name.clone().or(free).unwrap_or_default();
        let definition = defined(None, &SequenceOptions { data_type: Some(data_type), ..options })?;
        let (table, column) = (table.to_owned(), column.to_owned());
        let owner = SequenceOwner { table, column, is_identity };
        self.put_new_sequence(&name, definition, Some(owner))?;
        Ok(default_of(&name))
    }

    /// The sequence of the identity of a column.
    pub(crate) fn identity_sequence(&self, table: &str, column: &str) -> SqlResult<Arc<Sequence>> {
        let mut owned = self.owned(table, Some(column)).into_iter();
        let found = owned.find(|it| it.owner.as_ref().is_some_and(|it| it.is_identity));
        found.ok_or_else(|| SqlError::internal(format!("{table}.{column} has no sequence")))
    }

    /// Gives the sequence of an identity options.
    pub(crate) fn change_identity_sequence(
        &self,
        table: &str,
        column: &str,
        options: &SequenceOptions,
    ) -> SqlResult<()> {
        if options.data_type.is_some() || options.owner.is_some() || options.name.is_some() {
            let message = "syntax error: an option that no identity column has";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        self.change_sequence(&*self.identity_sequence(table, column)?, options)
    }

    /// Gives the sequence of an identity the type that its column has now.
    pub(crate) fn retype_identity_sequence(
        &self,
        table: &str,
        column: &str,
        data_type: DataType,
    ) -> SqlResult<()> {
        let options = SequenceOptions { data_type: Some(data_type), ..SequenceOptions::default() };
        self.change_sequence(&*self.identity_sequence(table, column)?, &options)
    }

    /// The defaults of the columns of a new table, with the sequences of those that are numbered by themselves.
    pub(crate) fn defaults_of(
        &self,
        table: &str,
        columns: &[ColumnDefinition],
    ) -> SqlResult<Vec<Option<Arc<str>>>> {
        let default = |it: &ColumnDefinition| match &it.numbering {
            None => Ok(it.default.as_deref().map(Arc::from)),
            Some(numbering) => {
                let text = self.number_column(table, &it.name, it.data_type, numbering)?;
                Ok(Some(text.into()))
            }
        };
        columns.iter().map(default).collect()
    }
}

/// A column that cannot be an identity.
pub(crate) fn no_number_type() -> SqlError {
    invalid("identity column type must be smallint, integer, or bigint".to_owned())
}

fn default_of(sequence: &str) -> String {
    format!("nextval('{}')", as_kept(sequence).replace('\'', "''"))
}

/// What options come to, on what was before.
fn defined(
    old: Option<&SequenceDefinition>,
    options: &SequenceOptions,
) -> SqlResult<SequenceDefinition> {
    let data_type = options.data_type.or(old.map(|it| it.data_type)).unwrap_or(DataType::BigInt);
    if !data_type.is_integer() {
        return Err(invalid("sequence type must be smallint, integer, or bigint".to_owned()));
    }
    let increment = options.increment.or(old.map(|it| it.increment)).unwrap_or(1);
    if increment == 0 {
        return Err(invalid("INCREMENT must not be zero".to_owned()));
    }
    let (least, greatest) = SequenceDefinition::bounds(data_type, increment);
    let ends = |it| (SequenceDefinition::bounds(it, -1).0, SequenceDefinition::bounds(it, 1).1);
    let (of_type_min, of_type_max) = ends(data_type);
    // Another type takes bounds along that were the ends of the old one.
    let kept = old.map(|it| {
        let own = ends(it.data_type);
        let follows = options.data_type.is_some();
        let min = if follows && it.min == own.0 { of_type_min } else { it.min };
        (min, if follows && it.max == own.1 { of_type_max } else { it.max })
    });
    let bound = |said: Option<Option<i64>>, kept: Option<i64>, own: i64| match said {
        Some(said) => said.unwrap_or(own),
        None => kept.unwrap_or(own),
    };
    let min = bound(options.min, kept.map(|it| it.0), least);
    let max = bound(options.max, kept.map(|it| it.1), greatest);
    for (what, value) in [("MAXVALUE", max), ("MINVALUE", min)] {
        if !(of_type_min..=of_type_max).contains(&value) {
            let type_name = data_type.to_string().to_lowercase();
            return Err(invalid(format!(
                "{what} ({value}) is out of range for sequence data type {type_name}"
            )));
        }
    }
    if min >= max {
        return Err(invalid(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})")));
    }
    let first = if increment > 0 { min } else { max };
    let start = options.start.or(old.map(|it| it.start)).unwrap_or(first);
    let cache = options.cache.or(old.map(|it| it.cache)).unwrap_or(1);
    if cache <= 0 {
        return Err(invalid(format!("CACHE ({cache}) must be greater than zero")));
    }
    let cycles = options.cycles.or(old.map(|it| it.cycles)).unwrap_or(false);
    let definition = SequenceDefinition { data_type, start, increment, min, max, cache, cycles };
    check_within(&definition, "START", start)?;
    Ok(definition)
}

fn check_within(definition: &SequenceDefinition, what: &str, value: i64) -> SqlResult<()> {
    let SequenceDefinition { min, max, .. } = definition;
    if value < *min {
        let message = format!("{what} value ({value}) cannot be less than MINVALUE ({min})");
        return Err(invalid(message));
    }
    if value > *max {
        let message = format!("{what} value ({value}) cannot be greater than MAXVALUE ({max})");
        return Err(invalid(message));
    }
    Ok(())
}
