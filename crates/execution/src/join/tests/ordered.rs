//! Rows that come in few runs of rising keys, as those of a table in parts: they are put in the order of their keys.

use plan::JoinKind;
use stdx::Prng;

use super::keys::{self, Kind};
use super::oracle::NaiveJoin;
use super::team::Threads;
use super::*;

const PAYLOADS: [Kind; 7] =
    [Kind::Small, Kind::Wide, Kind::Float, Kind::Bool, Kind::Text, Kind::Dictionary, Kind::Plain];

/// Keys dealt to so many runs, each of which rises; some rows behind have none. All payloads, with NULL among them.
fn dealt(rows: u64, runs: u64, nulls: usize, prng: &mut Prng) -> Side {
    let keys = (0..runs).flat_map(|run| (run..rows).step_by(runs as usize));
    let keys: Vec<Option<i64>> =
        keys.map(|it| Some(it as i64 * 3 - 50)).chain((0..nulls).map(|_| None)).collect();
    let mut columns = vec![integers(&keys)];
    for kind in PAYLOADS {
        let values: Vec<Option<u64>> =
            keys.iter().map(|_| (prng.below(5) > 0).then(|| prng.below(300))).collect();
        columns.push(keys::column(kind, &values, prng));
    }
    Side::new(columns, 700)
}

fn table(side: &Side, unique: bool, team: &dyn Team) -> Arc<JoinTable> {
    let payload: Vec<usize> = (0..side.layout.len()).collect();
    let structure = Structure::Automatic;
    let how = Build { keys: &[0], payload: &payload, unique, keep_null_keys: true, structure };
    build(side, how, team)
}

#[test]
fn rows_in_runs_join_as_nested_loops_have_it() {
    let mut prng = Prng::new(11);
    for (rows, runs, nulls) in
        [(1000, 4, 0), (3000, 16, 5), (40_000, 7, 3), (600, 9, 0), (64, 1, 1)]
    {
        let side = dealt(rows, runs, nulls, &mut prng);
        let table = table(&side, true, &Threads(3));
        let probes: Vec<Option<i64>> = (0..200)
            .map(|it| (it % 9 > 0).then(|| prng.below(rows * 3 + 40) as i64 - 70))
            .collect();
        let left = Side::new(vec![integers(&probes)], 64);
        let payload: Vec<usize> = (0..side.layout.len()).collect();
        for kind in [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::MarkBuild] {
            let mut plan = join(kind, &left.layout, &[0], payload.len());
            plan.track_matches = kind == JoinKind::MarkBuild;
            let naive = NaiveJoin {
                kind,
                probe_keys: &[0],
                build_keys: &[0],
                payload: &payload,
                residual: &|_, _| true,
            };
            let build = side.rows();
            let (expected, matched) = naive.run(&left.rows(), &build);
            let (layout, batches) = probe(&left, &plan, &table, 1);
            assert_eq!(sorted(oracle::cells(&layout, &batches)), sorted(expected), "{kind:?}");
            if kind == JoinKind::MarkBuild {
                for found in [true, false] {
                    let rows = build.iter().zip(&matched).filter(|it| *it.1 == found);
                    let rows: Vec<_> = rows.map(|it| it.0.clone()).collect();
                    assert_eq!(sorted(build_rows(&table, found)), sorted(rows), "{found}");
                }
            }
        }
    }
}

#[test]
fn only_unique_keys_in_long_runs_are_put_in_order() {
    let mut prng = Prng::new(3);
    let found = |runs, unique, prng: &mut Prng| {
        table(&dealt(2000, runs, 0, prng), unique, &Serial(1)).describe()
    };
    assert_eq!(found(4, true, &mut prng), "bitmap, 2000 rows");
    assert_eq!(found(4, false, &mut prng), "array, 2000 rows");
    // Nothing is put in order where keys fall often.
    assert_eq!(found(500, true, &mut prng), "array, 2000 rows");
}
