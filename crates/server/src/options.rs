//! How a server is set up.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::tls::Certificate;
use crate::traces::TraceOptions;
use crate::users::Users;

/// How a server is set up.
#[derive(Debug, Default)]
pub struct ServerOptions {
    /// Where clients come in.
    pub listen: Listen,
    /// Who may come in over TCP, with a password.
    pub users: Users,
    /// Whether all who come over the loopback are let in without a password.
    pub trust_loopback: bool,
    /// By what the server shows who it is; without, there is no TLS.
    pub certificate: Option<Certificate>,
    /// Whether clients that come over TCP may name files of the server.
    pub allow_files: bool,
    /// What clients may take.
    pub limits: Limits,
    /// Where traces of statements go; nowhere when not given.
    pub traces: Option<TraceOptions>,
}

/// Where clients come in.
#[derive(Clone, Debug, Default)]
pub struct Listen {
    /// An address for TCP; port 0 is any that is free.
    pub tcp: Option<SocketAddr>,
    /// The folder of a Unix socket; only who runs the server may use it.
    pub socket_folder: Option<PathBuf>,
    /// An address for those who look by HTTP: with a certificate by TLS only. Passwords go over it as they are, so without one
    /// it has to be on the loopback.
    pub http: Option<SocketAddr>,
    /// An address for clients of Flight SQL: with a certificate by TLS only, else on the loopback only, as by HTTP.
    pub flight: Option<SocketAddr>,
}

/// What clients may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// How long a client may send nothing, or take nothing; zero for any time.
    pub idle: Duration,
    /// How long it may take to say who it is.
    pub startup: Duration,
    /// How long statements may go on when the server is to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1000,
            message_bytes: 256 << 20,
            idle: Duration::ZERO,
            startup: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}
