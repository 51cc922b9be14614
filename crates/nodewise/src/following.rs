//! Following the statements of a session: what they do is noted, and told when they have ended.

use stdx::Nanos;
use stdx::sync::Arc;
use types::{SqlResult, SqlState};

use crate::Session;
use crate::ended_statement::Follow;
use crate::followed::{Followed, Outcome};
use crate::running::kept_text;
use crate::statements::shown_text;

impl Session {
    /// Follows its statements from now on.
    pub fn follow_statements(&mut self, follow: Follow) {
        self.follow = Some(follow);
    }

    /// A statement of a text begins: what is noted of it, if it is followed.
    pub(crate) fn begin_followed(&self, text: &str) -> Option<Arc<Followed>> {
        let told = self.follow.as_ref()?(text);
        let parsed = self.parsed.lock().take();
        let told = told?;
        let now = self.database.machine.now();
        let followed = Followed::new(told, parsed.map_or(now, |it| it.0));
        if let Some((began, ended)) = parsed {
            followed.note("parse", began, ended);
        }
        Some(Arc::new(followed))
    }

    /// What is noted of the statement that runs.
    pub(crate) fn followed(&self) -> Option<&Arc<Followed>> {
        self.follow.as_ref()?;
        let of_statement = self.under_way.as_ref().map(|it| it.record.work.followed.as_ref());
        of_statement.unwrap_or(self.beside.as_ref())
    }

    /// Does something that is noted where the statement is followed.
    pub(crate) fn noted<T>(&self, name: &str, run: impl FnOnce() -> T) -> T {
        let Some(followed) = self.followed() else { return run() };
        let began = self.database.machine.now();
        let done = run();
        followed.note(name, began, self.database.machine.now());
        done
    }

    /// Follows what is no statement under way: what ends transactions, prepares, or moves cursors.
    pub(crate) fn follow_beside<T>(
        &mut self,
        text: &str,
        kind: &'static str,
        run: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        // Within a statement it is a part of that.
        if self.follow.is_none() || self.under_way.is_some() || self.beside.is_some() {
            return run(self);
        }
        let Some(followed) = self.begin_followed(text) else { return run(self) };
        self.beside = Some(followed.clone());
        let ended = run(self);
        self.beside = None;
        let error = ended.as_ref().err().map(|it| it.state);
        self.end_beside(&followed, &kept_text(text), kind, error);
        ended
    }

    /// A text could not be read: that is all there is of it.
    pub(crate) fn follow_unread(&mut self, text: &str, began: Nanos, state: SqlState) {
        if self.follow.is_none() || self.under_way.is_some() || self.beside.is_some() {
            return;
        }
        *self.parsed.lock() = Some((began, self.database.machine.now()));
        if let Some(followed) = self.begin_followed(text) {
            self.end_beside(&followed, &kept_text(text), "other", Some(state));
        }
    }

    fn end_beside(
        &self,
        followed: &Followed,
        text: &str,
        kind: &'static str,
        error: Option<SqlState>,
    ) {
        // Nobody knows what is meant by a text that cannot be read.
        let text = shown_text(text, error.is_some());
        let outcome = Outcome { text, kind, worked: None, rows: None, error };
        self.end_followed(followed, outcome);
    }

    /// A statement that is followed has ended.
    pub(crate) fn end_followed(&self, followed: &Followed, outcome: Outcome) {
        followed.end(&self.client.database, self.database.machine.now(), outcome);
    }
}

/// What a statement about transactions is, in a word.
pub(crate) fn kind_of_transaction(statement: &binder::TransactionStatement) -> &'static str {
    use binder::TransactionStatement as Statement;
    match statement {
        Statement::Begin { .. } => "begin",
        Statement::Commit { .. } => "commit",
        Statement::Rollback { .. } | Statement::RollbackTo { .. } => "rollback",
        Statement::Savepoint { .. } => "savepoint",
        Statement::Release { .. } => "release",
        _ => "set",
    }
}
