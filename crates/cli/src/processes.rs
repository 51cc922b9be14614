//! Engines that are processes of this program, each with a shard and bound to a node (docs/design/14-coordinator.md,
//! "processes").
//!
//! Key decision: a process is asked on its standard input and answers on its standard output, so nobody else can ask it, and it
//! knows that its coordinator is gone by the end of its input: then it ends at once, whatever it is at. It only reads.

use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hardware::NodeId;
use nodewise::distributed::Shard;
use nodewise::{Loading, SqlError, SqlResult, SqlState};

use crate::frames;
use crate::switches::NODES;

/// The command of such a process.
pub const COMMAND: &str = "shard";
/// The class of that error.
const GONE: SqlState = SqlState("08006");
/// The end of what a process said that is told when it is gone.
const LAST_WORDS: usize = 500;

/// An engine in a process of its own.
pub struct ShardProcess {
    child: Child,
    /// Present until it is dropped.
    input: Option<ChildStdin>,
    output: ChildStdout,
}

impl ShardProcess {
    /// Starts an engine for the database of a folder, on the CPUs and in the memory of a node. Whether it can open the folder
    /// shows when it is asked.
    pub fn start(
        folder: &Path,
        node: NodeId,
        workers: Option<usize>,
        loading: Loading,
    ) -> SqlResult<Self> {
        let failed = |it: std::io::Error| gone(format!("it cannot be started: {it}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.arg(COMMAND).arg(folder).args(["--loading", loading.name()]);
        command.args(workers.map(|it| format!("--threads={it}")));
        command.env(NODES, node.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or_else(|| gone("it has no output".to_owned()))?;
        Ok(Self { child, input, output })
    }

    /// What became of a process that does not answer.
    fn end(&mut self) -> SqlError {
        self.input = None;
        // It may be there and not understand; then it is of no use either.
        let _ = self.child.kill();
        let ended = self.child.wait().map_or_else(|it| it.to_string(), |it| it.to_string());
        let mut said = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            let _ = errors.read_to_string(&mut said);
        }
        let said: Vec<char> = said.trim().chars().rev().take(LAST_WORDS).collect();
        let said: String = said.into_iter().rev().collect();
        gone(if said.is_empty() { ended } else { format!("{ended}: {said}") })
    }
}

fn gone(why: String) -> SqlError {
    let message = format!("the process of a shard is gone ({why})");
    SqlError::new(GONE, message)
}

impl Shard for ShardProcess {
    fn ask(&mut self, request: &[u8]) -> SqlResult<()> {
        let written = self.input.as_mut().map(|it| frames::write(it, request));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(self.end()),
        }
    }

    fn answer(&mut self) -> SqlResult<Vec<u8>> {
        match frames::read(&mut self.output) {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) | Err(_) => Err(self.end()),
        }
    }
}

impl Drop for ShardProcess {
    /// The process ends by the end of its input, and is waited for.
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}
