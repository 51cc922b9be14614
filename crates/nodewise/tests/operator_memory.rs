//! What operators hold, as `nodewise.memory` tells it while they work. A binary of its own, as its allocator is.

use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use nodewise::{Database, DatabaseOptions, Session};
use stdx::sync::Arc;

/// So that what statements take of the heap counts.
#[global_allocator]
static ALLOCATOR: memory::ReservingAllocator = memory::ReservingAllocator;

/// Rows of the test's table.
const ROWS: usize = 1_000_000;
/// Bytes from which on a statement is looked at: what threads have not told yet is nothing beside them.
const LARGE: i64 = 16 << 20;

fn open() -> Arc<Database> {
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).unwrap();
    let sql = "CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
         CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM d a, d b, d c;
         CREATE TABLE t AS SELECT (l.n + 1000 * h.n) * 7919 AS a, l.n * 1000 + h.n AS b FROM k l, k h";
    database.session().execute(sql).unwrap();
    database
}

/// What the largest statement holds, what its operators do, and what those of one kind do; in memory.
fn holdings(session: &mut Session, kind: &str) -> Option<[i64; 3]> {
    let sum = |of: &str| format!("CAST(sum(CASE WHEN {of} THEN bytes ELSE 0 END) AS BIGINT)");
    let held = sum("holder IN ('statement', 'statement heap')");
    let operators = sum("holder IN ('operator', 'operator heap')");
    let of_kind = sum(&format!("operator = '{kind}' AND holder <> 'operator files'"));
    let sql = format!(
        "SELECT {held} AS held, {operators}, {of_kind} FROM nodewise.memory \
         WHERE statement IS NOT NULL GROUP BY statement ORDER BY held DESC LIMIT 1"
    );
    let answer = session.query(&sql).unwrap();
    let batch = answer.batches.first()?;
    let number = |column: usize| batch.column(column).as_primitive::<Int64Type>().value(0);
    Some([number(0), number(1), number(2)])
}

/// Runs a statement and looks on: the most that operators of a kind were seen to hold.
fn watch(database: &Arc<Database>, kind: &str, sql: &str) -> i64 {
    let done = Arc::new(AtomicBool::new(false));
    let runner = std::thread::spawn({
        let (mut session, done, sql) = (database.session(), done.clone(), sql.to_owned());
        move || {
            let rows = session.query(&sql).map(|it| it.rows());
            done.store(true, Ordering::Relaxed);
            rows.unwrap()
        }
    });
    let mut session = database.session();
    let (mut most, mut uncovered) = (0, 0);
    while !done.load(Ordering::Relaxed) {
        let Some([held, operators, of_kind]) = holdings(&mut session, kind) else { continue };
        assert!(operators <= held, "{kind}: operators hold {operators} of {held}");
        most = most.max(of_kind);
        // Something may be given back between two looks at it, but not each time.
        let covered = held < LARGE || operators >= held / 10 * 9;
        uncovered = if covered { 0 } else { uncovered + 1 };
        assert!(uncovered < 4, "{kind}: operators hold {operators} of {held}");
    }
    runner.join().unwrap();
    most
}

#[test]
fn operators_hold_nearly_all_that_their_statement_holds_and_never_more() {
    let database = open();
    let cases = [
        (
            "build",
            "SELECT count(*), sum(x.b + y.b) FROM t x JOIN t y ON x.a = y.a AND x.b >= y.b - 1",
        ),
        (
            "aggregate",
            "SELECT count(*) FROM (SELECT a, b, count(*) AS c FROM t GROUP BY a, b) s WHERE c > 0",
        ),
        ("sort", "SELECT sum(a) FROM (SELECT a FROM t ORDER BY b DESC, a OFFSET 1) s"),
        ("result", "SELECT a, b FROM t WHERE a >= 0"),
    ];
    for (kind, sql) in cases {
        let most = (0..3).map(|_| watch(&database, kind, sql)).max().unwrap();
        assert!(most > 4 * ROWS as i64, "{kind}: {most} bytes at most");
    }
}

#[test]
fn explain_analyze_tells_memory_and_files_by_pipeline() {
    let database = open();
    let mut session = database.session();
    let sql = "EXPLAIN ANALYZE SELECT sum(a) FROM (SELECT a FROM t ORDER BY b DESC, a OFFSET 1) s";
    let lines = |session: &mut Session| {
        let answer = session.query(sql).unwrap();
        let texts = answer.batches[0].column(0).as_string::<i32>().clone();
        texts.iter().flatten().map(str::to_owned).collect::<Vec<_>>()
    };
    let of_pipelines = |lines: &[String]| {
        let own = lines.iter().filter(|it| it.starts_with("  memory: ") && it.contains("at most"));
        own.cloned().collect::<Vec<_>>()
    };
    let plain = of_pipelines(&lines(&mut session));
    assert!(plain.len() >= 2 && plain[0].contains("MiB"), "{plain:?}");
    assert!(!plain.iter().any(|it| it.contains("spilled")), "{plain:?}");
    session.execute("SET memory_limit = '8MB'").unwrap();
    let limited = of_pipelines(&lines(&mut session));
    assert!(limited[0].contains("MiB spilled to files"), "{limited:?}");
    assert!(!limited.last().unwrap().contains("spilled"), "{limited:?}");
}
