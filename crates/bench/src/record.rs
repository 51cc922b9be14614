//! Queries, the times of their runs, and what became of their answers.

use arrow_array::RecordBatch;
use hardware::Machine;
use nodewise::text::Cells;
use nodewise::{Answer, Progress, QueryProfile, Session, SqlError, SqlResult};
use stdx::Nanos;

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
    /// What it is called: `q01` to `q22` for TPC-H.
    pub name: String,
    sql: String,
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
    /// The answer of the round to warm up.
    pub answer: Vec<RecordBatch>,
}

/// Judges an answer: the name of its query and its rows.
pub type Judge<'a> = &'a dyn Fn(&str, &[RecordBatch]) -> Verdict;

/// Answers a statement.
pub type Ask<'a> = &'a mut dyn FnMut(&str) -> SqlResult<Answer>;

impl QueryRecord {
    /// A query that has not run.
    pub fn new(name: impl Into<String>, sql: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sql: sql.into(),
            times: Vec::new(),
            planning: Vec::new(),
            rows: 0,
            profile: QueryProfile::default(),
            verdict: Verdict::Unchecked,
            answer: Vec::new(),
        }
    }

    /// The same query, as if it had not run.
    pub fn fresh(&self) -> Self {
        Self::new(self.name.clone(), self.sql.clone())
    }

    /// Runs the query once without taking the time, and has its answer judged.
    pub fn warm(&mut self, session: &mut Session, judge: Judge<'_>) {
        self.warm_by(&mut |sql| session.query(sql), judge);
    }

    /// [`QueryRecord::warm`] by whoever answers.
    pub fn warm_by(&mut self, ask: Ask<'_>, judge: Judge<'_>) {
        self.verdict = match ask(&self.sql) {
            Err(error) => Verdict::Failed(error),
            Ok(answer) => {
                self.rows = answer.rows();
                self.answer = answer.batches;
                judge(&self.name, &self.answer)
            }
        };
    }

    /// Runs the query once and takes the time; not when it has failed before.
    pub fn run(&mut self, session: &mut Session) {
        let machine = session.database().machine().clone();
        self.run_by(&*machine, &mut |sql| session.query(sql));
    }

    /// [`QueryRecord::run`] by whoever answers.
    pub fn run_by(&mut self, machine: &dyn Machine, ask: Ask<'_>) {
        if matches!(self.verdict, Verdict::Failed(_)) {
            return;
        }
        let started = machine.now();
        match ask(&self.sql) {
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

    /// Runs the query `runs` times with the steps of its pipelines measured: the plan of the fastest run with what was
    /// measured, and where the time went.
    pub fn profile(
        &self,
        session: &mut Session,
        runs: usize,
    ) -> Result<(Vec<String>, QueryProfile), SqlError> {
        let mut best: Option<Answer> = None;
        for _ in 0..runs.max(1) {
            let answer = session.query(&format!("EXPLAIN ANALYZE {}", self.sql))?;
            let time = answer.profile.execution;
            if best.as_ref().is_none_or(|it| time < it.profile.execution) {
                best = Some(answer);
            }
        }
        let Some(answer) = best else { return Ok(Default::default()) };
        let cells = answer.batches.iter().map(|it| (Cells::new(it.column(0)), it.num_rows()));
        let lines = cells.flat_map(|(cells, rows)| {
            (0..rows).map(move |row| cells.text(row).unwrap_or_default()).collect::<Vec<_>>()
        });
        Ok((lines.collect(), answer.profile))
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
    judge: Judge<'_>,
    runs: usize,
    progress: &dyn Progress,
) {
    let phase = format!("running {} queries", records.len());
    progress.begin(&phase, (records.len() * (runs + 1)) as u64);
    for round in 0..=runs {
        for record in records.iter_mut() {
            if round == 0 {
                record.warm(session, judge);
            } else {
                record.run(session);
            }
            progress.advance(1);
        }
    }
    progress.end();
}

/// The geometric mean of some times; `None` when there is none, or one of them is missing.
pub fn geometric_mean(times: impl IntoIterator<Item = Option<Nanos>>) -> Option<Nanos> {
    let logarithms = times.into_iter().map(|it| it.map(|it| (it.0.max(1) as f64).ln()));
    let logarithms: Vec<f64> = logarithms.collect::<Option<_>>()?;
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    (!logarithms.is_empty()).then(|| Nanos(mean.exp().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(nanos: &[u64]) -> QueryRecord {
        let mut record = QueryRecord::new("q06", "SELECT 1");
        record.times = nanos.iter().map(|&it| Nanos(it)).collect();
        record
    }

    #[test]
    fn runs_are_summed_up() {
        let record = timed(&[30, 10, 20, 40]);
        assert_eq!(
            (record.best(), record.median(), record.worst()),
            (Some(Nanos(10)), Some(Nanos(20)), Some(Nanos(40)))
        );
        assert_eq!(timed(&[]).median(), None);
        let mean = |records: &[QueryRecord]| geometric_mean(records.iter().map(QueryRecord::best));
        assert_eq!(mean(&[timed(&[100]), timed(&[900, 400])]), Some(Nanos(200)));
        assert_eq!(mean(&[timed(&[100]), timed(&[])]), None);
        assert_eq!(mean(&[]), None);
    }
}
