//! PostgreSQL through one long-lived psql.
//!
//! Fields, records and NULL are marked by control characters that no value holds, and each statement is followed by a line
//! of its own, so that what comes back is never in doubt. Errors come on the same pipe, with their SQLSTATE.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::peers::reply::{Peer, Reply, Rows, Shown};

const FIELD: char = '\u{1f}';
const RECORD: char = '\u{1e}';
const NULL: &str = "\u{1}";
const END: &str = "\u{2}end";

/// A session in a database that is made for it, whose texts order by their bytes, and that goes with it.
pub struct Postgres {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    home: String,
    own: String,
}

impl Postgres {
    /// Connects by the words of a connection string such as `host=127.0.0.1 port=5432`; what it does not say comes from
    /// the environment (PGHOST and its like).
    pub fn connect(connection: &str) -> Result<Self, String> {
        let settings = "-c client_min_messages=error -c statement_timeout=5s -c jit=off \
                        -c timezone=UTC -c max_parallel_workers_per_gather=0";
        let mut child = Command::new("sh")
            .args(["-c", "exec psql \"$@\" 2>&1", "psql", "-X", "-q", "-A", "-w"])
            .args(["-F", &FIELD.to_string(), "-R", &RECORD.to_string()])
            .args(["-P", &format!("null={NULL}"), "-P", "footer=off", "-v", "VERBOSITY=verbose"])
            .args(["-d", &format!("{connection} options='{settings}'")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run psql: {error}"))?;
        let input = child.stdin.take().ok_or("psql has no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("psql has no output")?);
        let own = format!("nodewise_fuzz_{}", std::process::id());
        let mut peer = Self { child, input, output, home: String::new(), own };
        peer.enter()?;
        Ok(peer)
    }

    /// Makes the database of its own and goes there.
    fn enter(&mut self) -> Result<(), String> {
        let home = match self.run("SELECT current_database()") {
            Reply::Rows(rows) => rows.rows[0][0].clone().unwrap_or_default(),
            other => return Err(format!("PostgreSQL does not answer: {}", other.describe())),
        };
        self.home = home;
        let own = self.own.clone();
        self.run(&format!("DROP DATABASE IF EXISTS {own}"));
        let made = self.run(&format!(
            "CREATE DATABASE {own} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        ));
        if made != Reply::Done {
            return Err(format!("no database for the fuzzer: {}", made.describe()));
        }
        self.ask(&format!("\\connect {own}\n")).map(|_| ())
    }

    /// Sends a text and gives back what psql writes until its end.
    fn ask(&mut self, text: &str) -> Result<String, String> {
        let sent = writeln!(self.input, "{text}\\echo {END}").and_then(|()| self.input.flush());
        sent.map_err(|error| format!("psql takes no input: {error}"))?;
        let mut all = String::new();
        loop {
            let before = all.len();
            let read = self.output.read_line(&mut all);
            let read = read.map_err(|error| format!("psql gives no output: {error}"))?;
            if read == 0 {
                return Err(format!("psql ended: {all}"));
            }
            if all[before..].trim_end() == END {
                all.truncate(before);
                return Ok(all);
            }
        }
    }
}

impl Peer for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn reset(&mut self) -> Result<(), String> {
        let again = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
        self.ask(&format!("{again};\n")).map(|_| ())
    }

    fn run(&mut self, sql: &str) -> Reply {
        match self.ask(&format!("{sql};\n")) {
            Ok(text) => parse(&text),
            Err(message) => Reply::Error { state: "08006".to_owned(), message },
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let (home, own) = (self.home.clone(), self.own.clone());
        // Nobody is left to hear of a failure; the next run drops the database of its name first.
        let _ = self.ask(&format!("\\connect {home}\nDROP DATABASE IF EXISTS {own};\n"));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what psql writes for one statement.
fn parse(text: &str) -> Reply {
    let error = ["ERROR:  ", "FATAL:  "].iter().find_map(|word| text.strip_prefix(word));
    if let Some(rest) = error {
        let line = rest.lines().next().unwrap_or_default();
        let (state, message) = line.split_once(": ").unwrap_or(("", line));
        return Reply::Error { state: state.to_owned(), message: message.to_owned() };
    }
    if text.is_empty() {
        return Reply::Done;
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut records = text.split(RECORD);
    let width = records.next().map_or(0, |head| head.split(FIELD).count());
    let cell = |field: &str| (field != NULL).then(|| field.to_owned());
    let rows = records.map(|record| record.split(FIELD).map(cell).collect()).collect();
    Reply::Rows(Rows { shown: vec![Shown::Text; width], rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_empty_text_and_no_row_are_three_things() {
        let cells = |text: &str| match parse(text) {
            Reply::Rows(rows) => rows.rows,
            other => panic!("{other:?}"),
        };
        assert_eq!(cells("a\n"), Vec::<Vec<Option<String>>>::new());
        assert_eq!(cells("a\u{1e}\n"), [[Some(String::new())]]);
        assert_eq!(cells("a\u{1e}\u{1}\n"), [[None]]);
        let two = cells("a\u{1f}b\u{1e}1\u{1f}\u{1}\u{1e}2\u{1f}x\n");
        assert_eq!(two[0], [Some("1".to_owned()), None]);
        assert_eq!(two[1], [Some("2".to_owned()), Some("x".to_owned())]);
    }

    #[test]
    fn errors_have_their_state() {
        let reply = parse("ERROR:  22012: division by zero\nLOCATION:  int4div, int.c:870\n");
        assert_eq!(reply.state(), Some("22012"));
        assert!(reply.is_value_error());
        assert_eq!(parse(""), Reply::Done);
    }
}
