//! `pg_locks`: of tables, and of transactions whose end others wait for. Locks of rows are in none of its rows, as in PostgreSQL;
//! the view `nodewise.locks` has all.

use ::types::SqlResult;
use arrow_array::RecordBatch;

use super::oids;
use super::shared::{none, number};
use crate::Session;
use crate::locks::Locked;
use crate::views::{Cell, ViewBuilder};

const COLUMNS: [(&str, char); 16] = [
    ("locktype", 't'),
    ("database", 'i'),
    ("relation", 'i'),
    ("page", 'i'),
    ("tuple", 'i'),
    ("virtualxid", 't'),
    ("transactionid", 'i'),
    ("classid", 'i'),
    ("objid", 'i'),
    ("objsubid", 'i'),
    ("virtualtransaction", 't'),
    ("pid", 'i'),
    ("mode", 't'),
    ("granted", 'b'),
    ("fastpath", 'b'),
    ("waitstart", 't'),
];

pub(super) fn locks(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&COLUMNS);
    let nothing = || Cell::Integer(None);
    let mut row = |relation: Option<i64>,
                   transaction: Option<u64>,
                   of: (u64, u64),
                   mode: &str,
                   granted: bool| {
        let kind = if relation.is_some() { "relation" } else { "transactionid" };
        view.row([
            kind.into(),
            relation.map(|_| oids::DATABASE).into(),
            relation.into(),
            nothing(),
            nothing(),
            none(),
            transaction.into(),
            nothing(),
            nothing(),
            nothing(),
            format!("{}/{}", of.0, of.1).into(),
            number(of.0 as i64),
            mode.into(),
            granted.into(),
            false.into(),
            none(),
        ]);
    };
    for held in session.database.locks.list().iter().filter(|it| it.thing.1 == Locked::Table) {
        let of = (held.session, held.owner);
        row(Some(oids::table(held.thing.0)), None, of, &held.mode.catalog_name(), true);
    }
    for owner in session.database.locks.owners() {
        let of = (owner.session, owner.owner);
        row(None, Some(owner.owner), of, "ExclusiveLock", true);
        if let Some(other) = owner.waits_for {
            row(None, Some(other), of, "ShareLock", false);
        }
    }
    view.finish()
}
