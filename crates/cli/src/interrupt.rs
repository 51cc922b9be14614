//! Ctrl-C: it ends what runs, not the program.

use std::io;

use nodewise::CancelHandle;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicBool, Ordering};

/// Whether Ctrl-C was pressed.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on Ctrl-C ends the statement that a session runs, and is remembered here.
    pub fn install(handle: CancelHandle) -> Self {
        let interrupt = Self::default();
        let raised = interrupt.0.clone();
        // Where signals cannot be caught Ctrl-C ends the program, as it always does.
        let _ = hardware_linux::on_interrupt(move || {
            raised.store(true, Ordering::Release);
            handle.cancel();
        });
        interrupt
    }

    /// Forgets a Ctrl-C; tells whether there was one.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }

    /// An error when Ctrl-C was pressed, for loops that print.
    pub fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::Error::other("interrupted")) } else { Ok(()) }
    }
}
