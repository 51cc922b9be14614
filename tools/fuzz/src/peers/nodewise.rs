//! Nodewise in this process, on real threads or on a modelled machine.
//!
//! A session runs on a thread of its own, so that a statement that ignores its cancelling can be left behind.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use hardware::samples;
use nodewise::{CancelHandle, Database, DatabaseOptions, Session, SqlError, SqlResult};
use simulator::SimulatedMachine;
use stdx::sync::Arc;

use crate::peers::reply::{Cell, Peer, Reply, Rows, Shown};

/// How long a statement may run before it is cancelled, and how long it may take to notice.
const PATIENCE: Duration = Duration::from_secs(10);

/// What Nodewise runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Real threads, so many.
    Threads(usize),
    /// A modelled machine of this name, with a schedule of this seed.
    Modelled(&'static str, u64),
}

/// A database with one session.
pub struct Nodewise {
    host: Host,
    statements: Sender<String>,
    replies: Receiver<Reply>,
    cancel: CancelHandle,
    patience: Duration,
}

impl Nodewise {
    /// Opens a database without tables.
    pub fn open(host: Host) -> Result<Self, String> {
        // Tables are small: what changes shall be kept beside them nevertheless.
        let options = DatabaseOptions { delta_from: Some(0), ..Default::default() };
        let database = match host {
            Host::Threads(workers) => {
                let options = DatabaseOptions { workers: Some(workers), ..options };
                Database::open(hardware_linux::open(), options)
            }
            Host::Modelled(name, seed) => {
                let topology = samples::by_name(name).ok_or(format!("no machine {name}"))?;
                Database::open(SimulatedMachine::new(topology, seed), options)
            }
        };
        let database = database.map_err(|error| error.to_string())?;
        Ok(Self::over(&database, host, PATIENCE))
    }

    /// A session of a database, which cancels what takes longer.
    pub fn over(database: &Arc<Database>, host: Host, patience: Duration) -> Self {
        let mut session = database.session();
        if let Host::Modelled(..) = host {
            // Tables are too small for it to pay.
            let exchanges = session.execute("SET join_exchange = on");
            assert!(exchanges.is_ok(), "invariant: a setting of any database");
        }
        Self::of(session, host, patience)
    }

    /// A session that is there.
    pub fn of(mut session: Session, host: Host, patience: Duration) -> Self {
        let cancel = session.cancel_handle();
        let (statements, to_run) = channel::<String>();
        let (answer, replies) = channel();
        std::thread::spawn(move || {
            for sql in to_run {
                let run = std::panic::AssertUnwindSafe(|| reply(session.query(&sql)));
                let reply = std::panic::catch_unwind(run).unwrap_or_else(|_| Reply::Error {
                    state: "XX000".to_owned(),
                    message: "a panic left the session".to_owned(),
                });
                if answer.send(reply).is_err() {
                    return;
                }
            }
        });
        Self { host, statements, replies, cancel, patience }
    }
}

impl Peer for Nodewise {
    fn name(&self) -> &'static str {
        "nodewise"
    }

    fn reset(&mut self) -> Result<(), String> {
        *self = Self::open(self.host)?;
        Ok(())
    }

    fn run(&mut self, sql: &str) -> Reply {
        if self.statements.send(sql.to_owned()).is_err() {
            return Reply::Stuck;
        }
        match self.replies.recv_timeout(self.patience) {
            Ok(reply) => return reply,
            Err(RecvTimeoutError::Disconnected) => return Reply::Stuck,
            Err(RecvTimeoutError::Timeout) => self.cancel.cancel(),
        }
        self.replies.recv_timeout(PATIENCE).unwrap_or(Reply::Stuck)
    }
}

fn reply(answer: SqlResult<nodewise::Answer>) -> Reply {
    let rows = answer.and_then(|answer| answer.has_rows().then(|| rows(&answer)).transpose());
    match rows {
        Ok(Some(rows)) => Reply::Rows(rows),
        Ok(None) => Reply::Done,
        Err(error) => Reply::Error { state: error.state.0.to_string(), message: error.message },
    }
}

fn rows(answer: &nodewise::Answer) -> SqlResult<Rows> {
    let fields = answer.schema.fields().iter().zip(&answer.types);
    let shown = fields.map(|(field, of)| match of {
        // Shown by their texts, but 1.5 is 1.50.
        nodewise::DataType::Numeric => Shown::Exact,
        _ => shown(field.data_type()),
    });
    let shown = shown.collect();
    let mut rows = Vec::new();
    for batch in &answer.batches {
        push_rows(batch, &mut rows)?;
    }
    Ok(Rows { shown, rows })
}

fn push_rows(batch: &RecordBatch, rows: &mut Vec<Vec<Cell>>) -> SqlResult<()> {
    let columns: Vec<Vec<Cell>> = batch.columns().iter().map(cells).collect::<SqlResult<_>>()?;
    rows.extend((0..batch.num_rows()).map(|at| columns.iter().map(|it| it[at].clone()).collect()));
    Ok(())
}

fn shown(of: &DataType) -> Shown {
    match of {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Shown::Float,
        DataType::Boolean => Shown::Truth,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Shown::Temporal,
        DataType::Interval(_) => Shown::Span,
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Time64(_)
        | DataType::FixedSizeBinary(_)
        | DataType::Binary => Shown::Text,
        _ => Shown::Exact,
    }
}

fn cells(column: &ArrayRef) -> SqlResult<Vec<Cell>> {
    // Arrow writes these in other ways than PostgreSQL.
    if matches!(
        column.data_type(),
        DataType::Timestamp(..)
            | DataType::Date32
            | DataType::Time64(_)
            | DataType::Interval(_)
            | DataType::FixedSizeBinary(_)
            | DataType::Binary
    ) {
        let cells = nodewise::text::Cells::new(column);
        return Ok((0..column.len()).map(|row| cells.text(row)).collect());
    }
    let options = FormatOptions::new()
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"));
    let unprintable = |error| SqlError::internal(format!("a value cannot be printed: {error}"));
    let formatter = ArrayFormatter::try_new(column, &options).map_err(unprintable)?;
    let cell = |row: usize| {
        if column.is_null(row) {
            return Ok(None);
        }
        if *column.data_type() == DataType::Boolean {
            let text = if column.as_boolean().value(row) { "t" } else { "f" };
            return Ok(Some(text.to_owned()));
        }
        formatter.value(row).try_to_string().map_err(unprintable).map(Some)
    };
    (0..column.len()).map(cell).collect()
}
