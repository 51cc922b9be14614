//! Every SQL test on real threads and on fake topologies: the same answers everywhere.

use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions};
use simulator::SimulatedMachine;
use std::sync::Arc;

fn run_all(name: &str, workers: Option<usize>, machine: impl Fn() -> Arc<dyn Machine>) {
    let files = sqltest::files();
    assert!(!files.is_empty(), "no SQL tests found");
    let mut records = 0;
    let mut failures = Vec::new();
    for file in &files {
        let open = || {
            let options = DatabaseOptions { workers, ..DatabaseOptions::default() };
            Database::open(machine(), options).expect("the database opens").session()
        };
        let (count, failed) = sqltest::run_file(file, open);
        records += count;
        failures.extend(failed);
    }
    let bad = failures.len();
    assert!(bad == 0, "{name}: {bad} of {records} records failed\n{}", failures.join("\n\n"));
}

fn simulated(name: &'static str) {
    for seed in [1, 2, 3] {
        let topology = || samples::by_name(name).expect("a sample machine");
        run_all(&format!("{name}, seed {seed}"), None, || SimulatedMachine::new(topology(), seed));
    }
}

#[test]
fn linux_with_all_workers() {
    run_all("linux", None, || hardware_linux::open());
}

#[test]
fn linux_with_one_worker() {
    run_all("linux, one worker", Some(1), || hardware_linux::open());
}

#[test]
fn simulated_laptop() {
    simulated("laptop");
}

#[test]
fn simulated_four_sockets() {
    simulated("four_sockets");
}

#[test]
fn simulated_sub_numa() {
    simulated("sub_numa");
}

#[test]
fn simulated_cpuless_node() {
    simulated("cpuless");
}
