//! What a finished pipeline leaves for later ones.

use stdx::sync::Arc;

use types::SqlResult;

use crate::join::BuildSide;
use crate::value::convert;
use crate::{Batch, Layout, PartMap};

/// The state of a finished pipeline.
#[derive(Clone)]
pub enum State {
    /// The hash tables of a join.
    Table(Arc<BuildSide>),
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
    /// The node of the worker that wrote each batch, and so of its memory; empty where it is not known.
    pub homes: Vec<hardware::NodeId>,
    /// The parts that the batches are of, where they are of parts.
    pub parts: Option<Arc<PartMap>>,
}

impl Rows {
    /// The same rows, held as `layout` says; types are the same, and text may leave its column, integers may widen.
    pub fn with_layout(&self, layout: &Layout) -> SqlResult<Self> {
        let convert = |batch: &Batch| -> SqlResult<Batch> {
            let columns = (batch.columns.iter().zip(self.layout.iter().zip(layout)))
                .map(|(vector, (from, to))| convert(vector, from, to))
                .collect::<SqlResult<_>>()?;
            Ok(Batch { columns, ..*batch })
        };
        let batches = self.batches.iter().map(convert).collect::<SqlResult<_>>()?;
        Ok(Self {
            layout: layout.clone(),
            batches,
            ordered: self.ordered,
            homes: self.homes.clone(),
            parts: self.parts.clone(),
        })
    }

    /// All rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(|it| it.rows).sum()
    }
}
