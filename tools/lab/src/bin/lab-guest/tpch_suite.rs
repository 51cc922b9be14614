//! The 22 queries of TPC-H are right under every placement.

use bench::record::Verdict as Answered;
use bench::tpch::{judge, select};
use lab::topology::GuestMachine;

use crate::checks::{Checks, Verdict};
use crate::kernel_view::KernelView;
use crate::tables;

const SCALE: f64 = 0.01;
/// The values of `default_placement`.
const PLACEMENTS: [&str; 6] = ["auto", "rr", "ivp", "pp", "interleave", "os"];
const ALL_PLACEMENTS_ON: &str = "4-mesh";
const SOME_PLACEMENTS: [&str; 2] = ["ivp", "pp"];
/// Tables that are moved after they were loaded, and how.
const CHANGES: [&str; 3] = [
    "ALTER TABLE nation NUMA NODE REPLICATE",
    "ALTER TABLE orders PARTITION BY HASH (o_orderkey) PARTITIONS 4",
    "ALTER TABLE lineitem PARTITION BY HASH (l_orderkey) PARTITIONS 4",
];

/// Runs the suite: all placements on one machine, on the others those in which the shape of the machine matters most.
pub fn run(checks: &mut Checks, machine: &GuestMachine) {
    let all = machine.name == ALL_PLACEMENTS_ON;
    for placement in PLACEMENTS.into_iter().filter(|it| all || SOME_PLACEMENTS.contains(it)) {
        checks.run(&format!("tpch::{placement}"), || queries(placement, &[]));
    }
    if all {
        checks.run("tpch::co_located_and_replicated", || queries("auto", &CHANGES));
    }
}

fn queries(placement: &str, changes: &[&str]) -> Verdict {
    let (kernel, database) = (KernelView::open()?, tables::database()?);
    let mut session = database.session();
    tables::execute(&mut session, &format!("SET default_placement = {placement}"))?;
    tables::load(&mut session)?;
    for change in changes {
        tables::execute(&mut session, change)?;
    }
    tables::verify(&database, &kernel)?;
    let mut records = select(&[]).map_err(|it| format!("there is no query {it}"))?;
    for record in &mut records {
        record.warm(&mut session, &judge(SCALE));
        if record.verdict != Answered::Right {
            return Err(format!("{}: {:?}", record.name, record.verdict));
        }
    }
    tables::verify(&database, &kernel).map(|_| ())
}
