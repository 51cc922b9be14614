//! A statement that may go on over several calls: its rows are fetched, or its data come, bit by bit.
//!
//! While none of these calls runs it holds no place among those that run, so that who is slow to take its rows is in nobody's way.

use stdx::Nanos;
use stdx::sync::atomic::Ordering;
use types::SqlResult;

use crate::followed::Outcome;
use crate::opened::OpenStatement;
use crate::statement_counts::Kind;
use crate::statements::shown_text;
use crate::{CancelToken, Session};

impl Session {
    /// What comes after a statement: its place is given back, what it has done is committed or dropped, and it is counted.
    pub(crate) fn end_open<T>(
        &mut self,
        statement: OpenStatement,
        ended: SqlResult<T>,
    ) -> SqlResult<T> {
        let began = self.database.machine.now();
        let record = statement.under_way.record.clone();
        drop(statement);
        let ended = self.end_statement(ended);
        let work = &record.work;
        let worked = Nanos(work.nanos.load(Ordering::Relaxed));
        let took = worked + (self.database.machine.now() - began);
        let kind = work.kind.get().copied().unwrap_or_else(|| Kind::of(&record.text));
        let rows = if ended.is_ok() { work.rows.load(Ordering::Relaxed) } else { 0 };
        let statements = &self.database.statements;
        statements.counts.add(kind, took, rows, ended.is_err());
        if ended.is_ok() {
            let text = (&*record.text, work.normalized.get());
            self.texts.add((&statements.texts, self.number), text, took, rows);
        }
        let error = ended.as_ref().err().map(|it| it.state);
        if let Some(slow) = statements.slow.get().filter(|it| took >= it.from) {
            (slow.tell)(&record.slow(took, rows, error));
        }
        if let Some(followed) = &work.followed {
            if kind != Kind::SELECT && self.block.is_none() {
                followed.note("commit", began, self.database.machine.now());
            }
            let outcome = Outcome {
                text: shown_text(&record.text, false),
                kind: kind.name(),
                worked: Some(took),
                rows: Some(rows),
                error,
            };
            self.end_followed(followed, outcome);
        }
        ended
    }

    /// Begins a statement.
    pub(crate) fn open_statement(&mut self, text: &str) -> SqlResult<OpenStatement> {
        self.begin_statement()?;
        let cancel = CancelToken::new();
        let under_way = self.begin(text, &cancel);
        Ok(OpenStatement { under_way, cancel, levels: self.levels, paused: false })
    }

    /// Does some of a statement.
    pub(crate) fn within<T>(
        &mut self,
        statement: &OpenStatement,
        run: impl FnOnce(&mut Self, CancelToken) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let cancel = statement.cancel.clone();
        *self.running.lock() = cancel.clone();
        self.under_way = Some(statement.under_way.clone());
        let (workspace, database) = (self.workspace(), self.database.clone());
        let began = database.machine.now();
        let ended = self.with_levels(statement.levels, |session| {
            database.caught(|| {
                let _entered = workspace.enter(None);
                let done = run(session, cancel.clone())?;
                session.do_asked(&cancel)?;
                Ok(done)
            })
        });
        if ended.is_err() {
            self.forget_asked();
        }
        self.under_way = None;
        statement.under_way.leave();
        statement.worked(self.database.machine.now() - began);
        // Who ends what a session runs ends nothing of what waits.
        *self.running.lock() = CancelToken::new();
        if stdx::memory::is_short() {
            // What the statement had is free again.
            memory::take_reserve();
        }
        ended
    }

    /// From now on its session does nothing for a statement.
    pub(crate) fn pause(&self, statement: &mut OpenStatement) {
        if !std::mem::replace(&mut statement.paused, true) {
            self.leave();
        }
    }

    /// From now on its session does something for a statement again. Errors where its transaction has ended meanwhile.
    pub(crate) fn resume(&mut self, statement: &mut OpenStatement) -> SqlResult<()> {
        if std::mem::take(&mut statement.paused) {
            self.enter()?;
            self.block.as_ref().map_or(Ok(()), |it| it.check())?;
        }
        Ok(())
    }
}
