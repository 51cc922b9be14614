//! Ranges and sets of them on the wire: their numbers, and their values in text and in binary, as parameters, results and in COPY.

use crate::binary::{ask, first, list, number_of, sized, state};
use crate::common::{Raw, Running, query};

/// A range as `range_send` writes it: flags, and the values of its bounds behind their lengths.
fn range(flags: u8, bounds: &[&[u8]]) -> Vec<u8> {
    let mut all = vec![flags];
    bounds.iter().for_each(|it| all.extend(sized(it)));
    all
}

/// A set of ranges as `multirange_send` writes it.
fn set(ranges: &[Vec<u8>]) -> Vec<u8> {
    let mut all = (ranges.len() as i32).to_be_bytes().to_vec();
    ranges.iter().for_each(|it| all.extend(sized(it)));
    all
}

const EMPTY: u8 = 1;
const FROM_TO: u8 = 2;
const CLOSED: u8 = 6;
const NO_LOWER: u8 = 8;
const NO_UPPER: u8 = 16;

#[test]
fn ranges_are_parameters_in_binary_and_come_back() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let (one, five) = (1_i32.to_be_bytes(), 5_i32.to_be_bytes());
    let (big, bigger) = (7_i64.to_be_bytes(), 9_i64.to_be_bytes());
    // 1.50 and 2.
    let half = b"\0\x02\0\0\0\0\0\x02\0\x01\x13\x88";
    let two = b"\0\x01\0\0\0\0\0\0\0\x02";
    let ints = range(FROM_TO, &[&one, &five]);
    for (name, oid, value) in [
        ("int4range", 3904, ints.clone()),
        ("int4range", 3904, range(EMPTY, &[])),
        ("int4range", 3904, range(NO_LOWER | NO_UPPER, &[])),
        ("int4range", 3904, range(NO_LOWER, &[&five])),
        ("int8range", 3926, range(FROM_TO, &[&big, &bigger])),
        ("numrange", 3906, range(CLOSED, &[half, two])),
        ("numrange", 3906, range(NO_UPPER, &[half])),
        ("daterange", 3912, range(FROM_TO, &[&one, &five])),
        ("daterange", 3912, range(CLOSED, &[&one, &i32::MAX.to_be_bytes()])),
        ("tsrange", 3908, range(CLOSED, &[&big, &bigger])),
        ("tstzrange", 3910, range(0, &[&big, &i64::MAX.to_be_bytes()])),
        ("int4multirange", 4451, set(&[])),
        ("int4multirange", 4451, set(&[ints.clone(), range(FROM_TO | NO_UPPER, &[&[0, 0, 0, 9]])])),
        ("nummultirange", 4532, set(&[range(0, &[half, two])])),
        ("tstzmultirange", 4534, set(&[range(FROM_TO, &[&big, &bigger])])),
    ] {
        assert_eq!(number_of(&mut raw, name), oid, "{name}");
        let sql = format!("SELECT $1::{name}");
        // As the statement tells the type, and as the client does.
        for told in [0, oid] {
            let answers = ask(&mut raw, &sql, &[told], &[Some(&value)]);
            assert_eq!(first(&answers), (oid, value.clone()), "{name}");
        }
        let array = number_of(&mut raw, &format!("{name}[]"));
        let items = list(oid, &[Some(&value), None]);
        let answers = ask(&mut raw, &format!("SELECT $1::{name}[]"), &[], &[Some(&items)]);
        assert_eq!(first(&answers), (array, items), "{name}[]");
    }
    let answers = ask(&mut raw, "SELECT $1", &[3904], &[Some(&ints)]);
    assert_eq!(first(&answers), (3904, ints.clone()));
    // Whichever way it is said, a range of whole numbers is one.
    let closed = range(CLOSED, &[&one, &[0, 0, 0, 4]]);
    let answers = ask(&mut raw, "SELECT $1::int4range", &[], &[Some(&closed)]);
    assert_eq!(first(&answers).1, ints);
    let answers = ask(&mut raw, "SELECT upper($1::int4range)", &[], &[Some(&ints)]);
    assert_eq!(first(&answers), (23, five.to_vec()));
}

#[test]
fn wrong_ranges_are_told() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let (one, five) = (1_i32.to_be_bytes(), 5_i32.to_be_bytes());
    for (value, expected) in [
        (range(FROM_TO, &[&five, &one]), "22000"),
        (range(CLOSED, &[&one, &i32::MAX.to_be_bytes()]), "22003"),
        (range(FROM_TO, &[&one]), "22P03"),
        (range(EMPTY, &[&one]), "22P03"),
        (range(FROM_TO, &[&one, b"12345"]), "22P03"),
        (Vec::new(), "22P03"),
    ] {
        let answers = ask(&mut raw, "SELECT $1::int4range", &[], &[Some(&value)]);
        assert_eq!(state(&answers), expected, "{value:?}");
    }
    for value in [&b""[..], b"\0\0\0\x01", b"\0\0\0\0x"] {
        let answers = ask(&mut raw, "SELECT $1::int4multirange", &[], &[Some(value)]);
        assert_eq!(state(&answers), "22P03", "{value:?}");
    }
}

#[test]
fn ranges_are_stored_and_told_as_texts() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query("CREATE TABLE t (r int4range, m nummultirange, z tstzrange)"));
    let ints = range(FROM_TO, &[&1_i32.to_be_bytes(), &5_i32.to_be_bytes()]);
    ask(
        &mut raw,
        "INSERT INTO t VALUES ($1, '{[1.0,2)}', '[2024-01-31 10:00+00,)')",
        &[],
        &[Some(&ints)],
    );
    assert_eq!(raw.value("SELECT r FROM t"), "[1,5)");
    assert_eq!(raw.value("SELECT m FROM t"), "{[1.0,2)}");
    raw.kinds(&query("SET TimeZone = 'Asia/Tokyo'"));
    assert_eq!(raw.value("SELECT z FROM t"), "[\"2024-01-31 19:00:00+09\",)");
    let answers = ask(&mut raw, "SELECT count(*) FROM t WHERE r = $1", &[3904], &[Some(&ints)]);
    assert_eq!(first(&answers).1, 1_i64.to_be_bytes());
    let found = ask(&mut raw, "SELECT z FROM t", &[], &[]);
    let micros = (i64::from(8_796) * 86_400 + 36_000) * 1_000_000;
    assert_eq!(first(&found), (3910, range(FROM_TO | NO_UPPER, &[&micros.to_be_bytes()])));
}
