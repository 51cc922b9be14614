//! The binary from outside: what it prints, and with which code it ends.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Runs the binary with a text on its standard input.
fn nodewise_with(input: &str, arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nodewise"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends before it reads is one of the cases.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn nodewise(arguments: &[&str]) -> Output {
    nodewise_with("", arguments)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A file or folder of this test that is removed again.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("nodewise-cli-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn statements_of_the_command_line_share_a_database() {
    let output = nodewise(&[
        "--format",
        "csv",
        "-c",
        "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x;y'), (2, NULL)",
        "-c",
        "SELECT a, b FROM t ORDER BY a",
    ]);
    assert_eq!(stdout(&output), "a,b\n1,x;y\n2,\n", "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_first_error_ends_with_code_1() {
    let output = nodewise(&[
        "--format",
        "csv",
        "-c",
        "CREATE TABLE t (amount INTEGER); SELECT amuont FROM t; SELECT 3 AS x",
        "-c",
        "SELECT 4 AS y",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    let stderr = stderr(&output);
    assert!(stderr.starts_with("ERROR 42703: "), "{stderr}");
    assert!(stderr.contains("amount"), "the error suggests the column: {stderr}");
}

#[test]
fn an_error_shows_its_place() {
    let place = |sql: &str| {
        let stderr = stderr(&nodewise(&["-c", sql]));
        let lines: Vec<&str> = stderr.lines().skip(1).take(2).collect();
        lines.join("\n")
    };
    assert_eq!(place("SELEC 1"), "LINE 1: SELEC 1\n        ^");
    assert_eq!(
        place("SELECT 1;\n\nSELECT nope\n  FROM nowhere"),
        "LINE 2:   FROM nowhere\n               ^"
    );
    assert_eq!(place("ALTER TABLE t MOVE"), "LINE 1: ALTER TABLE t MOVE\n                      ^");
    // The text of a prepared statement is not that of EXECUTE.
    let gone = "CREATE TABLE t (a INTEGER); PREPARE p AS SELECT a FROM t; DROP TABLE t; EXECUTE p";
    assert!(!place(gone).contains('^'), "{}", place(gone));
}

#[test]
fn what_was_shown_before_an_error_stays() {
    let output = nodewise(&["--format", "json", "-c", "SELECT 1 AS a; SELECT 1 / 0 AS b"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "[{\"a\":1}]\n");
    assert!(stderr(&output).starts_with("ERROR 22012: "), "{}", stderr(&output));
}

#[test]
fn files_and_pipes_are_scripts() {
    let script = "-- a remark; with a semicolon\n.mode csv\nSELECT 1 AS a;\nSELECT\n 2 AS b";
    let expected = "a\n1\nb\n2\n";
    let file = Temporary::new("script.sql");
    std::fs::write(&file.0, script).unwrap();
    for output in [
        nodewise(&["-f", file.path()]),
        nodewise_with(script, &[]),
        nodewise_with(script, &["-f", "-"]),
    ] {
        assert_eq!(stdout(&output), expected, "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(0));
    }
    let read = nodewise_with(&format!(".read '{}'\nSELECT 3 AS c;", file.path()), &[]);
    assert_eq!(stdout(&read), format!("{expected}c\n3\n"));
    let broken = nodewise_with("SELECT 1 AS a;\nSELEC 2;\nSELECT 3 AS c;\n", &["--format", "csv"]);
    assert_eq!((stdout(&broken).as_str(), broken.status.code()), ("a\n1\n", Some(1)));
    let missing = nodewise(&["-f", "/nowhere/at/all.sql"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("/nowhere/at/all.sql"), "{}", stderr(&missing));
}

#[test]
fn dot_commands_look_at_the_tables() {
    let script =
        "CREATE TABLE t (a INTEGER, \"B c\" VARCHAR(5));\n.tables\n.schema t\n.quit\nSELECT 1;";
    let output = nodewise_with(script, &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text.contains("\u{2502} t "), "{text}");
    assert!(
        text.contains("CREATE TABLE t (\n    a INTEGER,\n    \"B c\" VARCHAR(5)\n);"),
        "{text}"
    );
    assert!(!text.contains('?') && !text.contains("\u{2502} 1 "), "{text}");
    for wrong in [".nothing", ".timer perhaps", ".mode xml", ".schema nowhere", ".read"] {
        let output = nodewise_with(wrong, &[]);
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(stderr(&output).starts_with("ERROR: "), "{wrong}");
    }
    assert!(stdout(&nodewise_with(".help", &[])).contains(".schema"));
}

#[test]
fn a_dump_makes_the_same_tables_again() {
    let rows = "CREATE TABLE p (k INTEGER PRIMARY KEY, \"order\" TEXT DEFAULT 'x;y', d DATE, f DOUBLE PRECISION, b BOOLEAN);
        INSERT INTO p VALUES (1, 'it''s', '2024-02-29', 1.5, true), (2, NULL, NULL, 'NaN', false), (3, '', NULL, -1e300, NULL);
        CREATE TABLE c (k INTEGER REFERENCES p (k), CHECK (k < 9));
        INSERT INTO c VALUES (2), (NULL);
        CREATE INDEX by_day ON p (d);
        CREATE SEQUENCE s START 7; CREATE TABLE m (k BIGINT DEFAULT nextval('s')); INSERT INTO m DEFAULT VALUES;
        CREATE TABLE n (k INTEGER GENERATED ALWAYS AS IDENTITY, v TEXT); INSERT INTO n (v) VALUES ('a'), ('b');
        CREATE TABLE g (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) STORED, c INTEGER AS (a + 1)); INSERT INTO g (a) VALUES (4);
        CREATE SCHEMA q; CREATE TABLE q.t (a INTEGER); SET search_path = q;
        CREATE FUNCTION f(x INTEGER) RETURNS BIGINT LANGUAGE sql AS 'SELECT count(*) + x FROM t'; RESET search_path;
        CREATE FUNCTION f() RETURNS TEXT LANGUAGE sql RETURN 'it''s'; COMMENT ON FUNCTION q.f(INTEGER) IS 'of q';
        CREATE MACRO q.m(a) AS a;\n.dump\n";
    let dump = nodewise_with(rows, &[]);
    let text = stdout(&dump);
    assert!(text.starts_with("BEGIN;\n") && text.ends_with("COMMIT;\n"), "{text}{}", stderr(&dump));
    let again = nodewise_with(&format!(".output /dev/null\n{text}.output\n.dump\n"), &[]);
    assert_eq!(stdout(&again), text, "{}", stderr(&again));
    assert!(
        text.contains("OVERRIDING SYSTEM VALUE") && text.contains("setval('s', 7, true)"),
        "{text}"
    );
    assert!(
        text.contains("INSERT INTO g (a) VALUES") && text.contains("(a + 1) VIRTUAL"),
        "{text}"
    );
    let comment = "COMMENT ON FUNCTION q.f(INTEGER) IS 'of q'";
    assert!(text.contains("CREATE FUNCTION q.f (") && text.contains(comment), "{text}");
    let one = nodewise_with(&format!("{text}.dump c\n.dump d\n"), &[]);
    assert!(!stdout(&one).contains("INSERT INTO p ") && stderr(&one).contains("no table d"));
}

#[test]
fn results_go_to_files_and_come_back() {
    let (file, once) = (Temporary::new("output.csv"), Temporary::new("once.csv"));
    let script = format!(
        ".mode csv\n.output {}\nSELECT 1 AS a;\nSELECT 2 AS b;\n.output\n.once '{}'\nSELECT 3 AS c;\nSELECT 4 AS d;\n",
        file.path(),
        once.path()
    );
    let output = nodewise_with(&script, &[]);
    assert_eq!(stdout(&output), "d\n4\n", "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&file.0).unwrap(), "a\n1\nb\n2\n");
    assert_eq!(std::fs::read_to_string(&once.0).unwrap(), "c\n3\n");
    let refused = nodewise_with(".output /nowhere/at/all\nSELECT 1;", &[]);
    assert_eq!((stdout(&refused).as_str(), refused.status.code()), ("", Some(1)));
}

#[test]
fn a_table_is_described() {
    let script = "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, CHECK (a > 0));\n\\d t\n\\di t\n\\df substr\n\\d u\n";
    let output = nodewise_with(script, &[]);
    let text = stdout(&output);
    for part in ["not null", "Indexes:\n    t_pkey", "t_a_check CHECK (a > 0)", "substring"] {
        assert!(text.contains(part), "{part}: {text}{}", stderr(&output));
    }
    assert!(stderr(&output).contains("there is no table u"), "{}", stderr(&output));
}

#[test]
fn wrong_arguments_end_with_code_2() {
    for wrong in [
        &["--format", "xml"][..],
        &["bench", "fly"],
        &["toplogy"],
        &["check"],
        &["demo", "--scale", "0"],
        &["bench", "tpch", "--queries", "23"],
        &["bench", "tpcds", "--queries", "100"],
        &["bench", "clickbench", "--queries", "44"],
        &["--threads", "none"],
        &["probe", "--fast"],
        &["probe", "node0"],
    ] {
        let output = nodewise(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(stderr(&output).starts_with("error: "), "{wrong:?}: {}", stderr(&output));
    }
    assert_eq!(nodewise(&["--help"]).status.code(), Some(0));
}

#[test]
fn the_machine_is_printed() {
    let output = nodewise(&["topology"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("socket 0"), "{}", stdout(&output));
}

#[test]
fn a_probe_is_kept_and_the_next_start_uses_it() {
    let cache = Temporary::new("probe");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nodewise"));
        command.args(arguments).env("XDG_CACHE_HOME", cache.path()).output().unwrap()
    };
    let probed = run(&["probe", "--quick"]);
    assert_eq!(probed.status.code(), Some(0), "{}", stderr(&probed));
    for title in ["Idle latency, ns", "Read bandwidth, MB/s", "Write bandwidth", "Caches"] {
        assert!(stdout(&probed).contains(title), "{title}: {}", stdout(&probed));
    }
    let folder = std::fs::read_dir(cache.0.join("nodewise")).unwrap();
    let files: Vec<PathBuf> = folder.map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(stderr(&probed).contains(files[0].to_str().unwrap()));
    let text = std::fs::read_to_string(&files[0]).unwrap();
    assert!(text.starts_with("nodewise probe 1\n") && text.contains("\nread 0 0 "), "{text}");
    let seen = run(&["topology"]);
    assert!(stdout(&seen).contains(" GB/s, ") && stderr(&seen).is_empty(), "{}", stdout(&seen));
    // A damaged file is told and passed over.
    std::fs::write(&files[0], "nodewise probe 1\nnodes 0\nread 0 0 fast\n").unwrap();
    let damaged = run(&["-c", "SELECT 1 AS x"]);
    assert_eq!(damaged.status.code(), Some(0));
    assert!(stderr(&damaged).contains("line 3: "), "{}", stderr(&damaged));
    let nowhere = run(&["probe", "--quick", "--output", "/proc/none/probe"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(stderr(&nowhere).starts_with("ERROR: /proc/none/probe cannot be written"));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nodewise"))
        .args(["--format", "csv", "-c", "SELECT 1 AS a", "-c", "SELECT 2 AS b"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn the_demo_ends_well_without_a_terminal() {
    let folder = Temporary::new("tpch");
    let arguments = ["demo", "--scale", "0.01", "--data", folder.path()];
    let output = nodewise(&arguments);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    assert!(text.contains("22 of 22 right"), "{text}");
    assert!(text.contains("l_comment"), "the placement of the biggest columns: {text}");

    let json = folder.0.join("times.json");
    let bench = nodewise(&[
        "bench",
        "tpch",
        "--scale",
        "0.01",
        "--data",
        folder.path(),
        "--runs",
        "2",
        "--queries",
        "1,6",
        "--json",
        json.to_str().unwrap(),
    ]);
    assert_eq!(bench.status.code(), Some(0), "{}", stderr(&bench));
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["queries"].as_array().unwrap().len(), 2);
    assert_eq!(report["queries"][1]["times_ms"].as_array().unwrap().len(), 2);
    assert_eq!(report["queries"][1]["answer_ok"], true);

    let other = nodewise(&["demo", "--scale", "0.02", "--data", folder.path()]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("TPC-H of scale 0.01"), "{}", stderr(&other));
}

#[test]
fn the_placement_of_a_table_is_drawn() {
    let svg = Temporary::new("placement.svg");
    let output = nodewise(&[
        "placement",
        "t",
        "--machine",
        "four_sockets",
        "--sql",
        "CREATE TABLE t NUMA NODE (2) AS SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v (a, b)",
        "--svg",
        svg.path(),
        "--ascii",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.is_ascii() && text.starts_with("t: 2 rows in 2 columns"), "{text}");
    assert!(text.contains("node 0") && text.contains("node 3"), "{text}");
    let line = text.lines().find(|it| it.starts_with("a ")).expect("a line for each column");
    assert!(line.contains("2222222222222222"), "{text}");
    let file = std::fs::read_to_string(svg.path()).unwrap();
    assert!(file.starts_with("<svg ") && file.contains(">node 3<"), "{file}");

    let none = nodewise(&["placement", "none"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("there is no table none"), "{}", stderr(&none));
}

#[test]
fn the_shell_draws_too_and_runs_on_modelled_machines() {
    let script = "CREATE TABLE t (a INTEGER) PARTITION BY HASH (a) PARTITIONS 2 NUMA NODE (1, 3);\n\
                  INSERT INTO t VALUES (1), (2), (3), (4);\n.placement t\n\
                  ALTER TABLE t NUMA NODE (7);";
    let output = nodewise_with(script, &["--machine", "four_sockets"]);
    let text = stdout(&output);
    assert!(text.starts_with("t: 4 rows in 1 column, "), "{text}");
    assert!(text.contains("HASH (a) PARTITIONS 2"), "{text}");
    assert!(text.contains("1111111133333333"), "{text}");
    assert!(stderr(&output).contains("there is no NUMA node 7"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(1));
}

/// Runs the binary with a switch in its environment.
fn switched(name: &str, value: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodewise"));
    command.args(arguments).env(name, value).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn instructions_and_huge_pages_are_switched_off_by_the_environment() {
    let sql = ["--format", "csv", "-c", "SELECT sum(a) AS s FROM (VALUES (1), (2)) AS t (a)"];
    let fine =
        [("NODEWISE_SIMD", "portable"), ("NODEWISE_HUGE_PAGES", "off"), ("NODEWISE_SIMD", "")];
    for (name, value) in fine {
        let output = switched(name, value, &sql);
        assert_eq!(stdout(&output), "s\n3\n", "{}", stderr(&output));
    }
    for (name, value) in [("NODEWISE_SIMD", "avx"), ("NODEWISE_HUGE_PAGES", "no")] {
        let output = switched(name, value, &sql);
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.contains(name) && message.contains("it can be"), "{message}");
    }
}

#[test]
fn scans_of_a_file_are_listed_and_summed_for_other_engines() {
    let (json, list) = (Temporary::new("scans.json"), Temporary::new("scans.sql"));
    let output = nodewise(&[
        "bench",
        "scans",
        "--rows",
        "20000",
        "--columns",
        "3",
        "--selectivity",
        "0.5,5",
        "--ask",
        "both",
        "--clients",
        "2",
        "--statements",
        "10",
        "--json",
        json.path(),
        "--list",
        list.path(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let statements = std::fs::read_to_string(list.path()).unwrap();
    assert_eq!(statements.lines().count(), 4 * 10);
    assert_eq!(statements.lines().filter(|it| it.starts_with("SELECT count(*)")).count(), 2 * 10);
    let text = std::fs::read_to_string(json.path()).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    // Rows and sums of the same ranges are the same, however they are asked for.
    for pair in runs.chunks(2) {
        assert_eq!((&pair[0]["asked"], &pair[1]["asked"]), (&"rows".into(), &"sums".into()));
        assert!(pair[0]["rows"].as_u64().unwrap() > 0);
        assert_eq!((&pair[0]["rows"], &pair[0]["sum"]), (&pair[1]["rows"], &pair[1]["sum"]));
    }
    let missing = nodewise(&["bench", "scans", "--data", "/no/such/folder"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("could not open file"), "{}", stderr(&missing));
}
