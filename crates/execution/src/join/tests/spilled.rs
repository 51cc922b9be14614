//! Joins of build sides in files.

use plan::{Fetch, Join, JoinKind};

use super::random::{Joined, check};
use super::*;
use crate::join::FetchOperator;
use crate::testing::Tight;

/// A build side in files, if it may be, and what joins with it.
fn in_files(right: &Side, how: Build<'_>, left: &Side, plan: &Join, slots: usize) -> Joined {
    let team = Tight::new(slots);
    let null_aware =
        matches!(plan.kind, JoinKind::AntiNullAware | JoinKind::Mark { null_aware: true });
    // As much as is left for nothing else.
    let rest = team.workspace.spread().zeroed::<u8>(1 << 20).unwrap();
    let rest = (!null_aware || plan.residual.is_none()).then_some(rest);
    let build = build_side(right, how, &team, |slot| team.context(slot));
    let spills = rest.is_some() && !how.keys.is_empty() && build.rows() > 0;
    assert_eq!(build.of_part(0).is_empty(), spills);
    drop(rest);
    let operator =
        ProbeOperator::new(plan, build.clone(), (&left.layout, None), &NoOutside, slots).unwrap();
    let (layout, batches) = run(&operator, left, &team, |slot| team.context(slot));
    Joined(build, layout, batches)
}

#[test]
fn joins_in_files_are_what_nested_loops_say() {
    (0..80).for_each(|seed| check(seed, &in_files));
}

#[test]
fn what_is_stored_is_fetched_by_number() {
    let right = Side::new(vec![numbers((0..5000).map(|it| it * 7 % 5000)), numbers(0..5000)], 700);
    let left = Side::new(vec![numbers((0..9000).map(|it| it % 6000))], 1000);
    let how = Build {
        keys: &[0],
        payload: &[1],
        unique: true,
        keep_null_keys: false,
        structure: Structure::Automatic,
    };
    let mut plan = join(JoinKind::Inner, &left.layout, &[0], 0);
    plan.numbers = true;
    let Joined(build, layout, batches) = in_files(&right, how, &left, &plan, 2);
    let numbered = Side { layout, batches };
    let fetch = Fetch { build: PipelineId(0), row: 1, payload: vec![0] };
    let team = Tight::new(2);
    let input = (numbered.layout.clone(), None);
    let fetch = FetchOperator::new(&fetch, build, input, 2).unwrap();
    let (layout, batches) = run(&fetch, &numbered, &team, |slot| team.context(slot));
    let rows = cells(&layout, &batches);
    assert_eq!(rows.len(), 8000);
    for row in rows {
        let [Cell::Number(key), _, Cell::Number(stored)] = row[..] else { panic!("{row:?}") };
        assert_eq!(stored * 7 % 5000, key);
    }
}

#[test]
fn partitions_that_do_not_fit_are_cut_again() {
    const ROWS: i64 = 400_000;
    // One key is in a fiftieth of the rows, which stay together.
    let key = |row: i64| if row % 50 == 0 { 7 } else { row * 7 % ROWS };
    let right = Side::new(vec![numbers((0..ROWS).map(key)), numbers(0..ROWS)], 4096);
    let left = Side::new(vec![numbers((0..100_000).map(|it| it * 5 + 2))], 4096);
    let how = Build {
        keys: &[0],
        payload: &[0, 1],
        unique: false,
        keep_null_keys: false,
        structure: Structure::Automatic,
    };
    let mut plan = join(JoinKind::Inner, &left.layout, &[0], 2);
    plan.track_matches = true;
    let Joined(build, layout, batches) = in_files(&right, how, &left, &plan, 2);
    let again = build.describe();
    assert!(again.starts_with("64 partitions in files, cut into "), "{again}");
    let rows = cells(&layout, &batches);
    let wanted = (0..100_000).map(|it| it * 5 + 2).filter(|it| *it < ROWS);
    let mut counts = vec![0usize; ROWS as usize];
    (0..ROWS).for_each(|it| counts[key(it) as usize] += 1);
    assert_eq!(rows.len(), wanted.map(|it| counts[it as usize]).sum::<usize>());
    for row in &rows {
        let [Cell::Number(asked), Cell::Number(own), Cell::Number(number)] = row[..] else {
            panic!("{row:?}")
        };
        assert_eq!((asked, i128::from(key(number as i64))), (own, own));
    }
    let matched = rows_of(&build, true).len();
    assert_eq!((matched, matched + rows_of(&build, false).len()), (rows.len(), ROWS as usize));
}
