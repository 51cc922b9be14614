//! Options of COPY and of reading that DuckDB has: folders by values, compression, row groups, types by place, files with columns of their own.

use std::fs;

use crate::scratch::Scratch;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;

fn session() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 5);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

/// Runs a statement that has to succeed, and gives its tag.
fn done(scratch: &Scratch, session: &mut Session, sql: &str) -> String {
    let found = scratch.error(session, sql);
    assert!(found.starts_with("done: "), "{sql}: {found}");
    found
}

#[test]
fn rows_go_into_folders_by_their_values() {
    let scratch = Scratch::new("partitioned");
    let mut session = session();
    let rows = "CREATE TABLE t AS SELECT i AS a, CASE WHEN i % 3 > 0 THEN i % 3 END AS k, 'a/b ' || i % 2 AS \"n m\" \
        FROM generate_series(1, 600) AS g(i)";
    session.execute(rows).unwrap();
    let expected = scratch.rows(
        &mut session,
        "SELECT k, \"n m\", count(*), sum(a) FROM t GROUP BY 1, 2 ORDER BY 1, 2",
    );
    for (format, end) in [("parquet", "parquet"), ("csv, HEADER", "csv"), ("arrow", "arrow")] {
        let copy = format!("COPY t TO 'DIR/{end}' (FORMAT {format}, PARTITION_BY (k, \"n m\"))");
        assert_eq!(done(&scratch, &mut session, &copy), "done: COPY 600");
        let pattern = format!("DIR/{end}/*/*/*.{end}");
        let found = format!(
            "SELECT k, \"n m\", count(*), sum(a) FROM '{pattern}' GROUP BY 1, 2 ORDER BY 1, 2"
        );
        assert_eq!(scratch.rows(&mut session, &found), expected, "{end}");
        let again = scratch.error(&mut session, &copy);
        assert_eq!(again, format!("58P02 folder DIR/{end} is not empty"));
    }
    let file = scratch.0.join("parquet/k=__HIVE_DEFAULT_PARTITION__/n m=a%2Fb 1/data_0.parquet");
    assert!(file.exists());
    // What was there goes, or stays.
    let few = "COPY (FROM t WHERE a <= 2) TO 'DIR/parquet' (FORMAT parquet, PARTITION_BY k, OVERWRITE_OR_IGNORE, FILENAME_PATTERN 'x_{i}')";
    done(&scratch, &mut session, few);
    assert!(file.exists() && scratch.0.join("parquet/k=1/x_0.parquet").exists());
    done(
        &scratch,
        &mut session,
        &few.replace("_OR_IGNORE", "").replace("BY k", "BY (k), WRITE_PARTITION_COLUMNS true"),
    );
    assert!(!file.exists() && !scratch.0.join("parquet.old").exists());
    let kept = "SELECT a, k FROM read_parquet('DIR/parquet/*/x_0.parquet', hive_partitioning = false) ORDER BY a";
    assert_eq!(scratch.rows(&mut session, kept), ["1|1", "2|2"]);
    for (sql, expected) in [
        (
            "COPY t TO 'DIR/p' (FORMAT csv, PARTITION_BY z)",
            "42703 column \"z\" of PARTITION_BY does not exist",
        ),
        (
            "COPY t TO 'DIR/p' (FORMAT csv, PARTITION_BY (a, k, \"n m\"))",
            "22023 PARTITION_BY of all columns",
        ),
        ("COPY t TO 'DIR/p' (FORMAT json, PARTITION_BY a)", "0A000"),
        (
            "COPY t TO 'DIR/p.csv' (WRITE_PARTITION_COLUMNS true)",
            "22023 COPY WRITE_PARTITION_COLUMNS needs PARTITION_BY",
        ),
        (
            "COPY t TO 'DIR/p' (FORMAT csv, PARTITION_BY k, FILENAME_PATTERN '../x')",
            "22023 FILENAME_PATTERN takes a name of files",
        ),
        (
            "COPY (SELECT 1 / (a - 5) AS q, k FROM t) TO 'DIR/p' (FORMAT csv, PARTITION_BY k)",
            "22012",
        ),
    ] {
        let found = scratch.error(&mut session, sql);
        assert!(found.starts_with(expected), "{sql}: {found}");
    }
    let left = fs::read_dir(&scratch.0).unwrap().count();
    assert_eq!(left, 3);
}

#[test]
fn parquet_is_written_as_asked() {
    let scratch = Scratch::new("parquet-options");
    let mut session = session();
    session.execute("CREATE TABLE t AS SELECT i AS a, 'text ' || i % 9 AS b FROM generate_series(1, 5000) AS g(i)").unwrap();
    for options in [
        "COMPRESSION uncompressed",
        "COMPRESSION snappy",
        "CODEC 'ZSTD', COMPRESSION_LEVEL 5",
        "COMPRESSION gzip",
        "COMPRESSION brotli",
        "COMPRESSION lz4_raw",
        "ROW_GROUP_SIZE 700",
    ] {
        done(&scratch, &mut session, &format!("COPY t TO 'DIR/f.parquet' ({options})"));
        let sum = "SELECT count(*), sum(a), max(b) FROM 'DIR/f.parquet'";
        assert_eq!(scratch.rows(&mut session, sum), ["5000|12502500|text 8"], "{options}");
    }
    for (options, expected) in [
        ("COMPRESSION lzo", "22023 option \"compression\" takes"),
        ("COMPRESSION snappy, COMPRESSION_LEVEL 3", "22023 compression snappy has no level"),
        ("COMPRESSION zstd, COMPRESSION_LEVEL 300", "22023"),
        ("ROW_GROUP_SIZE 0", "22023 option \"row_group_size\" takes a number above 0"),
        ("ROW_GROUP_SIZE '-1'", "22023"),
        ("FIELD_IDS 1", "0A000 cannot specify FIELD_IDS in Parquet"),
    ] {
        let found = scratch.error(&mut session, &format!("COPY t TO 'DIR/g.parquet' ({options})"));
        assert!(found.starts_with(expected), "{options}: {found}");
    }
    assert!(!scratch.0.join("g.parquet").exists());
}

#[test]
fn csv_is_read_as_asked() {
    let scratch = Scratch::new("csv-options");
    let mut session = session();
    scratch.write("a.csv", "a,b\n1,x\n,y\n");
    scratch.write("b.csv", "c,a\n2024-01-01,2.5\n");
    scratch.write("c.csv", "b;c;d\nz;q;true\n");
    let mut rows = |sql: &str| scratch.rows(&mut session, sql);
    assert_eq!(
        rows(
            "SELECT a || '!', b FROM read_csv('DIR/a.csv', types = ['VARCHAR'], nullstr = ['y', ''])"
        ),
        ["1!|x", "NULL|NULL"]
    );
    assert_eq!(
        rows(
            "SELECT a FROM read_csv('DIR/a.csv', dtypes = ['VARCHAR', 'VARCHAR'], force_not_null = ['a'])"
        ),
        ["1", ""]
    );
    let union = "SELECT a, b, c, d, filename LIKE '%b.csv' FROM read_csv('DIR/*.csv', union_by_name = true, filename = true)";
    assert_eq!(
        rows(union),
        [
            "1|x|NULL|NULL|false",
            "NULL|y|NULL|NULL|false",
            "2.5|NULL|2024-01-01|NULL|true",
            "NULL|z|q|true|false"
        ]
    );
    assert_eq!(
        rows(
            "SELECT sum(a), count(*) FROM read_csv(['DIR/a.csv', 'DIR/b.csv'], union_by_name = true)"
        ),
        ["3.5|3"]
    );
    assert_eq!(
        rows("SELECT b FROM read_csv('DIR/a.csv', new_line = '\\n', maximum_line_size = 100)"),
        ["x", "y"]
    );
    for (sql, expected) in [
        (
            "FROM read_csv('DIR/a.csv', types = ['INT', 'TEXT', 'INT'])",
            "22023 3 types are said of 2 columns",
        ),
        ("FROM read_csv('DIR/a.csv', types = 'INT')", "22023 option \"types\" takes types"),
        ("FROM read_csv('DIR/a.csv', new_line = 'x')", "22023"),
    ] {
        let found = scratch.error(&mut session, sql);
        assert!(found.starts_with(expected), "{sql}: {found}");
    }
}
