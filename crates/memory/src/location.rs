//! Where the pages of a range live, as callers say and read it; `ranges` has the compact form.

use hardware::{NodeId, PagePolicy};

/// Where the pages of a range live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    /// All on one node.
    Node(NodeId),
    /// Dealt round nodes, `stride` pages a turn.
    Interleaved {
        /// The nodes in the order of the deal.
        nodes: Vec<NodeId>,
        /// Pages that stay together: 1, or those of a huge page.
        stride: usize,
        /// How many pages of the deal lie before the first page of the range; less than one whole round.
        start: usize,
    },
}

impl Location {
    /// What a policy promises for a range from its beginning on, with `stride` pages a turn; nothing for first touch.
    pub fn planned(policy: &PagePolicy, stride: usize) -> Option<Self> {
        match policy {
            PagePolicy::Node(node) => Some(Self::Node(*node)),
            PagePolicy::Interleave(nodes) if nodes.len() > 1 => {
                Some(Self::Interleaved { nodes: nodes.clone(), stride, start: 0 })
            }
            PagePolicy::Interleave(nodes) => nodes.first().map(|&it| Self::Node(it)),
            PagePolicy::FirstTouch => None,
        }
    }

    /// The node of the range's page `page`.
    pub fn node_of(&self, page: usize) -> NodeId {
        match self {
            Self::Node(node) => *node,
            Self::Interleaved { nodes, stride, start } => {
                nodes[(start + page) / stride % nodes.len()]
            }
        }
    }
}

/// Neighbouring pages with one location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageRange {
    /// Address of the first page.
    pub base: usize,
    /// How many pages.
    pub pages: usize,
    /// Where they live.
    pub location: Location,
}

/// Neighbouring pages that are elsewhere than a map says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misplaced {
    /// Address of the first page.
    pub base: usize,
    /// How many pages.
    pub pages: usize,
    /// The node that the map names; `None` when it does not know these pages.
    pub recorded: Option<NodeId>,
    /// The node that they are on; `None` for pages that are nowhere yet.
    pub found: Option<NodeId>,
}
