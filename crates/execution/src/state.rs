//! What a finished pipeline leaves for later ones.

use stdx::sync::Arc;

use crate::join::JoinTable;
use crate::{Batch, Layout};

/// The state of a finished pipeline.
#[derive(Clone)]
pub enum State {
    /// A hash table.
    Table(Arc<JoinTable>),
    /// Rows: groups, sorted rows, materialised rows, the result.
    Rows(Arc<Rows>),
}

/// Materialised rows.
pub struct Rows {
    /// Their layout.
    pub layout: Layout,
    /// The batches; in order when `ordered`.
    pub batches: Vec<Batch>,
    /// Whether the order means something.
    pub ordered: bool,
}

impl Rows {
    /// All rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(|it| it.rows).sum()
    }
}
