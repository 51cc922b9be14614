//! The concurrency hint (P-HANA 3 and 5.2): how many tasks an operation is cut into, so that few statements use the
//! whole machine and many do not pay for tasks that nobody is free to run.

/// The tasks that an operation should make: the hardware threads there are for each running statement, rounded up.
pub fn concurrency_hint(hardware_threads: usize, running_statements: usize) -> usize {
    hardware_threads.div_ceil(running_statements.max(1)).max(1)
}

/// Tasks of a scan over `parts` ranges that each lie on a node: the hint rounded up to a multiple of the parts, so that no
/// task reads from two.
pub fn scan_tasks(hint: usize, parts: usize) -> usize {
    hint.max(1).next_multiple_of(parts.max(1))
}

/// Deals tasks to parts by weight: at least one to each part that weighs anything, and otherwise no more than `hint`.
pub fn weighted_tasks(hint: usize, weights: &[u64]) -> Vec<usize> {
    let total: u128 = weights.iter().map(|&it| u128::from(it)).sum();
    let share = |&weight: &u64| match weight {
        0 => 0,
        _ => ((u128::from(weight) * hint as u128 / total) as usize).max(1),
    };
    weights.iter().map(share).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn few_statements_spread_and_many_do_not() {
        assert_eq!(concurrency_hint(120, 0), 120);
        assert_eq!(concurrency_hint(120, 1), 120);
        assert_eq!(concurrency_hint(120, 7), 18);
        assert_eq!(concurrency_hint(120, 1024), 1);
        assert_eq!(concurrency_hint(0, 5), 1);
    }

    #[test]
    fn scans_never_cut_across_parts() {
        assert_eq!(scan_tasks(1, 1), 1);
        assert_eq!(scan_tasks(1, 4), 4);
        assert_eq!(scan_tasks(17, 4), 20);
        assert_eq!(scan_tasks(0, 0), 1);
    }

    #[test]
    fn tasks_follow_weights_and_no_part_goes_without() {
        assert_eq!(weighted_tasks(8, &[100, 100, 0, 200]), [2, 2, 0, 4]);
        assert_eq!(weighted_tasks(1, &[1, 1_000_000, 1]), [1, 1, 1]);
        assert_eq!(weighted_tasks(4, &[]), [] as [usize; 0]);
        assert_eq!(weighted_tasks(4, &[0, 0]), [0, 0]);
        assert_eq!(weighted_tasks(10, &[u64::MAX, u64::MAX]), [5, 5]);
    }
}
