//! Pairs that nobody counts are not made, and all others are.

use crate::common::{
    Builder, Column, aggregate, all, compare, equal, group, join, joins_of, keys_of,
};
use plan::relation::{Rel, RelJoin};
use plan::{AggregateFunction, BinaryOperator};
use types::DataType;

const KEY: Column = Column(DataType::Integer, false, 100);
const VALUE: Column = Column(DataType::Integer, true, 10);

/// t JOIN u ON t.c0 = u.c0, ten rows of each side for a key; the attributes of the first columns.
fn pairs(b: &mut Builder) -> (Rel, usize, usize) {
    let (t, a) = b.table(1000, &[KEY, VALUE]);
    let (u, c) = b.table(1000, &[KEY, VALUE]);
    let on = vec![equal(b.column(a), b.column(c))];
    (join(RelJoin::Inner, t, u, on), a, c)
}

#[test]
fn distinct_rows_of_one_side_need_no_pairs() {
    let mut b = Builder::default();
    let (joined, a, _) = pairs(&mut b);
    let key = (a + 1, b.column(a + 1));
    let rel = b.optimised(group(joined, vec![key], Vec::new()), &[a + 1]);
    assert_eq!(joins_of(&rel), [RelJoin::Semi]);
}

#[test]
fn what_is_counted_or_of_both_sides_stays() {
    for count in [true, false] {
        let mut b = Builder::default();
        let (joined, a, c) = pairs(&mut b);
        let n = b.attr(DataType::BigInt);
        let (keys, aggregates) = match count {
            true => {
                let sum = aggregate(AggregateFunction::Sum, Some(b.column(a + 1)));
                (vec![(a, b.column(a))], vec![(n, sum)])
            }
            false => (vec![(a + 1, b.column(a + 1)), (c + 1, b.column(c + 1))], Vec::new()),
        };
        let wanted: Vec<usize> = keys.iter().map(|it| it.0).chain(count.then_some(n)).collect();
        let rel = b.optimised(group(joined, keys, aggregates), &wanted);
        assert!(!joins_of(&rel).contains(&RelJoin::Semi), "{rel:?}");
    }
}

#[test]
fn the_right_of_a_semi_join_needs_no_pairs_and_an_inequality_asks_extremes() {
    let mut b = Builder::default();
    let (outer, o) = b.table(50, &[KEY]);
    let (joined, a, c) = pairs(&mut b);
    let other = compare(BinaryOperator::NotEqual, b.column(a + 1), b.column(c + 1));
    let on = vec![equal(b.column(o), b.column(a))];
    let rel = b.optimised(join(RelJoin::Semi, outer, joined.filtered(vec![other]), on), &[o]);
    assert_eq!(joins_of(&rel), [RelJoin::Semi; 2]);
    assert_eq!(keys_of(&rel).len(), 1, "{rel:?}");
}

#[test]
fn a_single_partner_is_joined_as_before() {
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[KEY, VALUE]);
    let (u, c) = b.table(100, &[KEY, VALUE]);
    let joined = join(RelJoin::Inner, t, u, vec![equal(b.column(a), b.column(c))]);
    let key = (a + 1, b.column(a + 1));
    let rel = b.optimised(group(joined, vec![key], Vec::new()), &[a + 1]);
    assert_eq!(joins_of(&rel), [RelJoin::Inner]);
}

#[test]
fn what_nobody_wants_is_not_computed() {
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[KEY, VALUE]);
    let (n, m) = (b.attr(DataType::BigInt), b.attr(DataType::Integer));
    let sum = aggregate(AggregateFunction::Sum, Some(b.column(a + 1)));
    let max = aggregate(AggregateFunction::Max, Some(b.column(a + 1)));
    let root = group(t, vec![(a, b.column(a))], vec![(n, sum), (m, max)]);
    let rel = b.optimised(root, &[a, m]);
    let kept = all(&rel).into_iter().find_map(|it| match it {
        Rel::Aggregate { aggregates, .. } => Some(aggregates.iter().map(|it| it.0).collect()),
        _ => None,
    });
    assert_eq!(kept, Some(vec![m]));
}
