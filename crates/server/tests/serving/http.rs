//! The page, statements as JSON, metrics, and who gets them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::common::{Raw, Running};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use server::{Certificate, ServerOptions, Users};
use stdx::sync::thread;

const JSON: &str = "content-type: application/json\r\n";

/// Sends a request; the status, the head and the body of the answer.
fn send(
    server: &Running,
    method: &str,
    path: &str,
    fields: &str,
    body: &str,
) -> (u16, String, String) {
    let mut stream = TcpStream::connect(server.http).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let host = if fields.contains("host:") { "" } else { "host: localhost\r\n" };
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\n{host}{fields}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap();
    (status, head.to_lowercase(), body.to_owned())
}

fn get(server: &Running, path: &str, fields: &str) -> u16 {
    send(server, "GET", path, fields, "").0
}

/// What some texts come to.
fn query(server: &Running, texts: &[&str], rows: usize) -> Vec<Value> {
    let body = json!({"texts": texts, "rows": rows}).to_string();
    let (status, _, answer) = send(server, "POST", "/query", JSON, &body);
    assert_eq!(status, 200, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["answers"].as_array().unwrap().clone()
}

#[test]
fn the_page_comes_whole_and_brings_nothing_from_elsewhere() {
    let server = Running::start();
    for (path, kind, part) in [
        ("/", "text/html", "<title>Nodewise</title>"),
        ("/page.css", "text/css", "prefers-color-scheme"),
        ("/page.js", "text/javascript", "/query"),
        ("/views.js", "text/javascript", "nodewise.traffic"),
        ("/timeline.js", "text/javascript", "nodewise.trace"),
    ] {
        let (status, head, body) = send(&server, "GET", path, "", "");
        assert_eq!(status, 200, "{path}");
        assert!(head.contains(&format!("content-type: {kind}")) && body.contains(part), "{path}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
        // The name of SVG's elements is no address.
        let body = body.replace("http://www.w3.org/2000/svg", "");
        assert!(!body.contains("http://") && !body.contains("https://"), "{path}");
    }
    assert_eq!([get(&server, "/none", ""), send(&server, "POST", "/", "", "").0], [404, 405]);
}

#[test]
fn statements_give_their_rows_as_texts() {
    let server = Running::start();
    let answers = query(
        &server,
        &[
            "CREATE TABLE t (n INT, s TEXT); INSERT INTO t VALUES (1, 'a'), (2, NULL)",
            "SELECT n, s, n + 0.5 AS half FROM t ORDER BY n",
            "SELECT 1 / 0",
            "SELECT * FROM generate_series(1, 100000)",
        ],
        3,
    );
    assert_eq!(answers[0]["results"][1]["tag"], "INSERT 0 2");
    let rows = &answers[1]["results"][0];
    assert_eq!(rows["columns"][0], json!({"name": "n", "type": "integer", "number": true}));
    assert_eq!(rows["rows"], json!([["1", "a", "1.5"], ["2", null, "2.5"]]));
    assert_eq!(answers[2]["error"]["sqlstate"], "22012");
    let first = &answers[3]["results"][0];
    assert_eq!((first["rows"].as_array().unwrap().len(), &first["more"]), (3, &json!(true)));
}

#[test]
fn a_failed_text_leaves_nothing_and_an_open_transaction_ends_with_its_request() {
    let server = Running::start();
    query(&server, &["CREATE TABLE t (n INT)"], 9);
    let failed = query(&server, &["INSERT INTO t VALUES (1); SELECT 1 / 0"], 9);
    assert_eq!(failed[0]["error"]["sqlstate"], "22012");
    query(&server, &["BEGIN; INSERT INTO t VALUES (2)"], 9);
    let count = query(&server, &["SELECT count(*) FROM t"], 9);
    assert_eq!(count[0]["results"][0]["rows"], json!([["0"]]));
    let wrong = query(&server, &["SELECT\n  nothing"], 9);
    assert_eq!(wrong[0]["error"]["place"], json!({"line": 2, "column": 3}));
}

#[test]
fn files_are_only_for_who_may_name_them() {
    let server = Running::start();
    let answers = query(&server, &["SELECT * FROM '/etc/passwd'", "COPY (SELECT 1) TO STDOUT"], 9);
    assert_eq!(answers[0]["error"]["sqlstate"], "42501");
    assert_eq!(answers[1]["error"]["sqlstate"], "0A000");
}

#[test]
fn statements_can_be_ended_by_others_and_by_going_away() {
    let server = Running::start();
    let long = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 1000000) b";
    let running = "SELECT id FROM nodewise.queries WHERE text LIKE 'SELECT count%'";
    let ids = |server: &Running| -> Vec<String> {
        let rows = query(server, &[running], 9)[0]["results"][0]["rows"].clone();
        let rows = rows.as_array().unwrap().clone();
        rows.iter().map(|it| it[0].as_str().unwrap().to_owned()).collect()
    };
    let wait = |server: &Running, count: usize| {
        for _ in 0..600 {
            if ids(server).len() == count {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{count} statements were expected, there are {}", ids(server).len());
    };
    thread::scope(|scope| {
        let ended = scope.spawn(|| query(&server, &[long], 9));
        wait(&server, 1);
        query(&server, &[&format!("KILL {}", ids(&server)[0])], 9);
        assert_eq!(ended.join().unwrap()[0]["error"]["sqlstate"], "57014");
    });
    let body = json!({"texts": [long]}).to_string();
    let mut stream = TcpStream::connect(server.http).unwrap();
    let head = format!(
        "POST /query HTTP/1.1\r\nhost: localhost\r\n{JSON}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    wait(&server, 1);
    drop(stream);
    wait(&server, 0);
}

#[test]
fn metrics_are_those_of_prometheus() {
    let server = Running::start();
    let _client = Raw::connect(server.address);
    query(&server, &["SELECT 1", "SELECT 1 / 0"], 9);
    let (status, head, text) = send(&server, "GET", "/metrics", "", "");
    assert!(status == 200 && head.contains("text/plain; version=0.0.4"), "{head}");
    for line in [
        "nodewise_connections 1",
        "nodewise_statements_total{kind=\"select\",outcome=\"ok\"} 1",
        "nodewise_statements_total{kind=\"select\",outcome=\"error\"} 1",
        "nodewise_statement_duration_seconds_bucket{kind=\"select\",le=\"+Inf\"} 2",
        "# TYPE nodewise_statement_duration_seconds histogram",
        "nodewise_workers 2",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    let sample = |it: &str| {
        let (name, value) = it.rsplit_once(' ').unwrap();
        !name.is_empty() && value.parse::<f64>().is_ok()
    };
    assert!(text.lines().all(|it| it.starts_with("# ") || sample(it)), "{text}");
}

#[test]
fn what_the_dashboard_draws_is_there() {
    let server = Running::start();
    query(&server, &["CREATE TABLE t (a INTEGER)", "SELECT count(*) FROM t"], 9);
    let (_, _, text) = send(&server, "GET", "/metrics", "", "");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let drawn = std::fs::read_to_string(folder.join("grafana-dashboard.json")).unwrap();
    let drawn: Value = serde_json::from_str(&drawn).unwrap();
    let mut names = 0;
    for panel in drawn["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let words = target["expr"]
                .as_str()
                .unwrap()
                .split(|it: char| !it.is_alphanumeric() && it != '_');
            for name in words.filter(|it| it.starts_with("nodewise_")) {
                names += 1;
                // A database in memory has no log and may have no limit.
                let is_there = text.lines().any(|it| it.starts_with(name));
                let may_lack = name.starts_with("nodewise_log_") || name.contains("_limit_");
                assert!(is_there || may_lack, "{name} of {} is not in\n{text}", panel["title"]);
            }
        }
    }
    assert!(names > 10, "{names}");
}

#[test]
fn only_a_user_with_a_password_is_told_anything() {
    let users = Users::parse(&Users::line("ada", "secret").unwrap()).unwrap();
    let server = Running::with(ServerOptions { users, ..ServerOptions::default() });
    let basic = |it: &str| format!("authorization: Basic {}\r\n", STANDARD.encode(it));
    for path in ["/", "/page.js", "/metrics", "/none"] {
        let (status, head, _) = send(&server, "GET", path, "", "");
        assert!(status == 401 && head.contains("www-authenticate: basic"), "{path}: {head}");
    }
    for wrong in ["ada:Secret", "ada:", "bob:secret", ":", "ada"] {
        assert_eq!(get(&server, "/metrics", &basic(wrong)), 401, "{wrong}");
    }
    assert_eq!(get(&server, "/metrics", &basic("ada:secret")), 200);
    let body = json!({"texts": ["SELECT current_user"]}).to_string();
    assert_eq!(send(&server, "POST", "/query", JSON, &body).0, 401);
    let fields = format!("{JSON}{}", basic("ada:secret"));
    let (_, _, answer) = send(&server, "POST", "/query", &fields, &body);
    assert!(answer.contains("[[\"ada\"]]"), "{answer}");
    assert_eq!([get(&server, "/livez", ""), get(&server, "/readyz", "")], [200, 200]);
}

#[test]
fn pages_of_others_cannot_use_who_may() {
    let server = Running::start();
    let body = json!({"texts": ["SELECT 1"]}).to_string();
    let post = |fields: &str| send(&server, "POST", "/query", fields, &body).0;
    assert_eq!(post(JSON), 200);
    assert_eq!(post("content-type: text/plain\r\n"), 415);
    assert_eq!(post(&format!("{JSON}sec-fetch-site: cross-site\r\n")), 403);
    assert_eq!(post(&format!("{JSON}origin: https://evil.example\r\n")), 403);
    assert_eq!(post(&format!("{JSON}origin: null\r\n")), 403);
    assert_eq!(post(&format!("{JSON}origin: http://localhost\r\n")), 200);
    // A name that somebody else has made to mean this address.
    assert_eq!(get(&server, "/metrics", "host: evil.example\r\n"), 403);
    assert_eq!(get(&server, "/livez", "host: evil.example\r\n"), 200);
}

#[test]
fn requests_that_are_no_requests_are_refused() {
    let server = Running::start();
    for body in ["", "{}", "{\"texts\": \"SELECT 1\"}", "\u{0}"] {
        assert_eq!(send(&server, "POST", "/query", JSON, body).0, 400, "{body}");
    }
    for bytes in [&b"\x00\x00\x00\x08\x04\xd2\x16\x2f"[..], b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n"]
    {
        let mut stream = TcpStream::connect(server.http).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // What it says does not matter; that it ends, does.
        let _ = stream.read_to_end(&mut answer);
    }
    assert_eq!(get(&server, "/livez", ""), 200);
}

#[test]
fn without_a_certificate_it_stays_on_the_loopback() {
    use std::net::{Ipv4Addr, SocketAddr};
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let options = || ServerOptions {
        listen: server::Listen { http: Some(everywhere), ..Default::default() },
        ..ServerOptions::default()
    };
    let database = nodewise::Database::open(hardware_linux::open(), Default::default()).unwrap();
    assert!(server::Server::bind(database.clone(), options()).is_err());
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let certificate = Certificate::read(&data.join("certificate.pem"), &data.join("key.pem"));
    let certificate = Some(certificate.unwrap());
    let bound = server::Server::bind(database, ServerOptions { certificate, ..options() });
    assert!(bound.unwrap().http_address().is_some());
}

#[test]
fn with_a_certificate_only_tls_is_spoken() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let certificate = Certificate::read(&data.join("certificate.pem"), &data.join("key.pem"));
    let certificate = Some(certificate.unwrap());
    let options = ServerOptions { certificate, trust_loopback: true, ..ServerOptions::default() };
    let server = Running::with(options);
    let mut plain = TcpStream::connect(server.http).unwrap();
    plain.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "it answered without TLS");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let stream = tokio::net::TcpStream::connect(server.http).await.unwrap();
        let mut stream = crate::common::inside_tls(stream).await;
        let request = b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.ends_with("live\n"), "{answer}");
    });
}
