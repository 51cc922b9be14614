//! What rewrites must leave alone: repeated keys, rows that outer joins extend by NULL, volatile and fallible expressions.
//! Each test fails without the guard that it names.

use crate::common::{
    Builder, Column, aggregate, all, arithmetic, compare, equal, filters_of, group, in_list,
    is_null, join, joins_of, keys_of, not_zero, number, quotient, random,
};
use plan::properties::is_volatile;
use plan::relation::{Rel, RelJoin};
use plan::{AggregateFunction, BinaryOperator, Expr, SortKey};
use types::{DataType, Value};

const KEY: Column = Column(DataType::Integer, false, 100);
const VALUE: Column = Column(DataType::Integer, true, 10);
const FLOAT: Column = Column(DataType::Double, false, 100);

fn count() -> plan::Aggregate {
    aggregate(AggregateFunction::Count, None)
}

fn sort(input: Rel, keys: Vec<Expr>) -> Rel {
    let key = |expr| SortKey { expr, descending: false, nulls_first: false };
    let keys = keys.into_iter().map(key).collect();
    Rel::Sort { input: Box::new(input), partition: Vec::new(), keys, offset: 0, limit: None }
}

fn sort_keys(rel: &Rel) -> usize {
    let found = all(rel).into_iter().find_map(|it| match it {
        Rel::Sort { keys, .. } => Some(keys.len()),
        _ => None,
    });
    found.expect("the rows are in order")
}

#[test]
fn repeated_group_keys_are_grouped_by_once() {
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[VALUE]);
    let plus = arithmetic(BinaryOperator::Add, b.column(a), number(1));
    let (x, y, n) = (b.attr(plus.data_type), b.attr(plus.data_type), b.attr(DataType::BigInt));
    let keys = vec![(a, b.column(a)), (x, plus.clone()), (a, b.column(a)), (y, plus)];
    let root = group(t, keys, vec![(n, count())]);
    let rel = b.optimised(root, &[a, x, y, n]);
    let mut named: Vec<usize> = keys_of(&rel).iter().map(|it| it.0).collect();
    named.dedup();
    assert_eq!(named.len(), keys_of(&rel).len(), "no attribute twice");
    assert!(keys_of(&rel).len() <= 2, "{rel:?}");
    assert!(rel.attrs().contains(y), "the repeated key is still there");
}

/// t LEFT / FULL JOIN (SELECT u.*, 1 AS one FROM u) ON t.c0 = u.c0: the join, t's base, u's base and `one`.
fn extended(b: &mut Builder, kind: RelJoin) -> (Rel, usize, usize, usize) {
    let (t, a) = b.table(1000, &[VALUE, VALUE]);
    let (u, c) = b.table(100, &[KEY, VALUE]);
    let (u, one) = b.with(u, number(1));
    let on = equal(b.column(a), b.column(c));
    (join(kind, t, u, vec![on]), a, c, one)
}

#[test]
fn a_constant_is_none_above_an_outer_join() {
    for kind in [RelJoin::Left, RelJoin::Full] {
        let mut b = Builder::default();
        let (rel, a, _, one) = extended(&mut b, kind);
        let n = b.attr(DataType::BigInt);
        let keys = vec![(a + 1, b.column(a + 1)), (one, b.column(one))];
        let rel = b.optimised(group(rel, keys, vec![(n, count())]), &[a + 1, one, n]);
        assert_eq!(keys_of(&rel).len(), 2, "{kind:?}");

        let mut b = Builder::default();
        let (rel, a, _, one) = extended(&mut b, kind);
        let keys = vec![b.column(one), b.column(a)];
        let rel = b.optimised(sort(rel, keys), &[one, a]);
        assert_eq!(sort_keys(&rel), 2, "{kind:?}");
    }
    // An inner join extends nothing.
    let mut b = Builder::default();
    let (rel, a, _, one) = extended(&mut b, RelJoin::Inner);
    let n = b.attr(DataType::BigInt);
    let keys = vec![(a + 1, b.column(a + 1)), (one, b.column(one))];
    let rel = b.optimised(group(rel, keys, vec![(n, count())]), &[a + 1, one, n]);
    assert_eq!(keys_of(&rel).len(), 1);
}

#[test]
fn a_key_that_is_never_null_determines_above_an_outer_join() {
    // u.c0 is a key without NULL: where it is NULL, the whole row is extended.
    let mut b = Builder::default();
    let (rel, _, c, _) = extended(&mut b, RelJoin::Left);
    let n = b.attr(DataType::BigInt);
    let keys = vec![(c, b.column(c)), (c + 1, b.column(c + 1))];
    let rel = b.optimised(group(rel, keys, vec![(n, count())]), &[c, c + 1, n]);
    assert_eq!(keys_of(&rel).iter().map(|it| it.0).collect::<Vec<_>>(), [c]);
    // What follows from a column with NULLs does not follow any more.
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[VALUE]);
    let (u, c) = b.table(1000, &[VALUE, VALUE]);
    let absent = is_null(b.column(c + 1));
    let (u, flag) = b.with(u, absent);
    let on = equal(b.column(a), b.column(c));
    let n = b.attr(DataType::BigInt);
    let keys = vec![(c + 1, b.column(c + 1)), (flag, b.column(flag))];
    let rel = group(join(RelJoin::Left, t, u, vec![on]), keys, vec![(n, count())]);
    assert_eq!(keys_of(&b.optimised(rel, &[c + 1, flag, n])).len(), 2);
}

#[test]
fn volatile_keys_stay() {
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[VALUE]);
    let (t, r) = b.with(t, random());
    let n = b.attr(DataType::BigInt);
    let keys = vec![(a, b.column(a)), (r, b.column(r))];
    let rel = b.optimised(group(t, keys, vec![(n, count())]), &[a, r, n]);
    assert_eq!(keys_of(&rel).len(), 2);

    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[KEY]);
    let (r, n) = (b.attr(DataType::Double), b.attr(DataType::BigInt));
    let keys = vec![(a, b.column(a)), (r, random())];
    assert_eq!(keys_of(&b.optimised(group(t, keys, vec![(n, count())]), &[a, r, n])).len(), 2);

    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[KEY]);
    let (t, r) = b.with(t, random());
    let times = arithmetic(BinaryOperator::Multiply, random(), b.column(a));
    let keys = vec![b.column(a), b.column(r), times];
    assert_eq!(sort_keys(&b.optimised(sort(t, keys), &[a, r])), 3);
}

#[test]
fn volatile_predicates_are_tested_where_they_stand() {
    let below = |b: &Builder, attr| compare(BinaryOperator::Less, random(), b.column(attr));
    // On a computed column: it is not computed anew.
    let mut b = Builder::default();
    let (t, _) = b.table(1000, &[FLOAT]);
    let (t, r) = b.with(t, random());
    let half = Expr::literal(Value::Float(0.5), DataType::Double);
    let condition = compare(BinaryOperator::Less, b.column(r), half);
    let rel = b.optimised(t.filtered(vec![condition]), &[r]);
    let volatile = all(&rel).into_iter().flat_map(Rel::expressions).filter(|it| is_volatile(it));
    assert_eq!(volatile.count(), 1);
    // Over a join and over groups: once for each of their rows.
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[FLOAT, VALUE]);
    let (u, c) = b.table(1000, &[VALUE]);
    let on = vec![equal(b.column(a + 1), b.column(c)), below(&b, a)];
    let rel = b.optimised(join(RelJoin::Inner, t, u, on), &[a]);
    assert!(matches!(rel, Rel::Filter { .. }), "{rel:?}");
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[FLOAT]);
    let n = b.attr(DataType::BigInt);
    let condition = below(&b, a);
    let rel = group(t, vec![(a, b.column(a))], vec![(n, count())]).filtered(vec![condition]);
    assert!(matches!(b.optimised(rel, &[a, n]), Rel::Filter { .. }));
}

#[test]
fn what_is_volatile_is_computed_once() {
    let mut b = Builder::default();
    let (t, _) = b.table(1000, &[VALUE]);
    let (t, r) = b.with(t, random());
    let (x, y) = (b.attr(DataType::Double), b.attr(DataType::Double));
    let exprs = vec![(x, b.column(r)), (y, b.column(r))];
    let rel = Rel::Map { input: Box::new(t), exprs };
    let text = b.plan(rel, &[x, y]);
    assert_eq!(text.matches("random").count(), 1, "{text}");
}

#[test]
fn what_is_computed_of_a_float_does_not_follow_from_it() {
    // Zero has two signs that are equal.
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[FLOAT]);
    let text = plan::build::cast(b.column(a), DataType::Text);
    let (t, text) = b.with(t, text);
    let n = b.attr(DataType::BigInt);
    let keys = vec![(a, b.column(a)), (text, b.column(text))];
    assert_eq!(keys_of(&b.optimised(group(t, keys, vec![(n, count())]), &[a, text, n])).len(), 2);
}

#[test]
fn fallible_predicates_come_after_inner_filters() {
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[VALUE]);
    let inner = not_zero(b.column(a));
    let outer = quotient(b.column(a));
    let rel = t.filtered(vec![inner.clone()]).filtered(vec![outer.clone()]);
    assert_eq!(filters_of(&b.optimised(rel, &[a]), a), [inner, outer]);
}

#[test]
fn fallible_predicates_wait_for_inner_joins() {
    // (SELECT t.* FROM t JOIN u ON t.c0 = u.c0) s WHERE 100 / s.c1 > 1
    let build = |kind: RelJoin| {
        let mut b = Builder::default();
        let (t, a) = b.table(1000, &[VALUE, VALUE]);
        let (u, c) = b.table(100, &[VALUE]);
        let on = equal(b.column(a), b.column(c));
        let outer = quotient(b.column(a + 1));
        let rel = join(kind, t, u, vec![on]).filtered(vec![outer]);
        (b.optimised(rel, &[a]), a)
    };
    for kind in [RelJoin::Inner, RelJoin::Semi, RelJoin::Anti] {
        let (rel, a) = build(kind);
        assert!(filters_of(&rel, a).is_empty(), "{kind:?}");
    }
    // FROM t, u WHERE t.c0 = u.c0 AND 100 / t.c1 > 1: one WHERE has no order.
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[VALUE, VALUE]);
    let (u, c) = b.table(100, &[VALUE]);
    let all = vec![equal(b.column(a), b.column(c)), quotient(b.column(a + 1))];
    let rel = b.optimised(join(RelJoin::Inner, t, u, vec![]).filtered(all), &[a]);
    assert_eq!(filters_of(&rel, a).len(), 1);
}

#[test]
fn a_fallible_key_waits_for_the_derived_table_that_it_looks_at() {
    // ((SELECT t.* FROM t JOIN u ON t.c0 = u.c0) s JOIN v ON 100 / s.c1 = v.c0)
    let mut b = Builder::default();
    let (t, a) = b.table(1_000_000, &[VALUE, VALUE]);
    let (u, c) = b.table(1_000_000, &[VALUE]);
    let (v, e) = b.table(2, &[VALUE]);
    let on = equal(b.column(a), b.column(c));
    let key = arithmetic(BinaryOperator::Divide, number(100), b.column(a + 1));
    let top = equal(key, b.column(e));
    let rel = join(RelJoin::Inner, join(RelJoin::Inner, t, u, vec![on]), v, vec![top]);
    let rel = b.optimised(rel, &[a]);
    let quotients = |it: &Rel| {
        let own = it.expressions();
        own.into_iter().any(plan::properties::is_fallible)
    };
    let place = all(&rel).into_iter().position(quotients).expect("the key is somewhere");
    let mut sides = all(&rel)[place].inputs().into_iter().map(Rel::attrs);
    assert!(sides.any(|it| it.contains(a) && it.contains(c)), "{rel:?}");
}

#[test]
fn fallible_predicates_do_not_overtake_having() {
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[VALUE]);
    let n = b.attr(DataType::BigInt);
    let having = compare(BinaryOperator::Greater, b.column(n), number(5));
    let outer = quotient(b.column(a));
    let rel = group(t, vec![(a, b.column(a))], vec![(n, count())]);
    let rel = b.optimised(rel.filtered(vec![having.clone()]).filtered(vec![outer.clone()]), &[a]);
    let Rel::Filter { predicates, .. } = &rel else { panic!("both stay above: {rel:?}") };
    assert_eq!(*predicates, [having, outer]);
}

#[test]
fn an_or_gives_nothing_fallible_to_its_tables() {
    // (t.c0 = 1 AND 100 / t.c1 > 1 AND u.c0 = 1) OR (t.c0 = 2 AND u.c0 = 2)
    let mut b = Builder::default();
    let (t, a) = b.table(1000, &[VALUE, VALUE]);
    let (u, c) = b.table(1000, &[VALUE]);
    let and = |l, r| compare(BinaryOperator::And, l, r);
    let is = |attr, value| equal(b.column(attr), number(value));
    let first = and(and(is(a, 1), quotient(b.column(a + 1))), is(c, 1));
    let second = and(is(a, 2), is(c, 2));
    let either = compare(BinaryOperator::Or, first, second);
    let rel = b.optimised(join(RelJoin::Inner, t, u, vec![]).filtered(vec![either]), &[a]);
    assert!(!filters_of(&rel, a).iter().any(plan::properties::is_fallible));
}

#[test]
fn a_left_join_stays_where_rows_of_nulls_may_pass() {
    let build = |condition: fn(Expr) -> Expr| {
        let mut b = Builder::default();
        let (rel, a, c, _) = extended(&mut b, RelJoin::Left);
        let condition = condition(b.column(c + 1));
        joins_of(&b.optimised(rel.filtered(vec![condition]), &[a, c]))
    };
    let above = |it| compare(BinaryOperator::Greater, it, number(5));
    assert_eq!(build(above), [RelJoin::Inner]);
    assert_eq!(build(|it| in_list(it, &[1, 2])), [RelJoin::Inner]);
    assert_eq!(build(is_null), [RelJoin::Left]);
    assert_eq!(build(|it| equal(is_null(it), is_null(number(1)))), [RelJoin::Left]);
    let distinct = |it| compare(BinaryOperator::IsDistinctFrom, it, number(5));
    assert_eq!(build(distinct), [RelJoin::Left]);
    let or = |it: Expr| {
        let truth = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let above = compare(BinaryOperator::Greater, it, number(5));
        compare(BinaryOperator::Or, above, truth)
    };
    assert_eq!(build(or), [RelJoin::Left]);
}

#[test]
fn equalities_of_several_types_are_not_chained() {
    // t.c0 (BIGINT) = u.c0 (DOUBLE) = v.c0 (BIGINT): two large numbers may equal one float.
    let big = || Column(DataType::BigInt, true, 100);
    let mut b = Builder::default();
    let (t, a) = b.table(100, &[big()]);
    let (u, c) = b.table(1_000_000, &[FLOAT]);
    let (v, e) = b.table(100, &[big()]);
    let conditions = vec![equal(b.column(a), b.column(c)), equal(b.column(c), b.column(e))];
    let cross = join(RelJoin::Inner, join(RelJoin::Inner, t, u, vec![]), v, vec![]);
    let rel = b.optimised(cross.filtered(conditions), &[a, e]);
    for it in all(&rel) {
        let Rel::Join(join) = it else { continue };
        let mixed = |it: &(Expr, Expr)| it.0.data_type != it.1.data_type;
        assert!(!join.keys.is_empty() && join.keys.iter().all(mixed), "{join:?}");
    }
}

#[test]
fn statistics_do_not_count_floats() {
    let build = |column: Column| {
        let mut b = Builder::default();
        let (t, a) = b.table(1000, &[column]);
        let n = b.attr(DataType::BigInt);
        let mut distinct = aggregate(AggregateFunction::Count, Some(b.column(a)));
        distinct.distinct = true;
        let rel = b.optimised(group(t, vec![], vec![(n, distinct)]), &[n]);
        matches!(rel, Rel::Values { .. })
    };
    assert!(build(KEY));
    assert!(!build(FLOAT));
}

#[test]
fn groups_below_a_left_join_need_keys_of_one_type() {
    let build = |other: DataType| {
        let mut b = Builder::default();
        let (t, a) = b.table(100, &[Column(DataType::BigInt, false, 100)]);
        let (u, c) = b.table(100_000, &[Column(other, false, 100), VALUE]);
        let n = b.attr(DataType::BigInt);
        let counted = aggregate(AggregateFunction::Count, Some(b.column(c + 1)));
        let on = equal(b.column(a), b.column(c));
        let rel = join(RelJoin::Left, t, u, vec![on]);
        let rel = group(rel, vec![(a, b.column(a))], vec![(n, counted)]);
        let rel = b.optimised(rel, &[a, n]);
        !matches!(rel, Rel::Aggregate { .. })
    };
    assert!(build(DataType::BigInt), "grouped below");
    assert!(!build(DataType::Double), "several floats equal one integer");
}
