//! Who comes in, what they may take, and how the server ends.

use std::path::Path;
use std::time::Duration;

use crate::common::{Raw, Running, query, start_packet};
use server::{Certificate, Limits, ServerOptions, Users};
use stdx::sync::thread;
use tokio_postgres::{Config, NoTls};

fn users() -> Users {
    Users::parse(&Users::line("ada", "secret").unwrap()).unwrap()
}

/// What connecting with a password comes to.
fn connect(server: &Running, user: &str, password: Option<&str>) -> Result<i32, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut config = Config::new();
    config.host("127.0.0.1").port(server.address.port()).user(user);
    config.connect_timeout(Duration::from_secs(20));
    password.into_iter().for_each(|it| {
        config.password(it);
    });
    runtime.block_on(async {
        let connected = config.connect(NoTls).await;
        let (client, connection) = connected
            .map_err(|error| error.code().map_or(error.to_string(), |it| it.code().to_owned()))?;
        tokio::spawn(connection);
        Ok(client.query_one("SELECT 7", &[]).await.unwrap().get(0))
    })
}

#[test]
fn only_the_password_lets_in() {
    let server = Running::with(ServerOptions { users: users(), ..ServerOptions::default() });
    assert_eq!(connect(&server, "ada", Some("secret")), Ok(7));
    assert_eq!(connect(&server, "ada", Some("Secret")), Err("28P01".into()));
    assert_eq!(connect(&server, "bob", Some("secret")), Err("28P01".into()));
    assert!(connect(&server, "ada", None).is_err());
    // Nothing is said before, and nothing else than the exchange is listened to.
    let mut raw = Raw::open(server.address);
    raw.send(&start_packet(3 << 16, &[("user", "ada")]));
    assert_eq!(raw.read().unwrap().text(), "\0\0\0\nSCRAM-SHA-256");
    raw.send(&query("SELECT 1"));
    assert_eq!(raw.read().unwrap().field(b'C'), "08P01");
    assert_eq!(raw.read(), None);
}

#[test]
fn files_of_the_server_are_not_for_clients() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query("CREATE TABLE t (i INTEGER)"));
    for sql in [
        "COPY t TO '/tmp/nodewise-none.csv'",
        "COPY t FROM '/etc/passwd' WITH (FORMAT parquet)",
        "SELECT * FROM '/etc/passwd.parquet'",
        "EXPORT DATABASE '/tmp/nodewise-none'",
        "IMPORT DATABASE '/tmp/nodewise-none'",
        "BACKUP TO '/tmp/nodewise-none'",
        "SET temp_directory = '/tmp'",
        "EXPLAIN SELECT * FROM '/etc/passwd.parquet'",
    ] {
        assert_eq!(raw.state(&query(sql)), "42501", "{sql}");
    }
    assert!(!Path::new("/tmp/nodewise-none.csv").exists());
}

#[test]
fn connections_and_idle_clients_have_limits() {
    let limits = Limits {
        connections: 2,
        idle: Duration::from_millis(500),
        startup: Duration::from_millis(300),
        message_bytes: 1000,
        ..Limits::default()
    };
    let options = ServerOptions { trust_loopback: true, limits, ..ServerOptions::default() };
    let server = Running::with(options);
    let mut silent = Raw::open(server.address);
    let mut first = Raw::connect(server.address);
    let mut second = Raw::connect(server.address);
    let mut third = Raw::open(server.address);
    third.send(&start_packet(3 << 16, &[("user", "ada")]));
    assert_eq!(third.read().unwrap().field(b'C'), "53300");
    second.send(&query(&format!("SELECT '{}'", "x".repeat(2000))));
    assert_eq!(second.read().unwrap().field(b'C'), "54000");
    assert_eq!(first.read().unwrap().field(b'C'), "57P05");
    assert_eq!(first.read(), None);
    assert_eq!(silent.read(), None, "who says nothing is not waited for");
    assert_eq!(Raw::connect(server.address).value("SELECT 1"), "1");
}

#[test]
fn a_server_that_stops_lets_statements_end() {
    let limits = Limits { grace: Duration::from_secs(20), ..Limits::default() };
    let options = ServerOptions { trust_loopback: true, limits, ..ServerOptions::default() };
    let mut server = Running::with(options);
    let mut idle = Raw::connect(server.address);
    let mut busy = Raw::connect(server.address);
    busy.kinds(&query("CREATE TABLE t AS SELECT 1 AS i"));
    let sums = (0..12).map(|it| format!("t t{it}")).collect::<Vec<_>>().join(", ");
    busy.send(&query(&format!("SELECT count(*) FROM {sums}")));
    thread::sleep(Duration::from_millis(50));
    server.stop.stop();
    assert_eq!(idle.read().unwrap().field(b'C'), "57P01");
    assert_eq!(idle.read(), None);
    let answers = busy.until_ready();
    assert!(answers.iter().any(|it| it.0 == b'D'), "{answers:?}");
    assert_eq!(busy.read().unwrap().field(b'C'), "57P01");
    server.join();
}

#[test]
fn what_runs_on_is_ended_after_the_grace() {
    let limits = Limits { grace: Duration::from_millis(300), ..Limits::default() };
    let options = ServerOptions { trust_loopback: true, limits, ..ServerOptions::default() };
    let mut server = Running::with(options);
    let mut busy = Raw::connect(server.address);
    busy.kinds(&query(
        "CREATE TABLE d (i INTEGER); INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)",
    ));
    let many = (0..12).map(|it| format!("d d{it}")).collect::<Vec<_>>().join(", ");
    let sums = (0..12).map(|it| format!("d{it}.i")).collect::<Vec<_>>().join(" + ");
    busy.send(&query(&format!("SELECT count(*) FROM {many} WHERE {sums} = 7")));
    thread::sleep(Duration::from_millis(100));
    server.stop.stop();
    assert_eq!(busy.read().unwrap().field(b'C'), "57014");
    server.join();
}

#[test]
fn encryption_is_there_with_a_certificate() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let certificate = Certificate::read(&data.join("certificate.pem"), &data.join("key.pem"));
    assert!(Certificate::read(&data.join("key.pem"), &data.join("none.pem")).is_err());
    let options = ServerOptions {
        trust_loopback: true,
        certificate: Some(certificate.unwrap()),
        ..ServerOptions::default()
    };
    let server = Running::with(options);
    let ask = [0, 0, 0, 8, 4, 210, 22, 47];
    // What is sent behind the question is not taken for what comes encrypted.
    let mut raw = Raw::open(server.address);
    raw.send(&[&ask[..], &start_packet(3 << 16, &[("user", "ada")])].concat());
    assert_eq!(raw.read().unwrap().field(b'C'), "08P01");
    // Something that is no TLS.
    let mut raw = Raw::open(server.address);
    raw.send(&ask);
    let mut answer = [0];
    std::io::Read::read_exact(&mut raw.stream, &mut answer).unwrap();
    assert_eq!(&answer, b"S");
    raw.send(&[b'x'; 100]);
    let mut rest = Vec::new();
    let _ = std::io::Read::read_to_end(&mut raw.stream, &mut rest);
    encrypted_session(&server);
}

/// A session inside of TLS, by a client that knows the certificate.
fn encrypted_session(server: &Running) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
        stream.write_all(&[0, 0, 0, 8, 4, 210, 22, 47]).await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'S');
        let mut stream = crate::common::inside_tls(stream).await;
        stream.write_all(&start_packet(3 << 16, &[("user", "ada")])).await.unwrap();
        stream.write_all(&query("SELECT 'inside'")).await.unwrap();
        let mut read = Vec::new();
        while !read.windows(6).any(|it| it == b"inside") {
            assert!(stream.read_buf(&mut read).await.unwrap() > 0);
        }
    });
}
