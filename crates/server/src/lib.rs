//! Serves a database to clients of PostgreSQL: the wire protocol, version 3, on TCP and on a Unix socket.
//!
//! Key decision: the network is asynchronous and sessions are not. One thread owns all sockets; what is to be run is handed to
//! a pool of threads that block, and comes back with at most a buffer of answers. So a connection that is idle, or whose client
//! is slow, holds no thread, and no statement waits for a socket ([docs/design/11-server.md]).
//!
//! Reading order: `options`, `serve` (who comes in), `connection` (the life of one), `startup`, `authentication`, `requests`
//! and `replies` (the messages), `backend` (what messages do), `extended`, `portal`, `copying`, `rows`, `encoding`, `values`, `parameters`, `compound_parameters`, `parameter_values`, `binary_rows`;
//! `http` (the page and the metrics); `flight` (Flight SQL); `traces` (OpenTelemetry).
//!
//! - Invariant: the only crate that knows an async runtime and protocols.
//! - Invariant: no bytes of a client make it panic, and none take more memory than the options allow.
#![forbid(unsafe_code)]

mod authentication;
mod backend;
mod binary_rows;
mod binary_values;
mod compound_parameters;
mod compound_values;
mod connection;
mod copying;
mod declared;
mod direct;
mod encoding;
mod extended;
mod flight;
mod gate;
mod http;
mod numeric_values;
mod options;
mod parameter_values;
mod parameters;
mod portal;
mod registry;
mod replies;
mod requests;
mod rows;
mod scram;
mod serve;
mod shared;
mod socket;
mod startup;
mod stream;
mod tls;
mod traces;
mod transcoded;
mod users;
mod values;

pub use options::{Limits, Listen, ServerOptions};
pub use serve::{Server, StopHandle};
pub use tls::Certificate;
pub use traces::{Collector, Tell, TraceOptions};
pub use users::Users;
