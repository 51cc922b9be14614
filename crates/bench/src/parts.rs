//! What it costs on one node that tables are cut into parts: TPC-H over tables in one piece and over the same tables hashed
//! by their keys, whose queries take turns.

use std::path::Path;

use nodewise::tpch::TABLES;
use nodewise::{Progress, Session, SqlResult};

use crate::record::{Judge, QueryRecord};
use crate::tpch;
use crate::workload::Loaded;

/// The column by which each table is hashed, but for the two smallest, which stay whole. So those that are joined on their keys
/// most have the rows that join in parts of the same number.
const KEYS: [(&str, &str); 6] = [
    ("lineitem", "l_orderkey"),
    ("orders", "o_orderkey"),
    ("customer", "c_custkey"),
    ("part", "p_partkey"),
    ("partsupp", "ps_partkey"),
    ("supplier", "s_suppkey"),
];

/// Loads the eight tables of a folder, all but nation and region in so many parts.
pub fn load(session: &mut Session, folder: &Path, parts: usize) -> SqlResult<Loaded> {
    let loaded = tpch::load(session, folder)?;
    debug_assert!(KEYS.iter().all(|it| TABLES.contains(&it.0)));
    for (table, key) in KEYS {
        let cut = format!("ALTER TABLE {table} PARTITION BY HASH ({key}) PARTITIONS {parts}");
        session.execute(&cut)?;
    }
    Ok(Loaded { bytes: session.database().table_bytes(), ..loaded })
}

/// A query over both: tables in one piece, and in parts.
pub struct Both {
    /// Over tables in one piece.
    pub whole: QueryRecord,
    /// Over tables in parts.
    pub parts: QueryRecord,
}

impl Both {
    /// How many times as long the fastest run over parts took as that over whole tables; `None` where one has no time.
    pub fn ratio(&self) -> Option<f64> {
        let (whole, parts) = (self.whole.best()?, self.parts.best()?);
        Some(parts.0 as f64 / whole.0.max(1) as f64)
    }
}

/// Runs queries over both, one after the other: a round to warm up and check, then `runs` rounds that are timed.
pub fn run(
    [whole, parts]: [&mut Session; 2],
    records: Vec<QueryRecord>,
    judge: Judge<'_>,
    runs: usize,
    progress: &dyn Progress,
) -> Vec<Both> {
    let phase = format!("running {} queries over both", records.len());
    progress.begin(&phase, (records.len() * (runs + 1)) as u64);
    let both = |it: QueryRecord| Both { whole: it.fresh(), parts: it };
    let mut all: Vec<Both> = records.into_iter().map(both).collect();
    for round in 0..=runs {
        for both in &mut all {
            for (record, session) in
                [(&mut both.whole, &mut *whole), (&mut both.parts, &mut *parts)]
            {
                match round {
                    0 => record.warm(session, judge),
                    _ => record.run(session),
                }
            }
            progress.advance(1);
        }
    }
    progress.end();
    all
}

/// The geometric mean of what the queries over parts took of what those over whole tables did.
pub fn mean_ratio(all: &[Both]) -> Option<f64> {
    let logarithms: Vec<f64> =
        all.iter().map(|it| it.ratio().map(f64::ln)).collect::<Option<_>>()?;
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    (!logarithms.is_empty()).then(|| mean.exp())
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    fn timed(nanos: &[u64]) -> QueryRecord {
        let mut record = QueryRecord::new("q06", "SELECT 1");
        record.times = nanos.iter().map(|&it| Nanos(it)).collect();
        record
    }

    #[test]
    fn ratios_are_of_the_fastest_runs() {
        let both = |whole: &[u64], parts: &[u64]| Both { whole: timed(whole), parts: timed(parts) };
        let all = [both(&[30, 10], &[20, 50]), both(&[40], &[320, 400])];
        assert_eq!(all[0].ratio(), Some(2.0));
        assert!((mean_ratio(&all).unwrap() - 4.0).abs() < 1e-9);
        assert_eq!(mean_ratio(&[both(&[1], &[])]), None);
        assert_eq!(mean_ratio(&[]), None);
    }
}
