//! The reporting loads of P-HANA section 6.3: TPC-H Q1 with random parameters by many clients, and navigation over three
//! schemas in the manner of SAP BW-EML, whose data and statements are made here (`schema`, `steps`).
//!
//! Clients are sessions on threads without thinking times; each takes the next report and runs its steps one after the
//! other. The answers of all runs are compared by hash: a statement with the same number gives the same rows under every
//! placement and strategy. On a modelled machine clients take turns (`Turns`), so that a seed repeats a run.

mod layout;
mod load;
mod run;
mod schema;
mod steps;

use std::path::PathBuf;

use nodewise::{Session, SqlResult, tpch};
use stdx::{Nanos, Prng};

pub use layout::Layout;
pub use load::NodeLoads;
pub use run::{ReportingRecord, run};
pub use schema::{CUBES, Sizes};
pub use steps::STEPS;

use crate::workload::load_tables;

/// The strategies that a client can set.
pub const STRATEGIES: [&str; 4] = ["os", "target", "bound", "adaptive"];

/// Which statements over which tables.
#[derive(Clone, PartialEq, Debug)]
pub enum Workload {
    /// Reports over three schemas.
    Reporting {
        /// 1 is a million facts in each cube.
        scale: f64,
        /// What the rows follow from.
        seed: u64,
    },
    /// TPC-H Q1 over `lineitem.parquet` of a folder.
    Q1(PathBuf),
}

/// A run.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportingOptions {
    /// Statements and tables.
    pub workload: Workload,
    /// Clients at once.
    pub clients: usize,
    /// Reports of all clients together, at most.
    pub reports: usize,
    /// No report begins after this time.
    pub limit: Option<Nanos>,
    /// What reports follow from.
    pub seed: u64,
}

/// The order of clients: threads run as they come, or one at a time where time is modelled.
pub trait Turns: Sync {
    /// A client begins; returns when it may run.
    fn begin(&self, client: usize);
    /// The client has ended.
    fn end(&self, client: usize);
}

/// All run at once.
pub struct AtOnce;

impl Turns for AtOnce {
    fn begin(&self, _: usize) {}

    fn end(&self, _: usize) {}
}

impl Workload {
    /// Loads the tables anew.
    pub fn load(&self, session: &mut Session) -> SqlResult<()> {
        match self {
            Self::Reporting { scale, seed } => schema::load(session, *scale, *seed),
            Self::Q1(folder) => {
                session.execute("DROP TABLE IF EXISTS lineitem")?;
                let file = folder.join("lineitem.parquet");
                load_tables(session, &[("lineitem".to_owned(), file)]).map(drop)
            }
        }
    }

    /// The tables that are cut into parts.
    pub fn large_tables(&self) -> Vec<String> {
        match self {
            Self::Reporting { .. } => {
                schema::tables().into_iter().filter(|it| it.1).map(|it| it.0).collect()
            }
            Self::Q1(_) => vec!["lineitem".to_owned()],
        }
    }

    /// The statements of a report.
    pub fn report(&self, number: usize, seed: u64) -> Vec<String> {
        match self {
            Self::Reporting { .. } => steps::report(number, seed).to_vec(),
            Self::Q1(_) => {
                // Clause 2.4.1.3: 60 to 120 days.
                let mut prng = Prng::new(seed.wrapping_mul(31) ^ (number as u64 + 1) << 20);
                let days = format!("'{}' day", 60 + prng.below(61));
                vec![tpch::queries()[0].1.replace("'90' day", &days)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use nodewise::{Database, DatabaseOptions};
    use simulator::SimulatedMachine;
    use stdx::sync::Arc;

    use super::*;

    fn options(reports: usize) -> ReportingOptions {
        let workload = Workload::Reporting { scale: 0.02, seed: 5 };
        ReportingOptions { workload, clients: 3, reports, limit: None, seed: 7 }
    }

    fn right(
        database: &Arc<Database>,
        options: &ReportingOptions,
        strategy: &str,
    ) -> ReportingRecord {
        let record = run(database, options, strategy, &AtOnce).unwrap();
        assert_eq!(record.failed, (0, None));
        assert_eq!(record.latencies.len(), options.reports * STEPS);
        record
    }

    #[test]
    fn the_same_statement_gives_the_same_rows_under_every_placement_and_strategy() {
        let machine = SimulatedMachine::new(samples::four_sockets(), 3);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        let options = options(8);
        let mut first: Option<ReportingRecord> = None;
        for layout in [
            Layout::RoundRobin,
            Layout::Split,
            Layout::Parts(1),
            Layout::Parts(4),
            Layout::FirstTouch,
        ] {
            layout.load(&mut session, &options.workload).unwrap();
            for strategy in STRATEGIES {
                let record = right(&database, &options, strategy);
                let wanted = first.get_or_insert_with(|| record.clone());
                assert_eq!(record.answers, wanted.answers, "{layout:?}, {strategy}");
                let local = record.loads.local.unwrap_or(0.0);
                if matches!(layout, Layout::Parts(4)) && strategy == "bound" {
                    assert!(local > 0.9, "{local}");
                }
            }
        }
        let other = ReportingOptions { seed: 8, ..options };
        let other = right(&database, &other, "bound");
        assert!(first.unwrap().differs_from(&other).is_some(), "other filters, other rows");
    }

    #[test]
    fn parts_are_dealt_on_from_table_to_table() {
        let machine = SimulatedMachine::new(samples::four_sockets(), 3);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let workload = Workload::Reporting { scale: 0.02, seed: 5 };
        let mut session = database.session();
        Layout::Parts(1).load(&mut session, &workload).unwrap();
        for (number, table) in workload.large_tables().iter().enumerate() {
            let sql = format!(
                "SELECT count(*) FROM nodewise.column_placement WHERE table_name = '{table}' \
                 AND component = 'iv' AND node <> {}",
                number % 4
            );
            let answer = session.query(&sql).unwrap();
            let elsewhere = nodewise::text::Cells::new(answer.batches[0].column(0)).text(0);
            assert_eq!(elsewhere.as_deref(), Some("0"), "{table}");
        }
    }

    #[test]
    fn real_threads_run_it_and_a_limit_ends_it() {
        let machine = hardware_linux::open();
        let settings = DatabaseOptions { workers: Some(2), ..Default::default() };
        let database = Database::open(machine, settings).unwrap();
        let options = options(4);
        options.workload.load(&mut database.session()).unwrap();
        let record = right(&database, &options, "bound");
        assert!(record.quantile(0.5) <= record.quantile(0.99) && record.per_minute() > 0.0);
        assert!(record.loads.busy.iter().all(|it| *it > 0.0), "{:?}", record.loads);
        let limited = ReportingOptions { limit: Some(Nanos(0)), ..options };
        let record = run(&database, &limited, "bound", &AtOnce).unwrap();
        assert!(record.latencies.is_empty());
    }

    #[test]
    fn q1_takes_its_days_by_number() {
        let q1 = Workload::Q1(PathBuf::new());
        let days = |number| q1.report(number, 7)[0].clone();
        assert_eq!(days(3), days(3));
        assert!((1..50).any(|it| days(it) != days(0)));
        assert!(!days(0).is_empty() && q1.large_tables() == ["lineitem"]);
    }
}
