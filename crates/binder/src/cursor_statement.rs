//! Cursors, as statements say them.

use crate::statement::ParsedQuery;

/// A statement about a cursor.
#[derive(Clone, PartialEq, Debug)]
pub enum CursorStatement {
    /// DECLARE.
    Declare {
        /// What it is called.
        name: String,
        /// Whether it may go backward.
        scroll: bool,
        /// WITH HOLD: whether it outlives its transaction.
        hold: bool,
        /// Its rows.
        query: ParsedQuery,
    },
    /// FETCH, or MOVE, which gives no rows.
    Fetch {
        /// The cursor.
        name: String,
        /// Where it goes.
        step: CursorStep,
        /// Whether it is MOVE.
        is_move: bool,
    },
    /// CLOSE.
    Close {
        /// The cursor; all where it is `None`.
        name: Option<String>,
    },
}

/// Where a cursor goes, and which rows that gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CursorStep {
    /// So many rows onward, each given; backward where it is negative.
    Forward(i64),
    /// All rows that are left.
    ForwardAll,
    /// All rows before, the nearest first.
    BackwardAll,
    /// The row with a number, from the end where it is negative.
    Absolute(i64),
    /// The row so far from here.
    Relative(i64),
}
