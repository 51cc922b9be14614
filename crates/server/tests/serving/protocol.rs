//! The protocol, byte by byte: what belongs together, what follows an error, portals, cancelling, and clients that misbehave.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use crate::common::{
    Message, Raw, Running, all_of, bind, execute, frame, parse, query, start_packet, sync,
};
use stdx::prng::Prng;
use stdx::sync::thread;

/// Rows that take a while to send, and more than any socket holds.
const MANY: &str = "CREATE TABLE d (i INTEGER); INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9); \
    CREATE TABLE many AS SELECT a.i + 10 * b.i + 100 * c.i + 1000 * d.i AS i, 'a text of some length for each row' AS s \
    FROM d a, d b, d c, d, d e, d f WHERE f.i < 5";

#[test]
fn a_text_of_several_statements_is_one_transaction() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    assert_eq!(raw.kinds(&query("CREATE TABLE t (i INTEGER)")), "CZ");
    assert_eq!(
        raw.kinds(&query("INSERT INTO t VALUES (1); SELECT 1 / 0; INSERT INTO t VALUES (2)")),
        "CEZ"
    );
    assert_eq!(raw.value("SELECT count(*) FROM t"), "0");
    assert_eq!(
        raw.kinds(&query("INSERT INTO t VALUES (1); SELECT i FROM t; INSERT INTO t VALUES (2)")),
        "CTDCCZ"
    );
    assert_eq!(raw.value("SELECT count(*) FROM t"), "2");
    // What COMMIT has ended stays.
    let sql = "BEGIN; INSERT INTO t VALUES (3); COMMIT; INSERT INTO t VALUES (4); SELECT 1 / 0";
    assert_eq!(raw.kinds(&query(sql)), "CCCCEZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "3");
    // What stands before BEGIN belongs to it.
    raw.send(&query("INSERT INTO t VALUES (5); BEGIN; INSERT INTO t VALUES (6)"));
    assert_eq!(raw.until_ready().last(), Some(&Message(b'Z', b"T".to_vec())));
    assert_eq!(raw.kinds(&query("ROLLBACK")), "CZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "3");
    assert_eq!(raw.kinds(&query(" ; ")), "IZ");
    // No savepoint where nobody has said BEGIN.
    assert_eq!(raw.state(&query("SELECT 1; SAVEPOINT a")), "25P01");
    // Warnings.
    assert_eq!(raw.kinds(&query("COMMIT")), "NCZ");
    assert_eq!(raw.kinds(&query("DROP TABLE IF EXISTS none_such")), "NCZ");
}

#[test]
fn statements_between_two_syncs_are_one_transaction() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query("CREATE TABLE t (i INTEGER)"));
    let (one, two, wrong) = (
        all_of("INSERT INTO t VALUES (1)"),
        all_of("INSERT INTO t VALUES (2)"),
        all_of("SELECT 1 / 0"),
    );
    // What follows the error is passed over.
    assert_eq!(raw.kinds(&[&one[..], &wrong, &two, &sync()].concat()), "12C12EZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "0");
    assert_eq!(raw.kinds(&[&one[..], &two, &sync()].concat()), "12C12CZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "2");
    // Two in one go, the first of which is right.
    raw.send(&[&one[..], &sync(), &one, &wrong, &sync()].concat());
    let kinds =
        |raw: &mut Raw| raw.until_ready().iter().map(|it| char::from(it.0)).collect::<String>();
    assert_eq!((kinds(&mut raw), kinds(&mut raw)), ("12CZ".to_owned(), "12C12EZ".to_owned()));
    assert_eq!(raw.value("SELECT count(*) FROM t"), "3");
    // Flush answers, and ends nothing.
    raw.send(&[&one[..], &frame(b'H', b"")].concat());
    let flushed: String = (0..3).map(|_| char::from(raw.read().unwrap().0)).collect();
    assert_eq!(flushed, "12C");
    assert_eq!(raw.kinds(&[&wrong[..], &sync()].concat()), "12EZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "3");
}

#[test]
fn portals_stop_where_the_client_asks() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let rows = "VALUES (1), (2), (3), (4)";
    let begin = [parse("s", rows), bind("p", "s")].concat();
    // As many as there are is as many as were asked for: whether there are more has to be asked.
    let bytes =
        [&begin[..], &execute("p", 2), &execute("p", 2), &execute("p", 2), &sync()].concat();
    raw.send(&bytes);
    let messages = raw.until_ready();
    let kinds: String = messages.iter().map(|it| char::from(it.0)).collect();
    assert_eq!(kinds, "12DDsDDsCZ");
    assert_eq!(messages[8].text(), "SELECT 0");
    // A portal ends with its transaction.
    assert_eq!(raw.state(&[execute("p", 0), sync()].concat()), "34000");
    raw.kinds(&query("BEGIN"));
    assert_eq!(raw.kinds(&[bind("p", "s"), execute("p", 3), sync()].concat()), "2DDDsZ");
    assert_eq!(raw.kinds(&[execute("p", 0), sync()].concat()), "DCZ");
    assert_eq!(raw.state(&[bind("p", "s"), sync()].concat()), "42P03");
    raw.kinds(&query("ROLLBACK"));
    assert_eq!(raw.state(&[parse("s", "SELECT 1"), sync()].concat()), "42P05");
    assert_eq!(raw.kinds(&[frame(b'C', b"Ss\0"), parse("s", "SELECT 1"), sync()].concat()), "31Z");
    assert_eq!(raw.state(&[bind("", "none"), sync()].concat()), "26000");
    assert_eq!(raw.state(&[parse("", "SELECT 1; SELECT 2"), sync()].concat()), "42601");
    assert_eq!(raw.state(&[parse("", "SELECT $1"), bind("", ""), sync()].concat()), "08P01");
    assert_eq!(raw.kinds(&[parse("", ""), bind("", ""), execute("", 0), sync()].concat()), "12IZ");
    assert_eq!(raw.kinds(&[frame(b'D', b"Ss\0"), frame(b'D', b"S\0"), sync()].concat()), "tTtnZ");
    // A statement that is prepared by SQL has a name here, too.
    raw.kinds(&query("PREPARE q AS SELECT 7"));
    assert_eq!(raw.kinds(&[bind("", "q"), execute("", 0), sync()].concat()), "2DCZ");
    // pgjdbc forgets what it has prepared when it hears these words.
    raw.send(&query("DEALLOCATE ALL"));
    assert_eq!(raw.until_ready()[0], Message(b'C', b"DEALLOCATE ALL\0".to_vec()));
    assert_eq!(raw.state(&[bind("", "s"), sync()].concat()), "26000");
}

#[test]
fn what_a_text_says_wrong_is_shown_in_it() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.send(&query("SELECT 1;\nSELECT '\u{e4}', nope"));
    let messages = raw.until_ready();
    let error = messages.iter().find(|it| it.0 == b'E').unwrap();
    assert_eq!((error.field(b'C'), error.field(b'P')), ("42703".into(), "23".into()));
    assert_eq!((error.field(b'S'), error.field(b'V')), ("ERROR".into(), "ERROR".into()));
    raw.send(&query("SET application_name = 'x'"));
    let messages = raw.until_ready();
    assert_eq!(messages[1].1, b"application_name\0x\0");
    assert_eq!(raw.state(&query("SET client_encoding = 'EBCDIC'")), "22023");
    assert_eq!(raw.value("SHOW server_encoding"), "UTF8");
}

#[test]
fn errors_tell_programs_what_they_are_about() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(
        "CREATE SCHEMA shop; CREATE TABLE shop.p (id INTEGER PRIMARY KEY);
         CREATE TABLE shop.t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, n INTEGER CONSTRAINT few CHECK (n < 9),
         p INTEGER REFERENCES shop.p); CREATE DOMAIN positive AS INTEGER CHECK (VALUE > 0);
         INSERT INTO shop.p VALUES (1); INSERT INTO shop.t VALUES (1, 'a', 1, 1)",
    ));
    let of_row =
        ["Failing row contains (2, null, null, null).", "Failing row contains (1, null, 1, 1)."];
    let of_check = "Failing row contains (2, b, 9, null).";
    let missing = "Key (p)=(7) is not present in table \"p\".";
    let referenced = "Key (id)=(1) is still referenced from table \"t\".";
    let twice = "Key (id)=(1) already exists.";
    // The text, its SQLSTATE, and its detail, schema, table, column, type and constraint.
    for (sql, expected) in [
        ("INSERT INTO shop.t VALUES (1, 'b')", ["23505", twice, "shop", "t", "", "", "t_pkey"]),
        ("INSERT INTO shop.t VALUES (2)", ["23502", of_row[0], "shop", "t", "a", "", ""]),
        ("UPDATE shop.t SET a = NULL", ["23502", of_row[1], "shop", "t", "a", "", ""]),
        ("INSERT INTO shop.t VALUES (2, 'b', 9)", ["23514", of_check, "shop", "t", "", "", "few"]),
        (
            "INSERT INTO shop.t VALUES (2, 'b', 1, 7)",
            ["23503", missing, "shop", "t", "", "", "t_p_fkey"],
        ),
        ("DELETE FROM shop.p", ["23503", referenced, "shop", "t", "", "", "t_p_fkey"]),
        (
            "SELECT CAST(-1 AS positive)",
            ["23514", "", "public", "", "", "positive", "positive_check"],
        ),
        ("ALTER TABLE shop.t ADD b INTEGER NOT NULL", ["23502", "", "shop", "t", "b", "", ""]),
        ("SELECT 1 / 0", ["22012", "", "", "", "", "", ""]),
    ] {
        raw.send(&query(sql));
        let messages = raw.until_ready();
        let error = messages.iter().find(|it| it.0 == b'E').unwrap_or_else(|| panic!("{sql}"));
        assert_eq!(b"CDstcdn".map(|it| error.field(it)), expected, "{sql}");
    }
    // Drivers prepare anew when they see who tells it.
    raw.kinds(&query("CREATE TABLE u (a INTEGER)"));
    let described = [parse("u", "SELECT * FROM u"), frame(b'D', b"Su\0"), sync()].concat();
    assert_eq!(raw.kinds(&described), "1tTZ");
    // It need not have asked for the columns, and is not told of formats that are too few.
    raw.kinds(&[parse("v", "SELECT * FROM u"), sync()].concat());
    raw.kinds(&query("ALTER TABLE u ADD b INTEGER, ADD c INTEGER"));
    let with_formats = frame(b'B', b"\0v\0\0\0\0\0\0\x02\0\0\0\0");
    for bound in [bind("", "u"), bind("", "v"), with_formats] {
        raw.send(&[bound, sync()].concat());
        let error = raw.until_ready().remove(0);
        assert_eq!(
            (error.field(b'C'), error.field(b'R')),
            ("0A000".into(), "RevalidateCachedQuery".into())
        );
    }
    // What is prepared anew has the columns that there are.
    let again = [parse("", "SELECT * FROM u"), bind("", ""), sync()].concat();
    assert_eq!(raw.kinds(&again), "12Z");
    assert_eq!(raw.kinds(&again), "12Z");
}

#[test]
fn what_no_sync_follows_is_done_and_answered() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.send(&[all_of("SELECT 1"), all_of("SELECT 1 / 0"), all_of("SELECT 2")].concat());
    let told: String = (0..6).map(|_| char::from(raw.read().unwrap().0)).collect();
    assert_eq!(told, "12DC12");
    assert_eq!(raw.read().unwrap().field(b'C'), "22012");
    assert_eq!(raw.kinds(&sync()), "Z");
}

#[test]
fn a_cursor_is_closed_as_a_portal() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query("BEGIN; DECLARE c CURSOR FOR SELECT 1"));
    assert_eq!(raw.kinds(&[frame(b'D', b"Pc\0"), frame(b'C', b"Pc\0"), sync()].concat()), "T3Z");
    assert_eq!(raw.state(&[frame(b'D', b"Pc\0"), sync()].concat()), "34000");
}

#[test]
fn a_statement_is_ended_by_its_key() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(MANY));
    // While it runs.
    raw.send(&query("SELECT count(*) FROM many a, many b, many c WHERE a.i + b.i + c.i = 7"));
    thread::sleep(Duration::from_millis(200));
    let asked = Instant::now();
    raw.cancel(server.address);
    let messages = raw.until_ready();
    assert_eq!(messages.iter().find(|it| it.0 == b'E').unwrap().field(b'C'), "57014");
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    // While its rows are sent: the client reads none before it asks.
    raw.send(&query("SELECT * FROM many"));
    thread::sleep(Duration::from_millis(500));
    raw.cancel(server.address);
    let messages = raw.until_ready();
    let rows = messages.iter().filter(|it| it.0 == b'D').count();
    assert_eq!(messages.iter().find(|it| it.0 == b'E').unwrap().field(b'C'), "57014");
    assert!(rows < 500_000, "{rows} rows were sent all the same");
    // A wrong key, and a right one at a time when nothing runs.
    let key = raw.key.clone();
    *raw.key.last_mut().unwrap() ^= 1;
    raw.cancel(server.address);
    raw.key = key;
    raw.cancel(server.address);
    assert_eq!(raw.value("SELECT count(*) FROM many"), "500000");
}

#[test]
fn a_client_that_reads_slowly_waits_alone() {
    let server = Running::start();
    let mut slow = Raw::connect(server.address);
    slow.kinds(&query(MANY));
    slow.send(&query("SELECT * FROM many"));
    thread::sleep(Duration::from_millis(300));
    let mut other = Raw::connect(server.address);
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(other.value("SELECT 1"), "1");
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let messages = slow.until_ready();
    assert_eq!(messages.iter().filter(|it| it.0 == b'D').count(), 500_000);
}

#[test]
fn a_client_that_has_gone_leaves_nothing_behind() {
    let server = Running::start();
    let mut watcher = Raw::connect(server.address);
    watcher.kinds(&query(MANY));
    let nothing_runs = |watcher: &mut Raw| {
        let started = Instant::now();
        while watcher.value("SELECT count(*) FROM nodewise.queries") != "1" {
            assert!(started.elapsed() < Duration::from_secs(20), "a statement runs on");
            thread::sleep(Duration::from_millis(50));
        }
    };
    // In a transaction.
    let mut gone = Raw::connect(server.address);
    gone.kinds(&query("BEGIN; INSERT INTO d VALUES (100)"));
    drop(gone);
    watcher.kinds(&query("SET lock_timeout = '20s'"));
    assert_eq!(watcher.kinds(&query("INSERT INTO d VALUES (11)")), "CZ");
    assert_eq!(watcher.value("SELECT count(*) FROM d"), "11");
    // In a statement: half-open, and altogether.
    let long = query("SELECT count(*) FROM many a, many b, many c WHERE a.i + b.i + c.i = 7");
    let mut half = Raw::connect(server.address);
    half.send(&long);
    half.stream.shutdown(Shutdown::Write).unwrap();
    let mut whole = Raw::connect(server.address);
    whole.send(&long);
    drop(whole);
    nothing_runs(&mut watcher);
    // While it takes no rows.
    let mut full = Raw::connect(server.address);
    full.send(&query("SELECT * FROM many"));
    thread::sleep(Duration::from_millis(200));
    drop(full);
    nothing_runs(&mut watcher);
}

#[test]
fn messages_that_are_wrong_are_told() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    for (bytes, state) in [
        (frame(b'Q', b"no end"), "08P01"),
        (frame(b'Q', b"SELECT '\xff'\0"), "22021"),
        (frame(b'F', b"\0\0\0\x01"), "0A000"),
        (frame(b'p', b"secret\0"), "08P01"),
        ([frame(b'P', b"\0SELECT 1\0\0\x05"), sync()].concat(), "08P01"),
        ([frame(b'B', b"\0\0\0\x01\0\x09\0\0\0\0"), sync()].concat(), "26000"),
        ([frame(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff"), sync()].concat(), "08P01"),
        ([frame(b'D', b"X\0"), sync()].concat(), "08P01"),
        ([frame(b'P', b"\0SELECT $1\0\0\x01\0\0\x02\x58"), sync()].concat(), "42704"),
    ] {
        assert_eq!(raw.state(&bytes), state, "{bytes:?}");
    }
    // These cannot be gone on from.
    for bytes in
        [&b"Q\0\0\0\x02"[..], b"Q\x7f\xff\xff\xff", b"Q\xff\xff\xff\xff", b"\x01\0\0\0\x04"]
    {
        let mut raw = Raw::connect(server.address);
        raw.send(bytes);
        let error = raw.read().unwrap();
        assert_eq!((error.0, error.field(b'S')), (b'E', "FATAL".to_owned()));
        assert_eq!(raw.read(), None);
    }
    for packet in [
        start_packet(2 << 16, &[("user", "a")]),
        start_packet(3 << 16, &[]),
        start_packet(3 << 16, &[("user", "a"), ("client_encoding", "EBCDIC")]),
        b"\0\0\0\x07aaa".to_vec(),
        b"\x7f\xff\xff\xffaaaa".to_vec(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
    ] {
        let mut raw = Raw::open(server.address);
        raw.send(&packet);
        assert_eq!(raw.read().map(|it| it.0), Some(b'E'), "{packet:?}");
        assert_eq!(raw.read(), None);
    }
    assert_eq!(raw.value("SELECT 1"), "1");
}

/// Conversations of which some bytes are others, or are cut: the server is there afterwards, and nothing is left under way.
#[test]
fn mutated_messages_end_nothing_but_their_connection() {
    let server = Running::start();
    let whole = [
        query("SELECT 1; SELECT 'a'"),
        all_of("SELECT 2"),
        sync(),
        parse("s", "SELECT $1 + 1"),
        frame(b'B', b"p\0s\0\0\x01\0\0\0\x01\0\0\0\x015\0\0"),
        frame(b'D', b"Pp\0"),
        execute("p", 1),
        frame(b'C', b"Ss\0"),
        sync(),
    ]
    .concat();
    let mut prng = Prng::new(11);
    for _ in 0..400 {
        let mut raw = Raw::connect(server.address);
        let mut bytes = whole.clone();
        for _ in 0..=prng.below(4) {
            let place = prng.below(bytes.len() as u64) as usize;
            bytes[place] = prng.below(256) as u8;
        }
        bytes.truncate(prng.below(bytes.len() as u64 + 1) as usize);
        raw.send(&bytes);
        raw.stream.shutdown(Shutdown::Write).unwrap();
        while raw.read().is_some() {}
    }
    let mut raw = Raw::connect(server.address);
    assert_eq!(raw.value("SELECT 1"), "1");
    assert_eq!(raw.value("SELECT count(*) FROM nodewise.queries"), "1");
    assert_eq!(
        raw.value("SELECT count(*) FROM nodewise.transactions WHERE state <> 'active'"),
        "0"
    );
}

#[test]
fn newer_versions_of_the_protocol_are_negotiated() {
    let server = Running::start();
    let mut raw = Raw::open(server.address);
    raw.send(&start_packet(3 << 16 | 9, &[("user", "ada"), ("_pq_.wish", "1")]));
    let messages = raw.until_ready();
    assert_eq!(messages[0].0, b'v');
    assert!(messages[0].text().contains("_pq_.wish"));
    let key = messages.iter().find(|it| it.0 == b'K').unwrap();
    assert_eq!(key.1.len(), 4 + 32, "a long key");
    // Without TLS there is none.
    let mut raw = Raw::open(server.address);
    raw.send(&[0, 0, 0, 8, 4, 210, 22, 47]);
    let mut answer = [0];
    std::io::Read::read_exact(&mut raw.stream, &mut answer).unwrap();
    assert_eq!(&answer, b"N");
    raw.send(&start_packet(3 << 16, &[("user", "ada")]));
    raw.until_ready();
}
