//! What a commit costs beside a bare sync, alone and with many sessions. A measurement:
//! `cargo test -p nodewise --test commit_latency -- --ignored --nocapture`.

use std::path::Path;
use std::time::{Duration, Instant};

use hardware::Machine;
use nodewise::{Database, DatabaseOptions, NoProgress};
use stdx::sync::{Arc, thread};

/// Commits of each session.
const COMMITS: usize = 100;

fn per_second(count: usize, span: Duration) -> f64 {
    count as f64 / span.as_secs_f64()
}

/// Writes of 512 bytes into zeros that are there, each synced.
fn bare(machine: &dyn Machine, path: &Path) -> f64 {
    let folder = machine.open_folder(path).unwrap();
    let file = folder.create("bare").unwrap();
    file.write_at(0, &[0; 1 << 20]).unwrap();
    file.sync().unwrap();
    let started = Instant::now();
    for number in 0..COMMITS as u64 {
        file.write_at(number * 512, &[1; 512]).unwrap();
        file.sync().unwrap();
    }
    let rate = per_second(COMMITS, started.elapsed());
    folder.remove("bare").unwrap();
    rate
}

/// Commits a second of so many sessions, each into a table of its own.
fn commits(database: &Arc<Database>, sessions: usize, synchronous: &str) -> f64 {
    for number in 0..sessions {
        let sql = format!("CREATE OR REPLACE TABLE t{number} AS SELECT 1 AS i");
        database.session().execute(&sql).unwrap();
    }
    let started = Instant::now();
    let work = |number: usize| {
        let database = database.clone();
        let setting = format!("SET synchronous_commit = {synchronous}");
        thread::spawn(move || {
            let mut session = database.session();
            session.execute(&setting).unwrap();
            for row in 0..COMMITS {
                session.execute(&format!("INSERT INTO t{number} VALUES ({row})")).unwrap();
            }
        })
    };
    let threads: Vec<_> = (0..sessions).map(work).collect();
    threads.into_iter().for_each(|it| it.join().unwrap());
    per_second(sessions * COMMITS, started.elapsed())
}

#[test]
#[ignore = "a measurement"]
fn a_commit_beside_a_bare_sync() {
    let path = std::env::temp_dir().join(format!("nodewise-latency-{}", std::process::id()));
    let machine = hardware_linux::open();
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let before = bare(&*machine, &path);
    let database = Database::open_dir(machine.clone(), &path, options, &NoProgress).unwrap();
    let one = commits(&database, 1, "on");
    let many = commits(&database, 64, "on");
    let unsynced = commits(&database, 1, "off");
    drop(database);
    let after = bare(&*machine, &path);
    println!(
        "a second: {before:.0} and {after:.0} bare syncs, {one:.0} commits of 1 session, {many:.0} of 64, \
         {unsynced:.0} of 1 that are not synced"
    );
    assert!(one > 0.0 && many > one, "64 sessions share their syncs");
    std::fs::remove_dir_all(&path).unwrap();
}
