//! Files of Arrow: read in the place of a table and by COPY, written, and damaged in any way. What Arrow has, files of Parquet keep, too.

use std::fs;

use crate::scratch::Scratch;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, UInt32Array};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::Prng;
use stdx::sync::Arc;

fn session() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 5);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

/// Rows of many types.
const QUERY: &str = "SELECT i::int AS a, (i * 103 % 77)::bigint AS b, (i / 7.0)::decimal(12, 3) AS c, sqrt(i)::double AS d, \
    CASE WHEN i % 5 <> 0 THEN 'text ' || i END AS e, DATE '2020-01-01' + i::int AS f, TIMESTAMP '2020-01-01' + i * INTERVAL '61 seconds' AS g, \
    i % 3 = 0 AS h, [i, NULL] AS l, {'k': i, 'm': 'n'} AS s, MAP {'x': i} AS m, INTERVAL '1 month' * i AS n, \
    TIMESTAMPTZ '2020-01-01 00:00:00+00' AS z, '0d3c4b5a-1c2d-4e5f-8a9b-0c1d2e3f4a5b'::uuid AS u, \
    ['0d3c4b5a-1c2d-4e5f-8a9b-0c1d2e3f4a5b'::uuid, NULL] AS v, 'ab'::bytea AS y FROM generate_series(1, ROWS) AS g(i)";

const KINDS: [(&str, &str); 7] = [
    ("f.arrow", ""),
    ("f.arrows", ""),
    ("f.feather", "(FORMAT arrow, COMPRESSION lz4)"),
    ("g.arrow", "(COMPRESSION zstd)"),
    ("g.arrows", "(FORMAT arrows, COMPRESSION zstd)"),
    ("f.parquet", ""),
    ("g.parquet", "(COMPRESSION zstd, ROW_GROUP_SIZE 1000)"),
];

#[test]
fn what_is_written_is_read_again() {
    let scratch = Scratch::new("arrow-round");
    let mut session = session();
    for rows in [0, 3, 7000] {
        session
            .execute(&format!(
                "CREATE OR REPLACE TABLE t AS {}",
                QUERY.replace("ROWS", &rows.to_string())
            ))
            .unwrap();
        let expected = scratch.rows(&mut session, "SELECT * FROM t ORDER BY a");
        for (name, options) in KINDS {
            let tag = scratch.error(&mut session, &format!("COPY t TO 'DIR/{name}' {options}"));
            assert_eq!(tag, format!("done: COPY {rows}"), "{name}");
            let found =
                scratch.rows(&mut session, &format!("SELECT * FROM 'DIR/{name}' ORDER BY a"));
            assert!(found == expected, "{name}: {:?} {:?}", found.first(), expected.first());
            let reader = if name.ends_with("parquet") { "read_parquet" } else { "read_arrow" };
            let count = format!("SELECT count(*), max(e) FROM {reader}('DIR/{name}')");
            let own = scratch.rows(&mut session, "SELECT count(*), max(e) FROM t");
            assert_eq!(scratch.rows(&mut session, &count), own, "{name}");
            session.execute("CREATE OR REPLACE TABLE back AS SELECT * FROM t LIMIT 0").unwrap();
            let tag = scratch.error(&mut session, &format!("COPY back FROM 'DIR/{name}'"));
            assert_eq!(tag, format!("done: COPY {rows}"), "{name}");
            let found = scratch.rows(&mut session, "SELECT * FROM back ORDER BY a");
            assert!(found == expected, "{name}");
        }
    }
    let two = "SELECT count(*), count(DISTINCT filename) FROM read_arrow(['DIR/f.arrow', 'DIR/g.arrows'], filename = true)";
    assert_eq!(scratch.rows(&mut session, two), ["14000|2"]);
}

#[test]
fn files_of_others_are_read() {
    let scratch = Scratch::new("arrow-others");
    let mut session = session();
    let words: DictionaryArray<Int8Type> =
        vec![Some("x"), None, Some("y"), Some("x")].into_iter().collect();
    let numbers: ArrayRef =
        Arc::new(UInt32Array::from(vec![Some(4_000_000_000), None, Some(1), Some(2)]));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("w", Arc::new(words) as ArrayRef, true),
        ("n", numbers, true),
    ])
    .unwrap();
    let (mut file, mut stream) = (Vec::new(), Vec::new());
    let mut writer = FileWriter::try_new(&mut file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch.slice(1, 2)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch.slice(1, 2)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    scratch.write("x.arrow", &file);
    scratch.write("x.arrows", &stream);
    for name in ["x.arrow", "x.arrows"] {
        let rows = scratch.rows(&mut session, &format!("SELECT w, n FROM 'DIR/{name}'"));
        assert_eq!(rows, ["x|4000000000", "NULL|NULL", "y|1", "x|2", "NULL|NULL", "y|1"], "{name}");
        assert_eq!(
            scratch.rows(&mut session, &format!("SELECT count(*) FROM 'DIR/{name}'")),
            ["6"]
        );
    }
    // What a file is follows from its first bytes, too.
    scratch.write("x.dat", &file);
    assert_eq!(scratch.rows(&mut session, "SELECT sum(n) FROM 'DIR/x.dat'"), ["4000000004"]);
    scratch.write("no.arrow", b"hello");
    for (sql, expected) in [
        ("FROM 'DIR/no.arrow'", "22P04 file DIR/no.arrow is not an Arrow file"),
        ("FROM 'DIR/none.arrow'", "58P01"),
        ("FROM read_arrow('DIR/x.arrow', foo = 1)", "22023 read_arrow has no option \"foo\""),
        ("SELECT z FROM 'DIR/x.arrow'", "42703"),
        ("COPY (SELECT 1) TO 'DIR/y.arrow' (COMPRESSION gzip)", "22023"),
        ("COPY (SELECT 1) TO 'DIR/y.arrow' (HEADER)", "42601"),
        ("CREATE TABLE t (w TEXT, q INT); COPY t FROM 'DIR/x.arrow'", "42703"),
    ] {
        let found = scratch.error(&mut session, sql);
        assert!(found.starts_with(expected), "{sql}: {found}");
    }
    assert!(!scratch.0.join("y.arrow").exists());
}

#[test]
fn damaged_files_are_refused() {
    let scratch = Scratch::new("arrow-damaged");
    let mut session = session();
    let mut prng = Prng::new(5);
    session.execute(&format!("CREATE TABLE t AS {}", QUERY.replace("ROWS", "50"))).unwrap();
    let (mut told, mut read) = (0, 0);
    for (name, options) in KINDS {
        scratch.run(&mut session, &format!("COPY t TO 'DIR/{name}' {options}")).unwrap();
        let bytes = fs::read(scratch.0.join(name)).unwrap();
        for round in 0..250 {
            let mut other = bytes.clone();
            for _ in 0..1 + prng.below(3) {
                let at = prng.below(other.len() as u64) as usize;
                match prng.below(4) {
                    0 => other[at] ^= 1 << prng.below(8),
                    1 => other[at] = prng.below(256) as u8,
                    2 => other.truncate(at.max(8)),
                    _ => {
                        let end = (at + 4).min(other.len());
                        other[at..end].fill([0, 0xff, 0x7f][prng.below(3) as usize]);
                    }
                }
            }
            scratch.write(&format!("m{name}"), &other);
            for sql in ["SELECT * FROM 'DIR/mNAME'", "SELECT count(*) FROM 'DIR/mNAME'"] {
                let found = scratch.error(&mut session, &sql.replace("NAME", name));
                let is_told = ["XX001", "22P04", "0A000", "42703", "22"]
                    .iter()
                    .any(|it| found.starts_with(it));
                assert!(is_told || found.starts_with("done"), "{name} {round}: {found}");
                *(if is_told { &mut told } else { &mut read }) += 1;
            }
        }
    }
    assert!(told > 500 && read > 100, "{told} {read}");
}
