//! What the rewrites share.

use plan::relation::Attribute;
use types::Interrupt;

use crate::options::Options;

/// The state of the rewrites.
pub(crate) struct Optimiser<'a> {
    pub(crate) attributes: &'a mut Vec<Attribute>,
    /// Expected rows of the shared relations, each once it is optimised.
    pub(crate) shared_rows: &'a [f64],
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) options: Options,
}
