//! Traces, as a collector of OpenTelemetry gets them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arrow_flight::FlightDescriptor;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::{CommandStatementQuery, ProstMessageExt};
use prost::Message as _;
use server::{Collector, Limits, ServerOptions, TraceOptions};
use stdx::sync::thread;
use stdx::sync::{Arc, Mutex};
use tonic::Request;
use tonic::transport::Endpoint;

use crate::collector::{INTERNAL, Kept, PATIENCE, SERVER, fact};
use crate::common::{Raw, Running, all_of, execute, frame, parse, query, sync};

const PARENT: &str = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";

/// A server that sends its traces to an address.
fn traced(address: SocketAddr, change: impl FnOnce(&mut TraceOptions)) -> Running {
    traced_by(Collector::parse(&format!("http://{address}"), None).unwrap(), change)
}

fn traced_by(collector: Collector, change: impl FnOnce(&mut TraceOptions)) -> Running {
    let mut traces = TraceOptions::new(collector);
    change(&mut traces);
    let limits = Limits { grace: Duration::from_secs(2), ..Limits::default() };
    let traces = Some(traces);
    Running::with(ServerOptions {
        trust_loopback: true,
        traces,
        limits,
        ..ServerOptions::default()
    })
}

fn said(raw: &mut Raw, sql: &str) {
    raw.send(&query(sql));
    raw.until_ready();
}

/// The number of a counter of `/metrics`.
fn metric(server: &Running, name: &str) -> Option<u64> {
    let mut stream = TcpStream::connect(server.http).unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let line = answer.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

fn wait_for_metric(server: &Running, name: &str, least: u64) {
    let began = Instant::now();
    while metric(server, name).unwrap() < least {
        assert!(began.elapsed() < PATIENCE, "{name} is {:?}", metric(server, name));
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_statement_is_a_span_with_its_steps_below() {
    let (kept, address) = Kept::start();
    let server = traced(address, |it| it.service = "shop".to_owned());
    let mut raw = Raw::connect(server.address);
    said(&mut raw, "CREATE TABLE t (a INT)");
    said(&mut raw, "INSERT INTO t SELECT * FROM generate_series(1, 1000)");
    let text = "SELECT a % 3, count(*) FROM t GROUP BY 1";
    said(&mut raw, text);
    let (span, below) = kept.wait_for_text(text);
    let of = |key: &str| fact(&span.attributes, key);
    assert_eq!(
        (of("db.system.name"), of("db.operation.name")),
        ("nodewise".into(), "SELECT".into())
    );
    assert_eq!((of("db.response.returned_rows"), of("user.name")), ("3".into(), "ada".into()));
    assert_eq!((of("client.address"), of("network.transport")), ("127.0.0.1".into(), "tcp".into()));
    let port = raw.stream.local_addr().unwrap().port();
    assert_eq!(of("client.port"), port.to_string());
    assert_eq!(span.name, format!("SELECT {}", of("db.namespace")));
    assert!(!of("db.namespace").is_empty() && span.status.is_none());
    assert!(span.parent_span_id.is_empty() && span.trace_id.len() == 16 && span.span_id.len() == 8);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    assert!(span.start_time_unix_nano < span.end_time_unix_nano);
    assert!(now - 120_000_000_000 < span.start_time_unix_nano && span.end_time_unix_nano < now);
    let mut names: Vec<&str> = below.iter().map(|it| &*it.name).collect();
    assert_eq!(names[..3], ["parse", "bind", "plan"], "{names:?}");
    names.drain(..3);
    assert!(names.contains(&"scan t, groups") && names.len() >= 2, "{names:?}");
    for step in &below {
        assert_eq!((&step.trace_id, step.kind), (&span.trace_id, INTERNAL));
        assert!(step.start_time_unix_nano <= step.end_time_unix_nano, "{step:?}");
        // The world's clock is read once, for all of them.
        let whole = span.start_time_unix_nano..=span.end_time_unix_nano;
        assert!(whole.contains(&step.start_time_unix_nano), "{step:?} of {span:?}");
        assert!(whole.contains(&step.end_time_unix_nano), "{step:?} of {span:?}");
    }
    let scan = below.iter().find(|it| it.name == "scan t, groups").unwrap();
    assert_eq!(fact(&scan.attributes, "nodewise.pipeline.rows"), "1000");
    let (insert, below) = kept.wait_for("INSERT", |it| it.name.starts_with("INSERT "));
    assert_eq!(fact(&insert.attributes, "nodewise.changed_rows"), "1000");
    assert!(below.iter().any(|it| it.name == "commit"), "{below:?}");
    let request = kept.requests()[0].clone();
    let resource = request.resources[0].resource.as_ref().unwrap();
    assert_eq!(fact(&resource.attributes, "service.name"), "shop");
    wait_for_metric(&server, "nodewise_trace_spans_exported_total", 5);
    assert_eq!(metric(&server, "nodewise_trace_spans_dropped_total"), Some(0));
}

#[test]
fn errors_have_their_sqlstate_wherever_they_come_from() {
    let (kept, address) = Kept::start();
    let server = traced(address, |_| ());
    let mut raw = Raw::connect(server.address);
    for (text, told, state) in [
        ("SELECT 1 / 0", "SELECT 1 / 0", "22012"),
        ("SELECT * FROM missing", "SELECT * FROM missing", "42P01"),
        ("SELECT 'cannot be read", "SELECT ..", "42601"),
    ] {
        said(&mut raw, text);
        let (span, _) = kept.wait_for_text(told);
        assert_eq!(fact(&span.attributes, "db.response.status_code"), state);
        assert_eq!(fact(&span.attributes, "error.type"), state);
        assert_eq!(fact(&span.attributes, "db.response.returned_rows"), "");
        let status = span.status.unwrap();
        assert_eq!((status.code, status.message), (2, format!("SQLSTATE {state}")));
    }
    raw.send(&[all_of("SELECT * FROM gone"), sync()].concat());
    raw.until_ready();
    let (span, _) = kept.wait_for_text("SELECT * FROM gone");
    assert!(span.name.starts_with("PREPARE ") && span.status.is_some(), "{span:?}");
}

#[test]
fn what_is_prepared_and_what_ends_transactions_are_spans() {
    let (kept, address) = Kept::start();
    let server = traced(address, |_| ());
    let mut raw = Raw::connect(server.address);
    raw.send(&[all_of("BEGIN"), all_of("SELECT 7 AS seven"), all_of("COMMIT"), sync()].concat());
    raw.until_ready();
    let named = |name: &'static str, text: &'static str| {
        kept.wait_for(name, move |it| {
            it.name.starts_with(name) && fact(&it.attributes, "db.query.text") == text
        })
    };
    let (_, below) = named("PREPARE", "SELECT 7 AS seven");
    assert!(["parse", "bind", "plan"].iter().all(|it| below.iter().any(|of| of.name == *it)));
    let (select, _) = named("SELECT", "SELECT 7 AS seven");
    assert_eq!(fact(&select.attributes, "db.response.returned_rows"), "1");
    named("BEGIN", "BEGIN");
    named("COMMIT", "COMMIT");
}

#[test]
fn no_password_and_no_parameter_is_sent() {
    let (kept, address) = Kept::start();
    let server = traced(address, |_| ());
    let mut raw = Raw::connect(server.address);
    said(&mut raw, "CREATE ROLE bob LOGIN PASSWORD 'topsecret'");
    said(&mut raw, "ALTER ROLE bob PASWORD 'topsecret'");
    let value = [&b"\0\0\0\0\0\x01\0\0\0\x09"[..], b"topsecret", b"\0\0"].concat();
    let bind = frame(b'B', &value);
    raw.send(&[parse("", "SELECT $1::text"), bind, execute("", 0), sync()].concat());
    raw.until_ready();
    kept.wait_for_text("CREATE ROLE bob LOGIN PASSWORD $1");
    kept.wait_for("SELECT", |it| it.name.starts_with("SELECT "));
    kept.wait_for_text("ALTER ROLE bob PASWORD $1");
    for request in kept.requests().iter() {
        let bytes = request.encode_to_vec();
        assert!(!bytes.windows(9).any(|it| it == b"topsecret"), "{request:?}");
    }
}

#[test]
fn a_client_that_has_a_span_is_above_and_says_whether() {
    let (kept, address) = Kept::start();
    let server = traced(address, |it| it.ratio = 0.0);
    let mut raw = Raw::connect(server.address);
    let remark = |flags: &str| format!("/*db_driver='x',traceparent='00-{PARENT}-{flags}'*/");
    said(&mut raw, &format!("SELECT 1 {}", remark("00")));
    said(&mut raw, "SELECT 2");
    said(&mut raw, &format!("SELECT 3 {}", remark("01")));
    let request = "POST /query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let body = r#"{"texts": ["SELECT 4"]}"#;
    let request = format!(
        "{request}traceparent: 00-{PARENT}-01\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(server.http).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let endpoint = Endpoint::new(format!("http://{}", server.flight)).unwrap();
        let mut client = FlightServiceClient::new(endpoint.connect().await.unwrap());
        let command = CommandStatementQuery { query: "SELECT 5".to_owned(), transaction_id: None };
        let descriptor = FlightDescriptor::new_cmd(command.as_any().encode_to_vec());
        let info = client.get_flight_info(descriptor).await.unwrap().into_inner();
        let mut call = Request::new(info.endpoint[0].ticket.clone().unwrap());
        call.metadata_mut().insert("traceparent", format!("00-{PARENT}-01").parse().unwrap());
        let mut rows = client.do_get(call).await.unwrap().into_inner();
        while rows.message().await.unwrap().is_some() {}
    });
    for text in [&*format!("SELECT 3 {}", remark("01")), "SELECT 4", "SELECT 5"] {
        let (span, below) = kept.wait_for_text(text);
        let hex = |it: &[u8]| it.iter().map(|it| format!("{it:02x}")).collect::<String>();
        assert_eq!(format!("{}-{}", hex(&span.trace_id), hex(&span.parent_span_id)), PARENT);
        // That its parent is elsewhere.
        assert_eq!(span.flags & 0x300, 0x300);
        assert!(below.iter().all(|it| it.trace_id == span.trace_id && it.flags & 0x300 == 0x100));
    }
    drop(server);
    let texts: Vec<String> =
        kept.spans().iter().map(|it| fact(&it.attributes, "db.query.text")).collect();
    assert!(!texts.iter().any(|it| it.starts_with("SELECT 1") || it == "SELECT 2"), "{texts:?}");
}

#[test]
fn a_collector_is_known_by_its_certificate() {
    let (kept, address) = Kept::start_with_tls();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/certificate.pem");
    let url = format!("https://localhost:{}", address.port());
    let server = traced_by(Collector::parse(&url, Some(Path::new(file))).unwrap(), |_| ());
    let mut raw = Raw::connect(server.address);
    said(&mut raw, "SELECT 'inside'");
    kept.wait_for_text("SELECT 'inside'");
}

#[test]
fn nothing_is_sent_of_no_share_and_all_is_sent_before_the_end() {
    for (ratio, count) in [(0.0, 0), (1.0, 20)] {
        let (kept, address) = Kept::start();
        let server = traced(address, |it| it.ratio = ratio);
        let mut raw = Raw::connect(server.address);
        (0..20).for_each(|it| said(&mut raw, &format!("SELECT {it}")));
        drop(raw);
        drop(server);
        let spans = kept.spans();
        let of_statements = spans.iter().filter(|it| it.kind == SERVER).count();
        assert_eq!(of_statements, count);
        assert!(count > 0 || spans.is_empty());
    }
}

/// Statements that are run on a server whose collector is of no use, and what was told of that.
fn run_beside(address: SocketAddr) -> (Running, Arc<Mutex<Vec<String>>>) {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = told.clone();
    let tell = Box::new(move |it: &str| sink.lock().push(it.to_owned()));
    let server = traced(address, |it| it.tell = tell);
    let mut raw = Raw::connect(server.address);
    let began = Instant::now();
    for number in 0..300 {
        assert_eq!(raw.value(&format!("SELECT {number}")), number.to_string());
    }
    // Less than one answer of the collector is waited for.
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    (server, told)
}

#[test]
fn a_collector_that_is_not_there_is_told_once_and_spans_are_counted() {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let (server, told) = run_beside(address);
    wait_for_metric(&server, "nodewise_trace_spans_dropped_total", 300);
    let mut raw = Raw::connect(server.address);
    said(&mut raw, "SELECT 'more'");
    wait_for_metric(&server, "nodewise_trace_spans_dropped_total", 301);
    assert_eq!(metric(&server, "nodewise_trace_spans_exported_total"), Some(0));
    let told = told.lock();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(&address.to_string()) && told[0].contains("refused"), "{told:?}");
}

#[test]
fn a_collector_that_never_answers_keeps_no_server_from_its_end() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (server, _) = run_beside(silent.local_addr().unwrap());
    let began = Instant::now();
    drop(server);
    // The time of grace, and what others on the machine take.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn without_traces_there_are_no_counters() {
    let server = Running::start();
    Raw::connect(server.address);
    assert_eq!(metric(&server, "nodewise_trace_spans_dropped_total"), None);
}
