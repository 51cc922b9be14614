//! Locks of rows and keys: of two transactions that want to change the same row, or to give two rows the same key, the later
//! one waits for the end of the other (docs/design/08-transactions.md, "locks").
//!
//! Key decision: one waits for the end of who holds a lock, never for a lock. A statement takes all its locks or none, so that
//! who waits in its first statement is in nobody's way. Who lets go of some locks before its end wakes all who wait for it, and they
//! look again: from then on they wait for nobody, however late they come to it, and who has seen it in the way before does not begin
//! to wait for it. Who was woken first and has its locks takes over those who would wait for it now ([`Locks::hand_over`]), so that
//! they are not woken in vain.
//!
//! - Invariant: who has changed a row holds a lock until it ends; who writes alone does so while nobody else holds one.
//! - Invariant: what holders of one session have is never in each other's way.

mod hand_over;

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use scheduler::{Admission, Admitted};
use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Apart, Arc, Mutex};
use types::{LockMode, LockModes, SqlError, SqlState, TableId};

/// What is locked: a row by its id, a hash of a key of a rule, all of a table, or a number of a program's.
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
    /// A number that means what programs mean by it, of no table; whether it is one of two halves.
    Advisory(bool),
}

/// All locks of a database.
#[derive(Default)]
pub(crate) struct Locks {
    inside: Mutex<Inside>,
    /// How many tables somebody has for itself alone, in ACCESS EXCLUSIVE mode.
    exclusive: Apart<AtomicUsize>,
}

#[derive(Default)]
struct Inside {
    last: u64,
    held: Things,
    holders: BTreeMap<u64, Holder>,
    /// What sessions wait for.
    waits: BTreeMap<u64, Wait>,
    /// Where they do, until they do not wait any more.
    queued: BTreeMap<u64, Queued>,
    /// The lock that a session was refused last, if it was one.
    refused: BTreeMap<u64, Lock>,
    /// Who writes alone.
    alone: Option<u64>,
    /// Who waits to write alone; nobody else begins to write before.
    wants_alone: Option<u64>,
}

type Things = HashMap<Thing, Vec<Held>, BuildHasherDefault<ThingHasher>>;

/// Hashes what is locked at the cost of a few multiplications: it is done under the lock of all, and whoever may lock rows could as well
/// lock one of them.
#[derive(Default)]
struct ThingHasher(u64);

impl Hasher for ThingHasher {
    fn finish(&self) -> u64 {
        // The map goes by the lowest bits and by the highest.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|it| self.write_u64(u64::from(*it)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// How somebody holds a thing.
#[derive(Clone, Copy)]
struct Held {
    owner: u64,
    session: u64,
    modes: LockModes,
}

struct Holder {
    session: u64,
    kind: HolderKind,
    /// Made when somebody waits for it.
    end: Option<End>,
    /// How often it has let go of something.
    lets_go: u64,
    /// What it took, in order, and the modes in which it held that before.
    log: Vec<(Thing, LockModes)>,
}

/// Who holds locks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HolderKind {
    /// A transaction that writes, or locks what it may write.
    Writer,
    /// A transaction, without regard to whether it writes.
    Transaction,
    /// A session.
    Session,
}

/// What a session waits for.
#[derive(Clone, Copy)]
struct Wait {
    /// Who waits, of the session.
    owner: u64,
    /// Whose end it waits for.
    other: u64,
    wanted: Option<Lock>,
}

/// Where a session waits.
#[derive(Clone, Copy)]
struct Queued {
    /// Who waits, of the session, and for which lock, where it is one of people's.
    owner: u64,
    wanted: Option<Lock>,
    /// The address of the gate of an end.
    gate: usize,
}

/// A lock that is held, for people.
pub(crate) struct HeldLock {
    pub(crate) thing: Thing,
    pub(crate) session: u64,
    pub(crate) owner: u64,
    pub(crate) mode: LockMode,
}

/// Somebody who may hold locks, for people.
pub(crate) struct SeenOwner {
    pub(crate) owner: u64,
    pub(crate) session: u64,
    pub(crate) kind: HolderKind,
    /// Whose end it waits for.
    pub(crate) waits_for: Option<u64>,
    /// For which lock, where it is one of people's.
    pub(crate) wanted: Option<Lock>,
}

/// The end of a holder: through the gate goes who waits for it, once the place there is free.
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

/// Somebody who may hold locks; dropping it lets go of them.
pub(crate) struct Owner {
    locks: Arc<Locks>,
    number: u64,
}

/// Who is in the way, as it was seen: since it may have let go meanwhile, one asks anew before one waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Other {
    owner: u64,
    lets_go: u64,
}

impl Locks {
    /// Somebody of a session, without locks.
    pub(crate) fn owner(self: &Arc<Self>, session: u64, kind: HolderKind) -> Owner {
        let mut inside = self.inside.lock();
        inside.last += 1;
        let number = inside.last;
        let holder = Holder { session, kind, end: None, lets_go: 0, log: Vec::new() };
        inside.holders.insert(number, holder);
        Owner { locks: self.clone(), number }
    }

    /// Takes all of some locks, or tells who is in the way.
    pub(crate) fn take(&self, owner: u64, wanted: &[Lock]) -> Result<(), Other> {
        let mut inside = self.inside.lock();
        let Some(holder) = inside.holders.get(&owner) else { return Ok(()) };
        let session = holder.session;
        let waits_for_alone = holder.kind == HolderKind::Writer;
        let first = inside.alone.or(inside.wants_alone.filter(|_| holder.log.is_empty()));
        let first = first.filter(|it| *it != owner && waits_for_alone);
        if let Some(first) = first {
            inside.refused.remove(&session);
            return Err(inside.seen(first));
        }
        let refused = |it: &Lock| Some((inside.in_the_way(session, it)?, *it));
        if let Some((other, lock)) = wanted.iter().find_map(refused) {
            inside.refused.insert(session, lock);
            return Err(inside.seen(other));
        }
        let Inside { held, holders, .. } = &mut *inside;
        let Some(holder) = holders.get_mut(&owner) else { return Ok(()) };
        for (thing, mode) in wanted {
            let of_thing = held.entry(*thing).or_default();
            let known = of_thing.iter_mut().find(|it| it.owner == owner);
            let before = known.as_ref().map_or(LockModes::default(), |it| it.modes);
            let modes = before.with(*mode);
            match known {
                Some(known) => known.modes = modes,
                None => of_thing.push(Held { owner, session, modes }),
            }
            if modes != before {
                holder.log.push((*thing, before));
                if *mode == LockMode::AccessExclusive {
                    self.exclusive.fetch_add(1, Ordering::Release);
                }
            }
        }
        Ok(())
    }

    /// How much somebody has taken, to go back to ([`Locks::release_behind`]).
    pub(crate) fn mark(&self, owner: u64) -> usize {
        self.inside.lock().holders.get(&owner).map_or(0, |it| it.log.len())
    }

    /// Lets go of all that somebody has taken since a mark; those who wait for it look again.
    pub(crate) fn release_behind(&self, owner: u64, mark: usize) {
        let mut inside = self.inside.lock();
        let Inside { held, holders, .. } = &mut *inside;
        let Some(holder) = holders.get_mut(&owner).filter(|it| it.log.len() > mark) else { return };
        for (thing, before) in holder.log.drain(mark..).rev() {
            self.set_modes(held, owner, thing, before);
        }
        let end = inside.wake(owner);
        drop(inside);
        drop(end);
    }

    /// Lets go of a lock of a session; those who wait for it look again.
    pub(crate) fn release(&self, owner: u64, (thing, mode): Lock) {
        let mut inside = self.inside.lock();
        let Inside { held, holders, .. } = &mut *inside;
        let Some(holder) = holders.get_mut(&owner) else { return };
        let own = held.get(&thing).and_then(|it| it.iter().find(|it| it.owner == owner));
        let left = own.map_or(LockModes::default(), |it| it.modes.without(mode));
        self.set_modes(held, owner, thing, left);
        if left == LockModes::default() {
            holder.log.retain(|it| it.0 != thing);
        }
        let end = inside.wake(owner);
        drop(inside);
        drop(end);
    }

    /// Whether nobody else is in the way of some locks.
    pub(crate) fn are_free(&self, owner: u64, wanted: &[Lock]) -> bool {
        let inside = self.inside.lock();
        let session = inside.session_of(owner);
        wanted.iter().all(|it| inside.in_the_way(session, it).is_none())
    }

    /// The rows of a table that one cannot lock, because others have them.
    pub(crate) fn rows_of_others(&self, owner: u64, table: TableId, mode: LockMode) -> Vec<u64> {
        let inside = self.inside.lock();
        let session = inside.session_of(owner);
        let rows = inside.held.keys().filter(|it| it.0 == table && it.1 == Locked::Row);
        let mut rows: Vec<u64> = rows
            .filter(|it| inside.in_the_way(session, &(**it, mode)).is_some())
            .map(|it| it.2)
            .collect();
        rows.sort_unstable();
        rows
    }

    /// All locks that are held, by what is locked.
    pub(crate) fn list(&self) -> Vec<HeldLock> {
        let inside = self.inside.lock();
        let mut all = Vec::new();
        for (thing, held) in &inside.held {
            for Held { owner, session, modes } in held {
                let (thing, owner, session) = (*thing, *owner, *session);
                all.extend(modes.iter().map(|mode| HeldLock { thing, session, owner, mode }));
            }
        }
        all.sort_unstable_by_key(|it| (it.thing, it.owner, it.mode));
        all
    }

    /// All who may hold locks, by their numbers.
    pub(crate) fn owners(&self) -> Vec<SeenOwner> {
        let inside = self.inside.lock();
        let seen = |(owner, it): (&u64, &Holder)| {
            let wait = inside.waits.get(&it.session).filter(|it| it.owner == *owner);
            let (waits_for, wanted) = (wait.map(|it| it.other), wait.and_then(|it| it.wanted));
            let (owner, session, kind) = (*owner, it.session, it.kind);
            SeenOwner { owner, session, kind, waits_for, wanted }
        };
        inside.holders.iter().map(seen).collect()
    }

    /// Makes it the only one that writes, or tells who is in the way; then nobody else begins to write before it.
    pub(crate) fn take_alone(&self, owner: u64) -> Result<(), Other> {
        let mut inside = self.inside.lock();
        if let Some(first) = inside.alone.or(inside.wants_alone).filter(|it| *it != owner) {
            return Err(inside.seen(first));
        }
        inside.wants_alone = Some(owner);
        let mut others = inside.holders.iter().filter(|it| *it.0 != owner);
        let is_writer = |it: &Holder| it.kind == HolderKind::Writer && !it.log.is_empty();
        if let Some((other, _)) = others.find(|it| is_writer(it.1)) {
            return Err(inside.seen(*other));
        }
        (inside.alone, inside.wants_alone) = (Some(owner), None);
        Ok(())
    }

    /// Notes that somebody waits for another one, perhaps for a lock that people know, and tells through what; nothing where that one
    /// has ended, or let go of something, since it was seen in the way.
    ///
    /// Errors: 40P01 if the session of that one waits for this.
    pub(crate) fn wait(
        &self,
        owner: u64,
        other: Other,
        wanted: Option<Lock>,
    ) -> Result<Option<Arc<Admission>>, SqlError> {
        let mut inside = self.inside.lock();
        let session = inside.session_of(owner);
        if inside.holders.get(&other.owner).is_none_or(|it| it.lets_go != other.lets_go) {
            return Ok(None);
        }
        let mut next = Some(other.owner);
        while let Some(at) = next {
            let at = inside.session_of(at);
            if at == session {
                return Err(SqlError::new(SqlState("40P01"), "deadlock detected").with_hint(
                    "Two transactions wait for one another; this one may succeed if it is tried again.",
                ));
            }
            next = inside.waits.get(&at).map(|it| it.other);
        }
        let of_other = inside.holders.get_mut(&other.owner);
        let end = of_other.map(|it| it.end.get_or_insert_with(End::new).gate.clone());
        inside.waits.insert(session, Wait { owner, other: other.owner, wanted });
        if let Some(gate) = &end {
            inside.queued.insert(session, Queued { owner, wanted, gate: address_of(gate) });
        }
        Ok(end)
    }

    /// Somebody does not wait any more. One that has given up does not want to write alone either, and those who let it
    /// go first look again.
    pub(crate) fn stop_waiting(&self, owner: u64, gave_up: bool) {
        let mut inside = self.inside.lock();
        let session = inside.session_of(owner);
        inside.waits.remove(&session);
        inside.queued.remove(&session);
        inside.refused.remove(&session);
        if gave_up && inside.wants_alone == Some(owner) {
            inside.wants_alone = None;
            let end = inside.wake(owner);
            drop(inside);
            drop(end);
        }
    }

    fn end(&self, owner: u64) {
        let mut inside = self.inside.lock();
        let end = inside.wake(owner);
        let holder = inside.holders.remove(&owner);
        for (thing, _) in holder.iter().flat_map(|it| &it.log) {
            self.set_modes(&mut inside.held, owner, *thing, LockModes::default());
        }
        inside.alone = inside.alone.filter(|it| *it != owner);
        inside.wants_alone = inside.wants_alone.filter(|it| *it != owner);
        // Who waits goes on, and asks for the lock of this; what is given back needs none.
        drop(inside);
        drop((end, holder));
    }

    /// Whether somebody has a table for itself alone.
    pub(crate) fn has_exclusive(&self) -> bool {
        self.exclusive.load(Ordering::Acquire) > 0
    }

    /// From now on somebody holds a thing in these modes, if any.
    fn set_modes(&self, held: &mut Things, owner: u64, thing: Thing, modes: LockModes) {
        let Some(of_thing) = held.get_mut(&thing) else { return };
        let Some(place) = of_thing.iter().position(|it| it.owner == owner) else { return };
        let was_exclusive = of_thing[place].modes.has(LockMode::AccessExclusive);
        if was_exclusive && !modes.has(LockMode::AccessExclusive) {
            self.exclusive.fetch_sub(1, Ordering::Release);
        }
        of_thing[place].modes = modes;
        if modes == LockModes::default() {
            of_thing.remove(place);
        }
        if of_thing.is_empty() {
            held.remove(&thing);
        }
    }
}

impl Inside {
    /// One who is in the way now.
    fn seen(&self, owner: u64) -> Other {
        Other { owner, lets_go: self.holders.get(&owner).map_or(0, |it| it.lets_go) }
    }

    /// Somebody has let go of something, or ends: nobody waits for it any more. Gives its end, to be dropped where no lock of ours
    /// is held.
    fn wake(&mut self, owner: u64) -> Option<End> {
        let holder = self.holders.get_mut(&owner)?;
        holder.lets_go += 1;
        let end = holder.end.take()?;
        self.waits.retain(|_, it| it.other != owner);
        Some(end)
    }

    /// Zero of one that has ended, which nobody waits for.
    fn session_of(&self, owner: u64) -> u64 {
        self.holders.get(&owner).map_or(0, |it| it.session)
    }

    /// Whether somebody holds a thing in a mode that excludes the one that another session wants.
    fn is_in_the_way(&self, owner: u64, session: u64, (thing, mode): &Lock) -> bool {
        let is_own = |it: &Held| it.owner == owner && it.session != session;
        let held = self.held.get(thing).and_then(|it| it.iter().find(|it| is_own(it)));
        held.is_some_and(|it| it.modes.exclude(*mode))
    }

    /// Who of another session holds a thing in a mode that excludes the one that is wanted.
    fn in_the_way(&self, session: u64, (thing, mode): &Lock) -> Option<u64> {
        let held = self.held.get(thing)?;
        held.iter().find(|it| it.session != session && it.modes.exclude(*mode)).map(|it| it.owner)
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

/// What tells one gate from others that there are.
fn address_of(gate: &Arc<Admission>) -> usize {
    Arc::as_ptr(gate).addr()
}

#[cfg(test)]
mod tests;
