//! Rows of Arrow that the statements of a session read under a name, as data frames of a program around it.
//!
//! Key decision: they are encoded once, when they are registered, into a table that no catalog has; a statement that names it
//! takes it in as it takes in views. Plans over it are not kept, as another frame may have the name tomorrow.

use stdx::sync::Arc;
use storage::Table;
use types::TableId;

/// The ids of frames count down from here: below those of tables that live as long as a statement.
const FIRST_ID: u32 = u32::MAX - (1 << 16);

/// The frames of a session.
#[derive(Default)]
pub(crate) struct Frames(Vec<Arc<Table>>);

impl Frames {
    /// The frame of a name, in letters of either case.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Table>> {
        self.0.iter().find(|it| it.name.eq_ignore_ascii_case(name))
    }

    /// Takes a frame in, in the place of one of its name.
    pub(crate) fn put(&mut self, mut table: Table) {
        self.remove(&table.name);
        let is_free = |id: &TableId| !self.0.iter().any(|it| it.id == *id);
        let free = (0..).map(|it| TableId(FIRST_ID - it)).find(is_free);
        table.id = free.unwrap_or(TableId(FIRST_ID));
        self.0.push(Arc::new(table));
    }

    /// Forgets a frame; tells whether there was one.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|it| !it.name.eq_ignore_ascii_case(name));
        self.0.len() < before
    }
}
