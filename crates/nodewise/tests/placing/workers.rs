//! Who works where, seen from outside: by the trace on machines of four nodes, and by blocked workers on this one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use scheduler::{
    Morsel, MorselBody, MorselContext, MorselRange, PipelineJob, Scheduler, SchedulerOptions,
};
use simulator::SimulatedMachine;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex, thread};

/// A session on four sockets, with `t` of a million rows that is split over the nodes, and `small` of a tenth of that.
fn on_four_sockets() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("four_sockets").unwrap(), 1);
    let mut session = Database::open(machine, DatabaseOptions::default()).unwrap().session();
    session.execute("CREATE TABLE d (x INTEGER)").unwrap();
    let digits: Vec<String> = (0..100).map(|it| format!("({it})")).collect();
    session.execute(&format!("INSERT INTO d VALUES {}", digits.join(","))).unwrap();
    let rows = "SELECT a.x * 10000 + b.x * 100 + c.x AS n, a.x * b.x * c.x AS k FROM d a, d b, d c";
    session.execute(&format!("CREATE TABLE t NUMA NODE SPLIT AS {rows}")).unwrap();
    let tenth = format!("CREATE TABLE small AS {rows} WHERE a.x < 10");
    session.execute(&tenth).unwrap();
    session.execute("SET trace = on").unwrap();
    session
}

/// Columns of numbers of the trace, by row, of what workers did since the last time; callers do tiny pipelines themselves.
fn traced(session: &mut Session, columns: &str) -> Vec<Vec<i64>> {
    session.execute("SET trace = off").unwrap();
    let workers = session.database().workers();
    let sql =
        format!("SELECT {columns} FROM nodewise.trace WHERE NOT finishing AND worker < {workers}");
    let answer = session.query(&sql).unwrap();
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let cell = |row, at: &arrow_array::ArrayRef| at.as_primitive::<Int64Type>().value(row);
        let line = |row| batch.columns().iter().map(|it| cell(row, it)).collect::<Vec<_>>();
        rows.extend((0..batch.num_rows()).map(line));
    }
    session.database().clear_trace();
    session.execute("SET trace = on").unwrap();
    rows
}

#[test]
fn small_queries_stay_on_one_node_and_large_ones_do_not() {
    let mut session = on_four_sockets();
    let mut nodes = |sql: &str| -> BTreeSet<i64> {
        session.query(sql).unwrap();
        traced(&mut session, "node").into_iter().map(|it| it[0]).collect()
    };
    assert_eq!(nodes("SELECT sum(k) FROM small").len(), 1);
    assert_eq!(nodes("SELECT sum(n + k) FROM t").len(), 4);
}

#[test]
fn a_class_that_is_pinned_to_nodes_runs_nowhere_else() {
    let mut session = on_four_sockets();
    session.execute("SET class_nodes = '200: 2-3'").unwrap();
    let mut nodes = |priority: u8| -> BTreeSet<i64> {
        session.execute(&format!("SET priority = {priority}")).unwrap();
        session.query("SELECT sum(n + k) FROM t").unwrap();
        traced(&mut session, "node").into_iter().map(|it| it[0]).collect()
    };
    assert_eq!(nodes(200), [2, 3].into());
    assert_eq!(nodes(100), [0, 1, 2, 3].into());
}

#[test]
fn narrow_pipelines_that_do_not_need_each_other_run_at_once() {
    let mut session = on_four_sockets();
    session.execute("CREATE TABLE other AS SELECT n, k FROM small").unwrap();
    let sql = "SELECT (SELECT sum(k + 1) FROM small), (SELECT sum(n * 2) FROM other)";
    session.query(sql).unwrap();
    let mut spans: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for row in traced(&mut session, "pipeline, start_ns, end_ns") {
        let span = spans.entry(row[0]).or_insert((row[1], row[2]));
        *span = (span.0.min(row[1]), span.1.max(row[2]));
    }
    let spans: Vec<(i64, i64)> = spans.into_values().collect();
    let overlap = |a: &(i64, i64), b: &(i64, i64)| a.0 < b.1 && b.0 < a.1;
    let pairs =
        spans.iter().enumerate().flat_map(|(at, a)| spans[..at].iter().map(move |b| (a, b)));
    assert!(pairs.clone().any(|(a, b)| overlap(a, b)), "one after the other: {spans:?}");
}

#[test]
fn a_client_that_gives_up_ends_its_statement() {
    let database = Database::open(hardware_linux::open(), DatabaseOptions::default()).unwrap();
    let mut session = database.session();
    session.execute("CREATE TABLE d (x INTEGER)").unwrap();
    let ones = vec!["(1)"; 2000].join(",");
    session.execute(&format!("INSERT INTO d VALUES {ones}")).unwrap();
    let handle = session.cancel_handle();
    let done = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                handle.cancel();
                thread::yield_now();
            }
        });
        let ended = session
            .query("SELECT sum(a.x + b.x + c.x) FROM d a, d b, d c WHERE a.x = b.x AND b.x = c.x");
        done.store(true, Ordering::Release);
        ended
    });
    assert_eq!(ended.unwrap_err().state.0, "57014");
    let answer = session.query("SELECT count(*) FROM d").unwrap();
    assert_eq!(answer.batches[0].column(0).as_primitive::<Int64Type>().value(0), 2000);
}

/// Counts its morsels; those of the first `blocking` rows wait at a lock that the test holds.
struct Waiting {
    lock: Arc<Mutex<()>>,
    blocking: u64,
    ran: AtomicU64,
}

impl MorselBody for Waiting {
    fn run(&self, _: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        if morsel.start < self.blocking {
            drop(self.lock.lock());
        }
        self.ran.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    }
}

#[test]
fn when_all_workers_block_the_watchdog_starts_others() {
    let options = SchedulerOptions { workers: Some(2), ..SchedulerOptions::default() };
    let scheduler = Scheduler::start(hardware_linux::open(), options).unwrap();
    let lock = Arc::new(Mutex::new(()));
    let job = |rows, blocking| {
        let range = MorselRange { node: None, start: 0, end: rows };
        let ran = AtomicU64::new(0);
        let body = Arc::new(Waiting { lock: lock.clone(), blocking, ran });
        (PipelineJob::new(vec![range], 1, body.clone()), body)
    };
    let held = lock.lock();
    let blocked = scheduler.submit(job(2, 2).0);
    // Comes to its end only if somebody else than the two works, as often as there is room for more of them.
    let (plain, body) = job(500, 0);
    assert_eq!(scheduler.run(plain).morsels, 500);
    assert_eq!(body.ran.load(Ordering::Relaxed), 500);
    let stats = scheduler.stats();
    assert!(stats.watchdog.started >= 1 && stats.watchdog.found_asleep >= 1, "{stats:?}");
    assert!(stats.workers.iter().any(|it| it.extra && it.morsels > 0), "{stats:?}");
    assert!(!blocked.is_finished());
    drop(held);
    assert_eq!(scheduler.wait(&blocked).morsels, 2);
    // The two are awake again, and the others leave their hardware threads to them.
    let of_others = || -> u64 {
        scheduler.stats().workers.iter().filter(|it| it.extra).map(|it| it.morsels).sum()
    };
    let before = of_others();
    assert_eq!(scheduler.run(job(5000, 0).0).morsels, 5000);
    assert_eq!(of_others(), before);
}
