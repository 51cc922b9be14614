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
use types::{LockMode, LockModes, SqlError, SqlState, TableId};

/// What is locked: a row by its id, a hash of a key of a rule, or all of a table.
pub(crate) type Thing = (TableId, Locked, u64);

/// A lock that is wanted.
pub(crate) type Lock = (Thing, LockMode);

/// What kind of thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Locked {
    /// All of it; the number is zero.
    Table,
    /// Of the rule with this number.
    Key(u32),
    Row,
}

/// All locks of a database.
#[derive(Default)]
pub(crate) struct Locks(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    last: u64,
    held: HashMap<Thing, Vec<Held>>,
    owners: BTreeMap<u64, Holder>,
    /// Who writes alone.
    alone: Option<u64>,
    /// Who waits to write alone; nobody else begins to write before.
    wants_alone: Option<u64>,
}

/// How somebody holds a thing.
#[derive(Clone, Copy)]
struct Held {
    owner: u64,
    modes: LockModes,
}

struct Holder {
    /// The session of the transaction.
    session: u64,
    /// Made when somebody waits for it.
    end: Option<End>,
    things: Vec<Thing>,
    waits_for: Option<u64>,
}

/// A lock that is held, for people.
pub(crate) struct HeldLock {
    pub(crate) thing: Thing,
    pub(crate) session: u64,
    pub(crate) owner: u64,
    pub(crate) mode: LockMode,
}

/// A transaction that may hold locks, for people.
pub(crate) struct SeenOwner {
    pub(crate) owner: u64,
    pub(crate) session: u64,
    /// The transaction whose end it waits for.
    pub(crate) waits_for: Option<u64>,
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
    /// A transaction of a session, without locks.
    pub(crate) fn owner(self: &Arc<Self>, session: u64) -> Owner {
        let mut inside = self.0.lock();
        inside.last += 1;
        let number = inside.last;
        let holder = Holder { session, end: None, things: Vec::new(), waits_for: None };
        inside.owners.insert(number, holder);
        Owner { locks: self.clone(), number }
    }

    /// Takes all of some locks, or tells who is in the way.
    pub(crate) fn take(&self, owner: u64, wanted: &[Lock]) -> Result<(), Other> {
        let mut inside = self.0.lock();
        let has_locks = inside.owners.get(&owner).is_some_and(|it| !it.things.is_empty());
        let first = inside.alone.or(inside.wants_alone.filter(|_| !has_locks));
        let others = wanted.iter().filter_map(|it| inside.in_the_way(owner, it));
        if let Some(other) = first.into_iter().filter(|it| *it != owner).chain(others).next() {
            return Err(other);
        }
        let Inside { held, owners, .. } = &mut *inside;
        for (thing, mode) in wanted {
            let of_thing = held.entry(*thing).or_default();
            match of_thing.iter_mut().find(|it| it.owner == owner) {
                Some(known) => known.modes = known.modes.with(*mode),
                None => {
                    of_thing.push(Held { owner, modes: LockModes::default().with(*mode) });
                    owners.get_mut(&owner).into_iter().for_each(|it| it.things.push(*thing));
                }
            }
        }
        Ok(())
    }

    /// Whether nobody else is in the way of some locks.
    pub(crate) fn are_free(&self, owner: u64, wanted: &[Lock]) -> bool {
        let inside = self.0.lock();
        wanted.iter().all(|it| inside.in_the_way(owner, it).is_none())
    }

    /// The rows of a table that one cannot lock, because others have them.
    pub(crate) fn rows_of_others(&self, owner: u64, table: TableId, mode: LockMode) -> Vec<u64> {
        let inside = self.0.lock();
        let rows = inside.held.keys().filter(|it| it.0 == table && it.1 == Locked::Row);
        let mut rows: Vec<u64> = rows
            .filter(|it| inside.in_the_way(owner, &(**it, mode)).is_some())
            .map(|it| it.2)
            .collect();
        rows.sort_unstable();
        rows
    }

    /// All locks that are held, by what is locked.
    pub(crate) fn list(&self) -> Vec<HeldLock> {
        let inside = self.0.lock();
        let mut all = Vec::new();
        for (thing, held) in &inside.held {
            for Held { owner, modes } in held {
                let session = inside.owners.get(owner).map_or(0, |it| it.session);
                let (thing, owner) = (*thing, *owner);
                all.extend(modes.iter().map(|mode| HeldLock { thing, session, owner, mode }));
            }
        }
        all.sort_unstable_by_key(|it| (it.thing, it.owner, it.mode));
        all
    }

    /// All transactions that may hold locks, by their numbers.
    pub(crate) fn owners(&self) -> Vec<SeenOwner> {
        let inside = self.0.lock();
        let seen = |(owner, it): (&u64, &Holder)| {
            let (owner, session, waits_for) = (*owner, it.session, it.waits_for);
            SeenOwner { owner, session, waits_for }
        };
        inside.owners.iter().map(seen).collect()
    }

    /// Makes it the only one that writes, or tells who is in the way; then nobody else begins to write before it.
    pub(crate) fn take_alone(&self, owner: u64) -> Result<(), Other> {
        let mut inside = self.0.lock();
        if let Some(first) = inside.alone.or(inside.wants_alone).filter(|it| *it != owner) {
            return Err(first);
        }
        inside.wants_alone = Some(owner);
        let mut others = inside.owners.iter().filter(|it| *it.0 != owner);
        if let Some((other, _)) = others.find(|it| !it.1.things.is_empty()) {
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
        let of_other = inside.owners.get_mut(&other);
        let end = of_other.map(|it| it.end.get_or_insert_with(End::new).gate.clone());
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
            let end = holder.end.take();
            inside.wants_alone = None;
            drop(inside);
            drop(end);
        }
    }

    fn end(&self, owner: u64) {
        let mut inside = self.0.lock();
        let holder = inside.owners.remove(&owner);
        for thing in holder.iter().flat_map(|it| &it.things) {
            let Some(held) = inside.held.get_mut(thing) else { continue };
            held.retain(|it| it.owner != owner);
            if held.is_empty() {
                inside.held.remove(thing);
            }
        }
        inside.alone = inside.alone.filter(|it| *it != owner);
        inside.wants_alone = inside.wants_alone.filter(|it| *it != owner);
        // Who waits goes on, and asks for the lock of this.
        drop(inside);
        drop(holder);
    }
}

impl Inside {
    /// Who else holds a thing in a mode that excludes the one that is wanted.
    fn in_the_way(&self, owner: u64, (thing, mode): &Lock) -> Option<Other> {
        let held = self.held.get(thing)?;
        held.iter().find(|it| it.owner != owner && it.modes.exclude(*mode)).map(|it| it.owner)
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
        ((TABLE, Locked::Row, id), LockMode::ForUpdate)
    }

    #[test]
    fn several_share_a_row_and_whose_strength_excludes_waits() {
        let locks = Arc::new(Locks::default());
        let [a, b, c] = [1, 2, 3].map(|it| locks.owner(it));
        let shared = ((TABLE, Locked::Row, 7), LockMode::ForShare);
        let updated = ((TABLE, Locked::Row, 7), LockMode::ForNoKeyUpdate);
        let key = ((TABLE, Locked::Row, 7), LockMode::ForKeyShare);
        assert_eq!(locks.take(a.number(), &[shared]), Ok(()));
        assert_eq!(locks.take(b.number(), &[shared]), Ok(()));
        assert_eq!(locks.take(c.number(), &[updated]), Err(a.number()));
        assert_eq!(locks.take(a.number(), &[updated]), Err(b.number()), "b shares it");
        assert_eq!(locks.rows_of_others(c.number(), TABLE, LockMode::ForUpdate), [7]);
        assert!(locks.rows_of_others(c.number(), TABLE, LockMode::ForShare).is_empty());
        drop(b);
        assert_eq!(locks.take(a.number(), &[updated]), Ok(()));
        assert_eq!(locks.take(c.number(), &[key]), Ok(()));
        assert_eq!(locks.take(c.number(), &[shared]), Err(a.number()));
        let seen = locks.list();
        let seen: Vec<_> = seen.iter().map(|it| (it.session, it.mode)).collect();
        let of_a = [(1, LockMode::ForShare), (1, LockMode::ForNoKeyUpdate)];
        assert_eq!(seen, [of_a[0], of_a[1], (3, LockMode::ForKeyShare)]);
        drop((a, c));
        assert!(locks.list().is_empty() && locks.owners().is_empty());
    }

    #[test]
    fn locks_are_taken_all_or_none_and_go_with_their_owner() {
        let locks = Arc::new(Locks::default());
        let (a, b) = (locks.owner(1), locks.owner(2));
        assert_eq!(locks.take(a.number(), &[row(1), row(2)]), Ok(()));
        assert_eq!(locks.take(a.number(), &[row(1), row(3)]), Ok(()));
        assert_eq!(locks.take(b.number(), &[row(4), row(3)]), Err(a.number()));
        assert_eq!(locks.take(a.number(), &[row(4)]), Ok(()), "b has none");
        assert_eq!(
            locks.take(b.number(), &[((TABLE, Locked::Key(0), 1), LockMode::ForUpdate)]),
            Ok(())
        );
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
        let [a, b, c] = [1, 2, 3].map(|it| locks.owner(it));
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
        let c = locks.owner(3);
        assert_eq!(locks.take_alone(b.number()), Ok(()));
        assert_eq!(locks.take(b.number(), &[row(1)]), Ok(()));
        assert_eq!(locks.take(c.number(), &[row(9)]), Err(b.number()));
        drop(b);
        assert_eq!(locks.take_alone(c.number()), Ok(()));
    }
}
