//! Placements of tables in one piece: pages move, addresses stay, maps are true, and what fails leaves all as it was.

mod common;

use common::{allocator_on, build};
use hardware::{NodeId, samples};
use memory::Allocator;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicUsize, Ordering};
use storage::{BuildContext, Column, PlaceTarget, Placement, Table, TableDesign};
use types::{ColumnId, DataType, SqlState, Value};

/// A column whose index vector is large enough to be moved by its pages.
fn large(allocator: &Allocator) -> Table {
    let values: Vec<Value> = (0..1_200_000i64).map(|it| Value::Integer(it << 40 ^ it)).collect();
    build(DataType::BigInt, &values, 200_000, &BuildContext::serial(allocator)).unwrap()
}

fn nodes(ids: &[u16]) -> Vec<NodeId> {
    ids.iter().map(|&it| NodeId(it)).collect()
}

fn nodes_of(column: &Column) -> Vec<NodeId> {
    let map = column.iv().segment().page_map();
    map.summary().iter().map(|it| it.0).collect()
}

/// Every page is where its map says.
fn check_maps(table: &Table) {
    for component in table.components() {
        let known = component.segment.page_map().summary();
        assert_eq!(known, component.segment.locate().unwrap().summary(), "{component:?}");
    }
}

#[test]
fn a_large_index_vector_moves_and_keeps_its_address() {
    let allocator = allocator_on(samples::four_sockets());
    let context = BuildContext::serial(&allocator);
    let table = large(&allocator);
    let address = |it: &Table| it.columns[0].packed().as_ptr().addr();
    for (placement, expected) in [
        (Placement::RoundRobin(nodes(&[2])), nodes(&[2])),
        (Placement::Interleaved(nodes(&[0, 3])), nodes(&[0, 3])),
        (Placement::RoundRobin(nodes(&[1])), nodes(&[1])),
    ] {
        let placed = table.placed(&PlaceTarget::Table, &placement, &context).unwrap();
        assert_eq!((address(&placed), nodes_of(&placed.columns[0])), (address(&table), expected));
        // Who reads the old table reads the same pages.
        assert_eq!(nodes_of(&table.columns[0]), nodes_of(&placed.columns[0]));
        assert_eq!(placed.columns[0].value(1_199_999), table.columns[0].value(1_199_999));
        assert_eq!(placed.preference().wishes().len(), 1);
        check_maps(&placed);
    }
    let split = Placement::IndexVector(nodes(&[3, 0]));
    let split = table.placed(&PlaceTarget::Table, &split, &context).unwrap();
    let first = split.columns[0].node_of_row(0);
    assert_eq!(
        (first, split.columns[0].node_of_row(1_199_999)),
        (Some(NodeId(3)), Some(NodeId(0)))
    );
    let halves: Vec<usize> =
        split.columns[0].iv().segment().page_map().summary().iter().map(|it| it.1).collect();
    assert!(halves[0].abs_diff(halves[1]) * 8 < halves[0], "{halves:?}");
    check_maps(&split);
    // Given back to the default.
    let back = split.placed(&PlaceTarget::Table, &Placement::Auto, &context).unwrap();
    assert_eq!(nodes_of(&back.columns[0]).len(), 4);
    assert!(back.preference().wishes().is_empty());
}

#[test]
fn rows_columns_and_deferred_demands() {
    let allocator = allocator_on(samples::four_sockets());
    let context = BuildContext::serial(&allocator);
    let table = large(&allocator);
    let on = |it: u16| Placement::RoundRobin(nodes(&[it]));
    let all = table.placed(&PlaceTarget::Column(ColumnId(0)), &on(1), &context).unwrap();
    let rows = PlaceTarget::Rows(524_288..786_432);
    let some = all.placed(&rows, &on(3), &context).unwrap();
    let node = |it: &Table, row: usize| it.columns[0].node_of_row(row).map(|it| it.0);
    let places = |it: &Table| [0, 524_288, 786_431, 786_432].map(|row| node(it, row));
    assert_eq!(places(&some), [1, 3, 3, 1].map(Some));
    check_maps(&some);
    let batch = storage::table_to_arrow(&some, 0..1000).unwrap();
    let grown = some.append(&[batch], &context).unwrap();
    assert_eq!(places(&grown), [1, 3, 3, 1].map(Some));
    check_maps(&grown);
    let topology = allocator.machine().topology();
    let later = grown.deferred(&PlaceTarget::Table, &on(2), topology).unwrap();
    assert_eq!(places(&later), [1, 3, 3, 1].map(Some));
    assert!(later.preference().wishes()[0].deferred);
    let now = later.follow_deferred(&context).unwrap();
    assert_eq!(places(&now), [2; 4].map(Some));
    assert!(!now.preference().wishes()[0].deferred);
    let error = |target: PlaceTarget| table.placed(&target, &on(1), &context).unwrap_err().state;
    assert_eq!(error(PlaceTarget::Rows(0..9_000_000)), SqlState::INVALID_PARAMETER);
    assert_eq!(error(PlaceTarget::Part(1)), SqlState::INVALID_PARAMETER);
    assert_eq!(error(PlaceTarget::Column(ColumnId(7))), SqlState::UNDEFINED_COLUMN);
    assert!(table.placed(&PlaceTarget::Table, &on(8), &context).is_err());
}

#[test]
fn too_little_memory_on_a_node_stops_a_move_before_it_begins() {
    let mut machine = samples::four_sockets();
    machine.nodes[2].memory_free = stdx::Bytes(1 << 20);
    machine.nodes[2].memory_total = stdx::Bytes(1 << 20);
    let allocator = allocator_on(machine);
    let context = BuildContext::serial(&allocator);
    let values: Vec<Value> = (0..1_200_000i64).map(|it| Value::Integer(it << 40 ^ it)).collect();
    let design = TableDesign::placed(Placement::RoundRobin(nodes(&[0])));
    let table =
        build(DataType::BigInt, &values, 200_000, &BuildContext { design: &design, ..context });
    let table = table.unwrap();
    let free = allocator.machine().node_memory(NodeId(2)).unwrap().free;
    assert!(free.0 <= 1 << 20, "{free}");
    let full = Placement::IndexVector(nodes(&[1, 2]));
    let error = table.placed(&PlaceTarget::Table, &full, &context).unwrap_err();
    assert_eq!(error.state, SqlState::OUT_OF_MEMORY);
    assert!(error.message.contains("node 2 has"), "{error}");
    assert_eq!(nodes_of(&table.columns[0]), nodes(&[0]));
    let words: Vec<Value> = (0..150_000)
        .map(|it| Value::Text(format!("one of many words {}", it % 70_000).into()))
        .collect();
    let words = build(DataType::Text, &words, 9999, &BuildContext { design: &design, ..context });
    let copies = Placement::Replicated(Vec::new());
    let error = words.unwrap().placed(&PlaceTarget::Table, &copies, &context).unwrap_err();
    assert!(error.message.contains("node 2 has"), "{error}");
}

#[test]
fn a_cancelled_move_leaves_every_map_true() {
    let allocator = allocator_on(samples::four_sockets());
    let table = large(&allocator);
    for stop_after in 0..4 {
        let asked = AtomicUsize::new(0);
        let cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= stop_after;
        let context = BuildContext { cancelled: &cancelled, ..BuildContext::serial(&allocator) };
        let placement = Placement::IndexVector(nodes(&[3, 2, 1]));
        let result = table.placed(&PlaceTarget::Table, &placement, &context);
        if let Err(error) = result {
            assert_eq!(error.state, SqlState::QUERY_CANCELED);
        }
        check_maps(&table);
        assert_eq!(table.columns[0].value(600_000), Value::Integer(600_000 << 40 ^ 600_000));
    }
}

#[test]
fn small_columns_are_copied_and_large_ones_share_their_codes() {
    let allocator = allocator_on(samples::four_sockets());
    let context = BuildContext::serial(&allocator);
    let everywhere = Placement::Replicated(Vec::new());
    let small: Vec<Value> = (0..5000).map(Value::Integer).collect();
    let small = build(DataType::BigInt, &small, 999, &context).unwrap();
    let copied = small.placed(&PlaceTarget::Table, &everywhere, &context).unwrap();
    let found: Vec<_> = copied.replicas().map(|it| it.nodes.clone()).collect();
    assert_eq!(found, [[NodeId(1)], [NodeId(2)], [NodeId(3)]]);
    for replica in copied.replicas() {
        assert_eq!(nodes_of(&replica.columns[0]), replica.nodes);
        assert_eq!(replica.columns[0].value(4999), Value::Integer(4999));
    }
    assert!(copied.memory_bytes() > 3 * small.memory_bytes());
    // A rebuild makes the copies again, and they go with the demand.
    let batch = storage::table_to_arrow(&copied, 0..10).unwrap();
    let grown = copied.append(&[batch], &context).unwrap();
    assert_eq!(grown.replicas().count(), 3);
    let back = grown.placed(&PlaceTarget::Table, &Placement::Auto, &context).unwrap();
    assert_eq!(back.replicas().count(), 0);
    let large = large(&allocator).placed(&PlaceTarget::Table, &everywhere, &context).unwrap();
    for replica in large.replicas() {
        let shared = large.columns[0].iv().segment();
        assert!(Arc::ptr_eq(replica.columns[0].iv().segment(), shared));
    }
}

#[test]
fn defaults_at_load() {
    let allocator = allocator_on(samples::four_sockets());
    let context = BuildContext::serial(&allocator);
    let values: Vec<Value> = (0..300_000).map(Value::Integer).collect();
    let load = |placement: Placement| {
        let design = TableDesign::placed(placement);
        build(
            DataType::BigInt,
            &values,
            9999,
            &BuildContext { design: &design, turn: 2, ..context },
        )
        .unwrap()
    };
    let round = load(Placement::RoundRobin(Vec::new()));
    assert_eq!(nodes_of(&round.columns[0]), nodes(&[2]));
    let split = load(Placement::IndexVector(Vec::new()));
    assert_eq!(nodes_of(&split.columns[0]), nodes(&[0, 1, 2, 3]));
    let parts = load(Placement::Parts(Vec::new()));
    let rows: Vec<usize> = parts.parts().iter().map(|it| it.rows()).collect();
    assert_eq!(rows, [75_000; 4]);
    let dealt = load(Placement::Interleaved(nodes(&[1, 3])));
    assert_eq!(nodes_of(&dealt.columns[0]), nodes(&[1, 3]));
    // What first touch did is asked of the machine.
    let os = load(Placement::Os);
    assert!(os.columns[0].node_of_row(0).is_some());
    for table in [round, split, parts, dealt, os] {
        check_maps(&table);
        assert!(table.value(ColumnId(0), 77).as_i128().is_some());
    }
}
