//! DuckDB through one long-lived Python, as a third opinion: it has no SQLSTATEs, and other rules in places.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::peers::reply::{Peer, Reply, Rows, Shown};

const PROGRAM: &str = include_str!("duckdb.py");
const FIELD: char = '\u{1f}';
const RECORD: char = '\u{1e}';
const NULL: &str = "\u{1}";
const END: &str = "\u{2}end";

/// A database in memory.
pub struct DuckDb {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl DuckDb {
    /// Starts a Python that can import the module duckdb.
    pub fn start(python: &str) -> Result<Self, String> {
        let mut child = Command::new(python)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {python}: {error}"))?;
        let input = child.stdin.take().ok_or("Python has no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("Python has no output")?);
        let mut peer = Self { child, input, output };
        match peer.run("SELECT 1 AS a") {
            Reply::Rows(_) => Ok(peer),
            other => Err(format!("DuckDB does not answer: {}", other.describe())),
        }
    }

    fn ask(&mut self, sql: &str) -> Result<String, String> {
        let line = sql.replace('\\', "\\\\").replace('\n', "\\n");
        let sent = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        sent.map_err(|error| format!("Python takes no input: {error}"))?;
        let mut all = String::new();
        loop {
            let before = all.len();
            let read = self.output.read_line(&mut all).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err(format!("Python ended: {all}"));
            }
            if all[before..].trim_end() == END {
                all.truncate(before);
                return Ok(all);
            }
        }
    }
}

impl Peer for DuckDb {
    fn name(&self) -> &'static str {
        "duckdb"
    }

    fn reset(&mut self) -> Result<(), String> {
        self.ask("RESET").map(|_| ())
    }

    fn run(&mut self, sql: &str) -> Reply {
        let text = match self.ask(sql) {
            Ok(text) => text,
            Err(message) => return Reply::Error { state: String::new(), message },
        };
        if let Some(message) = text.strip_prefix("ERROR:  ") {
            return Reply::Error { state: String::new(), message: message.trim_end().to_owned() };
        }
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let mut records = text.split(RECORD);
        let head = records.next().unwrap_or_default();
        if head.is_empty() {
            return Reply::Done;
        }
        let cell = |field: &str| (field != NULL).then(|| field.to_owned());
        let rows = records.map(|record| record.split(FIELD).map(cell).collect()).collect();
        Reply::Rows(Rows { shown: vec![Shown::Text; head.split(FIELD).count()], rows })
    }
}

impl Drop for DuckDb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
