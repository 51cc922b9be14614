//! What must not end the program, from outside: deep statements, shortage of memory, too many workers, signals, files that
//! are none. Where the machine lacks a tool (prlimit, mkfifo), a test says so and is counted as passed.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_nodewise");

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a script from standard input, under a limit of `prlimit` if there is one; `None` without that tool.
fn script(text: &str, limit: Option<&str>) -> Option<Output> {
    let mut command = match limit {
        None => Command::new(PROGRAM),
        Some(limit) => {
            if Command::new("prlimit").arg("--version").output().is_err() {
                eprintln!("skipped: there is no prlimit here");
                return None;
            }
            let mut command = Command::new("prlimit");
            command.args([limit, PROGRAM]);
            command
        }
    };
    command.args(["--threads", "2", "--format", "csv"]);
    let mut child = spawn(command);
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    Some(child.wait_with_output().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a script came to: its output, or the state of the error that ended it. Anything else fails the test.
fn outcome(output: &Output) -> Result<String, String> {
    let stderr = text(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(text(&output.stdout)),
        Some(1) => {
            let error = stderr.lines().find_map(|it| it.strip_prefix("ERROR "));
            let state = error.and_then(|it| it.split_once(':'));
            Err(state.unwrap_or_else(|| panic!("no SQLSTATE: {stderr}")).0.to_owned())
        }
        other => panic!("the program ended with {other:?}: {stderr}"),
    }
}

struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("nodewise-robust-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn more_workers_than_there_can_be_are_wrong_arguments() {
    let output = Command::new(PROGRAM).args(["--threads", "20000", "-c", "SELECT 1"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("from 1 to 4096"), "{}", text(&output.stderr));
}

#[test]
fn a_comment_that_does_not_end_is_an_error_and_a_byte_order_mark_is_none() {
    let open = script("SELECT 1 AS a;\n/* SELECT 2;\nSELECT 3;\n", None).unwrap();
    assert_eq!(outcome(&open), Err("42601".to_owned()));
    assert_eq!(text(&open.stdout), "a\n1\n", "what came before was done");
    let marked = script("\u{feff}SELECT 1 AS a;\n", None).unwrap();
    assert_eq!(outcome(&marked), Ok("a\n1\n".to_owned()));
    let commands = script("\u{feff}.mode json\nSELECT 1 AS a;\n\\q\nSELECT 2;\n", None).unwrap();
    assert_eq!(outcome(&commands), Ok("[{\"a\":1}]\n".to_owned()));
}

#[test]
fn deep_statements_are_answered_or_refused() {
    let chain = |link: &str, count: usize| format!("SELECT 1{} AS a;", link.repeat(count));
    let nest = |open: &str, close: &str, count: usize| {
        format!("SELECT {}1{} AS a;", open.repeat(count), close.repeat(count))
    };
    for sql in [
        chain("+1", 400),
        chain("+1", 100_000),
        chain("::int", 400),
        chain("::int", 100_000),
        chain(" IS NULL", 400),
        chain(" IS NULL", 100_000),
        chain(" COLLATE \"C\"", 20_000),
        chain(" UNION ALL SELECT 1", 200),
        chain(" UNION ALL SELECT 1", 100_000),
        chain(" EXCEPT SELECT 1", 100_000),
        chain("::text || 'a'", 5_000),
        format!("SELECT true{};", " OR (1 = 2)".repeat(5_000)),
        format!("SELECT true{};", " OR (1 = 2)".repeat(100_000)),
        format!("PREPARE p AS SELECT $1{};", "+$2".repeat(5_000)),
        format!("PREPARE p AS SELECT $1{};", "+$2".repeat(100_000)),
        nest("(", ")", 500),
        nest("(", ")", 50_000),
        nest("abs(", ")", 40),
        nest("abs(", ")", 50_000),
        nest("CASE WHEN true THEN ", " END", 50_000),
        nest("NOT ", "", 50_000),
        format!(
            "SELECT 1 FROM {}(SELECT 1) AS t CROSS JOIN (SELECT 2) AS u{};",
            "(".repeat(990),
            ")".repeat(990)
        ),
    ] {
        let output = script(&sql, None).unwrap();
        let start: String = sql.chars().take(40).collect();
        match outcome(&output) {
            Ok(_) => {}
            Err(state) => assert_eq!(state, "54001", "{start}: {}", text(&output.stderr)),
        }
    }
}

#[test]
fn joins_without_a_key_end_when_their_time_is_up() {
    let rows = "CREATE TABLE d (x BIGINT); INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9); \
        CREATE TABLE m AS SELECT a.x + 10 * b.x + 100 * c.x + 1000 * e.x + 10000 * f.x AS v, 'n' || a.x AS n \
        FROM d a, d b, d c, d e, d f; SET statement_timeout = 500;";
    for endless in [
        "SELECT count(*) FROM m a, m b WHERE a.n || b.n = 'x'",
        "SELECT count(*) FROM m a WHERE NOT EXISTS (SELECT 1 FROM m b WHERE b.v + a.v > 1000000 AND b.n <> a.n)",
    ] {
        let began = Instant::now();
        let output = script(&format!("{rows}\n{endless};\n"), None).unwrap();
        assert_eq!(outcome(&output), Err("57014".to_owned()), "{endless}");
        assert!(began.elapsed() < Duration::from_secs(10), "{endless}: {:?}", began.elapsed());
    }
}

#[test]
fn a_pipe_is_no_file_to_wait_for() {
    let pipe = Temporary::new("pipe.parquet");
    if !Command::new("mkfifo").arg(&pipe.0).status().is_ok_and(|it| it.success()) {
        eprintln!("skipped: there is no mkfifo here");
        return;
    }
    let output = script(&format!("SELECT * FROM '{}';", pipe.0.display()), None).unwrap();
    assert_eq!(outcome(&output), Err("42809".to_owned()));
}

/// Statements that need more than there is end with 53200, whichever allocation is the first to fail.
#[test]
fn a_shortage_of_memory_ends_statements_and_not_the_program() {
    const ROWS: &str = "CREATE TABLE d (x BIGINT);\n\
        INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9),(10),(11),(12),(13),(14),(15);\n\
        CREATE TABLE t AS SELECT a.x + 16*b.x + 256*c.x + 4096*e.x + 65536*f.x AS v \
        FROM d a, d b, d c, d e, d f;\n";
    let mut ended = 0;
    for hungry in [
        "SELECT count(*) AS n FROM (SELECT a.v * 16 + d.x AS g, count(*) AS c FROM t a, d GROUP BY 1) s",
        "SELECT count(*) AS n FROM (SELECT v * 16 + x AS w FROM t, d) a \
         JOIN (SELECT v * 16 + x AS w FROM t, d) b ON a.w = b.w",
        "CREATE TABLE u AS SELECT v * 16 + x AS w, CAST(v AS TEXT) || 'some more text' AS s FROM t, d",
        "SELECT v FROM (SELECT v * 16 + x AS v FROM t, d) s ORDER BY v * 7919 % 1000003, v OFFSET 16000000",
    ] {
        for megabytes in [300, 600, 900] {
            let limit = format!("--as={}", megabytes << 20);
            let Some(output) = script(&format!("{ROWS}{hungry};\n"), Some(&limit)) else { return };
            match outcome(&output) {
                Ok(_) => {}
                Err(state) => {
                    assert_eq!(state, "53200", "{hungry}: {}", text(&output.stderr));
                    ended += 1;
                }
            }
        }
    }
    assert!(ended > 0, "none of them needed too much");
}

#[test]
fn ctrl_c_ends_a_statement_and_pressed_often_loses_no_table_at_once() {
    let mut command = Command::new(PROGRAM);
    let endless = "CREATE TABLE d AS SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 3; \
        CREATE TABLE e AS SELECT a.x FROM d a, d b, d c, d e, d f, d g, d h, d i, d j, d k; \
        SELECT 'tables are there'; \
        SELECT count(*) FROM e a, e b, e c WHERE a.x + b.x + c.x < 0";
    command.args(["--threads", "2", "-c", endless]);
    let mut child = spawn(command);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|it| it.unwrap().contains("tables are there")));
    std::thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    for _ in 0..3 {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(outcome(&output), Err("57014".to_owned()));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}
