//! Clients that open one report after the other, and what came of it.

use std::collections::BTreeMap;

use nodewise::text::Cells;
use nodewise::{Answer, Database, Session, SqlError, SqlResult};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, thread};

use super::load::{Counted, NodeLoads};
use super::{ReportingOptions, Turns};

/// What clients got.
#[derive(Clone, PartialEq, Debug)]
pub struct ReportingRecord {
    /// From the first statement to the end of the last.
    pub span: Nanos,
    /// Time of each statement, ascending.
    pub latencies: Vec<Nanos>,
    /// What the nodes did meanwhile.
    pub loads: NodeLoads,
    /// A hash of the rows of each statement, by report and step.
    pub answers: BTreeMap<(usize, usize), u64>,
    /// Statements that failed, and the first reason.
    pub failed: (usize, Option<SqlError>),
}

impl ReportingRecord {
    /// Statements, or navigation steps, per minute.
    pub fn per_minute(&self) -> f64 {
        self.latencies.len() as f64 / (self.span.0.max(1) as f64 / 60e9)
    }

    /// The time that a share of the statements stays under.
    pub fn quantile(&self, share: f64) -> Nanos {
        let last = self.latencies.len().saturating_sub(1) as f64;
        self.latencies.get((last * share).round() as usize).copied().unwrap_or_default()
    }

    /// The first statement that both have run and that gave other rows.
    pub fn differs_from(&self, other: &Self) -> Option<(usize, usize)> {
        let differs = |(key, hash): (&(usize, usize), &u64)| {
            other.answers.get(key).is_some_and(|it| it != hash).then_some(*key)
        };
        self.answers.iter().find_map(differs)
    }
}

/// Runs the workload, whose tables are loaded, with clients that have the setting `strategy`.
pub fn run(
    database: &Arc<Database>,
    options: &ReportingOptions,
    strategy: &str,
    turns: &dyn Turns,
) -> SqlResult<ReportingRecord> {
    let mut session = database.session();
    let before = Counted::now(&mut session)?;
    let shared = Shared {
        database,
        options,
        strategy,
        turns,
        started: database.machine().now(),
        next: AtomicUsize::new(0),
        got: Mutex::default(),
    };
    thread::scope(|scope| {
        for client in 0..options.clients {
            let shared = &shared;
            let spawned = thread::Builder::new()
                .name(format!("client-{client}"))
                .spawn_scoped(scope, move || shared.client(client));
            if let Err(error) = spawned {
                shared.fail(SqlError::internal(format!("no thread for client {client}: {error}")));
                // Who is waited for must end, too.
                turns.end(client);
            }
        }
    });
    let span = database.machine().now() - shared.started;
    let loads = Counted::now(&mut session)?.since(&before, span);
    let Got { mut latencies, answers, failed } = shared.got.into_inner();
    latencies.sort_unstable();
    Ok(ReportingRecord { span, latencies, loads, answers, failed })
}

#[derive(Default)]
struct Got {
    latencies: Vec<Nanos>,
    answers: BTreeMap<(usize, usize), u64>,
    failed: (usize, Option<SqlError>),
}

struct Shared<'a> {
    database: &'a Arc<Database>,
    options: &'a ReportingOptions,
    strategy: &'a str,
    turns: &'a dyn Turns,
    started: Nanos,
    /// The number of the report that nobody has opened.
    next: AtomicUsize,
    got: Mutex<Got>,
}

/// Ends a client's turns, also when it panics.
struct Ending<'a>(&'a dyn Turns, usize);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

impl Shared<'_> {
    fn client(&self, client: usize) {
        self.turns.begin(client);
        let _ending = Ending(self.turns, client);
        let mut session = self.database.session();
        if let Err(error) = session.execute(&format!("SET strategy = {}", self.strategy)) {
            return self.fail(error);
        }
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let late = || self.database.machine().now() - self.started;
            if number >= self.options.reports || self.options.limit.is_some_and(|it| late() >= it) {
                return;
            }
            for (step, sql) in
                self.options.workload.report(number, self.options.seed).iter().enumerate()
            {
                self.step(&mut session, (number, step), sql);
            }
        }
    }

    fn step(&self, session: &mut Session, key: (usize, usize), sql: &str) {
        let machine = self.database.machine();
        let started = machine.now();
        match session.query(sql) {
            Ok(answer) => {
                let time = machine.now() - started;
                let mut got = self.got.lock();
                got.latencies.push(time);
                got.answers.insert(key, hash(&answer));
            }
            Err(error) => self.fail(error),
        }
    }

    fn fail(&self, error: SqlError) {
        let failed = &mut self.got.lock().failed;
        failed.0 += 1;
        failed.1.get_or_insert(error);
    }
}

/// FNV-1a over the texts of all cells.
fn hash(answer: &Answer) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for batch in &answer.batches {
        let cells: Vec<Cells> = batch.columns().iter().map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            cells.iter().for_each(|it| add(it.text(row).as_deref().unwrap_or("\u{1}")));
        }
    }
    hash
}
