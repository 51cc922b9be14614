//! What happens when memory runs out. A binary of its own, because what other tests take would count, too.

use std::sync::atomic::{AtomicBool, Ordering};

use nodewise::{Database, DatabaseOptions, Session};
use stdx::Bytes;
use stdx::sync::Arc;

/// So that what statements take of the heap counts.
#[global_allocator]
static ALLOCATOR: memory::ReservingAllocator = memory::ReservingAllocator;

/// A hundred million groups take gigabytes.
const LARGE: &str = "SELECT count(*) FROM (SELECT a.x + 100 * b.x + 10000 * c.x + 1000000 * e.x AS v \
                     FROM d a, d b, d c, d e) s GROUP BY v ORDER BY 1 LIMIT 1";

fn open(limit: Bytes) -> Arc<Database> {
    let options = DatabaseOptions { memory_limit: Some(limit), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).unwrap();
    let mut session = database.session();
    session.execute("CREATE TABLE d (x BIGINT)").unwrap();
    let digits: Vec<String> = (0..100).map(|it| format!("({it})")).collect();
    session.execute(&format!("INSERT INTO d VALUES {}", digits.join(","))).unwrap();
    database
}

fn state_of(session: &mut Session, sql: &str) -> String {
    session.query(sql).map_or_else(|error| error.state.0.to_owned(), |_| "00000".to_owned())
}

/// One test, as the heap of a program is one.
#[test]
fn the_statement_that_takes_too_much_ends_and_the_others_live_on() {
    let database = open(Bytes(256 << 20));
    let mut session = database.session();
    assert_eq!(state_of(&mut session, LARGE), "53200");
    assert_eq!(state_of(&mut session, "SELECT sum(x) FROM d"), "00000");

    // Who is within its share is not ended for another one.
    let stop = Arc::new(AtomicBool::new(false));
    let modest = std::thread::spawn({
        let (database, stop) = (database.clone(), stop.clone());
        move || {
            let mut session = database.session();
            let mut runs = 0;
            while !stop.load(Ordering::Relaxed) || runs < 3 {
                let groups = "SELECT v, count(*) FROM (SELECT a.x + 100 * b.x AS v FROM d a, d b, d c) s \
                              GROUP BY v";
                assert_eq!(session.query(groups).unwrap().rows(), 10_000);
                runs += 1;
            }
        }
    });
    assert_eq!(state_of(&mut session, LARGE), "53200");
    stop.store(true, Ordering::Relaxed);
    modest.join().unwrap();

    // A session's own limit, which says by whom it was set.
    session.execute("SET memory_limit = '16MB'").unwrap();
    let error = session.query(LARGE).unwrap_err();
    assert_eq!(error.state.0, "53200", "{error}");
    assert!(error.message.contains("memory_limit"), "{error}");
    session.execute("SET memory_limit = DEFAULT").unwrap();
    for wrong in ["0MB", "many", "-1MB", "5"] {
        let sql = format!("SET memory_limit = '{wrong}'");
        assert_eq!(session.execute(&sql).unwrap_err().state.0, "22023", "{wrong}");
    }
    // All that the statements had is back.
    let held = "SELECT sum(bytes) FROM nodewise.memory WHERE holder = 'statement'";
    let answer = session.query(held).unwrap();
    assert_eq!(answer.rows(), 1);
}
