//! TPC-H: data, loading, and rounds over the 22 queries.

use std::path::{Path, PathBuf};

use nodewise::tpch::{TABLES, check, generate_on, has_reference, queries};
use nodewise::{Database, Progress, QueryProfile, Session, SqlError, SqlResult, SqlState};
use stdx::{Bytes, Nanos};

/// Where the Parquet files of a scale are when no folder is named.
pub fn default_folder(scale: f64) -> PathBuf {
    std::env::temp_dir().join(format!("nodewise-tpch-{scale}"))
}

/// Sees to it that a folder holds the Parquet files of a scale. The span is what making them took, `None` when they
/// were there. A folder of somebody else's files is taken as it is when all eight tables are there.
pub fn provide_data(
    database: &Database,
    folder: &Path,
    scale: f64,
    progress: &dyn Progress,
) -> SqlResult<Option<Nanos>> {
    let complete = TABLES.iter().all(|it| folder.join(format!("{it}.parquet")).exists());
    if complete && nodewise::tpch::scale_of(folder).is_none_or(|it| it == scale) {
        return Ok(None);
    }
    let machine = database.machine();
    let started = machine.now();
    generate_on(database, folder, scale, progress)?;
    Ok(Some(machine.now() - started))
}

/// What loading took and made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loaded {
    /// From the first byte read to the last table ready.
    pub time: Nanos,
    /// Rows of all tables.
    pub rows: u64,
    /// Bytes of all tables in memory.
    pub bytes: Bytes,
}

/// Loads the eight tables of a folder.
pub fn load(session: &mut Session, folder: &Path) -> SqlResult<Loaded> {
    let database = session.database().clone();
    let started = database.machine().now();
    for table in TABLES {
        let path = folder.join(format!("{table}.parquet"));
        let path = path.to_str().ok_or_else(|| {
            let message = format!("the path {} is no UTF-8", path.display());
            SqlError::new(SqlState::INVALID_PARAMETER, message)
        })?;
        let path = path.replace('\'', "''");
        session.execute(&format!("CREATE TABLE {table} AS SELECT * FROM '{path}'"))?;
    }
    let rows = database.tables().iter().map(|it| it.rows()).sum();
    let time = database.machine().now() - started;
    Ok(Loaded { time, rows, bytes: database.table_bytes() })
}

/// What became of a query's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No reference answer is stored for this scale.
    Unchecked,
    /// It equals the reference answer.
    Right,
    /// It differs, and where.
    Wrong(String),
    /// There is no answer.
    Failed(SqlError),
}

/// A query and what its runs gave.
#[derive(Clone, Debug)]
pub struct QueryRecord {
    /// `q01` to `q22`.
    pub name: &'static str,
    sql: &'static str,
    /// Time of each run.
    pub times: Vec<Nanos>,
    /// Time of planning in each run.
    pub planning: Vec<Nanos>,
    /// Rows of the answer.
    pub rows: usize,
    /// Where the time of the fastest run went.
    pub profile: QueryProfile,
    /// Whether the answer is right.
    pub verdict: Verdict,
}

/// The queries of the given numbers, all 22 when none is given; an error names a number that is none.
pub fn select(numbers: &[usize]) -> Result<Vec<QueryRecord>, usize> {
    if let Some(&wrong) = numbers.iter().find(|&&it| it == 0 || it > queries().len()) {
        return Err(wrong);
    }
    let wanted = |&(index, _): &(usize, _)| numbers.is_empty() || numbers.contains(&(index + 1));
    let record = |(_, &(name, sql)): (usize, &(&'static str, &'static str))| QueryRecord {
        name,
        sql,
        times: Vec::new(),
        planning: Vec::new(),
        rows: 0,
        profile: QueryProfile::default(),
        verdict: Verdict::Unchecked,
    };
    Ok(queries().iter().enumerate().filter(wanted).map(record).collect())
}

impl QueryRecord {
    /// Runs the query once without taking the time, and checks its answer.
    pub fn warm(&mut self, session: &mut Session, scale: f64) {
        self.verdict = match session.query(self.sql) {
            Err(error) => Verdict::Failed(error),
            Ok(answer) => {
                self.rows = answer.rows();
                match check(self.name, scale, &answer.batches) {
                    _ if !has_reference(scale) => Verdict::Unchecked,
                    Ok(()) => Verdict::Right,
                    Err(difference) => Verdict::Wrong(difference),
                }
            }
        };
    }

    /// Runs the query once and takes the time; not when it has failed before.
    pub fn run(&mut self, session: &mut Session) {
        if matches!(self.verdict, Verdict::Failed(_)) {
            return;
        }
        let machine = session.database().machine().clone();
        let started = machine.now();
        match session.query(self.sql) {
            Err(error) => self.verdict = Verdict::Failed(error),
            Ok(answer) => {
                let time = machine.now() - started;
                if self.best().is_none_or(|it| time < it) {
                    self.profile = answer.profile.clone();
                }
                self.times.push(time);
                self.planning.push(answer.profile.planning);
                self.rows = answer.rows();
            }
        }
    }

    /// The fastest run.
    pub fn best(&self) -> Option<Nanos> {
        self.times.iter().min().copied()
    }

    /// The median of the runs, the lower of two.
    pub fn median(&self) -> Option<Nanos> {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len().saturating_sub(1) / 2).copied()
    }

    /// The slowest run.
    pub fn worst(&self) -> Option<Nanos> {
        self.times.iter().max().copied()
    }
}

/// One round to warm up and check, then `runs` rounds that are timed.
pub fn run_rounds(
    session: &mut Session,
    records: &mut [QueryRecord],
    scale: f64,
    runs: usize,
    progress: &dyn Progress,
) {
    let phase = format!("running {} queries", records.len());
    progress.begin(&phase, (records.len() * (runs + 1)) as u64);
    for round in 0..=runs {
        for record in records.iter_mut() {
            if round == 0 {
                record.warm(session, scale);
            } else {
                record.run(session);
            }
            progress.advance(1);
        }
    }
    progress.end();
}

/// The geometric mean of the fastest runs; `None` when a query has no time.
pub fn geometric_mean(records: &[QueryRecord]) -> Option<Nanos> {
    if records.is_empty() {
        return None;
    }
    let logarithms: Option<Vec<f64>> =
        records.iter().map(|it| it.best().map(|best| (best.0.max(1) as f64).ln())).collect();
    let mean = logarithms?.iter().sum::<f64>() / records.len() as f64;
    Some(Nanos(mean.exp().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(nanos: &[u64]) -> QueryRecord {
        let mut record = select(&[6]).unwrap().remove(0);
        record.times = nanos.iter().map(|&it| Nanos(it)).collect();
        record
    }

    #[test]
    fn queries_are_selected_by_number() {
        let names = |numbers: &[usize]| -> Vec<_> {
            select(numbers).unwrap().iter().map(|it| it.name).collect()
        };
        assert_eq!(names(&[]).len(), 22);
        assert_eq!(names(&[6, 1, 6]), ["q01", "q06"]);
        assert_eq!(select(&[1, 23]).unwrap_err(), 23);
        assert_eq!(select(&[0]).unwrap_err(), 0);
    }

    #[test]
    fn runs_are_summed_up() {
        let record = timed(&[30, 10, 20, 40]);
        assert_eq!(
            (record.best(), record.median(), record.worst()),
            (Some(Nanos(10)), Some(Nanos(20)), Some(Nanos(40)))
        );
        assert_eq!(timed(&[]).median(), None);
        assert_eq!(geometric_mean(&[timed(&[100]), timed(&[900, 400])]), Some(Nanos(200)));
        assert_eq!(geometric_mean(&[timed(&[100]), timed(&[])]), None);
        assert_eq!(geometric_mean(&[]), None);
    }
}
