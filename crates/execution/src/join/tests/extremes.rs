//! Comparisons between both sides that extremes decide, against nested loops.

use std::cmp::Ordering;

use plan::{BinaryOperator, Expr, Join, JoinKind};
use stdx::Prng;

use super::keys::{self, Kind};
use super::oracle::{Cell, NaiveJoin};
use super::*;

const OPERATORS: [BinaryOperator; 5] = [
    BinaryOperator::NotEqual,
    BinaryOperator::Less,
    BinaryOperator::LessEqual,
    BinaryOperator::Greater,
    BinaryOperator::GreaterEqual,
];

/// How SQL orders two values; NULL is in no order.
fn order(left: &Cell, right: &Cell) -> Option<Ordering> {
    match (left, right) {
        (Cell::Null, _) | (_, Cell::Null) => None,
        (Cell::Float(a), Cell::Float(b)) => {
            let (a, b) = (f64::from_bits(*a), f64::from_bits(*b));
            Some(a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())))
        }
        (a, b) => Some(a.cmp(b)),
    }
}

fn holds(operator: BinaryOperator, left: &Cell, right: &Cell) -> bool {
    order(left, right).is_some_and(|it| match operator {
        BinaryOperator::NotEqual => it.is_ne(),
        BinaryOperator::Less => it.is_lt(),
        BinaryOperator::LessEqual => it.is_le(),
        BinaryOperator::Greater => it.is_gt(),
        _ => it.is_ge(),
    })
}

fn numbers_of(rows: usize, distinct: u64, nulls: bool, prng: &mut Prng) -> Vec<Option<u64>> {
    (0..rows).map(|_| (!nulls || prng.below(6) > 0).then(|| prng.below(distinct))).collect()
}

/// Two sides with a key and a value; values of both stand in one column, so that texts share a dictionary.
fn sides(kind: Kind, prng: &mut Prng) -> (Side, Side) {
    let size = |prng: &mut Prng| [0, 1, 30, 200, 500][prng.below(5) as usize];
    let (left, right) = (size(prng), size(prng));
    let distinct = [1, 2, 7, 100][prng.below(4) as usize];
    let values = numbers_of(left + right, distinct, prng.below(2) == 0, prng);
    let (shape, values) = keys::column(kind, &values, prng);
    let places =
        |range: std::ops::Range<usize>| -> Vec<u32> { range.map(|it| it as u32).collect() };
    let halves = [values.take(&places(0..left)), values.take(&places(left..left + right))];
    let keyed = [1, 3, 50, 600][prng.below(4) as usize];
    let spread = [1, 1, 90, 1 << 40][prng.below(4) as usize];
    let mut both = [left, right].into_iter().zip(halves).map(|(rows, values)| {
        let mut keys = numbers_of(rows, keyed, prng.below(2) == 0, prng);
        match prng.below(3) {
            0 => keys.sort(),
            1 => keys = (0..rows as u64).map(Some).collect(),
            _ => {}
        }
        let keys: Vec<_> = keys.iter().map(|it| it.map(|it| it as i64 * spread)).collect();
        let columns = vec![integers(&keys), (shape.clone(), values), numbers(0..rows as i64)];
        Side::new(columns, [1, 7, 64, 1000][prng.below(4) as usize])
    });
    let left = both.next().expect("a left side");
    (left, both.next().expect("a right side"))
}

/// A join that marks by a comparison of the values; with `mirrored` the table's stands first.
fn marking(side: &Side, operator: BinaryOperator, mirrored: bool) -> Join {
    let value = Expr::column(1, side.layout[1].data_type);
    let stored = Expr::column(side.layout.len() + 1, side.layout[1].data_type);
    let condition = match mirrored {
        false => Expr::predicate(operator, value, stored),
        true => Expr::predicate(operator.mirrored(), stored, value),
    };
    let plan = join(JoinKind::MarkBuild, &side.layout, &[0], 3);
    Join { residual: Some(condition), track_matches: true, ..plan }
}

fn check(seed: u64, kind: Kind) -> bool {
    let mut prng = Prng::new(seed);
    let (left, right) = sides(kind, &mut prng);
    let keep_null_keys = prng.below(2) == 0;
    let structure = [Structure::Automatic, Structure::Direct][prng.below(2) as usize];
    let how = Build { keys: &[0], payload: &[0, 1, 2], unique: false, keep_null_keys, structure };
    let table = build(&right, how, &Serial(2));
    let operator = OPERATORS[prng.below(5) as usize];
    let plan = marking(&left, operator, prng.below(2) == 0);
    let what = format!("seed {seed}, {kind:?}, {operator:?}, {}", table.describe());
    assert!(probe(&left, &plan, &table, 2).1.is_empty(), "{what}");
    let naive = NaiveJoin {
        kind: JoinKind::MarkBuild,
        probe_keys: &[0],
        build_keys: &[0],
        payload: &[0, 1, 2],
        residual: &|left, right| holds(operator, &left[1], &right[1]),
    };
    let rows = right.rows();
    let (_, matched) = naive.run(&left.rows(), &rows);
    for wanted in [true, false] {
        let expected = rows.iter().zip(&matched).filter(|(row, matched)| {
            **matched == wanted && (keep_null_keys || row[0] != Cell::Null)
        });
        let expected = sorted(expected.map(|it| it.0.clone()).collect());
        assert!(sorted(build_rows(&table, wanted)) == expected, "{what}: matched {wanted}");
    }
    table.extremes.get().is_some()
}

#[test]
fn extremes_mark_what_nested_loops_do() {
    for (kind, able) in [
        (Kind::Extreme, true),
        (Kind::Small, true),
        (Kind::Float, true),
        (Kind::Dictionary, true),
        // Positions, texts and numbers of 128 bits are looked at pair by pair.
        (Kind::Plain, false),
        (Kind::Text, false),
        (Kind::Wide, false),
    ] {
        let by_extremes = (0..200).filter(|&seed| check(seed, kind)).count();
        assert!(if able { by_extremes > 20 } else { by_extremes == 0 }, "{kind:?}: {by_extremes}");
    }
}

#[test]
fn a_hot_key_is_marked_without_pairs() {
    // 10^10 pairs would not end.
    let rows = 100_000;
    let side = |first: i64| {
        Side::new(vec![numbers((0..rows).map(|_| 5)), numbers(first..first + rows)], 4096)
    };
    let (left, right) = (side(0), side(1000));
    let how = Build {
        keys: &[0],
        payload: &[1],
        unique: false,
        keep_null_keys: false,
        structure: Structure::Automatic,
    };
    let table = build(&right, how, &Serial(2));
    let mut plan = marking(&left, BinaryOperator::Greater, false);
    plan.residual = plan.residual.map(|mut it| {
        it.map_columns(&mut |place| if place > 2 { 2 } else { place });
        it
    });
    probe(&left, &plan, &table, 2);
    let found = build_rows(&table, true);
    assert_eq!(found.len(), rows as usize - 1001);
    assert!(found.iter().all(|row| row[0] < Cell::Number(i128::from(rows) - 1)));
}

#[test]
fn only_marks_are_by_extremes() {
    let side = Side::new(vec![numbers(0..9), numbers(0..9), numbers(0..9)], 4);
    let how = Build {
        keys: &[0],
        payload: &[0, 1, 2],
        unique: false,
        keep_null_keys: false,
        structure: Structure::Automatic,
    };
    let table = build(&side, how, &Serial(1));
    // Equality is decided by no extreme, and a join that hands on rows needs its pairs.
    let equal = marking(&side, BinaryOperator::Equal, false);
    probe(&side, &equal, &table, 1);
    assert!(table.extremes.get().is_none());
    let semi =
        Join { kind: JoinKind::Semi, output: vec![0], ..marking(&side, OPERATORS[0], false) };
    assert!(probe(&side, &semi, &table, 1).1.is_empty() && table.extremes.get().is_none());
}
