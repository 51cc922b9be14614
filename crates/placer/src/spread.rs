//! Which rows change their node when an item that is split evenly over some nodes is split over others (IVP, P-HANA 4.2).

/// The parts of all rows that move, by node before and after; the nodes as any numbers.
pub(crate) fn moved(from: &[usize], to: &[usize]) -> Vec<(usize, usize, f64)> {
    let mut copies: Vec<(usize, usize, f64)> = Vec::new();
    let (rows, mut start, mut old, mut new) = (from.len() * to.len(), 0, 0, 0);
    while start < rows {
        // In units of which an old stretch has as many as there are new nodes, and the other way round.
        let end = ((old + 1) * to.len()).min((new + 1) * from.len());
        if from[old] != to[new] {
            copies.push((from[old], to[new], (end - start) as f64 / rows as f64));
        }
        old += usize::from(end == (old + 1) * to.len());
        new += usize::from(end == (new + 1) * from.len());
        start = end;
    }
    copies
}

/// Some nodes and one more, at the place where the fewest rows move.
pub(crate) fn widened(from: &[usize], more: usize) -> Vec<usize> {
    let at = |place: usize| {
        let mut to = from.to_vec();
        to.insert(place, more);
        to
    };
    let share = |to: &Vec<usize>| moved(from, to).iter().map(|it| it.2).sum::<f64>();
    let all = (0..=from.len()).map(at);
    all.min_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_rows_that_change_their_node_are_copied() {
        assert_eq!(moved(&[0], &[0, 1]), [(0, 1, 0.5)]);
        assert_eq!(moved(&[0, 1], &[3, 1]), [(0, 3, 0.5)]);
        assert_eq!(moved(&[2, 0], &[2, 0]), []);
        assert_eq!(moved(&[0, 1], &[0]), [(1, 0, 0.5)]);
        let third: f64 = moved(&[0, 1], &[0, 2, 1]).iter().map(|it| it.2).sum();
        assert!((third - 1.0 / 3.0).abs() < 1e-9, "the middle third alone");
    }

    #[test]
    fn one_more_node_takes_its_rows_from_the_middle() {
        assert_eq!(widened(&[0, 1], 2), [0, 2, 1]);
        assert_eq!(widened(&[], 2), [2]);
    }

    proptest! {
        #[test]
        fn no_more_than_all_rows_move(from in 1_usize..9, to in 1_usize..9) {
            let (from, to): (Vec<usize>, Vec<usize>) = ((0..from).collect(), (3..3 + to).collect());
            let share: f64 = moved(&from, &to).iter().map(|it| it.2).sum();
            prop_assert!((0.0..=1.0 + 1e-9).contains(&share));
        }
    }
}
