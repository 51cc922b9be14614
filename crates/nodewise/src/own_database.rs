//! The database as a session holds it.

use std::ops::Deref;

use stdx::sync::Arc;

use crate::Database;

/// The database behind a count of a session's own: all that its statements do holds it, and touches no count that others do.
#[derive(Clone)]
pub(crate) struct OwnDatabase(Arc<Counted>);

/// What is counted apart.
struct Counted(Arc<Database>);

impl OwnDatabase {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self(Arc::new(Counted(database)))
    }
}

impl Deref for OwnDatabase {
    type Target = Arc<Database>;

    fn deref(&self) -> &Arc<Database> {
        &self.0.0
    }
}
