//! `pg_locks`: of tables, advisory ones, and of transactions whose end others wait for. Locks of rows are in none of its rows, as in
//! PostgreSQL; the view `nodewise.locks` has all.

use std::collections::BTreeSet;

use ::types::{SqlResult, TableId};
use arrow_array::RecordBatch;

use super::oids;
use super::shapes;
use super::shared::{none, number};
use crate::Session;
use crate::locks::{HolderKind, Locked, Thing};
use crate::views::{Cell, ViewBuilder};

/// What a row is about.
enum What {
    Relation(TableId),
    Transaction(u64),
    Advisory { is_pair: bool, number: u64 },
}

pub(super) fn locks(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_LOCKS);
    let locks = &session.database.locks;
    let mut shared = BTreeSet::new();
    for held in locks.list() {
        // What the session and its transaction have of the same number is one lock.
        let mut is_new = || shared.insert((held.session, held.thing, held.mode));
        if let Some(what) = what(held.thing).filter(|_| is_new()) {
            row(&mut view, &what, (held.session, held.owner), &held.mode.catalog_name(), true);
        }
    }
    for owner in locks.owners() {
        let of = (owner.session, owner.owner);
        if owner.kind == HolderKind::Writer {
            row(&mut view, &What::Transaction(owner.owner), of, "ExclusiveLock", true);
        }
        let wanted = owner.wanted.and_then(|it| Some((what(it.0)?, it.1)));
        match (wanted, owner.waits_for) {
            (Some((what, mode)), _) => row(&mut view, &what, of, &mode.catalog_name(), false),
            (None, Some(other)) => {
                row(&mut view, &What::Transaction(other), of, "ShareLock", false);
            }
            (None, None) => {}
        }
    }
    view.finish()
}

/// Nothing of what PostgreSQL does not show.
fn what((table, locked, number): Thing) -> Option<What> {
    match locked {
        Locked::Table => Some(What::Relation(table)),
        Locked::Advisory(is_pair) => Some(What::Advisory { is_pair, number }),
        Locked::Key(_) | Locked::Row => None,
    }
}

fn row(view: &mut ViewBuilder, what: &What, of: (u64, u64), mode: &str, granted: bool) {
    let nothing = || Cell::Integer(None);
    let (kind, relation, transaction, advisory) = match what {
        What::Relation(id) => ("relation", Some(oids::table(*id)), None, None),
        What::Transaction(number) => ("transactionid", None, Some(*number), None),
        // As PostgreSQL cuts them: halves of one number, or two numbers.
        What::Advisory { is_pair, number } => {
            let halves = (number >> 32, number & u64::from(u32::MAX));
            ("advisory", None, None, Some((halves, if *is_pair { 2_u64 } else { 1 })))
        }
    };
    view.row([
        kind.into(),
        transaction.is_none().then_some(oids::DATABASE).into(),
        relation.into(),
        nothing(),
        nothing(),
        none(),
        transaction.into(),
        advisory.map(|it| it.0.0).into(),
        advisory.map(|it| it.0.1).into(),
        advisory.map(|it| it.1).into(),
        format!("{}/{}", of.0, of.1).into(),
        number(of.0 as i64),
        mode.into(),
        granted.into(),
        false.into(),
        none(),
    ]);
}
