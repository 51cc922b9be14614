//! Ctrl-C: it ends what runs, not the program; but who presses it three times means the program.

use std::io;

use nodewise::CancelHandle;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU32, Ordering};

/// Presses during one statement that end the program.
const PRESSES_MAX: u32 = 3;
/// What a shell expects of a program that SIGINT ended.
const EXIT_CODE: i32 = 130;

/// How often Ctrl-C was pressed since somebody took notice.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicU32>);

impl Interrupt {
    /// From now on Ctrl-C ends the statement that a session runs, and is remembered here.
    pub fn install(handle: CancelHandle) -> Self {
        let interrupt = Self::default();
        let raised = interrupt.0.clone();
        // Where signals cannot be caught Ctrl-C ends the program, as it always does.
        let _ = hardware_linux::on_interrupt(move || {
            if raised.fetch_add(1, Ordering::AcqRel) + 1 >= PRESSES_MAX {
                std::process::exit(EXIT_CODE);
            }
            handle.cancel();
        });
        interrupt
    }

    /// Forgets a Ctrl-C; tells whether there was one.
    pub fn take(&self) -> bool {
        self.0.swap(0, Ordering::AcqRel) > 0
    }

    /// An error when Ctrl-C was pressed, for loops that print.
    pub fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) > 0 {
            return Err(io::Error::other("interrupted"));
        }
        Ok(())
    }
}
