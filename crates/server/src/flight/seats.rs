//! The sessions of calls, and what clients hold in them by handles.
//!
//! Key decision: all know of a session, and only connections keep it: those on which a call has named it, and, by their connection, the
//! statements and the transaction that are held in it. So what a client leaves behind ends with its connection, as over the wire.

use std::collections::HashMap;

use bytes::Bytes;
use nodewise::{CancelHandle, Session, SqlError, SqlResult};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex, Weak};
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};
use tokio::task::spawn_blocking;
use tonic::Status;

use super::caller::{ID_BYTES, Id, new_id};
use super::statements::Held;
use super::status::status;
use crate::gate::Gate;
use crate::traces::{Parent, SharedParent};

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

/// Through which gate a call goes, and the span of its client that it is in.
pub type Way<'a> = (&'a Gate, Option<Parent>);

/// A session, and what is held in it.
pub struct Seat {
    all: Arc<Seats>,
    id: Id,
    user: String,
    session: Mutex<Session>,
    cancel: CancelHandle,
    in_transaction: AtomicBool,
    /// The span of the client that the call is in that runs something.
    said: SharedParent,
    /// Calls on one session go one after the other.
    turn: Arc<Turns<()>>,
    held: Mutex<HashMap<Id, Arc<Held>>>,
    /// The transaction that a client has begun by a call.
    transaction: Mutex<Option<Transaction>>,
}

/// A transaction that was begun by a call, and the names of its savepoints.
struct Transaction {
    id: Id,
    savepoints: Vec<(Id, String)>,
}

impl Seats {
    /// The session of a user that has a number.
    pub fn find(&self, user: &str, id: &Id) -> Option<Arc<Seat>> {
        self.seats.lock().get(&(user.to_owned(), *id))?.upgrade()
    }

    /// From now on a session has a number.
    pub fn open(
        self: &Arc<Self>,
        user: &str,
        id: Id,
        session: Session,
        said: SharedParent,
    ) -> Arc<Seat> {
        let seat = Arc::new(Seat {
            all: self.clone(),
            id,
            user: user.to_owned(),
            cancel: session.cancel_handle(),
            session: Mutex::new(session),
            in_transaction: AtomicBool::new(false),
            said,
            turn: Arc::default(),
            held: Mutex::default(),
            transaction: Mutex::default(),
        });
        self.seats.lock().insert((user.to_owned(), id), Arc::downgrade(&seat));
        seat
    }

    /// From now on the statement of a ticket can be ended; by what it is told is given back.
    pub fn runs(&self, ticket: Bytes, seat: Arc<Seat>) -> Arc<AtomicBool> {
        let stopped = Arc::new(AtomicBool::new(false));
        self.running.lock().insert(ticket, Running { seat, stopped: stopped.clone() });
        stopped
    }

    /// The statement of a ticket gives no more rows.
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

impl Seat {
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Ends what it runs.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits until the calls before have ended.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        self.turn.clone().lock_owned().await
    }

    /// Whether nothing is held in it.
    pub fn is_empty(&self) -> bool {
        self.held.lock().is_empty() && self.transaction.lock().is_none()
    }

    /// A statement that is held.
    pub fn held(&self, part: &Id) -> Option<Arc<Held>> {
        self.held.lock().get(part).cloned()
    }

    /// Holds a statement; the handle for it.
    pub fn hold(&self, held: Held) -> Result<Bytes, Status> {
        let part = new_id()?;
        let mut all = self.held.lock();
        if all.len() >= HELD_MAX {
            let message = format!("a session holds at most {HELD_MAX} statements");
            return Err(Status::resource_exhausted(message));
        }
        all.insert(part, Arc::new(held));
        Ok(self.handle(&part))
    }

    /// What is held is another statement from now on.
    pub fn hold_instead(&self, part: Id, held: Held) {
        self.held.lock().insert(part, Arc::new(held));
    }

    /// Forgets a statement.
    pub fn release(&self, part: &Id) {
        self.held.lock().remove(part);
    }

    /// A transaction has begun; the handle for it.
    pub fn begin(&self) -> Result<Bytes, Status> {
        let id = new_id()?;
        *self.transaction.lock() = Some(Transaction { id, savepoints: Vec::new() });
        Ok(self.handle(&id))
    }

    /// The number of the transaction that was begun by a call.
    pub fn transaction(&self) -> Option<Id> {
        self.transaction.lock().as_ref().map(|it| it.id)
    }

    /// The transaction that was begun by a call has ended.
    pub fn end(&self) {
        *self.transaction.lock() = None;
    }

    /// Names a place in the transaction: its handle, and a name that no client could have chosen.
    pub fn savepoint(&self) -> Result<(Bytes, String), Status> {
        let part = new_id()?;
        let name: String = part.iter().map(|it| format!("{it:02x}")).collect();
        let name = format!("flight {name}");
        if let Some(it) = &mut *self.transaction.lock() {
            it.savepoints.push((part, name.clone()));
        }
        Ok((self.handle(&part), name))
    }

    /// The name of a savepoint.
    pub fn savepoint_name(&self, part: &Id) -> Option<String> {
        let transaction = self.transaction.lock();
        let mut all = transaction.iter().flat_map(|it| &it.savepoints);
        all.find(|it| it.0 == *part).map(|it| it.1.clone())
    }

    fn handle(&self, part: &Id) -> Bytes {
        [self.id.as_slice(), part].concat().into()
    }

    /// Runs something on the session for a call within a span of its client, on a thread that may wait. An error fails the
    /// transaction that is open. Who drops this ends what it runs.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        (gate, parent): Way<'_>,
        work: impl FnOnce(&mut Session) -> SqlResult<T> + Send + 'static,
    ) -> Result<T, Status> {
        let place = gate.enter(self.in_transaction.load(Ordering::Acquire)).await;
        let runs = Arc::new(AtomicBool::new(false));
        let ends = EndsWithCall { seat: self.clone(), runs: runs.clone() };
        let seat = self.clone();
        let ran = spawn_blocking(move || {
            let _place = place;
            let mut session = seat.session.lock();
            runs.store(true, Ordering::Release);
            *seat.said.lock() = parent;
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

/// What a handle names: the number of a session, and of what is held there.
pub fn parts(handle: &[u8]) -> Result<(Id, Id), Status> {
    let (seat, part) = handle
        .split_first_chunk::<ID_BYTES>()
        .and_then(|(seat, part)| Some((*seat, part.try_into().ok()?)))
        .ok_or_else(|| Status::invalid_argument("the handle is none of this server"))?;
    Ok((seat, part))
}

/// Ends what a call runs when nobody waits for it any more.
struct EndsWithCall {
    seat: Arc<Seat>,
    runs: Arc<AtomicBool>,
}

impl Drop for EndsWithCall {
    fn drop(&mut self) {
        if self.runs.load(Ordering::Acquire) {
            self.seat.cancel();
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
