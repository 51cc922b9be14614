//! Rows on their way out: batches as messages of Arrow, made as the client takes them.

use std::collections::VecDeque;
use std::pin::Pin;

use arrow_array::{Array, RecordBatch};
use arrow_flight::{FlightData, SchemaAsIpc};
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType as ArrowType, SchemaRef};
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use nodewise::{Cursor, DataType, Prepared, Session, SqlError, SqlResult, Started, Value, listed};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;
use tonic::Status;

use super::seats::Seat;
use super::statements::{Held, columns, refuse_copy};
use crate::backend::canceled;
use crate::shared::Shared;
use crate::traces::Parent;

/// Bytes of rows that are made at a time: enough to keep workers busy.
const FETCH_BYTES: u64 = 4 << 20;
/// Bytes of rows of one message: clients take four megabytes unless they are told otherwise.
const MESSAGE_BYTES: usize = 1 << 20;
/// Messages that wait for the client.
const AHEAD: usize = 4;

/// What a call sends.
pub type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The rows of a statement that have not been sent.
pub struct Rows {
    prepared: Prepared,
    /// The values with which it has yet to run.
    values: VecDeque<Vec<Value>>,
    cursor: Option<Cursor>,
    made: Vec<FlightData>,
    schema: SchemaRef,
    types: Vec<DataType>,
}

impl Rows {
    /// Starts a statement, and makes its first rows, so that what fails at once gives none.
    pub fn begin(session: &mut Session, held: &Held) -> SqlResult<Self> {
        let schema = columns(None);
        let mut rows = Self {
            prepared: held.prepared.clone(),
            values: held.runs()?.into(),
            cursor: None,
            made: Vec::new(),
            schema,
            types: Vec::new(),
        };
        rows.start(session)?;
        rows.made.insert(0, schema_message(&rows.schema));
        rows.make(session)?;
        Ok(rows)
    }

    /// Runs the statement with the next values.
    fn start(&mut self, session: &mut Session) -> SqlResult<()> {
        let Some(values) = self.values.pop_front() else { return Ok(()) };
        match session.start_prepared(&self.prepared, &values)? {
            Started::Rows(cursor) => {
                let described = cursor.described();
                (self.schema, self.types) = (described.with_lists(), described.types);
                self.cursor = Some(cursor);
            }
            Started::Done(answer) => {
                let answer = answer.with_lists()?;
                if answer.has_rows() {
                    self.schema = answer.schema.clone();
                }
                for batch in &answer.batches {
                    self.made.extend(messages(batch)?);
                }
            }
            refused => return Err(refuse_copy(session, refused)),
        }
        Ok(())
    }

    /// Makes the next rows.
    fn make(&mut self, session: &mut Session) -> SqlResult<()> {
        let Some(mut cursor) = self.cursor.take() else { return Ok(()) };
        let (schema, types) = (&self.schema, &self.types);
        let encode = |batch: RecordBatch| messages(&listed(&batch, schema, types)?);
        let fetched = session.fetch(&mut cursor, FETCH_BYTES, &encode)?;
        for messages in fetched.items() {
            match messages {
                Ok(messages) => self.made.extend(messages.iter().cloned()),
                Err(error) => return Err(session.fail(cursor, error.clone())),
            }
        }
        if !fetched.is_last {
            session.pause_cursor(&mut cursor);
            self.cursor = Some(cursor);
        }
        Ok(())
    }

    /// What comes next; `None` when all is made.
    fn next(&mut self, session: &mut Session) -> SqlResult<Option<Vec<FlightData>>> {
        while self.made.is_empty() {
            match (&self.cursor, self.values.is_empty()) {
                (Some(_), _) => self.make(session)?,
                (None, false) => self.start(session)?,
                (None, true) => return Ok(None),
            }
        }
        Ok(Some(std::mem::take(&mut self.made)))
    }

    /// Nobody wants what is left.
    fn close(mut self, session: &mut Session) -> SqlResult<()> {
        self.made.clear();
        self.cursor.take().map_or(Ok(()), |it| session.close(it))
    }

    /// The statement fails.
    fn fail(mut self, session: &mut Session, error: SqlError) -> SqlError {
        match self.cursor.take() {
            Some(cursor) => session.fail(cursor, error),
            None => error,
        }
    }

    /// All of it as messages, made while they are sent. `ticket` is by which a client may end it,
    /// `parent` the span of it that they are for.
    pub fn sent(
        self,
        shared: Arc<Shared>,
        seat: Arc<Seat>,
        (ticket, parent): (Bytes, Option<Parent>),
    ) -> Messages<FlightData> {
        let (to, from) = mpsc::channel(AHEAD);
        let stopped = shared.flight.runs(ticket.clone(), seat.clone());
        tokio::spawn(async move {
            send(self, (&shared, parent), &seat, stopped, to).await;
            shared.flight.ran(&ticket);
        });
        received(from)
    }
}

/// Makes and sends rows until there are none, or nobody takes them.
async fn send(
    mut rows: Rows,
    (shared, parent): (&Arc<Shared>, Option<Parent>),
    seat: &Arc<Seat>,
    stopped: Arc<AtomicBool>,
    to: mpsc::Sender<Result<FlightData, Status>>,
) {
    loop {
        let stopped = stopped.clone();
        let making = seat.run((&shared.gate, parent), move |session| {
            if stopped.load(Ordering::Acquire) {
                return Err(rows.fail(session, canceled()));
            }
            let next = rows.next(session)?;
            Ok((rows, next))
        });
        tokio::pin!(making);
        let made = tokio::select! {
            made = &mut making => made,
            () = to.closed() => {
                seat.cancel();
                making.await
            }
        };
        let next = match made {
            Ok((left, next)) => {
                rows = left;
                next
            }
            Err(error) => {
                // Who has gone does not hear it.
                let _ = to.send(Err(error)).await;
                return;
            }
        };
        let Some(next) = next else { return };
        for message in next {
            if to.send(Ok(message)).await.is_err() {
                let closed = seat.run((&shared.gate, parent), move |session| rows.close(session));
                // What a query that is not read to its end comes to is nothing to anybody.
                let _ = closed.await;
                return;
            }
        }
    }
}

/// What comes through a channel.
fn received<T: Send + 'static>(from: mpsc::Receiver<Result<T, Status>>) -> Messages<T> {
    Box::pin(unfold(from, |mut from| async move { from.recv().await.map(|it| (it, from)) }))
}

/// Rows that are there already, as messages.
pub fn whole(batch: &RecordBatch) -> SqlResult<Vec<FlightData>> {
    let mut all = vec![schema_message(&batch.schema())];
    all.extend(messages(batch)?);
    Ok(all)
}

fn schema_message(schema: &SchemaRef) -> FlightData {
    SchemaAsIpc::new(schema, &IpcWriteOptions::default()).into()
}

/// A batch in messages of bounded size, as far as rows are.
fn messages(batch: &RecordBatch) -> SqlResult<Vec<FlightData>> {
    let rows = batch.num_rows();
    let bytes: usize = batch.columns().iter().map(|it| bytes_of(&**it)).sum();
    let pieces = bytes.div_ceil(MESSAGE_BYTES).clamp(1, rows.max(1));
    let most = rows.div_ceil(pieces).max(1);
    let starts = (0..rows).step_by(most);
    starts.map(|from| message(&batch.slice(from, most.min(rows - from)))).collect()
}

fn message(batch: &RecordBatch) -> SqlResult<FlightData> {
    let malformed = |error: ArrowError| SqlError::internal(format!("rows as messages: {error}"));
    let mut tracker = DictionaryTracker::new(true);
    let mut context = IpcWriteContext::default();
    let options = IpcWriteOptions::default();
    let encoded = IpcDataGenerator::default().encode(batch, &mut tracker, &options, &mut context);
    match encoded.map_err(malformed)? {
        (dictionaries, data) if dictionaries.is_empty() => Ok(data.into()),
        _ => Err(SqlError::internal("rows out are in no codes")),
    }
}

/// Bytes of the values of an array, as far as it is a piece of larger ones.
fn bytes_of(array: &dyn Array) -> usize {
    match array.data_type() {
        ArrowType::Null => 0,
        _ => array.to_data().get_slice_memory_size().unwrap_or(0),
    }
}
