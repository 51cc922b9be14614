//! The sessions of calls, and what clients hold in them by handles.
//!
//! Key decision: all know of a session, and only connections keep it: those on which a call has named it, and, by their connection, the
//! statements and the transaction that are held in it. So what a client leaves behind ends with its connection, as over the wire.

use std::collections::HashMap;

use bytes::Bytes;
use nodewise::{CancelHandle, Session, SqlError, SqlResult, SqlState};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex, Weak};
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};
use tokio::task::spawn_blocking;
use tonic::Status;

use super::access::{Caller, new_id};
use super::statements::Held;
use super::status::status;
use crate::shared::Shared;
use crate::stream::Origin;

pub const ID_BYTES: usize = 16;
/// The number of a session, or of what is held in one: random.
pub type Id = [u8; ID_BYTES];

/// Sessions that a connection may keep.
const SEATS_MAX: usize = 256;
/// Statements that may be held in a session.
const HELD_MAX: usize = 1024;

/// The sessions of Flight that there are, by user and number.
#[derive(Default)]
pub struct Seats {
    seats: Mutex<HashMap<(String, Id), Weak<Seat>>>,
    /// What gives rows now, by the ticket for it.
    running: Mutex<HashMap<Bytes, Running>>,
}

/// What gives rows: while it makes some its session can be told, and between that it looks itself.
struct Running {
    seat: Arc<Seat>,
    stopped: Arc<AtomicBool>,
}

/// A session, and what is held in it.
pub struct Seat {
    all: Arc<Seats>,
    id: Id,
    user: String,
    session: Mutex<Session>,
    cancel: CancelHandle,
    in_transaction: AtomicBool,
    /// Calls on one session go one after the other.
    turn: Arc<Turns<()>>,
    held: Mutex<HashMap<Id, Arc<Held>>>,
    /// The number of the transaction that a client has begun by a call.
    transaction: Mutex<Option<Id>>,
    savepoints: Mutex<Vec<(Id, String)>>,
}

/// A connection.
pub struct Door {
    shared: Arc<Shared>,
    origin: Origin,
    /// Sessions that it keeps.
    kept: Mutex<HashMap<Id, Arc<Seat>>>,
    /// Credentials that were found right on it, and whose they are.
    known: Mutex<Option<(Vec<u8>, String)>>,
}

impl Seats {
    fn find(&self, user: &str, id: &Id) -> Option<Arc<Seat>> {
        self.seats.lock().get(&(user.to_owned(), *id))?.upgrade()
    }

    /// From now on the statement of a ticket can be ended; by what it is told is given back.
    pub fn runs(&self, ticket: Bytes, seat: Arc<Seat>) -> Arc<AtomicBool> {
        let stopped = Arc::new(AtomicBool::new(false));
        self.running.lock().insert(ticket, Running { seat, stopped: stopped.clone() });
        stopped
    }

    pub fn ran(&self, ticket: &Bytes) {
        self.running.lock().remove(ticket);
    }

    /// Ends what gives the rows of a ticket; tells whether there was anything.
    pub fn cancel(&self, user: &str, ticket: &Bytes) -> bool {
        let running = self.running.lock();
        let found = running.get(ticket).filter(|it| it.seat.user == user);
        if let Some(it) = found {
            it.stopped.store(true, Ordering::Release);
            it.seat.cancel();
        }
        found.is_some()
    }
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
        known.as_ref().filter(|it| given.is_some_and(|given| given == it.0)).map(|it| it.1.clone())
    }

    pub fn remember(&self, given: Option<&[u8]>, user: &str) {
        *self.known.lock() = given.map(|it| (it.to_vec(), user.to_owned()));
    }

    /// The session of a call; a new one where it names none, or one that is not there any more.
    pub fn seat(&self, caller: &Caller) -> Result<Arc<Seat>, Status> {
        let Some(id) = &caller.session else { return Ok(self.open(&caller.user, new_id()?)) };
        let found = self.shared.flight.find(&caller.user, id);
        let seat = found.unwrap_or_else(|| self.open(&caller.user, *id));
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
            if seat.transaction.lock().is_some() {
                let message = "a transaction is open in this session: name it, or end it";
                return Err(status(&SqlError::new(SqlState("25001"), message)));
            }
            return Ok(seat);
        };
        let seat = self.shared.flight.find(&caller.user, &seat).ok_or_else(no_transaction)?;
        match *seat.transaction.lock() == Some(part) {
            true => Ok(seat.clone()),
            false => Err(no_transaction()),
        }
    }

    /// A statement that is held, and its session.
    pub fn held(&self, caller: &Caller, handle: &[u8]) -> Result<(Arc<Seat>, Arc<Held>), Status> {
        let missing = || {
            let message = "there is no prepared statement of this handle";
            status(&SqlError::new(SqlState::UNDEFINED_PREPARED, message))
        };
        let (seat, part) = parts(handle)?;
        let seat = self.shared.flight.find(&caller.user, &seat).ok_or_else(missing)?;
        let held = seat.held.lock().get(&part).cloned();
        held.map(|it| (seat, it)).ok_or_else(missing)
    }

    /// Holds a statement in a session, which this connection keeps for it.
    pub fn hold(&self, seat: &Arc<Seat>, held: Held) -> Result<Bytes, Status> {
        self.keep(seat)?;
        let part = new_id()?;
        let mut all = seat.held.lock();
        if all.len() >= HELD_MAX {
            return Err(Status::resource_exhausted("a session holds at most 1024 statements"));
        }
        all.insert(part, Arc::new(held));
        Ok(seat.handle(&part))
    }

    /// What is held under a handle is another statement from now on.
    pub fn hold_instead(&self, seat: &Seat, handle: &[u8], held: Held) -> Result<(), Status> {
        let (_, part) = parts(handle)?;
        seat.held.lock().insert(part, Arc::new(held));
        Ok(())
    }

    /// Forgets a statement. One that is not there is forgotten already.
    pub fn release(&self, caller: &Caller, handle: &[u8]) -> Result<(), Status> {
        let (seat, part) = parts(handle)?;
        if let Some(seat) = self.shared.flight.find(&caller.user, &seat) {
            seat.held.lock().remove(&part);
            self.leave(caller, &seat);
        }
        Ok(())
    }

    /// A transaction begins in a session, which this connection keeps for it.
    pub fn begun(&self, seat: &Arc<Seat>) -> Result<Bytes, Status> {
        self.keep(seat)?;
        let part = new_id()?;
        *seat.transaction.lock() = Some(part);
        Ok(seat.handle(&part))
    }

    /// The transaction of a session has ended.
    pub fn ended(&self, caller: &Caller, seat: &Arc<Seat>) {
        *seat.transaction.lock() = None;
        seat.savepoints.lock().clear();
        self.leave(caller, seat);
    }

    fn open(&self, user: &str, id: Id) -> Arc<Seat> {
        let mut session = self.shared.database.session();
        session.set_client(user, "nodewise");
        if !self.shared.options.allow_files {
            session.forbid_files();
        }
        let seat = Arc::new(Seat {
            all: self.shared.flight.clone(),
            id,
            user: user.to_owned(),
            cancel: session.cancel_handle(),
            session: Mutex::new(session),
            in_transaction: AtomicBool::new(false),
            turn: Arc::default(),
            held: Mutex::default(),
            transaction: Mutex::default(),
            savepoints: Mutex::default(),
        });
        let key = (user.to_owned(), id);
        self.shared.flight.seats.lock().insert(key, Arc::downgrade(&seat));
        seat
    }

    fn keep(&self, seat: &Arc<Seat>) -> Result<(), Status> {
        let mut kept = self.kept.lock();
        if kept.len() >= SEATS_MAX && !kept.contains_key(&seat.id) {
            return Err(Status::resource_exhausted("a connection keeps at most 256 sessions"));
        }
        kept.entry(seat.id).or_insert_with(|| seat.clone());
        Ok(())
    }

    /// A session that no call names is kept for what is held in it alone.
    fn leave(&self, caller: &Caller, seat: &Arc<Seat>) {
        let is_named = caller.session == Some(seat.id);
        if !is_named && seat.held.lock().is_empty() && seat.transaction.lock().is_none() {
            self.kept.lock().remove(&seat.id);
        }
    }

    /// The connection has ended: what runs in sessions that nobody else keeps is of no use.
    pub fn end(&self) {
        let kept = self.kept.lock();
        let only = kept.values().filter(|it| Arc::strong_count(it) == 1);
        only.for_each(|it| it.cancel.cancel());
    }
}

impl Seat {
    /// Ends what it runs.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits until the calls before have ended.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        self.turn.clone().lock_owned().await
    }

    fn handle(&self, part: &Id) -> Bytes {
        [self.id.as_slice(), part].concat().into()
    }

    /// Names a place in the transaction; the name is none that a client could have chosen.
    pub fn savepoint(&self) -> Result<(Bytes, String), Status> {
        let part = new_id()?;
        let name: String = part.iter().map(|it| format!("{it:02x}")).collect();
        let name = format!("flight {name}");
        self.savepoints.lock().push((part, name.clone()));
        Ok((self.handle(&part), name))
    }

    /// Runs something on the session, on a thread that may wait. An error fails the transaction that is open. Who drops this ends what
    /// it runs.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        shared: &Shared,
        work: impl FnOnce(&mut Session) -> SqlResult<T> + Send + 'static,
    ) -> Result<T, Status> {
        let place = shared.gate.enter(self.in_transaction.load(Ordering::Acquire)).await;
        let runs = Arc::new(AtomicBool::new(false));
        let ends = EndsWithCall { seat: self.clone(), runs: runs.clone() };
        let seat = self.clone();
        let ran = spawn_blocking(move || {
            let _place = place;
            let mut session = seat.session.lock();
            runs.store(true, Ordering::Release);
            let done = work(&mut session);
            if done.is_err() {
                session.fail_transaction();
            }
            seat.in_transaction.store(session.is_in_transaction(), Ordering::Release);
            // Clients of Flight hear nothing but answers.
            session.take_notices();
            runs.store(false, Ordering::Release);
            done
        });
        let done = ran.await;
        drop(ends);
        match done {
            Ok(done) => done.map_err(|it| status(&it)),
            Err(_) => Err(status(&SqlError::internal("the call was lost"))),
        }
    }
}

/// The session in which a savepoint was made, and its name.
pub fn savepoint_of(
    door: &Door,
    caller: &Caller,
    handle: &[u8],
) -> Result<(Arc<Seat>, String), Status> {
    let missing = || {
        let message = "there is no savepoint of this handle";
        status(&SqlError::new(SqlState("3B001"), message))
    };
    let (seat, part) = parts(handle)?;
    let seat = door.shared.flight.find(&caller.user, &seat).ok_or_else(missing)?;
    let name = seat.savepoints.lock().iter().find(|it| it.0 == part).map(|it| it.1.clone());
    name.map(|it| (seat, it)).ok_or_else(missing)
}

/// A handle: the number of a session, and of what is held there.
fn parts(handle: &[u8]) -> Result<(Id, Id), Status> {
    let (seat, part) = handle
        .split_first_chunk::<ID_BYTES>()
        .and_then(|(seat, part)| Some((*seat, part.try_into().ok()?)))
        .ok_or_else(|| Status::invalid_argument("the handle is none of this server"))?;
    Ok((seat, part))
}

fn no_transaction() -> Status {
    let message = "there is no transaction of this handle";
    status(&SqlError::new(SqlState("25P01"), message))
}

/// Ends what a call runs when nobody waits for it any more.
struct EndsWithCall {
    seat: Arc<Seat>,
    runs: Arc<AtomicBool>,
}

impl Drop for EndsWithCall {
    fn drop(&mut self) {
        if self.runs.load(Ordering::Acquire) {
            self.seat.cancel.cancel();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.all.seats.lock();
        let key = (std::mem::take(&mut self.user), self.id);
        // Another may have come in its place.
        if seats.get(&key).is_some_and(|it| it.strong_count() == 0) {
            seats.remove(&key);
        }
    }
}
