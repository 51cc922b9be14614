//! Clients that write and read texts in other character sets than UTF-8.

use crate::common::{
    Message, Raw, Running, bind, execute, frame, parse, query, start_packet, sync,
};

/// A text of bytes as a query.
fn in_bytes(sql: &[u8]) -> Vec<u8> {
    frame(b'Q', &[sql, b"\0"].concat())
}

/// The values of the rows among some messages.
fn values(messages: &[Message]) -> Vec<Vec<u8>> {
    let rows = messages.iter().filter(|it| it.0 == b'D');
    // One column: behind its number and its length.
    rows.map(|it| it.1[6..].to_vec()).collect()
}

fn asked(raw: &mut Raw, bytes: &[u8]) -> Vec<Message> {
    raw.send(bytes);
    raw.until_ready()
}

#[test]
fn texts_are_in_the_set_that_the_client_says() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let told = asked(&mut raw, &query("SET client_encoding = 'latin-1'"));
    assert!(told.iter().any(|it| it.0 == b'S' && it.1 == b"client_encoding\0LATIN1\0"), "{told:?}");
    let told = asked(&mut raw, &in_bytes(b"SELECT 'gr\xfc\xdf' AS \"\xe4\""));
    assert_eq!(values(&told), [b"gr\xfc\xdf"]);
    let columns = told.iter().find(|it| it.0 == b'T').unwrap();
    assert_eq!(columns.1[2..4], *b"\xe4\0");
    assert_eq!(values(&asked(&mut raw, &in_bytes(b"SELECT char_length('gr\xfc\xdf')"))), [b"4"]);
    assert_eq!(values(&asked(&mut raw, &query("SELECT pg_client_encoding()"))), [b"LATIN1"]);
    // Errors are in it, too, and count characters.
    let told = asked(&mut raw, &in_bytes(b"SELECT '\xe4', \xfc"));
    let error = told.iter().find(|it| it.0 == b'E').unwrap();
    assert_eq!((error.field(b'C'), error.field(b'P')), ("42703".into(), "13".into()));
    assert!(error.1.windows(3).any(|it| it == b"\"\xfc\""), "{error:?}");
    // What it has not is an error, and nothing ends by it.
    let told = asked(&mut raw, &query("SELECT chr(8364)"));
    assert_eq!(told.iter().find(|it| it.0 == b'E').unwrap().field(b'C'), "22P05");
    let told = asked(&mut raw, &query("SET client_encoding = UTF8; SELECT chr(8364)"));
    assert_eq!(values(&told), ["\u{20ac}".as_bytes()]);
    let told = asked(&mut raw, &in_bytes(b"SELECT '\xe4'"));
    assert_eq!(told.iter().find(|it| it.0 == b'E').unwrap().field(b'C'), "22021");
}

#[test]
fn parameters_and_binary_results_are_in_it() {
    let server = Running::start();
    let mut raw = Raw::open(server.address);
    raw.send(&start_packet(3 << 16, &[("user", "nodewise"), ("client_encoding", "WIN1252")]));
    raw.until_ready();
    // A parameter in text and one in binary, the result in binary.
    let mut body = b"\0\0\0\x02\0\0\0\x01\0\x02".to_vec();
    for value in [b"\x80".as_slice(), b"\xe4"] {
        body.extend((value.len() as i32).to_be_bytes());
        body.extend(value);
    }
    body.extend(b"\0\x01\0\x01");
    let asks =
        [parse("", "SELECT $1::text || $2::text"), frame(b'B', &body), execute("", 0), sync()];
    assert_eq!(values(&asked(&mut raw, &asks.concat())), [b"\x80\xe4"]);
    let bytes = "SELECT '\\x80e4'::bytea";
    let asks = [parse("", bytes), frame(b'B', b"\0\0\0\0\0\0\0\x01\0\x01"), execute("", 0), sync()];
    assert_eq!(values(&asked(&mut raw, &asks.concat())), [b"\x80\xe4"], "bytes are no texts");
    let asks = [parse("", "SELECT 'a'"), bind("", ""), execute("", 0), sync()];
    assert_eq!(values(&asked(&mut raw, &asks.concat())), [b"a"]);
}

#[test]
fn copies_are_in_it_wherever_they_are_cut() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    asked(&mut raw, &query("CREATE TABLE t (a TEXT)"));
    asked(&mut raw, &query("SET client_encoding = SJIS"));
    raw.send(&query("COPY t FROM STDIN"));
    // U+3042 is 0x82a0; it is cut in the middle.
    raw.send(&frame(b'd', b"x\x82"));
    raw.send(&frame(b'd', b"\xa0\n\x82\xa0"));
    raw.send(&frame(b'd', b"\n"));
    raw.send(&frame(b'c', b""));
    raw.until_ready();
    let told = asked(&mut raw, &query("COPY (SELECT a FROM t ORDER BY a) TO STDOUT"));
    let lines: Vec<&[u8]> = told.iter().filter(|it| it.0 == b'd').map(|it| &it.1[..]).collect();
    assert_eq!(lines, [b"x\x82\xa0\n".as_slice(), b"\x82\xa0\n"]);
    raw.send(&query("COPY t FROM STDIN"));
    raw.send(&[frame(b'd', b"x\x82"), frame(b'c', b"")].concat());
    let told = raw.until_ready();
    assert_eq!(told.iter().find(|it| it.0 == b'E').unwrap().field(b'C'), "22021");
    asked(&mut raw, &query("SET client_encoding = UTF8"));
    assert_eq!(raw.value("SELECT string_agg(a, '|' ORDER BY a) FROM t"), "x\u{3042}|\u{3042}");
}
