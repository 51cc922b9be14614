//! How long loops that run on no worker, those of binding and planning, learn that their statement has been ended.
//!
//! Key decision: who begins a statement hands in what to ask; the layers below know neither sessions nor tokens nor
//! clocks, and what nobody can end costs nothing.

use std::fmt;

use stdx::sync::Arc;

use crate::SqlResult;

/// Asks whether the statement may go on. Cloning it is cheap; clones ask the same.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> SqlResult<()> + Send + Sync>>);

/// What nobody can end.
pub static NEVER: Interrupt = Interrupt(None);

impl Interrupt {
    /// Asks `check`, which fails with the error that ends the statement. It is called often and must be quick.
    pub fn new(check: impl Fn() -> SqlResult<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(check)))
    }

    /// Fails when the statement has been ended, with why (57014, 53200). A few nanoseconds: call it for each relation,
    /// each expression, and in each loop over many of something.
    #[inline]
    pub fn check(&self) -> SqlResult<()> {
        self.0.as_ref().map_or(Ok(()), |check| check())
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Interrupt" } else { "Interrupt(never)" })
    }
}

#[cfg(test)]
mod tests {
    use stdx::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{SqlError, SqlState};

    #[test]
    fn clones_ask_the_same_and_nobody_ends_what_is_never() {
        let raised = Arc::new(AtomicBool::new(false));
        let asked = raised.clone();
        let interrupt = Interrupt::new(move || match asked.load(Ordering::Relaxed) {
            true => Err(SqlError::new(SqlState::QUERY_CANCELED, "ended")),
            false => Ok(()),
        });
        let clone = interrupt.clone();
        assert!(interrupt.check().is_ok() && clone.check().is_ok());
        raised.store(true, Ordering::Relaxed);
        assert_eq!(clone.check().unwrap_err().state, SqlState::QUERY_CANCELED);
        assert!(interrupt.check().is_err() && NEVER.check().is_ok());
        assert!(Interrupt::default().check().is_ok());
    }
}
