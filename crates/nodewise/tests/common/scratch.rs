//! Files that statements read and write.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs;
use std::path::PathBuf;

use nodewise::Session;
use nodewise::text::Cells;
use types::{SqlError, SqlResult};

/// A folder of its own for each test, gone afterwards.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// An empty folder.
    pub fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("nodewise-files-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Runs a statement in which DIR is the folder.
    pub fn run(&self, session: &mut Session, sql: &str) -> SqlResult<nodewise::Answer> {
        session.query(&sql.replace("DIR", &self.0.display().to_string()))
    }

    /// The rows of an answer, values with `|` between them.
    pub fn rows(&self, session: &mut Session, sql: &str) -> Vec<String> {
        let answer = self.run(session, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let mut rows = Vec::new();
        for batch in &answer.batches {
            let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
            for row in 0..batch.num_rows() {
                let texts = cells.iter().map(|it| it.text(row).unwrap_or("NULL".into()));
                rows.push(texts.collect::<Vec<_>>().join("|"));
            }
        }
        rows
    }

    /// An error, with the folder as DIR.
    pub fn error(&self, session: &mut Session, sql: &str) -> String {
        match self.run(session, sql) {
            Ok(answer) => format!("done: {}", answer.tag),
            Err(SqlError { state, message, .. }) => {
                format!("{} {}", state.0, message.replace(&self.0.display().to_string(), "DIR"))
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
