//! Statements whose groups and rows take more memory than they may have finish by writing them to files. A binary of its own,
//! because what other tests take would count, too.

mod common;

use common::sorted_texts;
use hardware::{Machine, samples};
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::Bytes;
use stdx::sync::Arc;

/// So that what statements take of the heap counts.
#[global_allocator]
static ALLOCATOR: memory::ReservingAllocator = memory::ReservingAllocator;

/// Groupings of so many groups that they do not fit, of each kind of key, rows that are kept, and joins of each kind with a
/// build side that does not fit.
const QUERIES: [&str; 33] = [
    "SELECT count(*), sum(c), sum(s), max(m) FROM \
        (SELECT v, count(*) AS c, sum(w) AS s, min(w) AS m FROM t GROUP BY v) g",
    "SELECT v, count(*) AS c, sum(w) FROM t GROUP BY v HAVING count(*) > 2 AND min(w) < 40",
    "SELECT count(*), min(k), max(k) FROM (SELECT 'key ' || v AS k, count(*) FROM t GROUP BY 'key ' || v) g",
    "SELECT count(*), sum(length(a)) FROM (SELECT v, min('text ' || w) AS a FROM t GROUP BY v) g",
    "SELECT sum(x), count(*) FROM (SELECT v, sum(w / 7e0) AS x FROM t GROUP BY v) g",
    "SELECT count(*), sum(a) FROM (SELECT v, w % 3 AS r, avg(w) AS a FROM t GROUP BY v, w % 3) g",
    "SELECT count(*), sum(d) FROM (SELECT v, count(DISTINCT w % 5) AS d FROM t GROUP BY v) g",
    "SELECT count(*), sum(v) FROM (SELECT DISTINCT v, w % 7 FROM t) g",
    "SELECT count(DISTINCT v), count(DISTINCT w) FROM t",
    "SELECT count(*), sum(n) FROM (SELECT nullif(v % 600000, 17) AS k, count(w) FILTER (WHERE w % 2 = 0) AS n \
        FROM t GROUP BY 1) g",
    "WITH r AS MATERIALIZED (SELECT v, w, 'some text ' || w AS x FROM t) \
        SELECT (SELECT count(*) FROM r), (SELECT sum(v) FROM r), (SELECT max(x) FROM r)",
    "SELECT v, w, x FROM (SELECT v, w, 'text ' || w AS x, row_of FROM \
        (SELECT v, w, v * 3 - w AS row_of FROM t) a ORDER BY row_of, w OFFSET 5) s WHERE v % 20000 = 7",
    "SELECT count(*), sum(v), min(x) FROM (SELECT v, 'a' || w AS x FROM t ORDER BY x DESC, v OFFSET 1000) s",
    "SELECT x, v FROM (SELECT v, nullif('t' || w % 1000, 't7') AS x FROM t ORDER BY x NULLS FIRST, v DESC \
        OFFSET 800000 LIMIT 90000) s WHERE v % 1000 = 3",
    "SELECT count(*), sum(v), min(x) FROM (SELECT v, 'a' || w AS x FROM t UNION ALL SELECT w, 'b' || v FROM t) u",
    "SELECT count(*), sum(a.w), sum(b.w), min(a.v) FROM t a JOIN t b ON a.v = b.v + 1",
    "SELECT count(*), sum(a.w), count(b.w), sum(b.v) FROM t a LEFT JOIN (SELECT v * 2 AS v, w FROM t) b ON a.v = b.v AND a.w < b.w",
    "SELECT count(*), count(a.w), count(b.w), sum(a.v), sum(b.v) FROM t a \
        FULL JOIN (SELECT nullif(v * 2, 40) AS v, w FROM t) b ON a.v = b.v",
    "SELECT count(*), count(a.v), sum(b.w) FROM t a RIGHT JOIN (SELECT v + 9000 AS v, w FROM t) b ON a.v = b.v AND a.w = b.w",
    "SELECT count(*), sum(w) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.v = a.v * 3 AND b.w <> a.w)",
    "SELECT count(*), sum(w) FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.v = a.v * 3 + 1)",
    "SELECT count(*), sum(w) FROM t WHERE v NOT IN (SELECT v * 3 FROM t)",
    "SELECT count(*), sum(w) FROM t WHERE nullif(v, 12) NOT IN (SELECT v * 3 FROM t WHERE v > 3)",
    "SELECT count(*), sum(w) FROM t WHERE v NOT IN (SELECT nullif(v * 3, 9) FROM t)",
    "SELECT count(*), sum(w) FROM t WHERE (v IN (SELECT v * 3 FROM t)) = (w > 50)",
    "SELECT count(*), sum(length(b.x)) FROM t a JOIN (SELECT 'k' || v AS k, 'some text ' || w AS x FROM t) b ON 'k' || a.v = b.k",
    "SELECT count(*), sum(a.w - b.w) FROM t a JOIN t b ON a.v = b.v AND a.w = b.w JOIN t c ON c.v = a.v + b.v",
    "SELECT count(*), sum(s), sum(n) FROM (SELECT a.v, sum(b.w) AS s, count(*) AS n FROM t a JOIN t b ON b.v = a.v * 2 \
        GROUP BY a.v) g",
    "SELECT count(*), sum(c.n) FROM (SELECT v, count(*) AS n FROM t GROUP BY v) c JOIN t b ON b.v = c.v WHERE c.n > 1",
    "SELECT a.v, a.w, b.w FROM t a JOIN t b ON a.v = b.v + 7 ORDER BY a.v DESC, a.w, b.w LIMIT 50",
    "SELECT count(*), sum(n), sum(r), sum(d), sum(s), sum(x) FROM (SELECT row_number() OVER (ORDER BY v, w) AS n, \
        rank() OVER (ORDER BY v) AS r, dense_rank() OVER (ORDER BY v) AS d, sum(w) OVER (ORDER BY v) AS s, \
        count(nullif(w % 3, 0)) OVER (ORDER BY v, w ROWS UNBOUNDED PRECEDING) AS x FROM t) q",
    "SELECT count(*), sum(f), sum(a) FROM (SELECT sum(w / 7e0) OVER (ORDER BY v, w ROWS UNBOUNDED PRECEDING) AS f, \
        avg(w) FILTER (WHERE w % 2 = 0) OVER (ORDER BY v) AS a FROM t) q",
    "SELECT count(*), sum(n * w), sum(l) FROM (SELECT w, row_number() OVER (PARTITION BY v % 1000 ORDER BY w, v) AS n, \
        lag(w, 2) OVER (PARTITION BY v % 1000 ORDER BY w, v) AS l FROM t) q",
];

fn session(machine: Arc<dyn Machine>, workers: usize) -> Session {
    let options = DatabaseOptions { workers: Some(workers), ..DatabaseOptions::default() };
    let mut session = Database::open(machine, options).unwrap().session();
    let sql = "CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM d a, d b, d c;
         CREATE TABLE t AS SELECT (l.n + 1000 * h.n + 1000000 * x.d) * 7919 % 700001 AS v, \
            (l.n + 1000 * h.n + 1000000 * x.d) % 9973 AS w FROM k l, k h, d x WHERE h.n < 500 AND x.d < 2";
    session.execute(sql).unwrap();
    session
}

fn answer(session: &mut Session, sql: &str) -> Vec<String> {
    sorted_texts(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).batches)
}

/// The answer to a query, and whether it has written to files.
fn answer_and_spilled(session: &mut Session, sql: &str) -> (Vec<String>, bool) {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let spilled = answer.profile.pipelines.iter().any(|it| it.spilled > Bytes(0));
    (sorted_texts(&answer.batches), spilled)
}

/// The first query wants some 120 MiB without a limit, and each worker has some under way at a time.
fn answers_are_the_same(machine: Arc<dyn Machine>, workers: usize, limit: &str) {
    let mut session = session(machine, workers);
    let free: Vec<_> = QUERIES.iter().map(|it| answer_and_spilled(&mut session, it)).collect();
    assert!(!free[0].1, "there is enough for it");
    session.execute(&format!("SET memory_limit = '{limit}'")).unwrap();
    let mut spilled = Vec::new();
    for (sql, (expected, _)) in QUERIES.iter().zip(&free) {
        let (answer, is_spilled) = answer_and_spilled(&mut session, sql);
        assert_eq!(&answer, expected, "{limit}: {sql}");
        spilled.push(is_spilled);
    }
    // One of each kind, and all but a few.
    assert!(spilled.iter().step_by(3).all(|it| *it), "{limit}: {spilled:?}");
    assert!(spilled.iter().filter(|it| !**it).count() < 4, "{limit}: {spilled:?}");
}

#[test]
fn answers_are_the_same_with_a_fraction_of_the_memory() {
    answers_are_the_same(hardware_linux::open(), 2, "28MB");
}

#[test]
fn answers_are_the_same_with_a_fraction_of_the_memory_on_a_modelled_machine() {
    answers_are_the_same(SimulatedMachine::new(samples::four_sockets(), 3), 4, "36MB");
}

#[test]
fn a_disk_that_fills_or_fails_is_one_error_and_nothing_stays_on_it() {
    let machine = SimulatedMachine::new(samples::four_sockets(), 3);
    let mut session = session(machine.clone(), 4);
    let expected = answer(&mut session, QUERIES[0]);
    session.execute("SET memory_limit = '28MB'").unwrap();
    assert_eq!(machine.disk_content(), (Bytes(0), 0));
    let mut states = Vec::new();
    for (room, good) in
        [(1 << 20, None), (u64::MAX, Some(0)), (u64::MAX, Some(1)), (u64::MAX, Some(40))]
    {
        machine.set_disk(Bytes(room), good);
        let error = session.query(QUERIES[0]).unwrap_err();
        assert!(error.hint.is_some() || error.message.contains("the disk fails"), "{error}");
        states.push(error.state.0);
        assert_eq!(machine.disk_content(), (Bytes(0), 0), "{error}");
    }
    assert_eq!(states, ["53100", "58030", "58030", "58030"]);
    machine.set_disk(Bytes(u64::MAX), None);
    assert_eq!(answer(&mut session, QUERIES[0]), expected);
    assert_eq!(machine.disk_content(), (Bytes(0), 0));
}

#[test]
fn files_go_where_they_are_told_to() {
    let mut session = session(hardware_linux::open(), 2);
    session
        .execute("SET memory_limit = '28MB'; SET temp_directory = '/proc/no/such/place'")
        .unwrap();
    let error = session.query(QUERIES[0]).unwrap_err();
    assert_eq!((error.state.0, error.message.contains("/proc/no")), ("58030", true), "{error}");
    session.execute("SET temp_directory = DEFAULT").unwrap();
    assert_eq!(session.query(QUERIES[0]).unwrap().rows(), 1);
}
