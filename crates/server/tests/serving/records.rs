//! Rows as values on the wire: their type, and their texts and bytes as PostgreSQL 18 sends them.

use crate::common::{Raw, Running, execute, frame, parse, query, sync};

/// The type of the first column of a query and its value, in text or in binary.
fn sent(raw: &mut Raw, sql: &str, binary: bool) -> (u32, Vec<u8>) {
    let bind = frame(b'B', &[b"\0\0\0\0\0\0\0\x01\0", &[u8::from(binary)][..]].concat());
    let describe = frame(b'D', b"P\0");
    raw.send(&[parse("", sql), bind, describe, execute("", 0), sync()].concat());
    let messages = raw.until_ready();
    let body = |kind: u8| {
        let found = messages.iter().find(|it| it.0 == kind);
        found.unwrap_or_else(|| panic!("{sql}: {messages:?}")).1.clone()
    };
    let (described, row) = (body(b'T'), body(b'D'));
    // Behind the number of columns stands a name, the number of a table and a place.
    let end = described.iter().skip(2).position(|it| *it == 0).unwrap() + 3 + 6;
    let oid = u32::from_be_bytes(described[end..end + 4].try_into().unwrap());
    (oid, row[6..].to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

#[test]
fn rows_are_records() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let row = "SELECT row(1::bigint, row(2, 'x y'::text), array[1,2], '{\"a\":1}'::jsonb, 1.5::numeric(3,1), \
        date '2024-02-29', null::uuid, true, '\\x00ff'::bytea)";
    let (oid, text) = sent(&mut raw, row, false);
    assert_eq!(oid, 2249);
    let expected = r#"(1,"(2,""x y"")","{1,2}","{""a"": 1}",1.5,2024-02-29,,t,"\\x00ff")"#;
    assert_eq!(String::from_utf8(text).unwrap(), expected);
    let (oid, bytes) = sent(&mut raw, row, true);
    assert_eq!(oid, 2249);
    // By record_send(..) and array_send(..) of PostgreSQL 18.
    let expected = "0000000900000014000000080000000000000001000008c90000001b0000000200000017000000040000000200000019\
         00000003782079000003ef00000024000000010000000000000017000000020000000100000004000000010000000400\
         00000200000eda00000009017b2261223a20317d000006a40000000c0002000000000001000113880000043a00000004\
         0000227900000b86ffffffff000000100000000101000000110000000200ff";
    assert_eq!(hex(&bytes), expected);
    let list = "SELECT array[row(1,'null'::text),row(2,null::text)]";
    let (oid, text) = sent(&mut raw, list, false);
    assert_eq!((oid, &text[..]), (2287, &br#"{"(1,null)","(2,)"}"#[..]));
    let (_, bytes) = sent(&mut raw, list, true);
    let expected = "0000000100000000000008c900000002000000010000001c000000020000001700000004000000010000001900000004\
         6e756c6c000000180000000200000017000000040000000200000019ffffffff";
    assert_eq!(hex(&bytes), expected);
}

#[test]
fn rows_of_tables_and_structs_of_names() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.send(&query("CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, NULL)"));
    raw.until_ready();
    let (oid, bytes) = sent(&mut raw, "SELECT (a, b) FROM t", true);
    assert_eq!(oid, 2249);
    assert_eq!(hex(&bytes), "0000000200000017000000040000000100000019ffffffff");
    // DuckDB's structs are no records: PostgreSQL has no type of their names.
    let (oid, text) = sent(&mut raw, "SELECT {'a': 1}", true);
    assert_eq!((oid, &text[..]), (25, &b"{'a': 1}"[..]));
}

#[test]
fn times_in_zones_and_bits_are_sent_as_postgres_sends_them() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    // By timetz_send(..), bit_send(..), varbit_send(..), array_send(..) and record_send(..) of PostgreSQL 18.
    for (sql, oid, text, bytes) in [
        ("SELECT timetz '12:34:56.789+02'", 1266, "12:34:56.789+02", "0000000a8be62608ffffe3e0"),
        (
            "SELECT array[timetz '00:00-15:59:59', null]",
            1270,
            "{00:00:00-15:59:59,NULL}",
            "0000000100000001000004f200000002000000010000000c00000000000000000000e0ffffffffff",
        ),
        (
            "SELECT row(timetz '24:00+00')",
            2249,
            "(24:00:00+00)",
            "00000001000004f20000000c000000141dd7600000000000",
        ),
        ("SELECT B'101'", 1560, "101", "00000003a0"),
        ("SELECT varbit ''", 1562, "", "00000000"),
        (
            "SELECT array[varbit '101010101', null]",
            1563,
            "{101010101,NULL}",
            "00000001000000010000061a00000002000000010000000600000009aa80ffffffff",
        ),
        ("SELECT row(B'1')", 2249, "(1)", "0000000100000618000000050000000180"),
    ] {
        let (found, said) = sent(&mut raw, sql, false);
        assert_eq!((found, String::from_utf8(said).unwrap().as_str()), (oid, text), "{sql}");
        let (found, said) = sent(&mut raw, sql, true);
        assert_eq!((found, hex(&said).as_str()), (oid, bytes), "{sql}");
    }
}
