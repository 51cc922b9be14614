//! The 22 queries of TPC-H give the reference answers on every machine, worker count and schedule.

mod common;

use common::{loaded, wrong_answers};
use hardware::samples;
use simulator::SimulatedMachine;

#[test]
fn right_on_linux_with_one_and_two_workers() {
    for scale in [0.01, 0.1] {
        for workers in [1, 2] {
            let database = loaded(hardware_linux::open(), Some(workers), scale);
            let wrong = wrong_answers(&mut database.session(), scale);
            assert!(wrong.is_empty(), "scale {scale}, {workers} workers: {wrong:#?}");
        }
    }
}

#[test]
fn right_on_fake_topologies_under_every_schedule() {
    for name in ["laptop", "four_sockets", "sub_numa", "ring", "epyc"] {
        let topology = samples::by_name(name).expect("a sample machine");
        for seed in 1..=3 {
            let machine = SimulatedMachine::new(topology.clone(), seed);
            let database = loaded(machine, None, 0.01);
            let wrong = wrong_answers(&mut database.session(), 0.01);
            assert!(wrong.is_empty(), "topology {name}, seed {seed}: {wrong:#?}");
        }
    }
}

#[test]
fn sessions_at_once_share_the_workers_and_agree() {
    let database = loaded(hardware_linux::open(), Some(2), 0.01);
    let sessions: Vec<_> = (0..4)
        .map(|_| {
            let database = database.clone();
            std::thread::spawn(move || wrong_answers(&mut database.session(), 0.01))
        })
        .collect();
    for session in sessions {
        let wrong = session.join().expect("no session panics");
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
