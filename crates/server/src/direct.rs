//! A client that asks again as soon as it has its answer: its requests are read, done and answered by one thread.
//!
//! Key decision: a thread that has done a step keeps the socket for a while and waits for the next request in the read itself,
//! so that a small statement costs no hand-over between threads. While a step runs the socket lies in a slot, where the
//! runtime takes it if the step takes long, to watch it as it watches all others.
//!
//! - Invariant: a socket is with one of the two at any time; who has it alone reads and writes.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::BytesMut;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::backend::{Backend, Step};
use crate::registry::Stop;
use crate::requests::{Request, next};
use crate::shared::Shared;
use crate::socket::{Socket, Waited};

/// How long a thread waits for the next request of its client, or for room for an answer: longer than most programs think
/// between two statements, and than the clock of the kernel ticks.
const LINGER: Duration = Duration::from_millis(10);

/// How often the runtime looks whether a step takes long.
pub const LOOK: Duration = Duration::from_millis(20);

/// What a connection does: its session, and what has come and is not done.
pub struct Work {
    pub backend: Box<Backend>,
    pub requests: VecDeque<Request>,
    /// Bytes that are no whole message yet.
    pub input: BytesMut,
    /// Answers that are not sent.
    pub answers: BytesMut,
    pub step: Step,
    pub gone: bool,
}

/// The socket of a connection while a thread does its work.
#[derive(Clone, Default)]
pub struct Slot(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Here while a step runs.
    socket: Mutex<Option<Socket>>,
    /// Steps that have begun.
    steps: AtomicU64,
}

impl Slot {
    /// Makes a socket ready for a thread, and lays it in.
    pub fn lend(&self, socket: Socket) -> std::io::Result<()> {
        socket.wait_at_most(LINGER)?;
        self.put(socket);
        Ok(())
    }

    fn put(&self, socket: Socket) {
        *self.0.socket.lock() = Some(socket);
    }

    pub fn take(&self) -> Option<Socket> {
        self.0.socket.lock().take()
    }

    /// How many steps have begun.
    pub fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::Relaxed)
    }
}

/// What a thread needs beside the work of a connection.
pub struct Direct {
    pub shared: Arc<Shared>,
    pub slot: Slot,
    pub stop: Stop,
    pub stopping: watch::Receiver<bool>,
}

impl Direct {
    /// Does steps as long as the client asks for the next soon after the last. Leaves the socket in its slot.
    pub fn run(self, mut work: Work, mut place: Option<OwnedSemaphorePermit>) -> Work {
        loop {
            self.slot.0.steps.fetch_add(1, Ordering::Relaxed);
            work.step = work.backend.step(&mut work.requests, &mut work.answers);
            drop(place);
            let Some(mut socket) = self.slot.take() else { return work };
            let waits = work.step == Step::Idle && !work.backend.is_copying();
            let goes_on = waits
                && socket.write(&mut work.answers).is_done(&mut work.gone)
                && !*self.stopping.borrow()
                && !self.stop.is_ended()
                && self.gather(&mut socket, &mut work);
            self.slot.put(socket);
            if !goes_on {
                return work;
            }
            self.stop.forget();
            place = match self.shared.gate.try_enter(work.backend.is_in_transaction()) {
                Some(place) => place,
                None => {
                    work.step = Step::More;
                    return work;
                }
            };
        }
    }

    /// Reads until something is to be answered. False when that takes too long, or cannot be read here.
    fn gather(&self, socket: &mut Socket, work: &mut Work) -> bool {
        let most = self.shared.options.limits.message_bytes;
        loop {
            let mut awaited = false;
            loop {
                match next(&mut work.input, most, work.backend.charset()) {
                    Ok(Some(request)) => {
                        awaited |= request.is_awaited();
                        work.requests.push_back(request);
                    }
                    Ok(None) => break,
                    // Who reads it next finds the same, and tells it.
                    Err(_) => return false,
                }
            }
            if awaited {
                return true;
            }
            // What is sent in many pieces is for those who gather it.
            if work.input.len() > WAITED_BYTES || !work.requests.is_empty() && work.input.is_empty()
            {
                return false;
            }
            if !socket.read_some(&mut work.input).is_done(&mut work.gone) {
                return false;
            }
        }
    }
}

/// Bytes of a message that has not come whole, from which on it is not waited for here.
const WAITED_BYTES: usize = 64 << 10;

impl Waited {
    /// Whether it is done; notes that the client has gone.
    fn is_done(self, gone: &mut bool) -> bool {
        *gone |= self == Self::Gone;
        self == Self::Done
    }
}
