//! CSV and PostgreSQL's text format: what COPY .. FROM and FROM read, and what they refuse.

use crate::scratch::Scratch;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::Prng;

fn session() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 5);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

#[test]
fn copy_reads_what_postgres_reads() {
    let scratch = Scratch::new("copy");
    let mut session = session();
    let cases: &[(&str, &str, &[&str])] = &[
        ("1,x,\n", "(FORMAT csv)", &["1|x|NULL"]),
        ("1,x,\"\"\n", "(FORMAT csv)", &["1|x|"]),
        ("", "(FORMAT csv)", &[]),
        ("1,x,y", "(FORMAT csv)", &["1|x|y"]),
        ("1,\"a\nb\",\"q\"\"\"\n2,c,d\n", "(FORMAT csv)", &["1|a\nb|q\"", "2|c|d"]),
        ("1,\"a\"b\"c\",y\n", "(FORMAT csv)", &["1|abc|y"]),
        ("1,'a'',b',y\n", "(FORMAT csv, QUOTE '''')", &["1|a',b|y"]),
        ("1,\"a\\\"b\\\\\",y\n", "(FORMAT csv, ESCAPE '\\')", &["1|a\"b\\|y"]),
        ("1,x,y\r\n2,x,y\r\n", "(FORMAT csv)", &["1|x|y", "2|x|y"]),
        ("1,x,y\r2,x,y\r", "(FORMAT csv)", &["1|x|y", "2|x|y"]),
        ("z,b,c\n1,x,y\n", "(FORMAT csv, HEADER)", &["1|x|y"]),
        ("a,b,c\n1,x,y\n", "(FORMAT csv, HEADER match)", &["1|x|y"]),
        ("1;x;-\n", "(FORMAT csv, DELIMITER ';', NULL '-')", &["1|x|NULL"]),
        ("1,\"\",\n", "(FORMAT csv, FORCE_NOT_NULL (c))", &["1||"]),
        ("1,x,\"\"\n", "(FORMAT csv, FORCE_NULL (c))", &["1|x|NULL"]),
        ("1,x,\"\"\n", "(FORMAT csv, FORCE_NULL *)", &["1|x|NULL"]),
        ("4,DD,\"DD\"\n", "(FORMAT csv, DEFAULT 'DD')", &["4|dd|DD"]),
        ("4,a ,q\n", "(FORMAT csv)", &["4|a |q"]),
        (" 4 ,x,abc  \n", "(FORMAT csv)", &["4|x|abc"]),
        ("\u{feff}1,x,y\n", "(FORMAT csv)", &["1|x|y"]),
        ("w,x,y\n1,x,y\nv,,y\n4,p,q\n", "(FORMAT csv, ON_ERROR ignore)", &["1|x|y", "4|p|q"]),
        ("w,x,y\n4,p,q\n", "(FORMAT csv, ON_ERROR ignore, REJECT_LIMIT 1)", &["4|p|q"]),
        ("4\ta\\tb\\x41\\101\\q\\\\\t\\N\n\\.\nxx", "(FORMAT text)", &["4|a\tbAAq\\|NULL"]),
        ("4\tx\tq\\\n\n", "", &["4|x|q\n"]),
        ("1\tx\ty\n2\t\t\n", "", &["1|x|y", "2||"]),
        ("1|x|y\n", "DELIMITER '|'", &["1|x|y"]),
        ("a|b|c\n1|x|\n", "WITH DELIMITER AS '|' CSV HEADER NULL AS ''", &["1|x|NULL"]),
    ];
    for (text, options, expected) in cases {
        let table = "CREATE TABLE t (a INTEGER, b TEXT NOT NULL DEFAULT 'dd', c VARCHAR(3))";
        session.execute(table).unwrap();
        scratch.write("f.data", text);
        let tag = scratch.run(&mut session, &format!("COPY t FROM 'DIR/f.data' {options}"));
        let tag = tag.unwrap_or_else(|error| panic!("{text:?} {options}: {error}")).tag;
        assert_eq!(tag, format!("COPY {}", expected.len()), "{text:?} {options}");
        assert_eq!(scratch.rows(&mut session, "SELECT * FROM t"), *expected, "{text:?} {options}");
        session.execute("DROP TABLE t").unwrap();
    }
}

/// What is wrong, and what is said of it.
const WRONG: &[(&str, &str, &str)] = &[
    ("1,x\n", "(FORMAT csv)", "22P04 missing data for column \"c\" (file DIR/f, line 1)"),
    (
        "1,x,y\n1,x,y,z\n",
        "(FORMAT csv)",
        "22P04 extra data after last expected column (file DIR/f, line 2)",
    ),
    (
        "q,x,y\n",
        "(FORMAT csv)",
        "22P02 invalid input syntax for type integer: \"q\" (file DIR/f, line 1, column \"a\")",
    ),
    (
        "1,\"\n\n\",y\nz,x,y\n",
        "(FORMAT csv)",
        "22P02 invalid input syntax for type integer: \"z\" (file DIR/f, line 4, column \"a\")",
    ),
    (
        "1,,y\n",
        "(FORMAT csv)",
        "23502 null value in column \"b\" of relation \"t\" violates not-null constraint (file DIR/f, line 1)",
    ),
    (
        "1,x,yyyy\n",
        "(FORMAT csv)",
        "22001 value too long for type character varying(3) (file DIR/f, line 1, column \"c\")",
    ),
    ("1,\"x,y\n", "(FORMAT csv)", "22P04 unterminated CSV quoted field (file DIR/f, line 1)"),
    (
        "1,x,y\n2,x,y\r\n",
        "(FORMAT csv)",
        "22P04 unquoted carriage return found in data (file DIR/f, line 2)",
    ),
    (
        "1,x,y\r\n2,x,y\n",
        "(FORMAT csv)",
        "22P04 unquoted newline found in data (file DIR/f, line 2)",
    ),
    (
        "1,x\0y,y\n",
        "(FORMAT csv)",
        "22021 invalid byte sequence for encoding \"UTF8\": 0x00 (file DIR/f, line 1)",
    ),
    (
        "a,b,z\n1,x,y\n",
        "(FORMAT csv, HEADER match)",
        "22P04 column name mismatch in header line field 3: got \"z\", expected \"c\" (file DIR/f, line 1)",
    ),
    (
        "a,b\n1,x\n",
        "(FORMAT csv, HEADER match)",
        "22P04 wrong number of fields in header line: got 2, expected 3 (file DIR/f, line 1)",
    ),
    (
        "w,x,y\nv,x,y\n4,p,q\n",
        "(FORMAT csv, ON_ERROR ignore, REJECT_LIMIT 1)",
        "22P02 skipped more than REJECT_LIMIT (1) rows due to data type incompatibility: invalid input syntax for type integer: \"v\" (file DIR/f, line 2, column \"a\")",
    ),
    (
        "1,x\n",
        "(FORMAT csv, ON_ERROR ignore)",
        "22P04 missing data for column \"c\" (file DIR/f, line 1)",
    ),
    (
        "1,,y\n",
        "(FORMAT csv, ON_ERROR ignore)",
        "23502 null value in column \"b\" of relation \"t\" violates not-null constraint (file DIR/f, line 1)",
    ),
    (
        "99999999999,x,y\n",
        "(FORMAT csv)",
        "22003 value \"99999999999\" is out of range for type integer (file DIR/f, line 1, column \"a\")",
    ),
    ("\n", "(FORMAT csv)", "22P04 missing data for column \"b\" (file DIR/f, line 1)"),
    (
        "1,x,y\n\\.\n",
        "(FORMAT csv)",
        "22P02 invalid input syntax for type integer: \"\\.\" (file DIR/f, line 2, column \"a\")",
    ),
    (
        "4\t\\N\tq\n",
        "",
        "23502 null value in column \"b\" of relation \"t\" violates not-null constraint (file DIR/f, line 1)",
    ),
    ("4\tx\tq\\.\n", "", "22P04 end-of-copy marker is not alone on its line (file DIR/f, line 1)"),
    (
        "4\t\\xff\tq\n",
        "",
        "22021 invalid byte sequence for encoding \"UTF8\": 0xff (file DIR/f, line 1)",
    ),
    (
        "4,x\n",
        "(FORMAT csv, DEFAULT 'x')",
        "22P04 missing data for column \"c\" (file DIR/f, line 1)",
    ),
    (
        "4,x,D\n",
        "(FORMAT csv, DEFAULT 'D')",
        "22P04 unexpected default marker: column \"c\" has no default value (file DIR/f, line 1)",
    ),
    (
        "",
        "(FORMAT csv, DELIMITER '||')",
        "0A000 COPY delimiter must be a single one-byte character",
    ),
    (
        "",
        "(FORMAT csv, DELIMITER '\u{e4}')",
        "0A000 COPY delimiter must be a single one-byte character",
    ),
    ("", "(FORMAT csv, QUOTE ',')", "22023 COPY delimiter and quote must be different"),
    (
        "",
        "(FORMAT csv, NULL '\"')",
        "22023 CSV quote character must not appear in the NULL specification",
    ),
    (
        "",
        "(FORMAT csv, NULL 'a,b')",
        "22023 COPY delimiter character must not appear in the NULL specification",
    ),
    (
        "",
        "(FORMAT csv, NULL E'a\\nb')",
        "22023 COPY null representation cannot use newline or carriage return",
    ),
    (
        "",
        "(FORMAT csv, NULL 'x', DEFAULT 'x')",
        "22023 NULL specification and DEFAULT specification cannot be the same",
    ),
    ("", "(FORMAT csv, FOO 1)", "42601 option \"foo\" not recognized"),
    ("", "(FORMAT csv, FORMAT csv)", "42601 conflicting or redundant options"),
    (
        "",
        "(FORMAT csv, REJECT_LIMIT 3)",
        "22023 COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE",
    ),
    (
        "",
        "(FORMAT csv, ON_ERROR ignore, REJECT_LIMIT 0)",
        "22023 REJECT_LIMIT (0) must be greater than zero",
    ),
    ("", "(FORMAT csv, FORCE_NULL (zz))", "42703 column \"zz\" of relation \"t\" does not exist"),
    (
        "",
        "(FORMAT csv, ENCODING 'nope')",
        "22023 argument to option \"encoding\" must be a valid encoding name",
    ),
    ("", "(FORMAT csv, HEADER maybe)", "42601 header requires a Boolean value or \"match\""),
    ("", "(FORMAT csv, HEADER 3)", "42601 header requires a Boolean value or \"match\""),
    ("", "(FORMAT csv, ON_ERROR bad)", "22023 COPY ON_ERROR \"bad\" not recognized"),
    ("", "(FORMAT csv, LOG_VERBOSITY bad)", "22023 COPY LOG_VERBOSITY \"bad\" not recognized"),
    ("", "(QUOTE '\"')", "0A000 COPY QUOTE requires CSV mode"),
    ("", "(FORCE_NULL (a))", "0A000 COPY FORCE_NULL requires CSV mode"),
    ("", "(DELIMITER 'a')", "22023 COPY delimiter cannot be \"a\""),
    ("", "(FORMAT foo)", "22023 COPY format \"foo\" not recognized"),
    ("", "(FORMAT binary)", "0A000 COPY FROM of format binary"),
    (
        "",
        "(FORMAT csv, COMPRESSION lzo)",
        "22023 option \"compression\" takes auto, none, gzip or zstd",
    ),
    (
        "x",
        "(FORMAT csv, COMPRESSION gzip)",
        "XX001 could not read file DIR/f: unexpected end of file",
    ),
    (
        "1,x,y\n",
        "(FORMAT csv, COMPRESSION zstd)",
        "XX001 could not read file DIR/f: Unknown frame descriptor",
    ),
    (
        "",
        "(FORMAT csv,)",
        "42601 syntax error at or near the end of the statement: expected the name of an option",
    ),
    ("", "CSV FOO", "42601 syntax error at or near \"FOO\": expected an option of COPY"),
];

#[test]
fn what_is_wrong_is_told_with_its_place_and_leaves_nothing() {
    let scratch = Scratch::new("wrong");
    let mut session = session();
    let table = "CREATE TABLE t (a INTEGER, b TEXT NOT NULL DEFAULT 'dd', c VARCHAR(3))";
    session.execute(table).unwrap();
    session.execute("INSERT INTO t VALUES (0, 'o', NULL)").unwrap();
    let mut missed = Vec::new();
    for (text, options, expected) in WRONG {
        scratch.write("f", text);
        let found = scratch.error(&mut session, &format!("COPY t FROM 'DIR/f' {options}"));
        if found != *expected {
            missed.push(format!("{text:?} {options}\n  found    {found}\n  expected {expected}"));
        }
        assert_eq!(scratch.rows(&mut session, "SELECT * FROM t"), ["0|o|NULL"]);
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    scratch.write("f", b"\xff1,x,y\n");
    for (sql, expected) in [
        (
            "COPY t FROM 'DIR/f' (FORMAT csv)",
            "22021 invalid byte sequence for encoding \"UTF8\": 0xff (file DIR/f, line 1)",
        ),
        (
            "COPY t FROM 'DIR/none.csv' CSV",
            "58P01 could not open file DIR/none.csv: No such file or directory (os error 2)",
        ),
        ("COPY t FROM 'DIR' CSV", "58P01 could not open file DIR: is a directory"),
        ("COPY t FROM '/dev/null' CSV", "42809 /dev/null is not a regular file"),
        ("COPY t FROM 'DIR/*.csv' CSV", "58P01 no file matches the pattern \"DIR/*.csv\""),
        ("COPY t (a, zz) FROM 'DIR/f' CSV", "42703 column \"zz\" of relation \"t\" does not exist"),
        ("COPY t (a, a) FROM 'DIR/f' CSV", "42701 column \"a\" specified more than once"),
        (
            "COPY t (a) FROM 'DIR/f' (FORMAT csv, FORCE_NULL (b))",
            "42P10 FORCE_NULL column \"b\" not referenced by COPY",
        ),
        ("COPY nothing FROM 'DIR/f' CSV", "42P01 table \"nothing\" does not exist"),
    ] {
        assert_eq!(scratch.error(&mut session, sql), expected, "{sql}");
        assert_eq!(scratch.rows(&mut session, "SELECT * FROM t"), ["0|o|NULL"]);
    }
}

#[test]
fn columns_left_out_have_their_defaults_and_constraints_hold() {
    let scratch = Scratch::new("defaults");
    let mut session = session();
    let table =
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT DEFAULT 'dd', c INTEGER CHECK (c > 0))";
    session.execute(table).unwrap();
    scratch.write("f.csv", "5,1\n6,2\n");
    let mut run = |sql: &str| scratch.error(&mut session, sql);
    assert_eq!(run("COPY t (c, a) FROM 'DIR/f.csv' CSV"), "done: COPY 2");
    assert_eq!(run("COPY t (a, c) FROM 'DIR/f.csv' CSV"), "done: COPY 2");
    assert!(run("COPY t (a, c) FROM 'DIR/f.csv' CSV").starts_with("23505"));
    scratch.write("f.csv", "7,-1\n");
    assert!(run("COPY t (a, c) FROM 'DIR/f.csv' CSV").starts_with("23514"));
    scratch.write("f.csv", "8,D,1\n9,x,D\n");
    let marked = run("COPY t FROM 'DIR/f.csv' (FORMAT csv, DEFAULT 'D')");
    assert!(marked.starts_with("22P04 unexpected default marker"), "{marked}");
    scratch.write("f.csv", "8,D,1\n9,x,2\n");
    assert_eq!(run("COPY t FROM 'DIR/f.csv' (FORMAT csv, DEFAULT 'D')"), "done: COPY 2");
    let rows = scratch.rows(&mut session, "SELECT * FROM t ORDER BY a");
    assert_eq!(rows, ["1|dd|5", "2|dd|6", "5|dd|1", "6|dd|2", "8|dd|1", "9|x|2"]);
}

#[test]
fn what_nobody_says_of_a_file_is_found() {
    let scratch = Scratch::new("found");
    let mut session = session();
    session.execute("CREATE TABLE t (a INTEGER, b TEXT)").unwrap();
    for (name, text, expected) in [
        ("h.csv", "A,b\n1,x\n", "1|x"),
        ("n.csv", "1,x\n\n", "1|x"),
        ("s.csv", "1;\"x,y\"\r\n", "1|x,y"),
        ("t.tsv", "a\tb\n1\tx y\n", "1|x y"),
        ("l.tbl", "1|x\"|\n", "1|x\""),
        ("p.txt", "1\t\\N\n", "1|NULL"),
    ] {
        scratch.write(name, text);
        let tag = scratch.run(&mut session, &format!("COPY t FROM 'DIR/{name}'"));
        assert_eq!(tag.unwrap_or_else(|error| panic!("{name}: {error}")).tag, "COPY 1", "{name}");
        assert_eq!(scratch.rows(&mut session, "SELECT * FROM t"), [expected], "{name}");
        session.execute("TRUNCATE t").unwrap();
    }
}

#[test]
fn rows_left_out_are_told() {
    let scratch = Scratch::new("notices");
    let mut session = session();
    session.execute("CREATE TABLE t (a INTEGER)").unwrap();
    scratch.write("f", "w\n1\nv\n");
    let mut notices = |options: &str| {
        let sql = format!("COPY t FROM 'DIR/f' (FORMAT csv, ON_ERROR ignore{options})");
        scratch.run(&mut session, &sql).unwrap();
        session.take_notices().into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(notices(""), ["2 rows were skipped due to data type incompatibility"]);
    assert!(notices(", LOG_VERBOSITY silent").is_empty());
    let verbose = notices(", LOG_VERBOSITY verbose");
    assert!(verbose[0].contains("\"w\"") && verbose[1].contains("line 3"), "{verbose:?}");
}

#[test]
fn files_are_read_in_the_place_of_tables() {
    let scratch = Scratch::new("query");
    let mut session = session();
    scratch.write("a.csv", "id,name,at\n1,x,2024-02-29\n2,\"y,z\",\n");
    scratch.write("b.tsv", "id\tv\n1\t2.5\n3\t4\n");
    scratch.write("c.tbl", "1|a b|3.10|\n2|c|4|\n");
    let mut rows = |sql: &str| scratch.rows(&mut session, sql);
    assert_eq!(rows("SELECT * FROM 'DIR/a.csv'"), ["1|x|2024-02-29", "2|y,z|NULL"]);
    assert_eq!(rows("SELECT count(*) FROM 'DIR/a.csv'"), ["2"]);
    assert_eq!(
        rows("SELECT a.name, b.v FROM 'DIR/a.csv' a JOIN 'DIR/b.tsv' b USING (id)"),
        ["x|2.5"]
    );
    assert_eq!(rows("SELECT sum(column2), max(column1) FROM 'DIR/c.tbl'"), ["7.1|c"]);
    assert_eq!(rows("SELECT * FROM read_csv('DIR/a.csv', header = false) LIMIT 1"), ["id|name|at"]);
    assert_eq!(
        rows("SELECT * FROM read_csv('DIR/a.csv', types = {'id': 'TEXT'}) x WHERE id = '2'"),
        ["2|y,z|NULL"]
    );
    let columns = "SELECT q + 1, r FROM read_csv('DIR/a.csv', columns = {'q': 'INT', 'r': 'TEXT', s: 'DATE'}, skip = 1)";
    assert_eq!(rows(columns), ["2|x", "3|y,z"]);
    assert_eq!(
        rows("SELECT at FROM read_csv('DIR/a.csv', all_varchar = true) WHERE id = '1'"),
        ["2024-02-29"]
    );
    let found =
        "SELECT delimiter, quote, new_line, has_header, columns FROM sniff_csv('DIR/a.csv')";
    assert_eq!(rows(found), [",|\"|\\n|true|{'id': 'BIGINT', 'name': 'TEXT', 'at': 'DATE'}"]);
    let glob = "SELECT count(*), min(file) LIKE '%a.csv' FROM glob('DIR/*') ";
    assert_eq!(rows(glob), ["3|true"]);
    // What a query makes of a file is a table.
    session
        .execute(&format!("CREATE TABLE made AS SELECT * FROM '{}/a.csv'", scratch.0.display()))
        .unwrap();
    let insert = "INSERT INTO made SELECT id + 10, name, at FROM read_csv('DIR/a.csv')";
    assert_eq!(scratch.run(&mut session, insert).unwrap().tag, "INSERT 0 2");
    let sum = scratch.rows(&mut session, "SELECT sum(id), count(at) FROM made");
    assert_eq!(sum, ["26|2"]);
}

#[test]
fn many_files_are_one_table() {
    let scratch = Scratch::new("many");
    let mut session = session();
    for (year, number) in [(2024, 1), (2024, 2), (2025, 3)] {
        scratch.write(
            &format!("year={year}/f{number}.csv"),
            format!("a,b\n{number},x\n{},y\n", number * 10),
        );
    }
    let mut rows = |sql: &str| scratch.rows(&mut session, sql);
    let by_year = "SELECT year, count(*), sum(a) FROM 'DIR/*/*.csv' GROUP BY year ORDER BY year";
    assert_eq!(rows(by_year), ["2024|4|33", "2025|2|33"]);
    let names = "SELECT a, filename LIKE '%f3.csv' FROM read_csv('DIR/**/f*.csv', filename = true) WHERE a IN (1, 3) ORDER BY a";
    assert_eq!(rows(names), ["1|false", "3|true"]);
    let list = "SELECT * FROM read_csv(['DIR/year=2025/f3.csv', 'DIR/year=2024/f1.csv'], hive_partitioning = false)";
    assert_eq!(rows(list), ["3|x", "30|y", "1|x", "10|y"]);
    scratch.write("year=2024/f4.csv", "b,a\nx,1\n");
    let error = scratch.error(&mut session, "SELECT * FROM 'DIR/year=2024/*.csv'");
    assert_eq!(
        error,
        "22P04 column name mismatch in header line field 1: got \"b\", expected \"a\" (file DIR/year=2024/f4.csv, line 1)"
    );
}

#[test]
fn a_value_behind_the_sample_is_told_with_what_to_do() {
    let scratch = Scratch::new("sample");
    let mut session = session();
    let mut text = "n,t\n".to_owned();
    (0..30_000).for_each(|it| text.push_str(&format!("{it},x\n")));
    text.push_str("oops,x\n");
    scratch.write("f.csv", &text);
    let error = scratch.run(&mut session, "SELECT sum(n) FROM 'DIR/f.csv'").unwrap_err();
    assert!(error.message.ends_with("line 30002, column \"n\")"), "{}", error.message);
    assert!(error.hint.unwrap().contains("types = {'n': 'TEXT'}"));
    let mut rows = |sql: &str| scratch.rows(&mut session, sql);
    // A column that nobody asks for is not read.
    assert_eq!(rows("SELECT count(t) FROM 'DIR/f.csv'"), ["30001"]);
    assert_eq!(rows("SELECT max(n) FROM read_csv('DIR/f.csv', sample_size = -1)"), ["oops"]);
    let skipped = "SELECT sum(n), count(*) FROM read_csv('DIR/f.csv', ignore_errors = true)";
    assert_eq!(rows(skipped), ["449985000|30000"]);
}

#[test]
fn what_cannot_be_read_is_told() {
    let scratch = Scratch::new("unread");
    let mut session = session();
    scratch.write("a.csv", "a,b\n1,2\n");
    scratch.write("ragged.csv", "a,b\n1,2\n3\n5,6\n");
    scratch.write("x.dat", "hello");
    scratch.write("utf16.csv", b"\xff\xfea\0");
    for (sql, expected) in [
        (
            "SELECT * FROM 'DIR/x.dat'",
            "22P04 file DIR/x.dat is not a Parquet file, and its name tells no format",
        ),
        (
            "SELECT * FROM 'DIR/no.csv'",
            "58P01 could not open file DIR/no.csv: No such file or directory (os error 2)",
        ),
        (
            "SELECT * FROM 'DIR/ragged.csv'",
            "22P04 missing data for column \"b\" (file DIR/ragged.csv, line 3)",
        ),
        ("SELECT * FROM 'DIR/utf16.csv'", "0A000 file DIR/utf16.csv is written in UTF-16"),
        ("SELECT z FROM 'DIR/a.csv'", "42703 column \"z\" does not exist"),
        ("SELECT * FROM read_csv('DIR/a.csv', foo = 1)", "22023 read_csv has no option \"foo\""),
        (
            "SELECT * FROM read_csv('DIR/a.csv', header = 7)",
            "22023 option \"header\" takes true or false",
        ),
        (
            "SELECT * FROM read_csv('DIR/a.csv', delim = 'ab')",
            "0A000 option \"delim\" takes a single one-byte character",
        ),
        ("SELECT * FROM read_csv('DIR/a.csv', skip = -1)", "22023 option \"skip\" takes a number"),
        (
            "SELECT * FROM read_csv('DIR/a.csv', types = {'z': 'INT'})",
            "42703 column \"z\" of a type does not exist (file DIR/a.csv)",
        ),
        ("SELECT * FROM read_csv('DIR/a.csv', types = {'a': 'INTT'})", "42704"),
        (
            "SELECT * FROM read_csv('DIR/a.csv', delim = ',', quote = ',')",
            "22023 delimiter and quote must be different",
        ),
        ("SELECT * FROM read_csv()", "42601 syntax error: read_csv takes the name of a file"),
        (
            "SELECT * FROM read_csv('DIR/a.csv', 'b')",
            "42601 syntax error: read_csv takes arguments by name behind the first",
        ),
        (
            "SELECT * FROM read_csv(a)",
            "42601 syntax error: read_csv takes the name of a file, or a list of names",
        ),
        ("SELECT read_csv('DIR/a.csv')", "42883"),
    ] {
        let found = scratch.error(&mut session, sql);
        assert!(found.starts_with(expected), "{sql}: {found}");
    }
    let padded = "SELECT a, b FROM read_csv('DIR/ragged.csv', null_padding = true)";
    assert_eq!(scratch.rows(&mut session, padded), ["1|2", "3|NULL", "5|6"]);
    let left_out = "SELECT a, b FROM read_csv('DIR/ragged.csv', ignore_errors = true)";
    assert_eq!(scratch.rows(&mut session, left_out), ["1|2", "5|6"]);
}

/// Rows of any texts, written as CSV and as PostgreSQL's text format, come back whatever blocks they lie in.
#[test]
fn what_is_written_is_read_whatever_its_size() {
    let scratch = Scratch::new("round");
    let mut prng = Prng::new(11);
    for round in 0..6 {
        let mut session = session();
        session.execute("CREATE TABLE t (a BIGINT, b TEXT, c DECIMAL(12, 3), d TEXT)").unwrap();
        let pieces = ["\"", "\n", ",", "x", "\\", "long text ", "\r", "\u{e4}", ";", "'", ""];
        let (mut csv, mut lines, mut expected) = (String::new(), String::new(), Vec::new());
        for row in 0..[1, 7, 400, 3000, 9000, 20_000][round] {
            let length = prng.below(12);
            let b: String = (0..length).map(|_| pieces[prng.below(11) as usize]).collect();
            let d = if row % 5 == 0 { None } else { Some("abc".repeat(prng.below(9) as usize)) };
            let quoted = b.replace('"', "\"\"");
            let c = prng.below(1_000_000) as f64 / 1000.0;
            csv.push_str(&format!("{row},\"{quoted}\",{c:.3},"));
            if let Some(d) = &d {
                csv.push_str(&format!("\"{d}\""));
            }
            csv.push('\n');
            let escaped = b.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
            let d_text = d.clone().unwrap_or("\\N".into());
            lines.push_str(&format!("{row}\t{escaped}\t{c:.3}\t{d_text}\n"));
            expected.push(format!("{row}|{b}|{c:.3}|{}", d.unwrap_or("NULL".into())));
        }
        scratch.write("f.csv", &csv);
        scratch.write("f.text", &lines);
        for sql in ["COPY t FROM 'DIR/f.csv' (FORMAT csv)", "COPY t FROM 'DIR/f.text'"] {
            scratch.run(&mut session, sql).unwrap_or_else(|error| panic!("{round} {sql}: {error}"));
            let rows = scratch.rows(&mut session, "SELECT * FROM t ORDER BY a");
            assert!(rows == expected, "{round} {sql}");
            session.execute("TRUNCATE t").unwrap();
        }
    }
}
