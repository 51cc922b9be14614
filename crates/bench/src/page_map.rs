//! How long a look into a page-socket map takes: schedulers and operators ask it for the node of a row.

use std::hint::black_box;

use hardware::{Machine, NodeId};
use memory::{Location, PageRange, PageSocketMap};
use stdx::Prng;

/// Far more ranges than a column has: IVP over 32 nodes makes 32.
pub const RANGES: usize = 10_000;
const LOOKUPS: usize = 1 << 20;
/// Pages of a range, and from the beginning of one to that of the next.
const PAGES: usize = 2000;
const STEP_PAGES: usize = 2048;

/// Nanoseconds of a lookup at random in a map of [`RANGES`] ranges; every other range is dealt round two nodes.
pub fn lookup_ns(machine: &dyn Machine) -> f64 {
    let page = machine.page_bytes();
    let range = |it: usize| {
        let node = NodeId((it % 8) as u16);
        let location = match it % 2 {
            0 => Location::Node(node),
            _ => Location::Interleaved { nodes: vec![node, NodeId(9)], stride: 512, start: 0 },
        };
        PageRange { base: it * STEP_PAGES * page, pages: PAGES, location }
    };
    let mut map = PageSocketMap::new(page);
    map.insert_all((0..RANGES).map(range));
    let mut prng = Prng::new(1);
    let end = (RANGES * STEP_PAGES * page) as u64;
    let asked: Vec<usize> = (0..LOOKUPS).map(|_| prng.below(end) as usize).collect();
    let started = machine.now();
    let known = asked.iter().filter(|it| black_box(map.node_of(**it)).is_some()).count();
    let time = machine.now() - started;
    // The gaps between the ranges are 48 of 2,048 pages.
    assert!(known > LOOKUPS * 9 / 10 && known < LOOKUPS, "{known} of {LOOKUPS} were found");
    time.0 as f64 / LOOKUPS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_answers() {
        assert!(lookup_ns(&*hardware_linux::open()) > 0.0);
    }
}
