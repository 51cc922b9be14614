//! Rows that are made while they are sent: memory stays bounded, portals wait, and clients that are slow end what they began.

mod common;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use common::{Message, Raw, Running, bind, execute, parse, query, sync};
use stdx::sync::Mutex;

/// Held by each test: what memory the process takes is to be one test's.
static ALONE: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);

/// A hundred thousand rows, and ten.
const TABLES: &str = "CREATE TABLE d (i INTEGER); INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9); \
    CREATE TABLE t AS SELECT a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i AS i FROM d a, d b, d c, d e, d f";

/// Ten million rows of some length, which nobody wants in memory.
const MANY: &str =
    "SELECT t.i, a.i, b.i, 'a text of some length, longer than a number' || t.i FROM t, d a, d b";

/// Bytes of memory that this process has taken.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Reads messages up to one of a kind; how many rows came before it.
fn rows_before(raw: &mut Raw, kind: u8) -> (u64, Message) {
    let mut rows = 0;
    loop {
        let message = raw.read().expect("the server is there");
        match message.0 {
            b'D' => rows += 1,
            it if it == kind => return (rows, message),
            _ => {}
        }
    }
}

#[test]
fn rows_are_made_as_the_client_takes_them() {
    let _alone = ALONE.lock();
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    raw.value("SELECT count(*) FROM t");
    let before = resident();
    let began = Instant::now();
    raw.send(&query(MANY));
    assert_eq!(raw.read().unwrap().0, b'T');
    let first = began.elapsed();
    let (rows, done) = rows_before(&mut raw, b'C');
    assert_eq!((rows, done.text()), (10_000_000, "SELECT 10000000".to_owned()));
    let taken = resident().saturating_sub(before);
    assert!(taken < 200 << 20, "{taken} bytes");
    assert!(first * 4 < began.elapsed(), "the first row is not the last: {first:?}");
    raw.until_ready();
}

#[test]
fn portals_wait_with_their_rows_unmade() {
    let _alone = ALONE.lock();
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    raw.kinds(&query("BEGIN"));
    let before = resident();
    raw.send(&[parse("", MANY), bind("p", ""), execute("p", 10)].concat());
    raw.send(&common::frame(b'H', b""));
    assert_eq!(rows_before(&mut raw, b's').0, 10);
    // Others run meanwhile, also of the same session.
    raw.send(&[parse("", "SELECT count(*) FROM d"), bind("q", ""), execute("q", 0)].concat());
    raw.send(&execute("p", 100_000));
    raw.send(&common::frame(b'H', b""));
    assert_eq!(rows_before(&mut raw, b'C').0, 1);
    assert_eq!(rows_before(&mut raw, b's').0, 100_000);
    let taken = resident().saturating_sub(before);
    assert!(taken < 200 << 20, "{taken} bytes");
    // The end of its transaction is its end.
    assert_eq!(raw.kinds(&sync()), "Z");
    assert_eq!(raw.kinds(&query("COMMIT")), "CZ");
    assert_eq!(raw.state(&[execute("p", 1), sync()].concat()), "34000");
    // Nothing of it is left among the statements.
    assert_eq!(raw.value("SELECT count(*) FROM nodewise.queries"), "1");
}

#[test]
fn what_is_sent_slowly_is_ended_at_once() {
    let _alone = ALONE.lock();
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    raw.send(&query(MANY));
    assert_eq!(raw.read().unwrap().0, b'T');
    // The client takes nothing, until all buffers are full.
    stdx::sync::thread::sleep(Duration::from_millis(200));
    raw.cancel(server.address);
    let asked = Instant::now();
    let (_, error) = rows_before(&mut raw, b'E');
    assert_eq!(error.field(b'C'), "57014");
    assert!(asked.elapsed() < Duration::from_millis(500), "{:?}", asked.elapsed());
    raw.until_ready();
    // A client that has gone ends what it began.
    raw.send(&query(MANY));
    assert_eq!(raw.read().unwrap().0, b'T');
    drop(raw);
    let mut other = Raw::connect(server.address);
    let began = Instant::now();
    while other.value("SELECT count(*) FROM nodewise.queries") != "1" {
        assert!(began.elapsed() < Duration::from_secs(10), "it goes on");
    }
}

#[test]
fn errors_in_the_middle_are_told_behind_the_rows_before() {
    let _alone = ALONE.lock();
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    raw.send(&query("SELECT 1 / (99999 - i) FROM t ORDER BY i"));
    let (_, error) = rows_before(&mut raw, b'E');
    assert_eq!(error.field(b'C'), "22012");
    raw.until_ready();
    raw.kinds(&query("BEGIN"));
    raw.send(&query("SELECT 1 / (99999 - i) FROM t"));
    let messages = raw.until_ready();
    assert_eq!(messages.last(), Some(&Message(b'Z', b"E".to_vec())), "the transaction has failed");
    assert_eq!(raw.kinds(&query("ROLLBACK")), "CZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "100000");
}

#[test]
fn many_slow_clients_are_in_nobodys_way() {
    let _alone = ALONE.lock();
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLES));
    // More of them than sessions may run at once.
    let slow: Vec<Raw> = (0..100)
        .map(|_| {
            let mut slow = Raw::connect(server.address);
            slow.send(&query("SELECT i, i, i, i FROM t UNION ALL SELECT i, i, i, i FROM t"));
            slow
        })
        .collect();
    stdx::sync::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    assert_eq!(raw.value("SELECT count(*) FROM t"), "100000");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(slow);
}
