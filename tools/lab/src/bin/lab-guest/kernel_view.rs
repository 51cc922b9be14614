//! Where the kernel says that pages are, by a way that the database does not use: physical page numbers.
//!
//! The database asks the call `move_pages`. Here the page table of the process (`/proc/self/pagemap`) gives the physical
//! page behind an address, and `/proc/zoneinfo` the node whose memory that page is part of.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use hardware::NodeId;

/// Bytes of an entry of the page table.
const ENTRY: usize = 8;
/// Set in an entry whose page is in memory.
const PRESENT: u64 = 1 << 63;
/// The bits of an entry that hold the number of the physical page.
const NUMBER: u64 = (1 << 55) - 1;
/// Pages read at a time.
const BATCH: usize = 1 << 13;

/// The page table of this process and the physical pages of each node.
pub struct KernelView {
    page_table: File,
    zones: Vec<(Range<u64>, NodeId)>,
}

impl KernelView {
    /// Reads which physical pages each node has.
    pub fn open() -> Result<Self, String> {
        let page_table = File::open("/proc/self/pagemap");
        let page_table = page_table.map_err(|error| format!("/proc/self/pagemap: {error}"))?;
        let text = fs::read_to_string("/proc/zoneinfo");
        let text = text.map_err(|error| format!("/proc/zoneinfo: {error}"))?;
        let zones = zones(&text);
        if zones.is_empty() {
            return Err("/proc/zoneinfo names no memory".to_owned());
        }
        Ok(Self { page_table, zones })
    }

    /// The node of each page from an address on; `None` for a page that has no memory.
    pub fn nodes(
        &self,
        base: usize,
        pages: usize,
        page: usize,
    ) -> Result<Vec<Option<NodeId>>, String> {
        let mut nodes = Vec::with_capacity(pages);
        for first in (0..pages).step_by(BATCH) {
            let count = BATCH.min(pages - first);
            let mut bytes = vec![0; count * ENTRY];
            let at = (base / page + first) * ENTRY;
            self.page_table
                .read_exact_at(&mut bytes, at as u64)
                .map_err(|error| format!("/proc/self/pagemap: {error}"))?;
            for entry in bytes.chunks_exact(ENTRY) {
                let entry = u64::from_le_bytes(entry.try_into().map_err(|_| "half an entry")?);
                nodes.push(self.node_of(entry)?);
            }
        }
        Ok(nodes)
    }

    fn node_of(&self, entry: u64) -> Result<Option<NodeId>, String> {
        if entry & PRESENT == 0 {
            return Ok(None);
        }
        let number = entry & NUMBER;
        let zone = self.zones.iter().find(|(pages, _)| pages.contains(&number));
        match zone {
            Some((_, node)) => Ok(Some(*node)),
            // Whoever may not see the numbers is shown zeros.
            None => Err(format!("the physical page {number} is of no node; are we root?")),
        }
    }
}

/// The physical pages of each zone: sections begin with `Node 0, zone DMA` and have `spanned` and `start_pfn`.
fn zones(text: &str) -> Vec<(Range<u64>, NodeId)> {
    let mut zones = Vec::new();
    let (mut node, mut spanned) = (None, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Node", number, "zone", ..] => {
                node = number.trim_end_matches(',').parse().ok().map(NodeId);
            }
            ["spanned", pages] => spanned = pages.parse().unwrap_or(0),
            ["start_pfn:", start] => {
                let start = start.parse().unwrap_or(0);
                if let (Some(node), 1..) = (node, spanned) {
                    zones.push((start..start + spanned, node));
                }
                spanned = 0;
            }
            _ => {}
        }
    }
    zones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read() {
        let text = "Node 0, zone      DMA\n  pages free     2816\n        spanned  4095\n        present  3998\n  \
                    start_pfn:           1\nNode 0, zone   Normal\n        spanned  0\n  start_pfn:           0\n\
                    Node 1, zone    DMA32\n        spanned  131072\n  start_pfn:           131072\n";
        assert_eq!(zones(text), [(1..4096, NodeId(0)), (131072..262144, NodeId(1))]);
    }

    #[test]
    fn a_page_without_memory_is_nowhere() {
        let zones = vec![(1..10, NodeId(3))];
        let view = KernelView { page_table: File::open("/dev/null").unwrap(), zones };
        assert_eq!(view.node_of(5), Ok(None));
        assert_eq!(view.node_of(PRESENT | 5), Ok(Some(NodeId(3))));
        assert!(view.node_of(PRESENT | 10).is_err());
        assert!(view.nodes(0, 1, 4096).is_err());
    }
}
