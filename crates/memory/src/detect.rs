//! From the node of every page to ranges: neighbours on one node collapse, and recurring deals become patterns.

use hardware::NodeId;

use crate::location::Location;

/// Some of the asked pages, and where they live.
pub(crate) struct Run {
    pub(crate) first: usize,
    pub(crate) pages: usize,
    pub(crate) location: Location,
}

/// Collapses the answer of the page query. A pattern is believed when two whole rounds of it are seen; its turns have
/// equal length, and only the last may be cut short.
pub(crate) fn detect_runs(nodes: &[Option<NodeId>]) -> Vec<Run> {
    let mut turns: Vec<(usize, usize, Option<NodeId>)> = Vec::new();
    for (page, &node) in nodes.iter().enumerate() {
        match turns.last_mut() {
            Some((_, pages, last)) if *last == node => *pages += 1,
            _ => turns.push((page, 1, node)),
        }
    }
    let mut runs = Vec::new();
    let mut at = 0;
    while at < turns.len() {
        let (first, pages, node) = turns[at];
        let Some(node) = node else {
            at += 1;
            continue;
        };
        let (period, length) = pattern(&turns[at..]);
        if length >= 2 * period && period > 1 {
            let deal = turns[at..at + period].iter().filter_map(|it| it.2).collect();
            let covered = turns[at..at + length].iter().map(|it| it.1).sum();
            let location = Location::Interleaved { nodes: deal, stride: pages, start: 0 };
            runs.push(Run { first, pages: covered, location });
            at += length;
        } else {
            runs.push(Run { first, pages, location: Location::Node(node) });
            at += 1;
        }
    }
    runs
}

/// The period of the deal that begins with the first turn, and how many turns follow it.
fn pattern(turns: &[(usize, usize, Option<NodeId>)]) -> (usize, usize) {
    let stride = turns[0].1;
    let same = |index: usize| turns[index].1 == stride && turns[index].2.is_some();
    let mut period = 1;
    while period < turns.len() && same(period) && turns[period].2 != turns[0].2 {
        // Each node has one turn in a round; a second one means that this is no deal.
        if turns[..period].iter().any(|it| it.2 == turns[period].2) {
            return (1, 1);
        }
        period += 1;
    }
    let mut length = period;
    while length < turns.len() && turns[length].2 == turns[length - period].2 {
        if turns[length].1 > stride {
            break;
        }
        length += 1;
        if turns[length - 1].1 < stride {
            break;
        }
    }
    (period, length)
}
