//! A connection, and the sessions that it keeps.

use std::collections::HashMap;

use bytes::Bytes;
use nodewise::{SqlError, SqlState};
use stdx::sync::{Arc, Mutex};
use tonic::Status;

use super::caller::{Caller, Id, new_id};
use super::seats::{Seat, Way, parts};
use super::statements::Held;
use super::status::status;
use crate::shared::Shared;
use crate::stream::Origin;
use crate::traces::{Client, SharedParent};

/// Sessions that a connection may keep.
const SEATS_MAX: usize = 256;

/// Credentials that were right.
struct Known {
    given: Vec<u8>,
    user: String,
    /// What checked them: a password that is changed is not right any more.
    checked_by: Option<String>,
}

/// A connection.
pub struct Door {
    shared: Arc<Shared>,
    origin: Origin,
    /// Sessions that it keeps.
    kept: Mutex<HashMap<Id, Arc<Seat>>>,
    /// Credentials that were found right on it, and whose they are.
    known: Mutex<Option<Known>>,
}

impl Door {
    pub fn new(shared: Arc<Shared>, origin: Origin) -> Self {
        Self { shared, origin, kept: Mutex::default(), known: Mutex::default() }
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whose credentials these are, if they were found right here before.
    pub fn known(&self, given: Option<&[u8]>) -> Option<String> {
        let known = self.known.lock();
        let known = known.as_ref().filter(|it| given == Some(&it.given))?;
        let checked_by = self.shared.database.verifier(&known.user);
        (checked_by == known.checked_by).then(|| known.user.clone())
    }

    /// Keeps what was found right, and what checked it.
    pub fn remember(&self, given: Option<&[u8]>, user: &str, checked_by: Option<String>) {
        let known = |it: &[u8]| Known { given: it.to_vec(), user: user.to_owned(), checked_by };
        *self.known.lock() = given.map(known);
    }

    /// How a call gets to what it runs.
    pub fn way(&self, caller: &Caller) -> Way<'_> {
        (&self.shared.gate, caller.parent)
    }

    /// The session of a call; a new one where it names none, or one that is not there any more.
    pub fn seat(&self, caller: &Caller) -> Result<Arc<Seat>, Status> {
        let Some(id) = &caller.session else { return self.open(&caller.user, new_id()?) };
        let found = self.shared.flight.find(&caller.user, id);
        let seat = found.map_or_else(|| self.open(&caller.user, *id), Ok)?;
        self.keep(&seat)?;
        Ok(seat)
    }

    /// The session in which a transaction was begun; that of the call where none is named.
    pub fn seat_of(
        &self,
        caller: &Caller,
        transaction: Option<&Bytes>,
    ) -> Result<Arc<Seat>, Status> {
        let named = transaction.filter(|it| !it.is_empty());
        let Some((seat, part)) = named.map(|it| parts(it)).transpose()? else {
            let seat = self.seat(caller)?;
            if seat.transaction().is_some() {
                let message = "a transaction is open in this session: name it, or end it";
                return Err(status(&SqlError::new(SqlState("25001"), message)));
            }
            return Ok(seat);
        };
        let found = self.shared.flight.find(&caller.user, &seat);
        found.filter(|it| it.transaction() == Some(part)).ok_or_else(|| {
            let message = "there is no transaction of this handle";
            status(&SqlError::new(SqlState("25P01"), message))
        })
    }

    /// A statement that is held, and its session.
    pub fn held(&self, caller: &Caller, handle: &[u8]) -> Result<(Arc<Seat>, Arc<Held>), Status> {
        let (seat, part) = parts(handle)?;
        let seat = self.shared.flight.find(&caller.user, &seat);
        let found = seat.and_then(|it| it.held(&part).map(|held| (it, held)));
        found.ok_or_else(|| {
            let message = "there is no prepared statement of this handle";
            status(&SqlError::new(SqlState::UNDEFINED_PREPARED, message))
        })
    }

    /// Holds a statement in a session, which this connection keeps for it.
    pub fn hold(&self, seat: &Arc<Seat>, held: Held) -> Result<Bytes, Status> {
        self.keep(seat)?;
        seat.hold(held)
    }

    /// Forgets a statement. One that is not there is forgotten already.
    pub fn release(&self, caller: &Caller, handle: &[u8]) -> Result<(), Status> {
        let (seat, part) = parts(handle)?;
        if let Some(seat) = self.shared.flight.find(&caller.user, &seat) {
            seat.release(&part);
            self.leave(caller, &seat);
        }
        Ok(())
    }

    /// A transaction has begun in a session, which this connection keeps for it.
    pub fn begun(&self, seat: &Arc<Seat>) -> Result<Bytes, Status> {
        self.keep(seat)?;
        seat.begin()
    }

    /// The session in which a savepoint was made, and its name.
    pub fn savepoint(&self, caller: &Caller, handle: &[u8]) -> Result<(Arc<Seat>, String), Status> {
        let (seat, part) = parts(handle)?;
        let seat = self.shared.flight.find(&caller.user, &seat);
        let found = seat.and_then(|it| it.savepoint_name(&part).map(|name| (it, name)));
        found.ok_or_else(|| {
            let message = "there is no savepoint of this handle";
            status(&SqlError::new(SqlState("3B001"), message))
        })
    }

    /// The transaction of a session has ended.
    pub fn ended(&self, caller: &Caller, seat: &Arc<Seat>) {
        seat.end();
        self.leave(caller, seat);
    }

    fn open(&self, user: &str, id: Id) -> Result<Arc<Seat>, Status> {
        let mut session = self.shared.database.session();
        let is_trusted = self.shared.trusts(self.origin);
        session.log_in(user, "nodewise", is_trusted).map_err(|it| status(&it))?;
        if !self.shared.options.allow_files {
            session.forbid_files();
        }
        let said = SharedParent::default();
        if let Some(traces) = &self.shared.traces {
            traces.follow(&mut session, Client::new(user, self.origin), said.clone());
        }
        Ok(self.shared.flight.open(user, id, session, said))
    }

    fn keep(&self, seat: &Arc<Seat>) -> Result<(), Status> {
        let mut kept = self.kept.lock();
        if kept.len() >= SEATS_MAX && !kept.contains_key(seat.id()) {
            let message = format!("a connection keeps at most {SEATS_MAX} sessions");
            return Err(Status::resource_exhausted(message));
        }
        kept.entry(*seat.id()).or_insert_with(|| seat.clone());
        Ok(())
    }

    /// A session that no call names is kept for what is held in it alone.
    fn leave(&self, caller: &Caller, seat: &Arc<Seat>) {
        if caller.session != Some(*seat.id()) && seat.is_empty() {
            self.kept.lock().remove(seat.id());
        }
    }

    /// The connection has ended: what runs in sessions that nobody else keeps is of no use.
    pub fn end(&self) {
        let kept = self.kept.lock();
        let only = kept.values().filter(|it| Arc::strong_count(it) == 1);
        only.for_each(|it| it.cancel());
    }
}
