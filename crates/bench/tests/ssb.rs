//! The 13 queries of the star schema benchmark give the answers that are stored.

use bench::record::Verdict;
use bench::ssb;
use bench::workload::provide;
use nodewise::{Database, DatabaseOptions, NoProgress};

#[test]
fn all_13_answers_are_right() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ssb-0.1");
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).expect("the database opens");
    let data = ssb::data(ssb::SCALE).expect("the scale is known");
    provide(&database, &folder, &data, &NoProgress).expect("the data are made");
    let mut session = database.session();
    ssb::load(&mut session, &folder).expect("the tables are loaded");
    let judge = ssb::judge(ssb::SCALE);
    let mut wrong = Vec::new();
    for mut record in ssb::select(&[]).expect("all queries") {
        record.warm(&mut session, &judge);
        match record.verdict {
            Verdict::Right => {}
            other => wrong.push(format!("{}: {other:?}", record.name)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
