//! Locks of rows and keys: of two transactions that want to change the same row, or to give two rows the same key, the later
//! one waits for the end of the other (docs/design/08-transactions.md, "locks").
//!
//! Key decision: one waits for the end of a transaction, never for a lock. A statement takes all its locks or none, so that
//! who waits in its first statement is in nobody's way.
//!
//! - Invariant: who has changed a row holds a lock until it ends; who writes alone does so while nobody else holds one.

use std::collections::{BTreeMap, HashMap};

use scheduler::{Admission, Admitted};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlState, TableId};

/// What is locked: a row by its id, or a hash of a key of a rule, of a table.
pub(crate) type Lock = (TableId, Locked, u64);

/// What kind of thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Locked {
    Row,
    /// Of the rule with this number.
    Key(u32),
    /// By this transaction, that it changes the table.
    Table,
}

/// All locks of a database.
#[derive(Default)]
pub(crate) struct Locks(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    last: u64,
    held: HashMap<Lock, u64>,
    owners: BTreeMap<u64, Holder>,
    /// Who writes alone.
    alone: Option<u64>,
    /// Who waits to write alone; nobody else begins to write before.
    wants_alone: Option<u64>,
}

struct Holder {
    end: End,
    locks: Vec<Lock>,
    waits_for: Option<u64>,
}

/// The end of a transaction: through the gate goes who waits for it, once the place there is free.
struct End {
    gate: Arc<Admission>,
    _place: Option<Admitted>,
}

impl End {
    fn new() -> Self {
        let gate = Admission::new();
        gate.set_limit(Some(1));
        let place = gate.try_enter();
        Self { gate: Arc::new(gate), _place: place }
    }
}

/// A transaction that may hold locks; dropping it lets go of them.
pub(crate) struct Owner {
    locks: Arc<Locks>,
    number: u64,
}

/// A transaction that is in the way.
pub(crate) type Other = u64;

impl Locks {
    /// A transaction without locks.
    pub(crate) fn owner(self: &Arc<Self>) -> Owner {
        let mut inside = self.0.lock();
        inside.last += 1;
        let number = inside.last;
        let holder = Holder { end: End::new(), locks: Vec::new(), waits_for: None };
        inside.owners.insert(number, holder);
        Owner { locks: self.clone(), number }
    }

    /// Takes all of some locks, or tells who is in the way.
    pub(crate) fn take(&self, owner: u64, wanted: &[Lock]) -> Result<(), Other> {
        let mut inside = self.0.lock();
        let has_locks = inside.owners.get(&owner).is_some_and(|it| !it.locks.is_empty());
        let first = inside.alone.or(inside.wants_alone.filter(|_| !has_locks));
        let holders = wanted.iter().filter_map(|it| inside.held.get(it).copied());
        match first.into_iter().chain(holders).find(|it| *it != owner) {
            Some(other) => Err(other),
            None => {
                for lock in wanted {
                    if inside.held.insert(*lock, owner).is_none()
                        && let Some(holder) = inside.owners.get_mut(&owner)
                    {
                        holder.locks.push(*lock);
                    }
                }
                Ok(())
            }
        }
    }

    /// Makes it the only one that writes, or tells who is in the way; then nobody else begins to write before it.
    pub(crate) fn take_alone(&self, owner: u64) -> Result<(), Other> {
        let mut inside = self.0.lock();
        if let Some(first) = inside.alone.or(inside.wants_alone).filter(|it| *it != owner) {
            return Err(first);
        }
        inside.wants_alone = Some(owner);
        let mut others = inside.owners.iter().filter(|it| *it.0 != owner);
        if let Some((other, _)) = others.find(|it| !it.1.locks.is_empty()) {
            return Err(*other);
        }
        (inside.alone, inside.wants_alone) = (Some(owner), None);
        Ok(())
    }

    /// Notes that a transaction waits for another one, and tells through what; nothing where that one has ended.
    ///
    /// Errors: 40P01 if that one waits for this.
    pub(crate) fn wait(
        &self,
        owner: u64,
        other: Other,
    ) -> Result<Option<Arc<Admission>>, SqlError> {
        let mut inside = self.0.lock();
        let mut next = Some(other);
        while let Some(at) = next {
            if at == owner {
                return Err(SqlError::new(SqlState("40P01"), "deadlock detected").with_hint(
                    "Two transactions wait for one another; this one may succeed if it is tried again.",
                ));
            }
            next = inside.owners.get(&at).and_then(|it| it.waits_for);
        }
        let end = inside.owners.get(&other).map(|it| it.end.gate.clone());
        if let Some(holder) = inside.owners.get_mut(&owner) {
            holder.waits_for = Some(other);
        }
        Ok(end)
    }

    /// A transaction does not wait any more. One that has given up does not want to write alone either, and those who let it
    /// go first look again.
    pub(crate) fn stop_waiting(&self, owner: u64, gave_up: bool) {
        let mut inside = self.0.lock();
        let wanted = inside.wants_alone == Some(owner);
        let Some(holder) = inside.owners.get_mut(&owner) else { return };
        holder.waits_for = None;
        if gave_up && wanted {
            let end = std::mem::replace(&mut holder.end, End::new());
            inside.wants_alone = None;
            drop(inside);
            drop(end);
        }
    }

    fn end(&self, owner: u64) {
        let mut inside = self.0.lock();
        let holder = inside.owners.remove(&owner);
        holder.iter().flat_map(|it| &it.locks).for_each(|it| _ = inside.held.remove(it));
        inside.alone = inside.alone.filter(|it| *it != owner);
        inside.wants_alone = inside.wants_alone.filter(|it| *it != owner);
        // Who waits goes on, and asks for the lock of this.
        drop(inside);
        drop(holder);
    }
}

impl Owner {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.locks.end(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: TableId = TableId(1);

    fn row(id: u64) -> Lock {
        (TABLE, Locked::Row, id)
    }

    #[test]
    fn locks_are_taken_all_or_none_and_go_with_their_owner() {
        let locks = Arc::new(Locks::default());
        let (a, b) = (locks.owner(), locks.owner());
        assert_eq!(locks.take(a.number(), &[row(1), row(2)]), Ok(()));
        assert_eq!(locks.take(a.number(), &[row(1), row(3)]), Ok(()));
        assert_eq!(locks.take(b.number(), &[row(4), row(3)]), Err(a.number()));
        assert_eq!(locks.take(a.number(), &[row(4)]), Ok(()), "b has none");
        assert_eq!(locks.take(b.number(), &[(TABLE, Locked::Key(0), 1)]), Ok(()));
        assert!(locks.wait(b.number(), a.number()).unwrap().is_some());
        assert_eq!(locks.wait(a.number(), b.number()).err().unwrap().state.0, "40P01");
        locks.stop_waiting(b.number(), false);
        assert!(locks.wait(a.number(), b.number()).unwrap().is_some());
        let number = a.number();
        drop(a);
        assert!(locks.wait(b.number(), number).unwrap().is_none());
        assert_eq!(locks.take(b.number(), &[row(1), row(4)]), Ok(()));
        drop(b);
        assert!(locks.0.lock().held.is_empty() && locks.0.lock().owners.is_empty());
    }

    #[test]
    fn who_writes_alone_waits_for_those_who_write_and_lets_nobody_begin() {
        let locks = Arc::new(Locks::default());
        let [a, b, c] = [(); 3].map(|()| locks.owner());
        assert_eq!(locks.take(a.number(), &[row(1)]), Ok(()));
        assert_eq!(locks.take_alone(b.number()), Err(a.number()));
        assert_eq!(locks.take(c.number(), &[row(9)]), Err(b.number()));
        assert_eq!(locks.take_alone(c.number()), Err(b.number()));
        assert_eq!(locks.take(a.number(), &[row(2)]), Ok(()), "who has begun goes on");
        locks.stop_waiting(b.number(), true);
        assert_eq!(locks.take(c.number(), &[row(9)]), Ok(()), "nobody waits any more");
        assert_eq!(locks.take_alone(b.number()), Err(a.number()));
        drop(a);
        assert_eq!(locks.take_alone(b.number()), Err(c.number()));
        drop(c);
        let c = locks.owner();
        assert_eq!(locks.take_alone(b.number()), Ok(()));
        assert_eq!(locks.take(b.number(), &[row(1)]), Ok(()));
        assert_eq!(locks.take(c.number(), &[row(9)]), Err(b.number()));
        drop(b);
        assert_eq!(locks.take_alone(c.number()), Ok(()));
    }
}
