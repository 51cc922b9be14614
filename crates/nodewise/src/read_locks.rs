//! Tables that a transaction reads: LOCK TABLE in ACCESS EXCLUSIVE mode waits for those who do, and they for it
//! (docs/design/08-transactions.md, "locks").
//!
//! Key decision: nothing that is read needs a lock, as tables do not change. A statement outside of a block asks only
//! whether anybody has a table for itself alone; in a block it keeps others from that to the end of the transaction.

use binder::ParsedQuery;
use plan::Plan;
use types::{LockMode, SqlResult, Styles, TableId};

use crate::locks::{Lock, Locked};
use crate::query::Planned;
use crate::statement_catalog::StatementCatalog;
use crate::{CancelToken, Session};

impl Session {
    /// Plans a query on the tables that there are once nobody has one of them for itself alone.
    pub(crate) fn planned_to_read(
        &self,
        query: &ParsedQuery,
        cancel: &CancelToken,
        adjust: impl FnOnce(&mut Plan) -> SqlResult<()>,
    ) -> SqlResult<(StatementCatalog<'_>, Planned)> {
        self.planned_in_styles(query, self.settings.client.styles(), cancel, adjust)
    }

    /// [`Session::planned_to_read`] of a text whose constants are read in some styles.
    pub(crate) fn planned_in_styles(
        &self,
        query: &ParsedQuery,
        styles: Styles,
        cancel: &CancelToken,
        adjust: impl FnOnce(&mut Plan) -> SqlResult<()>,
    ) -> SqlResult<(StatementCatalog<'_>, Planned)> {
        loop {
            let catalog = StatementCatalog::new(self).reading(styles);
            let mut planned = self.planned(&catalog, query, cancel, |_| Ok(()))?;
            if !self.wait_to_read(&catalog.asked_tables(), cancel)? {
                adjust(&mut planned.plan)?;
                return Ok((catalog, planned));
            }
            drop(catalog);
            self.refresh()?;
        }
    }

    /// Waits until nobody has one of some tables for itself alone, and in a block sees to that up to its end. Whether it had to
    /// wait: then there may be newer tables.
    ///
    /// Errors: as of [`Session::wait_for_locks`].
    pub(crate) fn wait_to_read(&self, tables: &[TableId], cancel: &CancelToken) -> SqlResult<bool> {
        let locks = &self.database.locks;
        if tables.is_empty() || self.block.is_none() && !locks.has_exclusive() {
            return Ok(false);
        }
        let wanted = |it: &TableId| ((*it, Locked::Table, 0), LockMode::AccessShare);
        let wanted: Vec<Lock> = tables.iter().map(wanted).collect();
        let owner = self.session_locks.owner_of(true);
        if locks.take(owner, &wanted).is_ok() {
            return Ok(false);
        }
        self.wait_for((owner, wanted.first().copied()), cancel, |locks, owner| {
            locks.take(owner, &wanted)
        })?;
        Ok(true)
    }
}
