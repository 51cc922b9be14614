//! Foreign keys, and keys ([`crate::broken_keys`]), that are asked at the end of a transaction, and SET CONSTRAINTS (docs/design/08-transactions.md, "foreign keys").
//!
//! Key decision: what is put off is the keys that changed, and not a question: it is made anew when it is asked, of the tables as they
//! are called then. What was asked once stays noted, as a savepoint may bring back what was wrong.

use std::collections::HashMap;

use storage::{BuildContext, NothingPutOff, Table, TableDesign, TableIndex};
use types::{Deferral, ForeignKey, SqlError, SqlResult, SqlState, names};

use crate::answer::done;
use crate::changed_keys::Keys;
use crate::foreign_keys::{question_of_lost, question_of_new};
use crate::notice::Notice;
use crate::parallel::LoadProgress;
use crate::row_changes::is_same;
use crate::transaction_state::{ConstraintModes, Deferred};
use crate::{Answer, CancelToken, Session};

impl Session {
    /// Whether a foreign key is asked at the end of the transaction only.
    pub(crate) fn is_deferred(&self, key: &ForeignKey) -> bool {
        let block = self.block.as_ref();
        block.is_some_and(|it| it.constraints.defer(&key.name, key.deferral))
    }

    /// Notes keys that changed.
    pub(crate) fn defer(&self, child: &Table, key: &ForeignKey, keys: Keys, lost: Option<bool>) {
        let deferred = Deferred { child: child.id, name: key.name.to_string(), keys, lost };
        if let Some(writing) = &mut *self.writing.lock() {
            writing.deferred.push(deferred);
        }
    }

    /// That no foreign key of a table, or to it, is yet to be asked.
    ///
    /// Errors: 55006.
    pub(crate) fn nothing_is_deferred(&self, table: &Table) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let is_of = |of: &Deferred| {
            let child = snapshot.by_id(of.child);
            let mut keys = child.iter().flat_map(|it| &it.rules().references);
            let key = keys.find(|it| *it.name == *of.name && self.is_deferred(it));
            key.is_some_and(|it| match of.lost {
                Some(_) => *it.parent == *table.name,
                None => of.child == table.id,
            })
        };
        if !self.writing.lock().iter().flat_map(|it| &it.deferred).any(is_of) {
            return Ok(());
        }
        let name = names::bare(&table.name);
        let message = format!("cannot TRUNCATE \"{name}\" because it has pending trigger events");
        Err(SqlError::new(SqlState("55006"), message))
    }

    /// Asks what was put off: all of it before a commit, else that which is not to be put off any more.
    pub(crate) fn check_deferred(&self, commits: bool, cancel: &CancelToken) -> SqlResult<()> {
        self.check_broken_keys(commits, cancel)?;
        let deferred = self.writing.lock().as_ref().map(|it| it.deferred.clone());
        let Some(deferred) = deferred.filter(|it| !it.is_empty()) else { return Ok(()) };
        self.refresh()?;
        let mut asked = Vec::new();
        for Deferred { child, name, keys, lost } in deferred {
            let snapshot = self.snapshot();
            let Some(table) = snapshot.by_id(child) else { continue };
            let key = table.rules().references.iter().find(|it| *it.name == *name);
            let Some(key) = key.filter(|it| commits || !self.is_deferred(it)) else { continue };
            asked.push(match lost {
                Some(is_update) => question_of_lost(table, key, keys, (is_update, false)),
                None => {
                    self.lock_parents(key, &keys, cancel)?;
                    question_of_new(table, key, keys, true)
                }
            });
        }
        self.ask_all(&asked, &[], cancel)
    }

    /// Asks of keys that were broken: of all before a commit, else of those that may not be any more.
    ///
    /// Errors: 23505.
    pub(crate) fn check_broken_keys(&self, commits: bool, cancel: &CancelToken) -> SqlResult<()> {
        if !self.broken_keys.is_any() {
            return Ok(());
        }
        let (newest, _) = self.database.newest();
        let tables = match self.writes_alone() {
            true => self.snapshot(),
            false => self.changes_on_newest()?,
        };
        let modes = self.block.as_ref().map(|it| &it.constraints);
        let is_asked = |it: &TableIndex| {
            commits || !modes.is_some_and(|modes| modes.defer(&it.name, it.deferral))
        };
        let (team, plain) = (self.load_team(cancel), TableDesign::default());
        let progress = LoadProgress::new(&*self.progress, "keys");
        let stop = || execution::is_ended(cancel);
        let context = self.build_context(&team, &progress, &stop, &plain);
        let context = BuildContext { broken: &NothingPutOff, ..context };
        for table in tables.each_table() {
            let has_any = table.rules().indexes.iter().any(|it| it.deferral != Deferral::None);
            if has_any && !is_same(newest.by_id(table.id), Some(table)) {
                self.cancelled_or(cancel, table.check_deferrable(is_asked, &context))?;
            }
        }
        Ok(())
    }

    /// SET CONSTRAINTS.
    pub(crate) fn set_constraints(
        &mut self,
        names: Option<&[String]>,
        deferred: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        if self.open_transaction().is_none() {
            let message = "SET CONSTRAINTS can only be used in transaction blocks";
            self.notice(Notice::warning("25P01", message));
            return Ok(done("SET CONSTRAINTS"));
        }
        names.unwrap_or_default().iter().try_for_each(|it| self.check_deferrable(it))?;
        if let Some(block) = &mut self.block {
            match names {
                None => {
                    let named = HashMap::new();
                    block.constraints = ConstraintModes { all: Some(deferred), named };
                }
                Some(names) => {
                    block.constraints.named.extend(names.iter().map(|it| (it.clone(), deferred)));
                }
            }
        }
        if !deferred {
            self.check_deferred(false, cancel)?;
        }
        Ok(done("SET CONSTRAINTS"))
    }

    /// Refuses a name that no constraint has, or only such as cannot be deferred.
    fn check_deferrable(&self, name: &str) -> SqlResult<()> {
        let mut is_known = false;
        for table in self.snapshot().tables() {
            let rules = table.rules();
            for key in rules.references.iter().filter(|it| *it.name == *name) {
                if key.deferral != Deferral::None {
                    return Ok(());
                }
                is_known = true;
            }
            for key in
                rules.indexes.iter().filter(|it| it.kind.is_constraint() && *it.name == *name)
            {
                if key.deferral != Deferral::None {
                    return Ok(());
                }
                is_known = true;
            }
            is_known |= rules.rows.checks.iter().any(|it| *it.name == *name);
        }
        match is_known {
            true => {
                let message = format!("constraint \"{name}\" is not deferrable");
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
            }
            false => {
                let message = format!("constraint \"{name}\" does not exist");
                Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
            }
        }
    }
}
