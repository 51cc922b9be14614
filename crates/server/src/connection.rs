//! The life of a connection: its start, and then, again and again, what has come, what it does, what goes out.
//!
//! Key decision: while a step runs on a thread of the pool, the socket is watched here, so that a client that has gone ends
//! what it began; and while answers are sent, the next step runs. A client that takes nothing makes its own connection wait,
//! with two buffers at most. A client of many small statements stays with its thread ([`crate::direct`]).

use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use bytes::{Bytes as Plain, BytesMut};
use nodewise::{SqlError, SqlState};
use pgwire::messages::startup::{BackendKeyData, NegotiateProtocolVersion, SecretKey};
use stdx::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};
use types::Charset;

use crate::authentication::authenticate;
use crate::backend::{Backend, Step, terminated};
use crate::direct::{Direct, LOOK, Slot, Work};
use crate::registry::{Registered, Stop};
use crate::replies::{self, put};
use crate::requests::{Request, missing, next};
use crate::shared::Shared;
use crate::socket::Socket;
use crate::startup::{First, Refused, Startup, VERSION_MINOR, first};
use crate::stream::{Bytes, Origin, read_some, watched};
use crate::traces::{Client, SharedParent};

/// Bytes that are read ahead while a step runs.
const AHEAD_BYTES: usize = 1 << 20;

/// Bytes of requests that are gathered before they are done although no end of what belongs together has come.
const GATHERED_BYTES: usize = 4 << 20;

/// How long requests lie that no end of what belongs together has followed.
const PATIENCE: Duration = Duration::from_millis(50);

/// A connection past its start.
struct Connection {
    shared: Arc<Shared>,
    /// Here, unless a thread has the socket.
    stream: Option<Box<dyn Bytes>>,
    /// Bytes that are no whole message yet, or have come while others were done.
    input: BytesMut,
    requests: VecDeque<Request>,
    /// Here, unless a step runs.
    backend: Option<Box<Backend>>,
    stop: Stop,
    /// Becomes true when the server is to stop.
    stopping: watch::Receiver<bool>,
    /// Whether the client has gone.
    gone: bool,
}

/// Serves a client until one side ends it.
pub async fn serve(
    shared: Arc<Shared>,
    stream: Box<dyn Bytes>,
    origin: Origin,
    stopping: watch::Receiver<bool>,
) {
    let mut input = BytesMut::new();
    let limit = shared.options.limits.startup;
    let first = timeout(limit, first(stream, shared.options.certificate.as_ref(), &mut input));
    let Ok((mut stream, wanted)) = first.await else { return };
    let refused = match wanted {
        Ok(First::Gone) | Err(Refused::Broken) => return,
        Ok(First::Cancel { number, key }) => return shared.registry.cancel(number, &key),
        Err(Refused::Told(error)) => error,
        Ok(First::Session(startup)) => {
            let Ok(place) = shared.places.clone().try_acquire_owned() else {
                let message = "sorry, too many clients already";
                return refuse(stream, &SqlError::new(SqlState::TOO_MANY_CONNECTIONS, message))
                    .await;
            };
            let starting = start(&shared, &mut *stream, &mut input, &startup, origin);
            match timeout(limit, starting).await {
                Err(_) => SqlError::new(SqlState("08006"), "it took too long to say who you are"),
                Ok(Err(Refused::Broken)) => return,
                Ok(Err(Refused::Told(error))) => error,
                Ok(Ok((backend, registered, stop))) => {
                    let stream = Some(stream);
                    let (backend, requests) = (Some(backend), VecDeque::new());
                    let mut connection = Connection {
                        shared,
                        stream,
                        input,
                        requests,
                        backend,
                        stop,
                        stopping,
                        gone: false,
                    };
                    connection.run().await;
                    let backend = connection.backend.take();
                    // What it holds is given back on a thread that may wait.
                    let _ = spawn_blocking(move || drop(backend)).await;
                    drop((registered, place));
                    return;
                }
            }
        }
    };
    refuse(stream, &refused).await;
}

/// Tells why there is no session. Whether the client hears it makes no difference any more.
async fn refuse(mut stream: Box<dyn Bytes>, error: &SqlError) {
    let mut out = BytesMut::new();
    replies::fatal(error, &mut out);
    let sending = async {
        stream.write_all(&out).await?;
        stream.shutdown().await
    };
    let _ = timeout(Duration::from_secs(1), sending).await;
}

/// Lets a client in, and tells it all that it has to know.
async fn start(
    shared: &Shared,
    stream: &mut dyn Bytes,
    input: &mut BytesMut,
    startup: &Startup,
    origin: Origin,
) -> Result<(Box<Backend>, Registered, Stop), Refused> {
    let mut out = BytesMut::new();
    let minor = startup.minor.min(VERSION_MINOR);
    if startup.minor > VERSION_MINOR || !startup.unknown.is_empty() {
        let version = 3 << 16 | i32::from(VERSION_MINOR);
        put(&NegotiateProtocolVersion::new(version, startup.unknown.clone()), &mut out);
    }
    let user = &startup.user;
    let trusted = authenticate(shared, stream, input, (user, origin), &mut out).await?;
    let mut session = shared.database.session();
    session.log_in(user, &startup.database, trusted)?;
    if origin != Origin::Socket && !shared.options.allow_files {
        session.forbid_files();
    }
    if let Some(traces) = &shared.traces {
        traces.follow(&mut session, Client::new(user, origin), SharedParent::default());
    }
    for (name, value) in &startup.settings {
        session.set_setting(name, value)?;
    }
    let stop = Stop::new(session.cancel_handle());
    let attention = stop.attention();
    session.wake_when_notified(move || attention.notify_one());
    let ending = stop.clone();
    session.end_by(move |whole| if whole { ending.end() } else { ending.stop() });
    let long_key = minor >= 2;
    let registered = shared.registry.add(session.number(), stop.clone(), long_key);
    let registered = registered.ok_or_else(|| SqlError::internal("there is no randomness"))?;
    for (name, value) in session.reported_settings() {
        replies::setting(name, value, &mut out);
    }
    let key = match (long_key, registered.key.first_chunk()) {
        (false, Some(short)) => SecretKey::I32(i32::from_be_bytes(*short)),
        _ => SecretKey::Bytes(Plain::from(registered.key.clone())),
    };
    put(&BackendKeyData::new(registered.number, key), &mut out);
    replies::ready(None, &mut out);
    stream.write_all(&out).await?;
    stream.flush().await?;
    let backend = Box::new(Backend::new(session, stop.clone()));
    Ok((backend, registered, stop))
}

impl Connection {
    async fn run(&mut self) {
        loop {
            match self.gather().await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return self.tell_fatal(&error).await,
            }
            if !self.work().await || self.gone {
                return;
            }
            if self.stop.is_ended() {
                return self.tell_fatal(&terminated()).await;
            }
            if *self.stopping.borrow() && self.requests.is_empty() {
                return self.tell_fatal(&terminated()).await;
            }
        }
    }

    /// Waits until something is to be answered. False when the client has gone. Errors end the connection.
    async fn gather(&mut self) -> Result<bool, SqlError> {
        let limits = self.shared.options.limits;
        let mut gathered = 0;
        let copying = self.backend.as_ref().is_some_and(|it| it.is_copying());
        let charset = self.backend.as_ref().map_or(Charset::UTF8, |it| it.charset());
        let attention = self.stop.attention();
        let own = self.backend.as_ref().filter(|_| !copying).and_then(|it| it.idle_limit());
        let (own, over) = own.unwrap_or_else(|| (Duration::ZERO, terminated()));
        loop {
            let mut awaited = false;
            while gathered < GATHERED_BYTES {
                let before = self.input.len();
                let Some(request) = next(&mut self.input, limits.message_bytes, charset)? else {
                    break;
                };
                gathered += before - self.input.len();
                awaited |= request.is_awaited();
                self.requests.push_back(request);
            }
            if awaited || gathered >= GATHERED_BYTES {
                return Ok(true);
            }
            // A large message comes in as few pieces as it can, and takes no memory before it comes.
            let missing = missing(&self.input).min(self.input.len().max(1));
            self.input.reserve(missing);
            let Some(stream) = &mut self.stream else { return Ok(false) };
            tokio::select! {
                read = read_some(stream, &mut self.input) => match read {
                    Ok(true) => {}
                    Ok(false) | Err(_) => return Ok(false),
                },
                () = idle(limits.idle) => {
                    let message = "terminating connection due to idle-session timeout";
                    return Err(SqlError::new(SqlState("57P05"), message));
                }
                () = idle(own) => return Err(over),
                Ok(()) = self.stopping.changed() => return Err(terminated()),
                () = attention.notified() => {
                    if self.stop.is_ended() {
                        return Err(terminated());
                    }
                    self.tell_notifications().await;
                }
                // A client that says no end of what belongs together may wait for an error of it.
                () = sleep(PATIENCE), if !self.requests.is_empty() && !copying => return Ok(true),
                // A COPY that waits for data is ended.
                () = self.stop.stopped(), if copying => return Ok(true),
            }
        }
    }

    /// Tells an idle client what was said to channels.
    async fn tell_notifications(&mut self) {
        let mut out = BytesMut::new();
        if let Some(backend) = &mut self.backend {
            backend.tell_idle(&mut out);
        }
        self.send(&out).await;
    }

    /// Does what has come, and sends the answers. False when the connection is at its end.
    async fn work(&mut self) -> bool {
        let Some(backend) = self.backend.take() else { return false };
        let requests = std::mem::take(&mut self.requests);
        if !backend.is_copying() {
            self.stop.forget();
        }
        let (input, answers) = (BytesMut::new(), BytesMut::new());
        let mut work =
            Work { backend, requests, input, answers, step: Step::More, gone: self.gone };
        loop {
            let place = self.shared.gate.enter(work.backend.is_in_transaction()).await;
            let answers = std::mem::take(&mut work.answers);
            let lent = if answers.is_empty() { self.lend() } else { None };
            let mut step = match &lent {
                Some((slot, thread)) => {
                    work.input = std::mem::take(&mut self.input);
                    let direct = Direct {
                        shared: self.shared.clone(),
                        slot: slot.clone(),
                        stop: self.stop.clone(),
                        stopping: self.stopping.clone(),
                    };
                    let thread = thread.clone();
                    spawn_blocking(move || {
                        let _thread = thread;
                        direct.run(work, place)
                    })
                }
                None => spawn_blocking(move || -> Work {
                    // Others may run when this step is done, and not only when its client has taken what came before.
                    let _place = place;
                    work.step = work.backend.step(&mut work.requests, &mut work.answers);
                    work
                }),
            };
            self.send(&answers).await;
            let done = match lent {
                Some((slot, _)) => self.lent(&mut step, &slot).await,
                None => self.watched(&mut step).await,
            };
            let Some(done) = done else { return false };
            work = done;
            // What was read ahead comes behind what a thread has read.
            work.input.unsplit(std::mem::take(&mut self.input));
            self.input = std::mem::take(&mut work.input);
            self.gone |= work.gone;
            if work.step == Step::More && !self.gone {
                continue;
            }
            self.backend = Some(work.backend);
            self.requests = work.requests;
            self.send(&work.answers).await;
            return work.step == Step::Idle;
        }
    }

    /// Lays the socket where a thread that does steps finds it, if it can be had and there are not too many such threads.
    fn lend(&mut self) -> Option<(Slot, Arc<OwnedSemaphorePermit>)> {
        let thread = Arc::new(self.shared.gate.try_direct()?);
        let slot = Slot::default();
        match self.stream.take()?.into_socket() {
            Ok(Ok(socket)) => match slot.lend(socket) {
                Ok(()) => Some((slot, thread)),
                Err(_) => {
                    self.gone = true;
                    None
                }
            },
            Ok(Err(stream)) => {
                self.stream = Some(stream);
                None
            }
            Err(_) => {
                self.gone = true;
                None
            }
        }
    }

    /// Waits for the steps of a thread that has the socket; takes it back when one of them takes long, and at the end.
    async fn lent(&mut self, steps: &mut JoinHandle<Work>, slot: &Slot) -> Option<Work> {
        let mut seen = slot.steps();
        let done = loop {
            tokio::select! {
                done = &mut *steps => break done.ok(),
                () = sleep(LOOK) => {
                    let is_long = std::mem::replace(&mut seen, slot.steps()) == seen;
                    if is_long && let Some(socket) = slot.take() {
                        self.take_back(socket);
                        return self.watched(steps).await;
                    }
                }
            }
        };
        if let Some(socket) = slot.take() {
            self.take_back(socket);
        }
        done
    }

    fn take_back(&mut self, socket: Socket) {
        match watched(socket) {
            Ok(stream) => self.stream = Some(stream),
            Err(_) => self.gone = true,
        }
    }

    /// Waits for a step. Meanwhile what comes is read ahead, and a client that has gone ends what it began. `None` when the
    /// step came to no end: a bug of ours.
    async fn watched(&mut self, step: &mut JoinHandle<Work>) -> Option<Work> {
        if self.gone {
            self.stop.stop();
        }
        loop {
            let full = self.gone || self.input.len() >= AHEAD_BYTES;
            let (stream, input) = (&mut self.stream, &mut self.input);
            let coming = async {
                match stream {
                    Some(stream) if !full => read_some(stream, input).await,
                    _ => pending().await,
                }
            };
            tokio::select! {
                done = &mut *step => return done.ok(),
                read = coming => if !matches!(read, Ok(true)) {
                    self.gone = true;
                    self.stop.stop();
                },
            }
        }
    }

    /// Sends answers. A client that does not take them for too long has gone.
    async fn send(&mut self, answers: &[u8]) {
        if self.gone || answers.is_empty() {
            return;
        }
        let Some(stream) = &mut self.stream else { return };
        let sending = async {
            stream.write_all(answers).await?;
            stream.flush().await
        };
        let sent = tokio::select! {
            sent = sending => sent.is_ok(),
            () = idle(self.shared.options.limits.idle) => false,
        };
        if !sent {
            self.gone = true;
            self.stop.stop();
        }
    }

    async fn tell_fatal(&mut self, error: &SqlError) {
        let mut out = BytesMut::new();
        replies::fatal(error, &mut out);
        let Some(stream) = &mut self.stream else { return };
        let _ = timeout(Duration::from_secs(1), stream.write_all(&out)).await;
        let _ = timeout(Duration::from_secs(1), stream.shutdown()).await;
    }
}

/// Waits for a time; for ever when it is zero.
async fn idle(limit: Duration) {
    match limit.is_zero() {
        true => pending().await,
        false => tokio::time::sleep(limit).await,
    }
}
