//! Random joins of every kind, key type, structure and batch size against the oracle.

use plan::{BinaryOperator, Expr, Join, JoinKind};
use stdx::Prng;
use types::DataType;

use super::keys::{self, Kind};
use super::oracle::{Cell, NaiveJoin};
use super::*;

/// Numbers of one side: few or many distinct ones, perhaps with one that is in most rows, perhaps with NULLs.
fn numbers_of(rows: usize, prng: &mut Prng) -> Vec<Option<u64>> {
    let distinct = [1, 3, 40, 400][prng.below(4) as usize];
    let (skewed, nulls) = (prng.below(3) == 0, prng.below(3) == 0);
    let mut numbers: Vec<Option<u64>> = (0..rows)
        .map(|_| match prng.below(10) {
            0 if nulls => None,
            1..=7 if skewed => Some(2),
            _ => Some(prng.below(distinct)),
        })
        .collect();
    match prng.below(3) {
        0 => numbers.sort(),
        // Unique numbers, in some order.
        1 if rows <= 400 => {
            for row in 0..rows {
                numbers[row] = Some(row as u64);
                numbers.swap(row, prng.below(row as u64 + 1) as usize);
            }
        }
        _ => {}
    }
    numbers
}

fn values_of(rows: usize, prng: &mut Prng) -> Vec<Option<i64>> {
    (0..rows).map(|_| (prng.below(8) > 0).then(|| prng.below(100) as i64)).collect()
}

fn side(rows: usize, kinds: &[Kind], prng: &mut Prng) -> Side {
    let mut columns: Vec<_> = kinds
        .iter()
        .map(|&kind| {
            let numbers = numbers_of(rows, prng);
            keys::column(kind, &numbers, prng)
        })
        .collect();
    columns.push(integers(&values_of(rows, prng)));
    columns.push(numbers(0..rows as i64));
    let batch = [1, 7, 64, 1000, 4096][prng.below(5) as usize].max(rows / 40);
    Side::new(columns, batch.min(BATCH_ROWS))
}

fn has_twins(rows: &[Vec<Cell>], keys: &[usize]) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    // Floats that are equal may have different bits, so they always count as twins.
    rows.iter().any(|row| {
        let key: Vec<Cell> = keys.iter().map(|&it| row[it].clone()).collect();
        key.iter().any(|it| matches!(it, Cell::Float(_))) || !seen.insert(key)
    })
}

fn is_less(left: &Cell, right: &Cell) -> bool {
    !matches!((left, right), (Cell::Null, _) | (_, Cell::Null)) && left < right
}

/// A build side, and what a join with it handed on.
pub(super) struct Joined(pub(super) Arc<BuildSide>, pub(super) Layout, pub(super) Vec<Batch>);

/// Joins a random case by `join_it`: build side, how it is built, probe side, join, slots, to what the build side became
/// and what the join handed on.
pub(super) fn check(seed: u64, join_it: &dyn Fn(&Side, Build<'_>, &Side, &Join, usize) -> Joined) {
    let mut prng = Prng::new(seed);
    let size = |prng: &mut Prng| match prng.below(12) {
        0 => 0,
        1 => 1,
        2 => 400 + prng.below(300) as usize,
        _ => prng.below(120) as usize,
    };
    let key_count = [1, 1, 1, 2, 3, 0][prng.below(6) as usize];
    let kinds: Vec<(Kind, Kind)> = (0..key_count)
        .map(|_| keys::KINDS[prng.below(keys::KINDS.len() as u64) as usize])
        .collect();
    let (probe_kinds, build_kinds): (Vec<Kind>, Vec<Kind>) = kinds.iter().copied().unzip();
    let (probe_rows, build_rows) = (size(&mut prng), size(&mut prng));
    let left = side(probe_rows, &probe_kinds, &mut prng);
    let right = side(build_rows, &build_kinds, &mut prng);
    let key_places: Vec<usize> = (0..key_count).collect();
    let payload: Vec<usize> = (0..right.layout.len()).collect();
    let (left_rows, right_rows) = (left.rows(), right.rows());
    let structure = [Structure::Automatic, Structure::Direct, Structure::Hashed];
    let how = Build {
        keys: &key_places,
        payload: &payload,
        unique: !has_twins(&right_rows, &key_places) && prng.below(2) == 0,
        keep_null_keys: true,
        structure: structure[prng.below(3) as usize],
    };
    let with_residual = prng.below(3) == 0;
    for kind in KINDS {
        let null_aware =
            matches!(kind, JoinKind::AntiNullAware | JoinKind::Mark { null_aware: true });
        if null_aware && key_count != 1 {
            continue;
        }
        let slots = 1 + prng.below(3) as usize;
        let keep_null_keys = with_residual || prng.below(2) == 0;
        let mut plan = join(kind, &left.layout, &key_places, payload.len());
        plan.track_matches = prng.below(2) == 0;
        if with_residual {
            let (value, other) = (key_count, left.layout.len() + key_count);
            let operand = |place| Expr::column(place, DataType::BigInt);
            plan.residual =
                Some(Expr::predicate(BinaryOperator::Less, operand(value), operand(other)));
        }
        let naive = NaiveJoin {
            kind,
            probe_keys: &key_places,
            build_keys: &key_places,
            payload: &payload,
            residual: &|left, right| !with_residual || is_less(&left[key_count], &right[key_count]),
        };
        let how = Build { keep_null_keys, ..how };
        let Joined(table, layout, batches) = join_it(&right, how, &left, &plan, slots);
        let what = format!("seed {seed}, {kind:?}, {kinds:?}, {}", table.describe());
        let (expected, _) = naive.run(&left_rows, &right_rows);
        let (found, expected) = (sorted(cells(&layout, &batches)), sorted(expected));
        assert!(found == expected, "{what}: {} rows, not {}", found.len(), expected.len());
        if plan.track_matches || kind == JoinKind::MarkBuild {
            compare_matches(&table, &naive, (&left_rows, &right_rows), keep_null_keys, &what);
        }
    }
}

fn compare_matches(
    table: &Arc<BuildSide>,
    naive: &NaiveJoin<'_>,
    (left, right): (&[Vec<Cell>], &[Vec<Cell>]),
    keep_null_keys: bool,
    what: &str,
) {
    let (_, matched) = naive.run(left, right);
    for wanted in [true, false] {
        let expected = right.iter().zip(&matched).filter(|(row, matched)| {
            let has_null = naive.build_keys.iter().any(|&key| row[key] == Cell::Null);
            **matched == wanted && (keep_null_keys || !has_null)
        });
        let expected = sorted(expected.map(|it| it.0.clone()).collect());
        assert!(sorted(rows_of(table, wanted)) == expected, "{what}: matched {wanted}");
    }
}

#[test]
fn joins_are_what_nested_loops_say() {
    let in_memory = |right: &Side, how: Build<'_>, left: &Side, plan: &Join, slots: usize| {
        let table = build(right, how, &Serial(slots));
        let (layout, batches) = probe(left, plan, &table, slots);
        Joined(Arc::new(BuildSide::whole(table)), layout, batches)
    };
    (0..250).for_each(|seed| check(seed, &in_memory));
}
