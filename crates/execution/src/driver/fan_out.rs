//! How many workers a job gets, of which nodes, and with whom it shares what it reads: what the concurrency hint and the
//! policy say of its size.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hardware::NodeId;
use scheduler::hint::{FanOut, PipelineSize, fan_out};
use scheduler::{Affinity, MorselRange, Policy, ScanSharing};
use stdx::sync::atomic::Ordering;

use crate::QueryContext;

/// How a job of so many morsels, whose rows are counted one by one or in batches, is run that reads so many bytes of each node,
/// and whether on the calling thread.
pub(super) fn fanned_out(
    ranges: &[MorselRange],
    (morsels, in_rows): (u64, bool),
    bytes: &[(NodeId, u64)],
    policy: &Policy,
    context: &QueryContext,
) -> (Policy, bool) {
    let rows = ranges.iter().map(|it| it.end - it.start).sum();
    let homes = homes(ranges);
    let all = bytes.iter().map(|it| it.1).sum();
    let size = PipelineSize { rows, bytes: all, morsels, in_rows, homes: homes.len() };
    let workers = context.scheduler.workers();
    let running = context.control.running.load(Ordering::Relaxed);
    let FanOut { inline, one_node, max_workers } = fan_out(size, workers, running);
    let mut policy = policy.clone();
    if max_workers < workers.min(usize::try_from(morsels).unwrap_or(usize::MAX)) {
        policy.max_workers = Some(policy.max_workers.map_or(max_workers, |it| it.min(max_workers)));
    }
    if one_node && policy.nodes.is_empty() && policy.affinity != Affinity::None {
        let most = || bytes.iter().max_by_key(|it| it.1).map(|it| it.0);
        policy.nodes.extend(homes.first().copied().or_else(most));
    }
    (policy, inline)
}

/// The nodes that are home to more than a few of the rows, most first: to a sixteenth of what the fullest home has. Measured
/// by all rows nobody would be home to a table in as many equal parts as there are nodes.
fn homes(ranges: &[MorselRange]) -> Vec<NodeId> {
    let mut sums: BTreeMap<Option<NodeId>, u64> = BTreeMap::new();
    for range in ranges {
        *sums.entry(range.node).or_default() += range.end - range.start;
    }
    let most = sums.values().copied().max().unwrap_or_default();
    let homes = sums.into_iter().filter_map(|(node, rows)| node.map(|it| (it, rows)));
    let mut homes: Vec<(NodeId, u64)> = homes.filter(|it| it.1 * 16 > most).collect();
    homes.sort_by_key(|it| Reverse(it.1));
    homes.into_iter().map(|it| it.0).collect()
}

/// What a job that reads so many bytes of some memory shares with others, if it shares.
pub(super) fn shared(
    reads: Option<(u64, u64)>,
    policy: &Policy,
    context: &QueryContext,
) -> Option<u64> {
    // Who limits the workers of a statement means those that come for others, too.
    let alone = policy.max_workers.is_some();
    let reads = reads.filter(|it| match policy.sharing {
        ScanSharing::Off => false,
        ScanSharing::Auto => !alone && it.1 > cache_bytes(context),
        ScanSharing::On => !alone,
    });
    reads.map(|it| it.0)
}

/// What is taken for half of a last-level cache whose size the machine does not tell.
const CACHE_ASSUMED: u64 = 16 << 20;

/// Bytes up to which what one query has read is still in a cache when the next one reads it: half of the last-level cache.
fn cache_bytes(context: &QueryContext) -> u64 {
    match context.machine.topology().llc_bytes.0 {
        0 => CACHE_ASSUMED,
        bytes => bytes / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(rows: &[(Option<u16>, u64)]) -> Vec<MorselRange> {
        let range = |&(node, rows): &(Option<u16>, u64)| MorselRange {
            node: node.map(NodeId),
            start: 0,
            end: rows,
        };
        rows.iter().map(range).collect()
    }

    #[test]
    fn equal_parts_have_homes_however_many_they_are() {
        for nodes in [1, 4, 16, 17, 64] {
            let parts: Vec<_> = (0..nodes).map(|node| (Some(node), 12_500)).collect();
            assert_eq!(homes(&ranges(&parts)).len(), usize::from(nodes));
        }
    }

    #[test]
    fn a_few_rows_elsewhere_are_no_home() {
        let most = [(Some(1), 5), (Some(3), 1000), (Some(2), 70), (None, 900)];
        assert_eq!(homes(&ranges(&most)), [NodeId(3), NodeId(2)]);
        assert!(homes(&ranges(&[(None, 1000), (Some(2), 60)])).is_empty());
        assert!(homes(&[]).is_empty());
    }
}
