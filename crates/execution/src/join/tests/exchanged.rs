//! Joins whose rows go to the nodes of their keys.

use hardware::NodeId;
use plan::{Fetch, Join, JoinKind};

use super::random::{Joined, check};
use super::*;
use crate::join::FetchOperator;
use crate::testing::Tight;

/// A worker of one of three nodes.
fn on_nodes(slot: usize) -> WorkContext {
    WorkContext { node: NodeId(slot as u16 % 3), ..context(slot) }
}

/// A build side with a table for each of three nodes, and what joins with it.
fn by_node(right: &Side, how: Build<'_>, left: &Side, plan: &Join, slots: usize) -> Joined {
    let team = Serial(slots);
    let null_aware =
        matches!(plan.kind, JoinKind::AntiNullAware | JoinKind::Mark { null_aware: true });
    // Who asks of all build rows what they say of a row is not sent away.
    let exchange = (!null_aware || plan.residual.is_none()).then(|| Exchange::forced(3));
    let may = exchange.is_some() && !how.keys.is_empty();
    let build = exchanged_side(right, how, &team, on_nodes, exchange);
    assert_eq!(build.of_part(0).len() == 3, may && build.rows() > 0);
    let operator =
        ProbeOperator::new(plan, build.clone(), (&left.layout, None), &NoOutside, slots).unwrap();
    let (layout, batches) = run(&operator, left, &team, on_nodes);
    Joined(build, layout, batches)
}

#[test]
fn joins_by_node_are_what_nested_loops_say() {
    (0..150).for_each(|seed| check(seed, &by_node));
}

/// The numbers of partners, and what is stored of them, of an exchange whose probe side has this much memory.
fn fetched(team: &dyn Team, context: impl Fn(usize) -> WorkContext) -> Vec<Vec<Cell>> {
    let right = Side::new(vec![numbers((0..5000).map(|it| it * 7 % 5000)), numbers(0..5000)], 700);
    let left = Side::new(vec![numbers((0..9000).map(|it| it % 6000))], 1000);
    let how = Build {
        keys: &[0],
        payload: &[1],
        unique: true,
        keep_null_keys: false,
        structure: Structure::Automatic,
    };
    let build = exchanged_side(&right, how, &Serial(3), on_nodes, Some(Exchange::forced(3)));
    assert!(build.describe().starts_with("3 nodes by key, "), "{}", build.describe());
    let mut plan = join(JoinKind::Inner, &left.layout, &[0], 0);
    plan.numbers = true;
    let operator =
        ProbeOperator::new(&plan, build.clone(), (&left.layout, None), &NoOutside, 3).unwrap();
    let (layout, batches) = run(&operator, &left, team, context);
    let numbered = Side { layout, batches };
    let fetch = Fetch { build: PipelineId(0), row: 1, payload: vec![0] };
    let fetch = FetchOperator::new(&fetch, build, (numbered.layout.clone(), None), 3).unwrap();
    let (layout, batches) = run(&fetch, &numbered, &Serial(3), on_nodes);
    cells(&layout, &batches)
}

#[test]
fn what_is_stored_is_fetched_by_number() {
    for row in fetched(&Serial(3), on_nodes) {
        let [Cell::Number(key), _, Cell::Number(stored)] = row[..] else { panic!("{row:?}") };
        assert_eq!(stored * 7 % 5000, key);
    }
}

#[test]
fn rows_that_find_no_memory_on_their_way_go_through_files() {
    let team = Tight::new(3);
    let rest = team.workspace.spread().zeroed::<u8>(17 << 16).unwrap();
    let on_nodes = |slot| WorkContext { node: NodeId(slot as u16 % 3), ..team.context(slot) };
    let found = fetched(&team, on_nodes);
    assert_eq!(found.len(), 8000);
    assert!(team.workspace.account().spilled().0 > 0);
    assert_eq!(sorted(found), sorted(fetched(&Serial(3), super::exchanged::on_nodes)));
    drop(rest);
}
