//! Queries over many relations are planned: each shape would take far too long if planning grew faster than their square.

use crate::common::{Builder, Column, compare, equal, join};
use plan::relation::{Attr, Rel, RelJoin};
use plan::{BinaryOperator, Expr};
use types::DataType;

/// Relations of a query.
const COUNT: usize = 1000;

/// The cross product of tables of two columns, and the first attribute of each.
fn tables(b: &mut Builder, count: usize) -> (Rel, Vec<Attr>) {
    let mut bases = Vec::with_capacity(count);
    let mut all: Option<Rel> = None;
    for number in 0..count {
        let rows = 10 + number as u64;
        let columns = [Column(DataType::Integer, false, rows), Column(DataType::Integer, true, 5)];
        let (table, base) = b.table(rows, &columns);
        bases.push(base);
        all = Some(match all {
            None => table,
            Some(left) => join(RelJoin::Inner, left, table, vec![]),
        });
    }
    (all.expect("there are tables"), bases)
}

/// Runs with room for trees as deep as these queries have relations.
fn on_large_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run);
    thread.expect("a thread starts").join().expect("the query is planned")
}

/// The scans of a plan over all tables whose conditions a function gives.
fn planned(conditions: fn(&Builder, &[Attr]) -> Vec<Expr>) -> usize {
    on_large_stack(move || {
        let mut b = Builder::default();
        let (rel, bases) = tables(&mut b, COUNT);
        let conditions = conditions(&b, &bases);
        let plan = b.plan(rel.filtered(conditions), &bases[..1]);
        plan.matches("scan t").count()
    })
}

#[test]
fn a_chain() {
    let scans = planned(|b, bases| {
        let pair = |it: &[Attr]| equal(b.column(it[0] + 1), b.column(it[1]));
        bases.windows(2).map(pair).collect()
    });
    assert_eq!(scans, COUNT);
}

#[test]
fn a_star() {
    let scans = planned(|b, bases| {
        let center = bases[0];
        bases[1..].iter().map(|it| equal(b.column(center), b.column(*it))).collect()
    });
    assert_eq!(scans, COUNT);
}

#[test]
fn inequalities_and_nothing() {
    let scans = planned(|b, bases| {
        bases
            .windows(2)
            .map(|it| compare(BinaryOperator::Less, b.column(it[0]), b.column(it[1])))
            .collect()
    });
    assert_eq!(scans, COUNT);
    assert_eq!(planned(|_, _| Vec::new()), COUNT);
}

#[test]
fn left_joins() {
    let scans = on_large_stack(|| {
        let mut b = Builder::default();
        let (mut rel, first) = tables(&mut b, 1);
        let mut last = first[0];
        for _ in 1..COUNT {
            let columns =
                [Column(DataType::Integer, false, 10), Column(DataType::Integer, true, 5)];
            let (table, base) = b.table(10, &columns);
            let on = equal(b.column(last + 1), b.column(base));
            rel = join(RelJoin::Left, rel, table, vec![on]);
            last = base;
        }
        let plan = b.plan(rel, &[first[0], last]);
        plan.matches("scan t").count()
    });
    assert_eq!(scans, COUNT);
}
