//! Sessions are cheap: a thousand of them cost no thread. Alone in its program, because it counts the program's threads.

use nodewise::{Database, DatabaseOptions};

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

#[test]
fn a_thousand_sessions_cost_no_thousand_threads() {
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).unwrap();
    database.session().execute("CREATE TABLE t AS SELECT 1 AS x").unwrap();
    let before = threads();
    let mut sessions: Vec<_> = (0..1000).map(|_| database.session()).collect();
    for session in &mut sessions {
        assert_eq!(session.query("SELECT x FROM t").unwrap().rows(), 1);
    }
    assert_eq!(threads(), before);
}
