//! Slow statements are told to who wants to know.

use hardware::samples;
use nodewise::{Database, DatabaseOptions, SlowStatement, SlowStatements, SqlState};
use simulator::SimulatedMachine;
use stdx::Nanos;
use stdx::sync::{Arc, Mutex};

#[test]
fn slow_statements_are_told_with_plans_and_without_passwords() {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
    let database = Database::open(machine, DatabaseOptions::default()).unwrap();
    let told: Arc<Mutex<Vec<SlowStatement>>> = Arc::default();
    let sink = told.clone();
    let tell = Box::new(move |it: &SlowStatement| sink.lock().push(it.clone()));
    let log = SlowStatements { from: Nanos(0), plans: true, tell };
    assert!(database.tell_slow_statements(log));
    let mut session = database.session();
    session.execute("CREATE TABLE t (a INTEGER)").unwrap();
    session.execute("INSERT INTO t VALUES (1), (2)").unwrap();
    session.execute("SELECT a FROM t WHERE a > 1").unwrap();
    session.execute("SELECT a / 0 FROM t").unwrap_err();
    session.execute("SELECT 'my password'").unwrap();
    let told = told.lock();
    let of = |text: &str| {
        told.iter().find(|it| it.text == text).unwrap_or_else(|| panic!("{text}: {told:?}"))
    };
    let query = of("SELECT a FROM t WHERE a > 1");
    assert_eq!((query.rows, query.error), (1, None));
    assert!(query.plan.as_ref().is_some_and(|it| it.contains("scan t")), "{query:?}");
    assert_eq!(of("SELECT a / 0 FROM t").error, Some(SqlState("22012")));
    assert_eq!(of("INSERT INTO t VALUES (1), (2)").rows, 2);
    assert_eq!(of("SELECT $1").session, query.session);
    let nobody = Box::new(|_: &SlowStatement| ());
    assert!(!database.tell_slow_statements(SlowStatements {
        from: Nanos(1),
        plans: false,
        tell: nobody
    }));
}
