//! Texts and files that are nearly right: statements of the records and files of all formats, cut, doubled and mixed at random.
//!
//! A number draws either a record file, whose first statements are run as they are and some of whose others are mutated, or a
//! file that Nodewise wrote, whose bytes are mutated and which is then read in several ways.
//!
//! - Invariant: what comes of a statement is an answer or an error that is the user's. One of class XX, one that does not end when
//!   it is cancelled, and one for which the process grows beyond [`MOST_BYTES`] is told with the command that repeats it.
//! - Invariant: texts are run by a role that may neither read nor write files of this machine.
//!
//! Reading order: `texts`, `lists`, `files`.

mod files;
mod lists;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nodewise::{Database, DatabaseOptions};
use stdx::Bytes;
use stdx::sync::Arc;

use self::files::Samples;
use self::texts::Record;
use crate::draw::Draw;
use crate::peers::nodewise::{Host, Nodewise};
use crate::peers::reply::{Peer, Reply};

/// How long a statement may run before it is cancelled.
const PATIENCE: Duration = Duration::from_secs(1);
/// What a statement may take of what is counted.
const MEMORY_LIMIT: Bytes = Bytes(512 << 20);
/// The most that the process may ever have in memory.
const MOST_BYTES: u64 = 3 << 30;

/// What is mutated, and what came of it.
pub struct Mutations {
    records: Vec<Record>,
    samples: Samples,
    by_state: BTreeMap<String, usize>,
    pub failures: usize,
    has_grown: bool,
    /// Where failures are kept whole.
    folder: Option<PathBuf>,
}

impl Mutations {
    /// Reads the records below a folder, and has Nodewise write a file of each kind.
    pub fn open(records: &Path, folder: Option<PathBuf>) -> Result<Self, String> {
        let records = texts::records(records)?;
        let mut writer = session(&database()?, None)?;
        let samples = Samples::write(&mut writer)?;
        let by_state = BTreeMap::new();
        Ok(Self { records, samples, by_state, failures: 0, has_grown: false, folder })
    }

    /// Kinds of files that Nodewise does not write, each with what it said.
    pub fn left_out(&self) -> &[String] {
        &self.samples.left_out
    }

    /// Runs the case of a number.
    pub fn run(&mut self, seed: u64, number: u64) -> Result<(), String> {
        let mut draw = Draw::new(seed ^ 0x0062_7974_6573, number);
        let is_text = self.samples.is_empty() || draw.chance(60);
        let statements = match is_text {
            true => texts::statements(&self.records, &mut draw),
            false => self.samples.mutated(&mut draw)?,
        };
        let mut peer = session(&database()?, is_text.then_some("guest"))?;
        for statement in statements {
            self.keep("under-way.sql", &statement);
            let reply = peer.run(&statement);
            let is_stuck = reply == Reply::Stuck;
            // A file that is damaged may be called that.
            let is_told = !is_text && reply.state() == Some("XX001");
            self.take(&reply, is_told, (seed, number), &statement);
            if is_stuck {
                break;
            }
        }
        Ok(())
    }

    /// How often each state came, and one closing line.
    pub fn print(&self, started: Instant) {
        for (state, count) in &self.by_state {
            println!("{count:8} {state}");
        }
        let total: usize = self.by_state.values().sum();
        let seconds = started.elapsed().as_secs();
        println!("bytes: {total} statements, {} failed ({seconds} s)", self.failures);
    }

    fn take(&mut self, reply: &Reply, is_told: bool, (seed, number): (u64, u64), statement: &str) {
        let state = match reply {
            Reply::Rows(_) | Reply::Done => "an answer",
            Reply::Error { state, .. } => state.as_str(),
            Reply::Stuck => "did not end",
        };
        *self.by_state.entry(state.to_owned()).or_default() += 1;
        let most = most_bytes();
        let grows = most > MOST_BYTES && !std::mem::replace(&mut self.has_grown, most > MOST_BYTES);
        if !(state.starts_with("XX") && !is_told || *reply == Reply::Stuck || grows) {
            return;
        }
        self.failures += 1;
        println!("-- {} (at most {} MiB so far)", reply.describe(), most >> 20);
        println!("-- cargo run --release -p fuzz -- bytes --seeds {seed} --only {number}");
        println!("{};", shortened(statement));
        self.keep(&format!("bytes-{seed}-{number}-{}.sql", self.failures), statement);
    }

    /// Keeps a statement in the folder, if there is one: one that failed, and the one that ends the process if it does.
    fn keep(&self, name: &str, statement: &str) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = std::fs::write(folder.join(name), statement) {
            eprintln!("{name} cannot be written: {error}");
        }
    }
}

/// A statement as it is shown: of a long one its begin and its end.
fn shortened(statement: &str) -> String {
    let letters: Vec<char> = statement.chars().collect();
    match letters.len() {
        0..=2000 => statement.to_owned(),
        long => {
            let part = |it: &[char]| it.iter().collect::<String>();
            format!("{} /* .. */ {}", part(&letters[..1000]), part(&letters[long - 900..]))
        }
    }
}

fn database() -> Result<Arc<Database>, String> {
    let options = DatabaseOptions {
        workers: Some(2),
        memory_limit: Some(MEMORY_LIMIT),
        delta_from: Some(0),
        ..Default::default()
    };
    Database::open(hardware_linux::open(), options).map_err(|error| error.to_string())
}

/// A session of the superuser, or of a role of this name that may do all that a role may do in the schema `public`.
fn session(database: &Arc<Database>, role: Option<&str>) -> Result<Nodewise, String> {
    let mut session = database.session();
    if let Some(role) = role {
        let made = session
            .execute(&format!("CREATE ROLE {role} LOGIN"))
            .and_then(|_| session.execute(&format!("GRANT ALL ON SCHEMA public TO {role}")))
            .and_then(|_| session.execute(&format!("GRANT ALL ON DATABASE nodewise TO {role}")))
            .and_then(|_| session.log_in(role, "nodewise", true));
        made.map_err(|error| error.to_string())?;
    }
    Ok(Nodewise::of(session, Host::Threads(2), PATIENCE))
}

/// The most bytes that the process has had in memory; 0 where the system does not say it.
fn most_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) << 10
}
