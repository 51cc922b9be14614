//! What statements say of cursors and channels.

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

/// A statement about channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChannelStatement {
    /// LISTEN.
    Listen(String),
    /// UNLISTEN; of all channels where it is `None`.
    Unlisten(Option<String>),
    /// NOTIFY of a channel, with a text.
    Notify(String, String),
}
