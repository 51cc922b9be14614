//! The adaptive strategy (P-HANA 7; docs/design/03-scheduling.md, "the adaptive strategy"): whether a job is bound by
//! memory, learned from its first morsels.
//!
//! A job is bound by memory when all workers of a node, each at the pace seen, would ask for most of what the node's
//! memory gives. While the node is saturated the pace seen is its share of the bandwidth, so the product stays at the
//! top; a job that computes stays well below. Such a job gains from stealing, the other one loses by it: P-HANA measures
//! up to 58 % (6.1.4).

use stdx::Nanos;

/// Morsels that are looked at.
const MORSELS: u64 = 4;
/// Time that they must have taken together: below, clocks and cold caches decide.
const NANOS: u64 = 40_000;
/// The share of a node's bandwidth from which on a job counts as bound by memory.
const SHARE: f64 = 0.6;
/// The bandwidth of a node that nobody has measured and no firmware tells, in MB/s: two channels of DDR4.
pub(crate) const ASSUMED_MB_S: u64 = 40_000;

/// What the first morsels of a job showed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lesson {
    morsels: u64,
    bytes: u64,
    nanos: u64,
}

/// What follows from a lesson.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Verdict {
    /// Bytes per second of one worker.
    pub(crate) bytes_per_second: u64,
    /// Whether the job is bound by memory.
    pub(crate) memory_bound: bool,
}

impl Lesson {
    /// Adds a morsel that ran at home; gives the verdict once there is enough to see. `workers` and `node_mb_s` are those
    /// of the home node.
    pub(crate) fn add(
        &mut self,
        bytes: u64,
        busy: Nanos,
        workers: usize,
        node_mb_s: u64,
    ) -> Option<Verdict> {
        self.morsels += 1;
        self.bytes += bytes;
        self.nanos += busy.0;
        if self.morsels < MORSELS || self.nanos < NANOS {
            return None;
        }
        let bytes_per_second = self.bytes as f64 * 1e9 / self.nanos as f64;
        let wanted = bytes_per_second * workers as f64;
        Some(Verdict {
            bytes_per_second: bytes_per_second as u64,
            memory_bound: wanted >= SHARE * node_mb_s as f64 * 1e6,
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The verdict on morsels of so many bytes and nanoseconds, eight workers on a node of 40 GB/s.
    fn verdict(bytes: u64, nanos: u64) -> Verdict {
        let mut lesson = Lesson::default();
        (0..1000).find_map(|_| lesson.add(bytes, Nanos(nanos), 8, 40_000)).unwrap()
    }

    #[test]
    fn who_would_fill_the_memory_bus_is_bound_by_memory() {
        // 5 GB/s each: eight of them are all the node has.
        let scan = verdict(500_000, 100_000);
        assert_eq!((scan.bytes_per_second, scan.memory_bound), (5_000_000_000, true));
        // 1 GB/s each: eight of them are a fifth.
        assert!(!verdict(100_000, 100_000).memory_bound);
        assert!(verdict(300_000, 100_000).memory_bound, "24 of 40 are the limit");
        assert!(!verdict(0, 100_000).memory_bound, "no bytes at all");
    }

    #[test]
    fn a_verdict_needs_morsels_and_time() {
        let mut lesson = Lesson::default();
        for _ in 0..3 {
            assert_eq!(lesson.add(1 << 20, Nanos(100_000), 1, 40_000), None);
        }
        assert!(lesson.add(1 << 20, Nanos(100_000), 1, 40_000).is_some());
        let mut short = Lesson::default();
        assert!((0..100).all(|_| short.add(10, Nanos(300), 1, 40_000).is_none()));
    }
}
