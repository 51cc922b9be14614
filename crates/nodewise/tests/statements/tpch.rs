//! The 22 queries of TPC-H give the reference answers on every machine, worker count and schedule.

use crate::common::{loaded, loaded_after, wrong_answers};
use hardware::samples;
use simulator::SimulatedMachine;

/// The scales to test at: those named in NODEWISE_TEST_SCALES (`0.01,0.1,1`), else some that take seconds.
fn scales(otherwise: &[f64]) -> Vec<f64> {
    match std::env::var("NODEWISE_TEST_SCALES") {
        Ok(named) => named.split(',').map(|it| it.trim().parse().expect("a scale")).collect(),
        Err(_) => otherwise.to_vec(),
    }
}

#[test]
fn right_on_linux_with_one_and_two_workers() {
    for scale in scales(&[0.01, 0.1]) {
        for workers in [1, 2] {
            let database = loaded(hardware_linux::open(), Some(workers), scale);
            let wrong = wrong_answers(&mut database.session(), scale);
            assert!(wrong.is_empty(), "scale {scale}, {workers} workers: {wrong:#?}");
        }
    }
}

#[test]
fn right_with_all_texts_compressed() {
    let scale = 0.01;
    let setting = "SET text_compression = all";
    let database = loaded_after(hardware_linux::open(), Some(2), scale, setting);
    let mut session = database.session();
    let encodings = "SELECT count(*) FROM nodewise.columns WHERE encoding = 'fsst'";
    let compressed = session.query(encodings).expect("the view answers");
    let columns = nodewise::text::Cells::new(compressed.batches[0].column(0)).text(0);
    assert_eq!(columns.as_deref(), Some("3"));
    let wrong = wrong_answers(&mut session, scale);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn right_as_written_without_the_optimizer() {
    let scale = 0.01;
    let database = loaded(hardware_linux::open(), Some(2), scale);
    let mut session = database.session();
    session.execute("SET optimizer = off").expect("a switch");
    let wrong = wrong_answers(&mut session, scale);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn right_on_fake_topologies_under_every_schedule() {
    for name in ["laptop", "four_sockets", "sub_numa", "ring", "epyc"] {
        let topology = samples::by_name(name).expect("a sample machine");
        for (scale, seed) in scales(&[0.01]).into_iter().flat_map(|it| [(it, 1), (it, 2), (it, 3)])
        {
            let machine = SimulatedMachine::new(topology.clone(), seed);
            let database = loaded(machine, None, scale);
            let wrong = wrong_answers(&mut database.session(), scale);
            assert!(wrong.is_empty(), "topology {name}, scale {scale}, seed {seed}: {wrong:#?}");
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
