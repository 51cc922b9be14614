//! The sequences that a statement sees, and what its session was given of them.
//!
//! Key decision: numbers are no part of a transaction. The log takes a few numbers more for given out than were
//! ([`AHEAD`]), so that most calls write nothing, and no number comes again after a crash. Who was given a number is told so when
//! the record that covers it is durable: at the end of the statement, or of its block
//! (docs/design/09-durability.md, "sequences").

use binder::sequence_names::relation_in;
use functions::{Sequences, SessionCalls};
use journal::{Lsn, Record};
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;
use storage::{CatalogSnapshot, Counted, Logged, Sequence};
use types::{
    ObjectKind, Privileges, RoleId, SequencePosition, SqlError, SqlResult, SqlState, names,
};

use crate::Session;
use crate::durability::{Operation, journal_error};
use crate::given_numbers::GivenNumbers;
use crate::own_database::OwnDatabase;
use crate::resolution::temporary_schema_of;
use crate::roles::Authority;
use crate::search_path::SearchPath;
use crate::session_calls::OwnCalls;

/// How many numbers the log takes for given out before they are, as PostgreSQL does.
const AHEAD: u64 = 32;

/// The sequences of a statement.
struct SeenSequences {
    database: OwnDatabase,
    snapshot: Arc<CatalogSnapshot>,
    numbers: Arc<GivenNumbers>,
    is_read_only: bool,
    /// What who runs the statement may; `None` of the superuser that is always there.
    authority: Option<Authority>,
    /// Where names are looked for that say no schema.
    path: SearchPath,
    /// The number of the session, whose those in `pg_temp` are.
    session: u64,
    calls: OwnCalls,
}

impl std::fmt::Debug for SeenSequences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.snapshot.sequences().map(|it| &it.name)).finish()
    }
}

impl Session {
    /// The sequences that the statement which runs sees.
    pub(crate) fn seen_sequences(&self) -> Arc<dyn Sequences> {
        let snapshot = self.snapshot();
        Arc::new(SeenSequences {
            database: self.database.clone(),
            path: self.search_path(&snapshot),
            session: self.number,
            snapshot,
            numbers: self.numbers.clone(),
            is_read_only: self.modes().read_only,
            authority: (self.role() != RoleId::BOOTSTRAP).then(|| self.authority()),
            calls: self.calls(),
        })
    }

    /// Returns when the numbers that the session was given can never be given out again.
    pub(crate) fn wait_for_numbers(&self) -> SqlResult<()> {
        match self.numbers.record.swap(0, Ordering::Relaxed) {
            record if record > 0 && self.settings.synchronous_commit => {
                self.database.wait_for(Lsn(record))
            }
            _ => Ok(()),
        }
    }
}

impl SeenSequences {
    fn find(&self, text: &str) -> SqlResult<&Arc<Sequence>> {
        let (schema, name) = relation_in(text)?;
        let candidates = match schema.as_deref() {
            Some("pg_temp") => vec![names::joined(&temporary_schema_of(self.session), &name)],
            Some(of_others)
                if of_others.starts_with(names::TEMPORARY)
                    && of_others != temporary_schema_of(self.session) =>
            {
                Vec::new()
            }
            Some(schema) => vec![names::joined(schema, &name)],
            None => self.path.schemas().iter().map(|it| names::joined(it, &name)).collect(),
        };
        let first = candidates.iter().find(|it| self.snapshot.kind_of(it).is_some());
        first.and_then(|it| self.snapshot.sequence(it)).ok_or_else(|| match first {
            Some(_) => {
                let message = format!("cannot open relation \"{name}\": it is no sequence");
                SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
            }
            None => {
                let message = format!("relation \"{text}\" does not exist");
                SqlError::new(SqlState::UNDEFINED_TABLE, message)
            }
        })
    }

    /// Errors: 42501 without one of some rights on a sequence.
    fn check_rights(&self, sequence: &Sequence, some: Privileges) -> SqlResult<()> {
        let Some(own) = &self.authority else { return Ok(()) };
        let of = (ObjectKind::Sequence, sequence.name.as_str());
        match own.held(of).has_any(some) {
            true => Ok(()),
            false => Err(own.denied(of)),
        }
    }

    /// Whether a number may be asked for: who may add rows to a table may have the numbers of its identity.
    fn check_next(&self, sequence: &Sequence) -> SqlResult<()> {
        let table = sequence.owner.as_ref().filter(|it| it.is_identity).map(|it| &*it.table);
        let adds =
            self.authority.as_ref().zip(table).is_some_and(|(own, table)| {
                own.may((ObjectKind::Relation, table), Privileges::INSERT)
            });
        match adds {
            true => Ok(()),
            false => self.check_rights(sequence, Privileges::USAGE | Privileges::UPDATE),
        }
    }

    fn check_writable(&self, function: &str) -> SqlResult<()> {
        if self.is_read_only {
            let message = format!("cannot execute {function}() in a read-only transaction");
            return Err(SqlError::new(SqlState("25006"), message));
        }
        Ok(())
    }

    /// Notes that so many numbers were taken, in the log if it does not take them for given out already.
    fn log(&self, sequence: &Sequence, counted: &mut Counted, taken: u64) -> SqlResult<()> {
        let position = counted.position;
        let (Some(logged), Some(durability)) =
            (&mut counted.logged, self.database.durability.get())
        else {
            return Ok(());
        };
        if taken <= logged.ahead {
            logged.ahead -= taken;
        } else {
            self.database.check_writable()?;
            let (mut ahead, mut last) = (0, position);
            while ahead < AHEAD
                && let Some(next) = sequence.definition.after(last)
            {
                (ahead, last) = (ahead + 1, next);
            }
            let mut record = Record::default();
            Operation::count(sequence.counter.id, last).write(&mut record)?;
            let lsn = durability.journal.append(record).map_err(|it| journal_error(&it))?;
            *logged = Logged { ahead, record: lsn.0 };
        }
        self.numbers.record.fetch_max(logged.record, Ordering::Relaxed);
        Ok(())
    }
}

impl Sequences for SeenSequences {
    fn session(&self) -> &dyn SessionCalls {
        &self.calls
    }

    fn next(&self, name: &str, count: usize, into: &mut Vec<i64>) -> SqlResult<()> {
        let sequence = self.find(name)?;
        self.check_next(sequence)?;
        self.check_writable("nextval")?;
        let mut counted = sequence.counter.lock();
        let (mut taken, mut ends) = (0, false);
        while taken < count as u64 && !ends {
            match sequence.definition.after(counted.position) {
                Some(next) => {
                    counted.position = next;
                    into.push(next.number);
                    taken += 1;
                }
                None => ends = true,
            }
        }
        if taken > 0 {
            self.log(sequence, &mut counted, taken)?;
        }
        drop(counted);
        if ends {
            let definition = &sequence.definition;
            let (end, bound) = match definition.increment > 0 {
                true => ("maximum", definition.max),
                false => ("minimum", definition.min),
            };
            let message =
                format!("nextval: reached {end} value of sequence \"{}\" ({bound})", sequence.name);
            return Err(SqlError::new(SqlState("2200H"), message));
        }
        if let Some(last) = into.last() {
            let mut given = self.numbers.given.lock();
            given.last.insert(sequence.id, *last);
            given.newest = Some(sequence.id);
        }
        Ok(())
    }

    fn current(&self, name: &str) -> SqlResult<i64> {
        let sequence = self.find(name)?;
        self.check_rights(sequence, Privileges::USAGE | Privileges::SELECT)?;
        self.numbers.given.lock().last.get(&sequence.id).copied().ok_or_else(|| {
            let message = format!(
                "currval of sequence \"{}\" is not yet defined in this session",
                sequence.name
            );
            SqlError::new(SqlState::NOT_IN_STATE, message)
        })
    }

    fn last(&self) -> SqlResult<i64> {
        let given = self.numbers.given.lock();
        let newest = given.newest;
        let newest = newest.and_then(|id| self.snapshot.sequences().find(|it| it.id == id));
        if let Some(sequence) = newest {
            self.check_rights(sequence, Privileges::USAGE | Privileges::SELECT)?;
        }
        newest.and_then(|it| given.last.get(&it.id).copied()).ok_or_else(|| {
            let message = "lastval is not yet defined in this session";
            SqlError::new(SqlState::NOT_IN_STATE, message)
        })
    }

    fn set(&self, name: &str, number: i64, is_called: bool) -> SqlResult<()> {
        let sequence = self.find(name)?;
        self.check_rights(sequence, Privileges::UPDATE)?;
        self.check_writable("setval")?;
        let definition = &sequence.definition;
        if !(definition.min..=definition.max).contains(&number) {
            let message = format!(
                "setval: value {number} is out of bounds for sequence \"{}\" ({}..{})",
                sequence.name, definition.min, definition.max
            );
            return Err(SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        let mut counted = sequence.counter.lock();
        let before = *counted;
        counted.position = SequencePosition { number, is_called };
        if let Some(logged) = &mut counted.logged {
            logged.ahead = 0;
        }
        if let Err(error) = self.log(sequence, &mut counted, 1) {
            *counted = before;
            return Err(error);
        }
        drop(counted);
        if is_called {
            self.numbers.given.lock().last.insert(sequence.id, number);
        }
        Ok(())
    }
}
