//! COPY over the wire: what comes and goes byte by byte, what is wrong in it, and clients that end it.

use std::time::{Duration, Instant};

use crate::common::{Message, Raw, Running, bind, execute, frame, parse, query, sync};
use stdx::sync::thread;

const TABLE: &str =
    "CREATE TABLE t (i INTEGER NOT NULL, s TEXT, d DECIMAL(10,2), b BOOLEAN, at DATE)";

const TEN: &str =
    "CREATE TABLE d (i INTEGER); INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)";

fn data(bytes: &[u8]) -> Vec<u8> {
    frame(b'd', bytes)
}

fn done() -> Vec<u8> {
    frame(b'c', b"")
}

/// What a COPY TO sends, and the words at its end.
fn copied(raw: &mut Raw, sql: &str) -> (String, String) {
    raw.send(&query(sql));
    let messages = raw.until_ready();
    if let Some(error) = messages.iter().find(|it| it.0 == b'E') {
        panic!("{sql}: {}", error.field(b'M'));
    }
    let all = messages.iter().filter(|it| it.0 == b'd').flat_map(|it| it.1.clone());
    let tag = messages.iter().find(|it| it.0 == b'C').unwrap().text();
    (String::from_utf8_lossy(&all.collect::<Vec<u8>>()).into_owned(), tag)
}

/// The error that something ends with: its state, its message, its context.
fn error(messages: &[Message]) -> [String; 3] {
    let error = messages.iter().find(|it| it.0 == b'E').expect("there is an error");
    [error.field(b'C'), error.field(b'M'), error.field(b'W')]
}

/// Sends data for a COPY; the answers behind its beginning.
fn copy_in(raw: &mut Raw, sql: &str, bytes: &[u8]) -> Vec<Message> {
    raw.send(&query(sql));
    assert_eq!(raw.read().unwrap().0, b'G', "{sql}");
    raw.send(&[data(bytes), done()].concat());
    raw.until_ready()
}

#[test]
fn lines_go_and_come_in_all_formats() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLE));
    let rows =
        b"1\tone\\ttab\t1.5\tt\t2024-02-29\n2\t\\N\t-0.05\tf\t\\N\n3\t\t\\N\t\\N\t0001-01-01\n";
    let kinds: String =
        copy_in(&mut raw, "COPY t FROM STDIN", rows).iter().map(|it| char::from(it.0)).collect();
    assert_eq!(kinds, "CZ");
    let (text, tag) = copied(&mut raw, "COPY t TO STDOUT");
    let expected =
        "1\tone\\ttab\t1.50\tt\t2024-02-29\n2\t\\N\t-0.05\tf\t\\N\n3\t\t\\N\t\\N\t0001-01-01\n";
    assert_eq!((&*text, &*tag), (expected, "COPY 3"));
    let csv = "COPY (SELECT i, s, b FROM t ORDER BY i DESC) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE (i))";
    let expected = "i,s,b\n\"3\",\"\",\n\"2\",,f\n\"1\",one\ttab,t\n";
    assert_eq!(copied(&mut raw, csv).0, expected);
    // Back again, with the header checked, and only some columns.
    raw.kinds(&query("CREATE TABLE u (b BOOLEAN, i BIGINT DEFAULT 7, s TEXT)"));
    let matched = "COPY u (i, s, b) FROM STDIN (FORMAT csv, HEADER match)";
    assert_eq!(copy_in(&mut raw, matched, expected.as_bytes())[0].text(), "COPY 3");
    assert_eq!(
        copied(&mut raw, "COPY u TO STDOUT WITH CSV NULL 'nil'").0,
        "nil,3,\nf,2,nil\nt,1,one\ttab\n"
    );
    assert_eq!(copy_in(&mut raw, "COPY u (s) FROM STDIN", b"x\ny\n")[0].text(), "COPY 2");
    assert!(raw.value("SELECT count(*) FROM u WHERE i = 7 AND b IS NULL").ends_with('2'));
    // Nothing at all.
    assert_eq!(copied(&mut raw, "COPY (SELECT 1 WHERE false) TO STDOUT").1, "COPY 0");
    assert_eq!(copy_in(&mut raw, "COPY u FROM STDIN", b"")[0].text(), "COPY 0");
    // The end of the data may be marked; a last line needs no end.
    assert_eq!(copy_in(&mut raw, "COPY u (s) FROM STDIN", b"z\n\\.\nrest")[0].text(), "COPY 1");
    assert_eq!(copy_in(&mut raw, "COPY u (s) FROM STDIN", b"last")[0].text(), "COPY 1");
}

#[test]
fn binary_rows_come_back_as_they_went() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLE));
    raw.kinds(&query(TEN));
    raw.kinds(&query(
        "INSERT INTO t SELECT i, 'text ' || i, i / 4.0, i % 2 = 0, DATE '2024-01-01' + i \
         FROM (SELECT a.i + 10 * b.i + 100 * c.i AS i FROM d a, d b, d c) n; INSERT INTO t (i) VALUES (0)",
    ));
    raw.send(&query("COPY t TO STDOUT (FORMAT binary)"));
    let messages = raw.until_ready();
    assert_eq!(messages[0], Message(b'H', b"\x01\0\x05\0\x01\0\x01\0\x01\0\x01\0\x01".to_vec()));
    let all: Vec<&[u8]> = messages.iter().filter(|it| it.0 == b'd').map(|it| &it.1[..]).collect();
    // The head comes with the first row, and the end alone, as PostgreSQL sends them.
    assert_eq!(all.len(), 1002);
    assert!(all[0].starts_with(b"PGCOPY\n\xff\r\n\0") && all[0].len() > 19);
    assert_eq!(all[1001], [0xff, 0xff]);
    let all = all.concat();
    raw.kinds(&query("CREATE TABLE u AS SELECT * FROM t WHERE false"));
    // In pieces that end anywhere.
    raw.send(&query("COPY u FROM STDIN WITH BINARY"));
    assert_eq!(raw.read().unwrap().0, b'G');
    all.chunks(777).for_each(|it| raw.send(&data(it)));
    raw.send(&done());
    assert_eq!(raw.until_ready()[0].text(), "COPY 1001");
    let same = "SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM u) d";
    assert!(raw.value(same).ends_with('0'));
    assert!(raw.value("SELECT count(*) FROM u").ends_with("1001"));
    let cut = copy_in(&mut raw, "COPY u FROM STDIN (FORMAT binary)", &all[..all.len() / 2]);
    assert_eq!(error(&cut)[..2], ["22P04", "unexpected EOF in COPY data"]);
    let other = copy_in(&mut raw, "COPY u FROM STDIN (FORMAT binary)", b"1\t2\n");
    assert_eq!(error(&other)[1], "COPY file signature not recognized");
    assert!(raw.value("SELECT count(*) FROM u").ends_with("1001"));
}

#[test]
fn numbers_of_any_scale_come_in_binary() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query("CREATE TABLE n (a NUMERIC, b NUMERIC[]); CREATE TABLE m (LIKE n)"));
    raw.kinds(&query(
        "INSERT INTO n VALUES (0, '{1.50,NaN}'), (-12.340, NULL), ('Infinity', '{}'), (1e50, '{-1e-30}'), (NULL, NULL)",
    ));
    raw.send(&query("COPY n TO STDOUT (FORMAT binary)"));
    let messages = raw.until_ready();
    let all: Vec<&[u8]> = messages.iter().filter(|it| it.0 == b'd').map(|it| &it.1[..]).collect();
    let copied = copy_in(&mut raw, "COPY m FROM STDIN (FORMAT binary)", &all.concat());
    assert_eq!(copied[0].text(), "COPY 5");
    let texts = "SELECT string_agg(coalesce(a::text, '-') || ':' || coalesce(b::text, '-'), ' ' ORDER BY a)";
    let (there, here) =
        (raw.value(&format!("{texts} FROM n")), raw.value(&format!("{texts} FROM m")));
    assert_eq!((there.contains("-12.340:-"), there), (true, here));
}

#[test]
fn times_in_zones_and_bits_come_in_binary() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(
        "CREATE TABLE n (a TIMETZ, b TIMETZ[], c BIT(3), d VARBIT[]); CREATE TABLE m (LIKE n)",
    ));
    raw.kinds(&query(
        "INSERT INTO n VALUES ('12:00+02', '{24:00+00,NULL}', '101', '{101010101,\"\"}'), \
         ('00:00:00.000001-15:59:59', '{}', '000', NULL), (NULL, NULL, NULL, '{NULL}')",
    ));
    raw.send(&query("COPY n TO STDOUT (FORMAT binary)"));
    let messages = raw.until_ready();
    let all: Vec<&[u8]> = messages.iter().filter(|it| it.0 == b'd').map(|it| &it.1[..]).collect();
    let copied = copy_in(&mut raw, "COPY m FROM STDIN (FORMAT binary)", &all.concat());
    assert_eq!(copied[0].text(), "COPY 3");
    let other = "SELECT count(*) FROM (SELECT * FROM n EXCEPT SELECT * FROM m) d";
    assert!(raw.value(other).ends_with('0'));
    // A zone of sixteen hours.
    let mut far = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\x0c".to_vec();
    far.extend([0; 8]);
    far.extend((16 * 3600_i32).to_be_bytes());
    far.extend([0xff; 14]);
    let refused = copy_in(&mut raw, "COPY m FROM STDIN (FORMAT binary)", &far);
    assert_eq!(error(&refused)[0], "22009");
    // Two bits for a column of three.
    let mut short = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x04".to_vec();
    short.extend([0xff; 8]);
    short.extend(b"\0\0\0\x05\0\0\0\x02\xc0");
    short.extend([0xff; 6]);
    let refused = copy_in(&mut raw, "COPY m FROM STDIN (FORMAT binary)", &short);
    assert_eq!(error(&refused)[0], "22026");
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_leaves_nothing() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLE));
    let cases: [(&[u8], [&str; 3]); 4] = [
        (
            b"1\ta\t1\tt\t\\N\nx\ta\t1\tt\t\\N\n",
            [
                "22P02",
                "invalid input syntax for type integer: \"x\"",
                "COPY t, line 2, column i: \"x\"",
            ],
        ),
        (b"1\ta\n", ["22P04", "missing data for column \"d\"", "COPY t, line 1: \"1\ta\""]),
        (
            b"1\ta\t1\tt\t\\N\tmore\n",
            [
                "22P04",
                "extra data after last expected column",
                "COPY t, line 1: \"1\ta\t1\tt\t\\N\tmore\"",
            ],
        ),
        (
            b"\\N\ta\t1\tt\t\\N\n",
            [
                "23502",
                "null value in column \"i\" of relation \"t\" violates not-null constraint",
                "COPY t, line 1: \"\\N\ta\t1\tt\t\\N\"",
            ],
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(error(&copy_in(&mut raw, "COPY t FROM STDIN", bytes)), expected);
    }
    // The whole row is told, with the defaults of columns that are not said.
    raw.kinds(&query("CREATE TABLE w (a INTEGER NOT NULL, b TEXT, c INTEGER DEFAULT 7)"));
    for sql in ["COPY w (a, b) FROM STDIN", "COPY w (a, b) FROM STDIN WHERE b <> 'y'"] {
        let messages = copy_in(&mut raw, sql, b"1\tx\n\\N\ty\n\\N\tz\n");
        let line = if sql.contains("WHERE") { "3: \"\\N\tz\"" } else { "2: \"\\N\ty\"" };
        assert_eq!(error(&messages)[2], format!("COPY w, line {line}"));
        let found = messages.iter().find(|it| it.0 == b'E').unwrap().field(b'D');
        let value = if sql.contains("WHERE") { "z" } else { "y" };
        assert_eq!(found, format!("Failing row contains (null, {value}, 7)."));
    }
    // The client gives up, or sends something else.
    raw.send(&query("COPY t FROM STDIN"));
    raw.send(&[data(b"1\ta\t1\tt\t\\N\n"), frame(b'f', b"never mind\0")].concat());
    let messages = raw.until_ready();
    assert_eq!(error(&messages)[..2], ["57014", "COPY from stdin failed: never mind"]);
    raw.send(&[query("COPY t FROM STDIN"), query("SELECT 1")].concat());
    assert_eq!(error(&raw.until_ready())[0], "08P01");
    assert_eq!(raw.state(&query("COPY none FROM STDIN")), "42P01");
    assert_eq!(raw.state(&query("COPY t TO STDOUT (FORMAT parquet)")), "0A000");
    assert_eq!(raw.state(&query("COPY t FROM STDIN (FORMAT csv, FORCE_QUOTE *)")), "0A000");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "0");
    // In a transaction that goes on or not.
    assert_eq!(raw.kinds(&query("BEGIN")), "CZ");
    copy_in(&mut raw, "COPY t FROM STDIN", b"1\ta\t1\tt\t\\N\n");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "1");
    let failed = copy_in(&mut raw, "COPY t FROM STDIN", b"2\n");
    assert_eq!(failed.last(), Some(&Message(b'Z', b"E".to_vec())));
    assert_eq!(raw.kinds(&query("ROLLBACK")), "CZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "0");
}

#[test]
fn the_extended_protocol_copies_too() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLE));
    let begun = |sql: &str| [parse("", sql), bind("", ""), execute("", 0)].concat();
    // Sync may come before the client knows that its data are awaited.
    raw.send(&[begun("COPY t (i) FROM STDIN"), sync()].concat());
    let kinds: Vec<u8> = (0..3).map(|_| raw.read().unwrap().0).collect();
    assert_eq!(kinds, b"12G");
    assert_eq!(raw.kinds(&[data(b"1\n2\n"), done(), sync()].concat()), "CZ");
    assert_eq!(raw.kinds(&[begun("COPY t (i) TO STDOUT"), sync()].concat()), "12HddcCZ");
    // What follows an error is passed over to Sync.
    raw.send(&begun("COPY t (i) FROM STDIN"));
    raw.send(&[data(b"x\n"), done(), begun("SELECT 1"), sync()].concat());
    let kinds: String = raw.until_ready().iter().map(|it| char::from(it.0)).collect();
    assert_eq!(kinds, "12GEZ");
    assert_eq!(raw.value("SELECT count(*) FROM t"), "2");
}

#[test]
fn a_copy_is_ended_by_its_key() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TABLE));
    // While the client sends nothing.
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.read().unwrap().0, b'G');
    thread::sleep(Duration::from_millis(50));
    let asked = Instant::now();
    raw.cancel(server.address);
    assert_eq!(error(&raw.until_ready())[0], "57014");
    assert!(asked.elapsed() < Duration::from_millis(500), "{:?}", asked.elapsed());
    // While it takes nothing.
    raw.kinds(&query(TEN));
    raw.kinds(&query(
        "INSERT INTO t (i, s) SELECT a.i + 10 * b.i + 100 * c.i, 'a text of some length' FROM d a, d b, d c, d, d e",
    ));
    raw.send(&query("COPY (SELECT a.s, b.i, c.i FROM t a, d b, d c) TO STDOUT"));
    assert_eq!(raw.read().unwrap().0, b'H');
    raw.cancel(server.address);
    let messages = raw.until_ready();
    assert_eq!(error(&messages)[0], "57014");
    assert!(messages.len() < 5_000_000, "{}", messages.len());
}

#[test]
fn who_copies_slowly_is_in_nobodys_way() {
    let server = Running::start();
    let (mut slow, mut other) = (Raw::connect(server.address), Raw::connect(server.address));
    slow.kinds(&query(TABLE));
    slow.send(&query("COPY t (i) FROM STDIN"));
    assert_eq!(slow.read().unwrap().0, b'G');
    slow.send(&data(b"1\n"));
    assert_eq!(other.kinds(&query("INSERT INTO t (i) VALUES (2)")), "CZ");
    slow.send(&[data(b"3\n"), done()].concat());
    assert_eq!(slow.until_ready()[0].text(), "COPY 2");
    assert!(other.value("SELECT sum(i) FROM t").ends_with('6'));
    // A client that goes leaves nothing.
    slow.send(&query("COPY t (i) FROM STDIN"));
    slow.send(&data(b"9\n"));
    drop(slow);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(other.value("SELECT count(*) FROM t"), "3");
}

#[test]
fn a_condition_chooses_among_the_lines() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(
        "CREATE TABLE w (a INTEGER NOT NULL, b TEXT, c INTEGER DEFAULT 7, g INTEGER GENERATED ALWAYS AS (a + 1) STORED, \
         CONSTRAINT small CHECK (a < 100))",
    ));
    for (copy, lines, tag) in [
        (
            "COPY w (a, b) FROM STDIN WHERE a > 1 AND w.b <> 'x'",
            &b"1\ta\n2\tb\n3\tx\n"[..],
            "COPY 1",
        ),
        ("COPY w (b, a) FROM STDIN (FORMAT csv) WHERE a IS NOT NULL", b"c,4\nd,\n", "COPY 1"),
        ("COPY w (a) FROM STDIN WHERE c = 7 AND b IS NULL", b"5\n", "COPY 1"),
        ("COPY w (a) FROM STDIN WHERE c <> 7", b"6\n", "COPY 0"),
    ] {
        let told = copy_in(&mut raw, copy, lines);
        assert_eq!(told[0].text(), tag, "{copy}");
    }
    let (rows, _) = copied(&mut raw, "COPY (SELECT * FROM w ORDER BY a) TO STDOUT");
    assert_eq!(rows, "2\tb\t7\t3\n4\tc\t7\t5\n5\t\\N\t7\t6\n");
    for (copy, lines, state, detail) in [
        (
            "COPY w (a, b) FROM STDIN WHERE a > 1",
            &b"200\tz\n"[..],
            "23514",
            "Failing row contains (200, z, 7, 201).",
        ),
        (
            "COPY w (b, a) FROM STDIN WHERE true",
            b"z\t\\N\n",
            "23502",
            "Failing row contains (null, z, 7, null).",
        ),
    ] {
        let told = copy_in(&mut raw, copy, lines);
        assert_eq!((told[0].field(b'C'), told[0].field(b'D')), (state.into(), detail.into()));
    }
    for (copy, state) in [
        ("COPY w (a) FROM STDIN WHERE a IN (SELECT 1)", "0A000"),
        ("COPY w (a) FROM STDIN WHERE g > 1", "42P10"),
        ("COPY w (a) FROM STDIN WHERE a > 1 LIMIT 3", "42601"),
        ("COPY w TO STDOUT WHERE a > 1", "42601"),
    ] {
        assert_eq!(raw.state(&query(copy)), state, "{copy}");
    }
}
