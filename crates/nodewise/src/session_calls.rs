//! What functions do to the session of their statement, and to others: `set_config`, `pg_sleep`, `pg_notify`, `pg_cancel_backend`, advisory locks.
//!
//! Key decision: a call is made by a worker, which must neither wait nor change a session that others look at. It notes what is
//! asked, and the session does it when the workers have done their part.

use std::fmt;

use execution::cancelled;
use functions::{AdvisoryKey, AdvisoryLock, SessionCalls};
use stdx::Nanos;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;
use types::{LockMode, RoleId, SqlError, SqlResult, SqlState};

use crate::asked::{Asked, Inside};
use crate::channels::{Said, SaidInTransaction, check_notification};
use crate::notice::Notice;
use crate::own_database::OwnDatabase;
use crate::roles::Authority;
use crate::session::NOTICES_MAX;
use crate::session_locks::SessionLocks;
use crate::settings::Settings;
use crate::{CancelToken, Session};

/// How often a statement that sleeps looks whether it has been ended.
const LOOK: Nanos = Nanos(2_000_000);

/// The longest sleep, of a hundred years: more would be no number of nanoseconds.
const SLEEP_MAX: f64 = 3e9;

/// The session of a statement, as its calls ask it.
pub(crate) struct OwnCalls {
    asked: Arc<Asked>,
    said: SaidInTransaction,
    database: OwnDatabase,
    locks: Arc<SessionLocks>,
    /// Who runs the statement; `None` of the superuser that is always there.
    role: Option<RoleId>,
}

impl fmt::Debug for OwnCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnCalls").field(&self.asked).finish()
    }
}

impl Session {
    /// What calls of the statement that runs ask.
    pub(crate) fn calls(&self) -> OwnCalls {
        OwnCalls {
            asked: self.effects.clone(),
            said: self.channels.said(),
            database: self.database.clone(),
            locks: self.session_locks.clone(),
            role: Some(self.role()).filter(|it| *it != RoleId::BOOTSTRAP),
        }
    }

    /// Does what calls have asked, of a statement that has gone well so far.
    pub(crate) fn do_asked(&mut self, cancel: &CancelToken) -> SqlResult<()> {
        self.wait_for_advisory(cancel)?;
        if !self.effects.any.swap(false, Ordering::Acquire) {
            return Ok(());
        }
        let Inside { sleep, settings, warnings } = std::mem::take(&mut *self.effects.inside.lock());
        warnings.into_iter().for_each(|it| self.notice(Notice::warning("01000", it)));
        for (name, value, local) in settings {
            self.set_own(&name, value.as_deref(), local)?;
        }
        let machine = self.database.machine.clone();
        let until = machine.now() + sleep;
        loop {
            if cancel.is_cancelled() {
                return Err(cancelled(cancel));
            }
            match until.0.saturating_sub(machine.now().0) {
                0 => return Ok(()),
                left => machine.sleep(Nanos(left.min(LOOK.0))),
            }
        }
    }

    /// Forgets what calls have asked of a statement that has failed.
    pub(crate) fn forget_asked(&self) {
        self.forget_advisory();
        if self.effects.any.swap(false, Ordering::Acquire) {
            *self.effects.inside.lock() = Inside::default();
        }
    }
}

impl SessionCalls for OwnCalls {
    fn clock(&self) -> i64 {
        self.database.machine.wall_clock()
    }

    fn sleep(&self, seconds: f64) -> SqlResult<()> {
        // Nothing is shorter than no time; so is what is no number.
        let seconds = if seconds > 0.0 { seconds.min(SLEEP_MAX) } else { 0.0 };
        let span = Nanos((seconds * 1e9) as u64);
        self.asked.note(|it| it.sleep = Nanos(it.sleep.0.saturating_add(span.0)));
        Ok(())
    }

    fn set(&self, name: &str, value: Option<&str>, local: bool) -> SqlResult<String> {
        // What one session takes, all do.
        let mut trial = Settings::default();
        trial.set(name, value)?;
        let is_value = match value {
            Some(_) => trial.get(name)?,
            // What a client has called so is gone.
            None => trial.get(name).unwrap_or_default(),
        };
        self.asked.note(|it| {
            it.settings.push((name.to_owned(), value.map(str::to_owned), local));
        });
        Ok(is_value)
    }

    fn notify(&self, channel: &str, payload: &str) -> SqlResult<()> {
        check_notification(&self.database.channels, channel, payload)?;
        self.said.say(Said::Notify(channel.to_owned(), payload.to_owned()));
        Ok(())
    }

    fn end(&self, session: i64, whole: bool) -> SqlResult<bool> {
        let sessions = &self.database.sessions;
        let session = u64::try_from(session).unwrap_or(0);
        let Some(user) = sessions.user_of(session) else { return Ok(false) };
        if let Some(role) = self.role {
            let snapshot = self.database.catalog.snapshot();
            let own = Authority::of(snapshot.clone(), role);
            let is_super = Authority::of(snapshot, user).is_superuser();
            let may = match is_super {
                true => own.is_superuser(),
                false => own.has_role(user) || own.has_role(RoleId::SIGNAL_BACKEND),
            };
            if !may {
                let what = if whole { "terminate process" } else { "cancel query" };
                let message = format!("permission denied to {what}");
                return Err(SqlError::new(SqlState("42501"), message).with_hint(
                    "it takes the privileges of the role whose session it is, or of pg_signal_backend",
                ));
            }
        }
        Ok(sessions.end(session, whole))
    }

    fn lock(&self, key: AdvisoryKey, asked: AdvisoryLock) -> bool {
        self.locks.ask(key, asked)
    }

    fn unlock(&self, key: AdvisoryKey, shared: bool) -> bool {
        let had = self.locks.unlock(key, shared);
        if !had {
            let mode = if shared { LockMode::Share } else { LockMode::Exclusive };
            let warning = format!("you don't own a lock of type {}", mode.catalog_name());
            self.asked.note(|it| {
                if it.warnings.len() < NOTICES_MAX {
                    it.warnings.push(warning);
                }
            });
        }
        had
    }

    fn unlock_all(&self) {
        self.locks.unlock_all();
    }
}
