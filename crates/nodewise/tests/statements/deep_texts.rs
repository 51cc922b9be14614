//! Texts that are kept and nest deeply: each statement that they become a part of has room on the stack for them, also on a small
//! thread, or is refused. The database is opened anew within one process, which knows by then how deep its texts are.

use std::path::Path;

use hardware::samples;
use nodewise::{Answer, Database, DatabaseOptions, NoProgress, Session};
use simulator::{DiskImage, SimulatedMachine};
use stdx::sync::{Arc, thread};

/// Links of the chains.
const LINKS: usize = 1_500;

fn on_a_small_thread(body: impl FnOnce() + Send + 'static) {
    let small = thread::Builder::new().stack_size(1 << 20);
    small.spawn(body).unwrap().join().unwrap();
}

fn session(image: DiskImage) -> (Arc<SimulatedMachine>, Session) {
    let machine = SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image);
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let opened = Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress);
    let session = opened.unwrap().session();
    (machine, session)
}

/// A chain that comes to what it begins with.
fn chain(of: &str) -> String {
    format!("{of}{}", " + 1 - 1".repeat(LINKS / 2))
}

fn value(session: &mut Session, sql: &str) -> String {
    first_value(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")))
}

fn first_value(answer: &Answer) -> String {
    nodewise::text::Cells::new(answer.batches[0].column(0)).text(0).unwrap_or("NULL".into())
}

fn run(session: &mut Session, sql: &str) {
    session.execute(sql).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_tables_keep_may_be_deep() {
    on_a_small_thread(|| {
        let use_it = |session: &mut Session| {
            run(session, "INSERT INTO t (a) VALUES (1); UPDATE t SET a = a + 1");
            run(session, "INSERT INTO t (a) VALUES (9) ON CONFLICT (b) DO UPDATE SET a = 3");
            assert_eq!(value(session, "SELECT count(*) FROM t WHERE c = a AND b = 5"), "1");
            assert_eq!(value(session, "SELECT 7::deep_domain"), "7");
            assert_eq!(session.execute("SELECT 8::deep_domain").unwrap_err().state.0, "23514");
            assert_eq!(session.execute("UPDATE t SET a = -1").unwrap_err().state.0, "23514");
            run(session, "DELETE FROM t");
        };
        let (machine, mut first) = session(DiskImage::default());
        let made = format!(
            "CREATE TABLE t (a INTEGER CHECK ({} > 0), b INTEGER PRIMARY KEY DEFAULT ({}), \
             c INTEGER GENERATED ALWAYS AS ({}) STORED); CREATE INDEX ON t (({})); \
             CREATE DOMAIN deep_domain AS INTEGER CHECK ({} = 7)",
            chain("a"),
            chain("5"),
            chain("a"),
            chain("a"),
            chain("VALUE"),
        );
        run(&mut first, &made);
        use_it(&mut first);
        drop(first);
        let (_machine, mut second) = session(machine.crash(0));
        use_it(&mut second);
    });
}

#[test]
fn bodies_of_macros_may_be_deep_and_stand_in_one_another() {
    on_a_small_thread(|| {
        let use_it = |session: &mut Session| {
            assert_eq!(value(session, "SELECT above(below(above(1)))"), "1");
            assert_eq!(value(session, "SELECT of_sql(above(2))"), "2");
            assert_eq!(value(session, "SELECT y FROM of_rows(3)"), "3");
            let prepared = session.prepare("SELECT above(above(below(above(4))))").unwrap();
            let answer = session.execute_prepared(&prepared, &[]).unwrap();
            assert_eq!(first_value(&answer), "4");
        };
        let (machine, mut first) = session(DiskImage::default());
        let made = format!(
            "CREATE MACRO below(a) AS {}; CREATE MACRO above(a) AS {}; CREATE MACRO of_rows(a) AS TABLE SELECT {} AS y; \
             CREATE FUNCTION of_sql(a INTEGER) RETURNS INTEGER LANGUAGE sql AS $$ SELECT {} $$",
            chain("a"),
            chain("below(a)"),
            chain("a"),
            chain("above(a)"),
        );
        run(&mut first, &made);
        use_it(&mut first);
        drop(first);
        let (_machine, mut second) = session(machine.crash(0));
        use_it(&mut second);
        // More than there is room for.
        let calls = "above(".repeat(12) + "1" + &")".repeat(12);
        let error = second.execute(&format!("SELECT {calls}")).unwrap_err();
        assert_eq!(error.state.0, "54001", "{error}");
    });
}

#[test]
fn casts_to_a_domain_do_not_double_forever() {
    on_a_small_thread(|| {
        let (_machine, mut session) = session(DiskImage::default());
        run(&mut session, "CREATE DOMAIN even AS INTEGER CHECK (VALUE % 2 = 0)");
        run(&mut session, "CREATE DOMAIN small AS INTEGER CHECK (VALUE < 100)");
        let same = format!("SELECT 4{}", "::even".repeat(400));
        assert_eq!(value(&mut session, &same), "4");
        let few = format!("SELECT 4{}", "::even::small".repeat(3));
        assert_eq!(value(&mut session, &few), "4");
        let many = format!("SELECT 4{}", "::even::small".repeat(200));
        let error = session.execute(&many).unwrap_err();
        assert_eq!(error.state.0, "54001", "{error}");
    });
}

/// Parts of a list.
const PARTS: usize = 300;

/// A list in which each part has its number.
fn list(part: impl Fn(usize) -> String) -> String {
    (1..=PARTS).map(part).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_is_joined_to_rows_may_be_much() {
    on_a_small_thread(|| {
        let (_, mut session) = session(DiskImage::default());
        run(&mut session, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (5)");
        run(&mut session, "CREATE MACRO least(x) AS (SELECT min(a) + x FROM t)");
        let texts = [
            list(|it| format!("(SELECT max(a) + {it} FROM t)")),
            list(|it| format!("(SELECT max(a) + {it} FROM t x WHERE x.a = t.a)")),
            list(|it| format!("(ARRAY(SELECT a + {it} FROM t))[1]")),
            list(|it| format!("(JSON_ARRAY(SELECT a + {it} FROM t) ->> 0)::int")),
            list(|it| format!("([x + {it} for x in [5]])[1]")),
            list(|it| format!("(list_transform([5], x -> x + {it}))[1]")),
            list(|it| format!("max(a + {it}) OVER (PARTITION BY a + {it})")),
            list(|it| format!("least({it})")),
        ];
        for columns in texts {
            assert_eq!(value(&mut session, &format!("SELECT {columns} FROM t")), "6", "{columns}");
            let sum = columns.replace("), ", ") + ");
            assert_eq!(value(&mut session, &format!("SELECT a FROM t ORDER BY {columns}")), "5");
            if !columns.contains("OVER") {
                let returned = format!("UPDATE t SET a = 5 RETURNING {columns}");
                assert_eq!(value(&mut session, &returned), "6", "{returned}");
                let prepared = session.prepare(&format!("SELECT {sum} FROM t")).unwrap();
                drop(session.execute_prepared(&prepared, &[]).unwrap());
            }
        }
        let rows = list(|it| format!("((SELECT max(a) + {it} FROM t))"));
        assert_eq!(
            value(&mut session, &format!("SELECT count(*) FROM (VALUES {rows}) v (x)")),
            "300"
        );
    });
}
