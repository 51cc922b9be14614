//! The scan workload of P-HANA section 6 for real: one table of random integers in columns of many widths, clients
//! without thinking times, range predicates on one column each.
//!
//! Every client is a session on a thread of its own; the statements all go to the one pool of workers. Statements are
//! numbered, and whoever is free takes the next: which one a number means depends on the seed alone, so any other engine
//! can be asked the same and must give as many rows with the same sum. Before a time is taken, the answer of each column
//! is compared with a count over the generated values.

mod options;
mod statement;

use std::path::Path;

use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use nodewise::{Answer, Database, Session, SqlError, SqlResult};
use stdx::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, thread};
use stdx::{Nanos, Prng};

pub use options::{Asked, ScanOptions};
pub use statement::{BITCASES, Statement};
use statement::{TABLE, bits};

use crate::workload::load_tables;

/// Rows of a batch while loading.
const BATCH_ROWS: usize = 1 << 16;

/// What a number of clients got.
#[derive(Clone, PartialEq, Debug)]
pub struct ScanRecord {
    /// Clients at once.
    pub clients: usize,
    /// From the first statement to the end of the last.
    pub span: Nanos,
    /// Time of each statement, ascending.
    pub latencies: Vec<Nanos>,
    /// Rows that qualified, of all statements together.
    pub rows: u64,
    /// The sum of their values.
    pub sum: i64,
    /// Statements that failed, and the first reason.
    pub failed: (usize, Option<SqlError>),
}

impl ScanRecord {
    /// Statements per second.
    pub fn throughput(&self) -> f64 {
        self.latencies.len() as f64 / (self.span.0.max(1) as f64 / 1e9)
    }

    /// The time that a share of the statements stays under.
    pub fn quantile(&self, share: f64) -> Nanos {
        let last = self.latencies.len().saturating_sub(1) as f64;
        self.latencies.get((last * share).round() as usize).copied().unwrap_or_default()
    }

    /// Mean time of a statement.
    pub fn mean(&self) -> Nanos {
        let sum: Nanos = self.latencies.iter().copied().sum();
        Nanos(sum.0 / self.latencies.len().max(1) as u64)
    }

    /// Standard deviation of the times as a share of their mean.
    pub fn spread(&self) -> f64 {
        let mean = self.mean().0 as f64;
        let square = |it: &Nanos| (it.0 as f64 - mean) * (it.0 as f64 - mean);
        let variance = self.latencies.iter().map(square).sum::<f64>();
        (variance / self.latencies.len().max(1) as f64).sqrt() / mean.max(1.0)
    }
}

/// The values of a column: uniform, with the ends of the range among them so that the width is what it shall be.
fn values(options: &ScanOptions, column: usize) -> impl Iterator<Item = i32> {
    let bound = 1_u64 << bits(column);
    let mut prng = Prng::new(options.seed ^ (column as u64 + 1) << 32);
    (0..options.rows).map(move |row| match row {
        0 => 0,
        1 => (bound - 1) as i32,
        _ => prng.below(bound) as i32,
    })
}

/// Makes and loads the table.
pub fn load(session: &mut Session, options: &ScanOptions) -> SqlResult<()> {
    let field = |column| Field::new(format!("c{column}"), DataType::Int32, false);
    let schema = Arc::new(Schema::new((0..options.columns).map(field).collect::<Vec<_>>()));
    let mut columns: Vec<_> = (0..options.columns).map(|it| values(options, it)).collect();
    let mut batches = Vec::new();
    for start in (0..options.rows).step_by(BATCH_ROWS) {
        let rows = BATCH_ROWS.min(options.rows - start);
        let array = |it| Arc::new(Int32Array::from_iter_values(it)) as ArrayRef;
        let arrays = columns.iter_mut().map(|it| array(it.take(rows))).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays);
        batches.push(batch.map_err(|error| SqlError::internal(error.to_string()))?);
    }
    session.import(TABLE, batches)?;
    Ok(())
}

/// Gives each column an index, if the workload has them.
pub fn create_indexes(session: &mut Session, options: &ScanOptions) -> SqlResult<()> {
    for column in (0..options.columns).filter(|_| options.indexes) {
        session.execute(&format!("CREATE INDEX ON {TABLE} (c{column})"))?;
    }
    Ok(())
}

/// Loads a table that others load as well: `scans.parquet` of a folder, columns `c0`, `c1`, .. as [`load`] makes them. Its
/// rows and columns come back.
pub fn load_file(session: &mut Session, folder: &Path) -> SqlResult<(usize, usize)> {
    let file = folder.join(format!("{TABLE}.parquet"));
    load_tables(session, &[(TABLE.to_owned(), file)])?;
    let tables = session.database().tables();
    let table = tables.iter().find(|it| it.name == TABLE);
    Ok(table.map_or((0, 0), |it| (it.rows() as usize, it.schema().len())))
}

/// Compares the answer of each column with a count over its values; the first column that differs and how.
pub fn check(session: &mut Session, options: &ScanOptions) -> SqlResult<Option<String>> {
    let mut prng = Prng::new(options.seed);
    for column in 0..options.columns {
        let statement = Statement::on(column, options, &mut prng);
        let found = read(options.asked, &session.query(&statement.sql)?)?;
        let range = |it: &i32| (statement.low..=statement.high).contains(&i64::from(*it));
        let add = |(rows, sum), it| (rows + 1, sum + i64::from(it));
        let expected = values(options, column).filter(range).fold((0, 0), add);
        if found != expected {
            let ((rows, sum), (right, total)) = (found, expected);
            return Ok(Some(format!(
                "column c{column}: {rows} rows with the sum {sum}, not {right} with {total}"
            )));
        }
    }
    Ok(None)
}

/// What a client gets out of an answer, as any client would read it: how many rows qualified, and their sum.
fn read(asked: Asked, answer: &Answer) -> SqlResult<(u64, i64)> {
    let strange = || SqlError::internal("the answer of a scan is not of the type of its column");
    let (mut rows, mut sum) = (0, 0);
    for batch in &answer.batches {
        match asked {
            Asked::Rows => {
                let values = batch.column(0).as_any().downcast_ref::<Int32Array>();
                let values = values.ok_or_else(strange)?.values();
                rows += values.len() as u64;
                sum += values.iter().map(|&it| i64::from(it)).sum::<i64>();
            }
            Asked::Sums => {
                let integers = |column: usize| {
                    let array = batch.column(column).as_any().downcast_ref::<Int64Array>();
                    // The sum of no rows is NULL.
                    array.map(|it| it.iter().flatten().sum::<i64>()).ok_or_else(strange)
                };
                rows += integers(0)? as u64;
                sum += integers(1)?;
            }
        }
    }
    Ok((rows, sum))
}

/// Runs the workload with so many clients.
pub fn run(database: &Arc<Database>, options: &ScanOptions, clients: usize) -> ScanRecord {
    let statements = options.statements_of(clients);
    let shared = Shared {
        database,
        options,
        statements,
        next: AtomicUsize::new(0),
        rows: AtomicU64::new(0),
        sum: AtomicI64::new(0),
        latencies: Mutex::new(Vec::with_capacity(statements)),
        failed: Mutex::new((0, None)),
    };
    let started = database.machine().now();
    thread::scope(|scope| {
        for client in 0..clients {
            let shared = &shared;
            let spawned = thread::Builder::new()
                .name(format!("client-{client}"))
                .spawn_scoped(scope, move || shared.client());
            if let Err(error) = spawned {
                shared.fail(SqlError::internal(format!("no thread for client {client}: {error}")));
            }
        }
    });
    let span = database.machine().now() - started;
    let mut latencies = shared.latencies.into_inner();
    latencies.sort_unstable();
    let (rows, sum) = (shared.rows.into_inner(), shared.sum.into_inner());
    ScanRecord { clients, span, latencies, rows, sum, failed: shared.failed.into_inner() }
}

struct Shared<'a> {
    database: &'a Arc<Database>,
    options: &'a ScanOptions,
    /// Statements in all.
    statements: usize,
    /// The number of the statement that nobody has begun.
    next: AtomicUsize,
    rows: AtomicU64,
    sum: AtomicI64,
    latencies: Mutex<Vec<Nanos>>,
    failed: Mutex<(usize, Option<SqlError>)>,
}

impl Shared<'_> {
    /// One client: statement after statement until none is left.
    fn client(&self) {
        let mut session = self.database.session();
        let settings = [
            (!self.options.parallel, "SET workers = 1"),
            (!self.options.shared, "SET scan_sharing = off"),
        ];
        for (_, setting) in settings.iter().filter(|it| it.0) {
            if let Err(error) = session.execute(setting) {
                return self.fail(error);
            }
        }
        let machine = self.database.machine();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.statements {
                return;
            }
            let statement = Statement::numbered(number, self.options);
            let started = machine.now();
            let answer = session.query(&statement.sql);
            match answer.and_then(|it| read(self.options.asked, &it)) {
                Ok((rows, sum)) => {
                    self.latencies.lock().push(machine.now() - started);
                    self.rows.fetch_add(rows, Ordering::Relaxed);
                    self.sum.fetch_add(sum, Ordering::Relaxed);
                }
                Err(error) => self.fail(error),
            }
        }
    }

    fn fail(&self, error: SqlError) {
        let mut failed = self.failed.lock();
        failed.0 += 1;
        failed.1.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use nodewise::DatabaseOptions;

    use super::*;

    fn options() -> ScanOptions {
        ScanOptions {
            rows: 20_000,
            columns: 11,
            selectivity: 0.01,
            asked: Asked::Rows,
            skewed: false,
            indexes: false,
            parallel: true,
            shared: true,
            statements: 40,
            seed: 7,
        }
    }

    fn database() -> Arc<Database> {
        let machine = hardware_linux::open();
        Database::open(machine, DatabaseOptions { workers: Some(2), ..Default::default() }).unwrap()
    }

    #[test]
    fn clients_get_right_answers_and_none_fails() {
        let database = database();
        let mut session = database.session();
        load(&mut session, &options()).unwrap();
        assert_eq!(check(&mut session, &options()).unwrap(), None);
        for (clients, skewed, parallel) in [(1, false, true), (40, true, false)] {
            let record = run(&database, &ScanOptions { skewed, parallel, ..options() }, clients);
            assert_eq!(record.failed, (0, None));
            assert_eq!(record.latencies.len(), (2 * clients).max(40));
            let expected = record.latencies.len() as f64 * 200.0;
            assert!((record.rows as f64 / expected - 1.0).abs() < 0.2, "{}", record.rows);
            assert!(record.quantile(0.0) <= record.mean() && record.mean() <= record.quantile(1.0));
        }
    }

    #[test]
    fn indexes_change_no_answer() {
        let database = database();
        let mut session = database.session();
        let options = ScanOptions { indexes: true, selectivity: 0.0001, ..options() };
        load(&mut session, &options).unwrap();
        create_indexes(&mut session, &options).unwrap();
        assert_eq!(check(&mut session, &options).unwrap(), None);
        assert_eq!(run(&database, &options, 3).failed, (0, None));
    }

    /// Real rows in virtual time: the scans of real data charge a modelled machine with the bytes they read.
    #[test]
    fn real_queries_take_modelled_time() {
        let model = simulator::MachineModel::by_name("sandy-bridge-ep").unwrap();
        let machine = simulator::SimulatedMachine::with_model(model, 3, Vec::new());
        let database = Database::open(machine.clone(), DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        let options = ScanOptions { rows: 500_000, columns: 2, ..options() };
        load(&mut session, &options).unwrap();
        machine.reset_meters();
        assert_eq!(check(&mut session, &options).unwrap(), None);
        let meters = machine.meters().unwrap();
        let bytes = 500_000.0 * f64::from(17 + 18) / 8.0;
        assert!(meters.memory_total() > 0.8 * bytes, "{} of {bytes}", meters.memory_total());
        assert!(meters.span > 1e3 && meters.peak_load <= 1.0 + 1e-6, "{meters:?}");
    }

    #[test]
    fn a_wrong_table_is_noticed() {
        let machine = simulator::SimulatedMachine::new(samples::four_sockets(), 3);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        load(&mut session, &ScanOptions { seed: 8, ..options() }).unwrap();
        assert!(check(&mut session, &options()).unwrap().unwrap().contains("column c0"));
        let empty = ScanRecord {
            clients: 1,
            span: Nanos(0),
            latencies: Vec::new(),
            rows: 0,
            sum: 0,
            failed: (0, None),
        };
        assert_eq!(
            (empty.quantile(0.5), empty.mean(), empty.throughput()),
            (Nanos(0), Nanos(0), 0.0)
        );
    }

    #[test]
    fn the_same_statements_give_the_same_rows_and_sum_whatever_is_asked_and_by_whom() {
        let database = database();
        let mut session = database.session();
        load(&mut session, &options()).unwrap();
        let sums = ScanOptions { asked: Asked::Sums, ..options() };
        assert_eq!(check(&mut session, &sums).unwrap(), None);
        let all = |options: &ScanOptions, clients| {
            let record = run(&database, options, clients);
            assert_eq!(record.failed, (0, None));
            (record.rows, record.sum)
        };
        let right = all(&options(), 1);
        assert!(right.0 > 0 && right.1 > 0);
        assert_eq!(all(&options(), 7), right);
        assert_eq!(all(&sums, 3), right);
        assert_ne!(all(&ScanOptions { seed: 8, ..options() }, 3), right);
        let none = ScanOptions { selectivity: 0.0, asked: Asked::Sums, ..options() };
        assert!(all(&none, 2).0 < 40 * 3);
    }
}
