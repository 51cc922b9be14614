//! Sorted distinct values of many pieces into those of the column.

use stdx::sync::Mutex;
use types::SqlResult;

use crate::Parallel;
use crate::parallel::map;

/// Merges sorted lists of distinct values, two by two, the pairs of a round in parallel. The last round is one merge.
pub(crate) fn merge_sorted<T: Ord + Clone + Send + Sync>(
    parallel: &dyn Parallel,
    mut lists: Vec<Vec<T>>,
) -> SqlResult<Vec<T>> {
    while lists.len() > 1 {
        let pairs = lists.len() / 2;
        let odd = if lists.len() % 2 == 1 { lists.pop() } else { None };
        let input: Vec<Mutex<Vec<T>>> = lists.into_iter().map(Mutex::new).collect();
        let take = |index: usize| std::mem::take(&mut *input[index].lock());
        lists = map(parallel, pairs, |pair| merge_two(take(2 * pair), take(2 * pair + 1)))?;
        lists.extend(odd);
    }
    Ok(lists.pop().unwrap_or_default())
}

fn merge_two<T: Ord + Clone>(a: Vec<T>, b: Vec<T>) -> Vec<T> {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() { b } else { a };
    }
    let mut merged = Vec::with_capacity(a.len().max(b.len()));
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => {
                merged.push(a[i].clone());
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                merged.push(b[j].clone());
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                merged.push(a[i].clone());
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    #[test]
    fn lists_merge_without_duplicates() {
        let lists = vec![vec![1, 4, 9], vec![], vec![1, 2], vec![9, 10], vec![0]];
        assert_eq!(merge_sorted(&Serial, lists).unwrap(), [0, 1, 2, 4, 9, 10]);
        assert!(merge_sorted(&Serial, Vec::<Vec<u8>>::new()).unwrap().is_empty());
    }
}
