//! A server on a free port of the loopback, and a client that speaks in bytes.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use hardware::Machine;
use nodewise::{Database, DatabaseOptions};
use server::{Listen, Server, ServerOptions, StopHandle};
use stdx::sync::thread::{self, JoinHandle};

/// How long any one answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    /// Where it listens for HTTP.
    pub http: SocketAddr,
    /// Where it listens for clients of Flight SQL.
    pub flight: SocketAddr,
    pub stop: StopHandle,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// One that lets all in who come over the loopback.
    pub fn start() -> Self {
        Self::with(ServerOptions { trust_loopback: true, ..ServerOptions::default() })
    }

    pub fn with(options: ServerOptions) -> Self {
        Self::on(hardware_linux::open(), options)
    }

    /// One on a machine.
    pub fn on(machine: Arc<dyn Machine>, mut options: ServerOptions) -> Self {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        options.listen =
            Listen { tcp: Some(free), http: Some(free), flight: Some(free), socket_folder: None };
        let setup = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
        let database = Database::open(machine, setup).unwrap();
        let server = Server::bind(database, options).unwrap();
        let (address, stop) = (server.address().unwrap(), server.stop_handle());
        let http = server.http_address().unwrap();
        let flight = server.flight_address().unwrap();
        let thread = Some(thread::spawn(move || server.run()));
        Self { address, http, flight, stop, thread }
    }

    /// Waits until it has stopped.
    pub fn join(&mut self) {
        self.thread.take().into_iter().for_each(|it| it.join().unwrap());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        self.join();
    }
}

/// A client that speaks in bytes.
pub struct Raw {
    pub stream: TcpStream,
    /// The number and the key by which its statements are ended.
    pub key: Vec<u8>,
}

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(pub u8, pub Vec<u8>);

impl Message {
    /// The field of an error.
    pub fn field(&self, kind: u8) -> String {
        let mut fields = self.1.split(|it| *it == 0);
        let found = fields.find(|it| it.first() == Some(&kind));
        found.map_or(String::new(), |it| String::from_utf8_lossy(&it[1..]).into_owned())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.1).trim_end_matches('\0').to_owned()
    }
}

/// A frame.
pub fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as i32 + 4).to_be_bytes();
    [&[kind][..], &length, body].concat()
}

pub fn query(sql: &str) -> Vec<u8> {
    frame(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

pub fn parse(name: &str, sql: &str) -> Vec<u8> {
    frame(b'P', format!("{name}\0{sql}\0\0\0").as_bytes())
}

/// No parameters, results in text.
pub fn bind(portal: &str, name: &str) -> Vec<u8> {
    frame(b'B', format!("{portal}\0{name}\0\0\0\0\0\0\0").as_bytes())
}

pub fn execute(portal: &str, rows: i32) -> Vec<u8> {
    frame(b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat())
}

pub fn sync() -> Vec<u8> {
    frame(b'S', b"")
}

/// All of one statement, without Sync.
pub fn all_of(sql: &str) -> Vec<u8> {
    [parse("", sql), bind("", ""), execute("", 0)].concat()
}

pub fn start_packet(version: i32, settings: &[(&str, &str)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in settings {
        body.extend(format!("{name}\0{value}\0").as_bytes());
    }
    body.push(0);
    let length = (body.len() as i32 + 4).to_be_bytes();
    [&length[..], &body].concat()
}

impl Raw {
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, key: Vec::new() }
    }

    pub fn connect(address: SocketAddr) -> Self {
        let mut raw = Self::open(address);
        raw.send(&start_packet(3 << 16, &[("user", "ada")]));
        let messages = raw.until_ready();
        raw.key = messages.iter().find(|it| it.0 == b'K').unwrap().1.clone();
        raw
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next message; `None` when the server has ended the connection.
    pub fn read(&mut self) -> Option<Message> {
        let mut head = [0; 5];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("no answer in time"),
            Err(_) => return None,
        }
        let length = i32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        let mut body = vec![0; length as usize - 4];
        self.stream.read_exact(&mut body).ok()?;
        Some(Message(head[0], body))
    }

    pub fn until_ready(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        loop {
            let message = self.read().expect("the server is there");
            let ready = message.0 == b'Z';
            messages.push(message);
            if ready {
                return messages;
            }
        }
    }

    /// The kinds of the answers to something.
    pub fn kinds(&mut self, bytes: &[u8]) -> String {
        self.send(bytes);
        self.until_ready().iter().map(|it| char::from(it.0)).collect()
    }

    /// The first value of the first row of a query.
    pub fn value(&mut self, sql: &str) -> String {
        self.send(&query(sql));
        let messages = self.until_ready();
        let row = messages.iter().find(|it| it.0 == b'D');
        let row = row.unwrap_or_else(|| panic!("{sql} gives no row: {messages:?}"));
        String::from_utf8_lossy(&row.1[6..]).into_owned()
    }

    /// The SQLSTATE of the error that something ends with.
    pub fn state(&mut self, bytes: &[u8]) -> String {
        self.send(bytes);
        let messages = self.until_ready();
        messages.iter().find(|it| it.0 == b'E').map_or(String::new(), |it| it.field(b'C'))
    }

    /// Asks on a connection of its own to end what this one runs.
    pub fn cancel(&self, address: SocketAddr) {
        let mut body = 80_877_102_i32.to_be_bytes().to_vec();
        body.extend(&self.key);
        let length = (body.len() as i32 + 4).to_be_bytes();
        let mut other = Self::open(address);
        other.send(&[&length[..], &body].concat());
        assert_eq!(other.read(), None, "there is no answer");
    }
}

/// A stream inside of TLS, of a client that knows the certificate of the tests.
pub async fn inside_tls(
    stream: tokio::net::TcpStream,
) -> tokio_rustls::client::TlsStream<tokio::net::TcpStream> {
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::crypto::ring::default_provider;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/certificate.pem");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(std::sync::Arc::new(config)).connect(name, stream).await.unwrap()
}
