//! What a build needs from the layers above and below: workers, memory, somebody who watches.

use memory::Allocator;
use types::{Deferral, SqlError, SqlResult, SqlState};

use crate::{NoProgress, Parallel, Progress, Serial, TableDesign, TableIndex};

/// What a build needs from the layers above and below.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// Workers.
    pub parallel: &'a dyn Parallel,
    /// Placed memory; its machine tells the topology.
    pub allocator: &'a Allocator,
    /// Columns that other tables have: the first column goes to the node whose turn it is after them.
    pub turn: usize,
    /// Hears how far the build is.
    pub progress: &'a dyn Progress,
    /// Asked often; `true` ends the build with 57014.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// How a new table is cut and placed. A table that is built anew keeps its own design.
    pub design: &'a TableDesign,
    /// Bytes of near-unique texts, in all parts together, from which on a column is compressed, if that saves enough.
    pub compress_from: usize,
    /// Rows from which on a table keeps what changes beside it.
    pub delta_from: usize,
    /// Asked about keys that may be broken for a while.
    pub broken: &'a dyn BrokenKeys,
}

/// Who hears of keys that are broken.
pub trait BrokenKeys: Sync {
    /// Whether a key that may be broken for a while is, until somebody asks again.
    fn is_put_off(&self, rule: &TableIndex) -> bool;
}

/// Every key is kept at once.
pub struct NothingPutOff;

impl BrokenKeys for NothingPutOff {
    fn is_put_off(&self, _rule: &TableIndex) -> bool {
        false
    }
}

/// All keys that may be broken are asked of nothing: of changes that were in order when they were committed.
pub struct EverythingPutOff;

impl BrokenKeys for EverythingPutOff {
    fn is_put_off(&self, _rule: &TableIndex) -> bool {
        true
    }
}

/// [`BuildContext::compress_from`] where nobody says it: smaller columns would save little memory.
pub const COMPRESS_FROM: usize = 32 << 20;

/// [`BuildContext::delta_from`] where nobody says it: smaller tables are encoded in less time than a delta takes.
pub const DELTA_FROM: usize = 1024;

/// What nobody designed.
static PLAIN_DESIGN: TableDesign = TableDesign::PLAIN;

impl<'a> BuildContext<'a> {
    /// A build on the calling thread that nobody watches or stops.
    pub fn serial(allocator: &'a Allocator) -> Self {
        let (progress, cancelled) = (&NoProgress, &|| false);
        let design = &PLAIN_DESIGN;
        let compress_from = COMPRESS_FROM;
        let (parallel, turn, delta_from) = (&Serial, 0, DELTA_FROM);
        let broken = &NothingPutOff;
        Self {
            parallel,
            allocator,
            turn,
            progress,
            cancelled,
            design,
            compress_from,
            delta_from,
            broken,
        }
    }

    /// Whether a key that is broken may stay so for a while.
    pub(crate) fn puts_off(&self, rule: &TableIndex) -> bool {
        rule.deferral != Deferral::None && self.broken.is_put_off(rule)
    }

    pub(crate) fn check_cancelled(&self) -> SqlResult<()> {
        if (self.cancelled)() {
            return Err(SqlError::new(SqlState::QUERY_CANCELED, "the load was cancelled"));
        }
        Ok(())
    }
}
