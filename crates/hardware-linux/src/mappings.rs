//! What was mapped and where each byte was asked to live: the answer to `locate` where the kernel forbids the question,
//! and the proof that a mapping handed back is one of ours.

use std::collections::BTreeMap;
use std::ops::Range;

use hardware::{NodeId, PagePolicy};

use crate::kernel::HUGE_BYTES;

/// The mappings of one machine by address.
#[derive(Debug, Default)]
pub struct Mappings {
    by_base: BTreeMap<usize, Entry>,
    /// Bytes of all mappings.
    pub total_bytes: u64,
}

#[derive(Debug)]
struct Entry {
    bytes: usize,
    /// Ranges relative to the base with their policy; a later one hides an earlier one.
    asked: Vec<(Range<usize>, PagePolicy)>,
}

impl Mappings {
    /// Enters a new mapping.
    pub fn insert(&mut self, base: usize, bytes: usize, policy: &PagePolicy) {
        let entry = Entry { bytes, asked: vec![(0..bytes, policy.clone())] };
        let before = self.by_base.insert(base, entry);
        assert!(before.is_none(), "invariant: the kernel maps an address once");
        self.total_bytes += bytes as u64;
    }

    /// Removes a mapping; false when there is none with that base and length.
    pub fn remove(&mut self, base: usize, bytes: usize) -> bool {
        let known = self.by_base.get(&base).is_some_and(|it| it.bytes == bytes);
        if known {
            self.by_base.remove(&base);
            self.total_bytes -= bytes as u64;
        }
        known
    }

    /// Whether the range lies in one mapping.
    pub fn contains(&self, start: usize, bytes: usize) -> bool {
        self.find(start, bytes).is_some()
    }

    fn find(&self, start: usize, bytes: usize) -> Option<(usize, &Entry)> {
        let (&base, entry) = self.by_base.range(..=start).next_back()?;
        let end = start.checked_add(bytes)?;
        (end <= base + entry.bytes).then_some((base, entry))
    }

    /// Notes a new policy for a range that [`Mappings::contains`].
    pub fn ask(&mut self, start: usize, bytes: usize, policy: &PagePolicy) {
        let Some((&base, entry)) = self.by_base.range_mut(..=start).next_back() else { return };
        let range = start - base..start - base + bytes;
        entry.asked.retain(|(it, _)| it.start < range.start || it.end > range.end);
        entry.asked.push((range, policy.clone()));
    }

    /// The node that was asked for, page by page; `None` for first touch and outside of every mapping.
    pub fn asked(&self, start: usize, pages: usize, page: usize) -> Vec<Option<NodeId>> {
        let Some((base, entry)) = self.find(start, pages * page) else { return vec![None; pages] };
        let mut nodes = vec![None; pages];
        for (range, policy) in &entry.asked {
            for (at, node) in nodes.iter_mut().enumerate() {
                let offset = start - base + at * page;
                if range.contains(&offset) {
                    *node = dealt(policy, offset - range.start, range.len(), page);
                }
            }
        }
        nodes
    }
}

/// Rounds of huge pages that a range must fill to be dealt in huge pages: then no node has more than a quarter more of it
/// than another. By single pages a dictionary of 2 MiB lies on all nodes, not on the first (P-HANA 4.2).
const HUGE_ROUNDS: usize = 4;

/// The unit in which a range is dealt round some nodes.
pub fn interleave_unit(bytes: usize, nodes: usize, page: usize) -> usize {
    if nodes < 2 || bytes / HUGE_BYTES / HUGE_ROUNDS >= nodes { HUGE_BYTES } else { page }
}

/// Whether a range must not be backed by huge pages, as it is dealt page by page.
pub fn is_dealt_by_pages(policy: &PagePolicy, bytes: usize, page: usize) -> bool {
    matches!(policy, PagePolicy::Interleave(nodes) if interleave_unit(bytes, nodes.len(), page) == page)
}

/// The node that a policy gives the page at `offset` of a range of `bytes`.
pub fn dealt(policy: &PagePolicy, offset: usize, bytes: usize, page: usize) -> Option<NodeId> {
    match policy {
        PagePolicy::Node(node) => Some(*node),
        PagePolicy::Interleave(nodes) if !nodes.is_empty() => {
            Some(nodes[offset / interleave_unit(bytes, nodes.len(), page) % nodes.len()])
        }
        PagePolicy::Interleave(_) | PagePolicy::FirstTouch => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_policy_asked_for_is_the_answer() {
        let mut mappings = Mappings::default();
        let base = 8 * HUGE_BYTES;
        mappings.insert(base, 8 * 4096, &PagePolicy::Node(NodeId(1)));
        mappings.ask(base + 4096, 4 * 4096, &PagePolicy::Interleave(vec![NodeId(2), NodeId(0)]));
        mappings.ask(base + 2 * 4096, 4096, &PagePolicy::FirstTouch);
        let numbers: Vec<Option<u16>> =
            mappings.asked(base, 8, 4096).iter().map(|it| it.map(|node| node.0)).collect();
        let (one, two, zero) = (Some(1), Some(2), Some(0));
        assert_eq!(numbers, [one, two, None, two, zero, one, one, one]);
        mappings.ask(base, 8 * 4096, &PagePolicy::Node(NodeId(3)));
        assert_eq!(mappings.asked(base, 8, 4096), [Some(NodeId(3)); 8]);
        assert_eq!(mappings.by_base[&base].asked.len(), 1, "hidden policies are forgotten");
        assert_eq!(mappings.asked(base + 4096, 8, 4096), [None; 8], "past the end");
        assert_eq!(mappings.asked(0, 1, 4096), [None]);
    }

    #[test]
    fn only_whole_mappings_are_removed() {
        let mut mappings = Mappings::default();
        mappings.insert(4096, 8192, &PagePolicy::FirstTouch);
        assert!(mappings.contains(8192, 4096) && !mappings.contains(8192, 8192));
        assert!(!mappings.contains(0, 4096) && !mappings.contains(8192, usize::MAX));
        assert!(!mappings.remove(4096, 4096) && !mappings.remove(8192, 4096));
        assert!(mappings.remove(4096, 8192) && !mappings.remove(4096, 8192));
        assert_eq!(mappings.total_bytes, 0);
    }

    #[test]
    fn long_ranges_are_dealt_in_huge_pages_and_others_evenly() {
        let policy = PagePolicy::Interleave(vec![NodeId(0), NodeId(4)]);
        let node = |bytes, offset| dealt(&policy, offset, bytes, 4096).unwrap().0;
        let ends = |bytes| [0, 4096, HUGE_BYTES, 2 * HUGE_BYTES].map(|offset| node(bytes, offset));
        assert_eq!(ends(8 * HUGE_BYTES), [0, 0, 4, 0]);
        assert_eq!(ends(8 * HUGE_BYTES - 4096), [0, 4, 0, 0]);
        assert!(is_dealt_by_pages(&policy, 7 * HUGE_BYTES, 4096));
        let one = PagePolicy::Interleave(vec![NodeId(4)]);
        assert!(!is_dealt_by_pages(&one, HUGE_BYTES, 4096));
        assert_eq!(dealt(&PagePolicy::Interleave(vec![]), 0, 4096, 4096), None);
    }
}
