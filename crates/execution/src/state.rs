//! What a finished pipeline leaves for later ones.

use stdx::sync::Arc;

use types::{SqlError, SqlResult};

use crate::join::BuildSide;
use crate::value::convert;
use crate::{Batch, Kept, Layout, PartMap};

/// The state of a finished pipeline.
#[derive(Clone)]
pub enum State {
    /// The hash tables of a join.
    Table(Arc<BuildSide>),
    /// Rows: groups, sorted rows, materialised rows, the result.
    Rows(Arc<Rows>),
    /// None: its rows have failed, and who reads them fails by the same. A value that a subquery would give is only raised
    /// where it is asked for, as CASE and COALESCE guard what they do not reach.
    Failed(Arc<SqlError>),
}

/// Materialised rows.
pub struct Rows {
    /// Their layout.
    pub layout: Layout,
    /// The batches; in order when `ordered`.
    pub batches: Vec<Kept>,
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
        let pairs = || self.layout.iter().zip(layout);
        let same = pairs().all(|(from, to)| from.representation.is(&to.representation));
        let convert = |kept: &Kept| -> SqlResult<Kept> {
            if same {
                return Ok(kept.clone());
            }
            let batch = kept.batch()?;
            let columns = (batch.columns.iter().zip(self.layout.iter().zip(layout)))
                .map(|(vector, (from, to))| convert(vector, from, to))
                .collect::<SqlResult<_>>()?;
            Ok(Kept::Here(Batch { columns, ..batch }))
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
        self.batches.iter().map(Kept::rows).sum()
    }

    /// All batches, read where they are in files.
    pub fn all(&self) -> SqlResult<Vec<Batch>> {
        self.batches.iter().map(Kept::batch).collect()
    }
}
