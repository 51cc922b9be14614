//! The queries of benchmarks whose data we make give the answers that are stored.

use bench::record::Verdict;
use bench::suite::MadeSuite;
use bench::workload::provide;
use nodewise::{Database, DatabaseOptions, NoProgress};

fn all_are_right(suite: &MadeSuite, queries: usize) {
    let scale = suite.answered_scale;
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!("{}-{scale}", suite.name));
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).expect("the database opens");
    let data = (suite.data)(scale).expect("the scale is known");
    provide(&database, &folder, &data, &NoProgress).expect("the data are made");
    let mut session = database.session();
    suite.load(&mut session, &folder).expect("the tables are loaded");
    let judge = suite.judge(scale);
    let records = suite.select(&[]).expect("all queries");
    assert_eq!((records.len(), suite.answers.len()), (queries, queries));
    let mut wrong = Vec::new();
    for mut record in records {
        record.warm(&mut session, &judge);
        match record.verdict {
            Verdict::Right => {}
            other => wrong.push(format!("{}: {other:?}", record.name)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn of_tpcds() {
    all_are_right(&bench::tpcds::SUITE, 99);
}

#[test]
fn of_the_star_schema_benchmark() {
    all_are_right(&bench::ssb::SUITE, 13);
}
