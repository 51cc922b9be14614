//! Types of rows and domains on the wire: their numbers, and their values in binary, as parameters and in COPY.

use crate::binary::{ask, first, list, number_of, sized, state};
use crate::common::{Raw, Running, bind, frame, parse, query, sync};

const TYPES: &str = "CREATE SCHEMA w; CREATE TYPE w.mood AS ENUM ('sad', 'glad'); \
    CREATE TYPE w.addr AS (street text, no int); \
    CREATE TYPE w.person AS (name varchar(5), home w.addr, others w.addr[], feels w.mood, born date, paid numeric(6,2)); \
    CREATE DOMAIN w.positive AS int CHECK (VALUE > 0); CREATE DOMAIN w.place AS w.addr; \
    CREATE TABLE w.t (id int, who w.person, all_of w.addr[], n w.positive)";

/// A row as `record_send` writes it: of each field the number of its type and its value.
fn record(fields: &[(u32, Option<&[u8]>)]) -> Vec<u8> {
    let mut all = (fields.len() as i32).to_be_bytes().to_vec();
    for (oid, value) in fields {
        all.extend(oid.to_be_bytes());
        all.extend(value.map_or((-1_i32).to_be_bytes().to_vec(), sized));
    }
    all
}

#[test]
fn rows_are_parameters_in_binary_and_come_back() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TYPES));
    let (addr, addrs) = (number_of(&mut raw, "w.addr"), number_of(&mut raw, "w.addr[]"));
    let (mood, person) = (number_of(&mut raw, "w.mood"), number_of(&mut raw, "w.person"));
    let home = record(&[(25, Some(b"a \"b\", c\\")), (23, Some(&[0, 0, 1, 2]))]);
    let empty = record(&[(25, Some(b"")), (23, None)]);
    let others = list(addr, &[Some(&home), None, Some(&empty)]);
    let whole = record(&[
        (1043, Some(b"Ada")),
        (addr, Some(&home)),
        (addrs, Some(&others)),
        (mood, Some(b"glad")),
        (1082, Some(&[0, 0, 0, 1])),
        // 12.50
        (1700, Some(b"\0\x02\0\0\0\0\0\x02\0\x0c\x13\x88")),
    ]);
    for (sql, oid, value) in [
        ("SELECT $1::w.addr", addr, &home),
        ("SELECT $1::w.addr", addr, &empty),
        ("SELECT $1::w.addr[]", addrs, &others),
        ("SELECT $1::w.person", person, &whole),
    ] {
        // As the statement tells the type, and as the client does.
        for told in [0, oid] {
            let answers = ask(&mut raw, sql, &[told], &[Some(value)]);
            assert_eq!(first(&answers), (oid, value.clone()), "{sql}");
        }
    }
    let answers = ask(&mut raw, "SELECT $1", &[addr], &[Some(&home)]);
    assert_eq!(first(&answers), (addr, home.clone()));
    let answers = ask(&mut raw, "SELECT ($1::w.person).others[1].no", &[], &[Some(&whole)]);
    assert_eq!(first(&answers), (23, vec![0, 0, 1, 2]));
    let insert = "INSERT INTO w.t VALUES (1, $1, $2, NULL)";
    ask(&mut raw, insert, &[], &[Some(&whole), Some(&others)]);
    let found = ask(&mut raw, "SELECT id FROM w.t WHERE (who).home = $1", &[addr], &[Some(&home)]);
    assert_eq!(first(&found).1, [0, 0, 0, 1]);
    let text = raw.value("SELECT (who).home FROM w.t");
    assert_eq!(text, r#"("a ""b"", c\\",258)"#);
    // A domain of rows is sent as what it is made of.
    let place = number_of(&mut raw, "w.place");
    assert_eq!(first(&ask(&mut raw, "SELECT $1", &[place], &[Some(&home)])), (addr, home.clone()));
}

#[test]
fn what_is_no_row_of_a_type_is_refused() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TYPES));
    let addr = number_of(&mut raw, "w.addr");
    let good = record(&[(25, Some(b"a")), (23, Some(&[0, 0, 0, 1]))]);
    let mut refused = |sql: &str, value: &[u8]| state(&ask(&mut raw, sql, &[], &[Some(value)]));
    let row = "SELECT $1::w.addr";
    assert_eq!(refused(row, &record(&[(25, Some(b"a"))])), "42804");
    assert_eq!(refused(row, &record(&[(25, None), (20, None)])), "42804");
    assert_eq!(refused(row, &record(&[(25, None), (23, Some(&[0, 1]))])), "22P03");
    assert_eq!(refused(row, &record(&[(25, Some(&[0xff])), (23, None)])), "22021");
    assert_eq!(refused(row, &good[..good.len() - 1]), "22P03");
    assert_eq!(refused(row, &[&good[..], b"x"].concat()), "22P03");
    assert_eq!(refused(row, b""), "22P03");
    let nested = list(addr, &[Some(&good[..9])]);
    assert_eq!(refused("SELECT $1::w.addr[]", &nested), "22P03");
    assert_eq!(refused(row, &good), "");
    // What a field has room for.
    let none: (u32, Option<&[u8]>) = (addr, None);
    let mut person = [(1043, Some(&b"Adalbert"[..])), none, none, none, (1082, None), (1700, None)];
    assert_eq!(refused("SELECT $1::w.person", &record(&person)), "22001");
    (person[0].1, person[3].1) = (None, Some(&b"angry"[..]));
    assert_eq!(refused("SELECT $1::w.person", &record(&person)), "22P02");
}

#[test]
fn rows_go_and_come_in_binary_copies() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TYPES));
    raw.kinds(&query(
        "INSERT INTO w.t VALUES (1, ROW('Ada', ROW('a,', 1), '{\"(b,2)\",NULL}', 'sad', '2000-02-29', 0.05), '{}', 7), \
         (2, ROW(NULL, NULL, NULL, NULL, NULL, NULL), NULL, NULL), (3, NULL, '{\"(,)\"}', 1); \
         CREATE TABLE w.u (LIKE w.t)",
    ));
    raw.send(&query("COPY w.t TO STDOUT (FORMAT binary)"));
    let sent = raw.until_ready();
    let all: Vec<&[u8]> = sent.iter().filter(|it| it.0 == b'd').map(|it| &it.1[..]).collect();
    raw.send(&query("COPY w.u FROM STDIN (FORMAT binary)"));
    assert_eq!(raw.read().unwrap().0, b'G');
    raw.send(&[frame(b'd', &all.concat()), frame(b'c', b"")].concat());
    let answers = raw.until_ready();
    assert_eq!(answers[0].text(), "COPY 3", "{answers:?}");
    let texts = "SELECT string_agg(concat_ws('|', id, who, all_of, n), ' ' ORDER BY id)";
    let there = raw.value(&format!("{texts} FROM w.t"));
    assert!(
        there.starts_with(r#"1|(Ada,"(""a,"",1)","{""(b,2)"",NULL}",sad,2000-02-29,0.05)|{}|7 2|"#)
    );
    assert_eq!(raw.value(&format!("{texts} FROM w.u")), there);
}

#[test]
fn parameters_are_told_as_the_domains_that_tell_them() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query(TYPES));
    let positive = number_of(&mut raw, "w.positive");
    let mut told = |sql: &str| {
        raw.send(&[parse("", sql), frame(b'D', b"S\0"), sync()].concat());
        let messages = raw.until_ready();
        let found = messages.iter().find(|it| it.0 == b't').unwrap_or_else(|| panic!("{sql}"));
        let each = found.1[2..].chunks(4).map(|it| u32::from_be_bytes(it.try_into().unwrap()));
        each.collect::<Vec<u32>>()
    };
    assert_eq!(told("SELECT $1::w.positive, $2::int"), [positive, 23]);
    assert_eq!(told("INSERT INTO w.t (n, id) VALUES ($1, $2)"), [positive, 23]);
    assert_eq!(told("UPDATE w.t SET n = $1 WHERE n = $2"), [positive, 23]);
    // A column of a result is of the type that the domain is made of; values are those of it.
    let four = [0, 0, 0, 4];
    for oid in [0, positive] {
        let answers = ask(&mut raw, "SELECT $1::w.positive", &[oid], &[Some(&four)]);
        assert_eq!(first(&answers), (23, four.to_vec()));
    }
    let answers = ask(&mut raw, "SELECT $1::w.positive", &[], &[Some(&[0; 4])]);
    let error = answers.iter().find(|it| it.0 == b'E').unwrap();
    let expected = ["23514", "w", "positive", "positive_check"];
    assert_eq!(b"Csdn".map(|it| error.field(it)), expected);
    let message = "value for domain w.positive violates check constraint \"positive_check\"";
    assert_eq!(error.field(b'M'), message);
    raw.send(&query("INSERT INTO w.t (n) VALUES (-1)"));
    let answers = raw.until_ready();
    let error = answers.iter().find(|it| it.0 == b'E').unwrap();
    assert_eq!(b"Csdn".map(|it| error.field(it)), expected);
    // What has been prepared by SQL is told so, too.
    raw.kinds(&query("PREPARE p AS SELECT $1::w.positive"));
    raw.send(&[frame(b'D', b"Sp\0"), sync()].concat());
    assert_eq!(raw.until_ready()[0].1[2..], positive.to_be_bytes());
    assert_eq!(raw.kinds(&[bind("", "p"), sync()].concat()), "EZ");
}
