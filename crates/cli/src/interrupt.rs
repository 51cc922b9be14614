//! Ctrl-C: it ends what runs, not the program. Who presses it three times means the program; but tables live in memory,
//! so a person is asked first, and a script gets some seconds to end its statement.
//!
//! | Press | No tables | Tables, at a terminal | Tables, no terminal |
//! |---|---|---|---|
//! | first | the statement is ended | the same | the same |
//! | second | told what the third does | the same | the same |
//! | third | leaves with code 130 | asks; only yes leaves | leaves when [`GRACE`] has passed since the first, else tells |
//!
//! While the program closes its database it is ending already: a press leaves only when [`GRACE`] has passed, so that an error
//! is still told and the exit code is the error's.

use std::io::{self, BufRead, IsTerminal, Write};

use nodewise::{Database, Session};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicU32, Ordering};
use stdx::sync::{Arc, Mutex, Weak};

/// What a shell expects of a program that SIGINT ended.
const EXIT_CODE: i32 = 130;

/// Time that a statement has to end before three presses end a program that nobody can ask.
const GRACE: Nanos = Nanos(5_000_000_000);

/// How often Ctrl-C was pressed since somebody took notice.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    presses: Arc<AtomicU32>,
    /// Held while a question is open.
    asking: Arc<Mutex<()>>,
}

/// What a press leads to.
#[derive(Debug, PartialEq, Eq)]
enum Reaction {
    Cancel,
    Warn,
    Wait,
    /// Whether so many tables may be lost.
    Ask(usize),
    Leave,
}

/// What the `press`-th press leads to, so long after the first; `tables` is `None` while the database is being closed.
fn reaction(press: u32, tables: Option<usize>, terminal: bool, since_first: Nanos) -> Reaction {
    match (press, tables) {
        (0 | 1, _) => Reaction::Cancel,
        (2, _) => Reaction::Warn,
        (_, Some(0)) => Reaction::Leave,
        (_, Some(tables)) if terminal => Reaction::Ask(tables),
        _ if since_first >= GRACE => Reaction::Leave,
        _ => Reaction::Wait,
    }
}

impl Interrupt {
    /// From now on Ctrl-C ends the statement that a session runs, and is remembered here.
    pub fn install(session: &Session) -> Self {
        let interrupt = Self::default();
        let Self { presses, asking } = interrupt.clone();
        let handle = session.cancel_handle();
        let machine = session.database().machine().clone();
        let database: Weak<Database> = Arc::downgrade(session.database());
        let first = Mutex::new(machine.now());
        // Where signals cannot be caught Ctrl-C ends the program, as it always does.
        let _ = hardware_linux::on_interrupt(move || {
            let press = presses.fetch_add(1, Ordering::AcqRel) + 1;
            if press == 1 {
                *first.lock() = machine.now();
            }
            handle.cancel();
            let tables = database.upgrade().map(|it| it.tables().len());
            let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
            match reaction(press, tables, terminal, machine.now() - *first.lock()) {
                Reaction::Cancel => {}
                Reaction::Warn => {
                    eprintln!("the statement is ending; Ctrl-C once more leaves Nodewise");
                }
                Reaction::Wait => {
                    eprintln!(
                        "the statement is ending; Ctrl-C leaves Nodewise when {GRACE} have passed"
                    );
                }
                Reaction::Ask(tables) => {
                    let _open = asking.lock();
                    if agrees(tables) {
                        std::process::exit(EXIT_CODE);
                    }
                    // The next press warns again.
                    presses.store(1, Ordering::Release);
                }
                Reaction::Leave => std::process::exit(EXIT_CODE),
            }
        });
        interrupt
    }

    /// Forgets a Ctrl-C; tells whether there was one.
    pub fn take(&self) -> bool {
        self.presses.swap(0, Ordering::AcqRel) > 0
    }

    /// Waits until no question is open, and forgets what led to it.
    pub fn settle(&self) {
        drop(self.asking.lock());
        self.take();
    }

    /// An error when Ctrl-C was pressed, for loops that print.
    pub fn check(&self) -> io::Result<()> {
        if self.presses.load(Ordering::Acquire) > 0 {
            return Err(io::Error::other("interrupted"));
        }
        Ok(())
    }
}

/// Asks whether to leave `tables` tables behind. Only a clear yes is one.
fn agrees(tables: usize) -> bool {
    let what = if tables == 1 { "the table".to_owned() } else { format!("all {tables} tables") };
    eprint!("Leave Nodewise and lose {what} in memory? [y/N] ");
    let _ = io::stderr().flush();
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && is_yes(&answer)
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_tells_its_error_first() {
        for terminal in [true, false] {
            assert_eq!(reaction(3, None, terminal, Nanos(0)), Reaction::Wait);
            assert_eq!(reaction(3, None, terminal, GRACE), Reaction::Leave);
        }
    }

    #[test]
    fn three_presses_never_lose_tables_unasked() {
        let at_once = Nanos(0);
        for terminal in [true, false] {
            for tables in [None, Some(0), Some(3)] {
                assert_eq!(reaction(1, tables, terminal, at_once), Reaction::Cancel);
                assert_eq!(reaction(2, tables, terminal, GRACE), Reaction::Warn);
            }
            assert_eq!(reaction(3, Some(0), terminal, at_once), Reaction::Leave);
        }
        assert_eq!(reaction(3, Some(1), true, GRACE), Reaction::Ask(1));
        assert_eq!(reaction(3, Some(1), false, at_once), Reaction::Wait);
        assert_eq!(reaction(4, Some(1), false, GRACE), Reaction::Leave);
        assert!(is_yes("y\n") && is_yes(" YES ") && !is_yes("") && !is_yes("\n") && !is_yes("yep"));
    }
}
