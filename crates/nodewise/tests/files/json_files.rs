//! Files of JSON: what is read in the place of a table and by COPY, what is written, and what is refused.

use crate::scratch::Scratch;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::Prng;

fn session() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 5);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

/// Texts of files, options, the types of the columns and the rows, as DuckDB finds them but for what docs/sql.md tells.
const FOUND: &[(&str, &str, &str, &[&str])] = &[
    ("{\"a\":1,\"b\":\"x\"}\n{\"b\":null,\"a\":-2}\n", "", "a BIGINT, b TEXT", &["1|x", "-2|NULL"]),
    ("[{\"a\":1},\n {\"a\":2.5}]", "", "a DOUBLE PRECISION", &["1|", "2.5|"]),
    ("{\"a\":1}{\"a\":2} {\n\"a\":3}", "", "a BIGINT", &["1|", "2|", "3|"]),
    ("\n\n{\"a\":1}\r\n\r\n{\"b\":2}\r\n", "", "a BIGINT, b BIGINT", &["1|NULL", "NULL|2"]),
    ("{\"a\":1}\n{\"a\":\"x\"}\n", "", "a JSON", &["1|", "\"x\"|"]),
    ("{\"a\":true}\n{\"a\":null}\n", "", "a BOOLEAN", &["true|", "NULL|"]),
    (
        "{\"a\":1}\n{\"a\":18446744073709551615}\n",
        "",
        "a NUMERIC(38,0)",
        &["1|", "18446744073709551615|"],
    ),
    (
        "{\"a\":\"2024-02-29\",\"b\":\"2024-02-29T10:11:12.5\"}\n",
        "",
        "a DATE, b TIMESTAMP WITHOUT TIME ZONE",
        &["2024-02-29|2024-02-29 10:11:12.5"],
    ),
    (
        "{\"a\":\"10:11:12\",\"b\":\"0D3C4B5A-1c2d-4e5f-8a9b-0c1d2e3f4a5b\"}\n",
        "",
        "a TIME WITHOUT TIME ZONE, b UUID",
        &["10:11:12|0d3c4b5a-1c2d-4e5f-8a9b-0c1d2e3f4a5b"],
    ),
    ("{\"a\":[1,null,2],\"b\":[]}\n", "", "a BIGINT[], b JSON[]", &["{1,NULL,2}|{}"]),
    ("{\"a\":[[1,2],[3]]}\n", "", "a JSON[]", &["{\"[1,2]\",[3]}|"]),
    (
        "{\"a\":[{\"b\":1},{\"c\":\"\u{e9}\"}]}\n",
        "",
        "a STRUCT(b BIGINT, c TEXT)[]",
        &["[{'b': 1, 'c': NULL}, {'b': NULL, 'c': \u{e9}}]|"],
    ),
    (
        "{\"a\":{\"x\":1}}\n{\"a\":{\"y\":[true]}}\n",
        "",
        "a STRUCT(x BIGINT, y BOOLEAN[])",
        &["{'x': 1, 'y': NULL}|", "{'x': NULL, 'y': [true]}|"],
    ),
    (
        "{\"a\":{\"x\":1}}\n{\"a\":{\"y\":2}}\n",
        ", field_appearance_threshold = 0.6",
        "a MAP(TEXT, BIGINT)",
        &["{x=1}|", "{y=2}|"],
    ),
    ("{\"a\":{}}\n", "", "a MAP(TEXT, JSON)", &["{}|"]),
    ("{\"a\":{\"b\":[1]}}\n", ", maximum_depth = 1", "a JSON", &["{\"b\":[1]}|"]),
    ("{\"a\":{\"b\":[1]}}\n", ", maximum_depth = 2", "a STRUCT(b JSON)", &["{'b': '[1]'}|"]),
    ("{\"a\":1}\n", ", maximum_depth = 0", "json JSON", &["{\"a\":1}|"]),
    ("{\"a\":1}\n", ", records = false", "json STRUCT(a BIGINT)", &["{'a': 1}|"]),
    ("[1,2]\n[3]\n", "", "json BIGINT[]", &["{1,2}|", "{3}|"]),
    ("[1, 2]", "", "json BIGINT", &["1|", "2|"]),
    ("{\"a\":1}\n5\n", "", "json JSON", &["{\"a\":1}|", "5|"]),
    ("[{\"a\":1}]", ", format = 'unstructured'", "json STRUCT(a BIGINT)[]", &["[{'a': 1}]|"]),
    ("", "", "json JSON", &[]),
    ("[]", "", "json JSON", &[]),
    (
        "{\"a\":1,\"b\":{\"c\":2},\"d\":3}",
        ", columns = {'b': 'TEXT', 'a': 'SMALLINT', 'z': 'DATE'}",
        "b TEXT, a SMALLINT, z DATE",
        &["{\"c\":2}|1|NULL"],
    ),
    (
        "{\"a\":[[1,2],[3,4]],\"b\":{\"k\":1}}",
        ", columns = {a: 'INT[]', b: 'JSONB'}",
        "a INTEGER[], b JSONB",
        &["{{1,2},{3,4}}|{\"k\": 1}"],
    ),
    (
        "{\"a\":1}\n{\"a\":x}\n{\"a\":\"y\"}\n{\"a\":4}\n",
        ", ignore_errors = true, sample_size = 1",
        "a BIGINT",
        &["1|", "NULL|", "NULL|", "4|"],
    ),
    ("{\"a\\\"\\u00e9\":\"\\ud83d\\ude00\\n\"}", "", "a\"\u{e9} TEXT", &["\u{1f600}\n|"]),
];

#[test]
fn columns_and_types_are_found() {
    let scratch = Scratch::new("json-found");
    let mut session = session();
    let mut differences = Vec::new();
    for (text, options, types, expected) in FOUND {
        scratch.write("f.json", text);
        let described = format!("DESCRIBE SELECT * FROM read_json('DIR/f.json'{options})");
        if let Err(error) = scratch.run(&mut session, &described) {
            differences.push(format!("{text} {options}: {error}"));
            continue;
        }
        let columns = scratch.rows(&mut session, &described);
        let columns = columns.iter().map(|it| it.split('|').take(2).collect::<Vec<_>>().join(" "));
        let columns = columns.collect::<Vec<_>>().join(", ");
        if columns.to_uppercase() != types.to_uppercase() {
            differences.push(format!("{text} {options}: {columns}"));
        }
        let rows = scratch.rows(&mut session, &format!("FROM read_json('DIR/f.json'{options})"));
        let expected: Vec<&str> = expected.iter().map(|it| it.trim_end_matches('|')).collect();
        if rows != expected {
            differences.push(format!("{text} {options}: {rows:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// What is wrong, and what is said of it.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "{\"a\":1}\n{\"a\":x}\n",
        "",
        "22P04 malformed JSON: Token \"x\" is invalid (file DIR/f.json, line 2)",
    ),
    (
        "{\"a\":1}\n\n{\"a\":2} 3\n",
        "",
        "22P04 malformed JSON: Expected end of line, but found \"3\" (file DIR/f.json, line 3)",
    ),
    (
        "[{\"a\":1},\n{\"a\":2},]",
        "",
        "22P04 malformed JSON: Expected JSON value, but found \"]\" (file DIR/f.json, line 2)",
    ),
    (
        "[{\"a\":1}\n{\"a\":2}]",
        "",
        "22P04 malformed JSON: Expected \",\" or \"]\", but found \"{\" (file DIR/f.json, line 2)",
    ),
    (
        "[{\"a\":1}]\n\nx",
        ", format = 'array'",
        "22P04 malformed JSON: something stands behind the array of all values (file DIR/f.json, line 3)",
    ),
    (
        "[{\"a\":1},\n{\"a\":2}",
        "",
        "22P04 malformed JSON: The input string ended unexpectedly (file DIR/f.json, line 2)",
    ),
    (
        "{\"a\":1}\n",
        ", format = 'array'",
        "22P04 malformed JSON: an array of values is expected (file DIR/f.json, line 1)",
    ),
    (
        "{\"a\":1}\n{\"a\":1,\"b\":2}\n",
        ", sample_size = 1",
        "22P04 unknown key \"b\" (file DIR/f.json, line 2)",
    ),
    (
        "{\"a\":1}\n{\"a\":\"x\"}\n",
        ", sample_size = 1",
        "22P02 invalid input syntax for type bigint: \"x\" (file DIR/f.json, line 2, column \"a\")",
    ),
    (
        "[{\"a\":1},\n{\"a\":\n[2]}]",
        ", sample_size = 1",
        "22P02 invalid input syntax for type bigint: \"[2]\" (file DIR/f.json, line 3, column \"a\")",
    ),
    (
        "{\"a\":{\"b\":1}}\n{\"a\":{\"c\":1}}\n",
        ", sample_size = 1",
        "22P04 unknown key \"c\" (file DIR/f.json, line 2, column \"a\")",
    ),
    (
        "{\"a\":{\"b\":1,\"b\":1}}\n",
        "",
        "22P04 duplicate key \"b\" (file DIR/f.json, line 1, column \"a\")",
    ),
    ("{\"a\":1,\"a\":2}\n", "", "22P04 duplicate key \"a\" (file DIR/f.json, line 1)"),
    (
        "{\"a\":\"\\u0000\"}\n",
        "",
        "22P05 unsupported Unicode escape sequence (file DIR/f.json, line 1",
    ),
    (
        "{\"a\":[[1],[2,3]]}",
        ", columns = {'a': 'INT[]'}",
        "22P02 lists within lists must have one length to be an array (file DIR/f.json, line 1, column \"a\")",
    ),
    ("5\n", ", records = true", "22023 the values of the files are no objects, which records are"),
    ("5\n", ", foo = 1", "22023 read_json has no option \"foo\""),
    (
        "5\n",
        ", format = 'xml'",
        "22023 option \"format\" takes auto, newline_delimited, array or unstructured",
    ),
    ("5\n", ", columns = 'a'", "22023 option \"columns\" takes names and types: {'a': 'INTEGER'}"),
    (
        "5\n",
        ", columns = {'a': 'INT', 'b': 'INT'}, records = false",
        "22023 values that are no records have one column",
    ),
];

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let scratch = Scratch::new("json-wrong");
    let mut session = session();
    let mut differences = Vec::new();
    for (text, options, expected) in WRONG {
        scratch.write("f.json", text);
        let sql = format!("FROM read_json('DIR/f.json'{options})");
        let found = scratch.error(&mut session, &sql);
        if !found.starts_with(expected) {
            differences.push(format!("{text} {options}: {found}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    scratch.write("f.json", b"{\"a\":\"\xff\"}\n");
    let found = scratch.error(&mut session, "FROM 'DIR/f.json'");
    assert!(found.starts_with("22021 invalid byte sequence"), "{found}");
    scratch.write("f.json.gz", b"no gzip");
    let found = scratch.error(&mut session, "FROM 'DIR/f.json.gz'");
    assert!(found.starts_with("XX001 could not read file"), "{found}");
    let found = scratch.error(&mut session, "FROM 'DIR/none.json'");
    assert!(found.starts_with("58P01"), "{found}");
}

#[test]
fn several_files_are_one_table() {
    let scratch = Scratch::new("json-many");
    let mut session = session();
    scratch.write("k=1/a.json", "{\"a\":1}\n");
    scratch.write("k=2/b.jsonl", "[{\"a\":2}]");
    scratch.write("k=2/c.ndjson", "{\"a\":3,\"b\":true}\n");
    let mut rows = |sql: &str| scratch.rows(&mut session, sql);
    assert_eq!(
        rows("SELECT a, b, k FROM 'DIR/*/*json*' ORDER BY a"),
        ["1|NULL|1", "2|NULL|2", "3|true|2"]
    );
    let names = "SELECT a, filename LIKE '%b.jsonl' FROM read_json(['DIR/k=1/a.json', 'DIR/k=2/b.jsonl'], \
        filename = true, hive_partitioning = false)";
    assert_eq!(rows(names), ["1|false", "2|true"]);
    let list = "['DIR/k=1/a.json', 'DIR/k=2/c.ndjson']";
    assert_eq!(rows(&format!("SELECT a FROM read_ndjson({list})")), ["1", "3"]);
    let union =
        format!("SELECT a, b FROM read_json_auto({list}, union_by_name = true, sample_size = 1)");
    assert_eq!(rows(&union), ["1|NULL", "3|true"]);
    assert_eq!(
        rows(&format!("SELECT json FROM read_json_objects({list})")),
        ["{\"a\":1}", "{\"a\":3,\"b\":true}"]
    );
    let closed = format!("SELECT a FROM read_json({list}, sample_size = 1)");
    let found = scratch.error(&mut session, &closed);
    assert!(
        found.starts_with("22P04 unknown key \"b\" (file DIR/k=2/c.ndjson, line 1)"),
        "{found}"
    );
}

#[test]
fn copy_reads_by_name_and_leaves_nothing_of_what_fails() {
    let scratch = Scratch::new("json-copy");
    let mut session = session();
    session.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT DEFAULT 'dd', c INTEGER[], d DATE NOT NULL)").unwrap();
    let mut copy = |text: &str, sql: &str| {
        scratch.write("f.json", text);
        scratch.error(&mut session, sql)
    };
    let from = "COPY t FROM 'DIR/f.json'";
    assert_eq!(copy("{\"d\":\"2024-01-01\",\"c\":[1,2],\"z\":{},\"a\":1}\n", from), "done: COPY 1");
    assert_eq!(
        copy(
            "[{\"a\":2,\"b\":7,\"d\":\"2024-01-02\"}]",
            "COPY t FROM 'DIR/f.json' (FORMAT json, ARRAY true)"
        ),
        "done: COPY 1"
    );
    assert_eq!(
        copy("{\"a\":3}\n", from),
        "23502 null value in column \"d\" violates not-null constraint (file DIR/f.json, line 1, column \"d\")"
    );
    assert!(
        copy("{\"a\":3,\"d\":\"2024-01-01\"}\n{\"a\":1,\"d\":\"2024-01-01\"}\n", from)
            .starts_with("23505")
    );
    assert_eq!(
        copy("{\"a\":3,\"d\":\"2024-01-01\"}\n{\"a\":\"q\",\"d\":\"2024-01-01\"}\n", from),
        "22P02 invalid input syntax for type integer: \"q\" (file DIR/f.json, line 2, column \"a\")"
    );
    let skipped = "COPY t FROM 'DIR/f.json' (FORMAT json, ON_ERROR ignore)";
    assert_eq!(
        copy("{\"a\":3,\"d\":\"2024-01-01\"}\n{\"a\":\"q\",\"d\":\"2024-01-01\"}\n", skipped),
        "done: COPY 1"
    );
    assert!(copy("[5]", from).starts_with("22023 the values of the files are no objects"));
    assert!(
        copy("{}", "COPY t FROM 'DIR/f.json' (FORMAT json, DELIMITER ';')").starts_with("42601")
    );
    let notices: Vec<String> = session.take_notices().into_iter().map(|it| it.message).collect();
    assert_eq!(notices, ["1 row was skipped due to data type incompatibility"]);
    let rows = scratch.rows(&mut session, "SELECT * FROM t ORDER BY a");
    assert_eq!(rows, ["1|NULL|{1,2}|2024-01-01", "2|7|NULL|2024-01-02", "3|NULL|NULL|2024-01-01"]);
}

#[test]
fn what_is_written_is_read_again() {
    let scratch = Scratch::new("json-round");
    let mut session = session();
    let query = "SELECT i AS a, 'x\"\\' || chr(10) || i AS \"b c\", i / 8.0::double AS d, [i, NULL] AS l, {'k': i, 'm': 'n'} AS s, \
        TIMESTAMP '2024-01-01' + i * INTERVAL '1 hour' AS t, CASE WHEN i % 2 = 0 THEN true END AS n FROM generate_series(1, 5000) AS g(i)";
    session.execute(&format!("CREATE TABLE t AS {query}")).unwrap();
    let expected = scratch.rows(&mut session, "SELECT * FROM t ORDER BY a");
    for (name, options) in [
        ("f.json", ""),
        ("f.jsonl", "(FORMAT json)"),
        ("g.json", "(FORMAT json, ARRAY true)"),
        ("f.json.gz", ""),
        ("f.ndjson.zst", ""),
        ("h.json", "(FORMAT json, COMPRESSION none)"),
    ] {
        let tag = scratch.error(&mut session, &format!("COPY t TO 'DIR/{name}' {options}"));
        assert_eq!(tag, "done: COPY 5000", "{name}");
        let rows = scratch.rows(&mut session, &format!("SELECT * FROM 'DIR/{name}' ORDER BY a"));
        assert!(rows == expected, "{name}: {:?} {:?}", rows.first(), expected.first());
    }
    let text = std::fs::read_to_string(scratch.0.join("f.json")).unwrap();
    let first = "{\"a\":1,\"b c\":\"x\\\"\\\\\\n1\",\"d\":0.125,\"l\":[1,null],\"s\":{\"k\":1,\"m\":\"n\"},\"t\":\"2024-01-01T01:00:00\",\"n\":null}";
    assert_eq!(text.lines().next(), Some(first));
    let run = |session: &mut Session, sql: &str| scratch.error(session, sql);
    run(&mut session, "COPY (SELECT 1 AS a UNION ALL SELECT 2) TO 'DIR/w.json' (ARRAY true)");
    assert_eq!(
        std::fs::read_to_string(scratch.0.join("w.json")).unwrap(),
        "[\n\t{\"a\":1},\n\t{\"a\":2}\n]\n"
    );
    run(&mut session, "COPY (SELECT 1 AS a WHERE false) TO 'DIR/w.json' (ARRAY true)");
    assert_eq!(std::fs::read_to_string(scratch.0.join("w.json")).unwrap(), "[]\n");
    let failed = run(
        &mut session,
        "COPY (SELECT 1 / (i - 4000) FROM generate_series(1, 5000) AS g(i)) TO 'DIR/w.json'",
    );
    assert!(failed.starts_with("22012"), "{failed}");
    assert_eq!(std::fs::read_to_string(scratch.0.join("w.json")).unwrap(), "[]\n");
    assert!(!scratch.0.join("w.json.tmp").exists());
    for name in ["c.csv.gz", "c.csv.zst"] {
        assert_eq!(
            run(&mut session, &format!("COPY (SELECT a, d FROM t) TO 'DIR/{name}' (HEADER)")),
            "done: COPY 5000"
        );
        let sum = scratch.rows(&mut session, &format!("SELECT sum(a), count(d) FROM 'DIR/{name}'"));
        assert_eq!(sum, ["12502500|5000"], "{name}");
    }
}

/// Rows of any texts come back however long they are and whatever blocks they lie in.
#[test]
fn rows_of_any_size_are_read() {
    let scratch = Scratch::new("json-size");
    let mut prng = Prng::new(3);
    let mut session = session();
    for rows in [1_usize, 300, 9000] {
        let (mut lines, mut expected) = (String::new(), Vec::new());
        for row in 0..rows {
            let text = ["x", "[{", "}]", "\u{e4}", ","][prng.below(5) as usize]
                .repeat(prng.below(40) as usize);
            lines.push_str(&format!("{{\"a\":{row},\"b\":\"{text}\",\"c\":[\"{text}\"]}}\n"));
            expected.push(format!("{row}|{text}|{text}"));
        }
        let array = format!("[{}]", lines.trim_end().replace('\n', ",\n"));
        for text in [&lines, &array] {
            scratch.write("f.json", text);
            let found =
                scratch.rows(&mut session, "SELECT a, b, c[1] FROM 'DIR/f.json' ORDER BY a");
            assert!(found == expected, "{rows}");
        }
    }
}
