//! The concurrency hint (P-HANA 5.1 and 5.2, after what it cites as 28): how far a pipeline fans out, by its size and by how many
//! queries run beside it.
//!
//! Alone, a pipeline takes every worker. Beside others it takes twice its share: the order of service hands workers
//! from query to query anyway, so all that a small team costs is idle workers when a query pauses, and twice the share
//! leaves none idle. What it saves is queries that get in each other's way in the caches.

/// Rows up to which a pipeline runs on the calling worker: about 100 us at most, and waking a worker costs 80.
const INLINE_ROWS: u64 = 4096;
/// Bytes up to which a pipeline whose rows have one home stays there: about 100 us of one node's bandwidth.
const ONE_NODE_BYTES: u64 = 4 << 20;

/// What is known of a pipeline before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PipelineSize {
    /// Rows of its source.
    pub rows: u64,
    /// Bytes that its source reads; zero when not known.
    pub bytes: u64,
    /// Morsels that it is cut into.
    pub morsels: u64,
    /// Whether its rows are counted one by one, and not in batches.
    pub in_rows: bool,
    /// Nodes that its rows have their homes on; zero when they have none.
    pub homes: usize,
}

/// How far a pipeline fans out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FanOut {
    /// Whether it runs on the calling worker alone.
    pub inline: bool,
    /// Whether it stays on one node: its home, or where most of its bytes are if it has none.
    pub one_node: bool,
    /// The most workers that it may have at a time.
    pub max_workers: usize,
}

/// The hint for a pipeline, on `workers` workers with `running` queries, itself among them.
pub fn fan_out(size: PipelineSize, workers: usize, running: usize) -> FanOut {
    let share = (2 * workers).div_ceil(running.max(1)).clamp(1, workers.max(1));
    let morsels = usize::try_from(size.morsels).unwrap_or(usize::MAX);
    let small = size.bytes > 0 && size.bytes <= ONE_NODE_BYTES;
    FanOut {
        // Few rows in many parts, as those of a table that changes, are few all the same.
        inline: size.rows <= INLINE_ROWS && (size.morsels <= 1 || size.in_rows && size.homes < 2),
        // Rows that were placed on several nodes are read there, unless that is less than to wake somebody.
        one_node: small && (size.homes < 2 || size.rows <= INLINE_ROWS),
        max_workers: share.min(morsels.max(1)),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn size(rows: u64, bytes: u64) -> PipelineSize {
        PipelineSize { rows, bytes, morsels: rows.div_ceil(65_536), in_rows: true, homes: 1 }
    }

    #[test]
    fn tiny_pipelines_stay_with_their_caller_and_small_ones_on_a_node() {
        assert!(fan_out(size(0, 0), 8, 1).inline);
        assert!(fan_out(size(4096, 40_000), 8, 1).inline);
        assert!(!fan_out(size(4097, 40_000), 8, 1).inline);
        let parts = |in_rows, homes| PipelineSize { morsels: 9, in_rows, homes, ..size(9, 70) };
        assert!(fan_out(parts(true, 1), 8, 1).inline && !fan_out(parts(true, 2), 8, 1).inline);
        assert!(!fan_out(parts(false, 1), 8, 1).inline, "nine batches may be many rows");
        let small = fan_out(size(1 << 20, 4 << 20), 64, 1);
        assert_eq!((small.one_node, small.max_workers), (true, 16));
        assert!(!fan_out(size(1 << 24, 64 << 20), 64, 1).one_node);
        assert!(!fan_out(size(1 << 24, 0), 64, 1).one_node, "unknown is not small");
    }

    #[test]
    fn rows_on_several_nodes_are_read_there() {
        let on = |homes, rows| fan_out(PipelineSize { homes, ..size(rows, 1 << 20) }, 64, 1);
        assert!(on(0, 1 << 18).one_node && on(1, 1 << 18).one_node);
        assert!(!on(4, 1 << 18).one_node);
        assert!(on(4, 4096).one_node, "a few rows are not worth a worker each");
    }

    #[test]
    fn many_queries_share_the_workers_and_none_stays_idle() {
        let large = size(1 << 30, 1 << 32);
        let most = |running| fan_out(large, 64, running).max_workers;
        assert_eq!([0, 1, 2, 4, 32, 64, 128, 1024].map(most), [64, 64, 64, 32, 4, 2, 1, 1]);
        for running in 1..200 {
            assert!(most(running) * running >= 64, "{running} queries fill the machine");
        }
        assert_eq!(fan_out(large, 0, 5).max_workers, 1);
    }
}
