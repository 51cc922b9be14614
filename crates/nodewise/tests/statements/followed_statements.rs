//! Who follows the statements of a session is told of each when it has ended.

use hardware::samples;
use nodewise::{Database, DatabaseOptions, EndedStatement, SqlState};
use simulator::SimulatedMachine;
use stdx::sync::{Arc, Mutex};

#[test]
fn statements_are_told_with_what_they_did_and_when() {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
    let database = Database::open(machine, DatabaseOptions::default()).unwrap();
    let told: Arc<Mutex<Vec<EndedStatement>>> = Arc::default();
    let sink = told.clone();
    let mut session = database.session();
    session.follow_statements(Box::new(move |text| {
        let sink = sink.clone();
        let is_wanted = !text.contains("unwanted");
        is_wanted.then(|| Box::new(move |it| sink.lock().push(it)) as nodewise::Told)
    }));
    session.execute("CREATE TABLE t (a INTEGER)").unwrap();
    session.execute("INSERT INTO t VALUES (1), (2), (3)").unwrap();
    session
        .execute("SELECT count(*) FROM t x JOIN (SELECT a + 0 AS a FROM t) y USING (a)")
        .unwrap();
    session.execute("SELECT 'unwanted'").unwrap();
    session.execute("BEGIN").unwrap();
    session.execute("SELECT a / 0 FROM t").unwrap_err();
    session.execute("ROLLBACK").unwrap();
    session.execute("SELECT 'cannot be read").unwrap_err();
    session.prepare("SELECT a FROM t WHERE a = $1").unwrap();
    let told = told.lock();
    let kinds: Vec<&str> = told.iter().map(|it| it.kind).collect();
    let expected =
        ["create", "insert", "select", "begin", "select", "rollback", "other", "prepare"];
    assert_eq!(kinds, expected);
    let rows: Vec<Option<u64>> = told[..3].iter().map(|it| it.rows).collect();
    assert_eq!(rows, [Some(0), Some(3), Some(1)]);
    assert_eq!((told[4].error, told[6].error), (Some(SqlState("22012")), Some(SqlState::SYNTAX)));
    assert_eq!(told[6].text, "SELECT ..");
    for statement in told.iter() {
        assert!(statement.began <= statement.ended, "{statement:?}");
        for step in &statement.steps {
            assert!(statement.began <= step.began && step.began <= step.ended, "{statement:?}");
            assert!(step.ended <= statement.ended, "{statement:?}");
        }
    }
    let names = |it: &EndedStatement| -> Vec<String> {
        it.steps.iter().map(|it| it.name.clone()).collect()
    };
    assert!(names(&told[1]).contains(&"commit".to_owned()), "{:?}", told[1]);
    assert!(["bind", "plan"].iter().all(|it| names(&told[7]).contains(&(*it).to_owned())));
    let join = &told[2];
    let all = names(join);
    let place =
        |name: &str| all.iter().position(|it| it == name).unwrap_or_else(|| panic!("{all:?}"));
    let (build, probe) = (place("scan t, hash table"), place("scan t, groups"));
    assert!(join.steps[build].began <= join.steps[probe].began, "{join:?}");
    let works: Vec<_> = join.steps.iter().filter_map(|it| it.pipeline).collect();
    assert!(works.iter().any(|it| it.rows == 3 && it.morsels > 0), "{works:?}");
}
