//! A statement that may go on over several calls: its rows are fetched, or its data come, bit by bit.
//!
//! While none of these calls runs it holds no place among those that run, so that who is slow to take its rows is in nobody's way.

use stdx::sync::Arc;
use types::SqlResult;

use crate::under_way::UnderWay;
use crate::{CancelToken, Session};

/// A statement that has begun and has not ended.
pub(crate) struct OpenStatement {
    under_way: Arc<UnderWay>,
    cancel: CancelToken,
    /// How deep its trees can be.
    pub(crate) levels: usize,
    /// Whether its session does nothing for it, so that timeouts of idle sessions go on.
    paused: bool,
}

impl Session {
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
        let ended = self.with_levels(statement.levels, |session| {
            database.caught(|| {
                let _entered = workspace.enter(None);
                run(session, cancel)
            })
        });
        self.under_way = None;
        statement.under_way.leave();
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
