//! Placing and cutting a table on real threads while four clients query it: no row is lost, no answer is wrong.

use nodewise::text::Cells;
use nodewise::{Answer, Database, DatabaseOptions, Session};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const ROWS: u64 = 200_000;
const CLIENTS: usize = 4;

fn cells(answer: &Answer) -> String {
    let mut text = String::new();
    for batch in &answer.batches {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                text += &Cells::new(column).text(row).unwrap_or_else(|| "NULL".into());
                text.push(' ');
            }
        }
    }
    text
}

fn text(session: &mut Session, sql: &str) -> String {
    cells(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")))
}

fn filled() -> Arc<Database> {
    let machine = hardware_linux::open();
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    let database = Database::open(machine, options).expect("the database opens");
    database
        .session()
        .execute(
            "CREATE TABLE d AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) \
                AS d (d);
             CREATE TABLE t AS SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d \
                + 100000 * g.d AS k, a.d AS digit, 'n' || (a.d + 10 * b.d) AS name \
                FROM d a, d b, d c, d e, d f, d g WHERE g.d < 2",
        )
        .expect("the table is filled");
    database
}

/// What the clients ask, and what the answer always is.
fn questions() -> [(&'static str, String); 4] {
    [
        ("SELECT count(*), sum(k) FROM t", format!("{ROWS} {} ", ROWS * (ROWS - 1) / 2)),
        ("SELECT digit, name FROM t WHERE k = 123456", "6 n56 ".into()),
        ("SELECT count(*) FROM t WHERE k >= 1000 AND k < 3000", "2000 ".into()),
        (
            "SELECT digit, count(*) FROM t WHERE name LIKE 'n1%' GROUP BY digit ORDER BY digit LIMIT 2",
            // n1 and n10 to n19: of each digit one from the tens, and of 1 one more.
            format!("0 {} 1 {} ", ROWS / 100, 2 * ROWS / 100),
        ),
    ]
}

#[test]
fn queries_run_on_while_their_table_moves() {
    let database = filled();
    let (done, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (database, done, asked) = (&database, &done, &asked);
            scope.spawn(move || {
                // One that fails ends all, so that nobody waits for it.
                let _ends = EndsClients(done);
                let mut session = database.session();
                let questions = questions();
                let mut turn = client;
                while !done.load(Ordering::Acquire) {
                    let (sql, expected) = &questions[turn % questions.len()];
                    assert_eq!(text(&mut session, sql), *expected, "{sql}");
                    asked.fetch_add(1, Ordering::AcqRel);
                    turn += 1;
                }
            });
        }
        // Also when an assertion fails here, the clients end.
        let _ends = EndsClients(&done);
        let mut session = database.session();
        let changes = [
            "ALTER TABLE t NUMA NODE (0)",
            "ALTER TABLE t NUMA NODE INTERLEAVE",
            "ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 4",
            "ALTER TABLE t ALTER COLUMN name NUMA NODE REPLICATE",
            "ALTER TABLE t PARTITION BY RANGE (k) (PARTITION VALUES < 2000, PARTITION OTHERS)",
            "ALTER TABLE t SPLIT PARTITION AT (100000)",
            "ALTER TABLE t ROWS 1000 TO 150000 NUMA NODE (0)",
            "ALTER TABLE t MERGE PARTITIONS",
            "ALTER TABLE t NUMA NODE SPLIT",
            "ALTER TABLE t NUMA NODE NULL",
        ];
        for sql in changes {
            let before = asked.load(Ordering::Acquire);
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let answer = session.query("CALL nodewise.verify_placement('t')").expect("it is asked");
            for batch in &answer.batches {
                let wrong = Cells::new(batch.column(7));
                for row in 0..batch.num_rows() {
                    assert_eq!(wrong.text(row).as_deref(), Some("0"), "{sql}, row {row}");
                }
            }
            // Each change is seen by some queries at least.
            while asked.load(Ordering::Acquire) < before + CLIENTS && !done.load(Ordering::Acquire)
            {
                std::thread::yield_now();
            }
        }
    });
    assert!(asked.load(Ordering::Acquire) >= CLIENTS);
}

struct EndsClients<'a>(&'a AtomicBool);

impl Drop for EndsClients<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn writers_and_moves_of_one_table_both_succeed() {
    let database = filled();
    const INSERTS: u64 = 12;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut session = database.session();
            for number in 0..INSERTS {
                let key = ROWS + number;
                let sql = format!("INSERT INTO t VALUES ({key}, 0, 'new')");
                session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        });
        let mut session = database.session();
        let mut turn = 0;
        while !writer.is_finished() || turn < 4 {
            let sql = [
                "ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 3",
                "ALTER TABLE t NUMA NODE INTERLEAVE",
                "ALTER TABLE t MERGE PARTITIONS",
                "ALTER TABLE t NUMA NODE (0)",
            ][turn % 4];
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            turn += 1;
        }
    });
    let rows = ROWS + INSERTS;
    let sums =
        text(&mut database.session(), "SELECT count(*), sum(k), count(DISTINCT name) FROM t");
    assert_eq!(sums, format!("{rows} {} 101 ", rows * (rows - 1) / 2));
}
