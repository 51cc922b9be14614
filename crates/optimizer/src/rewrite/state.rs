//! What the rewrites share.

use std::collections::BTreeMap;

use plan::relation::{Attr, Attribute};
use types::Interrupt;

use crate::options::Options;

/// What is expected of a shared relation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) rows: f64,
    /// Distinct values of the attributes that are read.
    pub(crate) distinct: BTreeMap<Attr, f64>,
}

/// The state of the rewrites.
pub(crate) struct Optimiser<'a> {
    pub(crate) attributes: &'a mut Vec<Attribute>,
    /// What is expected of the shared relations, each once it is optimised.
    pub(crate) shared: &'a [Expected],
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) options: Options,
}
