//! What a session keeps of the transaction that it is in.

use std::collections::{BTreeSet, HashMap};

use binder::{Isolation, TransactionModes};
use journal::{Lsn, Record};
use scheduler::Admitted;
use stdx::sync::Arc;
use storage::{Catalog, CatalogSnapshot};
use types::{Deferral, SqlError, SqlResult, SqlState, TableId};

use crate::changed_keys::Keys;
use crate::durability::Load;
use crate::locks::Owner;
use crate::row_changes::{Mark, RowChanges};
use crate::settings::Settings;

/// A transaction that BEGIN opened.
pub(crate) struct Block {
    pub(crate) modes: Modes,
    /// When it was opened: microseconds from 1970-01-01, UTC.
    pub(crate) began: i64,
    /// Whether nobody said BEGIN: statements that were sent together are one transaction.
    pub(crate) is_implicit: bool,
    /// Whether a statement failed in it: only its end is waited for.
    pub(crate) failed: bool,
    /// Whether it has run a statement.
    pub(crate) has_begun: bool,
    pub(crate) savepoints: Vec<Savepoint>,
    /// As they were when it began: a rollback brings them back.
    pub(crate) settings: Settings,
    /// What they are when it has committed, where something was set for the transaction alone.
    pub(crate) lasting: Option<Box<Settings>>,
    /// What SET CONSTRAINTS has said.
    pub(crate) constraints: ConstraintModes,
}

/// What a transaction is like.
#[derive(Clone, Copy, Default)]
pub(crate) struct Modes {
    pub(crate) isolation: Isolation,
    pub(crate) read_only: bool,
    pub(crate) deferrable: bool,
}

pub(crate) struct Savepoint {
    pub(crate) name: String,
    pub(crate) written: WritingMark,
    pub(crate) settings: Settings,
    pub(crate) lasting: Option<Box<Settings>>,
    pub(crate) constraints: ConstraintModes,
    /// Whether the transaction was READ ONLY: SET TRANSACTION behind it says so until its end.
    pub(crate) read_only: bool,
    /// How much it had said to channels.
    pub(crate) said: usize,
}

/// What SET CONSTRAINTS has said in a transaction.
#[derive(Clone, Default)]
pub(crate) struct ConstraintModes {
    /// Of all that can be deferred.
    pub(crate) all: Option<bool>,
    /// By name, said later.
    pub(crate) named: HashMap<String, bool>,
}

impl ConstraintModes {
    /// Whether a constraint is asked at the end of the transaction only.
    pub(crate) fn defer(&self, name: &str, deferral: Deferral) -> bool {
        let said = self.named.get(name).copied().or(self.all);
        deferral != Deferral::None && said.unwrap_or(deferral == Deferral::Deferred)
    }
}

/// Keys of a foreign key that changed, and were not asked for.
#[derive(Clone)]
pub(crate) struct Deferred {
    /// The table that refers.
    pub(crate) child: TableId,
    /// The name of the foreign key.
    pub(crate) name: String,
    pub(crate) keys: Keys,
    /// Of keys of its parent, whether their rows have others and are not gone; `None` of keys of new rows that refer.
    pub(crate) lost: Option<bool>,
}

/// How far a transaction had come with what it writes.
#[derive(Clone, Default)]
pub(crate) struct WritingMark {
    /// The tables of the branch, if the transaction wrote alone.
    pub(crate) tables: Option<Arc<CatalogSnapshot>>,
    /// What it had done to rows before it wrote alone.
    pub(crate) changes: Mark,
    /// How long the record was.
    pub(crate) recorded: usize,
    /// How much foreign keys had put off.
    pub(crate) deferred: usize,
    /// How much it had locked of what it writes.
    pub(crate) locked: usize,
    /// And of other things.
    pub(crate) advisory: usize,
}

/// What a transaction that writes has beside its block.
pub(crate) struct Writing {
    /// The writers' turn, of one that writes alone: nobody else commits while it is there.
    pub(crate) turn: Option<Admitted>,
    /// Whether a statement changes several tables, and so does not leave that to its commit.
    pub(crate) has_steps: bool,
    /// Whether the statement that ends tells how many rows it changed, and nothing else.
    pub(crate) counts_only: bool,
    /// Its locks.
    pub(crate) owner: Owner,
    /// Whether all that it read has to be as it was when it commits.
    pub(crate) is_serializable: bool,
    /// The tables that the branch began with.
    pub(crate) began: Arc<CatalogSnapshot>,
    /// Names of tables that constraints of others were asked of: what was found must still be so in the end.
    pub(crate) asked: BTreeSet<String>,
    pub(crate) branch: Arc<Catalog>,
    /// What foreign keys are asked when it ends.
    pub(crate) deferred: Vec<Deferred>,
    /// What it did to rows while others wrote.
    pub(crate) changes: RowChanges,
    /// What it did alone, for the log, and before that the changes.
    pub(crate) record: Record,
    /// Files that the record names.
    pub(crate) loads: Vec<Load>,
    /// What must be durable before anybody is told what it began with.
    pub(crate) needs: Lsn,
}

impl Modes {
    pub(crate) fn with(self, said: TransactionModes) -> Self {
        Self {
            isolation: said.isolation.unwrap_or(self.isolation),
            read_only: said.read_only.unwrap_or(self.read_only),
            deferrable: said.deferrable.unwrap_or(self.deferrable),
        }
    }
}

impl Block {
    pub(crate) fn check(&self) -> SqlResult<()> {
        if self.failed {
            let message =
                "current transaction is aborted, commands ignored until end of transaction block";
            return Err(SqlError::new(SqlState("25P02"), message)
                .with_hint("ROLLBACK ends it, ROLLBACK TO goes back to a savepoint"));
        }
        Ok(())
    }
}
