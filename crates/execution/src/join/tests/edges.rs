//! Particular cases: structures by data, fan-out, transfers, NULL rules, errors.

use plan::JoinKind;

use super::team::Threads;
use super::*;

fn table_of(keys: Vec<Option<i64>>, structure: Structure, team: &dyn Team) -> Arc<JoinTable> {
    let rows = keys.len() as i64;
    let side = Side::new(vec![integers(&keys), numbers(0..rows)], 1000);
    let how = Build { keys: &[0], payload: &[1], unique: false, keep_null_keys: false, structure };
    build(&side, how, team)
}

fn automatic(keys: impl IntoIterator<Item = i64>) -> Arc<JoinTable> {
    table_of(keys.into_iter().map(Some).collect(), Structure::Automatic, &Serial(1))
}

#[test]
fn the_structure_follows_from_the_keys() {
    let cases = [
        (automatic([]), "empty, 0 rows"),
        (automatic(0..1000), "bitmap, 1000 rows"),
        (automatic((0..1000).rev()), "array, 1000 rows"),
        (automatic((0..1000).map(|it| it / 2)), "bitmap of runs, 1000 rows"),
        (automatic((0..1000).rev().map(|it| it * 100)), "bitmap, 1000 rows"),
        (automatic((0..1000).rev().map(|it| it / 2 * 100)), "bitmap of runs, 1000 rows"),
        (automatic((0..1000).map(|it| it * 7 % 100)), "array of runs, 1000 rows"),
        (automatic((0..1000).map(|it| it << 20)), "hash table, 1000 rows"),
        (automatic([i64::MIN, i64::MAX]), "hash table, 2 rows"),
        (automatic([i64::MAX, i64::MAX]), "bitmap of runs, 2 rows"),
        (table_of(vec![Some(1)], Structure::Hashed, &Serial(1)), "hash table, 1 rows"),
    ];
    for (table, words) in cases {
        assert_eq!(table.describe(), words);
    }
}

#[test]
fn a_transfer_admits_every_key_and_few_others() {
    for keys in [
        vec![5],
        (10..5000).collect(),
        (0..5000).map(|it| it * 3 / 7).collect(),
        (0..5000).map(|it| it * 1_000_003).collect(),
        vec![i64::MIN, 0, i64::MAX],
    ] {
        let table = automatic(keys.clone());
        let filter = table.transfer().unwrap();
        assert_eq!(filter.rows, keys.len() as u64);
        assert_eq!((Some(&filter.min), Some(&filter.max)), (keys.iter().min(), keys.iter().max()));
        assert!(keys.iter().all(|&it| filter.may_contain(it)));
        let known: std::collections::HashSet<i64> = keys.iter().copied().collect();
        let mut prng = stdx::Prng::new(1);
        let others = (0..1000).map(|_| prng.next_u64() as i64 / 1_000_000_000);
        let wrong = others.filter(|it| !known.contains(it) && filter.may_contain(*it)).count();
        assert!(wrong < 150, "{wrong} wrong keys of {:?}", automatic(keys).describe());
    }
    let table = automatic([]);
    let filter = table.transfer().unwrap();
    assert!(filter.min > filter.max && !filter.may_contain(0));
}

#[test]
fn the_values_of_each_of_several_keys_are_known() {
    let many = || 0..3_000i64;
    for (first, second) in [
        (many().map(|it| it % 7).collect::<Vec<_>>(), many().map(|it| it / 9 - 40).collect()),
        (many().map(|it| it * 1_000_003).collect(), many().map(|it| -it).collect()),
        (many().map(|it| it << 50).collect(), many().map(|it| it % 11).collect()),
        (vec![i64::MIN, 4, i64::MAX], vec![1, 1, i64::MIN]),
        (vec![5], vec![-5]),
        (vec![], vec![]),
    ] {
        let side = Side::new(vec![numbers(first.clone()), numbers(second.clone())], 100);
        let structure = Structure::Automatic;
        let (keys, payload) = (&[0, 1][..], &[][..]);
        let how = Build { keys, payload, unique: false, keep_null_keys: false, structure };
        let table = build(&side, how, &Serial(2));
        for (key, values) in [first, second].into_iter().enumerate() {
            let filter = table.transfer_of(key).unwrap().unwrap();
            let known: std::collections::BTreeSet<i64> = filter.keys.iter().copied().collect();
            assert_eq!(filter.rows, values.len() as u64);
            assert_eq!(known, values.iter().copied().collect(), "{}", table.describe());
            assert!(values.iter().all(|it| filter.min <= *it && *it <= filter.max));
        }
        assert!(table.transfer_of(2).unwrap().is_none() && table.transfer().is_none());
    }
}

#[test]
fn a_hot_key_fans_out_in_whole_batches() {
    for structure in [Structure::Direct, Structure::Hashed] {
        let table = table_of(vec![Some(3); 10_000], structure, &Serial(2));
        let side = Side::new(vec![numbers([1, 3, 3, 4])], 4);
        let plan = join(JoinKind::Inner, &side.layout, &[0], 1);
        let (_, batches) = probe(&side, &plan, &table, 1);
        assert_eq!(batches.iter().map(|it| it.rows).sum::<usize>(), 20_000);
        assert!(batches.len() <= 6, "{} batches", batches.len());
    }
}

#[test]
fn probe_columns_are_handed_on_when_each_row_has_one_partner() {
    for structure in [Structure::Direct, Structure::Hashed] {
        let table = table_of((0..500).map(Some).collect(), structure, &Serial(1));
        let side = Side::new(vec![numbers((0..500).rev())], 500);
        let plan = join(JoinKind::Inner, &side.layout, &[0], 1);
        let (_, batches) = probe(&side, &plan, &table, 1);
        let same = Arc::ptr_eq(&batches[0].columns[0], &side.batches[0].columns[0]);
        assert!(same || structure == Structure::Hashed);
    }
}

#[test]
fn not_in_follows_sql_about_nulls() {
    let probe_side = Side::new(vec![integers(&[Some(1), None, Some(2)])], 10);
    let cases = [
        (vec![], vec![Cell::Null, Cell::Number(1), Cell::Number(2)]),
        (vec![Some(1)], vec![Cell::Number(2)]),
        (vec![Some(1), None], vec![]),
        (vec![None], vec![]),
    ];
    for (keys, expected) in cases {
        let table = table_of(keys, Structure::Automatic, &Serial(1));
        let plan = join(JoinKind::AntiNullAware, &probe_side.layout, &[0], 0);
        let (layout, batches) = probe(&probe_side, &plan, &table, 1);
        let rows = sorted(cells(&layout, &batches));
        assert_eq!(rows.concat(), expected);
    }
}

#[test]
fn output_hands_on_only_what_is_asked_for() {
    let table = automatic([1, 2]);
    let side = Side::new(vec![numbers([2, 1]), numbers([20, 10])], 10);
    let mut plan = join(JoinKind::Inner, &side.layout, &[0], 1);
    plan.output = vec![2, 1];
    let (layout, batches) = probe(&side, &plan, &table, 1);
    let expected = [[1, 20], [0, 10]].map(|row| row.map(Cell::Number).to_vec());
    assert_eq!(cells(&layout, &batches), expected);
    plan.output = vec![3];
    let error = operator(&side, &plan, &table, 1).err().unwrap();
    assert_eq!(error.state, types::SqlState::INTERNAL);
}

#[test]
fn many_threads_build_the_same_table() {
    let mut prng = stdx::Prng::new(11);
    let rows = 200_000;
    let random = |most: u64, prng: &mut stdx::Prng| -> Vec<Option<i64>> {
        (0..rows).map(|_| Some(prng.below(most) as i64)).collect()
    };
    let mut shuffled: Vec<Option<i64>> = (0..rows).map(Some).collect();
    for row in 0..shuffled.len() {
        shuffled.swap(row, prng.below(row as u64 + 1) as usize);
    }
    let mut rising = random(50_000, &mut prng);
    rising.sort();
    let sparse = random(3_000_000, &mut prng);
    for keys in [random(60_000, &mut prng), shuffled, rising, sparse] {
        for structure in [Structure::Direct, Structure::Hashed] {
            let tables = [
                table_of(keys.clone(), structure, &Serial(1)),
                table_of(keys.clone(), structure, &Threads(4)),
            ];
            let side = Side::new(vec![numbers((0..3000).map(|it| it * 17))], 1024);
            let plan = join(JoinKind::Inner, &side.layout, &[0], 1);
            let [one, other] = tables.map(|table| {
                let (layout, batches) = probe(&side, &plan, &table, 1);
                sorted(cells(&layout, &batches))
            });
            assert!(!one.is_empty() && one == other, "{structure:?}");
        }
    }
}

#[test]
fn a_null_aware_residual_needs_the_null_keys() {
    let table = table_of(vec![Some(1), None], Structure::Automatic, &Serial(1));
    let side = Side::new(vec![numbers([1, 2])], 2);
    let mut plan = join(JoinKind::AntiNullAware, &side.layout, &[0], 0);
    let column = |place| plan::Expr::column(place, DataType::BigInt);
    plan.residual = Some(plan::Expr::predicate(plan::BinaryOperator::Less, column(0), column(1)));
    let error = operator(&side, &plan, &table, 1).err().unwrap();
    assert!(error.message.contains("NULL keys"), "{error}");
}

#[test]
fn a_join_that_hands_nothing_on_ends_when_its_statement_does() {
    // 200,000 pairs for each row, and no key to look any of them up by: the condition fails for all.
    let table = {
        let side = Side::new(vec![numbers(0..200_000)], 10_000);
        let how = Build {
            keys: &[],
            payload: &[0],
            unique: false,
            keep_null_keys: false,
            structure: Structure::Automatic,
        };
        build(&side, how, &Serial(1))
    };
    let side = Side::new(vec![numbers(0..1_000)], 1_000);
    let column = |place| plan::Expr::column(place, DataType::BigInt);
    for kind in [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti] {
        let mut plan = join(kind, &side.layout, &[], 1);
        plan.residual =
            Some(plan::Expr::predicate(plan::BinaryOperator::Greater, column(0), column(1)));
        let operator = operator(&side, &plan, &table, 1).unwrap();
        let worker = context(0);
        // Somebody ends it while it is under way.
        let ended = stdx::sync::atomic::AtomicBool::new(false);
        stdx::sync::thread::scope(|scope| {
            scope.spawn(|| {
                stdx::sync::thread::sleep(std::time::Duration::from_millis(20));
                ended.store(true, stdx::sync::atomic::Ordering::Relaxed);
                worker.cancel.cancel();
            });
            let error = operator
                .execute(side.batches[0].clone(), &worker, &mut |_| Ok(()))
                .expect_err("200 million pairs take longer");
            assert!(ended.load(stdx::sync::atomic::Ordering::Relaxed));
            assert_eq!(error.state, types::SqlState::QUERY_CANCELED, "{kind:?}");
        });
    }
}
