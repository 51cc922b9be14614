//! Where a job may run, and in which order jobs are served.

/// How strongly a job is tied to the nodes of its ranges (P-HANA 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Affinity {
    /// The home node's workers come first; others may steal.
    #[default]
    Soft,
    /// Only the home node's workers.
    Hard,
    /// The nodes of the ranges do not matter: any worker, and nothing counts as stolen.
    None,
}

/// How far from home a worker may steal (P-SNC).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StealingScope {
    /// Not at all.
    None,
    /// From the other nodes of its socket.
    Socket,
    /// From everywhere.
    #[default]
    All,
}

/// Query classes: the lower number is served first.
pub mod class {
    /// Somebody waits at the other end for a short answer.
    pub const INTERACTIVE: u8 = 0;
    /// What a query gets when nobody says otherwise.
    pub const NORMAL: u8 = 100;
    /// Loading and upkeep.
    pub const BACKGROUND: u8 = 200;
}

/// A place in the order of service; lower is served first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Priority {
    pub(crate) class: u8,
    pub(crate) statement: u64,
    /// The order of submission breaks ties.
    pub(crate) sequence: u64,
}
