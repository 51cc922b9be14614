//! The 99 queries of TPC-DS give the answers that are stored.

use bench::record::Verdict;
use bench::tpcds;
use bench::workload::provide;
use nodewise::{Database, DatabaseOptions, NoProgress};

const SCALE: f64 = 0.01;

#[test]
fn all_99_answers_are_right() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tpcds-0.01");
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).expect("the database opens");
    let data = tpcds::data(SCALE).expect("the scale is known");
    provide(&database, &folder, &data, &NoProgress).expect("the data are made");
    let mut session = database.session();
    tpcds::load(&mut session, &folder).expect("the tables are loaded");
    let judge = tpcds::judge(SCALE);
    let mut wrong = Vec::new();
    for mut record in tpcds::select(&[]).expect("all queries") {
        record.warm(&mut session, &judge);
        match record.verdict {
            Verdict::Right => {}
            other => wrong.push(format!("{}: {other:?}", record.name)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
