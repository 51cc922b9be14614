//! What becomes of a value that does not convert.

/// What becomes of a value that does not convert.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Failing {
    /// The error ends the statement.
    Raises,
    /// NULL takes its place.
    IsNull,
}
