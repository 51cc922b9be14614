//! What planning may do.

use plan::OrderDefaults;
use types::Styles;

/// What planning may do, and what binding took for granted: plans of one text with others of these are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Whether anything is done that no query needs in order to run: joins in another order than that of the query,
    /// predicates through groups and unions, transfer of keys to scans, shorter keys, joins and groups left out, moved or
    /// shared, late fetching, answers from statistics. Answers are the same without; it is there to prove that.
    pub rewrites: bool,
    /// What ORDER BY means where it says nothing.
    pub order: OrderDefaults,
    /// How dates were read, and in which form they become JSON.
    pub styles: Styles,
}

impl Default for Options {
    fn default() -> Self {
        Self { rewrites: true, order: OrderDefaults::default(), styles: Styles::default() }
    }
}
