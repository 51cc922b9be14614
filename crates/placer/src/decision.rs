//! What the placer answers: a change of place with the numbers that speak for it.

use hardware::NodeId;
use stdx::Nanos;

use crate::window::Item;

/// What is done with an item (P-HANA figure 20).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// It does not dominate its node: what it has on the hottest node goes to the coldest one.
    Move,
    /// It dominates its node: one more partition of its index vector (IVP), on the coldest node.
    Split,
    /// It is small and nobody changes it: a copy of it, or of its dictionary, on each socket.
    Replicate,
    /// It dominates its node or is looked up from others, and is more than index vector: its table is cut by its key into
    /// a part for each socket (PP), with dictionaries of their own.
    Partition,
    /// Nobody has read it for long: back to the nodes that it had before it was split or copied.
    Shrink,
    /// Nobody has read a table for long that was cut: back into one piece.
    Merge,
    /// Nobody has read it for long, and a node with CPUs is short of memory: to a node without CPUs.
    Demote,
    /// It lies on a node without CPUs and is read again: to a node with CPUs.
    Promote,
}

impl Action {
    /// Its name in views.
    pub fn name(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Split => "split",
            Self::Replicate => "replicate",
            Self::Partition => "partition",
            Self::Shrink => "shrink",
            Self::Merge => "merge",
            Self::Demote => "demote",
            Self::Promote => "promote",
        }
    }
}

/// A change of place. Loads are shares of what a node can do: 1 is all of it. Those of [`Action::Demote`] are shares of the
/// hottest node's memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// When it was made, by the machine's time.
    pub at: Nanos,
    /// Of what.
    pub item: Item,
    /// What is done.
    pub action: Action,
    /// Its nodes before, from the first row to the last.
    pub from: Vec<NodeId>,
    /// Its nodes afterwards.
    pub to: Vec<NodeId>,
    /// The node with the greatest load, or the one that the item shall leave.
    pub hottest: NodeId,
    /// The node with the least, or the one that the item goes to.
    pub coldest: NodeId,
    /// The load of the hottest node.
    pub load: f64,
    /// The part of it that is the item's.
    pub item_load: f64,
    /// What the greater load of the two nodes will be.
    pub load_after: f64,
    /// Bytes that change their node.
    pub copy_bytes: u64,
    /// How long the copy takes under its share of the bandwidth.
    pub copy_time: Nanos,
    /// Time of the nodes' memory that the copy takes.
    pub cost: Nanos,
    /// Time of the hottest node that is saved until the end of the horizon, and of readers who find near what was far.
    pub gain: Nanos,
}
