//! Runs: rows of one group that follow each other. No table is asked and no branch depends on the data; sums of runs
//! are differences of running sums (docs/design/07-measured-costs.md, "runs of groups").

use super::leveled;

leveled! {
    /// Whether no key is less than the one before.
    pub(crate) fn rises[](keys: &[u64]) -> bool {
        let next = keys.get(1..).unwrap_or_default();
        !keys.iter().zip(next).fold(false, |falls, (a, b)| falls | (a > b))
    }
}

/// Numbers the runs of `keys` from `first` on, into `numbers`, and appends their keys to `known`. With `goes_on`, the
/// first rows belong to the run of the last known key if they have it, whose number is `first - 1`.
pub(crate) fn numbers_of_runs(
    keys: &[u64],
    goes_on: bool,
    known: &mut Vec<u64>,
    numbers: &mut Vec<u32>,
) {
    numbers.clear();
    let Some(&head) = keys.first() else { return };
    let fresh = !(goes_on && known.last() == Some(&head));
    let start = known.len() - usize::from(!fresh);
    known.resize(start + keys.len(), 0);
    numbers.resize(keys.len(), 0);
    let (mut last, mut place) = (head, 0);
    let runs = &mut known[start..];
    for (number, &key) in numbers.iter_mut().zip(keys) {
        place += usize::from(key != last);
        runs[place] = key;
        *number = (start + place) as u32;
        last = key;
    }
    known.truncate(start + place + 1);
}

/// Adds values to the sums of runs: `numbers` rise by at most one from row to row, begin at `numbers[0]`, and all but
/// the first of these sums are zero. Additions wrap; the caller has proven that sums fit.
pub(crate) fn add_runs(sums: &mut [i64], numbers: &[u32], values: &[i64]) {
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return };
    let runs = &mut sums[first as usize..last as usize + 1];
    let before = runs[0];
    let mut total = 0i64;
    for (&number, &value) in numbers.iter().zip(values) {
        total = total.wrapping_add(value);
        runs[(number - first) as usize] = total;
    }
    differences(runs, before);
}

/// Adds the lengths of runs to counts; as [`add_runs`] with a one in each row.
pub(crate) fn count_runs(counts: &mut [i64], numbers: &[u32]) {
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return };
    let runs = &mut counts[first as usize..last as usize + 1];
    let before = runs[0];
    for (row, &number) in numbers.iter().enumerate() {
        runs[(number - first) as usize] = row as i64 + 1;
    }
    differences(runs, before);
}

/// From running sums at the ends of runs to the sums of the runs; the first gets what was there before.
fn differences(runs: &mut [i64], before: i64) {
    for place in (1..runs.len()).rev() {
        runs[place] = runs[place].wrapping_sub(runs[place - 1]);
    }
    runs[0] = runs[0].wrapping_add(before);
}
