//! What planning may do.

/// What planning may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Whether anything is done that no query needs in order to run: joins in another order than that of the query,
    /// predicates through groups and unions, transfer of keys to scans, shorter keys, joins and groups left out, moved or
    /// shared, late fetching, answers from statistics. Answers are the same without; it is there to prove that.
    pub rewrites: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { rewrites: true }
    }
}
