//! Who comes in, and how all of it ends.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nodewise::Database;
use stdx::sync::Arc;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connection::serve;
use crate::flight;
use crate::gate::Gate;
use crate::http;
use crate::options::ServerOptions;
use crate::registry::Registry;
use crate::scram::random;
use crate::shared::Shared;
use crate::stream::{Bytes, Origin};
use crate::traces::{Exporter, Traces};
use crate::users::Users;

/// Connections that have not said who they are, beside those that have.
const UNKNOWN_MAX: usize = 256;
/// How long to wait after accepting has failed, as when there are no files left.
const RETRY: Duration = Duration::from_millis(100);
/// How long connections may take to end after their statements have.
const LAST: Duration = Duration::from_secs(2);
/// How long a thread of the pool that has nothing to do stays.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    tcp: Option<TcpListener>,
    socket: Option<(UnixListener, SocketFile)>,
    http: Option<TcpListener>,
    flight: Option<TcpListener>,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
}

/// Makes a server stop, from any thread.
#[derive(Clone)]
pub struct StopHandle(watch::Sender<bool>);

impl StopHandle {
    /// Takes nobody in any more, lets statements end for the time of grace, ends those that have not, and stops.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// The file of a Unix socket, removed with the server.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Who has removed it before has done no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Server {
    /// Listens; clients that come wait until it runs.
    pub fn bind(database: Arc<Database>, mut options: ServerOptions) -> io::Result<Self> {
        let limits = options.limits;
        let threads = limits.connections + UNKNOWN_MAX;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(threads)
            .thread_keep_alive(KEEP_ALIVE)
            .thread_name("session")
            .build()?;
        let listen = options.listen.clone();
        let plain = listen.http.into_iter().chain(listen.flight);
        if plain.clone().any(|it| !it.ip().is_loopback()) && options.certificate.is_none() {
            let message = "passwords go over HTTP and Flight SQL as they are: these need a certificate, or the loopback";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let (tcp, socket, http, flight) = runtime.block_on(async {
            let tcp = bind_tcp(listen.tcp).await?;
            let port =
                tcp.as_ref().and_then(|it| it.local_addr().ok()).map_or(5432, |it| it.port());
            let socket = listen.socket_folder.map(|it| bind_socket(&it, port)).transpose()?;
            let (http, flight) = (bind_tcp(listen.http).await?, bind_tcp(listen.flight).await?);
            io::Result::Ok((tcp, socket, http, flight))
        })?;
        // Whatever texts of CREATE ROLE hold, only what checks a password is kept.
        database.make_verifiers_by(Users::verifier_of);
        options.users.make_roles(&database).map_err(|it| io::Error::other(it.message))?;
        let gate = Gate::new(database.workers());
        let secret = random().ok_or_else(|| io::Error::other("there is no randomness"))?;
        let traces = options.traces.take().map(|it| Arc::new(Traces::new(it)));
        let shared = Arc::new(Shared {
            database,
            registry: Arc::new(Registry::default()),
            flight: Arc::default(),
            gate,
            places: Arc::new(Semaphore::new(limits.connections)),
            secret,
            traces,
            options,
        });
        let (stop, _) = watch::channel(false);
        Ok(Self { runtime, tcp, socket, http, flight, shared, stop })
    }

    /// The address on which it listens for TCP.
    pub fn address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().and_then(|it| it.local_addr().ok())
    }

    /// The address on which it listens for HTTP.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http.as_ref().and_then(|it| it.local_addr().ok())
    }

    /// The address on which it listens for clients of Flight SQL.
    pub fn flight_address(&self) -> Option<SocketAddr> {
        self.flight.as_ref().and_then(|it| it.local_addr().ok())
    }

    /// The file of its Unix socket.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_ref().map(|it| &*it.1.0)
    }

    /// By which it is stopped.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.stop.clone())
    }

    /// Makes Ctrl-C and SIGTERM stop it. A second one ends what still runs at once.
    pub fn stop_on_signals(&self) -> io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let _runtime = self.runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let (stop, registry) = (self.stop.clone(), self.shared.registry.clone());
        self.runtime.spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if stop.send_replace(true) {
                    registry.cancel_all();
                }
            }
        });
        Ok(())
    }

    /// Serves clients until it is stopped.
    pub fn run(self) {
        let Self { runtime, tcp, socket, http, flight, shared, stop } = self;
        let listeners = Listeners { tcp, socket, http, flight };
        let exporter = shared.traces.as_ref().and_then(Exporter::begin);
        let stopped = runtime.block_on(async {
            let mut connections = JoinSet::new();
            let mut stopping = stop.subscribe();
            let places = Arc::new(Semaphore::new(shared.options.limits.connections + UNKNOWN_MAX));
            while !*stopping.borrow() {
                tokio::select! {
                    Ok(()) = stopping.changed() => {}
                    Some(_) = connections.join_next() => {}
                    come = listeners.accept() => {
                        // Who comes when even those are too many is not even told.
                        if let (Some(client), Ok(place)) =
                            (come, places.clone().try_acquire_owned())
                        {
                            let (shared, stopping) = (shared.clone(), stop.subscribe());
                            connections.spawn(async move {
                                match client {
                                    Client::Wire(stream, origin) => {
                                        serve(shared, stream, origin, stopping).await;
                                    }
                                    Client::Web(stream, origin) => {
                                        http::serve(shared, stream, origin, stopping).await;
                                    }
                                    Client::Flight(stream, origin) => {
                                        flight::serve(shared, stream, origin, stopping).await;
                                    }
                                }
                                drop(place);
                            });
                        }
                    }
                }
            }
            drop(listeners);
            let stopped = shared.database.machine().now();
            let all = async { while connections.join_next().await.is_some() {} };
            tokio::pin!(all);
            if timeout(shared.options.limits.grace, &mut all).await.is_err() {
                shared.registry.cancel_all();
                let _ = timeout(LAST, &mut all).await;
            }
            stopped
        });
        if let Some(exporter) = exporter {
            let took = shared.database.machine().now() - stopped;
            let left = shared.options.limits.grace.saturating_sub(Duration::from_nanos(took.0));
            exporter.end(left.max(LAST));
        }
        runtime.shutdown_timeout(LAST);
    }
}

/// Who has come, by which door.
enum Client {
    Wire(Box<dyn Bytes>, Origin),
    Web(TcpStream, Origin),
    Flight(TcpStream, Origin),
}

/// Where clients come in.
struct Listeners {
    tcp: Option<TcpListener>,
    socket: Option<(UnixListener, SocketFile)>,
    http: Option<TcpListener>,
    flight: Option<TcpListener>,
}

async fn bind_tcp(address: Option<SocketAddr>) -> io::Result<Option<TcpListener>> {
    match address {
        Some(address) => TcpListener::bind(address).await.map(Some),
        None => Ok(None),
    }
}

/// The next client of a TCP port; for ever none where there is no port.
async fn accept_tcp(listener: Option<&TcpListener>) -> io::Result<(TcpStream, Origin)> {
    let Some(listener) = listener else { return std::future::pending().await };
    let (stream, from) = listener.accept().await?;
    // Answers are put together here already.
    let _ = stream.set_nodelay(true);
    let local = from.ip().to_canonical().is_loopback();
    Ok((stream, if local { Origin::Loopback(from) } else { Origin::Network(from) }))
}

impl Listeners {
    /// The next client. `None` when it could not be let in.
    async fn accept(&self) -> Option<Client> {
        let by_socket = async {
            match &self.socket {
                Some((it, _)) => it.accept().await,
                None => std::future::pending().await,
            }
        };
        let come: io::Result<Client> = tokio::select! {
            come = accept_tcp(self.tcp.as_ref()) => {
                come.map(|(stream, from)| Client::Wire(Box::new(stream), from))
            }
            come = accept_tcp(self.http.as_ref()) => {
                come.map(|(stream, from)| Client::Web(stream, from))
            }
            come = accept_tcp(self.flight.as_ref()) => {
                come.map(|(stream, from)| Client::Flight(stream, from))
            }
            come = by_socket => match come {
                Ok((stream, _)) if is_own(&stream) => {
                    Ok(Client::Wire(Box::new(stream), Origin::Socket))
                }
                Ok(_) => return None,
                Err(error) => Err(error),
            },
        };
        if come.is_err() {
            sleep(RETRY).await;
        }
        come.ok()
    }
}

/// Whether who is at the other end is who runs the server, or root.
fn is_own(stream: &UnixStream) -> bool {
    use std::os::unix::fs::MetadataExt;
    // The socket's file belongs to who made it.
    let owner = stream.local_addr().ok().and_then(|it| Some(it.as_pathname()?.to_owned()));
    let owner = owner.and_then(|it| Some(std::fs::metadata(it).ok()?.uid()));
    let peer = stream.peer_cred().ok().map(|it| it.uid());
    peer.is_some() && (peer == owner || peer == Some(0))
}

/// A socket in a folder, as clients look for it there.
fn bind_socket(folder: &Path, port: u16) -> io::Result<(UnixListener, SocketFile)> {
    use std::os::unix::fs::PermissionsExt;
    let path = std::path::absolute(folder)?.join(format!(".s.PGSQL.{port}"));
    if path.exists() {
        // One that nobody listens to any more is left of a server that did not end well.
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            let message = format!("another server listens on {}", path.display());
            return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
        }
        std::fs::remove_file(&path)?;
    }
    let listener = UnixListener::bind(&path)?;
    let file = SocketFile(path);
    std::fs::set_permissions(&file.0, std::fs::Permissions::from_mode(0o700))?;
    Ok((listener, file))
}
