//! What a connection and the rows of its statements share.

use nodewise::{CancelHandle, Session};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex, Weak};

use crate::source::Source;

/// What a connection and the rows of its statements share.
pub struct Shared {
    /// `None` once it is closed.
    pub session: Mutex<Option<Session>>,
    pub cancel: CancelHandle,
    /// Told without the lock of the session, which a statement holds.
    closed: AtomicBool,
    /// Rows that may not have been read, which end with the connection.
    sources: Mutex<Vec<Weak<Mutex<Source>>>>,
}

impl Shared {
    pub fn new(session: Session) -> Arc<Self> {
        let cancel = session.cancel_handle();
        let (session, sources) = (Mutex::new(Some(session)), Mutex::default());
        Arc::new(Self { session, cancel, closed: AtomicBool::new(false), sources })
    }

    /// Remembers rows until they are gone.
    pub fn note(&self, source: &Arc<Mutex<Source>>) {
        let mut sources = self.sources.lock();
        sources.retain(|it| it.strong_count() > 0);
        sources.push(Arc::downgrade(source));
    }

    pub fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    /// Ends what is open; whoever reads rows still is told so.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let mut session = self.session.lock();
        let sources = std::mem::take(&mut *self.sources.lock());
        if let Some(open) = &mut *session {
            for source in sources.iter().filter_map(Weak::upgrade) {
                // Nobody is told any more what became of its statement.
                let _ = source.lock().close(open);
            }
        }
        drop(session.take());
    }
}
