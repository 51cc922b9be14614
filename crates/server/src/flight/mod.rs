//! The third door: Arrow Flight SQL, by which rows go out as the engine's batches, and come in so.
//!
//! Key decision: whatever a client may name is a session's. Flight knows calls, not connections, so a call says which session it is
//! of: by the token that Handshake gave, by a cookie, or by the handle of a prepared statement or a transaction. A session lives as long
//! as a connection on which it was named ([docs/design/11-server.md], "sessions of Flight SQL").
//!
//! Reading order: `caller`, `seats` (sessions), `door` (connections), `access` (who calls), `service` (what the calls are), `statements`, `rows` (out), `incoming` and
//! `ingest` (in), `metadata`, `server_facts`.
//!
//! - Invariant: rows are encoded by the workers that make them; no more than two fetches of a stream wait for its client.
//! - Invariant: a handle is worth something to the user alone whose session made it.

mod access;
mod actions;
mod caller;
mod changes;
mod commands;
mod door;
mod incoming;
mod ingest;
mod metadata;
mod queries;
mod rows;
mod seats;
mod server_facts;
mod service;
mod statements;
mod status;

use arrow_flight::flight_service_server::FlightServiceServer;
use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use stdx::sync::Arc;
use tokio::net::TcpStream;
use tokio::pin;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tonic::Status;

use self::door::Door;
pub use self::seats::Seats;
use self::service::Service;
use crate::shared::Shared;
use crate::stream::{Bytes, Origin};

/// Calls of a connection at once.
const CALLS_MAX: u32 = 128;
/// Bytes of the head of a call.
const HEAD_BYTES: u32 = 64 << 10;
/// Bytes that a client may send ahead of a call that reads them, and of all calls of a connection.
const CALL_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Bytes of a piece of a stream that we take; how large those are that we send, the client says.
const FRAME_BYTES: u32 = 1 << 20;
/// Bytes of a stream that wait to be sent.
const SEND_BYTES: usize = 2 << 20;

/// Serves the calls of a connection until one side ends it.
pub async fn serve(
    shared: Arc<Shared>,
    stream: TcpStream,
    origin: Origin,
    mut stopping: watch::Receiver<bool>,
) {
    let limits = shared.options.limits;
    let Ok(place) = shared.places.clone().try_acquire_owned() else { return };
    let stream: Box<dyn Bytes> = Box::new(stream);
    let stream = match &shared.options.certificate {
        None => stream,
        Some(certificate) => {
            match timeout(limits.startup, certificate.flight_acceptor().accept(stream)).await {
                Ok(Ok(inside)) => Box::new(inside),
                // Nobody is left who could be told.
                _ => return,
            }
        }
    };
    let door = Arc::new(Door::new(shared, origin));
    let service = FlightServiceServer::new(Service::new(door.clone()))
        .max_decoding_message_size(limits.message_bytes)
        .max_encoding_message_size(usize::MAX);
    let service = TowerToHyperService::new(service);
    let service =
        service_fn(move |it: Request<Incoming>| service.call(it.map(|it| it.map_err(cut_off))));
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(CALLS_MAX)
        .max_header_list_size(HEAD_BYTES)
        .initial_stream_window_size(CALL_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME_BYTES)
        .max_send_buf_size(SEND_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    pin!(connection);
    let mut ending = false;
    loop {
        tokio::select! {
            _ = connection.as_mut() => break,
            Ok(()) = stopping.changed(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
    door.end();
    // What its sessions hold is given back on a thread that may wait.
    let _ = spawn_blocking(move || drop((door, place))).await;
}

/// What the rows of a call end with where the client hangs up among them. The transport takes a call that was cancelled for one
/// whose rows have all come.
fn cut_off(error: hyper::Error) -> Status {
    Status::aborted(format!("the client has hung up: {error}"))
}
