//! What workers take of the heap: placed on their nodes, and counted. A binary of its own, as its allocator is.

mod common;

use hardware::{Machine, samples};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

#[global_allocator]
static ALLOCATOR: memory::ReservingAllocator = memory::ReservingAllocator;

/// At which bitmaps of codes, keys and rows are longer than what is counted.
const SCALE: f64 = 0.1;

#[test]
fn nothing_large_that_a_query_makes_lies_just_anywhere() {
    let modelled = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 7);
    // Workers of the modelled machine take turns on one thread; those of this one are threads that know of nobody else.
    for machine in [modelled as Arc<dyn Machine>, hardware_linux::open()] {
        all_is_placed(machine);
    }
}

fn all_is_placed(machine: Arc<dyn Machine>) {
    let database = common::loaded(machine, Some(4), SCALE);
    let mut session = database.session();
    let queries = nodewise::tpch::queries().iter().map(|it| it.1);
    let before = memory::unplaced_pieces();
    // Groups, distinct values, sorts and results that are long.
    let long = [
        "SELECT l_orderkey, l_partkey, l_suppkey, count(*) FROM lineitem GROUP BY 1, 2, 3",
        "SELECT count(DISTINCT l_comment) FROM lineitem",
        "SELECT * FROM lineitem ORDER BY l_extendedprice, l_comment",
        "SELECT l_comment FROM lineitem UNION SELECT o_comment FROM orders",
    ];
    for sql in queries.chain(long) {
        session.query(sql).unwrap();
        assert_eq!(memory::unplaced_pieces(), before, "{sql}");
    }
}
