//! TPC-H's refresh functions: RF1 inserts new orders, RF2 deletes old ones, and the queries run between them and behind them.
//!
//! The rows wait in tables of the database before the time is taken, as those of a client would wait in its memory; each
//! function is one transaction.

use arrow_array::RecordBatch;
use nodewise::{Progress, Session, SqlError, SqlResult, SqlState};
use serde_json::json;
use stdx::Nanos;

use crate::record::{QueryRecord, Verdict, geometric_mean, run_rounds};
use crate::refresh_data::{RefreshRows, STREAMS_MAX, refresh_rows};

/// What a pair of refresh functions took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The number of the stream, from 1 on.
    pub stream: u64,
    /// Rows that RF1 inserted, orders and lines.
    pub inserted: u64,
    /// Rows that RF2 deleted, orders and lines.
    pub deleted: u64,
    /// Time of RF1.
    pub rf1: Nanos,
    /// Time of RF2.
    pub rf2: Nanos,
}

/// What the refresh functions took, and the queries between RF1 and RF2 and after all pairs.
pub struct RefreshReport {
    /// The pairs in order.
    pub pairs: Vec<Pair>,
    /// The queries between RF1 and RF2; a run for each pair.
    pub between: Vec<QueryRecord>,
    /// The queries after the last pair.
    pub after: Vec<QueryRecord>,
}

impl RefreshReport {
    /// Runs pairs of refresh functions, with a round of queries in the middle of each, and rounds of them at the end.
    pub fn run(
        session: &mut Session,
        scale: f64,
        pairs: u64,
        records: &[QueryRecord],
        runs: usize,
        progress: &dyn Progress,
    ) -> SqlResult<Self> {
        let fresh = || records.iter().map(QueryRecord::fresh).collect::<Vec<_>>();
        let (mut done, mut between, mut after) = (Vec::new(), fresh(), fresh());
        // The data are others than those that reference answers are of.
        let unchecked = |_: &str, _: &[RecordBatch]| Verdict::Unchecked;
        for stream in 1..=pairs {
            let pair = run_pair(session, scale, stream, |session| {
                run_rounds(session, &mut between, &unchecked, 1, progress);
            })?;
            done.push(pair);
        }
        run_rounds(session, &mut after, &unchecked, runs, progress);
        Ok(Self { pairs: done, between, after })
    }

    /// How many times as long the queries took as before, in the geometric mean of their fastest runs: between RF1 and
    /// RF2, and after all pairs. `None` where a query has no time.
    pub fn ratios(&self, before: &[QueryRecord]) -> [Option<f64>; 2] {
        let mean = |it: &[QueryRecord]| geometric_mean(it.iter().map(QueryRecord::best));
        let base = mean(before);
        let ratio = |it: &[QueryRecord]| Some(mean(it)?.0 as f64 / base?.0 as f64);
        [ratio(&self.between), ratio(&self.after)]
    }

    /// All of it for other programs.
    pub fn json(&self, before: &[QueryRecord]) -> serde_json::Value {
        let [between, after] = self.ratios(before);
        let pair = |it: &Pair| {
            json!({
                "stream": it.stream, "inserted": it.inserted, "deleted": it.deleted,
                "rf1_ns": it.rf1.0, "rf2_ns": it.rf2.0,
            })
        };
        json!({
            "pairs": self.pairs.iter().map(pair).collect::<Vec<_>>(),
            "queries_between_ratio": between,
            "queries_after_ratio": after,
        })
    }
}

/// Tables that the rows of a stream wait in.
const WAITING: [&str; 3] = ["refresh_orders", "refresh_lineitem", "refresh_keys"];

/// Runs RF1 and RF2 of a stream, and `middle` between them.
pub fn run_pair(
    session: &mut Session,
    scale: f64,
    stream: u64,
    middle: impl FnOnce(&mut Session),
) -> SqlResult<Pair> {
    if !(1..=STREAMS_MAX).contains(&stream) {
        let message = format!("there is no refresh stream {stream}");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
            .with_hint(format!("they go from 1 to {STREAMS_MAX}")));
    }
    let RefreshRows { orders, lines, old_keys } = refresh_rows(scale, stream);
    let expected = [orders.num_rows() as u64, lines.num_rows() as u64];
    for (name, rows) in WAITING.iter().zip([orders, lines, old_keys]) {
        session.import(name, vec![rows])?;
    }
    let (rf1, inserted) = timed(
        session,
        &[
            "INSERT INTO orders SELECT * FROM refresh_orders",
            "INSERT INTO lineitem SELECT * FROM refresh_lineitem",
        ],
    )?;
    check("RF1 inserted", &inserted, &expected)?;
    middle(session);
    let (rf2, deleted) = timed(
        session,
        &[
            "DELETE FROM lineitem WHERE l_orderkey IN (SELECT o_orderkey FROM refresh_keys)",
            "DELETE FROM orders WHERE o_orderkey IN (SELECT o_orderkey FROM refresh_keys)",
        ],
    )?;
    check("RF2 deleted", &deleted[1..], &expected[..1])?;
    session.execute(&format!("DROP TABLE {}", WAITING.join(", ")))?;
    let (inserted, deleted) = (inserted.iter().sum(), deleted.iter().sum());
    Ok(Pair { stream, inserted, deleted, rf1, rf2 })
}

/// Runs statements as one transaction: its time, and how many rows each of them changed.
fn timed(session: &mut Session, statements: &[&str]) -> SqlResult<(Nanos, Vec<u64>)> {
    let machine = session.database().machine().clone();
    let started = machine.now();
    let mut counts = Vec::new();
    session.execute("BEGIN")?;
    for sql in statements {
        match session.query(sql) {
            Ok(answer) => {
                let count = answer.tag.rsplit(' ').next().and_then(|it| it.parse().ok());
                counts.push(count.unwrap_or_default());
            }
            Err(error) => {
                session.execute("ROLLBACK")?;
                return Err(error);
            }
        }
    }
    session.execute("COMMIT")?;
    Ok((machine.now() - started, counts))
}

fn check(what: &str, counts: &[u64], expected: &[u64]) -> SqlResult<()> {
    if counts == expected {
        return Ok(());
    }
    let message = format!("{what} {counts:?} rows, and not {expected:?}");
    Err(SqlError::new(SqlState::INTERNAL, message)
        .with_hint("the tables are not those of the generator, or were refreshed before"))
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use nodewise::text::Cells;
    use nodewise::{Database, DatabaseOptions};
    use simulator::SimulatedMachine;

    use super::*;
    use crate::refresh_data::rows_of_keys;

    const SCALE: f64 = 0.01;

    /// Tables with the oldest orders of a scale.
    fn session() -> Session {
        let machine = SimulatedMachine::new(samples::laptop(), 3);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        let keys: Vec<i64> = (1..=100).map(|it: i64| (it >> 3 << 5) + (it & 7)).collect();
        let (orders, lines) = rows_of_keys(&keys, SCALE, 99);
        session.import("orders", vec![orders]).unwrap();
        session.import("lineitem", vec![lines]).unwrap();
        session
    }

    fn ask(session: &mut Session, sql: &str) -> String {
        let answer = session.query(sql).unwrap();
        let cells: Vec<Cells<'_>> = answer.batches[0].columns().iter().map(Cells::new).collect();
        let texts = cells.iter().map(|it| it.text(0).unwrap_or_default());
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_stream_is_the_same_each_time_and_follows_the_rules() {
        let rows = refresh_rows(SCALE, 3);
        assert_eq!(rows, refresh_rows(SCALE, 3));
        assert_ne!(rows, refresh_rows(SCALE, 4));
        assert_eq!(rows.orders.num_rows(), 15);
        let mut session = session();
        session.import("o", vec![rows.orders]).unwrap();
        session.import("l", vec![rows.lines]).unwrap();
        let wrong = "SELECT count(*) FROM l JOIN o ON l_orderkey = o_orderkey WHERE l_shipdate <= o_orderdate
            OR l_receiptdate <= l_shipdate OR l_shipdate > o_orderdate + 121 OR o_orderdate > DATE '1998-08-02'
            OR o_orderdate < DATE '1992-01-01' OR (l_linestatus = 'F') <> (l_shipdate <= DATE '1995-06-17')
            OR (l_returnflag = 'N') <> (l_receiptdate > DATE '1995-06-17') OR l_discount > 0.10 OR l_tax > 0.08
            OR l_quantity NOT BETWEEN 1 AND 50 OR l_suppkey NOT BETWEEN 1 AND 100 OR l_partkey NOT BETWEEN 1 AND 2000
            OR o_custkey % 3 = 0 OR length(o_comment) NOT BETWEEN 19 AND 78";
        assert_eq!(ask(&mut session, wrong), "0");
        let prices = "SELECT count(*) FROM (SELECT o_totalprice - sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) AS d
            FROM o JOIN l ON l_orderkey = o_orderkey GROUP BY o_orderkey, o_totalprice) s WHERE abs(d) > 0.2";
        assert_eq!(ask(&mut session, prices), "0");
        assert_eq!(
            ask(
                &mut session,
                "SELECT count(*) FROM o WHERE o_orderkey IN (SELECT o_orderkey FROM orders)"
            ),
            "0"
        );
    }

    #[test]
    fn a_pair_leaves_as_many_orders_and_no_key_twice() {
        let mut session = session();
        let keys = "SELECT count(*), count(DISTINCT o_orderkey) FROM orders";
        let lines =
            "SELECT count(*), count(DISTINCT (l_orderkey * 8 + l_linenumber)) FROM lineitem";
        let lost =
            "SELECT count(*) FROM lineitem WHERE l_orderkey NOT IN (SELECT o_orderkey FROM orders)";
        for stream in 1..=3 {
            let mut between = String::new();
            let pair = run_pair(&mut session, SCALE, stream, |it| between = ask(it, keys)).unwrap();
            assert_eq!(between, "115 115");
            assert_eq!(ask(&mut session, keys), "100 100");
            let counted = ask(&mut session, lines);
            let (all, distinct) = counted.split_once(' ').unwrap();
            assert_eq!(all, distinct);
            assert_eq!(ask(&mut session, lost), "0");
            assert!(pair.inserted > 30 && pair.deleted > 30 && pair.stream == stream);
        }
        // The same stream once more finds nothing to delete, and says so.
        assert!(run_pair(&mut session, SCALE, 1, |_| {}).is_err());
        assert!(run_pair(&mut session, SCALE, 1001, |_| {}).is_err());
    }
}
